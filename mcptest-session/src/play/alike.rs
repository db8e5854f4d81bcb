//! Conversations that begin alike, such as those of a task that is given often: they are told apart by their turns.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::turn_sign::{TurnSign, shared_turns};

/// Conversations with the same opening, system prompt, tools and role.
#[derive(Debug, Clone, Default)]
pub(super) struct Alike {
    /// Their numbers, ascending, each with the turns of the model.
    all: Vec<(usize, Vec<TurnSign>)>,
    /// The first conversation that begins with some turns.
    by_turns: HashMap<u64, usize>,
    /// A call of one of them has no identifier: those of other turns may be its.
    is_loose: bool,
}

impl Alike {
    /// Adds a conversation, whose number is larger than those before.
    pub(super) fn add(&mut self, number: usize, turns: Vec<TurnSign>) {
        for mark in marks(&turns) {
            self.by_turns.entry(mark).or_insert(number);
        }
        self.is_loose |= turns.iter().any(|turn| !turn.has_ids());
        self.all.push((number, turns));
    }

    /// The first of them.
    pub(super) fn first(&self) -> Option<usize> {
        self.all.first().map(|(number, _)| *number)
    }

    /// Whether it is one conversation.
    pub(super) fn is_one(&self) -> bool {
        self.all.len() == 1
    }

    /// The one that shares most turns with a talk, the first of several; and how many it shares.
    pub(super) fn nearest(&self, asked: &[TurnSign]) -> Option<(usize, Reverse<usize>)> {
        if self.is_loose || !asked.iter().all(TurnSign::has_given_ids) {
            let shared = self.all.iter();
            let shared =
                shared.map(|(number, known)| (shared_turns(known, asked), Reverse(*number)));
            return shared.max();
        }
        let marks: Vec<u64> = marks(asked).collect();
        let mut longest = marks.iter().enumerate().rev();
        let found = longest.find_map(|(place, mark)| {
            let number = self.by_turns.get(mark)?;
            Some((place + 1, Reverse(*number)))
        });
        found.or_else(|| Some((0, Reverse(self.first()?))))
    }
}

/// The same for the same first turn, for the same first two, and so on.
fn marks(turns: &[TurnSign]) -> impl Iterator<Item = u64> {
    turns.iter().scan(0, |mark, turn| {
        let mut hasher = DefaultHasher::new();
        (*mark, turn).hash(&mut hasher);
        *mark = hasher.finish();
        Some(*mark)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn turns(length: usize) -> impl Strategy<Value = Vec<TurnSign>> {
        let id = prop_oneof![
            6 => "[ab]".prop_map(Some),
            1 => Just(None),
            1 => Just(Some("gemini:find:0".to_owned())),
        ];
        let turn = (0_u64..2, proptest::collection::vec(id, 1));
        let turn = turn.prop_map(|(sign, ids)| TurnSign { sign, ids });
        proptest::collection::vec(turn, 0..length)
    }

    proptest! {
        #[test]
        fn the_nearest_is_the_one_that_a_look_at_all_turns_finds(
            known in proptest::collection::vec(turns(4), 1..8), asked in turns(5),
        ) {
            let mut alike = Alike::default();
            for (number, turns) in known.iter().enumerate() {
                alike.add(number, turns.clone());
            }
            let shared = known.iter().enumerate();
            let plain = shared.map(|(number, turns)| (shared_turns(turns, &asked), Reverse(number)));
            prop_assert_eq!(alike.nearest(&asked), plain.max());
        }
    }
}
