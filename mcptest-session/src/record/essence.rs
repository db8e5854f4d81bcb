//! What makes two talks the same talk: who said what, which calls were made, what came back. How a client
//! cuts a message into pieces, and what only a provider understands, is no difference.

use std::borrow::Borrow;

use mcptest_trace::trace::canonical_json;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::exchange::{Item, Part};
use crate::protocol::blob;

/// One thing that happened in a talk.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Essence {
    User(String),
    Said(String),
    Call { id: Option<String>, what: String },
    Result { id: Option<String>, value: String },
    Turn(String, String),
}

impl Essence {
    /// The identifier of a call or of a result.
    pub(super) fn id(&self) -> Option<&str> {
        match self {
            Self::Call { id, .. } | Self::Result { id, .. } => id.as_deref(),
            Self::User(_) | Self::Said(_) | Self::Turn(..) => None,
        }
    }

    /// What happened, whichever identifier it had: its kind, and its words.
    pub(super) fn without_id(&self) -> (u8, &str, &str) {
        match self {
            Self::User(text) => (0, "", text),
            Self::Said(text) => (1, "", text),
            Self::Call { what, .. } => (2, "", what),
            Self::Result { value, .. } => (3, "", value),
            Self::Turn(role, text) => (4, role, text),
        }
    }
}

/// The things that happened in a talk. What one answer says comes before its calls, as some formats have it.
pub(super) fn of(items: &[impl Borrow<Item>]) -> Vec<Essence> {
    let mut all = Vec::new();
    let mut items = items.iter().map(Borrow::borrow).peekable();
    while let Some(item) = items.next() {
        match item {
            Item::User(text) => all.push(Essence::User(text.trim().to_owned())),
            Item::Turn { role, text } => {
                all.push(Essence::Turn(role.clone(), text.trim().to_owned()));
            }
            Item::Result(result) => all.push(Essence::Result {
                id: result.id.clone(),
                value: canonical_json(&result.value),
            }),
            Item::Reference(id) => all.push(Essence::Said(id.clone())),
            Item::Answer(parts) => {
                let mut parts: Vec<&Part> = parts.iter().collect();
                // Some clients send an answer back as several messages.
                while let Some(Item::Answer(more)) =
                    items.next_if(|next: &&Item| matches!(next, Item::Answer(_)))
                {
                    parts.extend(more);
                }
                answer(&parts, &mut all);
            }
        }
    }
    all
}

/// The same for talks that are the same, whichever program asks.
pub(crate) fn digest(items: &[impl Borrow<Item>]) -> String {
    digest_of(of(items))
}

/// The same for talks that say the same: a result that is JSON as text is its value.
pub(crate) fn digest_by_value(items: &[impl Borrow<Item>]) -> String {
    let mut all = of(items);
    for one in &mut all {
        if let Essence::Result { value, .. } = one
            && let Ok(Value::String(text)) = serde_json::from_str(value)
            && let Ok(inner @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(&text)
        {
            *value = canonical_json(&inner);
        }
    }
    digest_of(all)
}

fn digest_of(all: Vec<Essence>) -> String {
    let mut digest = Sha256::new();
    for one in all {
        let (kind, texts) = match one {
            Essence::User(text) => ("user", [text, String::new()]),
            Essence::Said(text) => ("said", [text, String::new()]),
            Essence::Call { id, what } => ("call", [id.unwrap_or_default(), what]),
            Essence::Result { id, value } => ("result", [id.unwrap_or_default(), value]),
            Essence::Turn(role, text) => ("turn", [role, text]),
        };
        for part in [kind, &texts[0], &texts[1]] {
            digest.update(part.len().to_be_bytes());
            digest.update(part);
        }
    }
    blob::hex(&digest.finalize())
}

fn answer(parts: &[&Part], all: &mut Vec<Essence>) {
    let mut said = String::new();
    let mut calls = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) | Part::Refusal(text) => said += text,
            Part::Call(call) if call.native.is_none() => calls.push(Essence::Call {
                id: call.id.clone(),
                what: format!("{} {}", call.name, canonical_json(&call.args)),
            }),
            _ => {}
        }
    }
    let said = said.trim();
    if !said.is_empty() {
        all.push(Essence::Said(said.to_owned()));
    }
    all.extend(calls);
}
