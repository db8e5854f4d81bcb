//! A change of a run, and its effect on the recorded envelope.
//!
//! A mutant is made as a recording and read by the loader's own types, so that a mutant that could not
//! be recorded cannot exist.

use mcptest_trace::trace::{Run, Trace, canonical_json};
use serde_json::{Map, Value, json};

use super::turns;

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

/// What a run says that a cap ended.
const CAP: &str = "turn_budget";

impl Change {
    /// The run with this change.
    pub(super) fn apply(&self, run: &Run) -> Run {
        let mut envelope = run.envelope.clone();
        if let Some(root) = envelope.as_object_mut() {
            self.change(root, run);
        }
        let trace = Trace::from_envelope(&envelope);
        if let Some(root) = envelope.as_object_mut() {
            let names: Vec<&str> = trace
                .tool_calls
                .iter()
                .map(|call| call.name.as_str())
                .collect();
            root.insert("tool_names".to_owned(), json!(names));
            let repeated = json!(trace.redundant_tool_calls());
            root.insert("redundant_tool_calls".to_owned(), repeated);
            root.insert("truncated".to_owned(), json!(trace.truncated()));
        }
        Run {
            trace,
            envelope,
            ..run.clone()
        }
    }

    fn change(&self, root: &mut Map<String, Value>, run: &Run) {
        let calls = run.trace.tool_calls.len();
        match self {
            Self::Order(order) => reorder(root, order, calls),
            Self::Call { call, name, args } => {
                let recorded = items(root, "tool_calls").and_then(|calls| calls.get_mut(*call));
                if let Some(recorded) = recorded.and_then(Value::as_object_mut) {
                    recorded.insert("name".to_owned(), json!(name));
                    recorded.insert("args".to_owned(), args.clone());
                }
                let said = format!(" with {}", canonical_json(args));
                let before = &run.trace.tool_calls[*call].name;
                turns::edit(root, calls, turns::Of::Call, *call, |text| {
                    let (head, _) = text.split_once(" with ")?;
                    let head = head.strip_suffix(before.as_str())?;
                    Some(format!("{head}{name}{said}"))
                });
            }
            Self::FailResult(call) => {
                for result in items(root, "tool_results").into_iter().flatten() {
                    if call_of(result) == Some(*call)
                        && let Some(result) = result.as_object_mut()
                    {
                        result.insert("is_error".to_owned(), true.into());
                        let content = json!({ "content": [{ "type": "text", "text": FAILED }] });
                        result.insert("result".to_owned(), content);
                    }
                }
                turns::edit(root, calls, turns::Of::Result, *call, |_| {
                    Some(FAILED.to_owned())
                });
            }
            Self::DropResult(call) => {
                if let Some(results) = items(root, "tool_results") {
                    results.retain(|result| call_of(result) != Some(*call));
                }
                turns::edit(root, calls, turns::Of::Result, *call, |_| None);
            }
            Self::Closing(text) => {
                turns::replace_closing(root, run.trace.closing().unwrap_or_default(), text);
                root.insert("final_response".to_owned(), json!(text));
            }
            Self::DropClosing => {
                root.insert("final_response".to_owned(), json!(""));
                turns::drop_last_text(root);
            }
            Self::Truncate(kept) => {
                turns::cut(root, calls, *kept);
                reorder(root, &(0..*kept).collect::<Vec<_>>(), calls);
                root.insert("final_response".to_owned(), json!(""));
                stop(root);
            }
            Self::GrowTokens(from) => grow(root, *from),
            Self::StopReason => stop(root),
        }
    }
}

/// The list under a key.
fn items<'a>(root: &'a mut Map<String, Value>, key: &str) -> Option<&'a mut Vec<Value>> {
    root.get_mut(key)?.as_array_mut()
}

fn call_of(result: &Value) -> Option<usize> {
    result
        .get("call_index")?
        .as_u64()
        .and_then(|index| usize::try_from(index).ok())
}

fn conversation(root: &mut Map<String, Value>) -> Option<&mut Map<String, Value>> {
    let conversation = root.entry("conversation").or_insert_with(|| json!({}));
    conversation.as_object_mut()
}

fn stop(root: &mut Map<String, Value>) {
    if let Some(conversation) = conversation(root) {
        conversation.insert("stop_reason".to_owned(), json!(CAP));
    }
}

/// Puts the calls in this order, with their results; a call may be there several times, or not.
fn reorder(root: &mut Map<String, Value>, order: &[usize], calls: usize) {
    turns::reorder(root, order, calls);
    ranges(root, order, calls);
    if let Some(recorded) = items(root, "tool_calls") {
        let picked = order.iter().filter_map(|call| recorded.get(*call).cloned());
        *recorded = picked.collect();
    }
    if let Some(results) = items(root, "tool_results") {
        let mut moved = Vec::with_capacity(results.len());
        for (place, call) in order.iter().enumerate() {
            let own = results
                .iter()
                .filter(|result| call_of(result) == Some(*call));
            moved.extend(own.cloned().map(|mut result| {
                if let Some(result) = result.as_object_mut() {
                    result.insert("call_index".to_owned(), json!(place));
                }
                result
            }));
        }
        *results = moved;
    }
}

/// Moves the ranges of calls of each user turn; where calls only changed places they stay.
fn ranges(root: &mut Map<String, Value>, order: &[usize], calls: usize) {
    if turns::is_permutation(order, calls) {
        return;
    }
    let anchors = turns::anchors(order);
    let moved = |bound: &Value| {
        let bound = bound
            .as_u64()
            .and_then(|bound| usize::try_from(bound).ok())?;
        Some(json!(
            anchors.iter().filter(|anchor| **anchor < bound).count()
        ))
    };
    let conversation = root.get_mut("conversation");
    let user_turns = conversation.and_then(|conversation| conversation.get_mut("per_turn"));
    for turn in user_turns
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        let range = turn.get_mut("calls").and_then(Value::as_array_mut);
        for bound in range.into_iter().flatten() {
            if let Some(moved) = moved(bound) {
                *bound = moved;
            }
        }
    }
}

/// Three times the prompt tokens of each step from this one on, and of the whole run accordingly.
fn grow(root: &mut Map<String, Value>, from: usize) {
    let Some(conversation) = conversation(root) else {
        return;
    };
    let mut more = 0;
    let steps = conversation.get_mut("steps").and_then(Value::as_array_mut);
    for step in steps.into_iter().flatten().skip(from) {
        let prompt = step.get("prompt").and_then(Value::as_u64).unwrap_or(0);
        more += 2 * prompt;
        if let Some(step) = step.as_object_mut() {
            step.insert("prompt".to_owned(), json!(prompt * 3));
        }
    }
    for key in ["prompt", "total"] {
        let tokens = conversation.get_mut("tokens");
        if let Some(count) = tokens.and_then(|tokens| tokens.get_mut(key))
            && let Some(before) = count.as_u64()
        {
            *count = json!(before + more);
        }
    }
}
