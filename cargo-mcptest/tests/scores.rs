//! The scores of judges, people and rubrics: what says whether a run passed, and targets of `calibrate`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use std::fs;

use e2e_support::folder::{Folder, collect};
use serde_json::{Value, json};
use support::desk::desk;
use support::mcptest;

/// The runs of `desk` with a score each, by its place among them; nothing for a run without one.
fn scored(folder: &Folder, below: &str, score: impl Fn(usize) -> Option<Value>) {
    for (path, bytes) in collect(&folder.at("suites/cassettes")) {
        let mut run: Value = serde_json::from_slice(&bytes).unwrap();
        let name = path
            .rsplit("run-")
            .next()
            .unwrap()
            .trim_end_matches(".json");
        let place = name.parse::<usize>().unwrap() - 1;
        let scores: Vec<Value> = score(place).into_iter().collect();
        run["trace"]["scores"] = scores.into();
        run["trace"]["final_response"] = below.into();
        folder.write(&format!("{below}/{path}"), run.to_string());
    }
}

fn helpful(value: f64, passed: Option<bool>) -> Value {
    match passed {
        Some(passed) => {
            json!({ "name": "helpful", "value": value, "passed": passed, "by": "judge" })
        }
        None => json!({ "name": "helpful", "value": value, "by": "judge" }),
    }
}

fn found<'a>(said: &'a Value, target: &str) -> Option<&'a Value> {
    let targets = said["suites"][0]["each_run"].as_array().unwrap();
    targets.iter().find(|found| found["name"] == target)
}

fn calibrated(folder: &Folder, arguments: &[&str]) -> Value {
    let all = [&["calibrate", "--format", "json"], arguments].concat();
    let said = mcptest(folder.path(), &all);
    serde_json::from_str(&said.stdout).unwrap_or_else(|_| panic!("{said}"))
}

/// Twenty runs passed and have a 4 or 5, ten failed and have a 1 or 2.
#[test]
fn a_score_is_a_target_of_calibrate() {
    let folder = desk(20, 10);
    scored(&folder, "suites/cassettes", |place| {
        let value = if place < 20 { 4.0 } else { 1.0 };
        let more = if place % 2 == 0 { 0.0 } else { 1.0 };
        Some(helpful(value + more, None))
    });
    let json = calibrated(&folder, &[]);
    let score = found(&json, "scores.helpful").unwrap();
    assert_eq!(score["power"]["verdict"], "tells_runs_apart");
    assert_eq!(score["limit"]["rounded"], 4.0);
    assert_eq!(
        (&score["better"], &score["gate"]),
        (&json!("higher"), &json!("expect"))
    );
    // A judge whose passed runs have the lower values has the worse ones above.
    scored(&folder, "suites/cassettes", |place| {
        let passed = place < 20;
        Some(helpful(if passed { 0.1 } else { 0.9 }, Some(passed)))
    });
    let json = calibrated(&folder, &[]);
    let score = found(&json, "scores.helpful").unwrap();
    assert_eq!(
        (&score["better"], &score["limit"]["rounded"]),
        (&json!("lower"), &json!(0.1))
    );
    mcptest(folder.path(), &["calibrate", "--write", "--add"]).exits(0);
}

/// A run without the score has no value, which is not zero.
#[test]
fn runs_without_the_score_are_counted_and_left_out() {
    let folder = desk(20, 10);
    scored(&folder, "suites/cassettes", |place| {
        (place >= 3).then(|| helpful(if place < 20 { 4.0 } else { 1.0 }, None))
    });
    let json = calibrated(&folder, &[]);
    let score = found(&json, "scores.helpful").unwrap();
    assert_eq!(
        (&score["without_value"], &score["passed"]),
        (&json!(3), &json!(17))
    );
    assert_eq!(score["limit"]["rounded"], 4.0);
    let said = mcptest(folder.path(), &["calibrate"]).exits(0);
    let told = "scores.helpful: 17 passed and 10 failed runs, 3 without a value\n";
    assert!(said.stdout.contains(told), "{said}");
}

