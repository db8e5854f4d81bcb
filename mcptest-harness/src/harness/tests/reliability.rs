//! `reliability`: how many runs passed.

use serde_json::{Value, json};

use super::super::agent_test::AgentTest;
use super::{calls, failure, holds, judge, judge_runs, loaded, shows, verdicts};
use crate::result::RunVerdict;

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
fn runs_of_which_nothing_was_judged_are_left_out_and_named() {
    let agent = "  expect: [{ target: 'tool_results[*].is_error', matcher: { not: { contains: true } } }]\n  reliability: {}\n";
    let text = failure(judge(agent, &[calls(&[]), calls(&[])]));
    let said = "`expect:` must lead to an item in some run, found none, so nothing was judged";
    assert!(text.contains(said), "{text}");
    // What is known is known of the one run that was judged.
    let some = "      - { target: reliability.pass_rate, matcher: { exact: 100 } }\n      - { target: reliability.decay_curve.length, matcher: { exact: 1 } }\n";
    let rate = agent.replace("{}", &format!("\n      expect:\n{some}"));
    let runs = [
        json!({ "trace": calls(&["a"]) }),
        json!({ "trace": calls(&[]) }),
    ];
    let said = "left out 1 of 2 runs, in which `expect:` leads to no item, so nothing was judged: run 2 (suites/cassettes/Agent__m.jsonl:2)";
    let judged = format!("{:?}", verdicts("", &rate, &runs, false));
    assert!(judged.contains("Ok(") && judged.contains(said), "{judged}");
    let half = agent.replace("{}", "{ half_width: 45 }");
    shows!("reliability-of-none", judge_runs("", &half, &runs));
}

#[test]
fn what_expect_is_judged_on_nothing_for_is_told_where_it_is_counted() {
    let agent = "  expect:\n  - { target: 'tool_results[*].is_error', matcher: { not: { contains: true } } }\n  - { target: tool_names, matcher: { not: { contains: refund } } }\n  reliability: {}\n";
    let judged = verdicts("", agent, &[json!({ "trace": calls(&[]) })], false);
    let (name, told) = &judged[1];
    let said = "`tool_results[*].is_error` leads to no item in any run, so nothing was judged; if the list must be empty, write `exact: []`";
    assert_eq!(name, "agent::reliability");
    assert!(format!("{told:?}").contains(said), "{told:?}");
}

/// A run that calls `delete_order`, and the list of its tools.
fn deletes() -> Value {
    json!({ "tools": ["desk::delete_order(id: string) #0a"], "trace": calls(&["delete_order"]) })
}

#[test]
fn a_misspelt_tool_is_red_where_reliability_counts_its_gate() {
    let forbids = |tool: &str, rate: u32| {
        format!(
            "  trajectory: {{ forbid: [{tool}] }}\n  reliability:\n    outcome: [trajectory]\n    expect: [{{ target: reliability.pass_rate, matcher: {{ exact: {rate} }} }}]\n"
        )
    };
    holds(judge_runs("", &forbids("delete_*", 0), &[deletes()]));
    shows!(
        "reliability-unknown-tool",
        judge_runs("", &forbids("delete_oder", 100), &[deletes()])
    );
    // No rate makes up for it: nobody knows what the gate would have said.
    let text = failure(judge_runs("", &forbids("delete_oder", 0), &[deletes()]));
    assert!(
        text.starts_with("error: `trajectory` names `delete_oder`"),
        "{text}"
    );
}

#[test]
fn a_misspelt_tool_is_red_for_who_asks_of_other_runs_too() {
    let holds = |tool: &str| {
        let agent = format!("  trajectory: {{ forbid: [{tool}] }}\n");
        let (_folder, suite) = loaded("", &agent, &[deletes()]);
        let test = AgentTest::new("s", &suite, suite.subjects().next().unwrap());
        let mut run = test.runs().unwrap()[0].clone();
        run.trace.tool_calls.clear();
        let ask = test.asks()[0];
        (ask.judge_run(&run), ask.holds(&[run]))
    };
    assert_eq!(holds("delete_order"), (Some(RunVerdict::Holds), true));
    assert_eq!(holds("delete_oder"), (Some(RunVerdict::Fails), false));
}

/// Several things that are asked come to the last of theirs in the order of [`RunVerdict`].
#[test]
fn what_was_not_judged_of_a_run_is_no_verdict_on_it() {
    let of_run = |matcher: &str, called: &[&str]| {
        let agent = format!("  expect: [{{ target: 'tool_calls[*].name', matcher: {matcher} }}]\n");
        let (_folder, suite) = loaded("", &agent, &[json!({ "trace": calls(called) })]);
        let test = AgentTest::new("s", &suite, suite.subjects().next().unwrap());
        let verdict = test.asks()[0].judge_run(&test.runs().unwrap()[0]).unwrap();
        (verdict, verdict.passed())
    };
    let not_b = "{ not: { contains: b } }";
    let none = (RunVerdict::NothingJudged, None);
    assert_eq!(of_run(not_b, &[]), none);
    assert_eq!(of_run(not_b, &["a"]), (RunVerdict::Holds, Some(true)));
    assert_eq!(of_run(not_b, &["b"]), (RunVerdict::Fails, Some(false)));
    let either = "{ anyOf: [{ contains: b }, { llm-judge: { criteria: it is fine } }] }";
    assert_eq!(of_run(either, &["a"]), (RunVerdict::Undecided, None));
    assert_eq!(of_run(either, &["b"]), (RunVerdict::Holds, Some(true)));
}

#[test]
fn what_rests_on_errors_says_where_they_are_unknown_when_it_is_counted() {
    let mut run = calls(&["a"]);
    let result = run["tool_results"][0].as_object_mut().unwrap();
    result.remove("is_error");
    let agent = "  trajectory: { mode: strict, calls: [{ name: a }] }\n  reliability: { outcome: [trajectory] }\n";
    let judged = verdicts("", agent, &[json!({ "trace": run })], false);
    let told = format!("{:?}", judged[1]);
    assert!(told.contains("errors unknown in 1 result"), "{told}");
}
