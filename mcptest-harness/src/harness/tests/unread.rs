//! What recordings lack, and which cases say that they judge on nothing.

use serde_json::{Value, json};

use super::super::case_verdict::CaseOutcome;
use super::{calls, trace, verdicts};

/// The cases that hold and say something with these words, in their order.
fn saying(words: &str, agent: &str, runs: &[Value]) -> Vec<String> {
    let verdicts = verdicts("", agent, runs, false).into_iter();
    let saying = verdicts.filter(|(_, verdict)| {
        let verdict = verdict.as_ref().unwrap_or_else(|text| panic!("{text}"));
        matches!(verdict, CaseOutcome::Holds(Some(text)) if text.contains(words))
    });
    saying.map(|(name, _)| name).collect()
}

const GATES: &str = "  expect: [{ target: final_response, matcher: { contains: all } }]
  narrative: {}
  flow: { entries: [{ from: [find], to: [find] }] }
  calls: { max: 9 }
";

#[test]
fn gates_that_need_results_say_that_a_run_has_none() {
    let without = json!({ "trace": trace(&[("find", json!({}), Value::Null)], "That is all.") });
    let with = json!({ "trace": calls(&["find"]) });
    let words = "no call has a result in run 1: what `narrative` takes from results is judged on nothing there; record the results too";
    assert_eq!(
        saying(words, GATES, &[without.clone(), with.clone()]),
        ["agent::narrative"]
    );
    let any = "no call has a result in any run: what `flow` takes";
    assert_eq!(
        saying(any, GATES, &[without.clone(), without]),
        ["agent::flow"]
    );
    assert!(saying("no call has a result", GATES, std::slice::from_ref(&with)).is_empty());
    // A run without a call has no result to lack.
    let none = json!({ "trace": calls(&[]) });
    assert!(saying("no call has a result", GATES, &[with, none]).is_empty());
}

#[test]
fn cases_that_judge_calls_say_that_calls_may_stand_in_texts() {
    let turn = |role: &str, text: &str| json!({ "role": role, "content": text });
    let run = |said: &str, tools: &[&str]| {
        let turns = [
            turn("user", "Do it."),
            turn("assistant", said),
            turn("assistant", "That is all."),
        ];
        let conversation = json!({ "stop_reason": "completed", "turns": turns });
        json!({ "tools": tools, "trace": { "tool_calls": [], "final_response": "That is all.", "conversation": conversation } })
    };
    let gates = "  expect: [{ target: final_response, matcher: { contains: all } }]
  narrative: {}
  calls: { max: 9 }
";
    let acts = run("Action: find[7]", &[]);
    let words = "no call is recorded in run 1, and the agent's texts hold what looks like calls (`Action:` lines): calls in texts are \
                 not read, so nothing of them is judged";
    let idle = run("I shall look.", &["find(order)"]);
    assert_eq!(
        saying(words, gates, &[acts, idle.clone()]),
        ["agent", "agent::calls", "agent::narrative"]
    );
    // An agent that had tools and rightly used none.
    assert!(saying("no call is recorded", gates, &[idle]).is_empty());
}
