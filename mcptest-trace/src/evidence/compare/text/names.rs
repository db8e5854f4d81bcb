//! What agents are called in a text: as the suite or the recordings name them, and no longer than tells them apart.

use std::collections::BTreeMap;

use crate::evidence::compare::{AgentName, Comparison};
use crate::text::{escape_line, truncate_middle};

/// A name has so many columns at the most, also where there is room for more.
const LONGEST: usize = 80;

/// What the agents of a comparison are called, by the stems of their recordings.
#[derive(Debug, Clone)]
pub struct AgentNames(BTreeMap<String, String>);

impl AgentNames {
    /// The names of all agents of a comparison. An agent has its model behind its name only where another
    /// agent has the same name, and its suite before it where that is not enough.
    ///
    /// ```
    /// use mcptest_trace::evidence::compare::{
    ///     AgentName, AgentNames, AgentSamples, CompareOptions, Sides, compare,
    /// };
    ///
    /// let agent = |stem: &str, model: &str| {
    ///     AgentSamples::new(stem, Sides::New).with_name(AgentName::new("Refund agent", model))
    /// };
    /// let one = [agent("Refund_agent__gpt-5", "gpt-5")];
    /// let names = AgentNames::from_comparison(&compare(&one, &CompareOptions::default()));
    /// assert_eq!(names.quoted("Refund_agent__gpt-5"), "`Refund agent`");
    ///
    /// let two = [agent("Refund_agent__gpt-5", "gpt-5"), agent("Refund_agent__opus", "opus")];
    /// let names = AgentNames::from_comparison(&compare(&two, &CompareOptions::default()));
    /// assert_eq!(names.quoted("Refund_agent__opus"), "`Refund agent (opus)`");
    /// ```
    #[must_use]
    pub fn from_comparison(comparison: &Comparison) -> Self {
        let stems: Vec<&str> = comparison.stems().collect();
        let forms: Vec<[String; 3]> = stems
            .iter()
            .map(|stem| name_candidates(stem, comparison.names.get(*stem)))
            .collect();
        let mut counts: [BTreeMap<&str, usize>; 3] = Default::default();
        for forms in &forms {
            for (counts, form) in counts.iter_mut().zip(forms) {
                *counts.entry(form).or_default() += 1;
            }
        }
        let chosen = stems.iter().zip(&forms).map(|(stem, forms)| {
            let mut both = forms.iter().zip(&counts);
            let only = both.find(|(form, counts)| counts.get(form.as_str()) == Some(&1));
            (
                (*stem).to_owned(),
                only.map_or(*stem, |(form, _)| form).to_owned(),
            )
        });
        let mut names: BTreeMap<String, String> = chosen.collect();
        // A name may look like another one with its model.
        let mut taken: BTreeMap<String, usize> = BTreeMap::new();
        for name in names.values() {
            *taken.entry(name.clone()).or_default() += 1;
        }
        for (stem, name) in &mut names {
            if taken.get(name) != Some(&1) {
                name.clone_from(stem);
            }
        }
        Self(names)
    }

    /// An agent by the stem of its recordings, made safe to print.
    #[must_use]
    pub fn escaped(&self, stem: &str) -> String {
        let name = self.0.get(stem).map_or(stem, String::as_str);
        truncate_middle(&escape_line(name), LONGEST)
    }

    /// An agent by the stem of its recordings, made safe to print and between backticks.
    #[must_use]
    pub fn quoted(&self, stem: &str) -> String {
        format!("`{}`", self.escaped(stem).replace('`', "ʼ"))
    }
}

/// What an agent can be called, the shortest first.
fn name_candidates(stem: &str, name: Option<&AgentName>) -> [String; 3] {
    let Some(AgentName {
        agent,
        model,
        suite,
    }) = name
    else {
        // A stem is an agent, two underscores and a model.
        let agent = stem.split_once("__").map_or(stem, |(agent, _)| agent);
        let short = if agent.is_empty() { stem } else { agent };
        return [short, stem, stem].map(str::to_owned);
    };
    let with_model = format!("{agent} ({model})");
    let with_suite = match suite {
        Some(suite) => format!("{suite}: {with_model}"),
        None => with_model.clone(),
    };
    [agent.clone(), with_model, with_suite]
}
