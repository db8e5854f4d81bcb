//! What is asked of the arguments of a call.

use mcptest::trace::{Origin, Run, parse_run};
use serde_json::{Value, json};

use super::{Tools, plan, recipe, writes};

/// The day of the recordings.
const DAY: &str = "2026-03-04";

/// A run of calls, each with its arguments and its result.
fn run(calls: &[(&str, Value, &str)]) -> Run {
    let made = calls
        .iter()
        .map(|(name, args, _)| json!({ "name": name, "args": args }));
    let results = calls.iter().enumerate().map(|(call, (_, _, result))| {
        json!({ "call_index": call, "is_error": false, "result": { "text": result } })
    });
    let run = json!({
        "schema_version": "v1", "model": "m", "user_prompt": "Send the blue one to Ana, order O-7.",
        "trace": {
            "tool_calls": made.collect::<Vec<_>>(), "tool_results": results.collect::<Vec<_>>(),
            "final_response": "Done.",
        },
    });
    parse_run(run.to_string().as_bytes(), &Origin::file("run.json")).unwrap()
}

/// The arguments that are asked of the last tool, in these runs.
fn asked(runs: &[Run]) -> String {
    let days = vec![Some(DAY.to_owned()); runs.len()];
    let text = recipe::gates(runs, &days, &Tools::default(), &[]).unwrap();
    let line = text.lines().rfind(|line| line.contains("- { name:"));
    let line = line.unwrap_or_else(|| panic!("no plan in {text}"));
    let args = line.split("args: { ").nth(1).unwrap_or_default();
    args.split(" }, is_error").next().unwrap().to_owned()
}

fn send(args: Value) -> Run {
    run(&[
        ("get_address", json!({}), "Ana, Rua 5, 4000 Porto, ADR551"),
        ("create_parcel", json!({ "order": "O-7" }), "made PCL-0042"),
        ("send", args, "sent"),
    ])
}

fn one(argument: &Value) -> String {
    asked(&[send(json!({ "a": argument }))])
}

const OPEN: &str = "schema: {\"additionalProperties\": false, \"properties\": {\"a\": {\"type\": \"string\"}}, \"required\": [\"a\"]}";

#[test]
fn what_was_said_or_looked_up_or_is_short_stays() {
    for stays in [
        json!("ADR551"),
        json!("the blue one"),
        json!("O-7"),
        json!("express"),
        json!("4000 Porto Ana"),
    ] {
        assert_eq!(one(&stays), format!("exact: {{\"a\": {stays}}}"));
    }
    for stays in [
        json!(7),
        json!(true),
        json!(["ADR551", "O-7"]),
        json!("2026-02-01"),
    ] {
        assert!(one(&stays).starts_with("exact: "), "{stays}");
    }
}

#[test]
fn what_the_agent_words_or_a_change_made_or_time_makes_does_not() {
    for moves in [
        "Please leave it at the door",
        "PCL-0042",
        "2026-03-04",
        "2026-03-04T10:00:00Z",
        "7f9c24e5-2b1a-4a57-9d0e-3c1f2b6a8d11",
    ] {
        assert_eq!(one(&json!(moves)), OPEN, "{moves}");
    }
}

#[test]
fn what_runs_agree_on_is_asked_for_and_the_rest_is_not() {
    let with = |note: &str, day: &str| {
        send(json!({ "order": "O-7", "note": note, "day": day, "fast": note.len() > 16 }))
    };
    assert_eq!(
        asked(&[
            with("Leave it outside", DAY),
            with("Leave it by the door", DAY)
        ]),
        "schema: {\"additionalProperties\": false, \"properties\": {\"day\": {\"type\": \"string\"}, \
         \"fast\": {\"enum\": [false, true]}, \"note\": {\"type\": \"string\"}, \"order\": {\"const\": \"O-7\"}}, \
         \"required\": [\"day\", \"fast\", \"note\", \"order\"]}"
    );
    let same = send(json!({ "order": "O-7", "note": "Leave it outside" }));
    assert_eq!(
        asked(&[same.clone(), same]),
        "exact: {\"note\": \"Leave it outside\", \"order\": \"O-7\"}"
    );
}

#[test]
fn an_argument_that_some_runs_have_may_be_there() {
    let runs = [
        send(json!({ "order": "O-7" })),
        send(json!({ "order": "O-7", "fast": true })),
    ];
    assert_eq!(
        asked(&runs),
        "schema: {\"additionalProperties\": false, \"properties\": {\"fast\": {}, \"order\": {\"const\": \"O-7\"}}, \
         \"required\": [\"order\"]}"
    );
}

