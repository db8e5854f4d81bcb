//! Drift from a policy (§3.1), and a store of named invariants that are recovered by unbinding.

use std::collections::BTreeMap;

use super::hypervector::Hypervector;

/// d = 1 − cos(policy, response): 0 the same text, about 1 unrelated, at most 2. `None` for a
/// blank response: nothing was said that could be off policy.
///
/// It compares wording, not meaning: texts share what 3-grams they share. Expect 0.4 to 0.8
/// between texts of one language and subject.
///
/// ```
/// use mcptest_trace::energy::{Hypervector, drift};
///
/// let policy = Hypervector::encode("Only refund within 30 days. Ask for the booking number first.");
/// let on = drift(&policy, "I can refund within 30 days; what is the booking number?").unwrap();
/// let off = drift(&policy, "Zum Mittag gibt es heute Kürbissuppe!").unwrap();
/// assert!(on < off);
/// assert_eq!(drift(&policy, "  "), None);
/// ```
#[must_use]
pub fn drift(policy: &Hypervector, response: &str) -> Option<f64> {
    if response.trim().is_empty() {
        return None;
    }
    Some(1.0 - policy.cosine(&Hypervector::encode(response)))
}

/// Named invariants outside the model's context (§1, §3.1), e.g. one a policy. Each is held bound
/// to the vector of its name, and recovered by unbinding.
///
/// ```
/// use mcptest_trace::energy::{HolographicEngine, Hypervector};
///
/// let mut engine = HolographicEngine::new();
/// engine.register("refunds", "Only refund within 30 days of the purchase.");
/// engine.register("privacy", "Never tell one customer about another.");
///
/// assert!(engine.drift("refunds", "We only refund within 30 days.").unwrap() < 0.7);
/// assert_eq!(engine.drift("unknown", "text"), None);
///
/// // All of them superposed in one vector: each is recovered, with noise, by its name.
/// let memory = engine.memory();
/// let recovered = HolographicEngine::unbind("privacy", &memory);
/// assert!(recovered.cosine(&engine.recover("privacy").unwrap()) > 0.3);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HolographicEngine {
    bound: BTreeMap<String, Hypervector>,
}

impl HolographicEngine {
    /// An engine without invariants.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Holds a text under a name; one that was held under it before is replaced.
    pub fn register(&mut self, name: &str, text: &str) {
        let bound = Self::unbind(name, &Hypervector::encode(text));
        self.bound.insert(name.to_owned(), bound);
    }

    /// Drops an invariant; whether there was one.
    pub fn remove(&mut self, name: &str) -> bool {
        self.bound.remove(name).is_some()
    }

    /// The names held, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.bound.keys().map(String::as_str)
    }

    /// The vector held under a name, exactly; `None` for an unknown name.
    #[must_use]
    pub fn recover(&self, name: &str) -> Option<Hypervector> {
        self.bound.get(name).map(|bound| Self::unbind(name, bound))
    }

    /// All invariants, each bound to its name, superposed in one vector.
    #[must_use]
    pub fn memory(&self) -> Hypervector {
        Hypervector::bundle(self.bound.values())
    }

    /// Unbinds what `memory` holds under a name: the vector itself from a clean binding, one that
    /// resembles it from a superposition or a damaged copy, noise for an unknown name.
    #[must_use]
    pub fn unbind(name: &str, memory: &Hypervector) -> Hypervector {
        memory.bind(&Hypervector::named(name))
    }

    /// [`drift`] of a text from the invariant of a name; `None` for an unknown name or blank text.
    #[must_use]
    pub fn drift(&self, name: &str, text: &str) -> Option<f64> {
        drift(&self.recover(name)?, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_unknown_name_is_nothing() {
        let mut engine = HolographicEngine::new();
        engine.register("a", "text");
        assert_eq!(engine.recover("b"), None);
        assert_eq!(engine.drift("b", "text"), None);
        assert!(!engine.remove("b"));
        assert!(engine.remove("a"));
        assert_eq!(engine.names().count(), 0);
    }

    #[test]
    fn an_invariant_survives_heavy_damage() {
        let value = Hypervector::encode("Only refund within 30 days.");
        let bound = HolographicEngine::unbind("refunds", &value);
        // A majority with two unrelated vectors changes a quarter of the components.
        let noise = [1, 2].map(Hypervector::item);
        let damaged = Hypervector::bundle([&bound, &noise[0], &noise[1]]);
        let recovered = HolographicEngine::unbind("refunds", &damaged);
        assert!(recovered.cosine(&value) > 0.45);
        assert!(
            HolographicEngine::unbind("other", &damaged)
                .cosine(&value)
                .abs()
                < 0.05
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn what_was_registered_is_recovered(name in ".{0,20}", text in ".{0,60}") {
            let mut engine = HolographicEngine::new();
            engine.register(&name, &text);
            engine.register("another", "Something else.");
            engine.register(&name, &text);
            prop_assert_eq!(engine.recover(&name), Some(Hypervector::encode(&text)));
        }

        #[test]
        fn drift_is_a_number_from_zero_to_two(policy in ".{0,60}", text in ".{0,60}") {
            let policy = Hypervector::encode(&policy);
            prop_assert!(drift(&policy, &text).is_none_or(|drift| (0.0..=2.0).contains(&drift)));
        }
    }
}
