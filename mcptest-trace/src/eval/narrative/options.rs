//! What a suite may adjust.

use std::collections::BTreeMap;

use serde::Deserialize;

/// What a suite may adjust about the metric.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
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
}

impl NarrativeOptions {
    /// With [`Self::mutating_tools`].
    #[must_use]
    pub fn with_mutating_tools(
        mut self,
        mutating_tools: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.mutating_tools = mutating_tools.into_iter().map(Into::into).collect();
        self
    }

    /// With [`Self::readonly_tools`].
    #[must_use]
    pub fn with_readonly_tools(
        mut self,
        readonly_tools: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.readonly_tools = readonly_tools.into_iter().map(Into::into).collect();
        self
    }

    /// With [`Self::verbs`].
    #[must_use]
    pub fn with_verbs(mut self, verbs: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.verbs = verbs.into_iter().map(Into::into).collect();
        self
    }

    /// With the tools that do a verb, in [`Self::evidence`].
    #[must_use]
    pub fn with_evidence(
        mut self,
        verb: impl Into<String>,
        tools: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let tools = tools.into_iter().map(Into::into).collect();
        self.evidence.insert(verb.into(), tools);
        self
    }

    /// With [`Self::tools`].
    #[must_use]
    pub fn with_tools(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tools = tools.into_iter().map(Into::into).collect();
        self
    }

    /// With [`Self::ignore`].
    #[must_use]
    pub fn with_ignore(mut self, ignore: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.ignore = ignore.into_iter().map(Into::into).collect();
        self
    }

    /// With [`Self::strict`].
    #[must_use]
    pub fn with_strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }
}
