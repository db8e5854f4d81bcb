//! The message history of a request beside the recorded one: which turn of the model is which recorded answer, and
//! which call a result is of.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

use super::conversation::Answer;
use super::model_turn::{ModelTurn, match_calls};
use super::recording::Recording;
use super::turns::{
    Expected, KnownCall, KnownTurn, Turn, align, answer_turns, example_turns, request_turns,
};
use crate::exchange::Item;
use crate::record::talk_digest;

/// A turn of a request beside the known one.
#[derive(Debug)]
pub(super) enum TurnPair {
    Both(KnownTurn, ModelTurn, ModelTurn),
    Missing(KnownTurn, ModelTurn),
    /// A turn that the model did not take: the number of the turn in the request.
    Made(usize, ModelTurn),
}

/// The call that a result is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResultCall {
    Call(KnownCall),
    /// The call had its result already.
    Repeated(KnownCall),
    /// The call stands later in the talk.
    Early(KnownCall),
    /// No call is known.
    Unknown,
}

/// The message history of a request, aligned with the recording.
#[derive(Debug, Default)]
pub(super) struct Alignment {
    pub(super) pairs: Vec<TurnPair>,
    /// For each result in the talk: its item, and its call.
    pub(super) results: Vec<(usize, ResultCall)>,
    /// The agent had changed the past, and this is the recorded talk to the letter.
    pub(super) is_same: bool,
    /// The agent had changed the past, and the talk is not the recorded one to the letter.
    pub(super) is_past: bool,
    /// What stands before this item is not known: the agent had changed it.
    known_from: usize,
    /// From which item on it is known what the user said, and after which answer that is.
    pub(super) heard_from: usize,
    pub(super) heard_after: Option<usize>,
    /// The answers of which each result has to be in the talk.
    pub(super) told: Range<usize>,
}

impl Alignment {
    /// Aligns the history of a request that asks for an answer. `is_new`: it holds only what is new since the
    /// answer before.
    pub(super) fn new(
        recording: &Recording,
        (conversation, answer): (usize, usize),
        is_new: bool,
        items: &[Item],
    ) -> Self {
        let own = &recording.conversations[conversation];
        let turns = request_turns(recording, items);
        let past = own.moves[..=answer]
            .iter()
            .rposition(|one| one.past.is_some());
        let mut reading = Self::default();
        let (from, expected) = match past {
            Some(past) => {
                let expected = answer_turns(own, past..answer);
                let from = turns.len().saturating_sub(expected.len());
                let before = from.checked_sub(1).and_then(|turn| turns.get(turn));
                reading.known_from = before.map_or(0, |turn| turn.items.end);
                let after = turns.get(from).filter(|_| answer > past);
                reading.heard_from = after.map_or(items.len(), |turn| turn.items.end);
                reading.heard_after = Some(past);
                reading.told = past..answer;
                reading.is_same =
                    answer == past && own.moves[past].past == Some(talk_digest(items));
                reading.is_past = answer == past && !reading.is_same;
                (from, expected)
            }
            None if is_new => {
                reading.heard_after = answer.checked_sub(1);
                reading.told = answer.saturating_sub(1)..answer;
                let first = answer.saturating_sub(turns.len());
                (0, answer_turns(own, first..answer))
            }
            None => {
                reading.told = 0..answer;
                let expected = example_turns(own)
                    .chain(answer_turns(own, 0..answer))
                    .collect();
                let unknown = if own.began.is_some() { 0 } else { own.examples };
                let from = unknown.min(turns.len());
                let before = from.checked_sub(1).and_then(|turn| turns.get(turn));
                reading.known_from = before.map_or(0, |turn| turn.items.end);
                (from, expected)
            }
        };
        let before = answer.checked_sub(1).filter(|_| is_new);
        let waits = WaitingCalls::after(before.map(|before| &own.moves[before]));
        let calls = reading.align_turns(&turns, from, expected);
        let recorded = RecordedCallLookup {
            recording,
            conversation,
            answer,
        };
        reading.align_results(items, &turns, &calls, waits, &recorded);
        reading
    }

    /// Puts turns beside those that are expected; the known calls of each turn.
    fn align_turns(
        &mut self,
        turns: &[Turn],
        from: usize,
        expected: Vec<Expected>,
    ) -> Vec<Vec<Option<KnownCall>>> {
        let mut calls: Vec<Vec<Option<KnownCall>>> = Vec::new();
        calls.resize_with(turns.len(), Vec::new);
        let played = &turns[from..];
        let places = align(&expected, played);
        let mut expected: Vec<Option<Expected>> = expected.into_iter().map(Some).collect();
        for (old, new) in places {
            let turn = new.map(|new| from + new);
            let spoken = turn.map(|turn| turns[turn].spoken.clone());
            let old = old.and_then(|old| expected[old].take());
            match (old, turn.zip(spoken)) {
                (Some(old), Some((turn, spoken))) => {
                    let same = match_calls(&old.spoken, &spoken);
                    let of = |call: &Option<usize>| *old.calls.get((*call)?)?;
                    calls[turn] = same.iter().map(of).collect();
                    self.pairs
                        .push(TurnPair::Both(old.known, old.spoken, spoken));
                }
                // A client may leave out a turn that says nothing.
                (Some(old), None) if !old.spoken.is_empty() => {
                    self.pairs.push(TurnPair::Missing(old.known, old.spoken));
                }
                (None, Some((turn, spoken))) if !spoken.is_empty() => {
                    self.pairs.push(TurnPair::Made(turn, spoken));
                }
                _ => {}
            }
        }
        calls
    }

