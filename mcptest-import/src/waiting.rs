//! Calls that wait for something, by a key and by their arguments: what waits first is found first.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use serde_json::Value;

/// The places of calls that wait, by keys such as their names.
#[derive(Debug, Default)]
pub(crate) struct Waiting(HashMap<String, WaitingCalls>);

#[derive(Debug, Default)]
struct WaitingCalls {
    all: BTreeSet<usize>,
    by_args: HashMap<Rc<Value>, BTreeSet<usize>>,
}

impl Waiting {
    /// A call waits from now on, or again.
    pub(crate) fn add(&mut self, key: &str, args: &Rc<Value>, place: usize) {
        if !self.0.contains_key(key) {
            self.0.insert(key.to_owned(), WaitingCalls::default());
        }
        if let Some(of_key) = self.0.get_mut(key) {
            of_key.all.insert(place);
            let alike = of_key.by_args.entry(Rc::clone(args)).or_default();
            alike.insert(place);
        }
    }

    /// A call waits no more.
    pub(crate) fn remove(&mut self, key: &str, args: &Value, place: usize) {
        let Some(of_key) = self.0.get_mut(key) else {
            return;
        };
        of_key.all.remove(&place);
        if let Some(alike) = of_key.by_args.get_mut(args) {
            alike.remove(&place);
        }
    }

    /// The first call of a key.
    pub(crate) fn first(&self, key: &str) -> Option<usize> {
        self.0.get(key)?.all.first().copied()
    }

    /// The first call of a key that has these arguments.
    pub(crate) fn first_with(&self, key: &str, args: &Value) -> Option<usize> {
        self.0.get(key)?.by_args.get(args)?.first().copied()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_first_call_is_the_one_that_a_look_at_all_calls_finds(
            steps in proptest::collection::vec(("[ab]", 0_u8..3, 0_usize..8), 0..40),
        ) {
            let mut waiting = Waiting::default();
            let mut plain: BTreeMap<usize, (String, u8)> = BTreeMap::new();
            for (key, args, place) in steps {
                // What waits already waits no more.
                if let Some((key, args)) = plain.remove(&place) {
                    waiting.remove(&key, &args.into(), place);
                } else {
                    waiting.add(&key, &Rc::new(args.into()), place);
                    plain.insert(place, (key, args));
                }
                for key in ["a", "b"] {
                    let own = || plain.iter().filter(|(_, it)| it.0 == key);
                    prop_assert_eq!(waiting.first(key), own().next().map(|(place, _)| *place));
                    for args in 0..3 {
                        let first = own().find(|(_, it)| it.1 == args).map(|(place, _)| *place);
                        prop_assert_eq!(waiting.first_with(key, &args.into()), first);
                    }
                }
            }
        }
    }
}
