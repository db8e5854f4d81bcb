//! Calls at the door of own tools, beside those of the model.

use super::*;
use crate::door::{AnsweredBy, Ending, OwnCall, RaisedError};

/// A call of a model, `name` with arguments.
fn call(id: &str, name: &str, args: &Value) -> Value {
    json!({ "id": id, "type": "function", "function": { "name": name, "arguments": args.to_string() } })
}

fn asks(calls: &[Value]) -> Value {
    json!({ "role": "assistant", "content": null, "tool_calls": calls })
}

/// A call at the door: it begins and ends so long after the first request. A request comes every 100.
fn own(name: &str, args: &Value, (began, ended): (u64, u64), ending: Ending) -> OwnCall {
    let mut own = OwnCall::new(name, args.clone());
    (own.began, own.ended) = (began, Some(ended));
    (own.began_at, own.ended_at) = (began, Some(ended));
    own.ending = ending;
    own
}

fn gives(value: Value) -> Ending {
    Ending::Result(value)
}

fn fails(text: &str) -> Ending {
    Ending::Error(RaisedError::new("Declined", text))
}

/// The cassette of a talk with some calls at the door.
fn cassette(wire: &Wire, own: Vec<OwnCall>) -> Value {
    let run = RunOptions {
        own_calls: own,
        ..options("Pay.")
    };
    wire.run(&run).cassette
}

/// A talk in which the model asks for calls, is told something of each, and ends.
fn talk(calls: &[Value], told: &[(&str, &str)]) -> Wire {
    let mut wire = Wire::default();
    let begins = vec![user("Pay.")];
    let asked = asks(calls);
    wire.chat(&json!(begins), &asked);
    let results = told.iter().map(|(id, text)| result(id, text));
    let goes_on: Vec<Value> = begins.into_iter().chain([asked]).chain(results).collect();
    wire.chat(&json!(goes_on), &says("Done."));
    wire
}

#[test]
fn a_call_of_the_model_is_one_call_whose_flag_is_the_tools() {
    let calls = [call("a", "shop__cancel", &json!({ "order": "7" }))];
    let wire = talk(&calls, &[("a", "Error: no")]);
    let args = json!({ "order": 7, "fast": true, "state": { "a": 1 } });
    let cassette = cassette(&wire, vec![own("cancel", &args, (50, 60), fails("no"))]);
    let trace = &cassette["trace"];
    assert_eq!(trace["tool_calls"].as_array().unwrap().len(), 1);
    assert_eq!(trace["tool_calls"][0]["args"], json!({ "order": "7" }));
    // The code has a number where the model wrote a text, and more than the model named.
    let differs = json!({ "args": { "order": 7 } });
    assert_eq!(trace["tool_calls"][0]["own"], differs);
    assert_eq!(trace["tool_results"][0]["is_error"], true);
    assert_eq!(trace["tool_results"][0]["duration_ms"], 10);
    assert_eq!(
        cassette["session"]["tools"],
        json!([{
            "name": "cancel", "args": { "order": 7 }, "omitted": ["fast", "state"], "call": 0, "ms": 10,
            "error": { "type": "Declined", "text": "no" },
        }])
    );
    // The format has no flag: the model was told none.
    assert_eq!(
        cassette["session"]["told"],
        json!([{ "call_index": 0, "is_error": null }])
    );
    assert_eq!(cassette["session"].get("unknown"), None);
}

#[test]
fn what_the_model_was_told_otherwise_than_the_tool_gave_is_kept_beside_it() {
    let told = |text: &str, gave: Value| {
        let wire = talk(&[call("a", "cancel", &json!({}))], &[("a", text)]);
        let cassette = cassette(
            &wire,
            vec![own("cancel", &json!({}), (50, 60), gives(gave))],
        );
        assert_eq!(cassette["trace"]["tool_results"][0]["is_error"], false);
        cassette["trace"]["tool_calls"][0].get("own").cloned()
    };
    assert_eq!(told("paid", json!("paid")), None);
    assert_eq!(told("{\"paid\": 18}", json!({ "paid": 18 })), None);
    assert_eq!(told("18", json!(18)), None);
    let other = told("Paid 18 EUR.", json!({ "paid": 18 }));
    assert_eq!(other, Some(json!({ "result": { "paid": 18 } })));
}

