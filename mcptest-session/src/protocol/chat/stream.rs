//! Chunks of a chat completion.

use serde_json::{Map, Value, json};

use super::super::sse::Event;
use super::super::written::pieces;
use super::super::{Assembled, arguments};
use super::{finish_reason, head, message, usage};
use crate::exchange::{Part, Said};
use crate::json::{count, given, list, text};

/// The most calls that an answer may have: an index beyond is no index.
const MOST_CALLS: u64 = 10_000;

pub(super) fn assembled(events: &[Event]) -> Assembled {
    let mut whole = Map::new();
    let mut choices: Vec<(u64, Value)> = Vec::new();
    let mut assembled = Assembled::default();
    for event in events {
        if event.data.trim() == "[DONE]" {
            assembled.ended = true;
            continue;
        }
        let Ok(Value::Object(chunk)) = serde_json::from_str(&event.data) else {
            continue;
        };
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            assembled.error = Some(error.clone());
            continue;
        }
        for (key, value) in &chunk {
            if key == "choices" {
                for delta in value.as_array().into_iter().flatten() {
                    let index = count(delta, "index").unwrap_or_default();
                    let at = choices.iter().position(|(known, _)| *known == index);
                    let at = at.unwrap_or_else(|| {
                        choices.push((index, json!({ "index": index, "message": {} })));
                        choices.len() - 1
                    });
                    take(&mut choices[at].1, delta);
                }
            } else if !value.is_null() {
                whole.insert(key.clone(), value.clone());
            }
        }
    }
    choices.sort_by_key(|(index, _)| *index);
    let stopped = |(_, choice): &(u64, Value)| given(choice, "finish_reason").is_some();
    assembled.ended |= !choices.is_empty() && choices.iter().all(stopped);
    if !choices.is_empty() || !whole.is_empty() {
        let choices = choices.into_iter().map(|(_, choice)| choice).collect();
        whole.insert("choices".to_owned(), choices);
        whole.insert("object".to_owned(), "chat.completion".into());
        assembled.body = Some(Value::Object(whole));
    }
    assembled
}

/// Takes a chunk into a choice.
fn take(choice: &mut Value, chunk: &Value) {
    if let Some(reason) = given(chunk, "finish_reason") {
        choice["finish_reason"] = reason.clone();
    }
    let Some(Value::Object(delta)) = chunk.get("delta") else {
        return;
    };
    let message = &mut choice["message"];
    for (key, value) in delta {
        match (key.as_str(), value) {
            (_, Value::Null) => {}
            ("role", role) => message["role"] = role.clone(),
            ("tool_calls", Value::Array(calls)) => {
                for call in calls {
                    take_call(message, call);
                }
            }
            (_, value) => join(&mut message[key], value),
        }
    }
}

/// Joins a piece to what is there: texts and lists grow, objects member by member.
fn join(whole: &mut Value, piece: &Value) {
    match (whole, piece) {
        (Value::String(text), Value::String(more)) => text.push_str(more),
        (Value::Array(items), Value::Array(more)) => items.extend(more.iter().cloned()),
        (Value::Object(map), Value::Object(more)) => {
            for (key, value) in more {
                join(map.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (_, Value::Null) => {}
        (whole, piece) => *whole = piece.clone(),
    }
}

fn take_call(message: &mut Value, piece: &Value) {
    if !message["tool_calls"].is_array() {
        message["tool_calls"] = json!([]);
    }
    let Some(calls) = message["tool_calls"].as_array_mut() else {
        return;
    };
    let index = count(piece, "index").filter(|index| *index < MOST_CALLS);
    let id = text(piece, "id").filter(|id| !id.is_empty());
    let of_index = |call: &Value| index.is_none() || count(call, "index") == index;
    // Some servers leave the index out, or number all calls 0: another identifier is another call.
    let is_it = |call: &Value| {
        let own = text(call, "id");
        of_index(call) && (id.is_none() || own.is_none() && index.is_some() || own == id)
    };
    let at = calls.iter().rposition(is_it).unwrap_or_else(|| {
        calls.push(json!({}));
        calls.len() - 1
    });
    let call = &mut calls[at];
    for (key, value) in piece.as_object().into_iter().flatten() {
        match key.as_str() {
            "function" | "custom" => {
                for (key_inside, value) in value.as_object().into_iter().flatten() {
                    let held = &mut call[key][key_inside];
                    match key_inside.as_str() {
                        "arguments" | "input" => join(held, value),
                        // A name comes whole, and may come again.
                        _ if value.as_str() == Some("") => {}
                        _ => *held = value.clone(),
                    }
                }
            }
            _ if value.is_null() || value.as_str() == Some("") => {}
            _ => call[key] = value.clone(),
        }
    }
}

pub(super) fn events(said: &Said) -> Vec<Event> {
    let base = head(said, "chat.completion.chunk");
    let mut events = Vec::new();
    let mut chunk = |delta: Value, reason: Option<&str>| {
        let mut chunk = base.clone();
        chunk["choices"] = json!([{ "index": 0, "delta": delta, "finish_reason": reason }]);
        events.push(Event::data(chunk.to_string()));
    };
    let whole = message(&said.parts);
    chunk(json!({ "role": "assistant", "content": "" }), None);
    for (key, value) in whole.as_object().into_iter().flatten() {
        match key.as_str() {
            "role" | "content" | "refusal" | "tool_calls" => {}
            _ => chunk(json!({ key: value }), None),
        }
    }
    for part in &said.parts {
        match part {
            Part::Text(text) => {
                for piece in pieces(text) {
                    chunk(json!({ "content": piece }), None);
                }
            }
            Part::Refusal(text) => {
                for piece in pieces(text) {
                    chunk(json!({ "refusal": piece }), None);
                }
            }
            _ => {}
        }
    }
    for (index, call) in list(&whole, "tool_calls").iter().enumerate() {
        let mut begin = call.clone();
        begin["index"] = index.into();
        begin["function"]["arguments"] = "".into();
        chunk(json!({ "tool_calls": [begin] }), None);
        let args = call.pointer("/function/arguments").unwrap_or(&Value::Null);
        for piece in pieces(&arguments::text(args)) {
            let delta = json!({ "index": index, "function": { "arguments": piece } });
            chunk(json!({ "tool_calls": [delta] }), None);
        }
    }
    chunk(json!({}), finish_reason(said));
    if let Some(tokens) = said.tokens {
        let mut last = base.clone();
        last["choices"] = json!([]);
        last["usage"] = usage(tokens);
        events.push(Event::data(last.to_string()));
    }
    events.push(Event::data("[DONE]"));
    events
}
