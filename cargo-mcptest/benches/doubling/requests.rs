//! Paths over the requests of a session: what is played, and what is written down of it.

use std::hint::black_box;

use mcptest_session::endpoint::{Answerer as _, Incoming};
use mcptest_session::play::{PlayOptions, Player, Recording};
use mcptest_session::protocol::{self, Route};
use mcptest_session::record::RunOptions;
use serde_json::{Value, json};
use tokio::runtime::Builder;

use crate::Row;
use crate::calls::cassette;

pub(crate) const PATH: &str = "/openai/v1/chat/completions";

/// The messages of a talk with so many calls.
pub(crate) fn messages(calls: usize) -> Vec<Value> {
    let mut all = vec![json!({ "role": "user", "content": "Cancel all." })];
    let recorded = cassette(calls);
    let (made, results) = (
        &recorded["trace"]["tool_calls"],
        &recorded["trace"]["tool_results"],
    );
    for index in 0..calls {
        let (call, id) = (&made[index], format!("c{index}"));
        let name = format!("desk__{}", call["name"].as_str().unwrap());
        let function = json!({ "name": name, "arguments": call["args"].to_string() });
        all.push(json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": id, "type": "function", "function": function }] }));
        let text = &results[index]["result"]["content"][0]["text"];
        all.push(json!({ "role": "tool", "tool_call_id": id, "content": text }));
    }
    all
}

/// A request with these messages: its path and its body.
pub(crate) fn request(messages: &[Value]) -> (String, String) {
    (PATH.to_owned(), body(messages).to_string())
}

pub(crate) fn body(messages: &[Value]) -> Value {
    let tools = ["get_order", "cancel_order"].map(|tool| {
        json!({ "type": "function", "function": { "name": format!("desk__{tool}"), "parameters": { "type": "object" } } })
    });
    json!({ "model": "m", "messages": messages, "tools": tools })
}

/// Asks a player, one request after the other.
pub(crate) fn ask(player: &Player, requests: &[(String, String)]) {
    let runtime = Builder::new_current_thread().build().unwrap();
    for (number, (path, body)) in requests.iter().enumerate() {
        let incoming = Incoming::post(number, path, body.clone());
        black_box(runtime.block_on(player.answer(incoming)));
    }
}

pub(crate) fn player(cassette: &Value) -> Player {
    Player::new(
        Recording::from_cassette(cassette).unwrap(),
        PlayOptions::default(),
    )
}

/// One request with the whole talk before it.
fn last_request(calls: usize) -> Box<dyn FnMut()> {
    let (cassette, request) = (cassette(calls), request(&messages(calls)));
    Box::new(move || {
        let player = player(&cassette);
        ask(&player, std::slice::from_ref(&request));
        black_box(player.played());
    })
}

/// A recording of so many sub-agents that answer one question each, and the requests that ask them.
fn conversations(count: usize) -> (Value, Vec<(String, String)>) {
    let question = |number: usize| format!("Question {number}?");
    let answers = |number: usize| json!([{ "parts": [{ "text": format!("Answer {number}.") }] }]);
    let conversation = |number: usize| json!({ "role": "agent", "name": format!("a{number}"), "opening": question(number), "answers": answers(number) });
    let mut recorded = cassette(2);
    let all: Vec<Value> = (0..count).map(conversation).collect();
    recorded["session"] = json!({ "version": "1.0", "conversations": all });
    let ask = |number: usize| request(&[json!({ "role": "user", "content": question(number) })]);
    (recorded, (0..count).map(ask).collect())
}

/// The requests of one talk with a model of Gemini, whose calls have no identifiers: each request holds all before it.
fn growing_talk(calls: usize) -> Vec<(String, String)> {
    let mut contents = vec![json!({ "role": "user", "parts": [{ "text": "Cancel all." }] })];
    let mut requests = Vec::new();
    for call in 0..calls {
        let tools = json!([{ "functionDeclarations": [{ "name": "desk__get_order" }, { "name": "desk__cancel_order" }] }]);
        let body = json!({ "contents": contents, "tools": tools }).to_string();
        requests.push(("/gemini/v1beta/models/m:generateContent".to_owned(), body));
        let name = ["desk__get_order", "desk__cancel_order"][call % 2];
        let args = json!({ "order_id": format!("W{:07}", call / 2) });
        contents.push(json!({ "role": "model", "parts": [{ "functionCall": { "name": name, "args": args } }] }));
        let answer = json!({ "output": format!("order {call}") });
        contents.push(json!({ "role": "user", "parts": [{ "functionResponse": { "name": name, "response": answer } }] }));
    }
    requests
}

pub(crate) fn rows() -> Vec<Row> {
    vec![
        Row::new("a request is read", "messages", 1_000, |count| {
            let (body, protocol) = (body(&messages(count / 2)), protocol::ALL[0]);
            Box::new(move || _ = black_box(protocol.parse_request(&Route::default(), &body)))
        }),
        Row::new(
            "a recording is made ready for playing",
            "calls",
            500,
            |calls| {
                let cassette = cassette(calls);
                Box::new(move || _ = black_box(Recording::from_cassette(&cassette)))
            },
        ),
        Row::new(
            "one request after many turns is played",
            "calls",
            500,
            last_request,
        ),
        Row::new(
            "a long talk is played and written, by its bytes",
            "bytes",
            400_000,
            |bytes| {
                let calls = (bytes / 100).isqrt();
                let (cassette, requests) = (cassette(calls), growing_talk(calls));
                Box::new(move || {
                    let player = player(&cassette);
                    ask(&player, &requests);
                    _ = black_box(player.run(&RunOptions::default()));
                })
            },
        ),
        Row::new("many conversations are played", "requests", 250, |count| {
            let (cassette, requests) = conversations(count);
            Box::new(move || ask(&player(&cassette), &requests))
        }),
        Row::new(
            "a session of many conversations is written",
            "requests",
            250,
            |count| {
                let (cassette, requests) = conversations(count);
                let player = player(&cassette);
                ask(&player, &requests);
                Box::new(move || _ = black_box(player.run(&RunOptions::default())))
            },
        ),
    ]
}
