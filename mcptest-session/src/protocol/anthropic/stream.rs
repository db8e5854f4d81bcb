//! Events of a message.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::super::reading::Reading;
use super::super::sse::Event;
use super::super::written::pieces;
use super::super::{Assembled, arguments};
use super::INPUT_TEXT;
use crate::json::{list, text};

/// The most blocks that an answer may have: an index beyond is no index.
const MOST_BLOCKS: usize = 10_000;

pub(super) fn assembled(events: &[Event]) -> Assembled {
    let mut assembled = Assembled::default();
    let mut reading = Reading::default();
    let mut message: Option<Value> = None;
    let mut blocks: Vec<(usize, Building)> = Vec::new();
    // The last block of each index.
    let mut open: HashMap<usize, usize> = HashMap::new();
    for event in events {
        let Some(data) = reading.value(event) else {
            continue;
        };
        let kind = text(&data, "type").or(event.name.as_deref());
        let index = data.get("index").and_then(Value::as_u64);
        let index = index.and_then(|index| usize::try_from(index).ok());
        let index = index.filter(|index| *index < MOST_BLOCKS);
        match kind.unwrap_or_default() {
            "message_start" => {
                message = data.get("message").filter(|it| it.is_object()).cloned();
            }
            "content_block_start" => {
                if let (Some(index), Some(block)) = (index, data.get("content_block")) {
                    open.insert(index, blocks.len());
                    blocks.push((index, Building::from_block(block)));
                }
            }
            "content_block_delta" => {
                let open = index.and_then(|index| open.get(&index));
                let open = open.and_then(|place| blocks.get_mut(*place));
                if let (Some((_, block)), Some(delta)) = (open, data.get("delta")) {
                    block.take(delta);
                }
            }
            "message_delta" => {
                let message = message.get_or_insert_with(|| json!({}));
                merge(message, data.get("delta"));
                if let Some(usage) = data.get("usage") {
                    merge(&mut message["usage"], Some(usage));
                }
            }
            "message_stop" => assembled.ended = true,
            "error" => assembled.error = Some(data.get("error").unwrap_or(&data).clone()),
            _ => {}
        }
    }
    if let Some(mut message) = message.filter(Value::is_object) {
        blocks.sort_by_key(|(index, _)| *index);
        let content = blocks
            .into_iter()
            .map(|(_, block)| block.whole(&mut reading));
        message["content"] = content.collect();
        assembled.body = Some(message);
    }
    reading.end(assembled)
}

/// Takes the members of an object that say something into another.
fn merge(into: &mut Value, from: Option<&Value>) {
    for (key, value) in from.and_then(Value::as_object).into_iter().flatten() {
        if !value.is_null() && (into.is_object() || into.is_null()) {
            into[key] = value.clone();
        }
    }
}

/// A block whose pieces are coming.
struct Building {
    block: Value,
    /// The pieces of its input, which are JSON only when all are there.
    input: Option<String>,
}

impl Building {
    fn from_block(block: &Value) -> Self {
        Self {
            block: block.clone(),
            input: None,
        }
    }

    fn take(&mut self, delta: &Value) {
        if !self.block.is_object() {
            return;
        }
        let (key, from) = match text(delta, "type").unwrap_or_default() {
            "text_delta" => ("text", "text"),
            "thinking_delta" => ("thinking", "thinking"),
            "signature_delta" => ("signature", "signature"),
            "compaction_delta" => ("content", "content"),
            "input_json_delta" => {
                let input = self.input.get_or_insert_default();
                input.push_str(text(delta, "partial_json").unwrap_or_default());
                return;
            }
            "citations_delta" => {
                if !self.block["citations"].is_array() {
                    self.block["citations"] = json!([]);
                }
                if let Some(citations) = self.block["citations"].as_array_mut() {
                    citations.extend(delta.get("citation").cloned());
                }
                return;
            }
            _ => return,
        };
        let more = text(delta, from).unwrap_or_default();
        if let Some(Value::String(held)) = self.block.get_mut(key) {
            held.push_str(more);
        } else {
            self.block[key] = more.into();
        }
    }

    fn whole(mut self, reading: &mut Reading) -> Value {
        if let Some(input) = self.input.filter(|input| !input.is_empty()) {
            // Input that broke off stays the text that came.
            let (read, changes) = arguments::of_text(&input);
            self.block["input"] = read;
            if text(&self.block, "type") == Some("tool_use") {
                self.block[INPUT_TEXT] = input.into();
            }
            reading.changed(changes);
        }
        self.block
    }
}

pub(super) fn events(answer: &Value) -> Vec<Event> {
    let mut events = Vec::new();
    let mut event = |kind: &str, mut data: Value| {
        data["type"] = kind.into();
        events.push(Event::named(kind, data.to_string()));
    };
    let mut start = answer.clone();
    for (key, value) in [
        ("content", json!([])),
        ("stop_reason", Value::Null),
        ("stop_sequence", Value::Null),
    ] {
        start[key] = value;
    }
    if start["usage"].is_object() {
        start["usage"]["output_tokens"] = 0.into();
    }
    event("message_start", json!({ "message": start }));
    for (index, block) in list(answer, "content").iter().enumerate() {
        let mut begin = block.clone();
        let mut deltas = Vec::new();
        let mut texts = |key: &str, kind: &str, begin: &mut Value| {
            if let Some(whole) = text(block, key) {
                begin[key] = "".into();
                deltas.extend(pieces(whole).map(|piece| json!({ "type": kind, key: piece })));
            }
        };
        match text(block, "type").unwrap_or_default() {
            "text" => texts("text", "text_delta", &mut begin),
            "thinking" => {
                texts("thinking", "thinking_delta", &mut begin);
                texts("signature", "signature_delta", &mut begin);
            }
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                begin["input"] = json!({});
                let input = arguments::text_of(&block["input"]);
                let delta = |piece| json!({ "type": "input_json_delta", "partial_json": piece });
                deltas.extend(pieces(&input).map(delta));
            }
            _ => {}
        }
        event(
            "content_block_start",
            json!({ "index": index, "content_block": begin }),
        );
        for delta in deltas {
            event(
                "content_block_delta",
                json!({ "index": index, "delta": delta }),
            );
        }
        event("content_block_stop", json!({ "index": index }));
    }
    let delta = json!({
        "stop_reason": answer["stop_reason"],
        "stop_sequence": answer["stop_sequence"],
    });
    let mut last = json!({ "delta": delta });
    if let Some(usage) = answer.get("usage") {
        last["usage"] = json!({ "output_tokens": usage["output_tokens"] });
    }
    event("message_delta", last);
    event("message_stop", json!({}));
    events
}
