//! A crate of the recorded runs, and the expected numbers.

use std::path::{Path, PathBuf};
use std::{env, fs};

use e2e_support::folder::{Folder, collect};
use e2e_support::process::{Finished, command, run};
use serde_json::Value;

/// The folder of the data.
fn data() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let beside = || workspace.parent().unwrap().join("shared/data");
    env::var_os("MCPTEST_SHARED_DATA").map_or_else(beside, PathBuf::from)
}

/// Why the tests are ignored, where they are.
pub(crate) fn absent() -> Option<String> {
    let data = data();
    let there = data.join("tau-airline/crate/cassettes/airline").is_dir()
        && data.join("expected/evidence-tau-airline.json").is_file();
    (!there).then(|| {
        format!(
            "the recorded runs are not in {}; say in MCPTEST_SHARED_DATA where they are",
            data.display()
        )
    })
}

/// The recordings and their suite, in a crate.
pub(crate) fn airline() -> Folder {
    let folder = Folder::new()
        .with(
            "Cargo.toml",
            "[package]\nname = \"airline\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             [package.metadata.mcptest]\nroots = [\"suites\"]\n\n[workspace]\n",
        )
        .with("src/lib.rs", "");
    for (path, bytes) in collect(&data().join("tau-airline/crate")) {
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

/// The expected numbers.
pub(crate) fn expected() -> Value {
    let text = fs::read(data().join("expected/evidence-tau-airline.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// Whether a number is the expected one, to the six digits that are given; both or none.
pub(crate) fn same(what: &str, found: &Value, expected: &Value) {
    let near = match (found.as_f64(), expected.as_f64()) {
        (None, None) => true,
        (Some(found), Some(given)) => (found - given).abs() <= 5.1e-6 * given.abs().max(1e-9),
        _ => false,
    };
    assert!(near, "{what}: {found} is not {expected}");
}
