//! What agents are called in a text: their name without the model, where that is enough to tell them apart.

use std::collections::BTreeMap;

use crate::evidence::compare::Comparison;
use crate::text::{escape_line, fitted};

/// A name has so many columns at the most, also where there is room for more.
const LONGEST: usize = 80;

/// The names of the agents of a comparison.
pub(super) struct Names(BTreeMap<String, usize>);

impl Names {
    pub(super) fn of(comparison: &Comparison) -> Self {
        let mut names = BTreeMap::new();
        for stem in comparison.stems() {
            *names.entry(without_model(stem).to_owned()).or_default() += 1;
        }
        Self(names)
    }

    /// An agent, made safe to print.
    pub(super) fn of_agent(&self, stem: &str) -> String {
        let short = without_model(stem);
        let name = match self.0.get(short) {
            Some(1) if !short.is_empty() => short,
            _ => stem,
        };
        fitted(&escape_line(name), LONGEST)
    }

    /// The same as code.
    pub(super) fn quoted(&self, stem: &str) -> String {
        format!("`{}`", self.of_agent(stem).replace('`', "ʼ"))
    }
}

/// A stem is an agent, two underscores and a model.
fn without_model(stem: &str) -> &str {
    stem.split_once("__").map_or(stem, |(agent, _)| agent)
}
