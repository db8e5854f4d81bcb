//! Which call a result answers.
//!
//! Identifiers repeat in the wild: a result belongs to the latest model call that made a call of its
//! identifier, and among the calls of that model call to the first without a result.

use std::collections::{BTreeSet, HashMap};

/// The calls of a run, and their results.
#[derive(Debug, Default)]
pub struct Pairing {
    /// How many model calls there were.
    steps: usize,
    calls: Vec<PairedCall>,
    /// The calls of each identifier that the last model call with the identifier made.
    by_id: HashMap<String, CallsWithId>,
    /// The calls that the last model call with calls made, which wait for a result: by the name of the tool.
    waiting: HashMap<String, BTreeSet<usize>>,
    /// Calls without an identifier since the last model call.
    nameless: Vec<usize>,
}

/// A call.
#[derive(Debug)]
struct PairedCall {
    /// Its model call.
    step: usize,
    id: Option<String>,
    /// The name of the tool, as the model saw it.
    name: String,
    result: Option<usize>,
}

/// The calls of one model call that have one identifier.
#[derive(Debug, Default)]
struct CallsWithId {
    step: usize,
    last: usize,
    /// Those without a result.
    open: BTreeSet<usize>,
}

impl Pairing {
    /// Begins the next model call: the calls that follow are of it.
    pub fn begin_step(&mut self) {
        self.steps += 1;
        self.nameless.clear();
    }

    /// Adds the next call of the current model call.
    pub fn add_call(&mut self, id: Option<&str>, name: &str) {
        let call = self.calls.len();
        let step = self.steps;
        if self.calls.last().is_some_and(|last| last.step != step) {
            self.waiting.clear();
        }
        let waiting = self.waiting.entry(name.to_owned()).or_default();
        waiting.insert(call);
        match id {
            Some(id) => {
                let own = self.by_id.entry(id.to_owned()).or_default();
                if own.step != step {
                    own.open.clear();
                }
                own.step = step;
                own.last = call;
                own.open.insert(call);
            }
            None => self.nameless.push(call),
        }
        self.calls.push(PairedCall {
            step,
            id: id.map(str::to_owned),
            name: name.to_owned(),
            result: None,
        });
    }

    /// The call that a result with this identifier answers.
    #[must_use]
    pub fn by_id(&self, id: &str) -> Option<usize> {
        let own = self.by_id.get(id)?;
        Some(own.open.first().copied().unwrap_or(own.last))
    }

    /// The call that the result of a tool answers: the only one of the last model call that waits and has
    /// the tool's name.
    #[must_use]
    pub fn by_name(&self, name: &str) -> Option<usize> {
        let waiting = self.waiting.get(name)?;
        waiting.first().copied().filter(|_| waiting.len() == 1)
    }

    /// The call that the result of a tool answers, where results come in the order of the calls: the first call of
    /// the last model call that waits and has the tool's name. Some providers match results without identifiers by
    /// this order.
    pub(crate) fn next_by_name(&self, name: &str) -> Option<usize> {
        self.waiting.get(name)?.first().copied()
    }

    /// Whether a call is of the tool of this name.
    #[must_use]
    pub fn is_named(&self, call: usize, name: &str) -> bool {
        self.calls[call].name == name
    }

    /// The calls without an identifier that wait for a result, of the last message.
    pub fn take_without_id(&mut self) -> Vec<usize> {
        let calls = std::mem::take(&mut self.nameless).into_iter();
        calls
            .filter(|call| self.result_of(*call).is_none())
            .collect()
    }

    /// The first call without an identifier that waits for a result, of the last message.
    pub(crate) fn next_without_id(&self) -> Option<usize> {
        let mut calls = self.nameless.iter().copied();
        calls.find(|call| self.result_of(*call).is_none())
    }

    /// Notes that the result of this index answers a call.
    pub fn set_result(&mut self, call: usize, result: usize) {
        let made = &mut self.calls[call];
        made.result = Some(result);
        // An earlier call is in neither of the two.
        if let Some(own) = made.id.as_ref().and_then(|id| self.by_id.get_mut(id)) {
            own.open.remove(&call);
        }
        if let Some(waiting) = self.waiting.get_mut(&made.name) {
            waiting.remove(&call);
        }
    }

    /// The index of the result of a call.
    #[must_use]
    pub fn result_of(&self, call: usize) -> Option<usize> {
        self.calls[call].result
    }

