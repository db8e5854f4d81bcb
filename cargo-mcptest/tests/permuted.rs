//! The commands over recordings that have other numbers, and agents in another order: only what names a run is other.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use std::fs;

use e2e_support::folder::{Folder, collect};
use serde_json::Value;
use similar::TextDiff;
use support::desk::{desk, suite};
use support::four_agents::four_agents;
use support::mcptest;
use support::page::pieces;

/// Gives the runs of each folder of recordings other numbers: `run-2` becomes `run-1`, the first becomes the last.
fn turn(folder: &Folder, below: &str) {
    let files = collect(&folder.at(below));
    let stem = |path: &str| path.rsplit_once("/run-").unwrap().0.to_owned();
    for (path, bytes) in &files {
        let (agent, number) = path.rsplit_once("/run-").unwrap();
        let number: usize = number.trim_end_matches(".json").parse().unwrap();
        let runs = files.keys().filter(|other| stem(other) == agent).count();
        let number = (number + runs - 2) % runs + 1;
        fs::write(
            folder.at(&format!("{below}/{agent}/run-{number}.json")),
            bytes,
        )
        .unwrap();
    }
}

/// Puts the agents of a suite into the opposite order; each stands on a line of its own.
fn reverse_agents(folder: &Folder, path: &str) {
    let text = fs::read_to_string(folder.at(path)).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines[1..].reverse();
    fs::write(folder.at(path), lines.join("\n") + "\n").unwrap();
}

fn stdout_of(folder: &Folder, arguments: &[&str], code: i32) -> String {
    mcptest(folder.path(), arguments).exits(code).stdout
}

fn json(folder: &Folder, arguments: &[&str], code: i32) -> Value {
    let text = stdout_of(folder, &[arguments, &["--format", "json"]].concat(), code);
    serde_json::from_str(&text).unwrap()
}

/// The values of each list of runs, sorted: `lists` names the keys of these lists, at any depth.
fn unordered(value: &mut Value, lists: &[&str]) {
    if let Value::Object(map) = value {
        for (key, below) in map {
            if let Some(list) = below
                .as_array_mut()
                .filter(|_| lists.contains(&key.as_str()))
            {
                list.sort_by_key(ToString::to_string);
            }
            unordered(below, lists);
        }
    } else {
        let items = value.as_array_mut().into_iter().flatten();
        items.for_each(|item| unordered(item, lists));
    }
}

/// Takes keys away, at any depth.
fn without(value: &mut Value, keys: &[&str]) {
    if let Value::Object(map) = value {
        map.retain(|key, _| !keys.contains(&key.as_str()));
        map.values_mut().for_each(|below| without(below, keys));
    }
    let items = value.as_array_mut().into_iter().flatten();
    items.for_each(|item| without(item, keys));
}

/// Holds if both are the same; else tells their difference, line by line.
fn assert_same(there: &str, here: &str) {
    let diff = TextDiff::from_lines(there, here);
    assert!(there == here, "{}", diff.unified_diff());
}

#[test]
fn a_comparison_is_the_same_bytes() {
    let folder = four_agents();
    let all = |folder: &Folder| {
        let of = |arguments: &[&str]| {
            stdout_of(folder, &[&["compare", "before"], arguments].concat(), 1)
        };
        [
            &[][..],
            &["--all"],
            &["--format", "json"],
            &["--format", "markdown"],
            &["--cost", "calls"],
        ]
        .map(of)
    };
    let there = all(&folder);
    turn(&folder, "before/cassettes");
    assert_eq!(there, all(&folder));
    turn(&folder, "suites/cassettes");
    turn(&folder, "suites/cassettes");
    reverse_agents(&folder, "suites/desk.yml");
    assert_eq!(there, all(&folder));
}

const GATES: &str = "    calls: { max: 20 }\n    stability: { expect: [{ target: stability.score, matcher: { min: 0.1 } }] }\n    \
                     trajectory: { mode: superset, calls: [{ name: get_order }] }\n    expect: [{ target: tool_calls.length, matcher: { min: 2 } }]\n";

#[test]
fn thresholds_verdicts_and_mutants_are_the_same() {
    let folder = desk(8, 4);
    folder.write("suites/refunds.yml", suite(12, GATES));
    let all = |folder: &Folder| {
        let mut calibrated = json(folder, &["calibrate", "--share", "80"], 0);
        unordered(&mut calibrated, &["Refund_agent__gpt-5"]);
        let mut found = vec![calibrated];
        for command in ["explain", "report"] {
            let mut verdicts = json(folder, &[command], 0);
            without(&mut verdicts, &["path", "made_of", "notes", "duration_ms"]);
            unordered(
                &mut verdicts,
                &["recordings", "run_verdicts", "per_run", "runs"],
            );
            found.push(verdicts);
        }
        let mut mutants = json(folder, &["mutants", "--all"], 0);
        without(&mut mutants, &["run", "line"]);
        unordered(&mut mutants, &["mutants"]);
        found.push(mutants);
        let [calibrated, mutants] = [&["calibrate"][..], &["mutants", "--all", "--diffs", "0"]]
            .map(|arguments| stdout_of(folder, arguments, 0));
        let junit = stdout_of(folder, &["report", "--format", "junit"], 0);
        let mut of_junit: Vec<&str> = junit.lines().map(str::trim).collect();
        let values = of_junit.iter_mut().filter(|line| line.contains("[run "));
        values.for_each(|line| *line = line.split_once("value=").unwrap().1);
        of_junit.sort_unstable();
        (found, [calibrated, mutants, of_junit.join("\n")])
    };
    let there = all(&folder);
    assert!(there.0[3]["mutants"].as_array().unwrap().len() > 100);
    turn(&folder, "suites/cassettes");
    let here = all(&folder);
    for (there, here) in there.0.iter().zip(&here.0) {
        assert_same(&format!("{there:#}"), &format!("{here:#}"));
    }
    for (there, here) in there.1.iter().zip(&here.1) {
        assert_same(there, here);
    }
}

/// What a page of the report has for its script, without what names a run.
fn page(folder: &Folder) -> Vec<Value> {
    stdout_of(
        folder,
        &["report", "--baseline", "before", "--calibrate"],
        1,
    );
    let page = fs::read_to_string(folder.at("target/mcptest/report.html")).unwrap();
    let pieces = pieces(&page).map(|(_, mut data)| {
        // These name some of the runs.
        without(&mut data, &["origin", "failure", "evidence", "notes"]);
        unordered(&mut data, &["runs", "per_run"]);
        data
    });
    pieces.collect()
}

#[test]
fn a_page_has_the_same_data() {
    let folder = four_agents();
    let there = page(&folder);
    assert!(there.len() > 5, "{there:#?}");
    for below in ["before/cassettes", "suites/cassettes"] {
        turn(&folder, below);
    }
    for (there, here) in there.iter().zip(page(&folder)) {
        assert_same(&format!("{there:#}"), &format!("{here:#}"));
    }
}
