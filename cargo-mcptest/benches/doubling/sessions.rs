//! Paths over sessions of other shapes: votes, talks that the provider holds, calls at MCP servers, many tools.

use std::hint::black_box;

use mcptest_session::mcp::McpCall;
use mcptest_session::play::{Recording, ServerPlayer};
use mcptest_session::record::RunOptions;
use serde_json::{Value, json};

use crate::Row;
use crate::calls::cassette;
use crate::requests::{PATH, ask, body, messages, player, request};

/// One question that is answered so often, each time otherwise: each answer is a conversation of its own.
fn vote(count: usize) -> (Value, Vec<(String, String)>) {
    let answer = |number: usize| {
        let call = json!({ "call": { "id": format!("c{number}"), "name": "desk__get_order", "args": { "order": 7 } } });
        json!({ "role": "agent", "name": format!("a{number}"), "opening": "Which?", "answers": [{ "equal": [0, number], "parts": [call] }] })
    };
    let all: Vec<Value> = (0..count).map(answer).collect();
    let mut recorded = cassette(2);
    recorded["session"] = json!({ "version": "1.0", "conversations": all });
    let ask = |_| request(&[json!({ "role": "user", "content": "Which?" })]);
    (recorded, (0..count).map(ask).collect())
}

/// The requests of one talk that the provider holds: each has the result of the call before.
fn held_talk(calls: usize) -> Vec<(String, String)> {
    let tools = json!([{ "type": "function", "name": "desk__get_order" }, { "type": "function", "name": "desk__cancel_order" }]);
    let request = |call: usize| {
        let mut body = json!({ "model": "m", "tools": tools, "input": "Cancel all." });
        if let Some(before) = call.checked_sub(1) {
            let output = json!({ "type": "function_call_output", "call_id": format!("call_mcptest_{before}"), "output": format!("order {before}") });
            body["input"] = json!([output]);
            body["previous_response_id"] = format!("mcptest_0_{before}").into();
        }
        ("/openai/v1/responses".to_owned(), body.to_string())
    };
    (0..calls).map(request).collect()
}

/// What went by at the server of such a talk.
fn at_server(calls: usize) -> RunOptions {
    let mut options = RunOptions::default();
    options.mcp.servers.push("desk".to_owned());
    let recorded = cassette(calls);
    for (index, made) in recorded["trace"]["tool_calls"]
        .as_array()
        .unwrap()
        .iter()
        .enumerate()
    {
        let mut call = McpCall::default();
        "desk".clone_into(&mut call.server);
        made["name"].as_str().unwrap().clone_into(&mut call.tool);
        call.args = made["args"].clone();
        call.asked_at = 2 * index as u64 + 1;
        call.result =
            Some(json!({ "content": [{ "type": "text", "text": format!("order {index}") }] }));
        options.mcp.calls.push(call);
    }
    options
}

/// One answer of so many calls without identifiers, and the request that tells their results.
fn parallel(calls: usize) -> (Value, Vec<(String, String)>) {
    let mut recorded = cassette(calls);
    for call in recorded["trace"]["tool_calls"].as_array_mut().unwrap() {
        call["name"] = "get_order".into();
        call["step"] = 0.into();
    }
    let made = recorded["trace"]["tool_calls"].as_array().unwrap();
    let made = made
        .iter()
        .map(|call| json!({ "functionCall": { "name": "desk__get_order", "args": call["args"] } }));
    let made: Vec<Value> = made.collect();
    let response = json!({ "functionResponse": { "name": "desk__get_order", "response": { "output": "found" } } });
    let user = json!({ "role": "user", "parts": [{ "text": "Cancel all." }] });
    let told = [
        user.clone(),
        json!({ "role": "model", "parts": made }),
        json!({ "role": "user", "parts": vec![response; calls] }),
    ];
    let bodies = [json!({ "contents": [user] }), json!({ "contents": told })];
    let path = "/gemini/v1beta/models/m:generateContent";
    (
        recorded,
        bodies
            .map(|body| (path.to_owned(), body.to_string()))
            .to_vec(),
    )
}

