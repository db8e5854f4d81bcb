//! A change of a run, and what it makes of the turns. It holds no more than what it changes, as a run of
//! many calls has many places where it can be changed.

use std::borrow::Cow;
use std::ops::Range;

use crate::trace::{ToolCall, Trace, canonical_json};
use serde_json::{Value, json};

use super::turns::{self, Placed, TurnKind};

/// A change of a run.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Change {
    /// These ranges of the original's calls one after the other, with their results and turns.
    Order(Vec<Range<usize>>),
    /// Another name of a call.
    Tool { call: usize, name: String },
    /// Other arguments of a call.
    Args { call: usize, edit: ArgsEdit },
    /// All results of a call are errors.
    FailResult(usize),
    /// A call has no result.
    DropResult(usize),
    /// More is said at the end of the closing.
    Claim(String),
    /// No closing, and the last turn of the assistant goes.
    DropClosing,
    /// So many calls, no closing, a cap.
    Truncate(usize),
    /// Three times the prompt tokens from this step on.
    GrowTokens(usize),
    /// A cap.
    StopReason,
}

/// A change of the arguments of a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ArgsEdit {
    /// Another value at a place that is there, by its JSON pointer.
    At(String, Value),
    /// Without a key.
    Without(String),
    /// With a key, whether or not it was there.
    With(&'static str, Value),
}

impl ArgsEdit {
    fn apply(&self, args: &mut Value) {
        match (self, args) {
            (Self::At(pointer, value), args) => {
                if let Some(place) = args.pointer_mut(pointer) {
                    place.clone_from(value);
                }
            }
            (Self::Without(key), Value::Object(map)) => _ = map.remove(key),
            (Self::With(key, value), Value::Object(map)) => {
                map.insert((*key).to_owned(), value.clone());
            }
            _ => {}
        }
    }
}

/// What a result says that was made to fail.
const FAILED: &str = "Error: mutated";

/// The payload of a result that was made to fail.
pub(super) fn failed() -> Value {
    json!({ "content": [{ "type": "text", "text": FAILED }] })
}

impl Change {
    /// The turns of a run with this change.
    pub(super) fn turns(&self, trace: &Trace) -> Vec<Placed> {
        let calls = trace.tool_calls.len();
        let turns = trace.conversation.turns.iter().cloned();
        let mut turns: Vec<Placed> = turns.enumerate().collect();
        match self {
            Self::Order(order) => {
                let order: Vec<usize> = order.iter().cloned().flatten().collect();
                return turns::reordered(&turns, &order, calls);
            }
            Self::Tool { call, .. } | Self::Args { call, .. } => {
                let before = &trace.tool_calls[*call];
                let (name, args) = self.apply_to_call(before);
                turns::edit(&mut turns, calls, TurnKind::Call, *call, |text| {
                    let (head, _) = text.split_once(" with ")?;
                    let head = head.strip_suffix(before.name.as_str())?;
                    Some(format!("{head}{name} with {}", canonical_json(&args)))
                });
            }
            Self::FailResult(call) => {
                let failed = |_: &str| Some(FAILED.to_owned());
                turns::edit(&mut turns, calls, TurnKind::Result, *call, failed);
            }
            Self::DropResult(call) => {
                turns::edit(&mut turns, calls, TurnKind::Result, *call, |_| None);
            }
            Self::Claim(claim) => {
                let before = trace.closing().unwrap_or_default();
                turns::replace_closing(&mut turns, before, &format!("{before}{claim}"));
            }
            Self::DropClosing => turns::drop_last_text(&mut turns),
            Self::Truncate(kept) => {
                turns::truncate(&mut turns, calls, *kept);
                let order: Vec<usize> = (0..*kept).collect();
                return turns::reordered(&turns, &order, calls);
            }
            Self::GrowTokens(_) | Self::StopReason => {}
        }
        turns
    }

    /// The call whose name or arguments the change replaces.
    pub(super) fn edited_call(&self) -> Option<usize> {
        match self {
            Self::Tool { call, .. } | Self::Args { call, .. } => Some(*call),
            _ => None,
        }
    }

    /// The one call that the change affects, in its name, its arguments or its result.
    pub(super) fn affected_call(&self) -> Option<usize> {
        match self {
            Self::FailResult(call) | Self::DropResult(call) => Some(*call),
            _ => self.edited_call(),
        }
    }

    /// The name and the arguments of a call with this change.
    pub(super) fn apply_to_call<'c>(&'c self, call: &'c ToolCall) -> (&'c str, Cow<'c, Value>) {
        let mut args = arguments_object(call);
        match self {
            Self::Tool { name, .. } => return (name, args),
            Self::Args { edit, .. } => edit.apply(args.to_mut()),
            _ => {}
        }
        (&call.name, args)
    }

    /// The calls that are left, by their place in the original; `None` where all stay in place.
    pub(super) fn order(&self) -> Option<Vec<usize>> {
        match self {
            Self::Order(order) => Some(order.iter().cloned().flatten().collect()),
            Self::Truncate(kept) => Some((0..*kept).collect()),
            _ => None,
        }
    }

    /// Whether a cap ends the run.
    pub(super) fn is_cap(&self) -> bool {
        matches!(self, Self::Truncate(_) | Self::StopReason)
    }
}

/// The arguments of a call: none are `{}`.
pub(super) fn arguments_object(call: &ToolCall) -> Cow<'_, Value> {
    if call.args.is_null() {
        Cow::Owned(json!({}))
    } else {
        Cow::Borrowed(&call.args)
    }
}
