//! What a turn of the model says and calls, however a client cuts it into pieces.

use std::borrow::Borrow;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use mcptest_trace::trace::{canonical_json, json_eq};
use regex::Regex;
use serde_json::{Map, Value, json};

use super::matching::{texts_match, values_match};
use super::offered_tools::{ToolName, ToolNames};
use crate::exchange::Part;

/// A turn of the model: its text and its calls.
#[derive(Debug, Clone, Default)]
pub(super) struct ModelTurn {
    /// Its texts, one after the other.
    pub(super) text: String,
    pub(super) calls: Vec<TurnCall>,
    /// The answer broke off: what of it the client has is not known.
    pub(super) is_broken: bool,
}

/// A call of a tool in a turn.
#[derive(Debug, Clone, Default)]
pub(super) struct TurnCall {
    pub(super) id: Option<String>,
    pub(super) tool: ToolName,
    pub(super) args: Value,
    /// The call of the trace that it is.
    pub(super) index: Option<usize>,
}

/// What differs between two turns.
#[derive(Debug, Clone, Copy)]
pub(super) enum TurnChange<'s> {
    Text(&'s str, &'s str),
    /// A call that has other arguments.
    Arguments(&'s TurnCall, &'s TurnCall),
    CallGone(&'s TurnCall),
    CallNew(&'s TurnCall),
}

impl ModelTurn {
    pub(super) fn from_parts<P: Borrow<Part>>(
        names: &ToolNames,
        parts: impl IntoIterator<Item = P>,
    ) -> Self {
        let mut spoken = Self::default();
        for part in parts {
            match part.borrow() {
                Part::Text(text) | Part::Refusal(text) => spoken.text += text,
                Part::Call(call) if call.native.is_none() => {
                    let tool = match &call.server {
                        Some(server) => (Some(server.clone()), call.name.clone()),
                        None => names.resolve(&call.name),
                    };
                    spoken.calls.push(TurnCall {
                        id: call.id.clone(),
                        tool,
                        args: normalize_arguments(&call.args),
                        index: None,
                    });
                }
                // What only a provider understands is no difference.
                Part::Call(_) | Part::Result(_) | Part::Opaque(_) => {}
            }
        }
        spoken
    }

    /// Adds a turn that nobody answered before the model went on.
    pub(super) fn extend(&mut self, more: Self) {
        self.text += &more.text;
        self.calls.extend(more.calls);
        self.is_broken |= more.is_broken;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.calls.is_empty()
    }

    /// A hash of what the turn says and calls. Equal turns have equal hashes; identifiers of calls do not count.
    pub(super) fn hash_value(&self) -> u64 {
        #[cfg(test)]
        super::matching::work::one();
        let mut hasher = DefaultHasher::new();
        self.text.trim().hash(&mut hasher);
        for call in &self.calls {
            (&call.tool.1, canonical_json(&call.args)).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// The turn as a value: its text, or its text and its calls.
    pub(super) fn to_value(&self) -> Value {
        let text = self.text.trim();
        if self.calls.is_empty() {
            return text.into();
        }
        let mut value = json!({ "calls": self.calls.iter().map(call_value).collect::<Vec<_>>() });
        if !text.is_empty() {
            value["text"] = text.into();
        }
        value
    }

    /// The turn as an object that always has its text and its calls, also where they are empty: paths of
    /// `ignore_paths` find their member.
    pub(super) fn to_members(&self) -> Map<String, Value> {
        let calls: Vec<Value> = self.calls.iter().map(call_value).collect();
        let members = [("text", self.text.trim().into()), ("calls", calls.into())];
        let members = members.into_iter();
        members
            .map(|(key, value)| (key.to_owned(), value))
            .collect()
    }

    /// The first thing that another turn says otherwise.
    pub(super) fn first_change<'s>(
        &'s self,
        played: &'s Self,
        masks: &[Regex],
    ) -> Option<TurnChange<'s>> {
        if self.is_broken {
            return None;
        }
        let (old, new) = (self.text.trim(), played.text.trim());
        if !texts_match(old, new, masks) {
            return Some(TurnChange::Text(old, new));
        }
        let of = match_calls(self, played);
        for (call, of) in played.calls.iter().zip(&of) {
            let Some(old) = of.map(|of| &self.calls[of]) else {
                return Some(TurnChange::CallNew(call));
            };
            if !values_match(&old.args, &call.args, masks) {
                return Some(TurnChange::Arguments(old, call));
            }
        }
        let gone = (0..self.calls.len()).find(|call| !of.contains(&Some(*call)));
        gone.map(|call| TurnChange::CallGone(&self.calls[call]))
    }
}

fn call_value(call: &TurnCall) -> Value {
    json!({ "name": call.tool.1, "arguments": call.args })
}

impl TurnCall {
    pub(super) fn tool(&self) -> &str {
        &self.tool.1
    }

    /// Where the call stands in the cassette.
    fn place(&self) -> Option<String> {
        let index = self.index?;
        Some(format!("trace.tool_calls[{index}]"))
    }
}

impl TurnChange<'_> {
    /// The recorded value, the value now, and where the recorded one stands in the cassette.
    pub(super) fn values(&self) -> (Option<Value>, Option<Value>, Option<String>) {
        match self {
            Self::Text(old, new) => (Some((*old).into()), Some((*new).into()), None),
            Self::Arguments(old, new) => {
                (Some(old.args.clone()), Some(new.args.clone()), old.place())
            }
            Self::CallGone(old) => (Some(call_value(old)), None, old.place()),
            Self::CallNew(new) => (None, Some(call_value(new)), None),
        }
    }
}

/// Arguments as each format gives them back: nothing is the empty object, and a format that takes objects alone wraps
/// what is none.
fn normalize_arguments(args: &Value) -> Value {
    match args {
        Value::Null => json!({}),
        Value::Object(_) => args.clone(),
        other => json!({ "input": other }),
    }
}

/// For each call of a played turn, the recorded call that it is: that of its identifier, else the first of the same tool
/// with the same arguments, else the first of the same tool.
pub(super) fn match_calls(recorded: &ModelTurn, played: &ModelTurn) -> Vec<Option<usize>> {
    type IsSame = dyn Fn(&TurnCall, &TurnCall) -> bool;
    let mut of: Vec<Option<usize>> = vec![None; played.calls.len()];
    let mut taken = vec![false; recorded.calls.len()];
    let by: [&IsSame; 3] = [
        &|old, new| old.id.is_some() && old.id == new.id,
        &|old, new| json_eq(&old.args, &new.args),
        &|_, _| true,
    ];
    for is_same in by {
        for (new, place) in played.calls.iter().zip(&mut of) {
            if place.is_some() {
                continue;
            }
            let mut calls = recorded.calls.iter().enumerate();
            let found = calls.find(|(index, old)| {
                !taken[*index] && is_same_tool(&old.tool, &new.tool) && is_same(old, new)
            });
            if let Some((index, _)) = found {
                taken[index] = true;
                *place = Some(index);
            }
        }
    }
    of
}

/// Whether two names mean one tool. A server that one of the two does not name is no difference.
pub(super) fn is_same_tool(one: &ToolName, other: &ToolName) -> bool {
    one.1 == other.1 && (one.0 == other.0 || one.0.is_none() || other.0.is_none())
}
