//! Answers of models that are cut into messages in one way where they are written and in another where the
//! next call is sent them, as by agents over the Responses API.

use serde_json::{Value, json};

use super::strangers::spans::{import, span};
use super::strangers::{call, calls, closing, tokens};

/// A message of `OpenInference`, at a place among its attributes.
fn put(into: &mut Value, place: &str, message: &Value) {
    for (key, value) in message.as_object().unwrap() {
        if key != "calls" {
            into[format!("{place}.message.{key}")] = value.clone();
        }
    }
    for (index, id) in message["calls"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        let place = format!("{place}.message.tool_calls.{index}.tool_call");
        into[format!("{place}.id")] = id.clone();
        into[format!("{place}.function.name")] = "find".into();
        into[format!("{place}.function.arguments")] = json!({ "id": id }).to_string().into();
    }
}

fn model(at: u64, input: &[Value], output: &[Value]) -> Value {
    let mut all = json!({ "openinference.span.kind": "LLM", "llm.model_name": "m", "llm.token_count.prompt": 10, "llm.token_count.completion": 1 });
    for (messages, of) in [
        (input, "llm.input_messages"),
        (output, "llm.output_messages"),
    ] {
        for (index, message) in messages.iter().enumerate() {
            put(&mut all, &format!("{of}.{index}"), message);
        }
    }
    span(at, 0, "response", &all)
}

fn user() -> Value {
    json!({ "role": "user", "content": "go" })
}

fn asks(said: &str, ids: &[&str]) -> Value {
    match said {
        "" => json!({ "role": "assistant", "calls": ids }),
        _ => json!({ "role": "assistant", "content": said, "calls": ids }),
    }
}

fn result(id: &str) -> Value {
    json!({ "role": "tool", "content": format!("of {id}"), "tool_call_id": id })
}

#[test]
fn an_answer_is_one_however_it_is_cut() {
    let cuts: [&[Value]; 4] = [
        &[asks("Looking.", &["a", "b"])],
        &[asks("Looking.", &[]), asks("", &["a"]), asks("", &["b"])],
        &[asks("Looking.", &["a"]), asks("", &["b"])],
        &[asks("", &["a"]), asks("", &["b"]), asks("Looking.", &[])],
    ];
    let results: [&[Value]; 2] = [&[result("a"), result("b")], &[result("b"), result("a")]];
    for written in cuts {
        for sent in cuts {
            for results in results {
                let input: Vec<Value> = [&[user()], sent, results].concat();
                let spans = [
                    model(1, &[user()], written),
                    model(2, &input, &[asks("Found.", &[])]),
                ];
                let (status, said, runs) = import(&spans);
                assert_eq!((status, runs.len()), (0, 1), "{said}");
                let run = &runs[0];
                let expected = ["a", "b"].map(|id| {
                    call(
                        "find",
                        &json!({ "id": id }).to_string(),
                        &format!("of {id}"),
                        None,
                    )
                });
                assert_eq!(calls(run), expected, "{run:#}");
                assert_eq!((closing(run), tokens(run)), ("Found.", (20, 2)), "{run:#}");
                let steps = run["trace"]["conversation"]["steps"].as_array();
                assert_eq!(steps.map(Vec::len), Some(2), "{run:#}");
                let said = run["trace"]["conversation"]["turns"].to_string();
                assert_eq!(said.matches("Looking.").count(), 1, "{run:#}");
            }
        }
    }
}

/// The results may stand between the calls, and a tool's result may be cut from a later request.
#[test]
fn a_history_that_is_edited_is_no_second_history() {
    let first = model(1, &[user()], &[asks("", &["a"]), asks("", &["b"])]);
    let between = [
        user(),
        asks("", &["a"]),
        result("a"),
        asks("", &["b"]),
        result("b"),
    ];
    let second = model(2, &between, &[asks("", &["c"])]);
    let mut cleared = between.to_vec();
    cleared[2]["content"] = "(cleared)".into();
    cleared.extend([asks("", &["c"]), result("c")]);
    let summed = vec![
        json!({ "role": "user", "content": "so far: a, b" }),
        asks("", &["c"]),
        result("c"),
    ];
    for (later, users) in [(cleared, 1), (summed, 2)] {
        let spans = [
            first.clone(),
            second.clone(),
            model(3, &later, &[asks("Found.", &[])]),
        ];
        let (status, said, runs) = import(&spans);
        assert_eq!((status, runs.len()), (0, 1), "{said}");
        let run = &runs[0];
        let found: Vec<String> = calls(run).into_iter().map(|(.., text, _)| text).collect();
        assert_eq!(found, ["of a", "of b", "of c"], "{run:#}");
        assert_eq!(tokens(run), (30, 3), "{run:#}");
        let turns = run["trace"]["conversation"]["turns"].as_array().unwrap();
        let own = turns.iter().filter(|turn| turn["role"] == "user").count();
        assert_eq!(own, users, "{run:#}");
    }
}

/// Several messages of an answer by the conventions: choices, unless the next call is sent them, or their
/// tools ran.
#[test]
fn several_messages_are_choices_until_one_is_gone_on_with() {
    let says =
        |part: Value| json!({ "role": "assistant", "parts": [part], "finish_reason": "stop" });
    let asks = |id: &str| {
        says(json!({ "type": "tool_call", "id": id, "name": "find", "arguments": { "id": id } }))
    };
    let text = |text: &str| says(json!({ "type": "text", "content": text }));
    let user = || json!({ "role": "user", "parts": [{ "type": "text", "content": "go" }] });
    let chat = |at: u64, input: Value, output: Value| {
        let all = json!({ "gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.input.messages": input.to_string(),
            "gen_ai.output.messages": output.to_string() });
        span(at, 0, "chat", &all)
    };
    let first = chat(1, json!([user()]), json!([asks("a"), asks("b")]));
    let tool = |at: u64, id: &str| {
        span(
            at,
            0,
            "execute_tool find",
            &json!({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find",
            "gen_ai.tool.call.id": id, "gen_ai.tool.call.result": format!("of {id}") }),
        )
    };
    let done = |history: Value| chat(9, history, json!([text("Found."), text("Or not.")]));
    let history = json!([user(), asks("a"), asks("b")]);
    for (spans, expected) in [
        (vec![first.clone(), done(history)], vec!["a", "b"]),
        (
            vec![first.clone(), tool(2, "a"), tool(3, "b")],
            vec!["a", "b"],
        ),
        (
            vec![first.clone(), done(json!([user(), asks("a")]))],
            vec!["a"],
        ),
    ] {
        let (status, said, runs) = import(&spans);
        assert_eq!((status, runs.len()), (0, 1), "{said}");
        let asked: Vec<Value> = runs[0]["trace"]["tool_calls"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["args"]["id"].clone())
            .collect();
        assert_eq!(asked, expected, "{:#}", runs[0]);
        assert!(!runs[0].to_string().contains("Or not."));
        assert_eq!(
            said.contains("other choices left out"),
            spans.len() == 2,
            "{said}"
        );
    }
}
