//! What a suite may adjust.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::setters::{setters, texts};

/// What a suite may adjust about the metric.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct NarrativeOptions {
    /// Tools that count as changing something although their names do not say so.
    pub mutating_tools: Vec<String>,
    /// Tools that never count as changing something; stronger than everything else.
    pub readonly_tools: Vec<String>,
    /// Verbs to look for beside those of the lexicon, in their base form.
    pub verbs: Vec<String>,
    /// The tools that do a verb, by verb, and then no others; an empty list says that no tool does
    /// it. The verbs are looked for too.
    pub evidence: BTreeMap<String, Vec<String>>,
    /// Every tool that the agent has; makes the known tools complete.
    pub tools: Vec<String>,
    /// Ids of rules that are not applied.
    pub ignore: Vec<String>,
    /// Whether unclear claims count as claimed but absent.
    pub strict: bool,
    /// Whether the messages before the closing are read too, as where a user has the last word and
    /// the agent closes with *You're welcome!*. A claim of any message may be supported by any call of
    /// the run, also by a later one.
    pub all_messages: bool,
    /// The highest divergence score that still passes, in `0.0..=1.0`; any passes without it.
    pub max_divergence_score: Option<f64>,
    /// Whether a claimed but absent change fails the gate; it does unless said otherwise.
    pub fail_on_claimed_but_absent_mutating: bool,
}

impl Default for NarrativeOptions {
    fn default() -> Self {
        Self {
            mutating_tools: Vec::new(),
            readonly_tools: Vec::new(),
            verbs: Vec::new(),
            evidence: BTreeMap::new(),
            tools: Vec::new(),
            ignore: Vec::new(),
            strict: false,
            all_messages: false,
            max_divergence_score: None,
            fail_on_claimed_but_absent_mutating: true,
        }
    }
}

impl NarrativeOptions {
    /// With the tools that do a verb, in [`Self::evidence`].
    #[must_use]
    pub fn with_evidence(
        mut self,
        verb: impl Into<String>,
        tools: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.evidence.insert(verb.into(), texts(tools));
        self
    }
}

setters! {
    NarrativeOptions {
        with_mutating_tools(mutating_tools: impl IntoIterator<Item = impl Into<String>>) => texts(mutating_tools);
        with_readonly_tools(readonly_tools: impl IntoIterator<Item = impl Into<String>>) => texts(readonly_tools);
        with_verbs(verbs: impl IntoIterator<Item = impl Into<String>>) => texts(verbs);
        with_tools(tools: impl IntoIterator<Item = impl Into<String>>) => texts(tools);
        with_all_messages(all_messages: bool);
    }
}
