//! Lines of an answer.

use serde_json::{Map, Value, json};

use super::super::reading::Reading;
use super::super::sse::Event;
use super::super::written::pieces;
use super::super::{Assembled, Protocol as _, arguments};
use super::{Ollama, end, head, message};
use crate::exchange::ModelResponse;
use crate::json::list;

pub(super) fn assembled(events: &[Event]) -> Assembled {
    let mut assembled = Assembled::default();
    let mut reading = Reading::default();
    let mut whole = Map::new();
    let mut message = Map::new();
    for event in events {
        let line = reading.value(event);
        let line = line.map(|line| Ollama.with_texts(line, event.data.as_bytes()));
        let Some(Value::Object(line)) = line else {
            continue;
        };
        if let Some(error) = line.get("error").filter(|error| !error.is_null()) {
            assembled.error = Some(error.clone());
            continue;
        }
        for (key, value) in line {
            match value {
                Value::Null => {}
                Value::Object(piece) if key == "message" => {
                    for (key, value) in piece {
                        take(&mut message, key, value);
                    }
                    whole.entry("message").or_insert_with(|| json!({}));
                }
                // The probabilities of words come with the words.
                Value::Array(_) => take(&mut whole, key, value),
                value => {
                    assembled.ended |= key == "done" && value == true;
                    whole.insert(key, value);
                }
            }
        }
    }
    if let Some(held) = whole.get_mut("message") {
        *held = Value::Object(message);
    }
    if !whole.is_empty() {
        assembled.body = Some(Value::Object(whole));
    }
    reading.end(assembled)
}

/// Takes a piece into what is there: texts and lists grow.
fn take(held: &mut Map<String, Value>, key: String, piece: Value) {
    match (held.get_mut(&key), piece) {
        (_, Value::Null) => {}
        (Some(Value::String(text)), Value::String(more)) if key != "role" => text.push_str(&more),
        (Some(Value::Array(items)), Value::Array(more)) => items.extend(more),
        (_, piece) => _ = held.insert(key, piece),
    }
}

pub(super) fn events(said: &ModelResponse) -> Vec<Event> {
    let mut events = Vec::new();
    let mut line = |piece: Value, is_last: bool| {
        let mut line = head(said);
        line["message"] = piece;
        line["done"] = false.into();
        if is_last {
            end(&mut line, said);
        }
        events.push(Event::data(arguments::written(&line)));
    };
    let whole = message(&said.parts);
    let empty = || json!({ "role": "assistant", "content": "" });
    let mut rest = empty();
    for (key, value) in whole.as_object().into_iter().flatten() {
        match (key.as_str(), value) {
            ("role" | "content" | "tool_calls", _) => {}
            // What the model thinks comes before what it says.
            (_, Value::String(text)) => {
                for piece in pieces(text) {
                    let mut message = empty();
                    message[key] = piece.into();
                    line(message, false);
                }
            }
            (_, value) => rest[key] = value.clone(),
        }
    }
    if rest != empty() {
        line(rest, false);
    }
    for piece in pieces(whole["content"].as_str().unwrap_or_default()) {
        line(json!({ "role": "assistant", "content": piece }), false);
    }
    for call in list(&whole, "tool_calls") {
        let mut message = empty();
        message["tool_calls"] = json!([call]);
        line(message, false);
    }
    line(empty(), true);
    events
}