/// A score says whether runs passed, and is not held against itself.
#[test]
fn a_score_is_an_outcome_of_calibrate() {
    let folder = desk(20, 10);
    scored(&folder, "suites/cassettes", |place| {
        (place >= 3).then(|| helpful(if place < 20 { 4.0 } else { 1.0 }, None))
    });
    let asked = ["--outcome", "scores.helpful>=4"];
    let json = calibrated(&folder, &asked);
    assert_eq!(json["suites"][0]["outcome"], "scores.helpful>=4");
    assert_eq!(
        json["suites"][0]["without_score"],
        json!({ "runs": 3, "of": 30 })
    );
    assert!(found(&json, "scores.helpful").is_none());
    let count = found(&json, "calls.count").unwrap();
    assert_eq!(
        (&count["passed"], &count["failed"]),
        (&json!(17), &json!(10))
    );
    let said = mcptest(folder.path(), &[&["calibrate"], &asked[..]].concat()).exits(0);
    let told = "outcomes by `scores.helpful>=4`, 95% of passing runs\nleft out, because they have no `scores.helpful>=4`: 3 of 30 runs\n";
    assert!(said.stdout.contains(told), "{said}");
    for wrong in [
        "scores.",
        "scores.a>=x",
        "scores.a>4",
        "helpful",
        "scores.a=4",
    ] {
        let said = mcptest(folder.path(), &["calibrate", "--outcome", wrong]).exits(2);
        assert!(
            said.stderr.contains("or a score with a bound"),
            "{wrong}: {said}"
        );
    }
}

/// The recorded outcomes are the same; the judge's are not.
#[test]
fn a_score_is_an_outcome_of_compare() {
    let folder = desk(10, 0);
    for by_value in [false, true] {
        let score = |value: f64| helpful(value, (!by_value).then_some(value >= 4.0));
        scored(&folder, "before", |_| Some(score(5.0)));
        scored(&folder, "now", |place| {
            Some(score(if place < 2 { 5.0 } else { 1.0 }))
        });
        let asked = if by_value {
            "scores.helpful>=4"
        } else {
            "scores.helpful"
        };
        let arguments = ["compare", "before", "now", "--outcome", asked];
        let said = mcptest(folder.path(), &arguments).exits(1);
        assert!(said.stdout.contains("10/10 → 2/10"), "{said}");
        assert!(
            said.stdout.contains(&format!("outcomes: by `{asked}`\n")),
            "{said}"
        );
        mcptest(folder.path(), &["compare", "before", "now"]).exits(0);
        // By the value alone, a score that does not say itself what passed.
        let other = mcptest(
            folder.path(),
            &["compare", "before", "now", "--outcome", "scores.helpful"],
        );
        assert_eq!(other.code, Some(if by_value { 3 } else { 1 }), "{other}");
    }
    // A run that nobody scored did not pass and did not fail.
    scored(&folder, "now", |place| {
        (place > 0).then(|| helpful(5.0, None))
    });
    let arguments = ["compare", "before", "now", "--outcome", "scores.helpful>=4"];
    let said = mcptest(folder.path(), &arguments).exits(3);
    let told = "0 of 10 runs before and 1 of 10 now have no recorded outcome, so its outcomes";
    assert!(said.stdout.contains(told), "{said}");
    let absent = ["compare", "before", "now", "--outcome", "scores.other"];
    let said = mcptest(folder.path(), &absent).exits(3);
    assert!(
        said.stdout
            .contains("no agent's outcomes are known on both sides"),
        "{said}"
    );
    fs::remove_dir_all(folder.at("results")).ok();
    mcptest(folder.path(), &["compare", "--accept", "results"]).exits(0);
    let results = ["compare", "results", "--outcome", "scores.helpful"];
    let said = mcptest(folder.path(), &results).exits(2);
    assert!(
        said.stderr
            .contains("have no scores, because saved results do not contain scores"),
        "{said}"
    );
}
