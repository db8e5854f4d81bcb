//! The talk as logs of what happened: sessions of coding agents, spans and effects.

use serde_json::{Value, json};

use super::{MODEL, SYSTEM, Said, blocks, each, result_block, talk};

/// A rollout has no system prompt that is the agent's own.
pub(super) fn codex() -> Vec<Value> {
    let line = |kind: &str, payload: Value| json!({ "type": kind, "payload": payload });
    let message = |role: &str, kind: &str, text: &str| {
        let content = json!([{ "type": kind, "text": text }]);
        line(
            "response_item",
            json!({ "type": "message", "role": role, "content": content }),
        )
    };
    let mut all = vec![
        line(
            "session_meta",
            json!({ "id": "r1", "cli_version": "0.99.0" }),
        ),
        line("turn_context", json!({ "model": MODEL })),
    ];
    all.extend(each(|said| match said {
        Said::User(text) => vec![
            message("user", "input_text", text),
            line("event_msg", json!({ "type": "user_message", "message": text })),
        ],
        Said::Model(text, calls) => {
            let text = (!text.is_empty()).then(|| message("assistant", "output_text", text));
            let calls = calls.iter().map(|call| {
                let args = call.args().to_string();
                line("response_item", json!({ "type": "function_call", "call_id": call.0, "name": call.1, "arguments": args }))
            });
            let count = json!({ "last_token_usage": { "input_tokens": 9, "output_tokens": 2 } });
            let count = line("event_msg", json!({ "type": "token_count", "info": count }));
            text.into_iter().chain(calls).chain([count]).collect()
        }
        Said::Result(call) => vec![line(
            "response_item",
            json!({ "type": "function_call_output", "call_id": call.0, "output": call.3 }),
        )],
    }));
    all.push(line("event_msg", json!({ "type": "task_complete" })));
    for (second, line) in all.iter_mut().enumerate() {
        line["timestamp"] = format!("2026-08-01T10:00:{second:02}.000Z").into();
    }
    all
}

/// A session has no system prompt.
pub(super) fn claude_code() -> Vec<Value> {
    let (mut all, mut calls) = (Vec::new(), 0);
    for said in talk() {
        let (kind, message) = match said {
            Said::User(text) => ("user", json!({ "role": "user", "content": text })),
            Said::Result(call) => (
                "user",
                json!({ "role": "user", "content": [result_block(call)] }),
            ),
            Said::Model(text, asked) => {
                calls += 1;
                let usage = json!({ "input_tokens": 9, "output_tokens": 2 });
                let content = blocks(text, &asked);
                (
                    "assistant",
                    json!({ "id": format!("m{calls}"), "role": "assistant", "model": MODEL, "content": content, "usage": usage }),
                )
            }
        };
        let place = all.len();
        let parent = place.checked_sub(1).map(|before| format!("u{before}"));
        all.push(json!({ "type": kind, "uuid": format!("u{place}"), "parentUuid": parent, "sessionId": "s",
            "isSidechain": false, "timestamp": format!("2026-08-01T10:00:{place:02}.000Z"), "message": message }));
    }
    all
}

fn attribute((key, value): (&str, Value)) -> Value {
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    json!({ "key": key, "value": { "stringValue": text } })
}

