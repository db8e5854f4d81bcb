use proptest::prelude::*;
use serde_json::{Value, json};

use super::Recorder;
use crate::eval::Decisions;
use crate::eval::{Fault, FaultKind, FaultPlan, judge_recovery};
use crate::record::recorded_on;
use crate::trace::parse_run;
use crate::trace::{OfferedTool, Origin, Run, Score, StopReason, Trace};

/// The run as it is read back.
fn read(recorder: &Recorder) -> Run {
    let origin = Origin {
        shown: "run.json".to_owned(),
        line: None,
    };
    parse_run(recorder.cassette().to_string().as_bytes(), &origin).unwrap()
}

#[test]
fn what_was_written_down_is_what_is_read() {
    let mut recorder = Recorder::new("Clerk", "m-1");
    recorder.system_prompt("Be brief.").user("Find A-1.");
    recorder.step(10, 2);
    let first = recorder.tool_called("desk", "find", json!({ "id": "A-1" }));
    let second = recorder.tool_called("desk", "list", json!({}));
    recorder.tool_returned(second, json!("two"));
    recorder.tool_failed(first, json!({ "content": [], "isError": true }));
    recorder.step(20, 3);
    recorder.said("It is not there.");
    let run = read(&recorder);
    assert_eq!(
        (run.model.as_str(), run.user_prompt.as_str()),
        ("m-1", "Find A-1.")
    );
    assert_eq!(run.system_prompt, "Be brief.");
    assert_eq!(run.trace.closing(), Some("It is not there."));
    assert_eq!(run.trace.conversation.tokens.total, Some(35));
    assert_eq!(run.trace.tool_calls[1].step, Some(0));
    let results = run.trace.results_by_call();
    assert!(results[0].unwrap().is_error && !results[1].unwrap().is_error);
    assert_eq!(results[1].unwrap().result["content"][0]["text"], "two");
    assert_eq!(
        run.trace.conversation.stop_reason,
        Some(StopReason::Completed)
    );
}

#[test]
fn the_machine_that_records_is_written_down_and_not_its_name() {
    let mut recorder = Recorder::new("agent", "model");
    recorder.user("hi");
    let machine = recorded_on();
    assert_eq!(read(&recorder).recorded_on, machine);
    // Where a machine has no name, nothing is made up.
    let digest = machine.is_none_or(|machine| machine.bytes().all(|byte| byte.is_ascii_hexdigit()));
    assert!(digest);
}

#[test]
fn what_a_server_says_of_a_tool_is_written_down() {
    let mut recorder = Recorder::new("agent", "model");
    recorder.user("hi");
    recorder.tools_offered([
        OfferedTool::from_line("desk::find(id)").with_read_only(Some(true)),
        OfferedTool::from_line("desk::cancel(id)"),
    ]);
    let tools = read(&recorder).tools.unwrap();
    assert_eq!(tools[0].read_only, Some(true));
    assert_eq!(tools[0].line.as_deref(), Some("desk::find(id)"));
    assert_eq!(tools[1], OfferedTool::from_line("desk::cancel(id)"));
}

#[test]
fn what_is_said_before_a_call_is_no_answer() {
    let mut recorder = Recorder::new("Clerk", "m");
    recorder.user("Find it.").step(1, 1).said("Let me look.");
    recorder.tool_called("", "find", json!({}));
    recorder.stopped(StopReason::TurnBudget);
    let cassette = recorder.cassette();
    assert!(cassette["trace"].get("final_response").is_none());
    assert_eq!(
        cassette["trace"]["conversation"]["turns"][2]["content"],
        "tool_use find with {}"
    );
    assert!(read(&recorder).trace.truncated());
}

