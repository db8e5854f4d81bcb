//! A crate of the recorded runs, and their expected numbers.

use std::fs;

use e2e_support::folder::{Folder, collect};
use e2e_support::process::{Finished, command, run};
pub(crate) use e2e_support::real_runs::expected;
use e2e_support::real_runs::{assert_same, part};
use serde_json::Value;

/// The recordings and their suite, in a crate.
pub(crate) fn airline() -> Folder {
    let folder = Folder::new()
        .with_file(
            "Cargo.toml",
            "[package]\nname = \"airline\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             [package.metadata.mcptest]\nroots = [\"suites\"]\n\n[workspace]\n",
        )
        .with_file("src/lib.rs", "");
    for (path, bytes) in collect(&part("tau-airline/crate")) {
        folder.write(&path, bytes);
    }
    folder
}

/// Changes the suite.
pub(crate) fn edit_suite(folder: &Folder, change: impl Fn(&str) -> String) {
    let path = folder.at("suites/airline.yml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(path, change(&text)).unwrap();
}

/// Runs the command in the crate.
pub(crate) fn mcptest(folder: &Folder, arguments: &[&str]) -> Finished {
    let mut line = command(env!("CARGO_BIN_EXE_cargo-mcptest"), folder.path());
    run(line.args(arguments))
}

/// Runs it for its answer as JSON.
pub(crate) fn answer(folder: &Folder, arguments: &[&str], code: i32) -> Value {
    let said = mcptest(folder, &[arguments, &["--format", "json"]].concat()).exits(code);
    serde_json::from_str(&said.stdout).unwrap()
}

/// Holds if a number is the expected one; both or none.
pub(crate) fn same(what: &str, found: &Value, expected: &Value) {
    assert_same(what, found.as_f64(), expected);
}
