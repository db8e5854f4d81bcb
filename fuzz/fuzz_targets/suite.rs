//! Any text is a suite whose targets, matchers, patterns and schemas compile, or is refused with the places of what is
//! wrong. What the macro refuses, the harness refuses too.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcptest_suite::model::Suite;
use mcptest_suite::{Source, Style};

fuzz_target!(|text: &str| {
    let source = || Source::new("suite.yml", "suite.yml", text);
    let read = Suite::parse(source());
    let compiled = mcptest::parse_suite(source());
    assert!(read.is_ok() || compiled.is_err());
    for error in [read.err(), compiled.err()].into_iter().flatten() {
        assert!(!error.problems().is_empty());
        assert!(error.render(Style::Plain).contains("suite.yml"));
    }
});
