//! A change of a run, and what it makes of the turns.

use crate::trace::{Trace, canonical_json};
use serde_json::{Value, json};

use super::turns::{self, AsTurn, Of};

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

/// Why a run stopped that a cap ended.
pub(super) const CAP: &str = "turn_budget";

/// The payload of a result that was made to fail.
pub(super) fn failed() -> Value {
    json!({ "content": [{ "type": "text", "text": FAILED }] })
}

impl Change {
    /// The turns with this change, of a run with so many calls; `before` is the name of the changed
    /// call, or the closing.
    pub(super) fn turns<T: AsTurn>(&self, mut turns: Vec<T>, calls: usize, before: &str) -> Vec<T> {
        match self {
            Self::Order(order) => return turns::reordered(&turns, order, calls),
            Self::Call { call, name, args } => {
                turns::edit(&mut turns, calls, Of::Call, *call, |text| {
                    let (head, _) = text.split_once(" with ")?;
                    let head = head.strip_suffix(before)?;
                    Some(format!("{head}{name} with {}", canonical_json(args)))
                });
            }
            Self::FailResult(call) => {
                turns::edit(&mut turns, calls, Of::Result, *call, |_| {
                    Some(FAILED.to_owned())
                });
            }
            Self::DropResult(call) => turns::edit(&mut turns, calls, Of::Result, *call, |_| None),
            Self::Closing(text) => turns::replace_closing(&mut turns, before, text),
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

    /// What [`Change::turns`] needs to know of the run before.
    pub(super) fn before<'a>(&self, trace: &'a Trace) -> &'a str {
        match self {
            Self::Call { call, .. } => &trace.tool_calls[*call].name,
            _ => trace.closing().unwrap_or_default(),
        }
    }
}

/// A bound of a range of calls in the new order; where calls only changed places it stays.
pub(super) fn moved_bound(order: &[usize], calls: usize, bound: usize) -> usize {
    if turns::is_permutation(order, calls) {
        return bound;
    }
    let anchors = turns::anchors(order);
    anchors.iter().filter(|anchor| **anchor < bound).count()
}
