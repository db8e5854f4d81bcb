//! The recorded envelope of a changed run, which target paths start from: the parts that are left, as they
//! were recorded, with what the typed trace says otherwise.

use std::sync::Arc;

use crate::trace::{Make, Run, Trace};
use serde_json::{Map, Value, json};

use super::change::{Change, failed};
use super::typed::Sources;

/// Makes what was recorded of a run with this change.
pub(super) fn changed_envelope(run: &Run, change: &Change, from: Sources) -> Arc<Make> {
    let (whole, change) = (Arc::clone(run.shared_envelope()), change.clone());
    Arc::new(move |trace, wanted| {
        let root = whole.as_object().into_iter().flatten();
        let root = root.filter(|(key, _)| wanted(key));
        let root = root.map(|(key, value)| (key.clone(), value.clone()));
        let mut root = root.collect();
        make(&mut root, &change, &from, trace);
        root
    })
}

fn make(root: &mut Map<String, Value>, change: &Change, from: &Sources, trace: &Trace) {
    let moved = change.order().is_some();
    if let Some(recorded) = items(root, "tool_calls") {
        pick(recorded, &from.calls);
        if let Some(call) = change.edited_call()
            && let Some(recorded) = recorded.get_mut(call)
            && let Some(changed) = trace.tool_calls.get(call)
        {
            set(recorded, "name", json!(changed.name));
            set(recorded, "args", Value::clone(&changed.args));
        }
        // What the code says of a call says nothing of a changed one.
        if let Some(recorded) = change
            .affected_call()
            .and_then(|call| recorded.get_mut(call))
            && let Some(recorded) = recorded.as_object_mut()
        {
            recorded.remove("own");
        }
    }
    if let Some(recorded) = items(root, "tool_results") {
        pick(recorded, &from.results);
        for (recorded, result) in recorded.iter_mut().zip(&trace.tool_results) {
            if moved {
                set(recorded, "call_index", json!(result.call_index));
            }
            if *change == Change::FailResult(result.call_index) {
                set(recorded, "is_error", true.into());
                set(recorded, "result", failed());
            }
        }
    }
    if let Change::Claim(_) | Change::DropClosing | Change::Truncate(_) = change {
        root.insert("final_response".to_owned(), json!(trace.final_response));
    }
    if change.is_cap() {
        let conversation = root.entry("conversation").or_insert_with(|| json!({}));
        let reason = json!(trace.conversation.stop_reason);
        set(conversation, "stop_reason", reason);
    }
    let conversation = root.get_mut("conversation").and_then(Value::as_object_mut);
    if let Some(recorded) = conversation {
        make_conversation(recorded, change, from, trace);
    }
}

fn make_conversation(
    recorded: &mut Map<String, Value>,
    change: &Change,
    from: &Sources,
    trace: &Trace,
) {
    let conversation = &trace.conversation;
    if let Some(turns) = items(recorded, "turns") {
        pick(turns, &from.turns);
        for (recorded, turn) in turns.iter_mut().zip(&conversation.turns) {
            if recorded.get("content").and_then(Value::as_str) != Some(&turn.content) {
                set(recorded, "content", json!(turn.content));
            }
        }
    }
    let per_turn = items(recorded, "per_turn").into_iter().flatten();
    for (recorded, turn) in per_turn.zip(&conversation.per_turn) {
        if let Some((from, to)) = turn.calls {
            set(recorded, "calls", json!([from, to]));
        }
    }
    if let Change::GrowTokens(from) = change {
        let steps = items(recorded, "steps").into_iter().flatten();
        for (recorded, step) in steps.zip(&conversation.steps).skip(*from) {
            if let Some(prompt) = step.prompt {
                set(recorded, "prompt", json!(prompt));
            }
        }
        let tokens = &conversation.tokens;
        for (key, count) in [("prompt", tokens.prompt), ("total", tokens.total)] {
            let recorded = recorded.get_mut("tokens").and_then(|it| it.get_mut(key));
            let recorded = recorded.filter(|recorded| recorded.is_u64());
            if let (Some(recorded), Some(count)) = (recorded, count) {
                *recorded = json!(count);
            }
        }
    }
}

/// The list under a key.
fn items<'a>(map: &'a mut Map<String, Value>, key: &str) -> Option<&'a mut Vec<Value>> {
    map.get_mut(key)?.as_array_mut()
}

/// Keeps the items at these places, which may name one several times.
fn pick(items: &mut Vec<Value>, from: &[usize]) {
    if !from.iter().copied().eq(0..items.len()) {
        let picked = from.iter().filter_map(|place| items.get(*place).cloned());
        *items = picked.collect();
    }
}

fn set(object: &mut Value, key: &str, value: Value) {
    if let Some(object) = object.as_object_mut() {
        object.insert(key.to_owned(), value);
    }
}
