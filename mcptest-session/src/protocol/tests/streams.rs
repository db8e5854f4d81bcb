//! Streams, as providers send them.

use serde_json::{Value, json};

use super::assert_has_each_format;
use crate::exchange::{CallTokens, ModelResponse, Part, Stop};
use crate::protocol::{self, Assembled, Framing};

fn stream(name: &str, events: &[Value]) -> Assembled {
    let events = events.iter().map(|data| {
        let data = data
            .as_str()
            .map_or_else(|| data.to_string(), str::to_owned);
        format!("data: {data}\n\n")
    });
    let bytes: String = events.collect();
    protocol::assembled(
        protocol::named(name).unwrap(),
        Some(Framing::Events),
        bytes.as_bytes(),
        false,
    )
}

fn parse_response(name: &str, assembled: &Assembled) -> ModelResponse {
    let body = assembled.body.as_ref().unwrap();
    protocol::named(name).unwrap().parse_response(body).unwrap()
}

fn chunk(delta: &Value, reason: Option<&str>) -> Value {
    json!({ "id": "c-1", "object": "chat.completion.chunk", "model": "gpt-5", "usage": null,
        "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] })
}

fn piece(index: u32, id: Option<&str>, name: Option<&str>, args: &str) -> Value {
    chunk(
        &json!({ "tool_calls": [{ "index": index, "id": id, "function": { "name": name, "arguments": args } }] }),
        None,
    )
}

#[test]
fn parallel_calls_of_a_chat_come_in_pieces() {
    let assembled = stream(
        "openai_chat",
        &[
            chunk(&json!({ "role": "assistant", "content": null }), None),
            piece(0, Some("a"), Some("find"), ""),
            piece(0, None, None, "{\"q\":"),
            piece(1, Some("b"), Some("find"), "{}"),
            piece(0, None, None, "1}"),
            chunk(&json!({}), Some("tool_calls")),
            json!({ "id": "c-1", "choices": [], "usage": { "prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13,
                "prompt_tokens_details": { "cached_tokens": 3 } } }),
            "[DONE]".into(),
        ],
    );
    assert!(assembled.ended);
    let said = parse_response("openai_chat", &assembled);
    let calls: Vec<_> = said
        .calls()
        .map(|call| (call.id.as_deref().unwrap(), &call.args))
        .collect();
    assert_eq!(calls, [("a", &json!({ "q": 1 })), ("b", &json!({}))]);
    assert_eq!(said.stop, Some(Stop::Calls));
    let tokens = CallTokens {
        prompt: 9,
        cached: Some(3),
        completion: 4,
        ..CallTokens::default()
    };
    assert_eq!(said.tokens, Some(tokens));
}

/// As Mistral's client wants it, which refuses a piece without a name.
#[test]
fn a_call_of_a_chat_is_played_whole() {
    let call = |id, args| json!({ "id": id, "type": "function", "function": { "name": "refund", "arguments": args } });
    let calls = [
        call("a", "{\"order\":7}"),
        call("b", "{\"order\": 8, \"why\": \"late\"}"),
    ];
    let body = json!({ "id": "c-1", "object": "chat.completion", "model": "gpt-5",
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": null, "tool_calls": calls }, "finish_reason": "tool_calls" }] });
    let chat = protocol::named("openai_chat").unwrap();
    let events = chat.events(&chat.parse_response(&body).unwrap());
    let played: Vec<Value> = events
        .iter()
        .filter_map(|event| serde_json::from_str::<Value>(&event.data).ok())
        .filter_map(|chunk| chunk.pointer("/choices/0/delta/tool_calls").cloned())
        .collect();
    let whole = |index: usize| {
        let mut call = calls[index].clone();
        call["index"] = index.into();
        json!([call])
    };
    assert_eq!(played, [whole(0), whole(1)]);
}

#[test]
fn calls_are_told_apart_where_a_server_numbers_all_of_them_0_or_none() {
    for index in [json!(0), Value::Null] {
        let piece = |id: Option<&str>, name: Option<&str>, args: &str| {
            chunk(
                &json!({ "tool_calls": [{ "index": index, "id": id, "function": { "name": name, "arguments": args } }] }),
                None,
            )
        };
        let assembled = stream(
            "openai_chat",
            &[
                piece(Some("a"), Some("find"), "{\"q\":"),
                piece(None, None, "1}"),
                piece(Some("b"), Some("find"), "{\"q\":2}"),
            ],
        );
        assert!(!assembled.ended);
        let said = parse_response("openai_chat", &assembled);
        let args: Vec<&Value> = said.calls().map(|call| &call.args).collect();
        assert_eq!(args, [&json!({ "q": 1 }), &json!({ "q": 2 })], "{index}");
    }
}

#[test]
fn an_error_in_the_middle_is_told_and_what_was_said_is_kept() {
    let chat = stream(
        "openai_chat",
        &[
            chunk(&json!({ "content": "Half" }), None),
            json!({ "error": { "message": "overloaded" } }),
        ],
    );
    let anthropic = stream(
        "anthropic_messages",
        &[
            json!({ "type": "message_start", "message": { "id": "m", "content": [], "usage": { "input_tokens": 3, "output_tokens": 1 } } }),
            json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "Half" } }),
            json!({ "type": "error", "error": { "type": "overloaded_error", "message": "overloaded" } }),
        ],
    );
    let responses = stream(
        "openai_responses",
        &[
            json!({ "type": "response.created", "response": { "id": "r", "status": "in_progress", "output": [] } }),
            json!({ "type": "response.output_item.added", "output_index": 0, "item": { "type": "message", "content": [] } }),
            json!({ "type": "response.content_part.added", "output_index": 0, "content_index": 0, "part": { "type": "output_text", "text": "" } }),
            json!({ "type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "Half" }),
            json!({ "type": "error", "message": "overloaded" }),
        ],
    );
    let gemini = stream(
        "gemini",
        &[
            json!({ "candidates": [{ "content": { "parts": [{ "text": "Half" }] } }] }),
            json!({ "error": { "code": 503, "message": "overloaded" } }),
        ],
    );
    let ollama = stream(
        "ollama",
        &[
            json!({ "message": { "role": "assistant", "content": "Half" }, "done": false }),
            json!({ "error": "overloaded" }),
        ],
    );
    let broken = [
        ("openai_chat", chat),
        ("anthropic_messages", anthropic),
        ("openai_responses", responses),
        ("gemini", gemini),
        ("ollama", ollama),
    ];
    let names = broken.iter().map(|(name, _)| *name);
    // `bedrock.rs` has their errors.
    assert_has_each_format(
        "this table of errors in streams",
        names,
        &["bedrock_converse", "bedrock_invoke"],
    );
    for (name, assembled) in broken {
        assert!(!assembled.ended, "{name}");
        let error = assembled.error.clone().unwrap();
        assert_eq!(
            protocol::error_message(&error),
            Some("overloaded"),
            "{name}"
        );
        let said = parse_response(name, &assembled);
        assert_eq!(said.parts, [Part::Text("Half".to_owned())], "{name}");
        assert_eq!(said.stop, None, "{name}");
    }
}

#[test]
fn input_tokens_of_anthropic_leave_the_cache_out() {
    let body = json!({ "content": [], "usage": {
        "input_tokens": 4, "cache_creation_input_tokens": 100, "cache_read_input_tokens": 900, "output_tokens": 31,
    } });
    let said = protocol::named("anthropic_messages")
        .unwrap()
        .parse_response(&body);
    let tokens = said.unwrap().tokens.unwrap();
    assert_eq!(
        (tokens.prompt, tokens.cached, tokens.written),
        (1004, Some(900), Some(100))
    );
}

#[test]
fn a_stream_of_gemini_that_is_no_list_of_events_is_a_list_of_values() {
    let text = |said: &str, reason: Option<&str>| json!({ "candidates": [{ "content": { "parts": [{ "text": said }], "role": "model" }, "finishReason": reason }], "usageMetadata": { "promptTokenCount": 7, "candidatesTokenCount": 2, "thoughtsTokenCount": 5 } });
    let bytes = json!([text("One, ", None), text("two.", Some("STOP"))]).to_string();
    let gemini = protocol::named("gemini").unwrap();
    let assembled = protocol::assembled(gemini, None, bytes.as_bytes(), true);
    assert!(assembled.ended);
    let said = parse_response("gemini", &assembled);
    assert_eq!(said.parts, [Part::Text("One, two.".to_owned())]);
    let tokens = said.tokens.unwrap();
    assert_eq!((tokens.completion, tokens.reasoning), (7, Some(5)));
}

#[test]
fn tools_that_the_provider_runs_are_calls_with_their_results() {
    let body = json!({ "id": "r", "status": "completed", "output": [
        { "type": "mcp_call", "id": "m1", "server_label": "shop", "name": "cancel", "arguments": "{}", "output": null, "error": "gone" },
        { "type": "web_search_call", "id": "w1", "status": "completed", "action": { "query": "a" } },
    ] });
    let responses = protocol::named("openai_responses").unwrap();
    let said = responses.parse_response(&body).unwrap();
    let Part::Result(result) = &said.parts[1] else {
        panic!("{said:?}")
    };
    assert_eq!(
        (&result.value, result.is_error),
        (&json!("gone"), Some(true))
    );
    // None of them is the client's to run.
    assert_eq!(
        (said.calls().count(), said.stop.clone()),
        (0, Some(Stop::End))
    );
    assert_eq!(responses.answer(&said)["output"], body["output"]);
}
