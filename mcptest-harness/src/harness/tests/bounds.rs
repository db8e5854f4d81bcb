//! What results say of each thing that was asked: the same as the verdict.

use std::fs;

use mcptest_suite::Style;
use serde_json::{Value, json};

use super::super::case_result;
use super::{Context, LoadedSuite, calls, case, loaded, trace};
use crate::result::{CaseResult, CaseStatus, RunVerdict};

/// The result of a case.
fn result(suite: &LoadedSuite, name: &str) -> CaseResult {
    let context = Context {
        name: format!("s::{name}"),
        agent: "s::agent".to_owned(),
        suite: "s".to_owned(),
        ignored: false,
        told: false,
        checked: false,
        package: "demo".to_owned(),
        style: Style::Plain,
    };
    let case = suite.find_case(name).unwrap();
    let verdict = case::verdict(suite, &case, &context);
    case_result::to_result(&verdict, suite, &case, &context)
}

/// The status of a result, and whether each thing that was asked holds.
fn status_and_bounds(result: &CaseResult) -> (CaseStatus, Vec<bool>) {
    let bounds = result.targets.iter().flat_map(|target| &target.bounds);
    (result.status, bounds.map(|bound| bound.holds).collect())
}

#[test]
fn an_accepted_snapshot_holds() {
    let agent = "  expect:\n  - { target: final_response, matcher: { snapshot: {} } }\n  - { target: 'tool_calls[0].name', matcher: { exact: a } }\n";
    let judged = |accepted: &str| {
        let run = json!({ "trace": trace(&[("a", json!({}), json!("ok"))], "All done.") });
        let (folder, suite) = loaded("", agent, &[run]);
        let suite = suite.into_read_only(crate::record::RecordCommand::default());
        let snapshots = folder.path().join("suites/snapshots");
        fs::create_dir(&snapshots).unwrap();
        let accepted = format!("---\nsource: suites/s.yml\n---\n{accepted}\n");
        fs::write(
            snapshots.join("s-agent-final_response-run-1.snap"),
            accepted,
        )
        .unwrap();
        status_and_bounds(&result(&suite, "agent"))
    };
    assert_eq!(judged("All done."), (CaseStatus::Passed, vec![true, true]));
    assert_eq!(judged("Not yet."), (CaseStatus::Failed, vec![false, true]));
}

#[test]
fn what_an_option_allows_breaks_no_default() {
    let fault = "faults:\n- { name: hung, target: { tool: search }, kind: hang }\n";
    let judged = |options: &str| {
        let mut run = calls(&["find"]);
        run["conversation"]["stop_reason"] = json!("turn_budget");
        let agent = format!("  inject: [hung]\n  recovery: {options}\n");
        let (_folder, suite) = loaded(fault, &agent, &[json!({ "trace": run })]);
        status_and_bounds(&result(&suite, "agent::recovery"))
    };
    let allowed = judged("{ allow_unexercised: true }");
    assert_eq!(allowed, (CaseStatus::Passed, vec![true]));
    // What could not be judged does not hold.
    assert_eq!(judged("{}"), (CaseStatus::Failed, vec![false]));
}

#[test]
fn a_tool_that_nobody_knows_breaks_no_default_and_every_run() {
    let run =
        json!({ "tools": ["delete_order(id: string) #0a"], "trace": calls(&["delete_order"]) });
    let agent = "  trajectory: { forbid: [delete_oder] }\n";
    let (_folder, suite) = loaded("", agent, &[run]);
    let result = result(&suite, "agent::trajectory");
    assert_eq!(status_and_bounds(&result), (CaseStatus::Failed, vec![true]));
    assert_eq!(result.run_verdicts, [RunVerdict::Fails]);
}

#[test]
fn each_thing_that_was_asked_is_told_apart() {
    let judged = |expect: &str, gate: &str, runs: &[Value]| {
        let agent = format!("  {gate}:\n    expect:\n{expect}");
        let (_folder, suite) = loaded("", &agent, runs);
        status_and_bounds(&result(&suite, &format!("agent::{gate}")))
    };
    let runs = [1, 2].map(|count| json!({ "trace": calls(&vec!["a"; count]) }));
    let counts = "    - { target: calls.count, matcher: { max: 1 } }\n    - { target: calls.count, matcher: { max: 2 } }\n";
    let both = (CaseStatus::Failed, vec![false, true]);
    assert_eq!(judged(counts, "calls", &runs), both);
    let scores = "    - { target: stability.score, matcher: { min: 0.99 } }\n    - { target: stability.score, matcher: { max: 0.99 } }\n";
    assert_eq!(judged(scores, "stability", &runs), both);
}

#[test]
fn a_bound_beyond_the_range_is_taken_beside_one_that_can_fail() {
    let asks = |schema: &str, made: &[&str]| {
        let agent = format!(
            "  golden_path: {{ calls: [a], expect: [{{ target: golden_path.penalty, matcher: {{ {schema} }} }}] }}\n"
        );
        super::judge(&agent, &[calls(made)])
    };
    for schema in [
        "schema: { minimum: 0.9, maximum: 1.000001 }",
        "between: [0.9, 1.5]",
    ] {
        super::holds(asks(schema, &["a"]));
        super::failure(asks(schema, &["x", "x", "a"]));
    }
}
