//! Mutants of small runs, operator by operator.

mod plan;
mod same;

use crate::trace::fields::sample::whole_run;
use crate::trace::{Origin, PathKeys, Trace, parse_run};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn run_of(trace: &Value) -> Run {
    let cassette = json!({
        "schema_version": "v1",
        "model": "m",
        "user_prompt": "Cancel order A0001 please.",
        "trace": trace,
        "outcome": { "passed": true },
    });
    let origin = Origin {
        shown: "run-1.json".to_owned(),
        line: None,
    };
    parse_run(cassette.to_string().as_bytes(), &origin).unwrap()
}

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// A run with turns, made of calls: name, arguments and the text of the result.
fn recorded(calls: &[(&str, Value, &str)]) -> Run {
    let mut turns = vec![json!({ "role": "user", "content": "Cancel order A0001 please." })];
    for (name, args, result) in calls {
        turns.push(
            json!({ "role": "assistant", "content": format!("tool_use desk::{name} with {args}") }),
        );
        turns.push(json!({ "role": "tool", "content": result }));
    }
    turns.push(json!({ "role": "assistant", "content": "Done, and R5555 is your refund." }));
    let tool_calls = calls.iter().enumerate().map(|(hop, (name, args, _))| {
        json!({ "name": name, "server": "desk", "args": args, "hop_index": hop })
    });
    let results = calls.iter().enumerate().map(|(call, (_, _, result))| {
        let is_error = result.starts_with("Error");
        json!({ "call_index": call, "is_error": is_error, "result": text(result) })
    });
    let step = json!({ "prompt": 100, "completion": 10 });
    run_of(&json!({
        "tool_calls": tool_calls.collect::<Vec<_>>(),
        "tool_results": results.collect::<Vec<_>>(),
        "final_response": "Done, and R5555 is your refund.",
        "conversation": {
            "tokens": { "prompt": 400, "completion": 40, "total": 440 },
            "steps": [step, step, step, step],
            "stop_reason": "completed",
            "turns": turns,
        },
    }))
}

fn desk() -> Run {
    recorded(&[
        ("get_order", json!({ "order": "A0001" }), "customer C1234"),
        ("find_customer", json!({ "id": "C1234" }), "a good customer"),
        (
            "cancel_order",
            json!({ "notify": true, "order": "A0001", "reason": "the customer asked" }),
            "refund R5555",
        ),
        (
            "send_mail",
            json!({ "copies": 1, "to": "x" }),
            "Error: no such address",
        ),
    ])
}

fn all(run: &Run) -> Vec<Mutant> {
    let runs = [RecordedRun::new("desk", 1, run)];
    let options = MutantOptions {
        per_operator: None,
        ..MutantOptions::default()
    };
    plan(&runs, &options).mutants
}

fn mutants_of(run: &Run, operator: Operator) -> Vec<Mutant> {
    let mut mutants = all(run);
    mutants.retain(|mutant| mutant.operator == operator);
    mutants
}

fn names(run: &Run) -> Vec<&str> {
    run.trace
        .tool_calls
        .iter()
        .map(|call| call.name.as_str())
        .collect()
}

fn turn_texts(run: &Run) -> Vec<&str> {
    let turns = run.trace.conversation.turns.iter();
    turns.map(|turn| turn.content.as_str()).collect()
}

#[test]
fn the_labels_say_what_nobody_needs_later() {
    let run = desk();
    let runs = [RecordedRun::new("desk", 1, &run)];
    let plan = plan(&runs, &MutantOptions::default());
    let counts = |operator: Operator| {
        let sites = plan.sites[&operator];
        (sites.sites, sites.harmless, sites.unclear)
    };
    // The order is read for the customer's number; the customer for nothing.
    assert_eq!(counts(Operator::DropCall), (4, 0, 1));
    assert_eq!(counts(Operator::RepeatRead), (2, 0, 0));
    assert_eq!(counts(Operator::RepeatWrite), (2, 0, 0));
    assert_eq!(counts(Operator::SwapCalls), (3, 0, 0));
    assert_eq!(counts(Operator::ChangeIdentifier), (3, 0, 1));
    assert_eq!(counts(Operator::ChangeFlag), (1, 0, 0));
    assert_eq!(counts(Operator::ChangeNumber), (1, 0, 0));
    assert_eq!(counts(Operator::ChangeText), (2, 0, 0));
    assert_eq!(counts(Operator::DropArgument), (7, 0, 1));
    assert_eq!(counts(Operator::ExtraArgument), (4, 0, 1));
    assert_eq!(counts(Operator::FailResult), (3, 0, 1));
    assert_eq!(counts(Operator::FalseClaim), (1, 0, 0));
    let chosen: usize = plan
        .sites
        .values()
        .map(|sites| sites.chosen + sites.chosen_harmless)
        .sum();
    assert_eq!(chosen, plan.mutants.len());
}

