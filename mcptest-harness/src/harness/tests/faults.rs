//! `inject` and `recovery`: faults that are planned, and what a run made of them.

use serde_json::{Value, json};

use super::{calls, holds, judge_runs, shows, trace};

const FAULT: &str = "faults:\n- { name: hung, target: { tool: search }, kind: hang }\n";

const FAULTS: &str = "faults:\n- { name: hung, target: { tool: search }, kind: hang }\n- { name: dead, target: { tool: fetch }, kind: wedged }\n";

const SOMETHING: &str = "  expect: [{ target: tool_calls.length, matcher: { exact: 1 } }]\n";

/// A run of `search` calls with results, and how it ended.
fn searched(results: &[&str], closing: &str, stop: &str) -> Value {
    let calls: Vec<_> = results
        .iter()
        .map(|result| ("search", json!({}), json!(result)))
        .collect();
    let mut run = trace(&calls, closing);
    run["conversation"]["stop_reason"] = json!(stop);
    json!({ "trace": run })
}

/// A run in which a fault, by name and kind, struck the first call.
fn struck(tool: &str, fault: &str, kind: &str) -> Value {
    let mut run = calls(&[tool]);
    run["tool_results"][0]["is_error"] = json!(true);
    run["tool_results"][0]["synthesized"] = json!({ "fault": fault, "kind": kind });
    json!({ "trace": run })
}

#[test]
fn every_injected_fault_fires_in_some_run() {
    let agent = "  inject: [hung, dead]\n  golden_path: { calls: [search] }\n";
    let gate = "  inject: [hung, dead]\n  recovery: {}\n";
    let (searched, fetched) = (
        struck("search", "hung", "hang"),
        struck("fetch", "dead", "wedged"),
    );
    let both = [searched.clone(), fetched];
    holds(judge_runs(FAULTS, agent, &both));
    holds(judge_runs(FAULTS, gate, &both));
    let one = std::slice::from_ref(&searched);
    shows!("inject-one-of-two", judge_runs(FAULTS, agent, one));
    shows!("recovery-one-of-two", judge_runs(FAULTS, gate, one));
    let allowed = "  inject: [hung, dead]\n  recovery: { allow_unexercised: true }\n";
    holds(judge_runs(FAULTS, allowed, one));
    // Where reliability judges the gate, the agent's own case says it.
    let counted =
        "  inject: [hung, dead]\n  recovery: {}\n  reliability: { outcome: [recovery] }\n";
    let verdicts = judge_runs(FAULTS, counted, one);
    assert!(
        verdicts[0]
            .1
            .as_ref()
            .is_some_and(|text| text.contains("`dead`"))
    );
}

#[test]
fn an_injected_fault_must_fire_without_a_gate_too() {
    let agent = "  inject: [hung]\n  golden_path: { calls: [search] }\n";
    holds(judge_runs(
        FAULT,
        agent,
        &[searched(&["error"], "Search is down.", "completed")],
    ));
    shows!(
        "inject-unexercised",
        judge_runs(
            FAULT,
            agent,
            &[searched(&[], "Nothing to do.", "completed")]
        )
    );
}

#[test]
fn recovery_wants_the_fault_to_have_fired() {
    let gate = "  inject: [hung]\n  recovery: {}\n";
    holds(judge_runs(
        FAULT,
        gate,
        &[searched(&["error"], "Search is down.", "completed")],
    ));
    shows!(
        "recovery-unexercised",
        judge_runs(FAULT, gate, &[searched(&[], "Nothing to do.", "completed")])
    );
    shows!(
        "recovery-contradicted",
        judge_runs(
            FAULT,
            gate,
            &[searched(&["found"], "Found it.", "completed")]
        )
    );
    let allowed = "  inject: [hung]\n  recovery: { allow_unexercised: true }\n";
    holds(judge_runs(
        FAULT,
        allowed,
        &[searched(&[], "Nothing to do.", "completed")],
    ));
}

#[test]
fn recovery_counts_virtual_time() {
    let gate = "  inject: [hung]\n  recovery: { max_detection_ms: 2000, max_recovery_ms: 5000 }\n";
    holds(judge_runs(
        FAULT,
        gate,
        &[searched(&["error", "error"], "Down.", "completed")],
    ));
    shows!(
        "recovery-too-slow",
        judge_runs(
            FAULT,
            gate,
            &[searched(&["error", "error", "error"], "Down.", "completed")]
        )
    );
    shows!(
        "recovery-gave-up",
        judge_runs(FAULT, gate, &[searched(&["error"], "", "turn_budget")])
    );
}

#[test]
fn a_run_that_never_recovered_took_too_long() {
    let gate = "  inject: [hung]\n  recovery:\n    max_recovery_ms: 5000\n    expect: [{ target: recovery.detections, matcher: { exact: 1 } }]\n";
    let mut run = struck("search", "hung", "hang");
    holds(judge_runs(FAULTS, gate, std::slice::from_ref(&run)));
    run["trace"]["conversation"]["stop_reason"] = json!("turn_budget");
    shows!("recovery-never", judge_runs(FAULTS, gate, &[run]));
}

#[test]
fn what_the_suite_asserts_of_recovery_is_judged_in_any_case() {
    let gate = "  inject: [hung]\n  recovery:\n    allow_unexercised: true\n    expect: [{ target: recovery.detections, matcher: { exact: 1 } }]\n";
    holds(judge_runs(
        FAULT,
        gate,
        &[searched(&["error"], "Down.", "completed")],
    ));
    assert!(
        judge_runs(FAULT, gate, &[searched(&[], "Nothing.", "completed")])[1]
            .1
            .is_some()
    );
}

#[test]
fn a_recording_of_another_fault_plan_is_stale() {
    let hung = "  inject: [hung]\n  golden_path: { calls: [search] }\n";
    let stale = |agent: &str, run: Value| {
        let failed = judge_runs(FAULTS, agent, &[run]).remove(0).1;
        failed.is_some_and(|text| text.contains("stale: recorded with other faults"))
    };
    assert!(!stale(hung, struck("search", "hung", "hang")));
    assert!(stale(hung, struck("search", "hung", "wedged")));
    assert!(stale(hung, struck("search", "dead", "hang")));
    assert!(stale(hung, struck("fetch", "hung", "hang")));
    let none = "  golden_path: { calls: [search] }\n";
    assert!(stale(none, struck("search", "hung", "hang")));
    // A session notes which faults there were: what differs need not have struck.
    let mut noted = struck("search", "hung", "hang");
    noted["session"] = json!({ "version": "1.3", "faults": "0123456789abcdef" });
    assert!(stale(hung, noted));
    shows!(
        "stale-faults",
        judge_runs(FAULTS, SOMETHING, &[struck("search", "hung", "hang")])
    );
}
