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

#[test]
fn cases_say_what_the_code_made_of_a_call_of_its_own_tool() {
    let run = |own: &Value| {
        let mut trace = calls(&["find"]);
        trace["tool_calls"][0]["args"] = json!({ "order": "7" });
        trace["tool_calls"][0]["own"] = own.clone();
        json!({ "trace": trace })
    };
    let other = run(&json!({ "args": { "order": 70 } }));
    let plain = run(&json!({ "args": { "order": 7 } }));
    let words = "the code called a tool with something else than the model asked, in run 2: in `tool_calls[0]` of run 2, `order` of \
                 `find` is 70, and the model asked for \"7\"; the model's arguments are judged";
    assert_eq!(
        saying(words, GATES, &[plain.clone(), other]),
        ["agent", "agent::flow", "agent::narrative"]
    );
    // A coerced argument is the one that the model asked for.
    assert!(saying("the code called", GATES, std::slice::from_ref(&plain)).is_empty());
    let tried = run(
        &json!({ "attempts": [{ "error": { "type": "Busy", "text": "busy" } }, { "result": 1 }] }),
    );
    let words = "the code made 2 attempts at a call in run 1; each of these calls counts as one, with the result of its last attempt";
    assert_eq!(
        saying(words, GATES, &[tried, plain.clone()]),
        ["agent", "agent::calls", "agent::flow", "agent::narrative"]
    );
    assert!(saying("attempts", GATES, &[plain]).is_empty());
    let twice = run(&json!({ "attempts": [{ "result": 1 }, { "result": 1 }] }));
    let words = "its last attempt; `find` ran to its end more than once for one call of the model";
    assert_eq!(saying(words, GATES, &[twice]).len(), 4);
}

#[test]
fn only_a_session_without_a_call_and_without_tools_may_be_of_an_agent_that_acts_in_text() {
    let run = |session: &Value, tools: &[&str]| json!({ "session": session, "tools": tools, "trace": calls(&[]) });
    let gates = "  expect: [{ target: final_response, matcher: { contains: all } }]
  narrative: {}
  calls: { max: 9 }
";
    let words = "no call is recorded in run 1: the model was offered no tools, and no tool told the session of a call. The agent may act in \
                 text; docs/own-tools.md says what to do";
    let session = json!({ "version": "1.2" });
    let offered = run(&session, &["find(order)"]);
    assert_eq!(
        saying(words, gates, &[run(&session, &[]), offered.clone()]),
        ["agent::calls", "agent::narrative"]
    );
    let mut output = json!({ "session": session, "tools": ["final_answer(answer)"], "trace": calls(&["final_answer"]) });
    output["trace"]["tool_results"] = json!([]);
    let words = "no call but the one that ends the run is recorded in run 1: the model was offered no other tools, and no tool told \
                 the session of a call. The agent may act in text";
    assert_eq!(
        saying(words, gates, std::slice::from_ref(&output)),
        ["agent::calls", "agent::narrative"]
    );
    let mut answered = output;
    answered["trace"]["tool_results"] =
        json!([{ "call_index": 0, "is_error": false, "result": "" }]);
    assert!(saying("may act in", gates, &[answered]).is_empty());
    // Nobody else: who had tools, whose tools told the session of themselves, who was recorded otherwise.
    let noted = run(
        &json!({ "version": "1.2", "tools": [{ "name": "find", "args": {} }] }),
        &[],
    );
    let called = json!({ "session": session, "trace": calls(&["find"]) });
    for other in [offered, noted, called, run(&Value::Null, &[])] {
        assert!(saying("may act in", gates, &[other]).is_empty());
    }
}
