//! Chunks of a chat completion.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::super::reading::Reading;
use super::super::sse::Event;
use super::super::written::pieces;
use super::super::{Assembled, arguments};
use super::open_calls::{OpenCalls, is_none};
use super::{finish_reason, head, message, usage};
use crate::exchange::{ModelResponse, Part};
use crate::json::{count, list, non_null};

pub(super) fn assembled(events: &[Event]) -> Assembled {
    let mut whole = Map::new();
    let mut choices: BTreeMap<u64, Choice> = BTreeMap::new();
    let mut assembled = Assembled::default();
    let mut reading = Reading::default();
    for event in events {
        if event.data.trim() == "[DONE]" {
            assembled.ended = true;
            continue;
        }
        let Some(Value::Object(chunk)) = reading.value(event) else {
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
                    let empty = || Choice {
                        whole: json!({ "index": index, "message": {} }),
                        calls: OpenCalls::default(),
                    };
                    choices.entry(index).or_insert_with(empty).take(delta);
                }
            } else if !value.is_null() {
                whole.insert(key.clone(), value.clone());
            }
        }
    }
    let stopped = |choice: &Choice| non_null(&choice.whole, "finish_reason").is_some();
    assembled.ended |= !choices.is_empty() && choices.values().all(stopped);
    if !choices.is_empty() || !whole.is_empty() {
        let choices = choices.into_values().map(|choice| choice.whole);
        whole.insert("choices".to_owned(), choices.collect());
        whole.insert("object".to_owned(), "chat.completion".into());
        assembled.body = Some(Value::Object(whole));
    }
    reading.end(assembled)
}

/// A choice that is put together.
struct Choice {
    whole: Value,
    calls: OpenCalls,
}

impl Choice {
    /// Takes a chunk in.
    fn take(&mut self, chunk: &Value) {
        if let Some(reason) = non_null(chunk, "finish_reason") {
            self.whole["finish_reason"] = reason.clone();
        }
        let Some(Value::Object(delta)) = chunk.get("delta") else {
            return;
        };
        let message = &mut self.whole["message"];
        for (key, value) in delta {
            match (key.as_str(), value) {
                (_, Value::Null) => {}
                ("role", role) => message["role"] = role.clone(),
                ("tool_calls", Value::Array(pieces)) => {
                    let calls = &mut message["tool_calls"];
                    if !calls.is_array() {
                        *calls = json!([]);
                        self.calls = OpenCalls::default();
                    }
                    if let Some(calls) = calls.as_array_mut() {
                        for piece in pieces {
                            take_call(calls, &mut self.calls, piece);
                        }
                    }
                }
                (_, value) => join(&mut message[key], value),
            }
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

fn take_call(calls: &mut Vec<Value>, open: &mut OpenCalls, piece: &Value) {
    let at = open.find(piece).unwrap_or(calls.len());
    if at == calls.len() {
        calls.push(json!({}));
    }
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
            "id" if value.as_str().is_some_and(is_none) => {}
            _ => call[key] = value.clone(),
        }
    }
    open.note(at, call);
}

pub(super) fn events(said: &ModelResponse) -> Vec<Event> {
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
        // Whole: not every client puts together a call that comes in pieces, and none asks for pieces.
        let mut call = call.clone();
        call["index"] = index.into();
        if let Some(args) = call.pointer_mut("/function/arguments") {
            *args = arguments::text_of(args).into();
        }
        chunk(json!({ "tool_calls": [call] }), None);
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
