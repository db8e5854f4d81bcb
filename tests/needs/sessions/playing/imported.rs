//! What is imported plays: to a program that follows the recording, in another format than most were recorded in.

use serde_json::Value;

use super::super::desk;
use super::imports;
use crate::support::folder::{Folder, collect};
use crate::support::process::{self, Finished};

const FOLLOWER: &str = include_str!("../../agents/follower.py");

/// The only recording in a folder: its path there, and what it holds.
fn recording(folder: &Folder) -> (String, Value) {
    let mut all = collect(&folder.at("suites/cassettes"));
    assert_eq!(all.len(), 1, "{:?}", all.keys());
    let (path, bytes) = all.pop_first().unwrap();
    let run = serde_json::from_slice(&bytes).unwrap();
    (format!("suites/cassettes/{path}"), run)
}

fn played(folder: &Folder, followed: &str) -> Finished {
    let mut command = desk::command(folder, None, &["test", "::playback"]);
    process::run(command.env("FOLLOWED", folder.at(followed)))
}

fn plays(format: &str, file: &str, text: &str) {
    let folder = Folder::new()
        .with_file("follower.py", FOLLOWER)
        .with_file(file, text);
    let arguments = [
        "import",
        file,
        "--from",
        format,
        "--suite",
        "suites/desk.yml",
    ];
    let import = [&arguments[..], &["--agent", "Desk", "--model", "gpt-5"]].concat();
    desk::mcptest(&folder, None, &import).exits(0);
    let (path, run) = recording(&folder);
    // The suite that is proposed, and what plays.
    let suite = std::fs::read_to_string(folder.at("suites/desk.yml")).unwrap();
    let gate = "    runs: 1\n    command: [python3, ../follower.py, turns]\n    playback: {}\n";
    let with_gate = suite.replacen("    runs: 1\n", gate, 1);
    assert_ne!(with_gate, suite);
    folder.write("suites/desk.yml", with_gate);
    let green = played(&folder, &path);
    assert!(
        green.stdout.contains("1 passed; 0 failed"),
        "{format}: {green}"
    );
    // It was compared: a result that is not the recorded one shows.
    let changed = run
        .to_string()
        .replace("refunded 18.00 EUR", "refunded 19.00 EUR");
    assert_ne!(changed, run.to_string());
    folder.write("changed.json", changed);
    let red = played(&folder, "changed.json").exits(101);
    let told = "model call 3 of 5: the result of `refund` differs (`tool_results[2]`)";
    assert!(red.stdout.contains(told), "{format}: {red}");
}

pub(crate) fn what_is_imported_plays_to_a_program_that_follows_it() {
    for (format, file, text) in imports::all() {
        plays(format, file, &text);
    }
}
