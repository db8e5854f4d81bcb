//! Texts in the order in which they came, each once.

use std::collections::HashSet;
use std::ops::Deref;

/// Texts in the order in which they came, each once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Distinct {
    texts: Vec<String>,
    known: HashSet<String>,
}

impl Distinct {
    /// Puts a text behind the others, unless it is there.
    pub(crate) fn add(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.known.contains(&text) {
            self.known.insert(text.clone());
            self.texts.push(text);
        }
    }
}

impl Deref for Distinct {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.texts
    }
}

impl From<Distinct> for Vec<String> {
    fn from(distinct: Distinct) -> Self {
        distinct.texts
    }
}