#[test]
fn several_user_turns_are_told_apart() {
    let mut recorder = Recorder::new("Clerk", "m");
    recorder.user("one").said("first");
    recorder.user("two");
    recorder.tool_called("desk", "find", json!({}));
    recorder.said("second");
    let run = read(&recorder);
    let turns = &run.trace.conversation.per_turn;
    assert_eq!(turns[0].calls, Some((0, 0)));
    assert_eq!(turns[1].calls, Some((0, 1)));
    assert_eq!(turns[1].response.as_deref(), Some("second"));
    assert_eq!(run.user_prompt, "one");
}

#[test]
fn an_injected_fault_answers_as_the_judge_expects_it() {
    let plan = FaultPlan::new(vec![Fault {
        name: "flaky".to_owned(),
        tool: Some("find".to_owned()),
        server: None,
        kind: FaultKind::RecoverAfter { failures: 1 },
    }]);
    let mut recorder = Recorder::new("Clerk", "m");
    recorder.inject(Decisions::new(plan.clone()));
    recorder.user("Find it.");
    let struck = recorder.tool_called("desk", "find", json!({}));
    let answer = recorder.injected_fault(struck).unwrap();
    assert_eq!(answer["isError"], true);
    let other = recorder.tool_called("desk", "list", json!({}));
    assert_eq!(recorder.injected_fault(other), None);
    recorder.tool_returned(other, json!("-"));
    let again = recorder.tool_called("desk", "find", json!({}));
    assert_eq!(recorder.injected_fault(again), None);
    recorder.tool_returned(again, json!("found"));
    recorder.said("Found it.");
    let report = judge_recovery(&recorder.cassette()["trace"], &plan);
    assert!(
        report.recovered && report.contradictions.is_empty(),
        "{report:?}"
    );
    assert_eq!(report.hits.len(), 1);
}

#[test]
fn a_slow_fault_within_the_budget_lets_the_call_through() {
    let mut recorder = Recorder::new("Clerk", "m");
    recorder.inject(Decisions::new(FaultPlan::new(vec![Fault {
        name: "slow".to_owned(),
        tool: None,
        server: Some("desk".to_owned()),
        kind: FaultKind::Slow { delay_ms: 20 },
    }])));
    let call = recorder.tool_called("desk", "find", json!({}));
    assert_eq!(recorder.injected_fault(call), None);
}

#[test]
fn a_run_is_written_whole_without_secrets_and_never_over_another() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cassettes/Clerk__m.json");
    let mut recorder = Recorder::new("Clerk", "m");
    recorder.secret("DESK_KEY", "tr0ub4dor&3");
    recorder.user("hi").said("my key is tr0ub4dor&3");
    recorder.write_to(&file).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("my key is [redacted DESK_KEY]"), "{text}");
    let error = recorder.write_to(&file).unwrap_err().to_string();
    assert!(error.contains("exists already"), "{error}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);

    let runs = folder.path().join("cassettes/Clerk__m");
    let paths = [
        recorder.add_to(&runs).unwrap(),
        recorder.add_to(&runs).unwrap(),
    ];
    let names = paths.map(|path| path.file_name().unwrap().to_owned());
    assert_eq!(names, ["run-1.json", "run-2.json"]);
}

#[test]
fn the_outcome_and_the_caps_are_kept() {
    let mut recorder = Recorder::new("Clerk", "m");
    recorder
        .user("hi")
        .outcome(true, Some(0.5))
        .max_tokens(64)
        .temperature(0.2);
    recorder.duration_ms(12).refused();
    let cassette = recorder.cassette();
    assert_eq!(
        cassette["outcome"],
        json!({ "passed": true, "reward": 0.5 })
    );
    assert_eq!(cassette["max_tokens"], 64);
    assert_eq!(cassette["trace"]["conversation"]["duration_ms"], 12);
    assert_eq!(cassette["trace"]["conversation"]["refused"], true);
    read(&recorder);
}

/// Something a loop may write down.
#[derive(Debug, Clone)]
enum Event {
    User(String),
    Step(u64, u64),
    Call(String, String, Value),
    Answer(usize, bool),
    Said(String),
}