#[test]
fn a_call_is_that_of_its_identifier_else_of_its_arguments_else_of_its_name() {
    let cancel = |id: &str, order: u32| call(id, "cancel", &json!({ "order": order }));
    let of = |own: Vec<OwnCall>| {
        let calls = [
            cancel("a", 7),
            cancel("b", 8),
            call("c", "find", &json!({ "q": "x" })),
        ];
        let wire = talk(&calls, &[("a", "1"), ("b", "2"), ("c", "3")]);
        let cassette = cassette(&wire, own);
        let all = cassette["session"]["tools"].as_array().unwrap().clone();
        let calls = all.iter().map(|one| one["call"].as_u64());
        calls.collect::<Vec<_>>()
    };
    let order = |order: u32| json!({ "order": order });
    let one = |name: &str, args: &Value, at: u64| own(name, args, (at, at + 1), gives(json!(1)));
    // Parallel calls come in any order.
    let apart = [one("cancel", &order(8), 50), one("cancel", &order(7), 52)];
    assert_eq!(of(apart.to_vec()), [Some(1), Some(0)]);
    let mut named = one("cancel", &order(9), 50);
    named.call_id = Some("b".to_owned());
    assert_eq!(of(vec![named.clone()]), [Some(1)]);
    // The code may have another name for it than the model.
    named.name = "_cancel_order".to_owned();
    assert_eq!(of(vec![named]), [Some(1)]);
    // Injected and renamed arguments: the first one of the name.
    assert_eq!(
        of(vec![one("cancel", &json!({ "input": 7 }), 50)]),
        [Some(0)]
    );
    assert_eq!(
        of(vec![one("find", &json!({ "query": "y" }), 50)]),
        [Some(2)]
    );
    // Nobody had asked for it yet, or its result was told.
    let unasked = own("find", &json!({ "q": "x" }), (0, 0), gives(json!(1)));
    assert_eq!(of(vec![unasked]), [None]);
    assert_eq!(of(vec![one("find", &json!({ "q": "x" }), 150)]), [None]);
    assert_eq!(of(vec![one("other", &json!({}), 50)]), [None]);
}

#[test]
fn a_further_call_of_a_call_that_was_not_told_is_another_attempt() {
    let calls = [
        call("a", "cancel", &json!({ "order": 7 })),
        call("b", "cancel", &json!({ "order": 8 })),
    ];
    let wire = talk(&calls, &[("a", "ok"), ("b", "ok")]);
    let seven = json!({ "order": 7 });
    let all = vec![
        own("cancel", &seven, (50, 51), fails("busy")),
        own("cancel", &seven, (52, 53), gives(json!("ok"))),
        own(
            "cancel",
            &json!({ "order": 8 }),
            (54, 55),
            gives(json!("ok")),
        ),
    ];
    let cassette = cassette(&wire, all);
    let trace = &cassette["trace"];
    assert_eq!(trace["tool_calls"].as_array().unwrap().len(), 2);
    let busy = json!({ "error": { "type": "Declined", "text": "busy" } });
    assert_eq!(
        trace["tool_calls"][0]["own"],
        json!({ "attempts": [busy, { "result": "ok" }] })
    );
    assert_eq!(trace["tool_results"][0]["is_error"], false);
    let calls = cassette["session"]["tools"].as_array().unwrap().iter();
    let calls: Vec<Option<u64>> = calls.map(|one| one["call"].as_u64()).collect();
    assert_eq!(calls, [Some(0), Some(0), Some(1)]);
}

#[test]
fn a_result_that_no_request_tells_is_the_tools() {
    let mut wire = Wire::default();
    wire.chat(
        &json!([user("Pay.")]),
        &asks(&[call("a", "cancel", &json!({}))]),
    );
    let paid = own("cancel", &json!({}), (50, 60), gives(json!({ "paid": 18 })));
    let cassette = cassette(&wire, vec![paid]);
    let trace = &cassette["trace"];
    assert_eq!(trace["tool_results"][0]["is_error"], false);
    assert!(
        trace["tool_results"][0]["result"]
            .to_string()
            .contains("18"),
        "{trace}"
    );
    assert_eq!(trace["tool_calls"][0].get("own"), None);
    assert_eq!(cassette["session"].get("told"), None);
}

