//! `cargo mcptest calibrate`: thresholds, what they promise, and where they are written.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::fs;

use e2e_support::folder::Folder;
use serde_json::{Value, json};
use support::desk::{desk, suite};
use support::four_agents::four_agents;
use support::mcptest;

fn read(folder: &Folder) -> String {
    fs::read_to_string(folder.at("suites/refunds.yml")).unwrap()
}

fn found<'a>(said: &'a Value, target: &str) -> &'a Value {
    let targets = said["suites"][0]["each_run"].as_array().unwrap();
    targets
        .iter()
        .find(|found| found["name"] == target)
        .unwrap()
}

#[test]
fn a_metric_that_tells_runs_apart_is_said_to_with_its_price() {
    let folder = desk(20, 10);
    let said = mcptest(folder.path(), &["calibrate"]).exits(0);
    assert!(
        said.stdout
            .contains("calls.count: 20 passed and 10 failed runs\n"),
        "{said}"
    );
    assert!(said.stdout.contains("\ntells runs apart: "), "{said}");
    assert!(
        said.stdout.contains(
            "\nlimit 4: 95.2% of passing runs of these agents, with 95% confidence 86.1%\n"
        ),
        "{said}"
    );
    let json = mcptest(folder.path(), &["calibrate", "--format", "json"]).exits(0);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["format"], "calibrate/2.0");
    let count = found(&json, "calls.count");
    assert_eq!(count["power"]["verdict"], "tells_runs_apart");
    assert_eq!(count["limit"]["rounded"], 4.0);
    assert_eq!(
        count["values"]["Refund_agent__gpt-5"]
            .as_array()
            .unwrap()
            .len(),
        30
    );
    assert_eq!(json["written"], Value::Null);
}

/// Two runs tell hardly anything, whatever the target.
#[test]
fn few_failed_runs_are_said_to_be_few() {
    let few = "\nonly 2 runs failed: this alone can be the reason for `no power`\n";
    for (failed, is_few) in [(2, true), (10, false), (0, false)] {
        let said = mcptest(desk(20, failed).path(), &["calibrate"]).exits(0);
        assert_eq!(said.stdout.contains(few), is_few, "{said}");
        assert_eq!(said.stdout.contains("\nonly "), is_few, "{said}");
    }
}

#[test]
fn outcomes_that_only_some_runs_have_are_told_of() {
    let folder = desk(20, 10);
    let said =
        "only 29 of 30 runs have a recorded outcome; `--outcome recorded` uses only these runs\n";
    assert!(
        !mcptest(folder.path(), &["calibrate"])
            .exits(0)
            .stdout
            .contains("only ")
    );
    let path = "suites/cassettes/Refund_agent__gpt-5/run-1.json";
    let run = fs::read_to_string(folder.at(path)).unwrap();
    let mut run: Value = serde_json::from_str(&run).unwrap();
    run.as_object_mut().unwrap().remove("outcome");
    folder.write(path, run.to_string());
    let found = mcptest(folder.path(), &["calibrate"]).exits(0);
    assert!(found.stdout.contains(said), "{found}");
}

#[test]
fn what_has_no_options_is_measured_on_every_agent() {
    let folder = four_agents();
    let text = fs::read_to_string(folder.at("suites/desk.yml")).unwrap();
    let one = text.replacen("runs: 6,", "runs: 6, calls: { max: 9 },", 1);
    folder.write("suites/desk.yml", one);
    let json = mcptest(folder.path(), &["calibrate", "--format", "json"]).exits(0);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    let values = found(&json, "calls.count")["values"].as_object().unwrap();
    let numbers = values
        .values()
        .flat_map(|values| values.as_array().unwrap());
    assert_eq!(numbers.filter(|value| value.is_number()).count(), 24);
}

/// A gate that `reliability` counts has no verdict of its own, and is measured all the same.
#[test]
fn a_gate_that_reliability_counts_is_measured() {
    let folder = four_agents();
    let text = fs::read_to_string(folder.at("suites/desk.yml")).unwrap();
    let counted =
        "runs: 6, golden_path: { calls: [find] }, reliability: { outcome: [golden_path] },";
    folder.write("suites/desk.yml", text.replacen("runs: 6,", counted, 1));
    let json = mcptest(folder.path(), &["calibrate", "--format", "json"]).exits(0);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    let values = found(&json, "golden_path.penalty")["values"]
        .as_object()
        .unwrap();
    let numbers = values
        .values()
        .flat_map(|values| values.as_array().unwrap());
    assert_eq!(numbers.filter(|value| value.is_number()).count(), 6);
}

