//! `cargo mcptest compare --accept`: which agents the results of today are a baseline of.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::fs;

use e2e_support::folder::{Folder, collect};
use e2e_support::process::Finished;
use serde_json::{Value, json};
use support::four_agents::four_agents;
use support::mcptest;

fn accept(folder: &Folder, status: i32) -> Finished {
    mcptest(folder.path(), &["compare", "--accept", "baseline"]).exits(status)
}

#[test]
fn an_agent_without_usable_runs_is_told_of_and_left_out() {
    let folder = four_agents();
    fs::remove_dir_all(folder.at("suites/cassettes/a_refund__m")).unwrap();
    folder.write(
        "suites/cassettes/c_book__m/run-2.json",
        "{ \"schema_version\": \"v1\"",
    );
    let saved = accept(&folder, 0);
    for agent in ["a_refund", "c_book"] {
        let told = format!("desk::{agent}: left out, because its runs cannot be compared: ");
        assert!(saved.stderr.contains(&told), "{saved}");
    }
    assert_eq!(saved.stderr.matches("left out").count(), 2, "{saved}");
    assert_eq!(saved.stdout, "4 results are the baseline in baseline\n");
    let names = collect(&folder.at("baseline")).into_keys();
    let names: Vec<String> = names.map(|path| format!("{path:?}")).collect();
    assert_eq!(names.len(), 4, "{names:?}");
    let whole = |name: &String| name.contains("b_search") || name.contains("d_cancel");
    assert!(names.iter().all(whole), "{names:?}");
}

/// An agent that is new to a baseline is held against nothing.
#[test]
fn a_baseline_that_has_runs_of_an_agent_does_not_lose_them() {
    let folder = four_agents();
    accept(&folder, 0);
    let before = collect(&folder.at("baseline"));
    fs::remove_dir_all(folder.at("suites/cassettes/a_refund__m")).unwrap();
    let refused = accept(&folder, 3);
    let lost = "error: `baseline` has runs of desk::a_refund, and saving would delete them; nothing was saved\n";
    assert!(refused.stderr.contains(lost), "{refused}");
    assert!(collect(&folder.at("baseline")) == before, "lost");
    fs::remove_dir_all(folder.at("suites/cassettes")).unwrap();
    let refused = accept(&folder, 3);
    assert!(refused.stderr.contains("nothing was saved"), "{refused}");
    assert!(collect(&folder.at("baseline")) == before, "lost");
}

/// Whoever compares with it is told that it cannot be told; its cost can be compared.
#[test]
fn an_agent_of_which_nothing_was_judged_is_told_of() {
    let folder = four_agents();
    let suite = fs::read_to_string(folder.at("suites/desk.yml")).unwrap();
    let gate = "trajectory: { mode: subsequence, calls: [{ name: find }] }";
    let nothing =
        "expect: [{ target: 'tool_results[*].is_error', matcher: { not: { contains: true } } }]";
    folder.write("suites/desk.yml", suite.replacen(gate, nothing, 1));
    for number in 1..=6 {
        let path = format!("suites/cassettes/a_refund__m/run-{number}.json");
        let mut run: Value =
            serde_json::from_str(&fs::read_to_string(folder.at(&path)).unwrap()).unwrap();
        run.as_object_mut().unwrap().remove("outcome");
        for key in ["tool_calls", "tool_results"] {
            run["trace"][key] = json!([]);
        }
        folder.write(&path, run.to_string());
    }
    let saved = accept(&folder, 0);
    let told =
        "desk::a_refund: no run of this agent was judged, so its outcomes cannot be compared\n";
    assert!(saved.stderr.contains(told), "{saved}");
    assert_eq!(saved.stderr.matches("desk::").count(), 1, "{saved}");
    assert_eq!(saved.stdout, "7 results are the baseline in baseline\n");
}

/// Results stand in a folder of their own, and not among sources.
#[test]
fn results_are_not_strewn_into_other_folders() {
    for without_crate in [false, true] {
        let folder = four_agents();
        if without_crate {
            fs::remove_file(folder.at("Cargo.toml")).unwrap();
        }
        let before = collect(folder.path());
        for place in ["suites", ".", "suites/cassettes", "before"] {
            for option in ["--accept", "--save"] {
                let baseline = if option == "--save" { "before" } else { "" };
                let arguments = ["compare", option, place, baseline];
                let arguments: Vec<&str> = arguments
                    .into_iter()
                    .filter(|argument| !argument.is_empty())
                    .collect();
                let said = mcptest(folder.path(), &arguments).exits(2);
                let told = format!("error: `{place}` is no folder of results, because it has ");
                assert!(said.stderr.contains(&told), "{said}");
            }
        }
        assert!(collect(folder.path()) == before, "something was written");
        // A folder of its own may have a page that explains it, and results of other packages.
        folder.write("suites/baseline/README.md", "ours\n");
        for _ in 0..2 {
            mcptest(folder.path(), &["compare", "--accept", "suites/baseline"]).exits(0);
        }
    }
}
