//! The suite that an import proposes: green as it is written, and it notices most of what is broken.

use std::fs;

use e2e_support::folder::{Folder, collect};
use e2e_support::real_runs::part;

use crate::data::{airline, answer, mcptest};

/// Passed runs of the airline: those that are broken.
const AIRLINE: u64 = 36;

pub(crate) fn a_first_suite_is_green_and_notices_most() {
    let folder = empty();
    fs::rename(folder.at("cassettes"), folder.at("logs")).unwrap();
    mcptest(&folder, &["import", "logs", "--suite", "suites/first.yml"]).exits(0);
    is_green_and_notices_most(&folder, AIRLINE);
}

/// The file names no model, lists no tools and holds a run without messages, which is reported.
pub(crate) fn so_is_that_of_the_benchmarks_own_file() {
    let folder = empty();
    fs::remove_dir_all(folder.at("cassettes")).unwrap();
    let file = part("tau-airline/gpt-4o-airline-tasks-00-29.json");
    let file = file.to_str().unwrap();
    let arguments = [
        "import",
        file,
        "--model",
        "gpt-4o",
        "--suite",
        "suites/first.yml",
    ];
    let said = mcptest(&folder, &arguments);
    assert!(matches!(said.code, Some(0 | 1)), "{said}");
    is_green_and_notices_most(&folder, AIRLINE);
}

/// A hundred agents and more of many domains and models share one list of tools, and ask for some calls
/// at once.
pub(crate) fn so_is_that_of_other_domains() {
    let folder = empty();
    fs::remove_dir_all(folder.at("cassettes")).unwrap();
    let file = part("other-domains/runs.jsonl");
    let file = file.to_str().unwrap();
    mcptest(&folder, &["import", file, "--suite", "suites/first.yml"]).exits(0);
    let runs = collect(&folder.at("suites/cassettes"));
    assert_eq!(
        runs.iter()
            .filter(|(path, _)| path.ends_with("run-1.json"))
            .count(),
        141
    );
    is_green_and_notices_most(&folder, 117);
}

pub(crate) fn empty() -> Folder {
    let folder = airline();
    fs::remove_file(folder.at("suites/airline.yml")).unwrap();
    folder
}

fn is_green_and_notices_most(folder: &Folder, passed: u64) {
    let report = answer(folder, &["report"], 0);
    assert_eq!(report["counts"]["failed"], 0);
    // Each of the 18 agents of the airline that passed once has a gate or more; the others have none.
    assert!(report["counts"]["passed"].as_u64().unwrap() >= 18);
    let found = answer(folder, &["mutants", "--only-green"], 0);
    assert_eq!(found["runs"], passed);
    let harm = found["scores"]["harm"]["score"].as_f64().unwrap();
    let brittle = found["brittleness"].as_f64().unwrap();
    println!("harm {harm:.4}, brittleness {brittle:.4}");
    assert!(harm >= 0.75, "{harm}");
    assert!(brittle <= 0.05, "{brittle}");
}
