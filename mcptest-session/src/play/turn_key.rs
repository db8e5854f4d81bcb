//! Keys of turns: what tells one turn of the model from another.

use std::hash::{DefaultHasher, Hash, Hasher as _};

use super::model_turn::ModelTurn;
use crate::protocol::is_numbered;

/// What tells a turn of the model from another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct TurnKey {
    pub(super) sign: u64,
    /// The identifiers of its calls.
    pub(super) ids: Vec<Option<String>>,
}

impl TurnKey {
    pub(super) fn from_turn(spoken: &ModelTurn) -> Self {
        let ids = spoken.calls.iter().map(|call| call.id.clone());
        Self {
            sign: spoken.hash_value(),
            ids: ids.collect(),
        }
    }
}

/// The turns of the model in a message history, with a hash of each of its beginnings.
#[derive(Debug, Clone, Default)]
pub(super) struct TurnPrefixes {
    turns: Vec<TurnKey>,
    /// The hashes of the first turn, the first two turns, and so on: what they say, with the identifiers of their
    /// calls.
    pub(super) marks: Vec<u64>,
    /// The hashes of the first turn, the first two turns, and so on: what they say alone.
    pub(super) words: Vec<u64>,
}

impl TurnPrefixes {
    pub(super) fn new(turns: Vec<TurnKey>) -> Self {
        Self {
            marks: prefix_hashes(turns.iter()),
            words: prefix_hashes(turns.iter().map(|turn| turn.sign)),
            turns,
        }
    }

    fn ids(&self) -> impl Iterator<Item = Option<&str>> {
        self.turns
            .iter()
            .flat_map(|turn| &turn.ids)
            .map(Option::as_deref)
    }

    /// Whether a call has an identifier.
    pub(super) fn has_ids(&self) -> bool {
        self.ids().any(|id| id.is_some())
    }

    /// Whether a call has none.
    pub(super) fn lacks_ids(&self) -> bool {
        self.ids().any(|id| id.is_none())
    }

    /// Whether the provider gave a call an identifier.
    pub(super) fn has_given_ids(&self) -> bool {
        self.ids().any(is_given)
    }

    /// Whether the provider gave a call none.
    pub(super) fn lacks_given_ids(&self) -> bool {
        !self.ids().all(is_given)
    }

    /// With how many of these turns a talk begins.
    pub(super) fn shared_turns(&self, asked: &Self) -> usize {
        let both = self
            .turns
            .iter()
            .zip(&asked.turns)
            .take_while(|(old, new)| {
                let ids = old.ids.iter().zip(&new.ids);
                let mut ids = ids.filter(|(old, new)| old.is_some() && is_given(new.as_deref()));
                old.sign == new.sign && ids.all(|(old, new)| old == new)
            });
        both.count()
    }
}

fn is_given(id: Option<&str>) -> bool {
    id.is_some_and(|id| !is_numbered(id))
}

/// A hash of the first of some things, of the first two, and so on.
fn prefix_hashes<T: Hash>(all: impl Iterator<Item = T>) -> Vec<u64> {
    let marks = all.scan(0, |mark, one| {
        let mut hasher = DefaultHasher::new();
        (*mark, one).hash(&mut hasher);
        *mark = hasher.finish();
        Some(*mark)
    });
    marks.collect()
}
