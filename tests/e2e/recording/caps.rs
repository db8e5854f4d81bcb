//! Caps end a run; that is an outcome, and it is recorded.

use serde_json::{Value, json};

use super::desk::script;
use super::recording_crate::Scene;

const CAPPED: &str = "\
servers:
  desk: { command: [ORDER_DESK] }
agents:
  - name: Restless
    model: claude-sonnet-4-5
    servers: [desk]
    prompt: Look again and again.
    CAP
    expect:
      - target: conversation.stop_reason
        matcher: { exact: REASON }
      - target: truncated
        matcher: { exact: true }
";

const PLACE: &str = "suites/cassettes/Restless__claude-sonnet-4-5.json";

/// Looks an order up in every answer, and never comes to an end.
fn restless() -> Value {
    let look = json!({ "name": "desk__find_order", "args": { "order_id": "A-1001" } });
    let step = json!({ "calls": [look, look], "text": "Looking.", "usage": { "prompt": 100, "completion": 10 } });
    Value::Array(vec![step; 20])
}

fn scene(cap: &str, reason: &str, run: &Value) -> Scene {
    let suite = CAPPED.replace("CAP", cap).replace("REASON", reason);
    Scene::new(
        &suite,
        &script("Look again and again.", std::slice::from_ref(run)),
    )
}

/// The trace of the run, which is recorded and judged.
#[track_caller]
fn stops(cap: &str, reason: &str, run: &Value) -> (Value, Scene) {
    let mut scene = scene(cap, reason, run);
    scene.record("missing", &[]).exits(0);
    let trace = scene.run(PLACE)["trace"].clone();
    assert_eq!(trace["conversation"]["stop_reason"], reason);
    let requests = scene.requests();
    let calls = trace["tool_calls"].as_array().unwrap().len();
    assert_eq!(
        trace["tool_results"].as_array().unwrap().len(),
        calls,
        "{trace:#}"
    );
    scene.judge(&[]).exits(0);
    assert_eq!(scene.requests().len(), requests.len());
    scene.record("missing", &[]).exits(0);
    assert_eq!(scene.requests().len(), requests.len());
    scene.start(&script("x", &[json!([{ "text": "x" }])]));
    (trace, scene)
}

fn counts(trace: &Value) -> (usize, usize) {
    let length = |value: &Value| value.as_array().map_or(0, Vec::len);
    (
        length(&trace["conversation"]["steps"]),
        length(&trace["tool_calls"]),
    )
}

#[test]
fn max_turns() {
    let (trace, _) = stops("max_turns: 2", "turn_budget", &restless());
    assert_eq!(counts(&trace), (2, 4));
    assert!(trace.get("final_response").is_none(), "{trace:#}");
}

#[test]
fn ten_turns_are_enough_where_the_suite_does_not_say() {
    let (trace, _) = stops("runs: 1", "turn_budget", &restless());
    assert_eq!(counts(&trace), (10, 20));
}

#[test]
fn max_tool_calls_stops_in_the_middle_of_calls_made_together() {
    let (trace, _) = stops("max_tool_calls: 3", "tool_call_budget", &restless());
    assert_eq!(counts(&trace), (2, 3));
    let (trace, _) = stops("max_tool_calls: 0", "tool_call_budget", &restless());
    assert_eq!(counts(&trace), (1, 0));
}

#[test]
fn token_budget_is_not_exceeded() {
    let (trace, _) = stops("token_budget: 150", "token_budget", &restless());
    assert_eq!(counts(&trace), (1, 2));
    // What is left is all that the next answer may have.
    let scene = scene("token_budget: 300", "token_budget", &restless());
    scene.record("missing", &[]).exits(0);
    let most: Vec<Value> = scene
        .requests()
        .iter()
        .map(|seen| seen.json()["max_tokens"].clone())
        .collect();
    assert_eq!(most, [300, 80]);
    let total = scene.run(PLACE)["trace"]["conversation"]["tokens"]["total"].clone();
    assert_eq!(total, 220);
}

#[test]
fn max_tokens_is_sent_and_an_answer_that_it_cuts_is_recorded_as_cut() {
    let run = json!([{ "text": "It is a long sto", "stop": "max_tokens" }]);
    let scene = scene("max_tokens: 7", "token_budget", &run);
    scene.record("missing", &[]).exits(0);
    assert_eq!(scene.requests()[0].json()["max_tokens"], 7);
    let run = scene.run(PLACE);
    assert_eq!(run["max_tokens"], 7);
    assert_eq!(run["trace"]["final_response"], "It is a long sto");
    assert_eq!(run["trace"]["conversation"]["stop_reason"], "token_budget");
    scene.judge(&[]).exits(0);
}

#[test]
fn a_call_that_may_be_cut_is_not_made() {
    let cancel = json!({ "name": "desk__cancel_order", "args": { "order_id": "A-1001" } });
    let run = json!([{ "calls": [cancel], "stop": "max_tokens" }]);
    let scene = scene("max_tokens: 9", "token_budget", &run);
    scene.record("missing", &[]).exits(0);
    let trace = &scene.run(PLACE)["trace"];
    assert_eq!(trace["conversation"]["stop_reason"], "token_budget");
    // The model asked for it, and nobody answered.
    assert_eq!(counts(trace), (1, 1));
    assert_eq!(trace["tool_results"], json!([]));
    scene.judge(&[]).exits(0);
}

#[test]
fn time_budget_ends_a_run_that_waits_for_the_model() {
    let mut run = restless();
    run[1]["before"] = json!([{ "wait_ms": 30_000 }]);
    let (trace, _) = stops("time_budget: 4", "time_budget", &run);
    assert_eq!(counts(&trace), (1, 2));
}

#[test]
fn time_budget_ends_a_run_that_waits_for_a_tool() {
    let scene = scene("time_budget: 4", "time_budget", &restless());
    let suite = scene
        .text("suites/desk.yml")
        .replace("order-desk]", "order-desk, --misbehave, hang-on-call]");
    scene.suite(&suite);
    scene.record("missing", &[]).exits(0);
    let trace = &scene.run(PLACE)["trace"];
    assert_eq!(counts(trace).0, 1);
    scene.judge(&[]).exits(0);
}

#[test]
fn a_cap_that_is_not_reached_changes_nothing() {
    let run = json!([{ "text": "Done.", "usage": { "prompt": 10, "completion": 2 } }]);
    let scene = scene(
        "max_turns: 1\n    token_budget: 100\n    max_tool_calls: 0\n    time_budget: 60",
        "completed",
        &run,
    );
    let ran = scene.record("missing", &[]).exits(101);
    assert!(ran.only_failure().1.contains("truncated"), "{ran}");
    assert_eq!(
        scene.run(PLACE)["trace"]["conversation"]["stop_reason"],
        "completed"
    );
}
