//! The shape of Anthropic answers.

use serde_json::json;

use crate::{messages, play, user};

#[test]
fn a_conversation_with_a_tool() {
    let provider = play(&json!([
        {
            "text": "Let me look.",
            "calls": [{ "name": "find", "args": { "id": 1 } }, { "name": "find", "args": {} }],
            "usage": { "prompt": 11, "completion": 7 },
        },
        { "text": "Done." },
    ]));
    let first = messages(&provider, &json!([user("go")])).ok();
    assert_eq!(
        first,
        json!({
            "id": "msg_c0_t0_r0",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [
                { "type": "text", "text": "Let me look." },
                { "type": "tool_use", "id": "toolu_c0_t0_r0_0", "name": "find", "input": { "id": 1 } },
                { "type": "tool_use", "id": "toolu_c0_t0_r0_1", "name": "find", "input": {} },
            ],
            "stop_reason": "tool_use",
            "stop_sequence": null,
            "usage": {
                "input_tokens": 11, "output_tokens": 7, "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0, "service_tier": "standard",
            },
        })
    );
    let second = messages(
        &provider,
        &json!([
            user("go"),
            { "role": "assistant", "content": first["content"] },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "toolu_c0_t0_r0_0", "content": "yes" },
                { "type": "tool_result", "tool_use_id": "toolu_c0_t0_r0_1", "is_error": true,
                  "content": [{ "type": "text", "text": "no" }] },
            ] },
        ]),
    )
    .ok();
    assert_eq!(
        second["content"],
        json!([{ "type": "text", "text": "Done." }])
    );
    assert_eq!(second["stop_reason"], "end_turn");
    // go, Let me look., find{"id":1}, find{}, yes, no: 36 characters.
    assert_eq!(second["usage"]["input_tokens"], 36 / 4);
    assert_eq!(second["usage"]["output_tokens"], 1);
}

#[test]
fn other_ends() {
    let provider = play(&json!([{ "text": "Half a", "stop": "max_tokens" }]));
    let body = messages(&provider, &json!([user("go")])).ok();
    assert_eq!(body["stop_reason"], "max_tokens");

    let provider = play(&json!([{ "text": "I will not.", "stop": "refusal" }]));
    let body = messages(&provider, &json!([user("go")])).ok();
    assert_eq!(body["stop_reason"], "refusal");
    assert_eq!(body["content"][0]["text"], "I will not.");

    let provider = play(&json!([{ "stop": null }]));
    let body = messages(&provider, &json!([user("go")])).ok();
    assert_eq!(body["content"], json!([]));
    assert_eq!(body["stop_reason"], "end_turn");
}

#[test]
fn raw_arguments_come_as_a_string() {
    let provider = play(&json!([{ "calls": [{ "name": "find", "raw_arguments": "{not json" }] }]));
    let body = messages(&provider, &json!([user("go")])).ok();
    assert_eq!(body["content"][0]["input"], "{not json");
}

#[test]
fn content_in_blocks_is_the_same_text() {
    let provider = play(&json!([{ "text": "Hello." }]));
    let blocks = json!([{ "type": "text", "text": "g" }, { "type": "text", "text": "o" }]);
    let body = messages(&provider, &json!([{ "role": "user", "content": blocks }])).ok();
    assert_eq!(body["content"][0]["text"], "Hello.");
}

#[test]
fn an_error_has_the_api_s_shape() {
    let provider = play(&json!([{ "text": "Hello." }]));
    let answer = messages(&provider, &json!([]));
    assert_eq!(
        answer.body,
        json!({
            "type": "error",
            "error": {
                "type": "invalid_request_error",
                "message": "messages: at least one message is required",
            },
            "request_id": "req_000001",
        })
    );
    assert_eq!(answer.headers["request-id"], "req_000001");
}
