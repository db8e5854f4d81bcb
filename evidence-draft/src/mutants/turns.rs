//! The turns of the conversation that stand for calls and results: the k-th of a kind for the k-th
//! call. Where their numbers disagree they are left alone.

use serde_json::{Map, Value, json};

/// What a turn stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// A call: `tool_use …` of the assistant.
    Call,
    /// A result: the role `tool`.
    Result,
}

fn turns(root: &mut Map<String, Value>) -> Option<&mut Vec<Value>> {
    let conversation = root.get_mut("conversation")?;
    conversation.get_mut("turns")?.as_array_mut()
}

fn role(turn: &Value) -> &str {
    turn.get("role").and_then(Value::as_str).unwrap_or_default()
}

fn content(turn: &Value) -> &str {
    turn.get("content")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn kind(turn: &Value) -> Option<Of> {
    match role(turn) {
        "assistant" if content(turn).starts_with("tool_use ") => Some(Of::Call),
        "tool" => Some(Of::Result),
        _ => None,
    }
}

/// The places of the turns of a kind, where there are as many as calls.
fn places(turns: &[Value], calls: usize, of: Of) -> Option<Vec<usize>> {
    let found = (0..turns.len()).filter(|place| kind(&turns[*place]) == Some(of));
    let found: Vec<usize> = found.collect();
    (found.len() == calls).then_some(found)
}

/// Changes the text of the turn of a call or its result; `None` takes the turn away.
pub(super) fn edit(
    root: &mut Map<String, Value>,
    calls: usize,
    of: Of,
    call: usize,
    text: impl Fn(&str) -> Option<String>,
) {
    let Some(turns) = turns(root) else { return };
    let Some(place) = places(turns, calls, of).and_then(|places| places.get(call).copied()) else {
        return;
    };
    match text(content(&turns[place])) {
        Some(text) => turns[place]["content"] = json!(text),
        None if of == Of::Result => _ = turns.remove(place),
        None => {}
    }
}

/// Whether these are all calls, each once.
pub(super) fn is_permutation(order: &[usize], calls: usize) -> bool {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    sorted.into_iter().eq(0..calls)
}

/// For each call of the new order, after which call of the original it stands: a call that was moved
/// for the first time stands where it was, a copy where the call before it does.
pub(super) fn anchors(order: &[usize]) -> Vec<usize> {
    let mut anchors: Vec<usize> = Vec::with_capacity(order.len());
    for (place, call) in order.iter().enumerate() {
        let copy = order[..place].contains(call);
        let anchor = match anchors.last() {
            Some(before) if copy => *before,
            _ => *call,
        };
        anchors.push(anchor);
    }
    anchors
}

/// Puts the turns of calls and results in the new order.
pub(super) fn reorder(root: &mut Map<String, Value>, order: &[usize], calls: usize) {
    let Some(turns) = turns(root) else { return };
    let kinds = [Of::Call, Of::Result].map(|of| places(turns, calls, of));
    if is_permutation(order, calls) {
        let before = turns.clone();
        for places in kinds.iter().flatten() {
            for (slot, call) in places.iter().zip(order) {
                turns[*slot] = before[places[*call]].clone();
            }
        }
        return;
    }
    let anchors = anchors(order);
    let call_at = |place: usize| {
        let of = |places: &Option<Vec<usize>>| places.as_ref()?.iter().position(|at| *at == place);
        kinds.iter().find_map(of)
    };
    let last_of = |call: usize| kinds.iter().flatten().map(|places| places[call]).max();
    let mut moved = Vec::with_capacity(turns.len() + 2);
    for (place, turn) in turns.iter().enumerate() {
        let Some(call) = call_at(place) else {
            moved.push(turn.clone());
            continue;
        };
        if order.contains(&call) {
            moved.push(turn.clone());
        }
        if last_of(call) != Some(place) {
            continue;
        }
        // The copies that stand after this call.
        let mut first = true;
        for (copy, anchor) in order.iter().zip(&anchors) {
            if *anchor != call || (*copy == call && std::mem::take(&mut first)) {
                continue;
            }
            moved.extend(
                kinds
                    .iter()
                    .flatten()
                    .map(|places| turns[places[*copy]].clone()),
            );
        }
    }
    *turns = moved;
}

/// Takes away what came after the first calls.
pub(super) fn cut(root: &mut Map<String, Value>, calls: usize, kept: usize) {
    let Some(turns) = turns(root) else { return };
    let kinds = [Of::Call, Of::Result].map(|of| places(turns, calls, of));
    let next = kinds[0].as_ref().and_then(|places| places.get(kept));
    let Some(next) = next else {
        drop_last_text(root);
        return;
    };
    // What was said between the last kept call and the next one goes too.
    let said = turns[..*next].iter().rposition(|turn| kind(turn).is_some());
    let end = said.map_or(*next, |last| last + 1);
    let rest = turns.split_off(end);
    // The turns of the other calls stay for the reordering, which takes them away.
    turns.extend(rest.into_iter().filter(|turn| kind(turn).is_some()));
}

/// Takes away the last text of the assistant.
pub(super) fn drop_last_text(root: &mut Map<String, Value>) {
    let Some(turns) = turns(root) else { return };
    let text = |turn: &Value| role(turn) == "assistant" && kind(turn).is_none();
    if let Some(place) = turns.iter().rposition(text) {
        turns.remove(place);
    }
}

/// Changes the last turn of the assistant that says the closing.
pub(super) fn replace_closing(root: &mut Map<String, Value>, before: &str, now: &str) {
    let Some(turns) = turns(root) else { return };
    let said = |turn: &&mut Value| role(turn) == "assistant" && content(turn) == before;
    if let Some(turn) = turns.iter_mut().rev().find(said) {
        turn["content"] = json!(now);
    }
}
