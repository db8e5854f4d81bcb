//! Events of a `ConverseStream`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::super::reading::Reading;
use super::super::sse::Event;
use super::super::written::pieces;
use super::super::{Assembled, arguments};
use super::blocks::{FIELDS, INPUT_TEXT, kind_of};
use super::{exception_error, is_exception};
use crate::json::{count, list, member, non_null, text};

/// The most blocks that an answer may have: an index beyond is no index.
const MOST_BLOCKS: u64 = 10_000;

pub(super) fn assembled(events: &[Event]) -> Assembled {
    let mut assembled = Assembled::default();
    let mut reading = Reading::default();
    let mut body: Option<Value> = None;
    let mut role = Value::from("assistant");
    let mut blocks: Vec<(u64, Building)> = Vec::new();
    for event in events {
        let data = reading.value(event);
        if is_exception(event) {
            assembled.error = Some(exception_error(event, data));
            continue;
        }
        let Some(data) = data.filter(Value::is_object) else {
            continue;
        };
        let index = count(&data, "contentBlockIndex").filter(|index| *index < MOST_BLOCKS);
        match event.name.as_deref().unwrap_or_default() {
            "messageStart" => {
                body.get_or_insert_with(|| json!({}));
                if let Some(told) = non_null(&data, "role") {
                    role = told.clone();
                }
            }
            "contentBlockStart" => {
                if let (Some(index), Some(start)) = (index, data.get("start")) {
                    blocks.push((index, Building::from_start(start)));
                }
            }
            "contentBlockDelta" => {
                if let (Some(index), Some(delta)) = (index, data.get("delta")) {
                    // A text has no start.
                    let open = blocks.iter().rposition(|(own, _)| *own == index);
                    let open = open.unwrap_or_else(|| {
                        blocks.push((index, Building::default()));
                        blocks.len() - 1
                    });
                    blocks[open].1.take(delta);
                }
            }
            "messageStop" => {
                merge(body.get_or_insert_with(|| json!({})), &data);
                assembled.ended = true;
            }
            "metadata" => merge(body.get_or_insert_with(|| json!({})), &data),
            _ => {}
        }
    }
    if body.is_some() || !blocks.is_empty() {
        let mut body = body.unwrap_or_else(|| json!({}));
        blocks.sort_by_key(|(index, _)| *index);
        let content = blocks
            .into_iter()
            .filter_map(|(_, block)| block.whole(&mut reading));
        let content: Value = content.collect();
        body["output"] = json!({ "message": { "role": role, "content": content } });
        assembled.body = Some(body);
    }
    reading.end(assembled)
}

/// Takes what an event says of the whole answer. What pads an event says nothing.
fn merge(body: &mut Value, data: &Value) {
    for (key, value) in data.as_object().into_iter().flatten() {
        if key != "p" && !value.is_null() {
            body[key] = value.clone();
        }
    }
}

/// A block whose pieces are coming.
#[derive(Default)]
struct Building {
    block: Value,
    /// The pieces of its input, which are JSON only when all are there.
    input: Option<String>,
    citations: Vec<Value>,
}

impl Building {
    fn from_start(start: &Value) -> Self {
        let block = match kind_of(start) {
            Some((kind, inner)) if inner.is_object() => json!({ kind: inner }),
            _ => Value::Null,
        };
        Self {
            block,
            ..Self::default()
        }
    }

    fn take(&mut self, delta: &Value) {
        let Some((kind, inner)) = kind_of(delta) else {
            return;
        };
        match kind {
            "text" => {
                let more = inner.as_str().unwrap_or_default();
                append(&mut self.block, "text", more);
            }
            "toolUse" => {
                let input = self.input.get_or_insert_default();
                input.push_str(text(inner, "input").unwrap_or_default());
            }
            "reasoningContent" => self.think(inner),
            "citation" => self.citations.push(inner.clone()),
            "toolResult" => {
                let content = self.member("toolResult");
                if !content["content"].is_array() {
                    content["content"] = json!([]);
                }
                if let (Some(held), Some(more)) =
                    (content["content"].as_array_mut(), inner.as_array())
                {
                    held.extend(more.iter().cloned());
                }
            }
            kind => {
                let held = self.member(kind);
                for (key, value) in inner.as_object().into_iter().flatten() {
                    held[key] = value.clone();
                }
            }
        }
    }

    /// What the block holds, as an object.
    fn member(&mut self, kind: &str) -> &mut Value {
        if !self.block.is_object() {
            self.block = json!({});
        }
        let held = &mut self.block[kind];
        if !held.is_object() {
            *held = json!({});
        }
        held
    }

    fn think(&mut self, delta: &Value) {
        let held = self.member("reasoningContent");
        for key in ["text", "signature"] {
            if let Some(more) = text(delta, key) {
                append(&mut held["reasoningText"], key, more);
            }
        }
        if let Some(more) = text(delta, "redactedContent") {
            let before = text(held, "redactedContent").unwrap_or_default();
            held["redactedContent"] = joined(before, more).into();
        }
    }

