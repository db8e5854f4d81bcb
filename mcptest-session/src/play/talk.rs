//! What a request holds of its talk: which turn of the model is which recorded answer, and which call a result is of.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

use super::conversation::{Answer, Conversation};
use super::recording::Recording;
use super::spoken::{Spoken, matched};
use crate::exchange::Item;
use crate::protocol::is_numbered;
use crate::record::talk_digest;

/// A turn that the model is known to have taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// One that the program begins with.
    Example(usize),
    /// A recorded answer.
    Answer(usize),
}

/// A turn of a request beside the known one.
#[derive(Debug)]
pub(super) enum Pair {
    Both(Known, Spoken, Spoken),
    Missing(Known, Spoken),
    /// A turn that the model did not take: the number of the turn in the request.
    Made(usize, Spoken),
}

/// A call that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum KnownCall {
    /// A call of an example: the example, and which of its calls.
    Example(usize, usize),
    /// A call of the trace.
    Recorded(usize),
}

/// The call that a result is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Call(KnownCall),
    /// The call had its result already.
    Again(KnownCall),
    /// The call stands later in the talk.
    Early(KnownCall),
    /// No call is known.
    Nothing,
}

/// A talk as it is read.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) pairs: Vec<Pair>,
    /// For each result in the talk: its item, and its call.
    pub(super) results: Vec<(usize, Of)>,
    /// The agent had changed the past, and this is the recorded talk to the letter.
    pub(super) is_same: bool,
    /// What stands before this item is not known: the agent had changed it.
    known_from: usize,
    /// From which item on it is known what the user said, and after which answer that is.
    pub(super) heard_from: usize,
    pub(super) heard_after: Option<usize>,
    /// The answers of which each result has to be in the talk.
    pub(super) told: Range<usize>,
}

/// A turn of the model in a request.
#[derive(Debug)]
struct Turn {
    items: Range<usize>,
    spoken: Spoken,
}

/// A turn that is expected.
#[derive(Debug)]
struct Expected {
    known: Known,
    spoken: Spoken,
    calls: Vec<Option<KnownCall>>,
}

impl Reading {
    /// Reads the talk of a request that asks for an answer. `is_new`: it holds only what is new since the answer before.
    pub(super) fn of(
        recording: &Recording,
        (conversation, answer): (usize, usize),
        is_new: bool,
        items: &[Item],
    ) -> Self {
        let own = &recording.conversations[conversation];
        let turns = turns(recording, items);
        let past = own.moves[..=answer]
            .iter()
            .rposition(|one| one.past.is_some());
        let mut reading = Self::default();
        let (from, expected) = match past {
            Some(past) => {
                let expected = answers(own, past..answer);
                let from = turns.len().saturating_sub(expected.len());
                let before = from.checked_sub(1).and_then(|turn| turns.get(turn));
                reading.known_from = before.map_or(0, |turn| turn.items.end);
                let after = turns.get(from).filter(|_| answer > past);
                reading.heard_from = after.map_or(items.len(), |turn| turn.items.end);
                reading.heard_after = Some(past);
                reading.told = past..answer;
                reading.is_same =
                    answer == past && own.moves[past].past == Some(talk_digest(items));
                (from, expected)
            }
            None if is_new => {
                reading.heard_after = answer.checked_sub(1);
                reading.told = answer.saturating_sub(1)..answer;
                let first = answer.saturating_sub(turns.len());
                (0, answers(own, first..answer))
            }
            None => {
                reading.told = 0..answer;
                let expected = examples(own).chain(answers(own, 0..answer)).collect();
                let unknown = if own.began.is_some() { 0 } else { own.examples };
                let from = unknown.min(turns.len());
                let before = from.checked_sub(1).and_then(|turn| turns.get(turn));
                reading.known_from = before.map_or(0, |turn| turn.items.end);
                (from, expected)
            }
        };
        let before = answer.checked_sub(1).filter(|_| is_new);
        let waits = Waiting::after(before.map(|before| &own.moves[before]));
        let calls = reading.pair(&turns, from, expected);
        let recorded = Recorded {
            recording,
            conversation,
            answer,
        };
        reading.pair_results(items, &turns, &calls, waits, &recorded);
        reading
    }

