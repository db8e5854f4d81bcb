//! Answers as streams, and the formats that have no tests of their own.

use std::io::Read as _;

use scripted_provider::Provider;
use serde_json::{Value, json};

use crate::{post_messages, send, start};

fn provider(more: &Value) -> Provider {
    let calls =
        json!([{ "name": "find", "args": { "q": "a" } }, { "name": "find", "args": { "q": "b" } }]);
    let mut script = json!({ "models": ["m"], "conversations": [{ "user": "go", "runs": [[
        { "text": "Looking for it.", "calls": calls, "usage": { "prompt": 9, "completion": 4 } }, { "text": "Found." },
    ]] }] });
    for (key, value) in more.as_object().unwrap() {
        script[key] = value.clone();
    }
    start(&script)
}

/// The path, the body and the header with the key of a request in each format.
fn requests() -> [(&'static str, Value); 4] {
    let messages = json!([{ "role": "user", "content": "go" }]);
    let contents = json!([{ "role": "user", "parts": [{ "text": "go" }] }]);
    [
        (
            "/v1/chat/completions",
            json!({ "model": "m", "stream": true, "stream_options": { "include_usage": true }, "messages": messages }),
        ),
        (
            "/v1/responses",
            json!({ "model": "m", "stream": true, "input": messages }),
        ),
        (
            "/v1/messages",
            json!({ "model": "m", "max_tokens": 9, "stream": true, "messages": messages }),
        ),
        (
            "/v1beta/models/m:streamGenerateContent?alt=sse",
            json!({ "contents": contents }),
        ),
    ]
}

fn streamed(provider: &Provider, path: &str, body: &Value, take: &str) -> (String, Vec<u8>) {
    let mut answer = ureq::post(format!("{}{path}", provider.url()))
        .header("authorization", "Bearer k")
        .header("x-api-key", "k")
        .header("x-goog-api-key", "k")
        .header("anthropic-version", "2023-06-01")
        .header("accept-encoding", take)
        .content_type("application/json")
        .send(body.to_string())
        .unwrap();
    let kind = answer.headers()["content-type"]
        .to_str()
        .unwrap()
        .to_owned();
    let mut bytes = Vec::new();
    // A stream that breaks off gives what came.
    let _ = answer.body_mut().as_reader().read_to_end(&mut bytes);
    (kind, bytes)
}

#[test]
fn every_format_streams_its_answer_in_pieces() {
    let provider = provider(&json!({}));
    for (path, body) in requests() {
        let (kind, bytes) = streamed(&provider, path, &body, "identity");
        assert_eq!(kind, "text/event-stream; charset=utf-8", "{path}");
        let text = String::from_utf8(bytes).unwrap();
        let datas = text.lines().filter_map(|line| line.strip_prefix("data: "));
        let datas: Vec<Value> = datas
            .filter_map(|data| serde_json::from_str(data).ok())
            .collect();
        assert!(datas.len() >= 5, "{path}: {text}");
        assert!(text.contains("find"), "{path}");
        // Not in one piece.
        assert!(
            text.contains("Looking") && !text[..text.len() / 3].contains("Looking for it."),
            "{path}"
        );
    }
}

#[test]
fn a_stream_that_is_cut_ends_in_the_middle() {
    let script = json!({ "conversations": [{ "user": "go", "runs": [[{ "text": "Looking for it.", "before": [{ "cut": true }] }]] }] });
    let provider = provider(&script);
    let (path, body) = &requests()[0];
    let (_, cut) = streamed(&provider, path, body, "identity");
    let (_, whole) = streamed(&provider, path, body, "identity");
    assert!(!cut.is_empty() && cut.len() < whole.len());
    assert!(whole.starts_with(&cut));
    assert!(whole.ends_with(b"data: [DONE]\n\n"));
}

#[test]
fn answers_are_compressed_for_clients_that_take_it() {
    let packed = provider(&json!({ "gzip": true }));
    let (path, body) = &requests()[1];
    let (_, plain) = streamed(&packed, path, body, "identity");
    let (_, bytes) = streamed(&packed, path, body, "br, gzip");
    let bytes = match bytes.as_slice() {
        // Clients take it apart themselves, or leave it.
        [0x1f, 0x8b, ..] => {
            let mut decoded = Vec::new();
            flate2::read::GzDecoder::new(bytes.as_slice())
                .read_to_end(&mut decoded)
                .unwrap();
            decoded
        }
        _ => bytes,
    };
    assert_eq!(bytes.len(), plain.len());
}

#[test]
fn responses_and_contents_are_checked_and_go_on() {
    let provider = provider(&json!({}));
    let ask = |path: &str, body: &Value| -> Value {
        let (_, bytes) = streamed(&provider, path, body, "identity");
        serde_json::from_slice(&bytes).unwrap()
    };
    let user = json!({ "role": "user", "content": "go" });
    let first = ask("/v1/responses", &json!({ "model": "m", "input": [user] }));
    let output = first["output"].as_array().unwrap();
    assert_eq!(output.len(), 3);
    let mut input = vec![user.clone()];
    input.extend(output.iter().cloned());
    for call in &output[1..] {
        input.push(
            json!({ "type": "function_call_output", "call_id": call["call_id"], "output": "x" }),
        );
    }
    let last = ask("/v1/responses", &json!({ "model": "m", "input": input }));
    assert_eq!(last["output"][0]["content"][0]["text"], "Found.");

    // What was answered may be named instead of sent again.
    let references = output
        .iter()
        .map(|item| json!({ "type": "item_reference", "id": item["id"] }));
    let results = input[4..].iter().cloned();
    let by_items: Vec<Value> = [user.clone()]
        .into_iter()
        .chain(references)
        .chain(results.clone())
        .collect();
    let by_id: Vec<Value> = results.collect();
    for more in [
        json!({ "model": "m", "input": by_items }),
        json!({ "model": "m", "input": by_id, "previous_response_id": first["id"] }),
    ] {
        let last = ask("/v1/responses", &more);
        assert_eq!(last["output"][0]["content"][0]["text"], "Found.", "{last}");
    }

    let path = "/v1beta/models/m:generateContent";
    let user = json!({ "role": "user", "parts": [{ "text": "go" }] });
    let first = ask(path, &json!({ "contents": [user] }));
    let content = first["candidates"][0]["content"].clone();
    let responses = content["parts"].as_array().unwrap().iter().skip(1).map(|part| {
        let call = &part["functionCall"];
        json!({ "functionResponse": { "id": call["id"], "name": call["name"], "response": { "result": "x" } } })
    });
    let responses: Vec<Value> = responses.collect();
    let results = json!({ "role": "user", "parts": responses });
    let last = ask(path, &json!({ "contents": [user, content, results] }));
    assert_eq!(
        last["candidates"][0]["content"]["parts"][0]["text"],
        "Found."
    );
}

#[test]
fn results_by_name_and_pieces_of_an_answer_are_taken() {
    let provider = provider(&json!({}));
    let ask = |contents: &Value| {
        let url = format!("{}/v1beta/models/m:generateContent", provider.url());
        let headers = [
            ("x-goog-api-key", "k"),
            ("content-type", "application/json"),
        ];
        send(&url, &headers, &json!({ "contents": contents }).to_string()).unwrap()
    };
    let user = json!({ "role": "user", "parts": [{ "text": "go" }] });
    let first = ask(&json!([user])).ok();
    let parts = first["candidates"][0]["content"]["parts"].clone();
    let piece = |part: &Value| json!({ "role": "model", "parts": [part] });
    let mut contents = vec![user];
    contents.extend(parts.as_array().unwrap().iter().map(piece));
    let response = json!({ "functionResponse": { "name": "find", "response": { "result": "x" } } });
    let results = |all: &[&Value]| json!([{ "role": "user", "parts": all }]);
    let talk = |more: Value| json!([contents.clone(), more.as_array().unwrap().clone()].concat());
    let last = ask(&talk(results(&[&response, &response]))).ok();
    assert_eq!(
        last["candidates"][0]["content"]["parts"][0]["text"],
        "Found."
    );
    let more = ask(&talk(results(&[&response, &response, &response])));
    assert!(
        more.error(400)
            .contains("comes immediately after a function call")
    );
}

#[test]
fn a_thread_holds_the_talk() {
    let provider = provider(&json!({}));
    let tools = json!([{ "name": "find", "input_schema": { "type": "object" } }]);
    let user = json!([{ "role": "user", "content": "go" }]);
    let begin = json!({ "model": "m", "max_tokens": 9, "tools": tools, "thread": { "type": "create" }, "messages": user });
    let first = post_messages(&provider, &begin).ok();
    let calls = first["content"].as_array().unwrap().iter().skip(1);
    let results: Vec<Value> = calls
        .map(|call| json!({ "type": "tool_result", "tool_use_id": call["id"], "content": "x" }))
        .collect();
    assert_eq!(results.len(), 2);
    let go_on = |id: &Value| {
        let thread = json!({ "type": "continue", "previous_message_id": id });
        let messages = json!([{ "role": "user", "content": results }]);
        json!({ "model": "m", "max_tokens": 9, "thread": thread, "messages": messages })
    };
    let last = post_messages(&provider, &go_on(&first["id"])).ok();
    assert_eq!(last["content"][0]["text"], "Found.");
    let unknown = post_messages(&provider, &go_on(&json!("msg_of_nobody")));
    assert_eq!(
        unknown.error(404),
        "thread: there is no message 'msg_of_nobody'"
    );
    let mut again = go_on(&first["id"]);
    again["tools"] = tools;
    let again = post_messages(&provider, &again);
    assert!(
        again
            .error(400)
            .starts_with("tools: a request that continues a thread")
    );
    let mut other = begin;
    other["thread"]["type"] = "fork".into();
    let other = post_messages(&provider, &other);
    assert_eq!(
        other.error(400),
        "thread.type: Input should be 'create' or 'continue'"
    );
}

#[test]
fn tokens_and_the_model_are_told_in_every_format_and_way() {
    let usage = json!({ "prompt": 120, "completion": 30, "cached": 100, "reasoning": 20 });
    let script = json!({ "conversations": [{ "user": "go", "answers_as": "m-2025", "runs": [[{ "text": "Found.", "usage": usage }]] }] });
    // What each format says of prompt, cache, completion and reasoning.
    let places = [
        [
            ("/usage/prompt_tokens", 120),
            ("/usage/prompt_tokens_details/cached_tokens", 100),
            ("/usage/completion_tokens", 30),
            ("/usage/completion_tokens_details/reasoning_tokens", 20),
        ],
        [
            ("/usage/input_tokens", 120),
            ("/usage/input_tokens_details/cached_tokens", 100),
            ("/usage/output_tokens", 30),
            ("/usage/output_tokens_details/reasoning_tokens", 20),
        ],
        [
            ("/usage/input_tokens", 20),
            ("/usage/cache_read_input_tokens", 100),
            ("/usage/output_tokens", 30),
            ("/usage/output_tokens_details/thinking_tokens", 20),
        ],
        [
            ("/usageMetadata/promptTokenCount", 120),
            ("/usageMetadata/cachedContentTokenCount", 100),
            ("/usageMetadata/candidatesTokenCount", 10),
            ("/usageMetadata/thoughtsTokenCount", 20),
        ],
    ];
    let provider = provider(&script);
    for ((path, body), places) in requests().into_iter().zip(places) {
        let mut whole = body.clone();
        for key in ["stream", "stream_options"] {
            whole.as_object_mut().unwrap().remove(key);
        }
        let plain = path.replace("streamGenerateContent?alt=sse", "generateContent");
        let (_, answer) = streamed(&provider, &plain, &whole, "identity");
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert!(
            [&answer["model"], &answer["modelVersion"]].contains(&&json!("m-2025")),
            "{answer}"
        );
        let (_, pieces) = streamed(&provider, path, &body, "identity");
        let pieces = String::from_utf8(pieces).unwrap();
        assert!(pieces.contains("\"m-2025\""), "{pieces}");
        for (place, count) in places {
            assert_eq!(
                answer.pointer(place),
                Some(&json!(count)),
                "{place}: {answer}"
            );
            let key = place.rsplit('/').next().unwrap();
            assert!(
                pieces.contains(&format!("\"{key}\":{count}")),
                "{key}: {pieces}"
            );
        }
    }
}