    /// The block, when all pieces are there; nothing where none came.
    fn whole(mut self, reading: &mut Reading) -> Option<Value> {
        if !self.citations.is_empty() {
            let said = text(&self.block, "text").unwrap_or_default();
            return Some(json!({ "citationsContent": {
                "content": [{ "text": said }], "citations": self.citations,
            } }));
        }
        if let Some(call) = self.block.get_mut("toolUse").filter(|it| it.is_object()) {
            let input = self.input.unwrap_or_default();
            // Input that broke off stays the text that came.
            let (read, changes) = arguments::of_text(&input);
            call["input"] = read;
            if !input.is_empty() {
                call[INPUT_TEXT] = input.into();
            }
            reading.changed(changes);
        }
        self.block.is_object().then_some(self.block)
    }
}

fn append(block: &mut Value, key: &str, more: &str) {
    if !block.is_object() {
        *block = json!({});
    }
    if let Some(Value::String(held)) = block.get_mut(key) {
        held.push_str(more);
    } else {
        block[key] = more.into();
    }
}

/// Bytes that come in several pieces, each of which is base64 of its own.
fn joined(before: &str, more: &str) -> String {
    match (STANDARD.decode(before), STANDARD.decode(more)) {
        (Ok(before), Ok(more)) => STANDARD.encode([before, more].concat()),
        _ => format!("{before}{more}"),
    }
}

/// The fields of an answer that stand in the event that ends the message; the others come with the tokens.
const AT_THE_END: [&str; 2] = ["stopReason", FIELDS];

pub(super) fn events(answer: &Value) -> Vec<Event> {
    let mut events = Vec::new();
    let mut event = |kind: &str, data: &Value| events.push(Event::named(kind, data.to_string()));
    let message = &answer["output"]["message"];
    event("messageStart", &json!({ "role": "assistant" }));
    for (index, block) in list(message, "content").iter().enumerate() {
        let (start, deltas) = of_block(block);
        if let Some(start) = start {
            let data = json!({ "contentBlockIndex": index, "start": start });
            event("contentBlockStart", &data);
        }
        for delta in deltas {
            let data = json!({ "contentBlockIndex": index, "delta": delta });
            event("contentBlockDelta", &data);
        }
        event("contentBlockStop", &json!({ "contentBlockIndex": index }));
    }
    let (mut stop, mut metadata) = (json!({}), json!({}));
    for (key, value) in answer.as_object().into_iter().flatten() {
        if AT_THE_END.contains(&key.as_str()) {
            stop[key] = value.clone();
        } else if key != "output" {
            metadata[key] = value.clone();
        }
    }
    event("messageStop", &stop);
    event("metadata", &metadata);
    events
}

/// What begins a block, where something does, and its pieces.
fn of_block(block: &Value) -> (Option<Value>, Vec<Value>) {
    let Some((kind, inner)) = kind_of(block) else {
        return (None, Vec::new());
    };
    match kind {
        "text" => {
            let said = inner.as_str().unwrap_or_default();
            (None, texts(said, |piece| json!({ "text": piece })))
        }
        "toolUse" => {
            let mut start = inner.clone();
            if let Some(start) = start.as_object_mut() {
                start.remove("input");
            }
            let input = arguments::text_of(&inner["input"]);
            let deltas = texts(&input, |piece| json!({ "toolUse": { "input": piece } }));
            (Some(json!({ "toolUse": start })), deltas)
        }
        "toolResult" => {
            let mut start = inner.clone();
            if let Some(start) = start.as_object_mut() {
                start.remove("content");
            }
            let content = json!({ "toolResult": member(inner, "content") });
            (Some(json!({ "toolResult": start })), vec![content])
        }
        "reasoningContent" => {
            let mut deltas = Vec::new();
            let thought = member(inner, "reasoningText");
            for key in ["text", "signature"] {
                let said = text(&thought, key);
                let delta = |piece: &str| json!({ "reasoningContent": { key: piece } });
                deltas.extend(said.into_iter().flat_map(|said| texts(said, delta)));
            }
            if let Some(hidden) = non_null(inner, "redactedContent") {
                deltas.push(json!({ "reasoningContent": { "redactedContent": hidden } }));
            }
            (None, deltas)
        }
        "citationsContent" => {
            let said: String = list(inner, "content")
                .iter()
                .filter_map(|part| text(part, "text"))
                .collect();
            let mut deltas = texts(&said, |piece| json!({ "text": piece }));
            let citations = list(inner, "citations").iter();
            deltas.extend(citations.map(|citation| json!({ "citation": citation })));
            (None, deltas)
        }
        kind => (None, vec![json!({ kind: inner })]),
    }
}

fn texts(said: &str, piece: impl Fn(&str) -> Value) -> Vec<Value> {
    if said.is_empty() {
        return vec![piece("")];
    }
    pieces(said).map(piece).collect()
}
