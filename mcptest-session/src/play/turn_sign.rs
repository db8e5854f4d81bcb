//! What tells one turn of the model from another.

use super::spoken::Spoken;
use crate::protocol::is_numbered;

/// What tells a turn of the model from another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct TurnSign {
    pub(super) sign: u64,
    /// The identifiers of its calls.
    pub(super) ids: Vec<Option<String>>,
}

impl TurnSign {
    /// Whether each of its calls has an identifier.
    pub(super) fn has_ids(&self) -> bool {
        self.ids.iter().all(Option::is_some)
    }

    /// Whether the provider gave each of its calls an identifier.
    pub(super) fn has_given_ids(&self) -> bool {
        let mut ids = self.ids.iter();
        ids.all(|id| id.as_ref().is_some_and(|id| !is_numbered(id)))
    }

    pub(super) fn of(spoken: &Spoken) -> Self {
        let ids = spoken.calls.iter().map(|call| call.id.clone());
        Self {
            sign: spoken.sign(),
            ids: ids.collect(),
        }
    }
}

/// How many turns of a talk are those with which a conversation begins.
pub(super) fn shared_turns(known: &[TurnSign], asked: &[TurnSign]) -> usize {
    let both = known.iter().zip(asked).take_while(|(old, new)| {
        let given = |id: &&String| !is_numbered(id);
        let ids = old.ids.iter().zip(&new.ids);
        let mut ids = ids.map(|(old, new)| old.as_ref().zip(new.as_ref().filter(given)));
        old.sign == new.sign && ids.all(|ids| ids.is_none_or(|(old, new)| old == new))
    });
    both.count()
}
