//! Injected faults while a real server stands by.

use serde_json::{Value, json};

use super::desk::script;
use super::recording_crate::Scene;

const FAULTY: &str = "\
servers:
  desk: { command: [ORDER_DESK] }
faults:
  - FAULT
agents:
  - name: Patient
    model: claude-sonnet-4-5
    servers: [desk]
    inject: [bad-day]
    prompt: Cancel A-1001.
    runs: 2
    recovery: {}
";

fn scene(fault: &str, run: &Value) -> Scene {
    Scene::new(
        &FAULTY.replace("FAULT", fault),
        &script("Cancel A-1001.", std::slice::from_ref(run)),
    )
}

fn cancel() -> Value {
    json!({ "calls": [{ "name": "desk__cancel_order", "args": { "order_id": "A-1001" } }] })
}

/// The results of the second run: each run has its own faults.
fn results(scene: &Scene) -> Vec<Value> {
    let run = scene.run("suites/cassettes/Patient__claude-sonnet-4-5/run-2.json");
    run["trace"]["tool_results"].as_array().unwrap().clone()
}

#[test]
fn a_call_that_is_struck_never_reaches_the_server_and_the_retry_does() {
    let run = json!([cancel(), cancel(), { "text": "It is cancelled now." }]);
    let mut scene = scene(
        "{ name: bad-day, target: { tool: cancel_order }, kind: recover_after, failures: 1 }",
        &run,
    );
    let ran = scene.record("missing", &[]).exits(0);
    assert!(
        ran.outcomes().contains_key("desk::patient::recovery"),
        "{ran}"
    );
    let results = results(&scene);
    assert_eq!(results.len(), 2);
    assert_eq!(
        results[0]["synthesized"],
        json!({ "fault": "bad-day", "kind": "recover_after" })
    );
    assert_eq!(results[0]["is_error"], true);
    // Had the server seen the first call, the second would find the order cancelled.
    assert_eq!(
        (&results[1]["is_error"], &results[1]["synthesized"]),
        (&json!(false), &Value::Null)
    );
    assert_eq!(
        results[1]["result"]["structuredContent"]["status"],
        "cancelled"
    );
    // The model was told.
    let told = scene.requests()[1].json()["messages"].to_string();
    assert!(told.contains("timed out"), "{told}");
    scene.stop();
    scene.judge(&[]).exits(0);
}

#[test]
fn a_server_that_hangs_by_a_fault_costs_no_time() {
    let run = json!([cancel(), cancel(), { "text": "The desk does not answer." }]);
    let scene = scene(
        "{ name: bad-day, target: { server: desk }, kind: wedged }",
        &run,
    );
    scene.record("missing", &[]);
    let results = results(&scene);
    assert!(
        results
            .iter()
            .all(|result| result["synthesized"]["kind"] == "wedged"),
        "{results:#?}"
    );
    // Twice two calls that would each have taken seconds.
    let run = scene.run("suites/cassettes/Patient__claude-sonnet-4-5/run-1.json");
    assert_eq!(run["trace"]["tool_calls"].as_array().unwrap().len(), 2);
}

#[test]
fn a_fault_strikes_calls_made_together_one_by_one() {
    let find = |order: &str| json!({ "name": "desk__find_order", "args": { "order_id": order } });
    let run = json!([
        { "calls": [find("A-1001"), find("A-1002"), find("A-1003")] },
        { "text": "Two of three." },
    ]);
    let scene = scene(
        "{ name: bad-day, target: { tool: find_order }, kind: recover_after, failures: 2 }",
        &run,
    );
    scene.record("missing", &[]);
    let struck: Vec<bool> = results(&scene)
        .iter()
        .map(|result| result["synthesized"].is_object())
        .collect();
    assert_eq!(struck, [true, true, false]);
}

#[test]
fn another_tool_is_not_struck() {
    let look =
        json!({ "calls": [{ "name": "desk__find_order", "args": { "order_id": "A-1001" } }] });
    let run = json!([look, cancel(), cancel(), { "text": "Cancelled." }]);
    let scene = scene(
        "{ name: bad-day, target: { tool: cancel_order }, kind: recover_after, failures: 1 }",
        &run,
    );
    scene.record("missing", &[]).exits(0);
    let struck: Vec<bool> = results(&scene)
        .iter()
        .map(|result| result["synthesized"].is_object())
        .collect();
    assert_eq!(struck, [false, true, false]);
}
