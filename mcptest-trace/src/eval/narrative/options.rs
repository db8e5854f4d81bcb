//! What a suite may adjust.

use std::collections::BTreeMap;

use serde::Deserialize;

/// What a suite may adjust about the metric.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
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
}
