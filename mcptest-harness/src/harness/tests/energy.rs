//! `energy`: how the tokens of a run grow.

use serde_json::{Value, json};

use super::{calls, holds, judge, judge_runs, shows};

/// A run whose model calls took these many tokens.
fn stepped(tokens: &[u64]) -> Value {
    let mut run = calls(&["a"]);
    run["conversation"]["steps"] = tokens
        .iter()
        .map(|tokens| json!({ "prompt": tokens, "completion": 0 }))
        .collect();
    run
}

#[test]
fn energy_prints_its_report() {
    let spiral = stepped(&[1000, 1100, 1050, 1200, 1500, 2800, 3500, 4500, 6000]);
    holds(judge(
        "  energy: {}\n",
        &[stepped(&[1000, 1100, 1050, 1200, 1500])],
    ));
    shows!(
        "energy-tripped",
        judge("  energy: {}\n", std::slice::from_ref(&spiral))
    );
    let targets = "  energy:\n    expect:\n    - { target: energy.trip_step, matcher: { exact: 8 } }\n    - { target: energy.tokens_after_trip, matcher: { exact: 6000 } }\n    - { target: energy.baseline, matcher: { exact: 1050 } }\n";
    holds(judge(targets, &[spiral]));
}

#[test]
fn energy_wants_recorded_tokens_or_an_estimate() {
    shows!("energy-no-steps", judge("  energy: {}\n", &[calls(&["a"])]));
    let mut run = calls(&["a"]);
    run["conversation"]["turns"] =
        json!([{ "role": "user", "content": "hi" }, { "role": "assistant", "content": "hello" }]);
    holds(judge("  energy: { estimate: true }\n", &[run]));
}

#[test]
fn energy_measures_drift_on_what_the_agent_says() {
    let gate = "  system_prompt: Help with bookings and nothing else.\n  energy: { drift: { threshold: 0.7 } }\n";
    let recorded = |mut run: Value| {
        run["conversation"]["steps"] =
            stepped(&[1000, 1000, 1000, 9000, 9000, 9000, 9000])["conversation"]["steps"].clone();
        json!({ "trace": run, "system_prompt": "Help with bookings and nothing else." })
    };
    let mut silent = calls(&["a"]);
    silent["final_response"] = json!(null);
    shows!(
        "energy-drift-without-text",
        judge_runs("", gate, &[recorded(silent.clone())])
    );
    // What was said before anything grew confirms no growth.
    silent["conversation"]["turns"] =
        json!([{ "role": "assistant", "content": "I help with bookings." }]);
    shows!(
        "energy-drift-without-text-where-it-grows",
        judge_runs("", gate, &[recorded(silent)])
    );
}
