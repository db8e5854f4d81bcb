//! What playing needs and the trace does not tell: the field `session` of a cassette, which readers that do
//! not know it ignore.
//!
//! `version` is `1.0`: a reader of another first number leaves the field alone.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::conversation::{Calls, ModelCall};
use super::observed::{Observed, Outcome};
use super::options::Role;
use crate::exchange::Part;

/// The version of the field.
const VERSION: &str = "1.0";

pub(super) fn of(
    calls: &Calls,
    roles: &[Role],
    observed: &[Observed],
    notes: &[String],
    unknown: &BTreeSet<&str>,
) -> Value {
    let mut field = json!({ "version": VERSION });
    if calls.retries > 0 {
        field["retries"] = calls.retries.into();
    }
    if !notes.is_empty() {
        field["notes"] = notes.into();
    }
    if !unknown.is_empty() {
        field["unknown"] = unknown.iter().copied().collect();
    }
    let mut conversations = Vec::new();
    for (conversation, role) in calls.conversations.iter().zip(roles) {
        let (role, name) = match role {
            Role::Main => ("main", None),
            Role::Side => ("side", None),
            Role::Agent(name) => ("agent", Some(name)),
        };
        let is_main = role == "main";
        let written = conversation.answered().map(|call| answer(call, is_main));
        let mut written = json!({ "role": role, "answers": written.collect::<Vec<_>>() });
        if let Some(name) = name {
            written["name"] = name.as_str().into();
        }
        if let (Some(first), false) = (conversation.calls.first(), is_main) {
            written["opening"] = first.asked.opening().into();
            written["system_prompt"] = first.asked.system.as_deref().into();
        }
        conversations.push(written);
    }
    field["conversations"] = conversations.into();
    let others: Vec<Value> = observed.iter().filter_map(other).collect();
    if !others.is_empty() {
        field["others"] = others.into();
    }
    field
}

/// An answer. What the main conversation says stands in the trace; it is kept here where something of it is
/// opaque, since only the order of all parts tells where that stood.
fn answer(call: &ModelCall, is_main: bool) -> Value {
    let said = &call.said;
    let mut written = json!({ "protocol": call.protocol });
    let optional = [
        ("asked", call.asked.model.clone().map(Value::from)),
        ("id", said.id.clone().map(Value::from)),
        ("model", said.model.clone().map(Value::from)),
        (
            "stop",
            said.stop
                .as_ref()
                .and_then(|stop| serde_json::to_value(stop).ok()),
        ),
        ("items", (!said.items.is_empty()).then(|| json!(said.items))),
        ("broken", call.broken.clone().map(Value::from)),
        ("streamed", call.asked.streamed.then_some(Value::Bool(true))),
    ];
    for (key, value) in optional {
        if let Some(value) = value {
            written[key] = value;
        }
    }
    let ids = said.calls().map(|call| call.id.clone());
    let ids: Vec<Option<String>> = ids.collect();
    if !ids.is_empty() {
        written["call_ids"] = json!(ids);
    }
    let is_opaque = |part: &Part| match part {
        Part::Opaque(_) => true,
        Part::Call(call) => call.native.is_some(),
        Part::Result(result) => result.native.is_some(),
        Part::Text(_) | Part::Refusal(_) => false,
    };
    if !is_main || said.parts.iter().any(is_opaque) {
        written["parts"] = serde_json::to_value(&said.parts).unwrap_or_default();
    }
    written
}

/// A request that asks no model, with its answer.
fn other(observed: &Observed) -> Option<Value> {
    let Outcome::Other {
        status,
        media_type,
        body,
    } = &observed.outcome
    else {
        return None;
    };
    let mut written = json!({
        "digest": observed.digest,
        "method": observed.method,
        "path": observed.path,
        "status": status,
    });
    if let Some(query) = &observed.query {
        written["query"] = query.as_str().into();
    }
    if let Some(media_type) = media_type {
        written["media_type"] = media_type.as_str().into();
    }
    match std::str::from_utf8(body) {
        Ok(text) => written["body"] = text.into(),
        Err(_) => written["body_base64"] = STANDARD.encode(body).into(),
    }
    Some(written)
}
