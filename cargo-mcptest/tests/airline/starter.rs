//! The suite that an import proposes: green as it is written, and it notices most of what is broken.

use std::fs;

use crate::data::{airline, answer, mcptest};

pub(crate) fn a_first_suite_is_green_and_notices_most() {
    let folder = airline();
    fs::rename(folder.at("cassettes"), folder.at("logs")).unwrap();
    fs::remove_file(folder.at("suites/airline.yml")).unwrap();
    mcptest(&folder, &["import", "logs", "--suite", "suites/first.yml"]).exits(0);
    let report = answer(&folder, &["report"], 0);
    assert_eq!(report["counts"]["failed"], 0);
    assert!(report["counts"]["passed"].as_u64().unwrap() > 40);
    let found = answer(&folder, &["mutants", "--only-green"], 0);
    assert_eq!(found["runs"], 36);
    let harm = found["scores"]["harm"]["score"].as_f64().unwrap();
    let brittle = found["brittleness"].as_f64().unwrap();
    println!("harm {harm:.4}, brittleness {brittle:.4}");
    assert!(harm >= 0.75, "{harm}");
    assert!(brittle <= 0.05, "{brittle}");
}
