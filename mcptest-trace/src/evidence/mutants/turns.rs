//! The turns of the conversation that stand for calls and results: the k-th of a kind for the k-th
//! call. Where their numbers disagree they are left alone.

use std::collections::{HashMap, HashSet};

use crate::trace::Turn;

/// What a turn stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TurnKind {
    /// A call: `tool_use …` of the assistant.
    Call,
    /// A result: the role `tool`.
    Result,
}

/// A turn, and its place in the original.
pub(super) type Placed = (usize, Turn);

fn kind((_, turn): &Placed) -> Option<TurnKind> {
    if turn.is_tool_use() {
        return Some(TurnKind::Call);
    }
    (turn.role == "tool").then_some(TurnKind::Result)
}

/// The places of the turns of a kind, where there are as many as calls.
fn places(turns: &[Placed], calls: usize, of: TurnKind) -> Option<Vec<usize>> {
    let found = (0..turns.len()).filter(|place| kind(&turns[*place]) == Some(of));
    let found: Vec<usize> = found.collect();
    (found.len() == calls).then_some(found)
}

/// Changes the text of the turn of a call or its result; of a result `None` takes the turn away.
pub(super) fn edit(
    turns: &mut Vec<Placed>,
    calls: usize,
    of: TurnKind,
    call: usize,
    text: impl Fn(&str) -> Option<String>,
) {
    let Some(place) = places(turns, calls, of).and_then(|places| places.get(call).copied()) else {
        return;
    };
    let (_, turn) = &mut turns[place];
    match text(&turn.content) {
        Some(text) => turn.content = text,
        None if of == TurnKind::Result => _ = turns.remove(place),
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
    let mut met = HashSet::new();
    for call in order {
        let copy = !met.insert(call);
        let anchor = match anchors.last() {
            Some(before) if copy => *before,
            _ => *call,
        };
        anchors.push(anchor);
    }
    anchors
}

/// The turns with those of calls and results in the new order.
pub(super) fn reordered(turns: &[Placed], order: &[usize], calls: usize) -> Vec<Placed> {
    let kinds = [TurnKind::Call, TurnKind::Result].map(|of| places(turns, calls, of));
    if is_permutation(order, calls) {
        let mut from: Vec<usize> = (0..turns.len()).collect();
        for places in kinds.iter().flatten() {
            for (slot, call) in places.iter().zip(order) {
                from[*slot] = places[*call];
            }
        }
        return from.into_iter().map(|place| turns[place].clone()).collect();
    }
    let mut call_at: HashMap<usize, usize> = HashMap::new();
    for (call, place) in kinds
        .iter()
        .flatten()
        .flat_map(|places| places.iter().enumerate())
    {
        call_at.insert(*place, call);
    }
    let left: HashSet<usize> = order.iter().copied().collect();
    // The calls that stand after each call of the original.
    let mut after: HashMap<usize, Vec<usize>> = HashMap::new();
    for (call, anchor) in order.iter().zip(anchors(order)) {
        after.entry(anchor).or_default().push(*call);
    }
    let last_of = |call: usize| kinds.iter().flatten().map(|places| places[call]).max();
    let mut moved = Vec::with_capacity(turns.len() + 2);
    for (place, turn) in turns.iter().enumerate() {
        let Some(call) = call_at.get(&place).copied() else {
            moved.push(turn.clone());
            continue;
        };
        if left.contains(&call) {
            moved.push(turn.clone());
        }
        if last_of(call) != Some(place) {
            continue;
        }
        // The copies that stand after this call.
        let mut first = true;
        for copy in after.get(&call).into_iter().flatten() {
            if *copy == call && std::mem::take(&mut first) {
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
pub(super) fn truncate(turns: &mut Vec<Placed>, calls: usize, kept: usize) {
    let called = places(turns, calls, TurnKind::Call);
    let Some(next) = called.and_then(|places| places.get(kept).copied()) else {
        drop_last_text(turns);
        return;
    };
    // What was said between the last kept call and the next one goes too.
    let last = turns[..next].iter().rposition(|turn| kind(turn).is_some());
    let rest = turns.split_off(last.map_or(next, |last| last + 1));
    turns.extend(rest.into_iter().filter(|turn| kind(turn).is_some()));
}

/// Takes away the last text of the assistant.
pub(super) fn drop_last_text(turns: &mut Vec<Placed>) {
    let is_text = |(_, turn): &Placed| turn.is_assistant() && !turn.is_tool_use();
    if let Some(place) = turns.iter().rposition(is_text) {
        turns.remove(place);
    }
}

/// Changes the last turn of the assistant that says the closing.
pub(super) fn replace_closing(turns: &mut [Placed], before: &str, now: &str) {
    let said = |(_, turn): &&mut Placed| turn.is_assistant() && turn.content == before;
    if let Some((_, turn)) = turns.iter_mut().rev().find(said) {
        now.clone_into(&mut turn.content);
    }
}
