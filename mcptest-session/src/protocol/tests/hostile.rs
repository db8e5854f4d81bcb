//! Whatever bytes come, nothing breaks.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::protocol::sse::Event;
use crate::protocol::{self, Framing, Route};

/// Keys and words of the formats, put together at random.
#[expect(
    clippy::too_many_lines,
    reason = "what each format is sent, in one table"
)]
fn odd() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "assistant",
        "user",
        "tool",
        "function",
        "system",
        "model",
        "message",
        "text",
        "tool_use",
        "tool_result",
        "thinking",
        "function_call",
        "function_call_output",
        "mcp_call",
        "error",
        "web_search_call",
        "item_reference",
        "reasoning",
        "message_start",
        "message_delta",
        "content_block_start",
        "content_block_delta",
        "text_delta",
        "input_json_delta",
        "[DONE]",
        "citations_delta",
        "response.created",
        "response.completed",
        "response.output_item.added",
        "response.output_text.delta",
        "response.content_part.added",
        "STOP",
        "stop",
        "tool_use",
        "success",
        "{\"a\"",
        "",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        prop_oneof![Just(0_u64), Just(1), Just(u64::MAX), any::<u64>()].prop_map(Value::from),
        word.prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        let key = prop::sample::select(vec![
            "type",
            "role",
            "content",
            "text",
            "parts",
            "tool_calls",
            "function_call",
            "function",
            "name",
            "arguments",
            "id",
            "index",
            "choices",
            "delta",
            "message",
            "finish_reason",
            "usage",
            "prompt_tokens",
            "input_tokens",
            "output_tokens",
            "output",
            "item",
            "part",
            "output_index",
            "content_index",
            "response",
            "status",
            "candidates",
            "functionCall",
            "functionResponse",
            "thought",
            "finishReason",
            "usageMetadata",
            "content_block",
            "partial_json",
            "citation",
            "messages",
            "contents",
            "input",
            "tools",
            "custom",
            "error",
            "system",
            "toolConfig",
            "toolSpec",
            "inputSchema",
            "json",
            "toolUse",
            "toolUseId",
            "toolResult",
            "status",
            "output",
            "stopReason",
            "inputTokens",
            "outputTokens",
            "additionalModelResponseFields",
            "stop_sequence",
            "reasoningContent",
            "reasoningText",
            "redactedContent",
            "citationsContent",
            "guardContent",
            "document",
            "image",
            "source",
            "bytes",
            "start",
            "contentBlockIndex",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..6).prop_map(|pairs| {
                let pairs = pairs
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value));
                Value::Object(pairs.collect())
            }),
        ]
    })
}

/// The name of an event: some formats say by it what the event holds.
fn name() -> impl Strategy<Value = Option<String>> {
    let names = vec![
        "messageStart",
        "contentBlockStart",
        "contentBlockDelta",
        "contentBlockStop",
        "messageStop",
        "metadata",
        "chunk",
        "throttlingException",
        "error",
    ];
    prop::option::of(prop::sample::select(names).prop_map(str::to_owned))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn odd_values_break_nothing(body in odd(), stream in prop::collection::vec((name(), odd()), 0..6)) {
        let route = Route::default();
        let event = |(name, data): &(Option<String>, Value)| Event { name: name.clone(), data: data.to_string() };
        let events: Vec<Event> = stream.iter().map(event).collect();
        for protocol in protocol::ALL {
            protocol.parse_request(&route, &body);
            let list = json!([body]);
            protocol.items(list.as_array().unwrap());
            let assembled = protocol.assembled(&events);
            let bodies = [Some(body.clone()), assembled.body];
            for said in bodies.iter().flatten().filter_map(|body| protocol.parse_response(body)) {
                for other in protocol::ALL {
                    other.answer(&said);
                    other.events(&said);
                }
            }
        }
    }

    #[test]
    fn odd_bytes_break_nothing(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for protocol in protocol::ALL {
            for framing in [None, Some(Framing::Events), Some(Framing::Lines), Some(Framing::Messages)] {
                for whole in [true, false] {
                    let _ = protocol::assembled(*protocol, framing, &bytes, whole);
                }
            }
        }
    }
}

#[test]
fn indices_without_end_take_no_memory() {
    let huge = 999_999_999_999_u64;
    let chat = json!({ "choices": [{ "index": huge, "delta": { "tool_calls": [{ "index": huge, "id": "a" }] } }] });
    let block = json!({ "type": "content_block_start", "index": huge, "content_block": { "type": "text" } });
    let item = json!({ "type": "response.output_item.added", "output_index": huge, "item": {} });
    let delta = json!({ "contentBlockIndex": huge, "delta": { "text": "a" } });
    for value in [chat, block, item, delta] {
        for protocol in protocol::ALL {
            protocol.assembled(&[Event::named("contentBlockDelta", value.to_string())]);
        }
    }
}
