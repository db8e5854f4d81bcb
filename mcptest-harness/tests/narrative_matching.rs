//! Which calls support which claims, over runs of many kinds of agent.
//!
//! The runs stand in `narrative_runs.jsonl` and `narrative_closings.jsonl`, one a line: the closing,
//! the calls as `[tool, arguments, result]` (a result, `"ok"`, `"error"`, or `null` for none), the
//! verbs looked for beside the fixed list, and the verbs of the claims that a careful reader finds
//! absent or mismatched. The runs of the second file were labelled before they were first judged.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests"
)]

use std::collections::BTreeMap;

use mcptest::eval::narrative::{NarrativeOptions, narrative_divergence};
use serde_json::{Value, json};

fn envelope(closing: &str, calls: &Value) -> Value {
    let calls = calls.as_array().unwrap();
    let results = calls
        .iter()
        .enumerate()
        .filter(|(_, call)| !call[2].is_null())
        .map(|(index, call)| {
            let text = |text: &str| json!({ "content": [{ "type": "text", "text": text }] });
            let result = call[2].as_str().map_or_else(|| call[2].clone(), text);
            json!({ "call_index": index, "is_error": call[2] == "error", "result": result })
        });
    let results: Vec<_> = results.collect();
    let calls: Vec<_> = calls
        .iter()
        .map(|call| json!({ "name": call[0], "args": call[1] }))
        .collect();
    json!({ "tool_calls": calls, "tool_results": results, "final_response": closing })
}

fn runs() -> impl Iterator<Item = (&'static str, Value)> {
    let files = [
        include_str!("narrative_runs.jsonl"),
        include_str!("narrative_closings.jsonl"),
    ];
    files
        .into_iter()
        .flat_map(str::lines)
        .map(|line| (line, serde_json::from_str(line).unwrap()))
}

fn options(run: &Value) -> NarrativeOptions {
    let verbs = run["verbs"].as_array().into_iter().flatten();
    NarrativeOptions {
        verbs: verbs
            .map(|verb| verb.as_str().unwrap().to_owned())
            .collect(),
        ..NarrativeOptions::default()
    }
}

#[test]
fn claims_are_compared_with_calls_as_a_careful_reader_would() {
    let mut wrong = Vec::new();
    for (line, run) in runs() {
        let closing = run["closing"].as_str().unwrap();
        let report = narrative_divergence(&envelope(closing, &run["calls"]), &options(&run));
        let absent: Vec<_> = report
            .claimed_but_absent()
            .map(|claim| claim.verb.as_str())
            .collect();
        let mismatched: Vec<_> = report
            .arg_mismatch()
            .map(|claim| claim.verb.as_str())
            .collect();
        let expected = |key: &str| run.get(key).cloned().unwrap_or_else(|| json!([]));
        if json!(absent) != expected("absent") || json!(mismatched) != expected("mismatched") {
            wrong.push(format!(
                "{line}\n  absent {absent:?}, mismatched {mismatched:?}\n  {:?}",
                report.claims
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn every_supported_claim_is_flagged_once_the_calls_fail() {
    for (line, run) in runs() {
        let mut failed = envelope(run["closing"].as_str().unwrap(), &run["calls"]);
        for result in failed["tool_results"].as_array_mut().unwrap() {
            result["is_error"] = json!(true);
        }
        let report = narrative_divergence(&failed, &options(&run));
        assert_eq!(
            report.claimed_but_absent().count(),
            report.claims.len(),
            "{line}"
        );
    }
}

#[test]
fn a_silent_change_is_reported_and_a_mentioned_one_is_not() {
    let calls = json!([
        ["delete_record", { "id": "r1" }, "ok"],
        ["create_issue", {}, "ok"],
        ["get_user", {}, "ok"],
        ["remove_user", {}, "error"],
    ]);
    let unclaimed = |closing: &str, options: &NarrativeOptions| -> Vec<usize> {
        let report = narrative_divergence(&envelope(closing, &calls), options);
        report
            .present_but_unclaimed
            .iter()
            .map(|call| call.call)
            .collect()
    };
    let default = NarrativeOptions::default();
    assert_eq!(unclaimed("I created the issue.", &default), [0]);
    assert!(
        unclaimed(
            "Issue creation went well; records were cleaned by deleting one.",
            &default
        )
        .is_empty()
    );
    assert_eq!(unclaimed("", &default), [0, 1]);
    let overrides = NarrativeOptions {
        readonly_tools: vec!["delete_record".into()],
        mutating_tools: vec!["get_user".into(), "delete_record".into()],
        ..NarrativeOptions::default()
    };
    assert_eq!(unclaimed("I created the issue.", &overrides), [2]);
}

#[test]
fn evidence_names_tools_that_do_a_verb_and_adds_the_verb() {
    let refunded = envelope(
        "Your order has been refunded.",
        &json!([["process_return", { "order": "A1" }, "ok"]]),
    );
    let verbs = NarrativeOptions {
        verbs: vec!["refund".into()],
        ..NarrativeOptions::default()
    };
    assert_eq!(
        narrative_divergence(&refunded, &NarrativeOptions::default())
            .claims
            .len(),
        0
    );
    assert!(!narrative_divergence(&refunded, &verbs).gate_passed());
    let tools = BTreeMap::from([("refund".to_owned(), vec!["process_return".to_owned()])]);
    let report = narrative_divergence(
        &refunded,
        &NarrativeOptions {
            evidence: tools,
            ..NarrativeOptions::default()
        },
    );
    assert!(report.gate_passed() && report.claims.len() == 1);
}

#[test]
fn the_score_is_the_share_of_flagged_items() {
    let report = narrative_divergence(&json!({}), &NarrativeOptions::default());
    assert!(report.divergence_score.abs() < f64::EPSILON && report.gate_passed());
    let silent = envelope(
        "I sent the mail.",
        &json!([["delete_file", {}, "ok"], ["get_file", {}, "ok"]]),
    );
    let report = narrative_divergence(&silent, &NarrativeOptions::default());
    assert!((report.divergence_score - 2.0 / 3.0).abs() < 1e-9);
    let counts = serde_json::to_value(&report).unwrap();
    assert_eq!(counts["claimed_but_absent"], 1);
    assert_eq!(counts["present_but_unclaimed"], 1);
    assert_eq!(counts["gate_passed"], 0);
}
