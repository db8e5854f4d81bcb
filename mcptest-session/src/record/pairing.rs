//! Which call a result answers.
//!
//! Identifiers repeat in the wild: a result belongs to the latest model call that made a call of its
//! identifier, and among the calls of that model call to the first without a result.

use std::collections::HashMap;

/// The calls of a run, and their results.
#[derive(Debug, Default)]
pub struct Pairing {
    /// How many model calls there were.
    steps: usize,
    /// For each call, its model call and its result.
    calls: Vec<(usize, Option<usize>)>,
    /// The name of each, as the model saw it.
    names: Vec<String>,
    /// The calls of each identifier.
    by_id: HashMap<String, Vec<usize>>,
    /// Calls without an identifier since the last model call.
    nameless: Vec<usize>,
}

impl Pairing {
    /// The model is called.
    pub fn step(&mut self) {
        self.steps += 1;
        self.nameless.clear();
    }

    /// The next call is made.
    pub fn call(&mut self, id: Option<&str>, name: &str) {
        let call = self.calls.len();
        self.names.push(name.to_owned());
        self.calls.push((self.steps, None));
        match id {
            Some(id) => self.by_id.entry(id.to_owned()).or_default().push(call),
            None => self.nameless.push(call),
        }
    }

    /// The call that a result with this identifier answers.
    #[must_use]
    pub fn of(&self, id: &str) -> Option<usize> {
        let calls = self.by_id.get(id)?;
        let last = *calls.last()?;
        let (step, _) = self.calls[last];
        let is_open = |call: &&usize| self.calls[**call] == (step, None);
        Some(calls.iter().find(is_open).copied().unwrap_or(last))
    }

    /// The call that the result of a tool answers: the only one of the last model call that waits and has
    /// the tool's name.
    #[must_use]
    pub fn by_name(&self, name: &str) -> Option<usize> {
        let mut waiting = self.waiting(name);
        waiting.next().filter(|_| waiting.next().is_none())
    }

    /// The same where results come in the order of the calls, as a provider takes those without identifiers: the
    /// first one.
    #[must_use]
    pub fn next_by_name(&self, name: &str) -> Option<usize> {
        self.waiting(name).next()
    }

    fn waiting<'p>(&'p self, name: &'p str) -> impl Iterator<Item = usize> + 'p {
        let last = self.calls.last().map(|(last, _)| *last);
        let is_waiting = move |call: &usize| {
            last.is_some_and(|last| self.calls[*call] == (last, None)) && self.names[*call] == name
        };
        (0..self.calls.len()).filter(is_waiting)
    }

    /// Whether a call is of a tool.
    #[must_use]
    pub fn is_of(&self, call: usize, name: &str) -> bool {
        self.names[call] == name
    }

    /// The calls without an identifier that wait for a result, of the last message.
    pub fn nameless(&mut self) -> Vec<usize> {
        let calls = std::mem::take(&mut self.nameless).into_iter();
        calls
            .filter(|call| self.result_of(*call).is_none())
            .collect()
    }

    /// A call is answered by the result of this index.
    pub fn answered(&mut self, call: usize, result: usize) {
        self.calls[call].1 = Some(result);
    }

    /// The index of the result of a call.
    #[must_use]
    pub fn result_of(&self, call: usize) -> Option<usize> {
        self.calls[call].1
    }

    /// Whether the last call has no result.
    #[must_use]
    pub fn last_is_open(&self) -> bool {
        self.calls
            .last()
            .is_some_and(|(_, result)| result.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_identifier_means_the_latest_model_call() {
        let mut pairing = Pairing::default();
        pairing.step();
        pairing.call(Some("a"), "find");
        assert_eq!(pairing.of("a"), Some(0));
        pairing.step();
        pairing.call(Some("a"), "find");
        pairing.call(Some("a"), "find");
        assert_eq!(pairing.of("a"), Some(1));
        pairing.answered(1, 0);
        assert_eq!(pairing.of("a"), Some(2));
        pairing.answered(2, 1);
        assert_eq!(pairing.of("a"), Some(2));
        assert_eq!(pairing.of("b"), None);
    }

    #[test]
    fn a_name_means_the_only_call_that_waits_and_has_it_or_the_first() {
        let mut pairing = Pairing::default();
        pairing.call(Some("0"), "dig");
        pairing.step();
        for (id, name) in [(Some("1"), "find"), (None, "find"), (Some("3"), "read")] {
            pairing.call(id, name);
        }
        assert_eq!(pairing.by_name("read"), Some(3));
        // One was called before; none is so named.
        for name in ["dig", "write"] {
            assert_eq!(pairing.by_name(name), None, "{name}");
        }
        // Two wait: in an order, the first one is meant.
        assert_eq!(pairing.by_name("find"), None);
        assert_eq!(pairing.next_by_name("find"), Some(1));
        pairing.answered(1, 0);
        assert_eq!(pairing.by_name("find"), Some(2));
        assert_eq!(pairing.nameless(), [2]);
        pairing.answered(2, 1);
        assert_eq!(pairing.by_name("find"), None);
    }
}