#[test]
fn numbers_are_written_in_place_with_what_they_promise() {
    let folder = desk(20, 10);
    let said = mcptest(folder.path(), &["calibrate", "--write"]).exits(0);
    assert!(
        said.stdout
            .contains("suites/refunds.yml:7: calls.count: 20 → 4\n"),
        "{said}"
    );
    let after = read(&folder);
    let comment = after
        .lines()
        .filter(|line| line.trim_start().starts_with("# "))
        .skip(1)
        .take(2)
        .collect::<Vec<_>>();
    assert_eq!(
        after.replace(&format!("{}\n{}\n", comment[0], comment[1]), ""),
        suite(30, "    calls: { max: 4 }  # generous\n")
    );
    assert_eq!(
        comment[0],
        "    # calibrated on 20 passed runs of 1 agent: 95.2% of passing runs promised (86.1% with 95% confidence);"
    );
    assert!(
        comment[1].starts_with("    # leave-one-run-out (one agent) "),
        "{after}"
    );
    mcptest(folder.path(), &["calibrate", "--write"]).exits(0);
    assert_eq!(read(&folder), after);
}

/// A stricter limit may be someone's decision.
#[test]
fn a_limit_that_is_loosened_is_said_to_be() {
    for (gate, said, looser) in [
        (
            "calls: { max: 3 }",
            "calls.count: 3 → 4, looser than it was",
            true,
        ),
        ("calls: { max: 9 }", "calls.count: 9 → 4", false),
        (
            "calls: { expect: [{ target: calls.count, matcher: { max: 3.5 } }] }",
            "calls.count: 3.5 → 4, looser than it was",
            true,
        ),
    ] {
        let folder = desk(20, 10);
        let before = suite(30, &format!("    {gate}\n"));
        folder.write("suites/refunds.yml", &before);
        let written = mcptest(folder.path(), &["calibrate", "--write"]).exits(0);
        assert!(
            written
                .stdout
                .ends_with(&format!("suites/refunds.yml:7: {said}\n")),
            "{written}"
        );
        folder.write("suites/refunds.yml", &before);
        let json = mcptest(folder.path(), &["calibrate", "--write", "--format", "json"]).exits(0);
        let json: Value = serde_json::from_str(&json.stdout).unwrap();
        assert_eq!(json["written"][0]["looser"], looser);
    }
}

/// Four runs do not say what a looser limit lets through, and a stricter one is an alarm at least.
#[test]
fn a_limit_is_not_loosened_without_power() {
    let kept = "calls.count: 3 kept: 4 would be looser, and the numbers do not separate bad runs from good runs (no power)";
    for (max, said, now) in [(3, kept, 3), (20, "calls.count: 20 → 4", 4)] {
        let folder = desk(3, 1);
        let gate = |max: usize| suite(4, &format!("    calls: {{ max: {max} }}\n"));
        folder.write("suites/refunds.yml", gate(max));
        let written = mcptest(folder.path(), &["calibrate", "--write"]).exits(3);
        let line = format!("\nsuites/refunds.yml:7: {said}\ncannot tell: ");
        assert!(written.stdout.contains(&line), "{written}");
        let text = read(&folder);
        assert!(
            text.contains(&format!("    calls: {{ max: {now} }}\n")),
            "{text}"
        );
        assert_eq!(text == gate(max), max == now, "{text}");
    }
}

