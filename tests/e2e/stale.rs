//! Runs that were recorded with something else than the suite says now, and runs over a cap.

use serde_json::json;

use crate::sample::{assert_fails, assert_passes};
use crate::support::clerk::{ONE, SUITE, counted, desk};

/// The suite changes after the run was recorded.
#[track_caller]
fn assert_stale(snapshot: &str, from: &str, to: &str) -> String {
    let suite = SUITE.replace(from, to);
    assert_ne!(suite, SUITE);
    let folder = desk(&suite).with_run(ONE, &counted(3));
    assert_fails(&format!("stale-{snapshot}"), &folder, "desk::clerk")
}

#[test]
fn a_changed_prompt_shows_the_difference() {
    let text = assert_stale(
        "prompt",
        "Count the pens.",
        "Count the pens and the pencils.",
    );
    assert!(
        text.contains("Count the pens.") && text.contains("pencils"),
        "{text}"
    );
}

#[test]
fn a_changed_system_prompt_shows_the_difference() {
    assert_stale(
        "system-prompt",
        "    prompt:",
        "    system_prompt: Be brief.\n    prompt:",
    );
}

/// The file keeps its name when the models differ only in what a file name cannot hold.
#[test]
fn a_changed_model_shows_the_difference() {
    let suite = SUITE.replace("model: m", "model: m/1");
    let folder = desk(&suite).with_run("suites/cassettes/Clerk__m_1.json", &counted(3));
    assert_fails("stale-model", &folder, "desk::clerk");
}

#[test]
fn all_that_is_stale_is_shown_at_once() {
    let suite = SUITE.replace(
        "prompt: Count the pens.",
        "prompt: |\n      Count\n      the pens.\n    system_prompt: Be brief.",
    );
    let folder = desk(&suite).with_run(ONE, &counted(3));
    assert_fails("stale-both", &folder, "desk::clerk");
}

/// A stale run is not judged: that the answer would fail is not said.
#[test]
fn a_stale_run_is_not_judged() {
    let suite = SUITE
        .replace("contains: pens", "contains: crayons")
        .replace("Count the", "Count all");
    let text = assert_fails(
        "stale-not-judged",
        &desk(&suite).with_run(ONE, &counted(3)),
        "desk::clerk",
    );
    assert!(!text.contains("final_response"), "{text}");
}

#[test]
fn an_absent_system_prompt_equals_an_empty_one() {
    let mut run = counted(3);
    run["system_prompt"] = json!("");
    assert_passes(&desk(SUITE).with_run(ONE, &run));
    let suite = SUITE.replace("    prompt:", "    system_prompt: ''\n    prompt:");
    assert_passes(&desk(&suite).with_run(ONE, &counted(3)));
}

#[test]
fn exceeded_caps_fail_the_agent_and_reached_ones_do_not() {
    let capped = |turns: u32, tokens: u32, calls: u32| {
        let caps = format!(
            "    max_turns: {turns}\n    token_budget: {tokens}\n    max_tool_calls: {calls}\n    prompt:"
        );
        desk(&SUITE.replace("    prompt:", &caps))
    };
    assert_passes(&capped(2, 1000, 1).with_run(ONE, &counted(3)));
    let mut busy = counted(3);
    let call = busy["trace"]["tool_calls"][0].clone();
    let result = json!({ "call_index": 1, "server": "desk", "is_error": false, "result": { "content": [] } });
    busy["trace"]["tool_calls"]
        .as_array_mut()
        .unwrap()
        .push(call);
    busy["trace"]["tool_results"]
        .as_array_mut()
        .unwrap()
        .push(result);
    busy["trace"]["conversation"]["tokens"] = json!({ "total": 1000 });
    busy["trace"]["conversation"]["steps"] = json!([{ "prompt": 1, "completion": 1 }, { "prompt": 1, "completion": 1 }, { "prompt": 1, "completion": 1 }]);
    let text = assert_fails(
        "caps",
        &capped(2, 999, 1).with_run(ONE, &busy),
        "desk::clerk",
    );
    for cap in ["max_turns", "token_budget", "max_tool_calls"] {
        assert!(text.contains(cap), "{text}");
    }
}
