//! Any text is a suite, or is refused with the places of what is wrong.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcptest_suite::model::Suite;
use mcptest_suite::{Source, Style};

fuzz_target!(|text: &str| {
    if let Err(error) = Suite::parse(Source::new("suite.yml", "suite.yml", text)) {
        assert!(!error.problems().is_empty());
        assert!(error.render(Style::Plain).contains("suite.yml"));
    }
});
