//! `regression:`: runs against those of a baseline.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod baseline;
mod only_trusted;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use mcptest::judge::{Package, PackageCase};
use mcptest::result::{CaseResult, CaseStatus, folder};
use serde_json::json;
use tempfile::TempDir;

/// An agent: how many of six runs passed before and pass now, and the tokens of the first run of each.
const AGENTS: [(&str, [usize; 2], [u64; 2]); 4] = [
    ("a_refund", [6, 1], [1000, 1005]),
    ("b_search", [5, 5], [2000, 2905]),
    ("c_book", [0, 6], [1500, 1505]),
    ("d_cancel", [6, 4], [1200, 1205]),
];

fn run(agent: &str, prompt: &str, passed: bool, tokens: u64) -> String {
    let cassette = json!({
        "schema_version": "v1", "agent_name": agent, "model": "m", "user_prompt": prompt,
        "outcome": { "passed": passed },
        "trace": {
            "tool_calls": [{ "name": "find" }, { "name": "read" }],
            "final_response": "done",
            "conversation": { "tokens": { "total": tokens }, "stop_reason": "completed" },
        },
    });
    cassette.to_string()
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn suite(regression: &str, more: &str) -> String {
    let agents = AGENTS.map(|(name, ..)| {
        format!("  - {{ name: {name}, model: m, prompt: p, runs: 6, calls: {{ max: 9 }}{more} }}\n")
    });
    format!("{regression}agents:\n{}", agents.concat())
}

/// Six runs of each agent, now (1) or before (0).
fn runs(folder: &Path, below: &str, side: usize) {
    for (name, passed, tokens) in AGENTS {
        for number in 0..6 {
            let passes = number < passed[side];
            let text = run(name, "p", passes, tokens[side] + 10 * number as u64);
            write(
                folder,
                &format!("{below}/{name}__m/run-{}.json", number + 1),
                &text,
            );
        }
    }
}

/// A package with today's runs beside its suite, and those of the baseline in `trusted`.
fn package(regression: &str, more: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "suites/s.yml", &suite(regression, more));
    runs(folder.path(), "suites/cassettes", 1);
    runs(folder.path(), "suites/trusted", 0);
    folder
}

fn open(folder: &TempDir) -> Package {
    Package::open(folder.path(), "shop", &["suites".into()])
}

fn regressions(folder: &TempDir) -> BTreeMap<String, CaseResult> {
    let package = open(folder);
    assert_eq!(package.failures(), []);
    let results = package
        .cases()
        .iter()
        .map(PackageCase::judge)
        .collect::<Vec<_>>();
    let of_gate = results
        .into_iter()
        .filter(|case| case.gate.as_deref() == Some("regression"));
    of_gate.map(|case| (case.case.clone(), case)).collect()
}

fn message(result: &CaseResult) -> String {
    let failure = result.failure.as_ref().map(|failure| failure.text.clone());
    failure
        .or_else(|| result.reason.clone())
        .unwrap_or_else(|| result.notes.join("\n"))
}

const TRUSTED: &str = "regression: { baseline: trusted }\n";

#[test]
fn each_agent_and_the_suite_are_cases() {
    let found = regressions(&package(TRUSTED, ""));
    let verdicts: Vec<(&str, CaseStatus)> = found
        .values()
        .map(|result| (result.case.as_str(), result.status))
        .collect();
    assert_eq!(
        verdicts,
        [
            ("s::a_refund::regression", CaseStatus::Failed),
            ("s::b_search::regression", CaseStatus::Failed),
            ("s::c_book::regression", CaseStatus::Passed),
            ("s::d_cancel::regression", CaseStatus::Passed),
            ("s::regression", CaseStatus::Passed),
        ]
    );
    let lines = found.values().map(message).collect::<Vec<_>>().join("\n");
    for part in [
        "`a_refund` must be no worse than its baseline",
        "regressed   p 0.0032 ≤ 0.00625, 83 points",
        "costlier    p 0.0011, outcomes: no evidence",
        "improved    p 0.0002",
        "a drop of 87 points would have been noticed",
        "37.9 points would have been noticed",
        "cargo mcptest compare --accept",
    ] {
        assert!(lines.contains(part), "{part}\n{lines}");
    }
    // The suite's case judges the agents together; it says which are red alone, and has no exit status.
    let whole = message(&found["s::regression"]);
    assert!(
        whole.ends_with("\n1 got worse, 1 costs 45% more tokens, 1 got better.\nred in their own cases: s::a_refund::regression, s::b_search::regression"),
        "{whole}"
    );
    assert!(!lines.contains("Exit status"), "{lines}");
}

#[test]
fn too_few_runs_are_no_silent_pass() {
    let folder = package(TRUSTED, "");
    let fewer = suite(TRUSTED, "").replace("runs: 6", "runs: 1");
    write(folder.path(), "suites/s.yml", &fewer);
    for side in ["trusted", "cassettes"] {
        for (name, ..) in AGENTS {
            for run in 2..=6 {
                let path = format!("suites/{side}/{name}__m/run-{run}.json");
                fs::remove_file(folder.path().join(path)).unwrap();
            }
        }
    }
    let found = regressions(&folder);
    let whole = &found["s::regression"];
    assert_eq!(whole.status, CaseStatus::Failed);
    assert!(message(whole).contains("cannot tell"), "{}", message(whole));
    let agent = &found["s::a_refund::regression"];
    assert_eq!(agent.status, CaseStatus::Ignored);
    assert!(
        message(agent).starts_with("cannot tell: "),
        "{}",
        message(agent)
    );

    let allowed = TRUSTED.replace(" }", ", inconclusive: pass }");
    write(
        folder.path(),
        "suites/s.yml",
        &suite(&allowed, "").replace("runs: 6", "runs: 1"),
    );
    let whole = &regressions(&folder)["s::regression"];
    assert_eq!(whole.status, CaseStatus::Passed);
    assert!(message(whole).contains("cannot tell"), "{}", message(whole));
}

