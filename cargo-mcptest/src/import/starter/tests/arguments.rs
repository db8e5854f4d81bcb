//! What is asked of the arguments of a call.

use mcptest::trace::{Origin, ReadOnlyTools, Run, parse_run};
use serde_json::{Value, json};

use super::super::{CalledTools, gate, plan, recipe, writes};

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
fn demanded_arguments(runs: &[Run]) -> String {
    let source = || recipe::RunSource {
        day: Some(DAY.to_owned()),
        is_copy: false,
        lacks_calls: false,
    };
    let sources: Vec<_> = runs.iter().map(|_| source()).collect();
    let text = recipe::gates(runs, &sources, &CalledTools::default(), &[]).unwrap();
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
    demanded_arguments(&[send(json!({ "a": argument }))])
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
        demanded_arguments(&[
            with("Leave it outside", DAY),
            with("Leave it by the door", DAY)
        ]),
        "schema: {\"additionalProperties\": false, \"properties\": {\"day\": {\"type\": \"string\"}, \
         \"fast\": {\"type\": \"boolean\"}, \"note\": {\"type\": \"string\"}, \"order\": {\"const\": \"O-7\"}}, \
         \"required\": [\"day\", \"fast\", \"note\", \"order\"]}"
    );
    let same = send(json!({ "order": "O-7", "note": "Leave it outside" }));
    assert_eq!(
        demanded_arguments(&[same.clone(), same]),
        "exact: {\"note\": \"Leave it outside\", \"order\": \"O-7\"}"
    );
}

#[test]
fn an_argument_that_some_runs_have_may_be_there() {
    let fast = send(json!({ "order": "O-7", "fast": true }));
    let slow = send(json!({ "order": "O-7" }));
    // What one run alone has may be the agent's own.
    let type_alone = demanded_arguments(&[slow.clone(), fast.clone()]);
    assert!(
        type_alone.contains("{\"fast\": {\"type\": \"boolean\"}"),
        "{type_alone}"
    );
    assert_eq!(
        demanded_arguments(&[slow, fast.clone(), fast]),
        "schema: {\"additionalProperties\": false, \"properties\": {\"fast\": {\"const\": true}, \
         \"order\": {\"const\": \"O-7\"}}, \"required\": [\"order\"]}"
    );
}

