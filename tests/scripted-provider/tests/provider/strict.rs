//! Requests the real services refuse.

use serde_json::{Value, json};

use crate::{
    ANTHROPIC_HEADERS, OPENAI_HEADERS, chat, messages, play, post_chat, post_messages, send, start,
    user,
};

/// The parts of a request that is right, with some fields put in or taken out.
fn changed(base: &Value, changes: &Value) -> Value {
    let mut body = base.clone();
    for (key, value) in changes.as_object().unwrap() {
        if value.is_null() {
            body.as_object_mut().unwrap().remove(key);
        } else {
            body[key] = value.clone();
        }
    }
    body
}

#[test]
fn anthropic_fields() {
    let provider = play(&json!([{ "text": "Hello." }]));
    let right = json!({ "model": "m", "max_tokens": 5, "messages": [user("go")] });
    let tool = |name: &str| json!({ "name": name, "input_schema": { "type": "object" } });
    for (changes, message) in [
        (json!({ "max_tokens": null }), "max_tokens: Field required"),
        (
            json!({ "max_tokens": 0 }),
            "max_tokens: Input should be greater than or equal to 1",
        ),
        (json!({ "model": null }), "model: Field required"),
        (json!({ "messages": null }), "messages: Field required"),
        (
            json!({ "messages": "go" }),
            "messages: Input should be a valid list",
        ),
        (json!({ "temperature": 1.5 }), "temperature: range: 0..1"),
        (json!({ "seed": 1 }), "seed: Extra inputs are not permitted"),
        (
            json!({ "stream": "yes" }),
            "stream: Input should be a valid boolean",
        ),
        (
            json!({ "tools": [tool("a.b")] }),
            "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
        ),
        (
            json!({ "tools": [{ "name": "a" }] }),
            "tools.0.custom.input_schema: Field required",
        ),
        (
            json!({ "tools": [tool("a"), tool("a")] }),
            "tools: Tool names must be unique.",
        ),
        (
            json!({ "tool_choice": { "type": "auto" } }),
            "tool_choice: may only be specified while providing tools",
        ),
        (
            json!({ "messages": [{ "role": "user", "content": [] }] }),
            "messages.0: all messages must have non-empty content except for the optional final \
             assistant message",
        ),
        (
            json!({ "messages": [{ "role": "assistant", "content": "go" }] }),
            "messages: first message must use the \"user\" role",
        ),
        (
            json!({ "messages": [user("go"), { "role": "assistant", "content": "Hel" }] }),
            "This model does not support assistant message prefill. The conversation must end \
             with a user message.",
        ),
    ] {
        let answer = post_messages(&provider, &changed(&right, &changes));
        assert_eq!(answer.error(400), message);
    }
    let answer = messages(&provider, &json!([{ "role": "system", "content": "go" }]));
    assert!(
        answer
            .error(400)
            .starts_with("messages: Unexpected role \"system\".")
    );
    let longest = changed(&right, &json!({ "tools": [tool(&"a".repeat(128))] }));
    post_messages(&provider, &longest).ok();
    let longer = changed(&right, &json!({ "tools": [tool(&"a".repeat(129))] }));
    post_messages(&provider, &longer).error(400);
}

#[test]
fn anthropic_calls_must_be_answered() {
    let provider = play(&json!([{ "text": "Hello." }]));
    let called = json!({ "role": "assistant", "content": [
        { "type": "tool_use", "id": "t1", "name": "find", "input": {} },
    ] });
    let result = json!({ "type": "tool_result", "tool_use_id": "t1", "content": "x" });
    let text = json!({ "type": "text", "text": "and" });
    let unanswered = "messages.1: `tool_use` ids were found without `tool_result` blocks \
                      immediately after: t1.";
    for (history, message) in [
        (json!([user("go"), called]), unanswered),
        (json!([user("go"), called, user("on")]), unanswered),
        (
            json!([user("go"), called, { "role": "user", "content": [text, result] }]),
            unanswered,
        ),
        (
            json!([user("go"), called, { "role": "user", "content": [result, result] }]),
            "messages.2.content.1.tool_result: each tool_use must have a single result.",
        ),
        (
            json!([{ "role": "user", "content": [result] }]),
            "messages.0.content.0.tool_result: unexpected `tool_use_id` found in `tool_result` \
             blocks: t1.",
        ),
        (
            json!([user("go"), { "role": "assistant", "content": [
                { "type": "tool_use", "id": "t1", "name": "find", "input": "{}" },
            ] }]),
            "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
        ),
    ] {
        let answer = messages(&provider, &history);
        let error = answer.error(400);
        assert!(error.starts_with(message), "{error}");
    }
    let history = json!([user("go"), called, { "role": "user", "content": [result] }]);
    let body = json!({ "model": "m", "max_tokens": 5, "messages": history });
    let answer = post_messages(&provider, &body);
    assert!(answer.error(400).ends_with("must define tools"));
}

