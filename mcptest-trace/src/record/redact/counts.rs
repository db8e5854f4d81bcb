//! How much was taken out.

use std::collections::BTreeMap;

/// How often something was taken out, by what it is: the name of a secret, `pattern`, or the kind of a
/// shape.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RedactionCounts(BTreeMap<String, usize>);

impl RedactionCounts {
    pub(super) fn add(&mut self, name: &str, count: usize) {
        *self.0.entry(name.to_owned()).or_default() += count;
    }

    /// Whether nothing was taken out.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each with its count, in the order of names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, usize)> {
        self.0.iter().map(|(name, count)| (name.as_str(), *count))
    }
}
