//! The events of a message history: who said what, which calls were made, what came back. Two histories are the
//! same if their events are. How a client cuts a message into pieces, and what only a provider understands, is no
//! difference.

use std::borrow::Borrow;

use mcptest_trace::trace::canonical_json;
#[cfg(feature = "play")]
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::exchange::{Item, Part};
#[cfg(feature = "play")]
use crate::lossless::parse_exact;
use crate::protocol::blob;

/// An event in a message history.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum HistoryEvent {
    User(String),
    Assistant(String),
    Call { id: Option<String>, what: String },
    Result { id: Option<String>, value: String },
    Turn(String, String),
}

/// The events of a message history. The text of an answer comes before its calls, as some formats have it.
pub(super) fn from_items(items: &[impl Borrow<Item>]) -> Vec<HistoryEvent> {
    let mut all = Vec::new();
    for piece in pieces(items) {
        add_piece(piece, &mut all);
    }
    all
}

/// The pieces that a history is read in: an item, or answers that stand one after the other. Some clients send an
/// answer back as several messages.
pub(super) fn pieces<I: Borrow<Item>>(items: &[I]) -> impl Iterator<Item = &[I]> {
    let is_answer = |item: &I| matches!(item.borrow(), Item::Answer(_));
    items.chunk_by(move |one, next| is_answer(one) && is_answer(next))
}

/// Adds the events of a piece of a history.
pub(super) fn add_piece(piece: &[impl Borrow<Item>], all: &mut Vec<HistoryEvent>) {
    let mut parts: Vec<&Part> = Vec::new();
    for item in piece.iter().map(Borrow::borrow) {
        match item {
            Item::User(text) => all.push(HistoryEvent::User(text.trim().to_owned())),
            Item::Turn { role, text } => {
                all.push(HistoryEvent::Turn(role.clone(), text.trim().to_owned()));
            }
            Item::Result(result) => all.push(HistoryEvent::Result {
                id: result.id.clone(),
                value: canonical_json(&result.value),
            }),
            Item::Reference(id) => all.push(HistoryEvent::Assistant(id.clone())),
            Item::Answer(own) => parts.extend(own),
        }
    }
    add_answer(&parts, all);
}

/// How many events the first items of a history have: none of them, the first one, the first two, and so on.
pub(super) fn event_counts(items: &[impl Borrow<Item>]) -> Vec<usize> {
    let mut lengths = vec![0];
    let mut length = 0;
    for piece in pieces(items) {
        let mut has_text = false;
        for item in piece {
            let Item::Answer(parts) = item.borrow() else {
                length += 1;
                lengths.push(length);
                continue;
            };
            for part in parts {
                match part {
                    Part::Text(text) | Part::Refusal(text) if !has_text => {
                        has_text = !text.trim().is_empty();
                        length += usize::from(has_text);
                    }
                    Part::Call(call) if call.native.is_none() => length += 1,
                    _ => {}
                }
            }
            lengths.push(length);
        }
    }
    lengths
}

/// A digest of the events of a history: equal for equal histories, whichever program asks.
pub(crate) fn digest(items: &[impl Borrow<Item>]) -> String {
    digest_events(from_items(items))
}

/// A digest of what a history says: a result that is JSON as text counts as its value.
#[cfg(feature = "play")]
pub(crate) fn digest_by_value(items: &[impl Borrow<Item>]) -> String {
    let mut all = from_items(items);
    for one in &mut all {
        if let HistoryEvent::Result { value, .. } = one
            && let Ok(Value::String(text)) = serde_json::from_str(value)
            && let Some(inner @ (Value::Object(_) | Value::Array(_))) = parse_exact(&text)
        {
            *value = canonical_json(&inner);
        }
    }
    digest_events(all)
}

fn digest_events(all: Vec<HistoryEvent>) -> String {
    let mut digest = Sha256::new();
    for one in all {
        let (kind, texts) = match one {
            HistoryEvent::User(text) => ("user", [text, String::new()]),
            HistoryEvent::Assistant(text) => ("said", [text, String::new()]),
            HistoryEvent::Call { id, what } => ("call", [id.unwrap_or_default(), what]),
            HistoryEvent::Result { id, value } => ("result", [id.unwrap_or_default(), value]),
            HistoryEvent::Turn(role, text) => ("turn", [role, text]),
        };
        for part in [kind, &texts[0], &texts[1]] {
            digest.update(part.len().to_be_bytes());
            digest.update(part);
        }
    }
    blob::hex(&digest.finalize())
}

fn add_answer(parts: &[&Part], all: &mut Vec<HistoryEvent>) {
    let mut said = String::new();
    let mut calls = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) | Part::Refusal(text) => said += text,
            Part::Call(call) if call.native.is_none() => calls.push(HistoryEvent::Call {
                id: call.id.clone(),
                what: format!("{} {}", call.name, canonical_json(&call.args)),
            }),
            _ => {}
        }
    }
    let said = said.trim();
    if !said.is_empty() {
        all.push(HistoryEvent::Assistant(said.to_owned()));
    }
    all.extend(calls);
}