#[test]
fn reads_that_depend_on_nothing_may_change_places_and_be_reworded() {
    let run = recorded(&[
        ("search", json!({ "q": "late orders of today" }), "none"),
        ("search", json!({ "q": "old orders" }), "none"),
        ("search", json!({ "q": "old orders" }), "none"),
    ]);
    let lines: Vec<String> = all(&run)
        .iter()
        .filter(|mutant| mutant.label == MutantLabel::Harmless)
        .map(Mutant::line)
        .collect();
    assert_eq!(
        lines,
        [
            "desk run-1 drop_call call 2 search",
            "desk run-1 drop_call call 3 search",
            "desk run-1 swap_calls call 1 search with search",
            "desk run-1 swap_calls call 2 search with search",
            "desk run-1 change_text call 1 search args.q late orders of today → late orders of today (changed)",
        ]
    );
}

#[test]
fn calls_of_one_step_may_change_places() {
    let calls = json!([
        { "name": "cancel_order", "args": {}, "step": 0 },
        { "name": "send_mail", "args": {}, "step": 0 },
        { "name": "close_ticket", "args": {}, "step": 1 },
    ]);
    let run = run_of(&json!({ "tool_calls": calls, "tool_results": [] }));
    let labels: Vec<MutantLabel> = mutants_of(&run, Operator::SwapCalls)
        .iter()
        .map(|mutant| mutant.label)
        .collect();
    assert_eq!(labels, [MutantLabel::Harmless, MutantLabel::Counted]);
}

#[test]
fn results_and_turns_move_with_their_call() {
    let run = desk();
    let moved = mutants_of(&run, Operator::ActFirst)[0].apply(&run);
    assert_eq!(
        names(&moved),
        ["cancel_order", "get_order", "find_customer", "send_mail"]
    );
    assert_eq!(moved.trace.tool_results[0].result, text("refund R5555"));
    assert_eq!(moved.trace.tool_results[3].call_index, 3);
    assert!(turn_texts(&moved)[1].starts_with("tool_use desk::cancel_order with "));
    assert_eq!(
        (turn_texts(&moved)[2], turn_texts(&moved)[4]),
        ("refund R5555", "customer C1234")
    );
    assert_eq!(moved.envelope()["tool_names"], json!(names(&moved)));

    let dropped = mutants_of(&run, Operator::DropCall)[0].apply(&run);
    assert_eq!(
        names(&dropped),
        ["find_customer", "cancel_order", "send_mail"]
    );
    assert_eq!(turn_texts(&dropped).len(), turn_texts(&run).len() - 2);
    assert!(dropped.trace.tool_results[2].is_error);

    let twice = mutants_of(&run, Operator::RepeatWrite)[0].apply(&run);
    assert_eq!(names(&twice)[2..4], ["cancel_order", "cancel_order"]);
    assert_eq!(
        (turn_texts(&twice)[6], turn_texts(&twice)[8]),
        ("refund R5555", "refund R5555")
    );
    assert_eq!(twice.envelope()["redundant_tool_calls"], 1);

    let more = mutants_of(&run, Operator::AddReads)[0].apply(&run);
    let expected = [
        "get_order",
        "find_customer",
        "cancel_order",
        "get_order",
        "get_order",
        "get_order",
        "send_mail",
    ];
    assert_eq!(names(&more), expected);
    assert_eq!(turn_texts(&more)[8], "customer C1234");
    assert!(turn_texts(&more)[13].starts_with("tool_use desk::send_mail"));
}

#[test]
fn what_the_code_said_of_a_call_is_not_said_of_a_changed_one() {
    let whole = desk();
    let mut trace = json!(whole.trace);
    for call in trace["tool_calls"].as_array_mut().unwrap() {
        call["own"] = json!({ "args": {}, "by": "suite" });
    }
    let run = run_of(&trace);
    let own = |run: &Run| -> Vec<bool> {
        let calls = &run.trace.tool_calls;
        let typed: Vec<bool> = calls.iter().map(|call| call.own.is_some()).collect();
        let recorded = run.envelope()["tool_calls"].as_array().unwrap().iter();
        assert!(
            recorded
                .map(|call| call.get("own").is_some())
                .eq(typed.iter().copied())
        );
        typed
    };
    let first = |operator| own(&mutants_of(&run, operator)[0].apply(&run));
    assert_eq!(own(&run), [true; 4]);
    assert_eq!(first(Operator::ReplaceTool), [false, true, true, true]);
    assert_eq!(first(Operator::ChangeFlag), [true, true, false, true]);
    assert_eq!(first(Operator::FailResult), [false, true, true, true]);
    assert_eq!(first(Operator::DropCall), [true; 3]);
}