#[test]
fn the_codes_own_calls_are_noted_and_are_no_calls_of_the_run() {
    let wire = talk(
        &[call("a", "cancel", &json!({ "order": 7 }))],
        &[("a", "1")],
    );
    let mut inner = own("get_order", &json!({}), (52, 53), gives(json!(1)));
    inner.inside = Some(0);
    let all = vec![
        own("cancel", &json!({ "order": 7 }), (50, 60), gives(json!(1))),
        inner,
        // The context was lost, and one call was open; then nothing was open.
        own("get_order", &json!({}), (54, 55), gives(json!(1))),
        own("audit", &json!({}), (70, 71), gives(json!(1))),
    ];
    let cassette = cassette(&wire, all);
    assert_eq!(cassette["trace"]["tool_calls"].as_array().unwrap().len(), 1);
    let tools = cassette["session"]["tools"].as_array().unwrap();
    let known = tools
        .iter()
        .map(|one| (one["call"].as_u64(), one["inside"].as_u64()));
    assert_eq!(
        known.collect::<Vec<_>>(),
        [
            (Some(0), None),
            (None, Some(0)),
            (None, Some(0)),
            (None, None)
        ]
    );
}

#[test]
fn of_several_open_calls_it_is_not_known_which_one_made_another() {
    let calls = [
        call("a", "cancel", &json!({ "order": 7 })),
        call("b", "cancel", &json!({ "order": 8 })),
    ];
    let wire = talk(&calls, &[("a", "1"), ("b", "1")]);
    let all = vec![
        own("cancel", &json!({ "order": 7 }), (50, 60), gives(json!(1))),
        own("cancel", &json!({ "order": 8 }), (51, 61), gives(json!(1))),
        own("get_order", &json!({}), (52, 53), gives(json!(1))),
    ];
    let cassette = cassette(&wire, all);
    let tools = &cassette["session"]["tools"];
    // The two parallel calls are not inside of one another.
    assert_eq!(
        (tools[1].get("inside"), tools[1].get("ids_open")),
        (None, None)
    );
    assert_eq!(
        (tools[2].get("inside"), &tools[2]["ids_open"]),
        (None, &json!([0, 1]))
    );
}

/// An agent that acts in text: its requests offer no tools.
fn in_text(last: &Value) -> Wire {
    let ask = |messages: Value| json!({ "model": "gpt-5", "messages": messages });
    let mut wire = Wire::default();
    let first = says("cancel(7)");
    let path = "/v1/chat/completions";
    wire.answered(path, &ask(json!([user("Pay.")])), &chat_answer(&first));
    let mut request = ask(json!([user("Pay."), first, user("Observation: no")]));
    if last.get("tool_calls").is_some() {
        request["tools"] = json!([{ "type": "function", "function": { "name": "final_result" } }]);
    }
    wire.answered(path, &request, &chat_answer(last));
    wire
}

#[test]
fn the_calls_of_an_agent_that_acts_in_text_are_calls_of_the_run() {
    let all = || {
        let mut inner = own("get_order", &json!({}), (52, 53), gives(json!(1)));
        inner.inside = Some(0);
        vec![
            own("cancel", &json!({ "order": 7 }), (50, 60), fails("no")),
            inner,
            own(
                "cancel",
                &json!({ "order": 8 }),
                (70, 72),
                gives(json!({ "paid": 1 })),
            ),
            own("note", &json!({}), (150, 152), Ending::Left),
        ]
    };
    let cassette_of = |last: Value| cassette(&in_text(&last), all());
    let cassette = cassette_of(says("Done."));
    let trace = &cassette["trace"];
    let calls = trace["tool_calls"].as_array().unwrap().iter();
    let calls = calls.map(|call| (call["name"].as_str().unwrap(), call["step"].as_u64()));
    assert_eq!(
        calls.collect::<Vec<_>>(),
        [("cancel", Some(0)), ("cancel", Some(0)), ("note", Some(1))]
    );
    let results = trace["tool_results"].as_array().unwrap();
    let flags = results
        .iter()
        .map(|one| (one["call_index"].as_u64(), one["is_error"].as_bool()));
    assert_eq!(
        flags.collect::<Vec<_>>(),
        [(Some(0), Some(true)), (Some(1), Some(false))]
    );
    let tools = cassette["session"]["tools"].as_array().unwrap().iter();
    let known = tools.map(|one| (one["call"].as_u64(), one["in_text"] == true));
    assert_eq!(
        known.collect::<Vec<_>>(),
        [
            (Some(0), true),
            (None, false),
            (Some(1), true),
            (Some(2), true)
        ]
    );
    // An output tool ends the run, and is none that acts.
    let output = asks(&[call("a", "final_result", &json!({ "text": "Done." }))]);
    let ended = cassette_of(output);
    assert_eq!(ended["trace"]["tool_calls"].as_array().unwrap().len(), 4);
}