    /// Puts turns beside those that are expected; the known calls of each turn.
    fn pair(
        &mut self,
        turns: &[Turn],
        from: usize,
        expected: Vec<Expected>,
    ) -> Vec<Vec<Option<KnownCall>>> {
        let mut calls: Vec<Vec<Option<KnownCall>>> = Vec::new();
        calls.resize_with(turns.len(), Vec::new);
        let played = &turns[from..];
        let places = places(&expected, played);
        let mut expected: Vec<Option<Expected>> = expected.into_iter().map(Some).collect();
        for (old, new) in places {
            let turn = new.map(|new| from + new);
            let spoken = turn.map(|turn| turns[turn].spoken.clone());
            let old = old.and_then(|old| expected[old].take());
            match (old, turn.zip(spoken)) {
                (Some(old), Some((turn, spoken))) => {
                    let same = matched(&old.spoken, &spoken);
                    let of = |call: &Option<usize>| *old.calls.get((*call)?)?;
                    calls[turn] = same.iter().map(of).collect();
                    self.pairs.push(Pair::Both(old.known, old.spoken, spoken));
                }
                // A client may leave out a turn that says nothing.
                (Some(old), None) if !old.spoken.is_empty() => {
                    self.pairs.push(Pair::Missing(old.known, old.spoken));
                }
                (None, Some((turn, spoken))) if !spoken.is_empty() => {
                    self.pairs.push(Pair::Made(turn, spoken));
                }
                _ => {}
            }
        }
        calls
    }

