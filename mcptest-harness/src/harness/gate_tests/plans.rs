//! Recordings and what they were recorded with: fault plans and user turns.

use serde_json::{Value, json};

use super::{calls, holds, judge_runs, shows};

const FAULTS: &str = "faults:\n- { name: hung, target: { tool: search }, kind: hang }\n- { name: dead, target: { tool: fetch }, kind: wedged }\n";

const SOMETHING: &str = "  expect: [{ target: tool_calls.length, matcher: { exact: 1 } }]\n";

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
fn a_run_that_never_recovered_took_too_long() {
    let gate = "  inject: [hung]\n  recovery:\n    max_recovery_ms: 5000\n    expect: [{ target: recovery.detections, matcher: { exact: 1 } }]\n";
    let mut run = struck("search", "hung", "hang");
    holds(judge_runs(FAULTS, gate, std::slice::from_ref(&run)));
    run["trace"]["conversation"]["stop_reason"] = json!("turn_budget");
    shows!("recovery-never", judge_runs(FAULTS, gate, &[run]));
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
    shows!(
        "stale-faults",
        judge_runs(FAULTS, SOMETHING, &[struck("search", "hung", "hang")])
    );
}

/// A run with user turns.
fn asked(turns: &[&str]) -> Value {
    let mut run = calls(&["a"]);
    let turns = turns
        .iter()
        .map(|text| json!({ "role": "user", "content": text }));
    run["conversation"]["turns"] = turns.collect();
    json!({ "trace": run, "user_prompt": "Do it." })
}

#[test]
fn a_recording_with_other_user_turns_is_stale() {
    let agent = "  turns: [Do it., And that., Thanks.]\n  expect: [{ target: 'tool_calls[0].name', matcher: { exact: a } }]\n";
    let said = asked(&["Do it.", "And that.", "Thanks."]);
    holds(judge_runs("", agent, &[said]));
    shows!(
        "stale-turns",
        judge_runs("", agent, &[asked(&["Do it.", "And this.", "Thanks."])])
    );
    let stale = |turns: &[&str], stop: &str| {
        let mut run = asked(turns);
        run["trace"]["conversation"]["stop_reason"] = json!(stop);
        judge_runs("", agent, &[run]).remove(0).1.is_some()
    };
    assert!(stale(&["Do it.", "And that."], "completed"));
    assert!(stale(&[], "completed"));
    assert!(stale(
        &["Do it.", "And that.", "Thanks.", "Bye."],
        "completed"
    ));
    // A cap may end a run before everything was said.
    assert!(!stale(&["Do it.", "And that."], "turn_budget"));
    // One prompt may have begun a longer conversation.
    holds(judge_runs(
        "",
        SOMETHING,
        &[asked(&["Do it.", "And this."])],
    ));
}
