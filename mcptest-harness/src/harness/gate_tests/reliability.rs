//! `reliability`: how many runs passed.

use serde_json::{Value, json};

use super::{calls, failure, holds, judge, judge_runs, shows};

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
fn runs_of_which_nothing_was_judged_are_not_counted() {
    let agent = "  expect: [{ target: 'tool_results[*].is_error', matcher: { not: { contains: true } } }]\n  reliability: {}\n";
    let text = failure(judge(agent, &[calls(&[]), calls(&[])]));
    let said = "`expect:` must lead to an item in some run, found none, so nothing was judged";
    assert!(text.contains(said), "{text}");
    holds(judge(agent, &[calls(&["a"]), calls(&[])]));
}
