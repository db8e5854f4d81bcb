//! A change of a run, and what it makes of the turns.

use crate::trace::{Trace, canonical_json};
use serde_json::{Value, json};

use super::turns::{self, Of, Placed};

/// A change of a run.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Change {
    /// These calls, by their place in the original, with their results and turns.
    Order(Vec<usize>),
    /// Another name or other arguments of a call.
    Call {
        call: usize,
        name: String,
        args: Value,
    },
    /// All results of a call are errors.
    FailResult(usize),
    /// A call has no result.
    DropResult(usize),
    /// Another closing.
    Closing(String),
    /// No closing, and the last turn of the assistant goes.
    DropClosing,
    /// So many calls, no closing, a cap.
    Truncate(usize),
    /// Three times the prompt tokens from this step on.
    GrowTokens(usize),
    /// A cap.
    StopReason,
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
            Self::Order(order) => return turns::reordered(&turns, order, calls),
            Self::Call { call, name, args } => {
                let before = trace.tool_calls[*call].name.as_str();
                turns::edit(&mut turns, calls, Of::Call, *call, |text| {
                    let (head, _) = text.split_once(" with ")?;
                    let head = head.strip_suffix(before)?;
                    Some(format!("{head}{name} with {}", canonical_json(args)))
                });
            }
            Self::FailResult(call) => {
                let failed = |_: &str| Some(FAILED.to_owned());
                turns::edit(&mut turns, calls, Of::Result, *call, failed);
            }
            Self::DropResult(call) => turns::edit(&mut turns, calls, Of::Result, *call, |_| None),
            Self::Closing(text) => {
                let before = trace.closing().unwrap_or_default();
                turns::replace_closing(&mut turns, before, text);
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

    /// The calls that are left, by their place in the original; `None` where all stay in place.
    pub(super) fn order(&self) -> Option<Vec<usize>> {
        match self {
            Self::Order(order) => Some(order.clone()),
            Self::Truncate(kept) => Some((0..*kept).collect()),
            _ => None,
        }
    }

    /// Whether a cap ends the run.
    pub(super) fn is_cap(&self) -> bool {
        matches!(self, Self::Truncate(_) | Self::StopReason)
    }
}
