//! `cargo mcptest compare`: what is left of a baseline, and what a choice of its runs or copies of them show.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::fs;

use e2e_support::folder::{Folder, collect};
use serde_json::{Value, json};
use support::four_agents::{four_agents, run};
use support::mcptest;

/// A folder whose baseline is what `suites` has of one agent: this many runs that passed, then failed ones.
fn one_agent(passed: u64, failed: u64) -> Folder {
    let folder = four_agents();
    let suite = fs::read_to_string(folder.at("suites/desk.yml")).unwrap();
    let runs = format!("runs: {}", passed + failed);
    folder.write("suites/desk.yml", suite.replacen("runs: 6", &runs, 1));
    for side in ["before", "suites"] {
        fs::remove_dir_all(folder.at(side).join("cassettes")).unwrap();
        for number in 1..=passed + failed {
            let run = run("a_refund", "find", 1000 + number, number <= passed, "go");
            folder.write(
                &format!("{side}/cassettes/a_refund__m/run-{number}.json"),
                format!("{run:#}\n"),
            );
        }
    }
    folder
}

fn forget(folder: &Folder, numbers: impl IntoIterator<Item = u64>) {
    for number in numbers {
        let path = format!("suites/cassettes/a_refund__m/run-{number}.json");
        fs::remove_file(folder.at(&path)).unwrap();
    }
}

/// A text without the breaks of its lines.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

const CHOSEN: &str = "the runs that are left are no random sample";

/// What is left of a baseline's runs was chosen: it shows nothing of the agent.
#[test]
fn a_choice_of_a_baselines_runs_is_no_sample() {
    for (passed, failed, kept) in [(20, 0, 1), (10, 10, 10)] {
        let folder = one_agent(passed, failed);
        mcptest(folder.path(), &["compare", "before"]).exits(0);
        mcptest(folder.path(), &["compare", "--accept", "results"]).exits(0);
        forget(&folder, kept + 1..=20);
        let gone = 20 - kept;
        let told =
            format!("`a_refund`: {gone} of 20 recordings of the baseline are gone; {CHOSEN}");
        for asked in [
            &["before"][..],
            &["before", "--require", "not_worse"],
            &["before", "--outcome", "gates"],
            &["before", "--format", "markdown"],
            &["results"],
        ] {
            let said = mcptest(folder.path(), &[&["compare"], asked].concat()).exits(3);
            let text = flat(&said.stdout.replace('\\', ""));
            let (_, verdict) = text.split_once("cannot tell: ").unwrap();
            assert!(text.contains(&told), "{said}");
            assert!(!text.contains("unchanged"), "{said}");
            assert!(
                verdict.starts_with("recordings of 1 agent are gone"),
                "{said}"
            );
        }
        let json = mcptest(folder.path(), &["compare", "before", "--format", "json"]).exits(3);
        let json: Value = serde_json::from_str(&json.stdout).unwrap();
        assert_eq!(json["decision"], "cannot_tell");
        assert_eq!(
            json["chosen"],
            json!([{ "agent": "a_refund__m", "lost": { "runs": gone, "of": 20 } }])
        );
        assert_eq!(json["unchanged"], json!([]));
        let passes = ["compare", "before", "--inconclusive", "pass"];
        mcptest(folder.path(), &passes).exits(0);
    }
}

/// Lines of a file are runs as files are: results know each by itself.
#[test]
fn a_choice_of_lines_is_seen_in_results_too() {
    let folder = one_agent(6, 0);
    let lines = |numbers: std::ops::RangeInclusive<u64>| {
        let runs = numbers.map(|number| run("a_refund", "find", 1000 + number, true, "go"));
        runs.map(|run| format!("{run}\n")).collect::<String>()
    };
    fs::remove_dir_all(folder.at("suites/cassettes/a_refund__m")).unwrap();
    let write = |text: String| folder.write("suites/cassettes/a_refund__m.jsonl", text);
    write(lines(1..=6));
    mcptest(folder.path(), &["compare", "--accept", "results"]).exits(0);
    let said = mcptest(folder.path(), &["compare", "results"]).exits(0);
    assert!(said.stdout.contains("all unchanged"), "{said}");
    write(format!("{}{}", lines(4..=4), lines(2..=2)));
    let said = mcptest(folder.path(), &["compare", "results"]).exits(3);
    let told = format!("`a_refund`: 4 of 6 recordings of the baseline are gone; {CHOSEN}");
    assert!(flat(&said.stdout).contains(&told), "{said}");
    write(format!("{}\n", lines(1..=12)));
    let said = mcptest(folder.path(), &["compare", "results"]).exits(0);
    let told =
        "6 of its 12 recordings are the same as in the baseline; the other 6 are the candidate";
    assert!(said.stdout.contains(told), "{said}");
}

