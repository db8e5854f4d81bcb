//! Chunks of generated content.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::reading::Reading;
use super::super::sse::Event;
use super::super::written::pieces;
use super::super::{Assembled, arguments};
use super::with_texts;
use crate::json::{count, list, non_null, text};

pub(super) fn assembled(events: &[Event]) -> Assembled {
    let mut assembled = Assembled::default();
    let mut reading = Reading::default();
    let mut body = json!({});
    let mut candidates: BTreeMap<u64, Value> = BTreeMap::new();
    let mut any = false;
    for event in events {
        let chunk = reading.value(event);
        let chunk = chunk.map(|chunk| with_texts(chunk, event.data.as_bytes()));
        let Some(Value::Object(chunk)) = chunk else {
            continue;
        };
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            assembled.error = Some(error.clone());
            continue;
        }
        any = true;
        for (key, value) in chunk {
            if key != "candidates" {
                if !value.is_null() {
                    body[key] = value;
                }
                continue;
            }
            for piece in value.as_array().into_iter().flatten() {
                let index = count(piece, "index").unwrap_or_default();
                let empty = || json!({ "content": { "role": "model", "parts": [] } });
                take(candidates.entry(index).or_insert_with(empty), piece);
            }
        }
    }
    let stopped = |candidate: &Value| non_null(candidate, "finishReason").is_some();
    let blocked = body.pointer("/promptFeedback/blockReason").is_some();
    assembled.ended = blocked || !candidates.is_empty() && candidates.values().all(stopped);
    if any {
        if !candidates.is_empty() {
            body["candidates"] = candidates.into_values().collect();
        }
        assembled.body = Some(body);
    }
    reading.end(assembled)
}

/// Takes a chunk into a candidate.
fn take(candidate: &mut Value, piece: &Value) {
    for (key, value) in piece.as_object().into_iter().flatten() {
        if key != "content" && !value.is_null() {
            candidate[key] = value.clone();
        }
    }
    let Some(parts) = candidate["content"]["parts"].as_array_mut() else {
        return;
    };
    let own = piece.get("content").map_or(&[][..], |it| list(it, "parts"));
    for part in own {
        match parts.last_mut() {
            Some(last) if is_words(last) && goes_on(last, part) => {
                if let Some(Value::String(said)) = last.get_mut("text") {
                    said.push_str(text(part, "text").unwrap_or_default());
                }
                // A signature comes with the last piece.
                let others = part.as_object().into_iter().flatten();
                for (key, value) in others.filter(|(key, _)| *key != "text") {
                    last[key] = value.clone();
                }
            }
            _ => parts.push(part.clone()),
        }
    }
}

/// Whether a part is text and nothing is said beside it that would end it.
fn is_words(part: &Value) -> bool {
    text(part, "text").is_some() && non_null(part, "thoughtSignature").is_none()
}

/// Whether a part is more of the text before it.
fn goes_on(last: &Value, part: &Value) -> bool {
    let thinks = |part: &Value| part.get("thought") == Some(&Value::Bool(true));
    text(part, "text").is_some() && thinks(last) == thinks(part)
}

pub(super) fn events(answer: &Value) -> Vec<Event> {
    let mut events = Vec::new();
    let candidate = &answer["candidates"][0];
    let mut chunk = |parts: Value, last: bool| {
        let mut chunk = answer.clone();
        let mut own = json!({ "content": { "role": "model", "parts": parts }, "index": 0 });
        if last {
            if let Some(reason) = non_null(candidate, "finishReason") {
                own["finishReason"] = reason.clone();
            }
        } else if let Some(chunk) = chunk.as_object_mut() {
            chunk.remove("usageMetadata");
        }
        chunk["candidates"] = json!([own]);
        events.push(Event::data(arguments::written(&chunk)));
    };
    for part in list(&candidate["content"], "parts") {
        let Some(said) = text(part, "text") else {
            chunk(json!([part]), false);
            continue;
        };
        let pieces: Vec<&str> = pieces(said).collect();
        let Some((end, begin)) = pieces.split_last() else {
            chunk(json!([part]), false);
            continue;
        };
        for piece in begin {
            let mut own = json!({ "text": piece });
            if part["thought"] == true {
                own["thought"] = true.into();
            }
            chunk(json!([own]), false);
        }
        let mut own = part.clone();
        own["text"] = (*end).into();
        chunk(json!([own]), false);
    }
    chunk(json!([]), true);
    events
}
