//! Events of a response.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::Assembled;
use super::super::reading::Reading;
use super::super::sse::Event;
use super::super::written::pieces;
use crate::json::{list, text};

/// The most items, and parts of an item, that an answer may have: an index beyond is no index.
const MOST: usize = 10_000;

pub(super) fn assembled(events: &[Event]) -> Assembled {
    let mut assembled = Assembled::default();
    let mut reading = Reading::default();
    let mut begun: Option<Value> = None;
    let mut items: BTreeMap<usize, Value> = BTreeMap::new();
    for event in events {
        let Some(data) = reading.value(event) else {
            continue;
        };
        let kind = text(&data, "type").or(event.name.as_deref());
        match kind.unwrap_or_default() {
            "response.completed" | "response.incomplete" | "response.failed" => {
                // The end of a stream says all once more.
                assembled.ended = true;
                assembled.body = data.get("response").cloned();
                let error = assembled.body.as_ref().and_then(|body| body.get("error"));
                assembled.error = error.filter(|error| !error.is_null()).cloned();
            }
            "error" => {
                let error = data.get("error").filter(|error| !error.is_null());
                assembled.error = Some(error.unwrap_or(&data).clone());
            }
            "response.created" | "response.in_progress" => begun = data.get("response").cloned(),
            kind => take(kind, &data, &mut items),
        }
    }
    if assembled.body.is_none()
        && let Some(mut body) = begun.filter(Value::is_object)
    {
        body["output"] = items.into_values().collect();
        assembled.body = Some(body);
    }
    reading.end(assembled)
}

fn index_of(data: &Value, key: &str) -> Option<usize> {
    let index = usize::try_from(data.get(key)?.as_u64()?).ok()?;
    (index < MOST).then_some(index)
}

/// Takes an event of a stream into the items that are there so far: they are needed where the stream breaks.
fn take(kind: &str, data: &Value, items: &mut BTreeMap<usize, Value>) {
    let Some(index) = index_of(data, "output_index") else {
        return;
    };
    if let Some(item) = data.get("item").filter(|item| item.is_object()) {
        items.insert(index, item.clone());
        return;
    }
    let Some(item) = items.get_mut(&index) else {
        return;
    };
    let delta = text(data, "delta").unwrap_or_default();
    match kind {
        "response.function_call_arguments.delta" | "response.mcp_call_arguments.delta" => {
            grow(item, "arguments", delta);
        }
        "response.custom_tool_call_input.delta" => grow(item, "input", delta),
        "response.content_part.added" => {
            if let Some(part) = data.get("part") {
                if !item["content"].is_array() {
                    item["content"] = json!([]);
                }
                if let Some(content) = item["content"].as_array_mut() {
                    content.push(part.clone());
                }
            }
        }
        "response.output_text.delta" | "response.refusal.delta" => {
            let key = if kind == "response.refusal.delta" {
                "refusal"
            } else {
                "text"
            };
            let part = index_of(data, "content_index").unwrap_or_default();
            if let Some(part) = item["content"].get_mut(part) {
                grow(part, key, delta);
            }
        }
        _ => {}
    }
}

fn grow(holder: &mut Value, key: &str, more: &str) {
    if let Some(Value::String(held)) = holder.get_mut(key) {
        held.push_str(more);
    } else if holder.is_object() {
        holder[key] = more.into();
    }
}

pub(super) fn events(answer: &Value) -> Vec<Event> {
    let mut number = 0_u64;
    let mut events = Vec::new();
    let mut event = |kind: &str, mut data: Value| {
        data["type"] = kind.into();
        data["sequence_number"] = number.into();
        number += 1;
        events.push(Event::named(kind, data.to_string()));
    };
    let mut begun = answer.clone();
    begun["status"] = "in_progress".into();
    begun["output"] = json!([]);
    begun["incomplete_details"] = Value::Null;
    begun["usage"] = Value::Null;
    event("response.created", json!({ "response": begun }));
    event("response.in_progress", json!({ "response": begun }));
    for (index, item) in list(answer, "output").iter().enumerate() {
        let id = &item["id"];
        let mut added = item.clone();
        match text(item, "type").unwrap_or_default() {
            "message" => {
                added["content"] = json!([]);
                added["status"] = "in_progress".into();
            }
            "function_call" => {
                added["arguments"] = "".into();
                added["status"] = "in_progress".into();
            }
            _ => {}
        }
        event(
            "response.output_item.added",
            json!({ "output_index": index, "item": added }),
        );
        if text(item, "type") == Some("function_call") {
            let whole = text(item, "arguments").unwrap_or_default();
            for piece in pieces(whole) {
                event(
                    "response.function_call_arguments.delta",
                    json!({ "item_id": id, "output_index": index, "delta": piece }),
                );
            }
            event(
                "response.function_call_arguments.done",
                json!({ "item_id": id, "output_index": index, "name": item["name"], "arguments": whole }),
            );
        }
        let content = match text(item, "type") {
            Some("message") => list(item, "content"),
            _ => &[],
        };
        for (at, part) in content.iter().enumerate() {
            let (key, kind) = match text(part, "type") {
                Some("refusal") => ("refusal", "response.refusal"),
                _ => ("text", "response.output_text"),
            };
            let place = |mut more: Value| {
                more["item_id"] = id.clone();
                more["output_index"] = index.into();
                more["content_index"] = at.into();
                more
            };
            let mut empty = part.clone();
            empty[key] = "".into();
            event(
                "response.content_part.added",
                place(json!({ "part": empty })),
            );
            let whole = text(part, key).unwrap_or_default();
            for piece in pieces(whole) {
                let mut delta = json!({ "delta": piece });
                if key == "text" {
                    delta["logprobs"] = json!([]);
                }
                event(&format!("{kind}.delta"), place(delta));
            }
            let mut done = json!({ key: whole });
            if key == "text" {
                done["logprobs"] = json!([]);
            }
            event(&format!("{kind}.done"), place(done));
            event("response.content_part.done", place(json!({ "part": part })));
        }
        event(
            "response.output_item.done",
            json!({ "output_index": index, "item": item }),
        );
    }
    let last = match text(answer, "status") {
        Some("incomplete") => "response.incomplete",
        Some("failed") => "response.failed",
        _ => "response.completed",
    };
    event(last, json!({ "response": answer }));
    events
}