/// One answer of so many equal calls, whose results the client tells in another order than that in which the server gave
/// them; and what went by at the server.
fn reordered(calls: usize) -> (Value, Vec<(String, String)>, RunOptions) {
    let mut recorded = cassette(calls);
    for call in recorded["trace"]["tool_calls"].as_array_mut().unwrap() {
        (call["name"], call["step"]) = ("get_order".into(), 0.into());
        call["args"] = json!({});
    }
    let mut talk = messages(calls);
    let (mut made, mut told) = (talk[1].clone(), Vec::new());
    made["tool_calls"] = json!([]);
    for (index, pair) in talk[1..].chunks(2).enumerate() {
        let mut call = pair[0]["tool_calls"][0].clone();
        call["function"] = json!({ "name": "desk__get_order", "arguments": "{}" });
        made["tool_calls"].as_array_mut().unwrap().push(call);
        let mut result = pair[1].clone();
        result["content"] = format!("order {}", calls - 1 - index).into();
        told.push(result);
    }
    talk.truncate(1);
    let first = request(&talk);
    talk.extend(std::iter::once(made).chain(told));
    let mut options = at_server(calls);
    for call in &mut options.mcp.calls {
        (call.args, call.asked_at) = (json!({}), 1);
        "get_order".clone_into(&mut call.tool);
    }
    (recorded, vec![first, request(&talk)], options)
}

/// So many requests whose openings, system prompts and calls are not those that were recorded.
fn changed(count: usize) -> (Value, Vec<(String, String)>) {
    let conversation = |number: usize| json!({ "role": "agent", "name": format!("a{number}"), "system_prompt": "Be kind.", "opening": format!("Question {number}?"), "answers": [{ "parts": [{ "text": format!("Answer {number}.") }] }] });
    let all: Vec<Value> = (0..count).map(conversation).collect();
    let mut recorded = cassette(2);
    recorded["session"] = json!({ "version": "1.0", "conversations": all });
    let ask = |number: usize| {
        let user = json!({ "role": "user", "content": format!("Tell me {number}!") });
        request(&[json!({ "role": "system", "content": "Be kind." }), user])
    };
    (recorded, (0..count).map(ask).collect())
}

/// So many conversations of Gemini with one opening, whose calls have no identifiers, and the second request of each.
fn nameless(count: usize) -> (Value, Vec<(String, String)>) {
    let call = |number: usize| json!({ "name": "desk__get_order", "args": { "order": number } });
    let conversation = |number: usize| json!({ "role": "agent", "name": format!("a{number}"), "opening": "Look.", "answers": [{ "parts": [{ "call": call(number) }] }, { "parts": [{ "text": "Done." }] }] });
    let all: Vec<Value> = (0..count).map(conversation).collect();
    let mut recorded = cassette(2);
    recorded["session"] = json!({ "version": "1.0", "conversations": all });
    let ask = |number: usize| {
        let response = json!({ "name": "desk__get_order", "response": { "output": "found" } });
        let contents = json!([
            { "role": "user", "parts": [{ "text": "Look." }] },
            { "role": "model", "parts": [{ "functionCall": call(number) }] },
            { "role": "user", "parts": [{ "functionResponse": response }] },
        ]);
        let path = "/gemini/v1beta/models/m:generateContent".to_owned();
        (path, json!({ "contents": contents }).to_string())
    };
    (recorded, (0..count).map(ask).collect())
}

/// Plays calls at a server. `args`: of a call as it was recorded, and as it is made now.
fn at_played_server(calls: usize, args: fn(usize) -> (Value, Value)) -> Box<dyn FnMut()> {
    let mut recorded = cassette(calls);
    let made = recorded["trace"]["tool_calls"].as_array_mut().unwrap();
    for (index, call) in made.iter_mut().enumerate() {
        (call["name"], call["args"]) = ("get_order".into(), args(index).0);
    }
    let recording = Recording::from_cassette(&recorded).unwrap();
    Box::new(move || {
        let desk = ServerPlayer::new(&recording, None).unwrap();
        for index in 0..calls {
            black_box(desk.call("get_order", &args(index).1));
        }
    })
}

/// A recording that offers so many tools, and a request that does.
fn offered(tools: usize) -> (Value, (String, String)) {
    let names = || (0..tools).map(|number| format!("tool_{number}"));
    let own = names().map(|name| json!({ "name": name, "server": "desk", "input_schema": {} }));
    let mut recorded = cassette(2);
    recorded["tools"] = own.collect();
    let offered = names().map(|name| json!({ "type": "function", "function": { "name": format!("desk__{name}"), "parameters": {} } }));
    let mut asked = body(&messages(0));
    asked["tools"] = offered.collect();
    (recorded, (PATH.to_owned(), asked.to_string()))
}

