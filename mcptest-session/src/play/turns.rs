//! The turns of the model: those that a request holds, those that are expected, and which is which.

use std::collections::HashMap;
use std::ops::Range;

use super::conversation::Conversation;
use super::model_turn::ModelTurn;
use super::recording::Recording;
use super::turn_key::{TurnKey, TurnPrefixes};
use crate::exchange::Item;

/// A turn that the model is known to have taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KnownTurn {
    /// An example that the program begins with.
    Example(usize),
    /// A recorded answer.
    Answer(usize),
}

/// A call that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum KnownCall {
    /// A call of an example: the example, and which of its calls.
    Example(usize, usize),
    /// A call of the trace.
    Recorded(usize),
}

/// A turn of the model in a request.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) items: Range<usize>,
    pub(super) spoken: ModelTurn,
}

/// A turn that is expected.
#[derive(Debug)]
pub(super) struct Expected {
    pub(super) known: KnownTurn,
    pub(super) spoken: ModelTurn,
    pub(super) calls: Vec<Option<KnownCall>>,
}

/// The turns of the model in a talk. Some clients send one back as several messages.
pub(super) fn request_turns(recording: &Recording, items: &[Item]) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for (place, item) in items.iter().enumerate() {
        let spoken = match item {
            Item::Answer(parts) => ModelTurn::from_parts(&recording.names, parts),
            Item::Reference(id) => match recording.referenced_parts(id) {
                Some(parts) => ModelTurn::from_parts(&recording.names, parts),
                None => ModelTurn {
                    text: format!("item `{id}`, which the model did not say"),
                    ..ModelTurn::default()
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
pub(super) fn answer_turns(own: &Conversation, range: Range<usize>) -> Vec<Expected> {
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
                known: KnownTurn::Answer(answer),
                spoken: one.spoken.clone(),
                calls: calls.collect(),
            }),
        }
    }
    expected
}

/// The turns of examples that the program begins with.
pub(super) fn example_turns(own: &Conversation) -> impl Iterator<Item = Expected> {
    let examples = own.began.iter().flatten().enumerate();
    examples.map(|(number, example)| Expected {
        known: KnownTurn::Example(number),
        spoken: example.spoken.clone(),
        calls: (0..example.spoken.calls.len())
            .map(|call| Some(KnownCall::Example(number, call)))
            .collect(),
    })
}

/// The turns of a conversation.
pub(super) fn turn_prefixes(own: &Conversation) -> TurnPrefixes {
    let expected = example_turns(own).chain(answer_turns(own, 0..own.moves.len()));
    TurnPrefixes::new(
        expected
            .map(|turn| TurnKey::from_turn(&turn.spoken))
            .collect(),
    )
}

/// The turns of a talk.
pub(super) fn request_prefixes(recording: &Recording, items: &[Item]) -> TurnPrefixes {
    let turns = request_turns(recording, items);
    let signs = turns.iter().map(|turn| TurnKey::from_turn(&turn.spoken));
    TurnPrefixes::new(signs.collect())
}

/// Which turn stands at the place of which expected one. Where the talk has more turns or fewer, turns are skipped till
/// one is the same, as many as there are more or fewer; each turn is looked at once.
pub(super) fn align(expected: &[Expected], played: &[Turn]) -> Vec<(Option<usize>, Option<usize>)> {
    let signs = |all: &mut dyn Iterator<Item = u64>| all.collect::<Vec<u64>>();
    let old = signs(&mut expected.iter().map(|it| it.spoken.hash_value()));
    let new = signs(&mut played.iter().map(|turn| turn.spoken.hash_value()));
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
