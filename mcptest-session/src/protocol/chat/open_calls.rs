//! Which call a piece of a stream goes on with.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use crate::json::{count, text};

/// How many calls one answer can have; of a larger number nobody knows what it means.
const MOST_CALLS: u64 = 10_000;

/// The calls of an answer, by what pieces of them say.
#[derive(Debug, Default)]
pub(super) struct OpenCalls {
    known: Vec<Told>,
    by_index: HashMap<Option<u64>, BTreeSet<usize>>,
    by_id: HashMap<Option<String>, BTreeSet<usize>>,
    by_both: HashMap<Told, BTreeSet<usize>>,
}

/// What is told of a call: its number, and its identifier.
type Told = (Option<u64>, Option<String>);

fn call_identity(call: &Value) -> Told {
    let id = text(call, "id").filter(|id| !is_none(id));
    (count(call, "index"), id.map(str::to_owned))
}

/// Whether a text says that there is no identifier.
pub(super) fn is_none(id: &str) -> bool {
    id.is_empty() || id == "null"
}

impl OpenCalls {
    /// The call that a piece is of. Some servers leave the number out, or number all calls 0: another identifier is
    /// another call.
    pub(super) fn find(&self, piece: &Value) -> Option<usize> {
        let (index, id) = call_identity(piece);
        let index = index.filter(|index| *index < MOST_CALLS);
        let last = |calls: Option<&BTreeSet<usize>>| calls.and_then(|calls| calls.last().copied());
        match (index, id) {
            (None, None) => self.known.len().checked_sub(1),
            (None, id) => last(self.by_id.get(&id)),
            (index, None) => last(self.by_index.get(&index)),
            (index, id) => {
                let same = last(self.by_both.get(&(index, id)));
                same.max(last(self.by_both.get(&(index, None))))
            }
        }
    }

    /// Notes what is told of a call now.
    pub(super) fn note(&mut self, place: usize, call: &Value) {
        let now = call_identity(call);
        if let Some(before) = self.known.get(place) {
            if *before == now {
                return;
            }
            let (index, id) = before;
            let sets = [
                self.by_index.get_mut(index),
                self.by_id.get_mut(id),
                self.by_both.get_mut(before),
            ];
            for set in sets.into_iter().flatten() {
                set.remove(&place);
            }
            self.known[place] = now.clone();
        } else {
            self.known.push(now.clone());
        }
        let (index, id) = now.clone();
        self.by_index.entry(index).or_default().insert(place);
        self.by_id.entry(id).or_default().insert(place);
        self.by_both.entry(now).or_default().insert(place);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// The same by a look at all calls.
    fn plain(calls: &[Value], piece: &Value) -> Option<usize> {
        let index = count(piece, "index").filter(|index| *index < MOST_CALLS);
        let id = text(piece, "id").filter(|id| !id.is_empty());
        calls.iter().rposition(|call| {
            let own = text(call, "id");
            let of_index = index.is_none() || count(call, "index") == index;
            of_index && (id.is_none() || own.is_none() && index.is_some() || own == id)
        })
    }

    proptest! {
        #[test]
        fn a_piece_finds_the_call_that_a_look_at_all_calls_finds(
            pieces in proptest::collection::vec((proptest::option::of(0_u64..3), 0_usize..4), 0..20),
        ) {
            let (mut open, mut calls) = (OpenCalls::default(), Vec::<Value>::new());
            for (index, id) in pieces {
                let mut piece = json!({});
                if let Some(index) = index {
                    piece["index"] = [0, 1, MOST_CALLS][usize::try_from(index).unwrap()].into();
                }
                if let Some(id) = ["a", "b", ""].get(id) {
                    piece["id"] = (*id).into();
                }
                let found = open.find(&piece);
                prop_assert_eq!(found, plain(&calls, &piece));
                let place = found.unwrap_or(calls.len());
                if place == calls.len() {
                    calls.push(json!({}));
                }
                for (key, value) in piece.as_object().unwrap() {
                    if value.as_str() != Some("") {
                        calls[place][key] = value.clone();
                    }
                }
                open.note(place, &calls[place]);
            }
        }
    }
}