/// The plan of runs that say the same in other words has what they share.
#[test]
fn calls_that_differ_in_words_are_the_same_call() {
    let note = |text: &str, more: bool| {
        let mut calls = vec![("send", json!({ "order": "O-7", "note": text }), "sent")];
        if more {
            calls.push(("archive", json!({}), "done"));
        }
        run(&calls)
    };
    assert_eq!(
        asked(&[
            note("Leave it outside", false),
            note("Leave it by the door", true)
        ]),
        "schema: {\"additionalProperties\": false, \"properties\": {\"note\": {\"type\": \"string\"}, \
         \"order\": {\"const\": \"O-7\"}}, \"required\": [\"note\", \"order\"]}"
    );
}

/// What a change made is asked for as what it is: taken from that change.
#[test]
fn an_identifier_that_a_change_made_comes_from_that_change() {
    let text = recipe::gates(
        &[send(json!({ "parcel": "PCL-0042" }))],
        &[],
        &Tools::default(),
        &[],
    );
    let text = text.unwrap();
    assert!(
        text.contains("{ producer: \"create_parcel\", consumer: \"send\", arg: \"parcel\" }"),
        "{text}"
    );
}

#[test]
fn many_values_of_an_argument_are_not_listed() {
    let runs: Vec<Run> = (1..=5).map(|count| send(json!({ "a": count }))).collect();
    assert!(
        asked(&runs[..4]).contains("\"enum\": [{\"a\": 1}, {\"a\": 2}, {\"a\": 3}, {\"a\": 4}]"),
        "{}",
        asked(&runs[..4])
    );
    assert!(
        asked(&runs).contains("\"a\": {\"type\": \"number\"}"),
        "{}",
        asked(&runs)
    );
}

/// What no run did together is no part of the plan: one run's order does not go with another's amount.
#[test]
fn arguments_that_differ_hold_together() {
    let with = |order: &str, amount: u64| send(json!({ "order": order, "amount": amount }));
    let runs = [with("A-1", 10), with("B-2", 20), with("A-1", 10)];
    assert_eq!(
        asked(&runs),
        "schema: {\"enum\": [{\"amount\": 10, \"order\": \"A-1\"}, {\"amount\": 20, \"order\": \"B-2\"}]}"
    );
    let with = |order: &str, amount: u64, note: &str| {
        send(json!({ "order": order, "amount": amount, "note": note }))
    };
    let runs = [
        with("A-1", 10, "Leave it outside"),
        with("B-2", 20, "Leave it by the door"),
        with("A-1", 10, "Leave it with Bo"),
    ];
    let pair = |order: &str, amount: u64| {
        format!(
            "{{\"properties\": {{\"amount\": {{\"const\": {amount}}}, \"order\": {{\"const\": \"{order}\"}}}}}}"
        )
    };
    assert_eq!(
        asked(&runs),
        format!(
            "schema: {{\"additionalProperties\": false, \"anyOf\": [{}, {}], \"properties\": {{\"amount\": {{}}, \"note\": {{\"type\": \"string\"}}, \
             \"order\": {{}}}}, \"required\": [\"amount\", \"note\", \"order\"]}}",
            pair("A-1", 10),
            pair("B-2", 20)
        )
    );
    let crossed = with("A-1", 20, "Leave it outside");
    let plan = |runs: &[Run]| {
        let writes: Vec<_> = runs.iter().map(|run| writes::writes(run, None)).collect();
        let good: Vec<&Run> = runs.iter().collect();
        let gate = plan::trajectory(&good, &writes, &[]).unwrap();
        gate.holds
    };
    let holds = plan(&runs);
    assert!(runs.iter().all(&holds));
    assert!(!holds(&crossed));
}

/// Of many combinations of few values each, the values are told apart.
#[test]
fn many_combinations_are_not_listed() {
    let pairs = [("A-1", 1), ("A-1", 2), ("B-2", 1), ("B-2", 2), ("C-3", 1)];
    let runs = pairs.map(|(order, amount)| send(json!({ "order": order, "amount": amount })));
    assert_eq!(
        asked(&runs),
        "schema: {\"additionalProperties\": false, \"properties\": {\"amount\": {\"enum\": [1, 2]}, \
         \"order\": {\"enum\": [\"A-1\", \"B-2\", \"C-3\"]}}, \"required\": [\"amount\", \"order\"]}"
    );
}