    fn align_results(
        &mut self,
        items: &[Item],
        turns: &[Turn],
        calls: &[Vec<Option<KnownCall>>],
        mut waits: WaitingCalls,
        recorded: &RecordedCallLookup<'_>,
    ) {
        // The calls of an identifier in the turn that has it, the last one before the result.
        let mut open: HashMap<&str, VecDeque<KnownCall>> = HashMap::new();
        let mut later: HashMap<&str, KnownCall> = HashMap::new();
        let known = |turn: usize| {
            let own = turns[turn].spoken.calls.iter().zip(&calls[turn]);
            own.filter_map(|(call, known)| Some((call, (*known)?)))
        };
        for (call, known) in (0..turns.len()).flat_map(known) {
            later.extend(call.id.as_deref().map(|id| (id, known)));
        }
        let mut told: HashSet<KnownCall> = HashSet::new();
        let mut next = 0;
        for (place, item) in items.iter().enumerate() {
            while turns.get(next).is_some_and(|turn| turn.items.end <= place) {
                let mut begun = HashSet::new();
                for (call, known) in known(next) {
                    waits.wait(&call.tool.1, known);
                    let Some(id) = call.id.as_deref() else {
                        continue;
                    };
                    if begun.insert(id) {
                        open.insert(id, VecDeque::new());
                    }
                    open.entry(id).or_default().push_back(known);
                }
                next += 1;
            }
            let Item::Result(result) = item else { continue };
            if place < self.known_from {
                continue;
            }
            let id = result.id.as_deref();
            let by_id = id.and_then(|id| open.get_mut(id)).and_then(|calls| {
                // Calls of one turn that share an identifier have their results in order.
                let next = calls.pop_front()?;
                if calls.is_empty() {
                    calls.push_back(next);
                }
                Some(next)
            });
            let early = || Some(ResultCall::Early(*later.get(id?)?));
            let of = by_id.map(ResultCall::Call).or_else(early).or_else(|| {
                let by_recording = id.and_then(|id| recorded.call(id));
                let by_name = || {
                    let (_, tool) = recorded.recording.tool_name(result.name.as_deref()?);
                    waits.next(&tool, &told)
                };
                by_recording.or_else(by_name).map(ResultCall::Call)
            });
            let of = of.unwrap_or(ResultCall::Unknown);
            let of = match of {
                ResultCall::Call(call) if !told.insert(call) => ResultCall::Repeated(call),
                ResultCall::Early(call) => {
                    told.insert(call);
                    of
                }
                of => of,
            };
            self.results.push((place, of));
        }
    }
}

/// Where calls are recorded that the talk does not hold.
struct RecordedCallLookup<'r> {
    recording: &'r Recording,
    conversation: usize,
    answer: usize,
}

impl RecordedCallLookup<'_> {
    /// The last call of an identifier before the answer.
    fn call(&self, id: &str) -> Option<KnownCall> {
        let mut calls = self.recording.calls_with_id(id, self.conversation);
        let found = calls.find(|one| one.answer < self.answer)?;
        Some(KnownCall::Recorded(found.call))
    }
}

/// Calls that wait for a result, by the name of the tool: some formats give them no identifiers.
#[derive(Debug, Default)]
struct WaitingCalls(HashMap<String, VecDeque<KnownCall>>);

impl WaitingCalls {
    /// What waits before the talk of a request that holds only what is new since this answer.
    fn after(before: Option<&Answer>) -> Self {
        let mut waits = Self::default();
        for call in before.into_iter().flat_map(|one| &one.spoken.calls) {
            if let Some(index) = call.index {
                waits.wait(&call.tool.1, KnownCall::Recorded(index));
            }
        }
        waits
    }

    fn wait(&mut self, tool: &str, call: KnownCall) {
        self.0.entry(tool.to_owned()).or_default().push_back(call);
    }

    fn next(&mut self, tool: &str, told: &HashSet<KnownCall>) -> Option<KnownCall> {
        let calls = self.0.get_mut(tool)?;
        while let Some(call) = calls.pop_front() {
            if !told.contains(&call) {
                return Some(call);
            }
        }
        None
    }
}
