//! What judges, people and rubrics scored elsewhere, as evidence.

use serde_json::{Value, json};

use super::{calls, failure, holds, judge_runs, shows};

/// A run with these scores.
fn run(scores: &Value) -> Value {
    let mut trace = calls(&["a"]);
    trace["scores"] = scores.clone();
    json!({ "trace": trace })
}

fn helpful(value: f64) -> Value {
    run(&json!([{ "name": "helpful", "value": value, "by": "ann" }]))
}

fn passed(passed: bool) -> Value {
    run(&json!([{ "name": "helpful", "value": 1, "passed": passed, "by": "ann" }]))
}

fn judged(agent: &str, runs: &[Value]) -> Vec<(String, Option<String>)> {
    judge_runs("", &format!("  {agent}\n"), runs)
}

#[test]
fn an_assertion_asks_for_the_score_of_a_name() {
    let min = "expect: [{ target: scores.helpful, matcher: { min: 3 } }]";
    holds(judged(min, &[helpful(3.0), helpful(4.5)]));
    failure(judged(min, &[helpful(3.0), helpful(2.9)]));
    // A run that nobody scored so is no pass, also of what must not be.
    let not = "expect: [{ target: scores.helpful, matcher: { not: { max: 3 } } }]";
    let other = run(&json!([{ "name": "polite", "value": 5, "by": "ann" }]));
    for unscored in [other, run(&json!([])), json!({ "trace": calls(&["a"]) })] {
        failure(judged(min, std::slice::from_ref(&unscored)));
        failure(judged(not, std::slice::from_ref(&unscored)));
    }
}

#[test]
fn of_several_scores_of_one_name_each_must_hold() {
    let both = |one: f64, other: f64| {
        run(&json!([
            { "name": "helpful", "value": one, "by": "ann" },
            { "name": "polite", "value": 0, "by": "ann" },
            { "name": "helpful", "value": other, "by": "gpt-5" },
        ]))
    };
    let asks =
        |matcher: &str| format!("expect: [{{ target: scores.helpful, matcher: {matcher} }}]");
    holds(judged(&asks("{ min: 3 }"), &[both(3.0, 4.0)]));
    holds(judged(&asks("{ not: { max: 3 } }"), &[both(4.0, 5.0)]));
    for matcher in [
        "{ min: 3 }",
        "{ exact: 3 }",
        "{ not: { max: 2 } }",
        "{ not: { exact: 1 } }",
    ] {
        failure(judged(&asks(matcher), &[both(3.0, 1.0)]));
        failure(judged(&asks(matcher), &[both(1.0, 3.0)]));
    }
    shows!(
        "scores_of_one_name",
        judged(&asks("{ min: 3 }"), &[both(3.0, 1.0)])
    );
}

#[test]
fn scores_that_nobody_asks_for_decide_nothing() {
    let bad = passed(false);
    let agent = "expect: [{ target: tool_calls.length, matcher: { exact: 1 } }]\n  calls: { max: 1 }\n  session: {}\n  reliability: {}";
    holds(judged(agent, &[bad]));
}

#[test]
fn reliability_counts_the_runs_that_a_score_lets_pass() {
    let rate = |options: &str, rate: u32| {
        format!(
            "reliability: {{ {options}, expect: [{{ target: reliability.pass_rate, matcher: {{ exact: {rate} }} }}] }}"
        )
    };
    let said = [passed(true), passed(false)];
    holds(judged(&rate("outcome: scores.helpful", 50), &said));
    holds(judged(&rate("outcome: [scores.helpful]", 50), &said));
    // Who says that the run passed is believed, whatever the number is.
    holds(judged(
        &rate("outcome: scores.helpful, min_score: 9", 50),
        &said,
    ));
    let values = [helpful(4.0), helpful(3.0)];
    holds(judged(
        &rate("outcome: scores.helpful, min_score: 4", 50),
        &values,
    ));
    holds(judged(
        &rate("outcome: scores.helpful, max_score: 3", 50),
        &values,
    ));
    holds(judged(
        &rate("outcome: scores.helpful, min_score: -1", 100),
        &values,
    ));
    holds(judged(
        &rate(
            "outcome: 'scores[\"helpful\"]', min_score: 3, max_score: 4",
            100,
        ),
        &values,
    ));
    shows!(
        "scores_reliability",
        judged(
            "reliability: { outcome: scores.helpful, min_score: 4 }",
            &values
        )
    );
    // Each of several.
    let split = run(&json!([
        { "name": "helpful", "value": 5, "by": "ann" },
        { "name": "helpful", "value": 5, "passed": false, "by": "gpt-5" },
    ]));
    holds(judged(
        &rate("outcome: scores.helpful, min_score: 4", 0),
        &[split],
    ));
}

#[test]
fn a_run_whose_score_says_nothing_is_not_judged() {
    let gate = "reliability: { outcome: scores.helpful, expect: [{ target: reliability.pass_rate, matcher: { max: 50 } }] }";
    shows!(
        "scores_reliability_unknown",
        judged(gate, &[helpful(4.0), passed(true)])
    );
    let missing = failure(judged(
        gate,
        &[passed(true), json!({ "trace": calls(&["a"]) })],
    ));
    assert!(
        missing.contains("`outcome: scores.helpful` needs that score in every recording"),
        "{missing}"
    );
    // One of two that says nothing is not made up for by the other.
    let half = run(&json!([
        { "name": "helpful", "value": 1, "passed": false, "by": "ann" },
        { "name": "helpful", "value": 1, "by": "gpt-5" },
    ]));
    failure(judged(gate, &[half]));
}

#[test]
fn a_session_takes_its_signals_from_scores() {
    let signal = |value: f64| {
        let mut run = run(&json!([{ "name": "confidence", "value": value, "by": "ann" }]));
        run["signals"] = json!({ "confidence": 1.0, "coherence": 1.0 });
        run
    };
    let asks = |bound: &str| {
        format!(
            "session: {{ expect: [{{ target: session.agent_consistency, matcher: {{ {bound} }} }}] }}"
        )
    };
    holds(judged(&asks("exact: 0.25"), &[signal(0.25)]));
    holds(judged(&asks("exact: 1"), &[signal(1.0)]));
    shows!(
        "scores_no_signal",
        judged("session: {}", &[signal(0.5), signal(4.0)])
    );
    failure(judged("session: {}", &[signal(-0.1)]));
}