/// What a suite was made of says nothing of the runs to come.
#[test]
fn a_suite_that_was_made_of_its_runs_is_said_to_be() {
    let folder = desk(20, 10);
    let told = "\n`import` wrote this suite from recorded runs: ";
    let said = mcptest(folder.path(), &["calibrate"]).exits(0);
    assert!(!said.stdout.contains(told), "{said}");
    let call = |name: &str, content: Value| json!({ "role": name, "content": content });
    let record = json!({ "model": "m", "messages": [call("user", json!("Hello")), call("assistant", json!("Hi."))] });
    folder.write("log.jsonl", format!("{record}\n"));
    let suite = ["import", "log.jsonl", "--suite", "suites/made.yml"];
    mcptest(folder.path(), &suite).exits(0);
    let said = mcptest(folder.path(), &["calibrate", "made"]).exits(3);
    assert!(said.stdout.contains(told), "{said}");
    let json = mcptest(folder.path(), &["calibrate", "--format", "json"]).exits(0);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    let made = json["suites"].as_array().unwrap().iter();
    let made: Vec<&Value> = made.map(|suite| &suite["made_of_its_runs"]).collect();
    assert_eq!(made, [true, false]);
}

#[test]
fn every_way_of_writing_a_bound_is_found() {
    for (before, now) in [
        (
            "expect: [{ target: calls.count, matcher: { max: 20 } }]",
            "max: 4 ",
        ),
        (
            "expect: [{ target: calls.count, matcher: { between: [1, 20] } }]",
            "between: [1, 4]",
        ),
        (
            "expect: [{ target: calls.count, matcher: { schema: { maximum: 20 } } }]",
            "maximum: 4 ",
        ),
    ] {
        let folder = desk(20, 10);
        folder.write(
            "suites/refunds.yml",
            suite(30, &format!("    calls:\n      {before}\n")),
        );
        mcptest(folder.path(), &["calibrate", "--write"]).exits(0);
        assert!(read(&folder).contains(now), "{}", read(&folder));
    }
    // The other end is not a limit of badness.
    let folder = desk(20, 10);
    let least = suite(
        30,
        "    calls:\n      expect: [{ target: calls.count, matcher: { min: 1 } }]\n",
    );
    folder.write("suites/refunds.yml", &least);
    let said = mcptest(folder.path(), &["calibrate", "--write"]).exits(0);
    assert!(said.stdout.contains("nothing was written: "), "{said}");
    assert_eq!(read(&folder), least);
}

#[test]
fn a_default_is_made_explicit() {
    for (before, after) in [
        (
            "    golden_path: { calls: [get_order, refund] }\n",
            "    golden_path: { expect: [{ target: golden_path.penalty, matcher: { min: ",
        ),
        (
            "    golden_path:\n      calls: [get_order, refund]\n",
            "      expect: [{ target: golden_path.penalty, matcher: { min: ",
        ),
    ] {
        let folder = desk(20, 10);
        folder.write("suites/refunds.yml", suite(30, before));
        mcptest(folder.path(), &["calibrate", "--write"]).exits(0);
        let text = read(&folder);
        assert!(text.contains(after), "{text}");
        assert!(text.contains("calls: [get_order, refund]"), "{text}");
        mcptest(folder.path(), &["explain", "golden_path"]).exits(1);
    }
}

#[test]
fn only_gates_that_tell_runs_apart_are_added() {
    let folder = desk(20, 10);
    folder.write(
        "suites/refunds.yml",
        suite(
            30,
            "    trajectory: { mode: subsequence, calls: [{ name: get_order }] }\n",
        ),
    );
    let said = mcptest(folder.path(), &["calibrate", "--write", "--add"]).exits(0);
    assert!(
        said.stdout.contains(": calls.count: added, max: 4\n"),
        "{said}"
    );
    let text = read(&folder);
    let added = "  - name: Refund agent   # ours\n    # calibrated on 20 passed runs of 1 agent";
    assert!(text.contains(added), "{text}");
    assert!(
        text.contains("    calls: { expect: [{ target: calls.count, matcher: { max: 4 } }"),
        "{text}"
    );
    mcptest(folder.path(), &["explain", "::calls"]).exits(1);
}