#[test]
fn where_tools_are_offered_the_code_acts_for_itself() {
    let mut wire = Wire::default();
    wire.chat(&json!([user("Pay.")]), &says("Done."));
    let cassette = cassette(
        &wire,
        vec![own("audit", &json!({}), (50, 51), gives(json!(1)))],
    );
    assert_eq!(cassette["trace"]["tool_calls"], json!([]));
    assert_eq!(cassette["session"]["tools"][0].get("call"), None);
}

#[test]
fn what_went_by_while_a_tool_ran_says_so() {
    let mut wire = talk(&[call("a", "ask", &json!({}))], &[("a", "1")]);
    let side = json!({ "model": "gpt-5", "messages": [system("Sum up."), user("x")] });
    let path = "/v1/chat/completions";
    wire.answered(path, &side, &chat_answer(&says("y")));
    let other = Outcome::Other {
        status: 200,
        media_type: None,
        body: Vec::new(),
    };
    wire.request("/v1/embeddings", &json!({}), other);
    // What is asked third and fourth, was asked while the tool ran.
    wire.observed[2].tick = 55;
    wire.observed[3].tick = 56;
    let cassette = cassette(
        &wire,
        vec![own("ask", &json!({}), (50, 60), gives(json!(1)))],
    );
    let session = &cassette["session"];
    let side = session["conversations"].as_array().unwrap();
    let side = side.iter().find(|one| one["role"] == "side").unwrap();
    assert_eq!(side["answers"][0]["during"], json!([0]));
    assert_eq!(session["others"][0]["during"], json!([0]));
    let main = &session["conversations"][0]["answers"];
    assert_eq!((main[0].get("during"), main[1].get("during")), (None, None));
}

#[test]
fn what_the_suite_answered_says_so() {
    let calls = [
        call("a", "cancel", &json!({})),
        call("b", "find", &json!({})),
    ];
    let wire = talk(&calls, &[("a", "1"), ("b", "timed out")]);
    let mut answered = own("cancel", &json!({}), (50, 51), gives(json!(1)));
    answered.by = Some(AnsweredBy::Suite);
    let mut struck = own("find", &json!({}), (52, 53), fails("timed out"));
    let mark = json!({ "fault": "slow desk", "kind": "hang" });
    struck.by = Some(AnsweredBy::Fault(mark.clone()));
    let cassette = cassette(&wire, vec![answered, struck]);
    let trace = &cassette["trace"];
    for call in [0, 1] {
        assert_eq!(trace["tool_calls"][call]["own"], json!({ "by": "suite" }));
        assert_eq!(cassette["session"]["tools"][call]["by"], "suite");
    }
    assert_eq!(trace["tool_results"][0].get("synthesized"), None);
    assert_eq!(trace["tool_results"][1]["synthesized"], mark);
    assert_eq!(cassette["session"]["tools"][1]["synthesized"], mark);
}

#[test]
fn a_call_that_a_model_asked_for_inside_of_another_is_inside_of_it() {
    let question = call("a", "ask", &json!({}));
    let mut wire = talk(&[question], &[("a", "7")]);
    let path = "/v1/chat/completions";
    let tools = json!([{ "type": "function", "function": { "name": "find" } }]);
    let begins =
        json!({ "model": "gpt-5", "messages": [system("Find."), user("Which?")], "tools": tools });
    let found = asks(&[call("b", "find", &json!({ "q": 1 }))]);
    wire.answered(path, &begins, &chat_answer(&found));
    wire.observed[2].tick = 55;
    let all = vec![
        own("ask", &json!({}), (50, 80), gives(json!(7))),
        // Its context was lost.
        own("find", &json!({ "q": 1 }), (60, 70), gives(json!(7))),
    ];
    let cassette = cassette(&wire, all);
    let tools = &cassette["session"]["tools"];
    assert_eq!(
        (&tools[1]["call"], &tools[1]["inside"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(tools[0].get("inside"), None);
}