/// New runs beside such a choice are compared, and only what they lost is believed.
#[test]
fn new_runs_beside_a_choice_of_old_ones_hold_nothing() {
    for (passes, status, verdict) in [
        (true, 3, "cannot tell: recordings of 1 agent are gone"),
        (false, 1, "1 got worse. Exit status 1"),
    ] {
        let folder = one_agent(20, 0);
        forget(&folder, 2..=20);
        for number in 2..=20 {
            let run = run("a_refund", "find", 1030 + number, passes, "go");
            let path = format!("suites/cassettes/a_refund__m/run-{number}.json");
            folder.write(&path, format!("{run:#}\n"));
        }
        let said = mcptest(folder.path(), &["compare", "before"]).exits(status);
        let (above, below) = said.stdout.split_once(verdict).unwrap();
        let told = format!("`a_refund`: 19 of 20 recordings of the baseline are gone; {CHOSEN}");
        assert!(flat(above).contains(&told), "{said}");
        assert!(
            flat(below).contains("1 of its 20 recordings are the same as in the baseline"),
            "{said}"
        );
    }
    let folder = one_agent(20, 0);
    forget(&folder, 2..=20);
    let added = run("a_refund", "find", 1030, true, "go");
    folder.write("suites/cassettes/a_refund__m/run-2.json", added.to_string());
    let said = mcptest(folder.path(), &["compare", "before"]).exits(3);
    assert!(
        said.stdout
            .contains("19 of 20 recordings of the baseline are gone"),
        "{said}"
    );
}

/// Copies of one run are no other runs.
#[test]
fn copies_do_not_stand_for_what_is_gone() {
    let folder = one_agent(6, 0);
    let first = folder.at("suites/cassettes/a_refund__m/run-1.json");
    for number in 2..=6 {
        let copy = folder.at(&format!("suites/cassettes/a_refund__m/run-{number}.json"));
        fs::copy(&first, copy).unwrap();
    }
    let said = mcptest(folder.path(), &["compare", "before"]);
    assert_ne!(said.code, Some(0), "{said}");
}

/// Fewer runs that are all new are a sample.
#[test]
fn an_agent_that_was_recorded_anew_with_fewer_runs_is_compared() {
    let folder = one_agent(20, 0);
    forget(&folder, 1..=20);
    for number in 1..=10 {
        let run = run("a_refund", "find", 1030 + number, true, "go");
        let path = format!("suites/cassettes/a_refund__m/run-{number}.json");
        folder.write(&path, format!("{run:#}\n"));
    }
    let said = mcptest(folder.path(), &["compare", "before"]).exits(0);
    assert!(!said.stdout.contains("gone"), "{said}");
}

/// Of an agent without any run nothing can be said, and the others stay what they are.
#[test]
fn recordings_that_are_gone_are_told() {
    let folder = four_agents();
    fs::remove_dir_all(folder.at("before")).unwrap();
    for (path, bytes) in collect(&folder.at("suites/cassettes")) {
        folder.write(&format!("before/cassettes/{path}"), bytes);
    }
    fs::remove_dir_all(folder.at("suites/cassettes/a_refund__m")).unwrap();
    let said = mcptest(folder.path(), &["compare", "before"]).exits(3);
    let told = "unchanged: `b_search`, `c_book`, `d_cancel`\ngone, because there is no recording of it now: `a_refund`\ncannot tell: 1 agent has no runs";
    assert!(said.stdout.contains(told), "{said}");
}
