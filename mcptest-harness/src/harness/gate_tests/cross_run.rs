//! Gates that fold all runs together.

use serde_json::{Value, json};

use super::{calls, holds, judge, judge_runs, shows, trace};

#[test]
fn stability_marks_the_weakest_cell_and_says_why() {
    let search = |q: &str| ("search", json!({ "q": q }), json!("ok"));
    let steady = trace(&[search("a"), search("b")], "");
    holds(judge(
        "  stability: {}\n",
        &[steady.clone(), trace(&[search("a"), search("c")], "")],
    ));
    let looping = trace(&[search("a"), search("a"), search("a"), search("b")], "");
    holds(judge(
        "  stability: {}\n",
        &[steady.clone(), looping.clone()],
    ));
    let worse = trace(&[search("a"), search("a"), search("a")], "");
    shows!(
        "stability-default",
        judge("  stability: {}\n", &[steady.clone(), worse])
    );
    shows!(
        "stability-floors",
        judge(
            "  stability: { floors: { redundancy: 0.8 } }\n",
            &[steady, looping]
        )
    );
}

#[test]
fn stability_explains_each_sub_score() {
    let mut wordy = calls(&[]);
    wordy["conversation"]["turns"] = json!([
        { "role": "assistant", "content": "ok" }, { "role": "assistant", "content": "x".repeat(900) },
    ]);
    let mut costly = calls(&["a"]);
    costly["conversation"]["tokens"] = json!({ "total": 90_000 });
    shows!(
        "stability-responses",
        judge("  stability: {}\n", &[wordy.clone(), calls(&["a"])])
    );
    shows!(
        "stability-cost",
        judge("  stability: {}\n", &[costly, calls(&["a"])])
    );
    shows!(
        "stability-tools",
        judge(
            "  stability: {}\n",
            &[calls(&["a", "b", "c"]), calls(&["a", "a"])]
        )
    );
}

#[test]
fn only_the_sub_scores_that_count_can_be_the_weakest() {
    let mut costly = calls(&["a", "a", "b"]);
    costly["conversation"]["tokens"] = json!({ "total": 90_000 });
    let other = calls(&["a"]);
    let gate = "  stability: { dimensions: [redundancy] }\n";
    holds(judge(gate, &[costly.clone(), other.clone()]));
    shows!(
        "stability-dimensions",
        judge(
            "  stability: { dimensions: [redundancy, tool_usage_stability], floors: { redundancy: 0.8 } }\n",
            &[costly, other]
        )
    );
    // Without a call there is no redundancy to speak of, however much was said.
    let mut said = calls(&[]);
    said["conversation"]["turns"] = json!([{ "role": "assistant", "content": "ok" }]);
    shows!(
        "stability-dimensions-without-data",
        judge(gate, &[said.clone(), said])
    );
}

#[test]
fn turns_that_stand_for_a_call_may_be_left_out() {
    let run = |tool: &str| {
        let mut run = calls(&["a"]);
        run["conversation"]["turns"] = json!([
            { "role": "assistant", "content": format!("tool_use desk::a with {tool}") },
            { "role": "assistant", "content": "Your order is on its way." },
            { "role": "assistant", "content": "It will be there soon!!!!" },
        ]);
        run
    };
    let runs = [run(&"x".repeat(900)), run("{}")];
    holds(judge("  stability: { turns: said }\n", &runs));
    let judged = judge("  stability: {}\n", &runs);
    let failed: String = judged.into_iter().filter_map(|(_, text)| text).collect();
    assert!(
        failed.contains("`response_consistency` of run 1"),
        "{failed}"
    );
    // A run that only calls tools says nothing.
    let mut silent = calls(&["a"]);
    silent["conversation"]["turns"] =
        json!([{ "role": "assistant", "content": "tool_use desk::a with {}" }]);
    let gate = "  stability: { dimensions: [response_consistency], turns: said }\n";
    shows!(
        "stability-said-by-nobody",
        judge(gate, &[silent.clone(), silent])
    );
}

/// Runs with outcomes.
fn outcomes(outcomes: &[bool]) -> Vec<Value> {
    let run = |passed: &bool| json!({ "trace": calls(&["a"]), "outcome": { "passed": passed } });
    outcomes.iter().map(run).collect()
}

#[test]
fn reliability_counts_recorded_outcomes() {
    let gate = "  reliability: { outcome: recorded }\n";
    holds(judge_runs("", gate, &outcomes(&[true, true])));
    shows!(
        "reliability-recorded",
        judge_runs("", gate, &outcomes(&[true, true, true, false]))
    );
    shows!(
        "reliability-unknown",
        judge(
            "  reliability: { outcome: recorded }\n",
            &[calls(&["a"]), calls(&["b"])]
        )
    );
    shows!(
        "reliability-half-width",
        judge_runs(
            "",
            "  reliability: { outcome: recorded, half_width: 5 }\n",
            &outcomes(&[true, true])
        )
    );
    let rate = "  reliability:\n    outcome: recorded\n    expect:\n    - { target: reliability.pass_rate, matcher: { exact: 75 } }\n    - { target: 'reliability.decay_curve', matcher: { exact: [100, 100, 100, 31] } }\n    - { target: 'reliability.pass_hat[1]', matcher: { exact: 0.5 } }\n";
    holds(judge_runs("", rate, &outcomes(&[true, true, true, false])));
}

#[test]
fn reliability_takes_over_what_the_agent_expects() {
    let gate = "  expect: [{ target: 'tool_calls[0].name', matcher: { exact: a } }]\n  trajectory: { mode: strict, calls: [{ name: a }] }\n  reliability:\n    outcome: [expect, trajectory]\n    expect: [{ target: reliability.pass_rate, matcher: { schema: { minimum: 50 } } }]\n";
    let verdicts = judge(gate, &[calls(&["a"]), calls(&["b"])]);
    // The agent's own case and the trajectory's leave it to reliability.
    let names: Vec<&str> = verdicts.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["agent", "agent::reliability"]);
    holds(verdicts);
    let strict = gate.replace("minimum: 50", "minimum: 60");
    shows!(
        "reliability-judged",
        judge(&strict, &[calls(&["a"]), calls(&["b"])])
    );
}

#[test]
fn a_session_needs_signals() {
    let low = |confidence: f64| json!({ "trace": calls(&["a"]), "signals": { "confidence": confidence, "loop_detection": 1.0 } });
    holds(judge_runs("", "  session: {}\n", &[low(0.9), low(0.8)]));
    shows!(
        "session-low",
        judge_runs("", "  session: {}\n", &[low(0.9), low(0.1)])
    );
    shows!(
        "session-vacuous",
        judge("  session: { derive: false }\n", &[calls(&["a"])])
    );
    // Without a confidence there is no consistency, and asking for it is no pass.
    let asked = "  session: { expect: [{ target: session.agent_consistency, matcher: { schema: { minimum: 0 } } }] }\n";
    shows!("session-unresolved", judge(asked, &[calls(&["a"])]));
}

#[test]
fn turns_of_which_nothing_is_known_leave_the_run_to_be_judged() {
    let mut run = calls(&["a"]);
    run["conversation"]["per_turn"] = json!([{ "response": "hello" }]);
    let run = json!({ "trace": run, "signals": { "confidence": 0.1 } });
    let failed = judge_runs("", "  session: {}\n", &[run])[1].1.clone();
    assert!(failed.is_some_and(|text| text.contains("agent_consistency")));
}
