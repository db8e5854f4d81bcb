//! `cargo mcptest compare`: what decides whether a run passed.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::fs;

use serde_json::{Value, json};
use support::{SUITE, good, mcptest, run_of, shop};

#[test]
fn gates_decide_where_runs_have_no_outcome() {
    let folder = shop(&good());
    let mut good_run = run_of(&good());
    let mut bad_run = run_of(&[]);
    for run in [&mut good_run, &mut bad_run] {
        run.as_object_mut().unwrap().remove("outcome");
    }
    for number in 1..=8 {
        let with = |run: &Value| {
            let mut run = run.clone();
            run["recorded_at"] = format!("2026-01-01T00:00:0{number}Z").into();
            format!("{run:#}\n")
        };
        folder.write(
            &format!("before/Refund_agent__gpt-5/run-{number}.json"),
            with(&good_run),
        );
        folder.write(
            &format!("now/Refund_agent__gpt-5/run-{number}.json"),
            with(&bad_run),
        );
    }
    let said = mcptest(folder.path(), &["compare", "before", "now"]).exits(1);
    assert!(
        said.stdout
            .contains("outcomes: by the gates of the suites\n"),
        "{said}"
    );
    assert!(said.stdout.contains("8/8 → 0/8"), "{said}");
    // Without outcomes nothing is compared of them.
    let said = mcptest(
        folder.path(),
        &[
            "compare",
            "before",
            "now",
            "--outcome",
            "recorded",
            "--fail-on",
            "outcomes",
        ],
    )
    .exits(3);
    assert!(said.stdout.contains("cannot tell: "), "{said}");
}

/// A run of which the gates judge nothing did not pass: in results as in recordings.
#[test]
fn runs_of_which_nothing_was_judged_are_left_out() {
    let folder = shop(&good());
    let head = SUITE.replace("runs: 2", "runs: 8");
    let head = head.split("    trajectory:").next().unwrap();
    let no_errors = "{ target: 'tool_results[*].is_error', matcher: { not: { contains: true } } }";
    folder.write(
        "suites/refunds.yml",
        format!("{head}    expect: [{no_errors}]\n"),
    );
    let write_runs = |idle: usize, time: usize| {
        for number in 1..=8 {
            let mut run = run_of(&[]);
            run.as_object_mut().unwrap().remove("outcome");
            run["recorded_at"] = format!("2026-01-0{time}T00:00:0{number}Z").into();
            if number <= idle {
                run["trace"]["tool_calls"] = json!([]);
                run["trace"]["tool_results"] = json!([]);
            }
            let path = format!("suites/cassettes/Refund_agent__gpt-5/run-{number}.json");
            folder.write(&path, format!("{run:#}\n"));
        }
    };
    write_runs(0, 1);
    mcptest(folder.path(), &["compare", "--accept", "baseline"]).exits(0);
    fs::create_dir_all(folder.at("before")).unwrap();
    fs::rename(folder.at("suites/cassettes"), folder.at("before/cassettes")).unwrap();
    for (idle, passed, told, status) in [
        (3, "8/8 → 5/5", "0 of 8 runs before, 3 of 8 now", 0),
        (8, "unknown", "0 of 8 runs before, 8 of 8 now", 3),
    ] {
        write_runs(idle, 2);
        for sides in [
            &["before"][..],
            &["baseline"],
            &["baseline", "--save", "today"],
            &["baseline", "today"],
        ] {
            let said = mcptest(folder.path(), &[&["compare"], sides].concat()).exits(status);
            for text in [passed, told] {
                assert!(said.stdout.contains(text), "{sides:?}: {text} in\n{said}");
            }
        }
    }
}

/// What `reliability` counts has no verdict of its own, and decides on runs all the same: in results as
/// in recordings.
#[test]
fn what_reliability_counts_decides_in_results_too() {
    let expect = "    expect: [{ target: tool_names, matcher: { contains: refund } }]\n";
    for (asked, outcome) in [("", "trajectory"), (expect, "expect")] {
        let folder = shop(&good());
        let head = SUITE.replace("runs: 2", "runs: 8");
        let head = match outcome {
            "expect" => head.split("    trajectory:").next().unwrap(),
            _ => &head,
        };
        let reliability = format!(
            "    reliability: {{ outcome: {outcome}, expect: [{{ target: reliability.runs, matcher: {{ min: 8 }} }}] }}\n"
        );
        folder.write("suites/refunds.yml", format!("{head}{asked}{reliability}"));
        let write_runs = |calls: &[(&str, Value)]| {
            for number in 1..=8 {
                let mut run = run_of(calls);
                run.as_object_mut().unwrap().remove("outcome");
                run["recorded_at"] = format!("2026-01-01T00:00:0{number}Z").into();
                let path = format!("suites/cassettes/Refund_agent__gpt-5/run-{number}.json");
                folder.write(&path, format!("{run:#}\n"));
            }
        };
        write_runs(&good());
        mcptest(folder.path(), &["compare", "--accept", "baseline"]).exits(0);
        write_runs(&[]);
        for sides in [&["baseline", "--save", "today"][..], &["baseline", "today"]] {
            let said = mcptest(folder.path(), &[&["compare"], sides].concat()).exits(1);
            assert!(said.stdout.contains("8/8 → 0/8"), "{said}");
        }
        // Test functions leave no result of a gate that is counted: nothing is known of the runs.
        let gate = folder.at("baseline/shop/refunds.refund_agent.trajectory.json");
        if outcome == "trajectory" {
            fs::remove_file(gate).unwrap();
            let only = ["compare", "baseline", "today", "--fail-on", "outcomes"];
            let said = mcptest(folder.path(), &only).exits(3);
            assert!(said.stdout.contains("cannot tell: "), "{said}");
        }
    }
}
