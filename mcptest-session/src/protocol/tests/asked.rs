//! Requests, as clients send them.

use serde_json::{Value, json};

use super::assert_has_each_format;
use crate::exchange::{Call, Item, ModelRequest, Part, ToolResult};
use crate::protocol;

fn parse_request(path: &str, body: &Value) -> ModelRequest {
    let (protocol, route) = protocol::at(path).unwrap();
    protocol.parse_request(&route, body)
}

fn result(id: &str, value: Value, is_error: Option<bool>) -> Item {
    Item::Result(ToolResult {
        id: Some(id.to_owned()),
        value,
        is_error,
        ..ToolResult::default()
    })
}

fn call(id: &str, name: &str, args: Value) -> Call {
    Call {
        id: Some(id.to_owned()),
        name: name.to_owned(),
        args,
        ..Call::default()
    }
}

#[test]
fn paths_lead_to_their_formats() {
    let paths = [
        ("/chat/completions", "openai_chat", None),
        ("/v1/chat/completions", "openai_chat", None),
        (
            "/openai/deployments/gpt%205/chat/completions",
            "openai_chat",
            Some("gpt 5"),
        ),
        ("/v1/responses", "openai_responses", None),
        ("/openai/v1/responses/", "openai_responses", None),
        ("/v1/messages", "anthropic_messages", None),
        ("/api/chat", "ollama", None),
        (
            "/v1/projects/p/locations/l/publishers/anthropic/models/claude%40x:streamRawPredict",
            "anthropic_messages",
            Some("claude@x"),
        ),
        (
            "/projects/p/locations/l/publishers/anthropic/models/c:rawPredict",
            "anthropic_messages",
            Some("c"),
        ),
        (
            "/v1/projects/p/locations/l/endpoints/openapi/chat/completions",
            "openai_chat",
            None,
        ),
        (
            "/v1beta1/publishers/google/models/g:generateContent",
            "gemini",
            Some("g"),
        ),
        (
            "/v1beta/models/gemini-3-pro:generateContent",
            "gemini",
            Some("gemini-3-pro"),
        ),
        (
            "/v1/projects/p/locations/l/publishers/google/models/g:streamGenerateContent",
            "gemini",
            Some("g"),
        ),
    ];
    let names = paths.map(|(_, name, _)| name);
    // `bedrock.rs` has their paths.
    assert_has_each_format(
        "this table of paths",
        names,
        &["bedrock_converse", "bedrock_invoke"],
    );
    for (path, name, model) in paths {
        let (protocol, route) = protocol::at(path).unwrap();
        assert_eq!((protocol.name(), route.model.as_deref()), (name, model));
    }
    for path in [
        "/v1/models",
        "/v1/messages/count_tokens",
        "/v1/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict",
        "/v1/projects/p/locations/l/publishers/mistralai/models/m:rawPredict",
        "/v1/messages/batches",
        "/v1/responses/resp_1",
        "/v1/embeddings",
        "/v1beta/models/g:countTokens",
        "/v1/chatcompletions",
    ] {
        assert!(protocol::at(path).is_none(), "{path}");
    }
}

#[test]
fn a_chat_is_read() {
    let asked = parse_request(
        "/v1/chat/completions",
        &json!({
            "model": "gpt-5", "stream": true, "temperature": 0.2, "user": null,
            "messages": [
                { "role": "developer", "content": "Help." },
                { "role": "system", "content": [{ "type": "text", "text": "Be short." }] },
                { "role": "user", "content": [{ "type": "text", "text": "Cancel " }, { "type": "text", "text": "7." }] },
                { "role": "assistant", "content": null, "tool_calls": [
                    { "id": "c1", "type": "function", "function": { "name": "cancel", "arguments": "{\"order\":7}" } },
                ] },
                { "role": "tool", "tool_call_id": "c1", "content": "Error: no" },
                { "role": "system", "content": "Go on." },
            ],
            "tools": [{ "type": "function", "function": {
                "name": "cancel", "description": "Cancels.", "parameters": { "type": "object" },
            } }],
        }),
    );
    assert_eq!(asked.model.as_deref(), Some("gpt-5"));
    assert_eq!(asked.system.as_deref(), Some("Help.\n\nBe short."));
    assert!(asked.streamed);
    assert_eq!(
        Value::from(asked.parameters.clone()),
        json!({ "temperature": 0.2 })
    );
    assert_eq!(
        asked.items,
        [
            Item::User("Cancel 7.".to_owned()),
            Item::Answer(vec![Part::Call(call(
                "c1",
                "cancel",
                json!({ "order": 7 })
            ))]),
            // The words of a result say nothing: the format has no flag.
            result("c1", json!("Error: no"), None),
            Item::Turn {
                role: "system".to_owned(),
                text: "Go on.".to_owned()
            },
        ]
    );
    assert_eq!(asked.tools[0].name, "cancel");
    assert_eq!(asked.tools[0].description.as_deref(), Some("Cancels."));
    assert_eq!(asked.tools[0].schema, Some(json!({ "type": "object" })));
    assert_eq!(asked.opening(), Some("Cancel 7."));
}

