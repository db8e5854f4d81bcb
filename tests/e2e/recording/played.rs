//! Recordings of the built-in agent, played to it: neither a provider nor a server is needed.

use std::fs;

use serde_json::{Value, json};

use super::desk::{TWICE, declaring, refunds, script};
use super::recording_crate::Scene;
use crate::support::outcome::Outcome::{Failed, Passed};

const CASE: &str = "desk::refunds::playback";

fn played(suite: &str) -> String {
    suite.replace("    expect:", "    playback: {}\n    expect:")
}

/// Changes each recording of a scene.
fn change(scene: &Scene, change: impl Fn(&mut Value)) {
    for place in scene.places() {
        let mut run = scene.run(&place);
        change(&mut run);
        fs::write(scene.folder.at(&place), run.to_string()).unwrap();
    }
}

#[test]
fn a_recording_plays_to_the_suite_that_it_is_of_and_to_no_other() {
    let mut scene = Scene::new(&played(TWICE), &refunds());
    let ran = scene.record("missing", &[]).exits(0);
    assert_eq!(ran.outcomes()[CASE], Passed, "{ran}");
    let asked = scene.requests().len();
    assert_eq!(asked, 6);
    scene.stop();
    scene.suite(&played(TWICE).replace("ORDER_DESK", "no-such-program"));
    let ran = scene.judge(&[]).exits(0);
    assert_eq!(ran.outcomes()[CASE], Passed, "{ran}");
    // The suite limits an answer now, and the request says so.
    let limited = played(TWICE).replace("    runs: 2", "    max_tokens: 7\n    runs: 2");
    scene.suite(&limited);
    let ran = scene.judge(&[]).exits(101);
    assert_eq!(ran.outcomes()[CASE], Failed, "{ran}");
    assert!(ran.stdout.contains("max_tokens"), "{ran}");
    // The suite's cap ends the loop before what was recorded ends.
    scene.suite(&played(TWICE).replace("    runs: 2", "    max_turns: 2\n    runs: 2"));
    let ran = scene.judge(&["playback"]).exits(101);
    let told = "the code never asks for the recorded answer";
    assert!(ran.stdout.contains(told), "{ran}");
}

#[test]
fn a_recording_that_a_cap_ended_plays_to_the_same_cap() {
    for cap in ["max_turns: 2", "token_budget: 150", "max_tool_calls: 1"] {
        let suite =
            played(&declaring(1)).replace("    runs: 1", &format!("    {cap}\n    runs: 1"));
        let scene = Scene::new(&suite, &refunds());
        scene.record("missing", &[]);
        let stopped = &scene.run(&scene.places()[0])["trace"]["conversation"]["stop_reason"];
        assert!(stopped.as_str().unwrap().ends_with("_budget"), "{cap}");
        let ran = scene.judge(&["playback"]);
        assert_eq!(ran.outcomes()[CASE], Passed, "{cap}\n{ran}");
    }
}

/// The model asks for two calls at a time, and for one of a tool that nobody has.
#[test]
fn a_recording_that_ended_among_calls_made_together_plays_to_the_same_cap() {
    let look = json!({ "name": "desk__find_order", "args": { "order_id": "A-1001" } });
    let invented = json!({ "name": "desk__guess", "args": {} });
    let step = json!({ "calls": [look, look, invented] });
    let run = Value::Array(vec![step; 4]);
    for most in 0..6 {
        let suite = played(&declaring(1)).replace(
            "    runs: 1",
            &format!("    max_tool_calls: {most}\n    runs: 1"),
        );
        let scene = Scene::new(
            &suite,
            &script("Pay order A-1003 back.", std::slice::from_ref(&run)),
        );
        scene.record("missing", &[]);
        let trace = &scene.run(&scene.places()[0])["trace"];
        let stopped = &trace["conversation"]["stop_reason"];
        assert_eq!(stopped, "tool_call_budget", "{most}");
        let ran = scene.judge(&["playback"]);
        assert_eq!(ran.outcomes()[CASE], Passed, "{most}\n{ran}");
    }
}

#[test]
fn a_recording_from_before_the_built_in_agent_had_a_session_plays() {
    let scene = Scene::new(&played(&declaring(1)), &refunds());
    scene.record("missing", &[]).exits(0);
    change(&scene, |run| {
        run.as_object_mut().unwrap().remove("session");
        let tools = run["tools"].as_array_mut().unwrap();
        for tool in tools {
            *tool = format!("desk::{}() #00000000", tool["name"].as_str().unwrap()).into();
        }
    });
    let ran = scene.judge(&[]).exits(0);
    assert_eq!(ran.outcomes()[CASE], Passed, "{ran}");
}

#[test]
fn recordings_of_code_of_ones_own_play_to_nobody_else() {
    let scene = Scene::new(&played(&declaring(1)), &refunds());
    scene.record("missing", &[]).exits(0);
    change(&scene, |run| {
        let envelope = run.as_object_mut().unwrap();
        assert!(envelope.remove("tools_fingerprint") != Some(json!(null)));
    });
    let ran = scene.judge(&[]).exits(101);
    assert_eq!(ran.outcomes()[CASE], Failed, "{ran}");
    let told = "this agent has neither `command:` nor a function";
    assert!(ran.stdout.contains(told), "{ran}");
}

/// Code of one's own has a system prompt that its suite need not say; the built-in agent has the suite's alone.
#[test]
fn a_system_prompt_that_the_suite_lost_makes_a_recording_stale() {
    let scene = Scene::new(&declaring(1), &refunds());
    scene.record("missing", &[]).exits(0);
    let without = declaring(1).replace("    system_prompt: You work at the order desk.\n", "");
    scene.suite(&without);
    let (_, text) = scene.judge(&[]).exits(101).only_failure();
    assert!(
        text.contains("stale: recorded with another system prompt"),
        "{text}"
    );
}