    fn pair_results(
        &mut self,
        items: &[Item],
        turns: &[Turn],
        calls: &[Vec<Option<KnownCall>>],
        mut waits: Waiting,
        recorded: &Recorded<'_>,
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
            let early = || Some(Of::Early(*later.get(id?)?));
            let of = by_id.map(Of::Call).or_else(early).or_else(|| {
                let by_recording = id.and_then(|id| recorded.call(id));
                let by_name = || {
                    let (_, tool) = recorded.recording.tool_name(result.name.as_deref()?);
                    waits.next(&tool, &told)
                };
                by_recording.or_else(by_name).map(Of::Call)
            });
            let of = of.unwrap_or(Of::Nothing);
            let of = match of {
                Of::Call(call) if !told.insert(call) => Of::Again(call),
                Of::Early(call) => {
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
struct Recorded<'r> {
    recording: &'r Recording,
    conversation: usize,
    answer: usize,
}

impl Recorded<'_> {
    /// The last call of an identifier before the answer.
    fn call(&self, id: &str) -> Option<KnownCall> {
        let places = self.recording.call_ids.get(id)?;
        let mut before = places.iter().rev();
        let found =
            before.find(|one| one.conversation == self.conversation && one.answer < self.answer)?;
        Some(KnownCall::Recorded(found.call))
    }
}

/// Calls that wait for a result, by the name of the tool: some formats give them no identifiers.
#[derive(Debug, Default)]
struct Waiting(HashMap<String, VecDeque<KnownCall>>);

impl Waiting {
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

/// The turns of the model in a talk. Some clients send one back as several messages.
fn turns(recording: &Recording, items: &[Item]) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for (place, item) in items.iter().enumerate() {
        let spoken = match item {
            Item::Answer(parts) => Spoken::of(&recording.names, parts),
            Item::Reference(id) => match recording.referred(id) {
                Some(parts) => Spoken::of(&recording.names, parts),
                None => Spoken {
                    text: format!("item `{id}`, which the model did not say"),
                    ..Spoken::default()
                },
            },
            _ => continue,
        };
        match turns.last_mut().filter(|turn| turn.items.end == place) {
            Some(turn) => {
                turn.items.end += 1;
                turn.spoken.extend(spoken);
            }
            None => turns.push(Turn {
                items: place..place + 1,
                spoken,
            }),
        }
    }
    turns
}

/// The turns of recorded answers. Answers between which nobody else spoke are one turn.
fn answers(own: &Conversation, range: Range<usize>) -> Vec<Expected> {
    let mut expected: Vec<Expected> = Vec::new();
    for answer in range.clone() {
        let one = &own.moves[answer];
        let calls = one.spoken.calls.iter();
        let calls = calls.map(|call| call.index.map(KnownCall::Recorded));
        let goes_on = own.knows_heard && one.heard.is_empty() && answer > range.start;
        let before = expected.last_mut();
        match before.filter(|before| goes_on && before.spoken.calls.is_empty()) {
            Some(before) => {
                before.spoken.extend(one.spoken.clone());
                before.calls.extend(calls);
            }
            None => expected.push(Expected {
                known: Known::Answer(answer),
                spoken: one.spoken.clone(),
                calls: calls.collect(),
            }),
        }
    }
    expected
}

/// The turns of examples that the program begins with.
fn examples(own: &Conversation) -> impl Iterator<Item = Expected> {
    let examples = own.began.iter().flatten().enumerate();
    examples.map(|(number, example)| Expected {
        known: Known::Example(number),
        spoken: example.spoken.clone(),
        calls: (0..example.spoken.calls.len())
            .map(|call| Some(KnownCall::Example(number, call)))
            .collect(),
    })
}

/// How many turns of a talk are those with which a conversation begins.
pub(super) fn shared_turns(recording: &Recording, conversation: usize, items: &[Item]) -> usize {
    let own = &recording.conversations[conversation];
    let expected = examples(own).chain(answers(own, 0..own.moves.len()));
    let turns = turns(recording, items);
    let both = expected.zip(&turns).take_while(|(old, new)| {
        let (old, new) = (&old.spoken, &new.spoken);
        let calls = old.calls.iter().zip(&new.calls);
        let given = |id: &&String| !is_numbered(id);
        let mut ids = calls.map(|(old, new)| old.id.as_ref().zip(new.id.as_ref().filter(given)));
        old.sign() == new.sign() && ids.all(|ids| ids.is_none_or(|(old, new)| old == new))
    });
    both.count()
}

/// Which turn stands at the place of which expected one. Where the talk has more turns or fewer, turns are skipped till
/// one is the same, as many as there are more or fewer; each turn is looked at once.
fn places(expected: &[Expected], played: &[Turn]) -> Vec<(Option<usize>, Option<usize>)> {
    let signs = |all: &mut dyn Iterator<Item = u64>| all.collect::<Vec<u64>>();
    let old = signs(&mut expected.iter().map(|it| it.spoken.sign()));
    let new = signs(&mut played.iter().map(|turn| turn.spoken.sign()));
    let has_more = new.len() > old.len();
    let (long, short) = if has_more { (&new, &old) } else { (&old, &new) };
    let mut by_sign: HashMap<u64, Vec<usize>> = HashMap::new();
    for (place, sign) in long.iter().enumerate() {
        by_sign.entry(*sign).or_default().push(place);
    }
    let mut left = long.len() - short.len();
    let mut places = Vec::new();
    let mut place = 0;
    for (number, sign) in short.iter().enumerate() {
        if long.get(place) != Some(sign) {
            let same = by_sign.get(sign).map_or(&[][..], Vec::as_slice);
            let next = same.get(same.partition_point(|same| *same < place));
            if let Some(next) = next.filter(|next| **next - place <= left) {
                left -= next - place;
                places.extend((place..*next).map(|skipped| (Some(skipped), None)));
                place = *next;
            }
        }
        places.push((Some(place), Some(number)));
        place += 1;
    }
    places.extend((place..long.len()).map(|skipped| (Some(skipped), None)));
    if has_more {
        for pair in &mut places {
            *pair = (pair.1, pair.0);
        }
    }
    places
}