/// Spans of the conventions for generative models: one a model call, one a call.
pub(super) fn otel() -> Value {
    let mut spans = Vec::new();
    let mut span = |name: &str, attributes: Vec<(&str, Value)>, ok: bool| {
        let number = spans.len() as u64 + 1;
        let at = 1_767_225_600_000_000_000 + number * 1_000_000;
        let parent = if number == 1 {
            String::new()
        } else {
            format!("{:016x}", 1)
        };
        let attributes: Value = attributes.into_iter().map(attribute).collect();
        spans.push(json!({ "traceId": "5b8efff798038103d269b633813fc60c", "spanId": format!("{number:016x}"),
            "parentSpanId": parent, "name": name, "kind": 3, "startTimeUnixNano": at.to_string(),
            "endTimeUnixNano": (at + 500_000).to_string(), "attributes": attributes,
            "status": { "code": u8::from(ok) } }));
    };
    let agent = vec![
        ("gen_ai.operation.name", json!("invoke_agent")),
        ("gen_ai.agent.name", json!("desk")),
    ];
    span("invoke_agent desk", agent, true);
    let mut sent: Vec<Value> = Vec::new();
    for said in talk() {
        match said {
            Said::User(text) => {
                sent.push(
                    json!({ "role": "user", "parts": [{ "type": "text", "content": text }] }),
                );
            }
            Said::Model(text, calls) => {
                let calls = calls.iter();
                let calls = calls.map(|call| json!({ "type": "tool_call", "id": call.0, "name": call.1, "arguments": call.args() }));
                let parts: Value = [json!({ "type": "text", "content": text })]
                    .into_iter()
                    .chain(calls)
                    .collect();
                let said = json!({ "role": "assistant", "parts": parts, "finish_reason": "stop" });
                let attributes = vec![
                    ("gen_ai.operation.name", json!("chat")),
                    ("gen_ai.request.model", json!(MODEL)),
                    (
                        "gen_ai.system_instructions",
                        json!([{ "type": "text", "content": SYSTEM }]),
                    ),
                    ("gen_ai.input.messages", json!(sent)),
                    ("gen_ai.output.messages", json!([said])),
                ];
                span("chat", attributes, true);
                sent.push(said);
            }
            Said::Result(call) => {
                let mut attributes = vec![
                    ("gen_ai.operation.name", json!("execute_tool")),
                    ("gen_ai.tool.name", json!(call.1)),
                    ("gen_ai.tool.call.id", json!(call.0)),
                    ("gen_ai.tool.call.result", json!(call.3)),
                ];
                attributes.extend(call.4.then(|| ("error.type", json!("tool_error"))));
                span("execute_tool", attributes, !call.4);
                sent.push(json!({ "role": "tool", "parts": [{ "type": "tool_call_response", "id": call.0, "response": call.3 }] }));
            }
        }
    }
    json!({ "resourceSpans": [{ "resource": { "attributes": [] }, "scopeSpans": [{ "spans": spans }] }] })
}

/// An effect log: one effect a model call, one a call.
pub(super) fn rig() -> Value {
    let mut history = vec![json!({ "role": "system", "content": SYSTEM })];
    let mut records = Vec::new();
    for said in talk() {
        match said {
            Said::User(text) => {
                history
                    .push(json!({ "role": "user", "content": [{ "type": "text", "text": text }] }));
            }
            Said::Model(text, calls) => {
                let text = (!text.is_empty()).then(|| json!({ "type": "text", "text": text }));
                let asks = calls.iter().map(|call| {
                    let function = json!({ "name": call.1, "arguments": call.args() });
                    json!({ "type": "toolcall", "id": { "provider": call.0 }, "function": function })
                });
                let choice: Value = text.into_iter().chain(asks).collect();
                let request = json!({ "model": MODEL, "chat_history": history, "tools": [] });
                let finish = if calls.is_empty() {
                    "stop"
                } else {
                    "tool_calls"
                };
                let usage = json!({ "input_tokens": 20, "output_tokens": 2, "total_tokens": 22 });
                records.push(json!({ "id": 1, "key": "desk/model:default",
                    "kind": { "effect": "completion", "request": request },
                    "outcome": { "Ok": { "outcome": "completion", "choice": choice, "usage": usage, "finish_reason": finish,
                        "origin": { "api": "chat", "provider": "openai", "model": MODEL } } } }));
                history.push(json!({ "role": "assistant", "content": choice }));
            }
            Said::Result(call) => {
                let value = json!([{ "type": "text", "text": call.3 }]);
                let result = if call.4 {
                    json!({ "status": "error", "value": { "kind": "other", "message": "inside", "model_output": value } })
                } else {
                    json!({ "status": "success", "value": value })
                };
                records.push(json!({ "id": 2, "key": format!("desk/tool:{}#0", call.1),
                    "kind": { "effect": "tool_call", "name": call.1, "args": call.args().to_string() },
                    "outcome": { "Ok": { "outcome": "tool_result", "result": result } } }));
                let mut part = json!({ "type": "toolresult", "call": { "provider": call.0 }, "name": call.1, "content": value });
                if call.4 {
                    part["is_error"] = true.into();
                }
                history.push(json!({ "role": "user", "content": [part] }));
            }
        }
    }
    json!({ "header": { "handlers": [], "signature": {} }, "records": records })
}