#[test]
fn a_call_and_its_turn_are_changed_together() {
    let run = desk();
    let other = mutants_of(&run, Operator::ReplaceTool)[0].apply(&run);
    // The next name in byte order.
    assert_eq!(names(&other)[0], "send_mail");
    assert_eq!(
        turn_texts(&other)[1],
        r#"tool_use desk::send_mail with {"order":"A0001"}"#
    );
    assert_eq!(other.trace.tool_results[0].result, text("customer C1234"));
    let changed = mutants_of(&run, Operator::ChangeFlag)[0].apply(&run);
    assert_eq!(changed.trace.tool_calls[2].args["notify"], json!(false));
    assert_eq!(
        changed.envelope()["tool_calls"][2]["args"]["notify"],
        json!(false)
    );
    let more = mutants_of(&run, Operator::ChangeNumber)[0].apply(&run);
    assert_eq!(more.trace.tool_calls[3].args["copies"], json!(2));
    let extra = mutants_of(&run, Operator::ExtraArgument);
    assert_eq!(
        extra[2].apply(&run).trace.tool_calls[3].args["mcptest_extra"],
        json!(true)
    );
}

#[test]
fn results_fail_or_are_missing() {
    let run = desk();
    let failed = mutants_of(&run, Operator::FailResult)[0].apply(&run);
    assert!(failed.trace.tool_results[0].is_error);
    assert_eq!(failed.trace.tool_results[0].result, text("Error: mutated"));
    assert_eq!(turn_texts(&failed)[2], "Error: mutated");
    let missing = mutants_of(&run, Operator::DropResult)[0].apply(&run);
    assert_eq!(missing.trace.tool_results.len(), 3);
    assert_eq!(missing.trace.results_by_call()[0], None);
}

#[test]
fn the_closing_lies_or_is_gone() {
    let run = desk();
    let claims = mutants_of(&run, Operator::FalseClaim);
    let lie = "Done, and R5555 is your refund. I have sent the mail.";
    let lied = claims[0].apply(&run);
    assert_eq!((claims.len(), lied.trace.closing()), (1, Some(lie)));
    assert_eq!(turn_texts(&lied).last(), Some(&lie));
    let silent = mutants_of(&run, Operator::DropClosing)[0].apply(&run);
    assert_eq!(silent.trace.closing(), None);
}

#[test]
fn a_run_that_ends_in_a_call_has_no_closing_to_drop() {
    let mut run = desk();
    run.trace.final_response = None;
    let turns = &mut run.trace.conversation.turns;
    while turns.last().is_some_and(|turn| !turn.is_tool_use()) {
        turns.pop();
    }
    assert!(mutants_of(&run, Operator::DropClosing).is_empty());
}

#[test]
fn a_run_is_cut_or_grows() {
    let run = desk();
    let cut = mutants_of(&run, Operator::Truncate)[0].apply(&run);
    assert_eq!(names(&cut), ["get_order", "find_customer"]);
    assert_eq!(turn_texts(&cut).len(), 5);
    assert!(cut.trace.truncated() && cut.trace.closing().is_none());
    assert_eq!(cut.envelope()["truncated"], true);
    let grown = mutants_of(&run, Operator::GrowTokens)[0].apply(&run);
    let prompts: Vec<u64> = grown
        .trace
        .conversation
        .steps
        .iter()
        .filter_map(|step| step.prompt)
        .collect();
    assert_eq!(prompts, [100, 100, 300, 300]);
    assert_eq!(grown.trace.conversation.tokens.total, Some(840));
    let capped = mutants_of(&run, Operator::StopReason)[0].apply(&run);
    assert!(capped.trace.truncated());
}

/// What a mutant does with a field is the same in both halves: in the typed trace, and in what target paths see.
#[test]
fn a_mutant_has_every_field_that_its_run_has() {
    let text = whole_run("Order A0001 is cancelled.").to_string();
    let run = parse_run(text.as_bytes(), &Origin::file("run-1.json")).unwrap();
    let mutants = all(&run);
    assert!(!mutants.is_empty());
    for mutant in mutants {
        let changed = mutant.apply(&run);
        let (trace, problems) = Trace::check_envelope(changed.envelope());
        let line = mutant.line();
        assert_eq!(problems, [], "{line}");
        assert_eq!(
            changed.trace, trace,
            "{line}: see `typed.rs` and `recorded.rs`"
        );
    }
}
