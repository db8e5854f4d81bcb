//! The smallest agent test: a clerk that counts pens, and its recorded runs.

use serde_json::Value;

use super::folder::Folder;
use super::recording::run;

/// One agent, one recorded run expected in `suites/cassettes/Clerk__m.json`.
pub const SUITE: &str = "\
agents:
  - name: Clerk
    model: m
    prompt: Count the pens.
    expect:
      - target: final_response
        matcher: { contains: pens }
";

/// The clerk's suite with two runs, and a gate.
pub const TWICE: &str = "\
agents:
  - name: Clerk
    model: m
    prompt: Count the pens.
    runs: 2
    expect:
      - target: final_response
        matcher: { contains: pens }
    narrative: {}
";

/// The place of the only run.
pub const ONE: &str = "suites/cassettes/Clerk__m.json";
/// The place of the first of two runs.
pub const FIRST: &str = "suites/cassettes/Clerk__m/run-1.json";
/// The place of the second.
pub const SECOND: &str = "suites/cassettes/Clerk__m/run-2.json";

/// The clerk counted and said so.
pub fn counted(pens: u32) -> Value {
    let calls = [("count", serde_json::json!({ "article": "pen" }))];
    run(
        "m",
        "Count the pens.",
        &calls,
        &format!("There are {pens} pens."),
    )
}

/// A crate with this suite and no recordings.
pub fn desk(suite: &str) -> Folder {
    Folder::new().with_file("suites/desk.yml", suite)
}
