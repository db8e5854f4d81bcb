//! A change of the recorded envelope, which target paths start from.

use std::sync::Arc;

use crate::trace::{Make, Run};
use serde_json::{Map, Value, json};

use super::change::{CAP, Change, failed, moved_bound};

/// Makes what was recorded of a run with this change.
pub(super) fn changed(run: &Run, change: &Change) -> Arc<Make> {
    let (whole, change) = (Arc::clone(run.shared_envelope()), change.clone());
    let calls = run.trace.tool_calls.len();
    let before = change.before(&run.trace).to_owned();
    Arc::new(move |wanted| {
        let root = whole.as_object().into_iter().flatten();
        let root = root.filter(|(key, _)| wanted(key));
        let mut root = root
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        make(&change, calls, &before, &mut root);
        root
    })
}

/// Changes what was recorded of a run with so many calls; `before` as [`Change::turns`] takes it.
fn make(change: &Change, calls: usize, before: &str, root: &mut Map<String, Value>) {
    if let Some(turns) = conversation(root).and_then(|found| items(found, "turns")) {
        *turns = change.turns(std::mem::take(turns), calls, before);
    }
    if let Some(order) = change.order() {
        reorder(root, &order, calls);
    }
    match change {
        Change::Call { call, name, args } => {
            let recorded = items(root, "tool_calls").and_then(|calls| calls.get_mut(*call));
            if let Some(recorded) = recorded.and_then(Value::as_object_mut) {
                recorded.insert("name".to_owned(), json!(name));
                recorded.insert("args".to_owned(), args.clone());
            }
        }
        Change::FailResult(call) => {
            let results = items(root, "tool_results").into_iter().flatten();
            for result in results.filter(|result| call_of(result) == Some(*call)) {
                if let Some(result) = result.as_object_mut() {
                    result.insert("is_error".to_owned(), true.into());
                    result.insert("result".to_owned(), failed());
                }
            }
        }
        Change::DropResult(call) => {
            if let Some(results) = items(root, "tool_results") {
                results.retain(|result| call_of(result) != Some(*call));
            }
        }
        Change::Closing(text) => _ = root.insert("final_response".to_owned(), json!(text)),
        Change::DropClosing | Change::Truncate(_) => {
            root.insert("final_response".to_owned(), json!(""));
        }
        Change::GrowTokens(from) => grow(root, *from),
        Change::Order(_) | Change::StopReason => {}
    }
    if matches!(change, Change::Truncate(_) | Change::StopReason) {
        root.entry("conversation").or_insert_with(|| json!({}));
        if let Some(conversation) = conversation(root) {
            conversation.insert("stop_reason".to_owned(), json!(CAP));
        }
    }
}

/// The list under a key.
fn items<'a>(map: &'a mut Map<String, Value>, key: &str) -> Option<&'a mut Vec<Value>> {
    map.get_mut(key)?.as_array_mut()
}

fn conversation(root: &mut Map<String, Value>) -> Option<&mut Map<String, Value>> {
    root.get_mut("conversation")?.as_object_mut()
}

fn call_of(result: &Value) -> Option<usize> {
    let index = result.get("call_index")?.as_u64()?;
    usize::try_from(index).ok()
}

/// Puts the calls in this order, with their results; a call may be there several times, or not.
fn reorder(root: &mut Map<String, Value>, order: &[usize], calls: usize) {
    if let Some(recorded) = items(root, "tool_calls") {
        let picked = order.iter().filter_map(|call| recorded.get(*call).cloned());
        *recorded = picked.collect();
    }
    if let Some(results) = items(root, "tool_results") {
        let placed = order.iter().enumerate().flat_map(|(place, call)| {
            let own = results
                .iter()
                .filter(|result| call_of(result) == Some(*call));
            own.cloned().map(move |mut result| {
                if let Some(result) = result.as_object_mut() {
                    result.insert("call_index".to_owned(), json!(place));
                }
                result
            })
        });
        *results = placed.collect();
    }
    let user_turns = conversation(root).and_then(|found| items(found, "per_turn"));
    for turn in user_turns.into_iter().flatten() {
        let range = turn.get_mut("calls").and_then(Value::as_array_mut);
        for bound in range.into_iter().flatten() {
            let before = bound.as_u64().and_then(|bound| usize::try_from(bound).ok());
            if let Some(before) = before {
                *bound = json!(moved_bound(order, calls, before));
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
    for step in items(conversation, "steps")
        .into_iter()
        .flatten()
        .skip(from)
    {
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