#[test]
fn openai_fields() {
    let provider = play(&json!([{ "text": "Hello." }]));
    let right = json!({ "model": "m", "messages": [user("go")] });
    let tool = |name: &str| json!([{ "type": "function", "function": { "name": name } }]);
    for (changes, param, message) in [
        (
            json!({ "model": null }),
            "model",
            "Missing required parameter: 'model'.",
        ),
        (
            json!({ "messages": null }),
            "messages",
            "Missing required parameter: 'messages'.",
        ),
        (
            json!({ "messages": [] }),
            "messages",
            "Invalid 'messages': empty array.",
        ),
        (
            json!({ "max_token": 5 }),
            "max_token",
            "Unknown parameter: 'max_token'.",
        ),
        (
            json!({ "max_tokens": 0 }),
            "max_tokens",
            "Invalid 'max_tokens': integer below",
        ),
        (
            json!({ "stream_options": { "include_usage": true } }),
            "stream_options",
            "The 'stream_options' parameter is only allowed",
        ),
        (
            json!({ "tools": [] }),
            "tools",
            "Invalid 'tools': empty array.",
        ),
        (
            json!({ "tools": tool("a.b") }),
            "tools[0].function.name",
            "Invalid 'tools[0].function.name': string does not match pattern.",
        ),
        (
            json!({ "tools": tool(&"a".repeat(65)) }),
            "tools[0].function.name",
            "Invalid 'tools[0].function.name': string too long.",
        ),
        (
            json!({ "tool_choice": "auto" }),
            "tool_choice",
            "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are",
        ),
        (
            json!({ "messages": [{ "role": "user" }] }),
            "messages[0].content",
            "Invalid value for 'content': expected a string, got null.",
        ),
    ] {
        let answer = post_chat(&provider, &changed(&right, &changes));
        let error = answer.error(400);
        assert!(error.starts_with(message), "{error}");
        assert_eq!(answer.body["error"]["param"], param);
        assert_eq!(answer.body["error"]["type"], "invalid_request_error");
    }
    let longest = changed(&right, &json!({ "tools": tool(&"a".repeat(64)) }));
    post_chat(&provider, &longest).ok();
}

#[test]
fn openai_calls_must_be_answered() {
    let provider = play(&json!([{ "text": "Hello." }]));
    let called = |arguments: Value| {
        json!({ "role": "assistant", "content": null, "tool_calls": [
            { "id": "c1", "type": "function",
              "function": { "name": "find", "arguments": arguments } },
        ] })
    };
    let result = json!({ "role": "tool", "tool_call_id": "c1", "content": "x" });
    let other = json!({ "role": "tool", "tool_call_id": "c2", "content": "x" });
    let done = json!({ "role": "assistant", "content": "so" });
    let unanswered = "An assistant message with 'tool_calls' must be followed by tool messages \
                      responding to each 'tool_call_id'. The following tool_call_ids did not \
                      have response messages: c1";
    for (history, message) in [
        (json!([user("go"), called(json!("{}"))]), unanswered),
        (
            json!([user("go"), called(json!("{}")), user("on"), result]),
            unanswered,
        ),
        (json!([user("go"), called(json!("{}")), done]), unanswered),
        (
            json!([user("go"), result]),
            "Invalid parameter: messages with role 'tool' must be a response to a",
        ),
        (
            json!([user("go"), called(json!("{}")), other]),
            "Invalid parameter: 'tool_call_id' of 'c2' not found",
        ),
        (
            json!([user("go"), called(json!("{}")), result, result]),
            "Duplicate value for 'tool_call_id' of 'c1'",
        ),
        (
            json!([user("go"), called(json!({})), result]),
            "Invalid type for 'messages[1].tool_calls[0].function.arguments': expected a string, \
             but got an object instead.",
        ),
    ] {
        let answer = chat(&provider, &history);
        let error = answer.error(400);
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn keys_versions_and_models() {
    let provider = start(&json!({
        "key": "test-key", "models": ["m"],
        "conversations": [{ "user": "go", "runs": [[{ "text": "Hello." }]] }],
    }));
    let url = format!("{}/v1/messages", provider.url());
    let version = ("anthropic-version", "2023-06-01");
    let json_type = ("content-type", "application/json");
    let answer = send(&url, &[version, json_type], "{}").unwrap();
    assert_eq!(answer.error(401), "x-api-key header is required");
    assert_eq!(answer.body["error"]["type"], "authentication_error");
    let answer = send(&url, &[("x-api-key", "guess"), version, json_type], "{}").unwrap();
    assert_eq!(answer.error(401), "invalid x-api-key");
    let answer = send(&url, &[("x-api-key", "test-key"), json_type], "{}").unwrap();
    assert_eq!(answer.error(400), "anthropic-version: header is required");
    let answer = send(&url, ANTHROPIC_HEADERS, "{").unwrap();
    assert!(
        answer
            .error(400)
            .starts_with("The request body is not valid JSON")
    );
    let unknown = json!({ "model": "n", "max_tokens": 5, "messages": [user("go")] });
    let answer = post_messages(&provider, &unknown);
    assert_eq!(answer.error(404), "model: n");
    assert_eq!(answer.body["error"]["type"], "not_found_error");

    let url = format!("{}/v1/chat/completions", provider.url());
    let answer = send(&url, &[json_type], "{}").unwrap();
    assert!(
        answer
            .error(401)
            .starts_with("You didn't provide an API key.")
    );
    let answer = send(&url, &[("authorization", "Bearer guess"), json_type], "{}").unwrap();
    assert_eq!(answer.error(401), "Incorrect API key provided.");
    assert_eq!(answer.body["error"]["code"], "invalid_api_key");
    let plain = [OPENAI_HEADERS[0], ("content-type", "text/plain")];
    let answer = send(&url, &plain, "{}").unwrap();
    assert!(
        answer
            .error(400)
            .starts_with("content-type: expected application/json")
    );
    let answer = post_chat(
        &provider,
        &json!({ "model": "n", "messages": [user("go")] }),
    );
    assert!(
        answer
            .error(404)
            .starts_with("The model `n` does not exist")
    );
    assert_eq!(answer.body["error"]["code"], "model_not_found");
    chat(&provider, &json!([user("go")])).ok();

    let answer = send(&format!("{}/v1/models", provider.url()), &[], "").unwrap();
    assert_eq!(answer.error(404), "Not found: /v1/models");
}