#[test]
fn responses_are_read() {
    let reasoning = json!({ "type": "reasoning", "id": "rs_1", "encrypted_content": "gAAAA" });
    let asked = parse_request(
        "/v1/responses",
        &json!({
            "model": "gpt-5", "instructions": "Help.", "previous_response_id": "resp_1", "store": true,
            "input": [
                { "role": "user", "content": [{ "type": "input_text", "text": "Cancel 7." }] },
                reasoning,
                { "type": "function_call", "id": "fc_1", "call_id": "c1", "name": "cancel", "arguments": "{\"order\":7}" },
                { "type": "function_call_output", "call_id": "c1", "output": "done" },
                { "type": "item_reference", "id": "msg_9" },
            ],
            "tools": [{ "type": "function", "name": "cancel", "parameters": { "type": "object" } }, { "type": "web_search" }],
        }),
    );
    assert_eq!(asked.system.as_deref(), Some("Help."));
    assert_eq!(asked.previous.as_deref(), Some("resp_1"));
    let Item::Answer(parts) = &asked.items[1] else {
        panic!("{:?}", asked.items)
    };
    assert!(
        matches!(&parts[0], Part::Opaque(opaque) if opaque.value["encrypted_content"] == "gAAAA")
    );
    assert_eq!(
        parts[1],
        Part::Call(call("c1", "cancel", json!({ "order": 7 })))
    );
    assert_eq!(
        asked.items[2..],
        [
            result("c1", json!("done"), None),
            Item::Reference("msg_9".to_owned())
        ]
    );
    let names: Vec<&str> = asked.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["cancel", "web_search"]);
}

/// On Vertex AI the model stands in the path, and the version in the body, which Anthropic takes in a header.
#[test]
fn a_request_for_claude_on_vertex_is_one_for_claude() {
    let body = |more: Value| {
        let mut body =
            json!({ "max_tokens": 9, "messages": [{ "role": "user", "content": "Hi" }] });
        for (key, value) in more.as_object().unwrap() {
            body[key] = value.clone();
        }
        body
    };
    let at = "/projects/p/locations/l/publishers/anthropic/models/c";
    let own = json!({ "anthropic_version": "vertex-2023-10-16" });
    let streamed = json!({ "anthropic_version": "vertex-2023-10-16", "stream": true });
    let plain = parse_request("/v1/messages", &body(json!({ "model": "c" })));
    assert_eq!(
        parse_request(&format!("{at}:rawPredict"), &body(own)),
        plain
    );
    let there = parse_request(&format!("{at}:streamRawPredict"), &body(streamed));
    assert_eq!(
        there,
        ModelRequest {
            streamed: true,
            ..plain
        }
    );
}

#[test]
fn messages_are_read_with_the_flags_of_their_results() {
    let asked = parse_request(
        "/v1/messages",
        &json!({
            "model": "claude-sonnet-4-5", "max_tokens": 100,
            "system": [{ "type": "text", "text": "Help." }, { "type": "text", "text": "Be short." }],
            "messages": [
                { "role": "user", "content": "Cancel 7 and 8." },
                { "role": "assistant", "content": [
                    { "type": "thinking", "thinking": "Hm.", "signature": "c2ln" },
                    { "type": "tool_use", "id": "t1", "name": "cancel", "input": { "order": 7 } },
                    { "type": "tool_use", "id": "t2", "name": "cancel", "input": { "order": 8 } },
                ] },
                { "role": "user", "content": [
                    { "type": "text", "text": "And hurry." },
                    { "type": "tool_result", "tool_use_id": "t1", "content": "done" },
                    { "type": "tool_result", "tool_use_id": "t2", "is_error": true, "content": "shipped" },
                ] },
            ],
            "tools": [{ "name": "cancel", "description": "Cancels.", "input_schema": { "type": "object" } }],
        }),
    );
    assert_eq!(asked.system.as_deref(), Some("Help.\n\nBe short."));
    assert_eq!(
        asked.items[2..],
        [
            result("t1", json!("done"), Some(false)),
            result("t2", json!("shipped"), Some(true)),
            Item::User("And hurry.".to_owned()),
        ]
    );
    assert!(asked.parameters.contains_key("max_tokens"));
}

#[test]
fn contents_are_read_and_calls_without_identifiers_find_their_results() {
    let function = |name: &str, order: u32| json!({ "functionCall": { "name": name, "args": { "order": order } }, "thoughtSignature": "c2ln" });
    let response = |name: &str, said: &str| json!({ "functionResponse": { "name": name, "response": { "result": said } } });
    let asked = parse_request(
        "/v1beta/models/gemini-3:streamGenerateContent",
        &json!({
            "systemInstruction": { "parts": [{ "text": "Help." }] },
            "contents": [
                { "role": "user", "parts": [{ "text": "Cancel 7 and 8." }] },
                { "role": "model", "parts": [function("cancel", 7), function("cancel", 8)] },
                { "role": "user", "parts": [response("cancel", "done"), response("cancel", "shipped")] },
            ],
            "tools": [{ "functionDeclarations": [{ "name": "cancel", "parametersJsonSchema": { "type": "object" } }] }],
            "generationConfig": { "temperature": 0 },
        }),
    );
    assert_eq!(asked.model.as_deref(), Some("gemini-3"));
    assert!(asked.streamed);
    assert_eq!(asked.system.as_deref(), Some("Help."));
    let Item::Answer(parts) = &asked.items[1] else {
        panic!("{:?}", asked.items)
    };
    let ids: Vec<_> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Call(call) => call.id.clone(),
            _ => None,
        })
        .collect();
    let of_results: Vec<_> = asked.items[2..]
        .iter()
        .map(|item| match item {
            Item::Result(result) => result.id.clone().unwrap(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(ids, of_results);
    assert_eq!(ids.len(), 2);
    assert_ne!(ids[0], ids[1]);
    assert_eq!(asked.tools[0].schema, Some(json!({ "type": "object" })));
}