#[test]
fn an_argument_that_some_runs_have_is_what_these_agree_on() {
    let order = |note: Option<&str>, fast: bool| {
        let mut args = json!({ "order": "O-7", "fast": fast });
        if let Some(note) = note {
            args["note"] = note.into();
        }
        send(args)
    };
    let runs = [
        order(Some("Leave it outside, please"), true),
        order(None, true),
        order(None, false),
    ];
    let reads = ReadOnlyTools::default();
    let holds = plan_of(&runs, &reads);
    assert!(runs.iter().all(&holds));
    // Words of the agent's own stay its own.
    assert!(holds(&order(Some("Put it by the door"), false)));
    let some = |number: u32| send(json!({ "order": "O-7", "amount": number }));
    let runs = [some(3), some(3), send(json!({ "order": "O-7" }))];
    let holds = plan_of(&runs, &reads);
    assert!(runs.iter().all(&holds));
    assert!(!holds(&some(4)));
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
        demanded_arguments(&[
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
        &CalledTools::default(),
        &[],
    );
    let text = text.unwrap();
    assert!(
        text.contains("{ producer: \"create_parcel\", consumer: \"send\", arg: \"parcel\" }"),
        "{text}"
    );
}

/// What every run has another of, the next run will have another of; a few values that runs share are a choice.
#[test]
fn values_are_listed_where_runs_share_them() {
    let of = |values: &[Value]| {
        let runs: Vec<Run> = values.iter().map(|it| send(json!({ "a": it }))).collect();
        demanded_arguments(&runs)
    };
    let open = |kind: &str| {
        format!(
            "schema: {{\"additionalProperties\": false, \"properties\": {{\"a\": {{\"type\": \"{kind}\"}}}}, \"required\": [\"a\"]}}"
        )
    };
    assert_eq!(of(&[json!(71), json!(72)]), open("number"));
    assert_eq!(
        of(&[json!("T-1"), json!("T-2"), json!("T-3")]),
        open("string")
    );
    assert_eq!(of(&[json!("too late"), json!("no need")]), open("string"));
    assert_eq!(
        of(&[json!(71), json!(72), json!(71)]),
        "schema: {\"enum\": [{\"a\": 71}, {\"a\": 72}]}"
    );
    // All runs were told of both.
    assert_eq!(
        of(&[json!("ADR551"), json!("O-7")]),
        "schema: {\"enum\": [{\"a\": \"ADR551\"}, {\"a\": \"O-7\"}]}"
    );
    let many = [1, 2, 3, 4, 5, 1].map(|value| json!(value));
    assert_eq!(of(&many), open("number"));
}

/// What the agent words itself opens the part that it is, and no more.
#[test]
fn a_text_within_an_argument_opens_the_text_alone() {
    let with = |note: &str, seat: &str| {
        let seats = json!([{ "at": seat, "for": "Ana" }]);
        send(json!({ "details": { "order": "O-7", "note": note, "seats": seats } }))
    };
    let of_one = "schema: {\"additionalProperties\": false, \"properties\": {\"details\": {\"additionalProperties\": false, \
                  \"properties\": {\"note\": {\"type\": \"string\"}, \"order\": {\"const\": \"O-7\"}, \"seats\": {\"const\": \
                  [{\"at\": \"1A\", \"for\": \"Ana\"}]}}, \"required\": [\"note\", \"order\", \"seats\"], \"type\": \"object\"}}, \
                  \"required\": [\"details\"]}";
    assert_eq!(
        demanded_arguments(&[with("Leave it by the door", "1A")]),
        of_one
    );
    let runs = [
        with("Leave it by the door", "1A"),
        with("Leave it outside", "2B"),
    ];
    let text = demanded_arguments(&runs);
    assert!(
        text.contains(
            "\"seats\": {\"maxItems\": 1, \"minItems\": 1, \"prefixItems\": [{\"additionalProperties\": false, \
             \"properties\": {\"at\": {\"type\": \"string\"}, \"for\": {\"const\": \"Ana\"}}, \"required\": [\"at\", \"for\"], \
             \"type\": \"object\"}], \"type\": \"array\"}"
        ),
        "{text}"
    );
    let reads = ReadOnlyTools::default();
    let holds = plan_of(&runs, &reads);
    let fits = |order: &str, seats: Value| {
        let note = "Ring twice before";
        holds(&send(
            json!({ "details": { "order": order, "note": note, "seats": seats } }),
        ))
    };
    let seats = json!([{ "at": "9F", "for": "Ana" }]);
    assert!(fits("O-7", seats.clone()));
    assert!(!fits("O-8", seats));
    assert!(!fits("O-7", json!([])));
}

/// What no run did together is no part of the plan: one run's order does not go with another's amount.
#[test]
fn arguments_that_differ_hold_together() {
    let with = |order: &str, amount: u64| send(json!({ "order": order, "amount": amount }));
    let runs = [with("A-1", 10), with("B-2", 20), with("A-1", 10)];
    assert_eq!(
        demanded_arguments(&runs),
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
        demanded_arguments(&runs),
        format!(
            "schema: {{\"additionalProperties\": false, \"anyOf\": [{}, {}], \"properties\": {{\"amount\": {{}}, \"note\": {{\"type\": \"string\"}}, \
             \"order\": {{}}}}, \"required\": [\"amount\", \"note\", \"order\"]}}",
            pair("A-1", 10),
            pair("B-2", 20)
        )
    );
    let crossed = with("A-1", 20, "Leave it outside");
    let reads = ReadOnlyTools::default();
    let holds = plan_of(&runs, &reads);
    assert!(runs.iter().all(&holds));
    assert!(!holds(&crossed));
}

/// Whether a run holds the plan of some.
fn plan_of<'a>(runs: &[Run], reads: &'a ReadOnlyTools) -> gate::Demand<'a> {
    let evidence: Vec<_> = runs.iter().map(|run| (run, None)).collect();
    let good: Vec<&Run> = runs.iter().collect();
    let changes = writes::Changes::from_runs(&evidence, reads);
    plan::propose_trajectory(&good, &changes, reads)
        .unwrap()
        .holds
}

/// Of many combinations, those of the parts that go together are told apart.
#[test]
fn of_many_combinations_the_parts_that_go_together_are_listed() {
    let rows = [
        ("A-1", 1, "a"),
        ("B-2", 2, "a"),
        ("A-1", 1, "b"),
        ("B-2", 2, "b"),
        ("C-3", 3, "a"),
    ];
    let with = |(order, amount, side): (&str, u64, &str)| {
        send(json!({ "order": order, "amount": amount, "side": side }))
    };
    let runs = rows.map(with);
    assert_eq!(
        demanded_arguments(&runs),
        "schema: {\"additionalProperties\": false, \"anyOf\": [\
         {\"properties\": {\"amount\": {\"const\": 1}, \"order\": {\"const\": \"A-1\"}}}, \
         {\"properties\": {\"amount\": {\"const\": 2}, \"order\": {\"const\": \"B-2\"}}}, \
         {\"properties\": {\"amount\": {\"const\": 3}, \"order\": {\"const\": \"C-3\"}}}], \
         \"properties\": {\"amount\": {}, \"order\": {}, \"side\": {\"enum\": [\"a\", \"b\"]}}, \
         \"required\": [\"amount\", \"order\", \"side\"]}"
    );
    let reads = ReadOnlyTools::default();
    let holds = plan_of(&runs, &reads);
    assert!(runs.iter().all(&holds));
    assert!(!holds(&with(("A-1", 3, "a"))));
    assert!(holds(&with(("C-3", 3, "b"))));
}
