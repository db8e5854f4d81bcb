//! Conversations that begin alike, such as those of a task that is given often: they are told apart by their turns.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use super::turn_key::TurnPrefixes;

/// Conversations that begin alike, found by the turns that follow.
#[derive(Debug, Clone, Default)]
pub(super) struct SimilarConversations {
    /// Their numbers, ascending, each with the turns of the model.
    all: Vec<(usize, Arc<TurnPrefixes>)>,
    /// The conversations in which some calls have an identifier and others have none.
    mixed: Vec<(usize, Arc<TurnPrefixes>)>,
    /// The first conversation for each beginning of turns, by the hash of their words and identifiers. Only
    /// conversations in which each call has an identifier.
    by_ids: HashMap<u64, usize>,
    /// The first conversation for each beginning of turns, by the hash of their words. Only conversations in which
    /// no call has an identifier.
    by_words: HashMap<u64, usize>,
    /// The first conversation for each beginning of turns, by the hash of their words. All conversations.
    all_by_words: HashMap<u64, usize>,
}

/// How many turns are the same, and in which conversation: the larger, the nearer.
pub(super) type Near = (usize, Reverse<usize>);

impl SimilarConversations {
    /// Adds a conversation, whose number is larger than those before.
    pub(super) fn add(&mut self, number: usize, turns: &Arc<TurnPrefixes>) {
        let one = (number, Arc::clone(turns));
        add(&mut self.all_by_words, &turns.words, number);
        if !turns.has_ids() {
            add(&mut self.by_words, &turns.words, number);
        } else if turns.lacks_ids() {
            self.mixed.push(one.clone());
        } else {
            add(&mut self.by_ids, &turns.marks, number);
        }
        self.all.push(one);
    }

    /// The one that shares most turns with a talk. The talk is read only if there are several.
    pub(super) fn nearest_if_several<'t>(
        &self,
        asked: &impl Fn() -> &'t TurnPrefixes,
    ) -> Option<usize> {
        if let [(only, _)] = self.all.as_slice() {
            return Some(*only);
        }
        self.nearest(asked()).map(|(_, number)| number.0)
    }

    /// The one that shares most turns with a talk, the first of several; and how many it shares.
    pub(super) fn nearest(&self, asked: &TurnPrefixes) -> Option<Near> {
        let none = (0, Reverse(self.all.first()?.0));
        let each = |all: &[(usize, Arc<TurnPrefixes>)]| {
            let shared = all.iter();
            let shared =
                shared.map(|(number, known)| (known.shared_turns(asked), Reverse(*number)));
            shared.max()
        };
        let found = if !asked.has_given_ids() {
            [longest(&self.all_by_words, &asked.words), None, None]
        } else if asked.lacks_given_ids() {
            [each(&self.all), None, None]
        } else {
            [
                longest(&self.by_ids, &asked.marks),
                longest(&self.by_words, &asked.words),
                each(&self.mixed),
            ]
        };
        found.into_iter().flatten().chain([none]).max()
    }
}

/// The first conversation with the most of these turns.
fn longest(by: &HashMap<u64, usize>, marks: &[u64]) -> Option<Near> {
    let mut longest = marks.iter().enumerate().rev();
    longest.find_map(|(place, mark)| Some((place + 1, Reverse(*by.get(mark)?))))
}

/// Notes a conversation under each of its beginnings, unless an earlier conversation stands there.
fn add(by: &mut HashMap<u64, usize>, marks: &[u64], number: usize) {
    for mark in marks {
        by.entry(*mark).or_insert(number);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::play::turn_key::TurnKey;

    fn turns(length: usize) -> impl Strategy<Value = TurnPrefixes> {
        let id = prop_oneof![
            6 => "[ab]".prop_map(Some),
            1 => Just(None),
            1 => Just(Some("gemini:find:0".to_owned())),
        ];
        let id = (0..3, id).prop_map(|(kind, id)| id.filter(|_| kind > 0));
        let nameless =
            proptest::collection::vec((0_u64..2).prop_map(|sign| (sign, None)), 0..length);
        let any = proptest::collection::vec((0_u64..2, id), 0..length);
        let turns = prop_oneof![nameless, any];
        turns.prop_map(|turns| {
            let turns = turns.into_iter();
            TurnPrefixes::new(
                turns
                    .map(|(sign, id)| TurnKey {
                        sign,
                        ids: vec![id],
                    })
                    .collect(),
            )
        })
    }

    proptest! {
        #[test]
        fn the_nearest_is_the_one_that_a_look_at_all_turns_finds(
            known in proptest::collection::vec(turns(4), 1..8), asked in turns(5),
        ) {
            let mut alike = SimilarConversations::default();
            let known: Vec<Arc<TurnPrefixes>> = known.into_iter().map(Arc::new).collect();
            for (number, turns) in known.iter().enumerate() {
                alike.add(number, turns);
            }
            let shared = known.iter().enumerate();
            let plain = shared.map(|(number, turns)| (turns.shared_turns(&asked), Reverse(number)));
            prop_assert_eq!(alike.nearest(&asked), plain.max());
        }
    }
}
