//! Mutants of small runs, operator by operator.

use crate::trace::{Origin, PathKeys, parse_run};
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

fn of(run: &Run, operator: Operator) -> Vec<Mutant> {
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

fn said(run: &Run) -> Vec<&str> {
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
        .filter(|mutant| mutant.label == Label::Harmless)
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
    let labels: Vec<Label> = of(&run, Operator::SwapCalls)
        .iter()
        .map(|mutant| mutant.label)
        .collect();
    assert_eq!(labels, [Label::Harmless, Label::Counted]);
}

#[test]
fn results_and_turns_move_with_their_call() {
    let run = desk();
    let moved = of(&run, Operator::ActFirst)[0].apply(&run);
    assert_eq!(
        names(&moved),
        ["cancel_order", "get_order", "find_customer", "send_mail"]
    );
    assert_eq!(moved.trace.tool_results[0].result, text("refund R5555"));
    assert_eq!(moved.trace.tool_results[3].call_index, 3);
    assert!(said(&moved)[1].starts_with("tool_use desk::cancel_order with "));
    assert_eq!(
        (said(&moved)[2], said(&moved)[4]),
        ("refund R5555", "customer C1234")
    );
    assert_eq!(moved.envelope()["tool_names"], json!(names(&moved)));

    let dropped = of(&run, Operator::DropCall)[0].apply(&run);
    assert_eq!(
        names(&dropped),
        ["find_customer", "cancel_order", "send_mail"]
    );
    assert_eq!(said(&dropped).len(), said(&run).len() - 2);
    assert!(dropped.trace.tool_results[2].is_error);

    let twice = of(&run, Operator::RepeatWrite)[0].apply(&run);
    assert_eq!(names(&twice)[2..4], ["cancel_order", "cancel_order"]);
    assert_eq!(
        (said(&twice)[6], said(&twice)[8]),
        ("refund R5555", "refund R5555")
    );
    assert_eq!(twice.envelope()["redundant_tool_calls"], 1);

    let more = of(&run, Operator::AddReads)[0].apply(&run);
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
    assert_eq!(said(&more)[8], "customer C1234");
    assert!(said(&more)[13].starts_with("tool_use desk::send_mail"));
}

#[test]
fn a_call_and_its_turn_are_changed_together() {
    let run = desk();
    let other = of(&run, Operator::ReplaceTool)[0].apply(&run);
    // The next name in byte order.
    assert_eq!(names(&other)[0], "send_mail");
    assert_eq!(
        said(&other)[1],
        r#"tool_use desk::send_mail with {"order":"A0001"}"#
    );
    assert_eq!(other.trace.tool_results[0].result, text("customer C1234"));
    let changed = of(&run, Operator::ChangeFlag)[0].apply(&run);
    assert_eq!(changed.trace.tool_calls[2].args["notify"], json!(false));
    assert_eq!(
        changed.envelope()["tool_calls"][2]["args"]["notify"],
        json!(false)
    );
    let more = of(&run, Operator::ChangeNumber)[0].apply(&run);
    assert_eq!(more.trace.tool_calls[3].args["copies"], json!(2));
    let extra = of(&run, Operator::ExtraArgument);
    assert_eq!(
        extra[2].apply(&run).trace.tool_calls[3].args["mcptest_extra"],
        json!(true)
    );
}

#[test]
fn results_fail_or_are_missing() {
    let run = desk();
    let failed = of(&run, Operator::FailResult)[0].apply(&run);
    assert!(failed.trace.tool_results[0].is_error);
    assert_eq!(failed.trace.tool_results[0].result, text("Error: mutated"));
    assert_eq!(said(&failed)[2], "Error: mutated");
    let missing = of(&run, Operator::DropResult)[0].apply(&run);
    assert_eq!(missing.trace.tool_results.len(), 3);
    assert_eq!(missing.trace.results_by_call()[0], None);
}

#[test]
fn the_closing_lies_or_is_gone() {
    let run = desk();
    let claims = of(&run, Operator::FalseClaim);
    let lie = "Done, and R5555 is your refund. I have sent the mail.";
    let lied = claims[0].apply(&run);
    assert_eq!((claims.len(), lied.trace.closing()), (1, Some(lie)));
    assert_eq!(said(&lied).last(), Some(&lie));
    let silent = of(&run, Operator::DropClosing)[0].apply(&run);
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
    assert!(of(&run, Operator::DropClosing).is_empty());
}

#[test]
fn a_run_is_cut_or_grows() {
    let run = desk();
    let cut = of(&run, Operator::Truncate)[0].apply(&run);
    assert_eq!(names(&cut), ["get_order", "find_customer"]);
    assert_eq!(said(&cut).len(), 5);
    assert!(cut.trace.truncated() && cut.trace.closing().is_none());
    assert_eq!(cut.envelope()["truncated"], true);
    let grown = of(&run, Operator::GrowTokens)[0].apply(&run);
    let prompts: Vec<u64> = grown
        .trace
        .conversation
        .steps
        .iter()
        .map(|step| step.prompt)
        .collect();
    assert_eq!(prompts, [100, 100, 300, 300]);
    assert_eq!(grown.trace.conversation.tokens.total, 840);
    let capped = of(&run, Operator::StopReason)[0].apply(&run);
    assert!(capped.trace.truncated());
}

#[test]
fn an_agent_with_one_tool_takes_another_of_the_suite() {
    let lone = recorded(&[("cancel_order", json!({}), "ok")]);
    assert!(of(&lone, Operator::ReplaceTool).is_empty());
    let other = desk();
    let runs = [
        RecordedRun::new("lone", 1, &lone),
        RecordedRun {
            mutate: false,
            ..RecordedRun::new("desk", 1, &other)
        },
    ];
    let plan = plan(&runs, &MutantOptions::default());
    let replaced = plan
        .mutants
        .iter()
        .find(|mutant| mutant.operator == Operator::ReplaceTool);
    assert_eq!(
        replaced.unwrap().line(),
        "lone run-1 replace_tool call 1 cancel_order → find_customer"
    );
    assert_eq!(plan.runs, 1);
}

#[test]
fn what_is_the_same_run_twice_is_judged_once() {
    // Acting first and swapping the first two calls are one here.
    let run = recorded(&[
        ("get_order", json!({}), "none"),
        ("cancel_order", json!({}), "ok"),
    ]);
    let runs = [RecordedRun::new("desk", 1, &run)];
    let plan = plan(&runs, &MutantOptions::default());
    assert_eq!(plan.sites[&Operator::ActFirst].duplicates, 1);
    assert_eq!(plan.sites[&Operator::SwapCalls].duplicates, 0);
}

#[test]
fn lists_of_tools_are_stronger_than_names() {
    let run = desk();
    let runs = [RecordedRun::new("desk", 1, &run)];
    let options = MutantOptions {
        readonly_tools: ["send_mail".to_owned(), "get_order".to_owned()].into(),
        mutating_tools: ["get_order".to_owned(), "find_customer".to_owned()].into(),
        ..MutantOptions::default()
    };
    let plan = plan(&runs, &options);
    assert_eq!(plan.sites[&Operator::RepeatRead].sites, 2);
    let writes = plan
        .mutants
        .iter()
        .filter(|mutant| mutant.operator == Operator::RepeatWrite);
    let writes: Vec<_> = writes
        .map(|mutant| mutant.call.clone().unwrap().1)
        .collect();
    assert_eq!(writes, ["find_customer", "cancel_order"]);
}

#[test]
fn shards_are_disjoint_and_together_everything() {
    let run = desk();
    let runs = [RecordedRun::new("desk", 1, &run)];
    let lines = |shard| {
        let options = MutantOptions {
            shard,
            ..MutantOptions::default()
        };
        let plan = plan(&runs, &options);
        plan.mutants.iter().map(Mutant::line).collect::<Vec<_>>()
    };
    let mut together: Vec<String> = (0..3).flat_map(|part| lines(Some((part, 3)))).collect();
    let mut whole = lines(None);
    together.sort();
    whole.sort();
    assert_eq!(together, whole);
}

#[test]
fn hostile_names_stay_on_one_line() {
    let run = recorded(&[("get\u{1b}[2Jx", json!({ "a": "b\nc" }), "none")]);
    assert!(
        all(&run)
            .iter()
            .all(|mutant| !mutant.line().contains(['\n', '\u{1b}']))
    );
}

#[test]
fn a_score_is_the_mean_over_ways_of_breaking() {
    let run = desk();
    let mutants = all(&run);
    let judged: Vec<Judged> = mutants
        .iter()
        .map(|mutant| {
            let killed = matches!(mutant.operator, Operator::StopReason | Operator::GrowTokens)
                || mutant.call.as_ref().is_some_and(|(call, _)| *call == 2);
            Judged {
                covered: true,
                killed_by: killed.then(|| "gate".to_owned()).into_iter().collect(),
            }
        })
        .collect();
    let scores = score(mutants.iter().zip(&judged));
    assert_eq!(
        scores.operators[&Operator::StopReason].counted,
        Count {
            killed: 1,
            mutants: 1
        }
    );
    assert_eq!(scores.operators[&Operator::StopReason].only_by["gate"], 1);
    assert_eq!(scores.waste.score, Some(1.0 / 3.0));
    assert_eq!(
        scores.waste.count,
        Count {
            killed: 1,
            mutants: 4
        }
    );
    assert_eq!(
        (scores.harm, scores.brittle.share()),
        (scores.harm_covered, None)
    );
    assert_eq!(score(std::iter::empty()).harm.score, None);
}

fn calls() -> impl Strategy<Value = Vec<(&'static str, Value, &'static str)>> {
    let names = prop::sample::select(vec!["get_order", "find", "cancel_order", "send_mail"]);
    let args = prop::sample::select(vec![
        json!({}),
        json!({ "order": "A0001" }),
        json!({ "b": [1, { "c": null, "d": false }], "a": "two words or more" }),
    ]);
    let results = prop::sample::select(vec!["ok", "C1234 found", "Error: no"]);
    prop::collection::vec((names, args, results), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_mutant_could_have_been_recorded_and_is_another_run(calls in calls()) {
        let run = recorded(&calls);
        for mutant in all(&run) {
            let broken = mutant.apply(&run);
            // A part that is asked for alone is that of the whole.
            for key in ["tool_calls", "tool_results", "final_response", "conversation", "tool_names", "truncated"] {
                let along = mutant.apply(&run);
                let along = along.envelope_along(&[PathKeys::new(vec![key], None)]);
                prop_assert_eq!(along.get(key), broken.envelope().get(key), "{} {}", mutant.line(), key);
            }
            let (trace, problems) = Trace::check_envelope(broken.envelope());
            prop_assert!(problems.is_empty(), "{}: {:?}", mutant.line(), problems);
            prop_assert_eq!(&trace, &broken.trace, "{}", mutant.line());
            prop_assert_eq!(&trace, &mutant.trace(&run.trace));
            let other = trace != run.trace || broken.envelope() != run.envelope();
            prop_assert!(other, "{}", mutant.line());
            // The k-th turn of a call says what the k-th call is.
            let turns = trace.conversation.turns.iter().filter(|turn| turn.is_tool_use());
            let said: Vec<&str> = turns.map(|turn| turn.content.as_str()).collect();
            prop_assert_eq!(said.len(), trace.tool_calls.len());
            for (said, call) in said.iter().zip(&trace.tool_calls) {
                let expected = format!("tool_use desk::{} with {}", call.name, call.args);
                prop_assert_eq!(*said, expected);
            }
        }
    }

    #[test]
    fn another_run_changes_no_choice_of_this_one(calls in calls(), others in calls()) {
        let (run, other) = (recorded(&calls), recorded(&others));
        let lines = |runs: &[RecordedRun<'_>]| {
            let mutants = plan(runs, &MutantOptions::default()).mutants.into_iter();
            let own = mutants.filter(|mutant| mutant.agent == "desk");
            // Which tools the suite has is the suite's, not the run's.
            let own = own.filter(|mutant| !matches!(mutant.operator, Operator::FalseClaim | Operator::ReplaceTool));
            own.map(|mutant| mutant.line()).collect::<Vec<_>>()
        };
        let alone = lines(&[RecordedRun::new("desk", 1, &run)]);
        let beside = lines(&[RecordedRun::new("a", 1, &other), RecordedRun::new("desk", 1, &run)]);
        prop_assert_eq!(alone, beside);
    }
}