pub(crate) fn rows() -> Vec<Row> {
    [talks(), servers(), changes()].concat()
}

/// Questions asked often, and long talks.
fn talks() -> Vec<Row> {
    vec![
        Row::new(
            "one question asked often is played",
            "requests",
            250,
            |count| {
                let (cassette, requests) = vote(count);
                Box::new(move || ask(&player(&cassette), &requests))
            },
        ),
        Row::new(
            "a session of one question asked often is written",
            "requests",
            250,
            |count| {
                let (cassette, requests) = vote(count);
                let player = player(&cassette);
                ask(&player, &requests);
                Box::new(move || _ = black_box(player.run(&RunOptions::default())))
            },
        ),
        Row::new(
            "a talk that the provider holds is played",
            "calls",
            250,
            |calls| {
                let (cassette, requests) = (cassette(calls), held_talk(calls));
                Box::new(move || ask(&player(&cassette), &requests))
            },
        ),
        Row::new(
            "a talk with calls at a server is written",
            "calls",
            1_000,
            |calls| {
                let player = player(&cassette(calls));
                ask(&player, &held_talk(calls));
                let options = at_server(calls);
                Box::new(move || _ = black_box(player.run(&options)))
            },
        ),
        Row::new(
            "one answer of many calls is written",
            "calls",
            500,
            |calls| {
                let (cassette, request) = parallel(calls);
                let player = player(&cassette);
                ask(&player, &request);
                Box::new(move || _ = black_box(player.run(&RunOptions::default())))
            },
        ),
        Row::new("many tools are offered", "tools", 500, |tools| {
            let (cassette, request) = offered(tools);
            Box::new(move || ask(&player(&cassette), std::slice::from_ref(&request)))
        }),
    ]
}

/// What differs from the recording.
fn changes() -> Vec<Row> {
    vec![
        Row::new("calls with fractions are played", "calls", 250, |calls| {
            at_played_server(calls, |index| {
                let args = json!({ "order": index, "price": 0.5 });
                (args.clone(), args)
            })
        }),
        Row::new(
            "calls without their secrets are played",
            "calls",
            250,
            |calls| {
                at_played_server(calls, |index| {
                    let text = |name: &str| json!({ "to": name, "text": format!("Dear {name}, order {index} was sent.") });
                    (text("[redacted NAME]"), text("Ann"))
                })
            },
        ),
        Row::new("calls that were not recorded", "calls", 250, |calls| {
            at_played_server(calls, |index| {
                (json!({ "order": index }), json!({ "id": index }))
            })
        }),
        Row::new(
            "requests of which none was recorded",
            "requests",
            250,
            |count| {
                let (cassette, requests) = changed(count);
                Box::new(move || ask(&player(&cassette), &requests))
            },
        ),
        Row::new(
            "conversations without identifiers are played",
            "requests",
            250,
            |count| {
                let (cassette, requests) = nameless(count);
                Box::new(move || ask(&player(&cassette), &requests))
            },
        ),
    ]
}

/// What went by at MCP servers.
fn servers() -> Vec<Row> {
    vec![
        Row::new(
            "equal calls at a server are written",
            "calls",
            250,
            |calls| {
                let (cassette, requests, options) = reordered(calls);
                let player = player(&cassette);
                ask(&player, &requests);
                Box::new(move || _ = black_box(player.run(&options)))
            },
        ),
        Row::new(
            "resources of a server are played",
            "requests",
            250,
            |count| {
                let params = |number: usize| json!({ "uri": format!("file:///{number}") });
                let answer = |number| json!({ "method": "resources/read", "params": params(number), "result": { "contents": [] } });
                let answers: Vec<Value> = (0..count).map(answer).collect();
                let mut recorded = cassette(2);
                recorded["session"] =
                    json!({ "version": "1.0", "mcp": [{ "server": "desk", "answers": answers }] });
                let request = |number| {
                    let message = json!({ "jsonrpc": "2.0", "id": number, "method": "resources/read", "params": params(number) });
                    ("/mcp/desk".to_owned(), message.to_string())
                };
                let requests: Vec<(String, String)> = (0..count).map(request).collect();
                Box::new(move || ask(&player(&recorded), &requests))
            },
        ),
    ]
}