#[test]
fn what_nobody_knows_to_have_passed_is_no_pass() {
    let suite = "regression: { baseline: trusted }\nagents: [{ name: a_refund, model: m, prompt: p, runs: 6, stability: {} }]\n";
    let folder = package(TRUSTED, "");
    write(folder.path(), "suites/s.yml", suite);
    for below in ["trusted", "cassettes"] {
        for number in 1..=6 {
            let text = run("a_refund", "p", true, 1000 + number);
            let mut run: serde_json::Value = serde_json::from_str(&text).unwrap();
            run.as_object_mut().unwrap().remove("outcome");
            run["trace"]["final_response"] = json!(below);
            let path = format!("suites/{below}/a_refund__m/run-{number}.json");
            write(folder.path(), &path, &run.to_string());
        }
    }
    let found = regressions(&folder);
    let agent = &found["s::a_refund::regression"];
    assert_eq!(agent.status, CaseStatus::Ignored, "{}", message(agent));
    assert!(
        message(agent).starts_with("cannot tell: no outcomes"),
        "{}",
        message(agent)
    );
    assert_eq!(found["s::regression"].status, CaseStatus::Failed);
}

#[test]
fn an_agent_may_have_a_margin_of_its_own_or_be_left_out() {
    let wide = regressions(&package(TRUSTED, ", regression: { margin: 90 }"));
    assert_eq!(wide["s::a_refund::regression"].status, CaseStatus::Passed);
    let skipped = regressions(&package(
        TRUSTED,
        ", regression: { skip: waits for the new shop }",
    ));
    let agent = &skipped["s::a_refund::regression"];
    assert_eq!(message(agent), "skipped: waits for the new shop");
    let whole = &skipped["s::regression"];
    assert_eq!(
        whole.status,
        CaseStatus::Failed,
        "nothing was compared: {}",
        message(whole)
    );
}

#[test]
fn one_agent_alone_has_all_of_the_chance() {
    let folder = package(TRUSTED, "");
    runs(folder.path(), "suites/cassettes", 0);
    for number in 0..6 {
        let path = format!("suites/cassettes/a_refund__m/run-{}.json", number + 1);
        write(
            folder.path(),
            &path,
            &run("a_refund", "p", number < 1, 1005 + 10 * number),
        );
    }
    let found = regressions(&folder);
    assert!(
        message(&found["s::a_refund::regression"]).contains("≤ 0.05"),
        "{}",
        message(&found["s::a_refund::regression"])
    );
    let whole = message(&found["s::regression"]);
    assert!(
        whole.ends_with("\n1 got worse.\nred in its own case: s::a_refund::regression"),
        "{whole}"
    );
    assert_eq!(
        message(&found["s::b_search::regression"]),
        "unchanged since the baseline"
    );
    assert_eq!(
        found["s::regression"].status,
        CaseStatus::Passed,
        "{}",
        message(&found["s::regression"])
    );
}

/// Of an agent that hardly ever passed nothing can be lost, and much be won.
#[test]
fn an_agent_that_improved_holds_and_so_does_its_suite() {
    let folder = package(TRUSTED, "");
    runs(folder.path(), "suites/cassettes", 0);
    for (below, passed) in [("cassettes", 6), ("trusted", 1)] {
        for number in 1..=6 {
            let path = format!("suites/{below}/c_book__m/run-{number}.json");
            let text = run("c_book", "p", number <= passed, 1500 + 6 * passed + number);
            write(folder.path(), &path, &text);
        }
    }
    let found = regressions(&folder);
    for case in ["s::c_book::regression", "s::regression"] {
        assert_eq!(
            found[case].status,
            CaseStatus::Passed,
            "{}",
            message(&found[case])
        );
    }
    let whole = message(&found["s::regression"]);
    assert!(
        whole.ends_with("\n1 got better.\ndecided in its own case: s::c_book::regression"),
        "{whole}"
    );
}

#[test]
fn what_a_suite_says_wrongly_is_refused() {
    for (regression, more, problem) in [
        ("regression: {}\n", "", "`baseline`"),
        (
            "regression: { baseline: x, margin: 200 }\n",
            "",
            "from 0 to 100",
        ),
        (
            "regression: { baseline: x, fail_on: [outcome] }\n",
            "",
            "did you mean `outcomes`?",
        ),
        (
            "regression: { baseline: x, fail_on: cost }\n",
            "",
            "write `[cost]`",
        ),
        (
            "regression: { baseline: x, marging: 3 }\n",
            "",
            "did you mean `margin`?",
        ),
        (
            "",
            ", regression: { margin: 3 }",
            "this suite does not say what its agents are compared with",
        ),
    ] {
        let folder = package(regression, more);
        let package = open(&folder);
        let text = &package.failures()[0].text;
        assert!(text.contains(problem), "{problem}\n{text}");
    }
    let text = suite(TRUSTED, "").replace("a_refund", "Regression");
    let error = mcptest::parse_suite(mcptest::suite::Source::new("s.yml", "s.yml", text));
    assert!(error.unwrap_err().to_string().contains("regression"));
}
