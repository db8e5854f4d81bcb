//! `session`: what a run signals turn by turn, and the user turns that it was recorded with.

use serde_json::{Value, json};

use super::{calls, holds, judge, judge_runs, shows};

const SOMETHING: &str = "  expect: [{ target: tool_calls.length, matcher: { exact: 1 } }]\n";

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
fn a_score_that_one_run_lacks_is_no_pass() {
    let scored = |names: &[&str]| {
        let mut run = calls(&["a"]);
        let scores = names
            .iter()
            .map(|name| json!({ "name": name, "value": 0.9, "by": "ann" }));
        run["scores"] = scores.collect();
        json!({ "trace": run })
    };
    let broken = |block: &str, runs: &[Value]| {
        let text = judge_runs("", block, runs).remove(1).1;
        text.map(|text| text.contains("is in another run, so each run needs this score"))
    };
    let recorded = "  session: { derive: false }\n";
    let both = ["confidence", "coherence"];
    assert_eq!(broken(recorded, &[scored(&both), scored(&both)]), None);
    assert_eq!(
        broken(recorded, &[scored(&both), scored(&["coherence"])]),
        Some(true)
    );
    assert_eq!(
        broken(recorded, &[scored(&both), scored(&["confidence"])]),
        Some(true)
    );
    // What is derived takes the place of a score; confidence never is.
    let derived = "  session: {}\n";
    assert_eq!(
        broken(derived, &[scored(&both), scored(&["confidence"])]),
        None
    );
    assert_eq!(
        broken(derived, &[scored(&both), scored(&["coherence"])]),
        Some(true)
    );
    let mut stated = scored(&["coherence"]);
    stated["signals"] = json!({ "confidence": 0.8 });
    assert_eq!(broken(recorded, &[scored(&both), stated]), None);
}

#[test]
fn turns_of_which_nothing_is_known_leave_the_run_to_be_judged() {
    let mut run = calls(&["a"]);
    run["conversation"]["per_turn"] = json!([{ "response": "hello" }]);
    let run = json!({ "trace": run, "signals": { "confidence": 0.1 } });
    let failed = judge_runs("", "  session: {}\n", &[run])[1].1.clone();
    assert!(failed.is_some_and(|text| text.contains("agent_consistency")));
}

/// A run with user turns.
fn run_with_turns(turns: &[&str]) -> Value {
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
    let said = run_with_turns(&["Do it.", "And that.", "Thanks."]);
    holds(judge_runs("", agent, &[said]));
    shows!(
        "stale-turns",
        judge_runs(
            "",
            agent,
            &[run_with_turns(&["Do it.", "And this.", "Thanks."])]
        )
    );
    let stale = |turns: &[&str], stop: &str| {
        let mut run = run_with_turns(turns);
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
        &[run_with_turns(&["Do it.", "And this."])],
    ));
}