#[test]
fn too_few_runs_promise_what_they_can() {
    let folder = desk(3, 1);
    let said = mcptest(folder.path(), &["calibrate"]).exits(3);
    assert!(
        said.stdout
            .contains("\ntoo few: 3 passing runs can promise 75.0%, for 95% you need 19\n"),
        "{said}"
    );
    // What most of the targets say alike stands above them, once.
    let once = "no promise for agents that are not in the suite\n";
    assert_eq!(said.stdout.matches(once).count(), 1, "{said}");
    let (above, below) = said.stdout.split_once("\ncalls.count: ").unwrap();
    assert!(
        above.contains("\nfor each target, unless its own lines differ:\n") && above.contains(once),
        "{said}"
    );
    assert!(below.contains("\nlimit "), "{said}");
    let last = "\ncannot tell: no limit keeps 95% of passing runs, and no target separates passed runs from failed runs. Exit status 3.\n";
    assert!(said.stdout.ends_with(last), "{said}");
    let json = mcptest(folder.path(), &["calibrate", "--format", "json"]).exits(3);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["exit_status"], 3);
    mcptest(folder.path(), &["calibrate", "--share", "75"]).exits(0);
    let cases = mcptest(folder.path(), &["calibrate", "--cases", "--share", "80"]).exits(3);
    assert!(
        cases
            .stdout
            .starts_with("suite refunds: outcomes as recorded, 80% of cases of 4 runs\n"),
        "{cases}"
    );
}

#[test]
fn a_gate_has_no_say_in_what_it_is_calibrated_against() {
    let folder = desk(20, 10);
    folder.write("suites/refunds.yml", suite(30, "    calls: { max: 5 }\n    expect: [{ target: final_response, matcher: { exact: Done. } }]\n"));
    let said = mcptest(
        folder.path(),
        &["calibrate", "--outcome", "gates", "--format", "json"],
    )
    .exits(0);
    let said: Value = serde_json::from_str(&said.stdout).unwrap();
    let count = found(&said, "calls.count");
    assert_eq!(
        (&count["passed"], &count["failed"]),
        (&json!(30), &json!(0))
    );
    let response = found(&said, "stability.redundancy");
    assert_eq!(
        (&response["passed"], &response["failed"]),
        (&json!(20), &json!(10))
    );
}

#[test]
fn a_run_of_which_the_gates_judge_nothing_did_not_pass() {
    let folder = desk(20, 10);
    let no_errors = "{ target: 'tool_results[*].is_error', matcher: { not: { contains: true } } }";
    folder.write(
        "suites/refunds.yml",
        suite(30, &format!("    expect: [{no_errors}]\n")),
    );
    for run in 1..=8 {
        let path = folder.at(&format!(
            "suites/cassettes/Refund_agent__gpt-5/run-{run}.json"
        ));
        let mut value: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        value["trace"]["tool_calls"] = json!([]);
        value["trace"]["tool_results"] = json!([]);
        fs::write(path, value.to_string()).unwrap();
    }
    let by_gates = ["calibrate", "--outcome", "gates", "--format", "json"];
    let said = mcptest(folder.path(), &by_gates).exits(0);
    let said: Value = serde_json::from_str(&said.stdout).unwrap();
    let count = found(&said, "calls.count");
    assert_eq!(
        (&count["passed"], &count["without_outcome"]),
        (&json!(22), &json!(8))
    );
}

#[test]
fn without_outcomes_nobody_knows_what_a_limit_catches() {
    let folder = desk(4, 0);
    for run in 1..=4 {
        let path = folder.at(&format!(
            "suites/cassettes/Refund_agent__gpt-5/run-{run}.json"
        ));
        let mut value: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        value.as_object_mut().unwrap().remove("outcome");
        fs::write(path, value.to_string()).unwrap();
    }
    let said = mcptest(folder.path(), &["calibrate", "--outcome", "recorded"]).exits(3);
    assert!(
        said.stdout
            .contains("nobody knows whether it catches anything"),
        "{said}"
    );
}

#[test]
fn nothing_to_calibrate_is_no_answer() {
    let folder = desk(2, 0);
    fs::remove_dir_all(folder.at("suites/cassettes")).unwrap();
    let said = mcptest(folder.path(), &["calibrate"]).exits(3);
    assert!(
        said.stderr.contains("left out: refunds::refund_agent: "),
        "{said}"
    );
    assert!(said.stderr.ends_with("error: no run has a value to calibrate\n\nhelp: `cargo mcptest validate` says what is wrong with the recordings\n"), "{said}");
    mcptest(folder.path(), &["calibrate", "--share", "101"]).exits(2);
    mcptest(folder.path(), &["calibrate", "--add"]).exits(2);
}
