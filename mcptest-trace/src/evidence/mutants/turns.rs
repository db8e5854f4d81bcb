//! The turns of the conversation that stand for calls and results: the k-th of a kind for the k-th
//! call. Where their numbers disagree they are left alone.

use crate::trace::Turn;
use serde_json::{Value, json};

/// What a turn stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// A call: `tool_use …` of the assistant.
    Call,
    /// A result: the role `tool`.
    Result,
}

/// A turn, as it is read or as it is recorded.
pub(super) trait AsTurn: Clone {
    fn role(&self) -> &str;
    fn content(&self) -> &str;
    fn say(&mut self, content: String);

    fn kind(&self) -> Option<Of> {
        match self.role() {
            "assistant" if self.content().starts_with("tool_use ") => Some(Of::Call),
            "tool" => Some(Of::Result),
            _ => None,
        }
    }

    fn is_text(&self) -> bool {
        self.role() == "assistant" && self.kind().is_none()
    }
}

impl AsTurn for Turn {
    fn role(&self) -> &str {
        &self.role
    }

    fn content(&self) -> &str {
        &self.content
    }

    fn say(&mut self, content: String) {
        self.content = content;
    }
}

impl AsTurn for Value {
    fn role(&self) -> &str {
        self.get("role").and_then(Self::as_str).unwrap_or_default()
    }

    fn content(&self) -> &str {
        self.get("content")
            .and_then(Self::as_str)
            .unwrap_or_default()
    }

    fn say(&mut self, content: String) {
        if let Some(turn) = self.as_object_mut() {
            turn.insert("content".to_owned(), json!(content));
        }
    }
}

/// The places of the turns of a kind, where there are as many as calls.
fn places<T: AsTurn>(turns: &[T], calls: usize, of: Of) -> Option<Vec<usize>> {
    let found = (0..turns.len()).filter(|place| turns[*place].kind() == Some(of));
    let found: Vec<usize> = found.collect();
    (found.len() == calls).then_some(found)
}

/// Changes the text of the turn of a call or its result; of a result `None` takes the turn away.
pub(super) fn edit<T: AsTurn>(
    turns: &mut Vec<T>,
    calls: usize,
    of: Of,
    call: usize,
    text: impl Fn(&str) -> Option<String>,
) {
    let Some(place) = places(turns, calls, of).and_then(|places| places.get(call).copied()) else {
        return;
    };
    match text(turns[place].content()) {
        Some(text) => turns[place].say(text),
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

/// For each call of the new order, after which call of the original it stands: a call that comes for
/// the first time stands where it was, a copy where the call before it does.
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

/// The turns with those of calls and results in the new order.
pub(super) fn reordered<T: AsTurn>(turns: &[T], order: &[usize], calls: usize) -> Vec<T> {
    let kinds = [Of::Call, Of::Result].map(|of| places(turns, calls, of));
    if is_permutation(order, calls) {
        let mut from: Vec<usize> = (0..turns.len()).collect();
        for places in kinds.iter().flatten() {
            for (slot, call) in places.iter().zip(order) {
                from[*slot] = places[*call];
            }
        }
        return from.into_iter().map(|place| turns[place].clone()).collect();
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
    moved
}

/// Takes away what was said after the first calls; the turns of the other calls stay for the
/// reordering, which takes them away.
pub(super) fn truncate<T: AsTurn>(turns: &mut Vec<T>, calls: usize, kept: usize) {
    let called = places(turns, calls, Of::Call);
    let Some(next) = called.and_then(|places| places.get(kept).copied()) else {
        drop_last_text(turns);
        return;
    };
    // What was said between the last kept call and the next one goes too.
    let last = turns[..next].iter().rposition(|turn| turn.kind().is_some());
    let rest = turns.split_off(last.map_or(next, |last| last + 1));
    turns.extend(rest.into_iter().filter(|turn| turn.kind().is_some()));
}

/// Takes away the last text of the assistant.
pub(super) fn drop_last_text<T: AsTurn>(turns: &mut Vec<T>) {
    if let Some(place) = turns.iter().rposition(AsTurn::is_text) {
        turns.remove(place);
    }
}

/// Changes the last turn of the assistant that says the closing.
pub(super) fn replace_closing<T: AsTurn>(turns: &mut [T], before: &str, now: &str) {
    let said = |turn: &&mut T| turn.role() == "assistant" && turn.content() == before;
    if let Some(turn) = turns.iter_mut().rev().find(said) {
        turn.say(now.to_owned());
    }
}