    /// Whether the last call has no result.
    #[must_use]
    pub fn last_is_open(&self) -> bool {
        self.calls.last().is_some_and(|last| last.result.is_none())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_repeated_identifier_means_the_latest_model_call() {
        let mut pairing = Pairing::default();
        pairing.begin_step();
        pairing.add_call(Some("a"), "find");
        assert_eq!(pairing.by_id("a"), Some(0));
        pairing.begin_step();
        pairing.add_call(Some("a"), "find");
        pairing.add_call(Some("a"), "find");
        assert_eq!(pairing.by_id("a"), Some(1));
        pairing.set_result(1, 0);
        assert_eq!(pairing.by_id("a"), Some(2));
        pairing.set_result(2, 1);
        assert_eq!(pairing.by_id("a"), Some(2));
        assert_eq!(pairing.by_id("b"), None);
    }

    #[test]
    fn a_name_means_the_only_call_that_waits_and_has_it_or_the_first() {
        let mut pairing = Pairing::default();
        pairing.add_call(Some("0"), "dig");
        pairing.begin_step();
        for (id, name) in [(Some("1"), "find"), (None, "find"), (Some("3"), "read")] {
            pairing.add_call(id, name);
        }
        assert_eq!(pairing.by_name("read"), Some(3));
        // One was called before; none is so named.
        for name in ["dig", "write"] {
            assert_eq!(pairing.by_name(name), None, "{name}");
        }
        // Two wait: in an order, the first one is meant.
        assert_eq!(pairing.by_name("find"), None);
        assert_eq!(pairing.next_by_name("find"), Some(1));
        pairing.set_result(1, 0);
        assert_eq!(pairing.by_name("find"), Some(2));
        assert_eq!(pairing.take_without_id(), [2]);
        pairing.set_result(2, 1);
        assert_eq!(pairing.by_name("find"), None);
    }

    /// Pairs results with calls by a look at all calls: what the index has to agree with.
    #[derive(Default)]
    struct Plain {
        step: usize,
        calls: Vec<(usize, Option<String>, String, bool)>,
    }

    impl Plain {
        fn by_id(&self, id: &str) -> Option<usize> {
            let has_id = |at: &usize| self.calls[*at].1.as_deref() == Some(id);
            let last = (0..self.calls.len()).rev().find(has_id)?;
            let is_open = |at: &usize| {
                let (step, .., is_open) = &self.calls[*at];
                has_id(at) && *step == self.calls[last].0 && *is_open
            };
            (0..self.calls.len()).find(is_open).or(Some(last))
        }

        fn waiting(&self, name: &str) -> Vec<usize> {
            let last = self.calls.last().map(|last| last.0);
            let is_waiting = |at: &usize| {
                let (step, _, own, is_open) = &self.calls[*at];
                Some(*step) == last && own == name && *is_open
            };
            (0..self.calls.len()).filter(is_waiting).collect()
        }
    }

    proptest! {
        #[test]
        fn what_is_found_is_what_a_look_at_all_calls_finds(
            events in proptest::collection::vec((0_usize..6, "[ab]?", "[fg]"), 0..40),
        ) {
            let (mut pairing, mut plain) = (Pairing::default(), Plain::default());
            for (number, (event, id, name)) in events.iter().enumerate() {
                let id = Some(id.as_str()).filter(|id| !id.is_empty());
                match event {
                    0 => {
                        pairing.begin_step();
                        plain.step += 1;
                    }
                    1..=3 => {
                        pairing.add_call(id, name);
                        plain.calls.push((plain.step, id.map(str::to_owned), name.clone(), true));
                    }
                    _ if plain.calls.is_empty() => {}
                    _ => {
                        let call = number % plain.calls.len();
                        pairing.set_result(call, number);
                        plain.calls[call].3 = false;
                    }
                }
                for id in ["a", "b"] {
                    prop_assert_eq!(pairing.by_id(id), plain.by_id(id));
                }
                for name in ["f", "g"] {
                    let waiting = plain.waiting(name);
                    prop_assert_eq!(pairing.next_by_name(name), waiting.first().copied());
                    let only = waiting.first().copied().filter(|_| waiting.len() == 1);
                    prop_assert_eq!(pairing.by_name(name), only);
                }
            }
        }
    }
}