fn event() -> impl Strategy<Value = Event> {
    let text = "\\PC{0,12}";
    prop_oneof![
        text.prop_map(Event::User),
        (any::<u64>(), any::<u64>())
            .prop_map(|(prompt, completion)| Event::Step(prompt, completion)),
        (text, "\\PC{1,8}", any::<i32>()).prop_map(|(server, tool, arg)| Event::Call(
            server,
            tool,
            json!({ "a": arg })
        )),
        (0..6_usize, any::<bool>()).prop_map(|(call, failed)| Event::Answer(call, failed)),
        text.prop_map(Event::Said),
    ]
}

proptest! {
    #[test]
    fn every_order_of_events_gives_a_cassette_that_can_be_read(
        events in proptest::collection::vec(event(), 0..24)
    ) {
        let mut recorder = Recorder::new("Clerk", "m");
        let mut calls = Vec::new();
        let mut answered = Vec::new();
        for event in &events {
            match event.clone() {
                Event::User(text) => { recorder.user(text); }
                Event::Step(prompt, completion) => { recorder.step(prompt, completion); }
                Event::Call(server, tool, args) => calls.push(recorder.tool_called(&server, &tool, args)),
                Event::Answer(call, failed) => {
                    if let Some(id) = calls.get(call).filter(|_| !answered.contains(&call)) {
                        answered.push(call);
                        if failed { recorder.tool_failed(*id, json!("x")); } else { recorder.tool_returned(*id, json!("x")); }
                    }
                }
                Event::Said(text) => { recorder.said(text); }
            }
        }
        let cassette = recorder.cassette();
        let (trace, problems) = Trace::check_envelope(&cassette["trace"]);
        prop_assert!(problems.is_empty(), "{problems:?}");
        prop_assert_eq!(trace.tool_calls.len(), calls.len());
        prop_assert_eq!(trace.tool_results.len(), answered.len());
        let origin = Origin { shown: "r".to_owned(), line: None };
        prop_assert!(parse_run(cassette.to_string().as_bytes(), &origin).is_ok());
    }
}

#[test]
fn a_result_that_says_it_is_an_error_is_one() {
    let mut recorder = Recorder::new("Clerk", "m");
    recorder.user("Find it.").step(1, 1);
    let results = [
        (false, json!({ "content": [], "isError": true }), true),
        (false, json!({ "content": [], "isError": false }), false),
        (false, json!({ "content": [] }), false),
        (true, json!({ "content": [], "isError": false }), true),
        (true, json!({ "content": [] }), true),
        (false, json!([true]), false),
    ];
    for (failed, value, _) in &results {
        let call = recorder.tool_called("desk", "find", json!({}));
        if *failed {
            recorder.tool_failed(call, value.clone());
        } else {
            recorder.tool_returned(call, value.clone());
        }
    }
    let run = read(&recorder);
    let read = run.trace.results_by_call();
    for (result, (_, value, is_error)) in read.iter().zip(&results) {
        let result = result.unwrap();
        assert_eq!(result.is_error, *is_error, "{value}");
        if let Some(said) = result.result.get("isError") {
            assert_eq!(*said, json!(is_error), "{value}");
        }
    }
}

#[test]
fn a_judge_scores_a_name_once_and_what_is_no_score_is_left_out() {
    let mut recorder = Recorder::new("A", "m");
    recorder
        .score(Score::new("helpful", 1.0, "ann"))
        .score(Score::new("helpful", 0.0, "gpt-5"))
        .score(Score::new("helpful", 2.0, "ann").with_passed(true))
        .score(Score::new("", 1.0, "ann"))
        .score(Score::new("polite", f64::INFINITY, "ann"));
    let cassette = recorder.cassette();
    let scores = json!([
        { "name": "helpful", "value": 2.0, "passed": true, "by": "ann" },
        { "name": "helpful", "value": 0.0, "by": "gpt-5" },
    ]);
    assert_eq!(cassette["trace"]["scores"], scores);
    let none = Recorder::new("A", "m").cassette();
    assert_eq!(none["trace"].get("scores"), None);
}
