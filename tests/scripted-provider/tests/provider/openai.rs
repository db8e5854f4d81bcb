//! The shape of `OpenAI` answers.

use serde_json::json;

use crate::{OPENAI_HEADERS, chat, play, send, user};

#[test]
fn a_conversation_with_a_tool() {
    let provider = play(&json!([
        {
            "calls": [{ "name": "find", "args": { "id": 1 } }, { "name": "find", "raw_arguments": "{not json" }],
            "usage": { "prompt": 11, "completion": 7 },
        },
        { "text": "Done." },
    ]));
    let first = chat(&provider, &json!([user("go")])).ok();
    let tool_calls = json!([
        { "id": "call_c0_t0_r0_0", "type": "function",
          "function": { "name": "find", "arguments": "{\"id\":1}" } },
        { "id": "call_c0_t0_r0_1", "type": "function",
          "function": { "name": "find", "arguments": "{not json" } },
    ]);
    assert_eq!(
        first["choices"],
        json!([{
            "index": 0,
            "message": {
                "role": "assistant", "content": null, "refusal": null, "annotations": [],
                "tool_calls": tool_calls,
            },
            "logprobs": null,
            "finish_reason": "tool_calls",
        }])
    );
    assert_eq!(first["object"], "chat.completion");
    assert_eq!(first["id"], "chatcmpl-c0_t0_r0");
    assert_eq!(first["usage"]["prompt_tokens"], 11);
    assert_eq!(first["usage"]["completion_tokens"], 7);
    assert_eq!(first["usage"]["total_tokens"], 18);

    let second = chat(
        &provider,
        &json!([
            { "role": "system", "content": "Be brief." },
            user("go"),
            first["choices"][0]["message"],
            { "role": "tool", "tool_call_id": "call_c0_t0_r0_1", "content": "no" },
            { "role": "tool", "tool_call_id": "call_c0_t0_r0_0", "content": "yes" },
        ]),
    )
    .ok();
    let choice = &second["choices"][0];
    assert_eq!(choice["message"]["content"], "Done.");
    assert_eq!(choice["message"].get("tool_calls"), None);
    assert_eq!(choice["finish_reason"], "stop");
}

#[test]
fn other_ends() {
    let provider = play(&json!([{ "text": "Half a", "stop": "max_tokens" }]));
    let body = chat(&provider, &json!([user("go")])).ok();
    assert_eq!(body["choices"][0]["finish_reason"], "length");

    let provider = play(&json!([{ "text": "I will not.", "stop": "refusal" }]));
    let body = chat(&provider, &json!([user("go")])).ok();
    let choice = &body["choices"][0];
    assert_eq!(choice["message"]["content"], json!(null));
    assert_eq!(choice["message"]["refusal"], "I will not.");
    assert_eq!(choice["finish_reason"], "stop");
}

#[test]
fn the_path_without_a_version_is_served() {
    let provider = play(&json!([{ "text": "Hello." }]));
    let url = format!("{}/chat/completions?debug=1", provider.url());
    let body = json!({ "model": "m", "messages": [user("go")] }).to_string();
    let answer = send(&url, OPENAI_HEADERS, &body).unwrap();
    assert_eq!(answer.headers["x-request-id"], "req_000001");
    assert_eq!(answer.ok()["choices"][0]["message"]["content"], "Hello.");
}

#[test]
fn an_error_has_the_api_s_shape() {
    let provider = play(&json!([{ "text": "Hello." }]));
    let answer = chat(&provider, &json!([{ "role": "bot", "content": "go" }]));
    assert_eq!(answer.status, 400);
    assert_eq!(
        answer.body,
        json!({
            "error": {
                "message": "Invalid value: 'bot'. Supported values are: 'system', 'assistant', \
                            'user', 'function', 'tool', and 'developer'.",
                "type": "invalid_request_error",
                "param": "messages[0].role",
                "code": "invalid_value",
            }
        })
    );
}
