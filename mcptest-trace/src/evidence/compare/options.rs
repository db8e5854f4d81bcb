//! The options of a comparison.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::CostKind;
use crate::setters::setters;

/// What is compared.
///
/// A closed set: whoever matches on it need not expect another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// How many runs pass.
    Outcomes,
    /// What runs cost.
    Cost,
    /// Which tools are called, in which order.
    Behaviour,
}

/// What a baseline without any agent comes to.
///
/// A closed set: whoever matches on it need not expect another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmptyBaseline {
    /// Nothing could have got worse, as before the first suite was written.
    #[default]
    Holds,
    /// It is no baseline: somebody named a place without recordings.
    CannotTell,
}

/// Options of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CompareOptions {
    /// The chance of any false red of a metric. Above 0, below 1; default 0.05.
    pub alpha: f64,
    /// The least drop of an agent that counts, in points of 100. Default 10.
    pub margin: f64,
    /// Other margins, by the agent's stem.
    pub agent_margins: BTreeMap<String, f64>,
    /// The least mean drop of the suite that counts, in points of 100. Default 5.
    pub suite_margin: f64,
    /// The least rise of the cost that counts, in percent. Default 20.
    pub cost_margin: f64,
    /// Which metrics turn the comparison red. Default outcomes and cost.
    pub fail_on: BTreeSet<Metric>,
    /// What a run costs. Default tokens.
    pub cost: CostKind,
    /// Whether the suite must be shown to be no worse, and not only not be shown to be worse.
    pub require_not_worse: bool,
    /// Whether the candidate may lack agents of the baseline, because they were removed on purpose.
    #[serde(default)]
    pub allow_gone: bool,
    /// What a baseline without any agent comes to. Default [`EmptyBaseline::Holds`].
    #[serde(default)]
    pub empty_baseline: EmptyBaseline,
    /// Whether a comparison that cannot tell passes, and says so.
    pub inconclusive_passes: bool,
    /// Among agents with other behaviour, the expected share of false ones. Default 0.1.
    pub false_discoveries: f64,
    /// How many agents share α, where it is more than this comparison sees (an agent judged alone).
    pub hypotheses: Option<usize>,
    /// The seed of the permutations. Default 0.
    pub seed: u64,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            alpha: 0.05,
            margin: 10.0,
            agent_margins: BTreeMap::new(),
            suite_margin: 5.0,
            cost_margin: 20.0,
            fail_on: [Metric::Outcomes, Metric::Cost].into(),
            cost: CostKind::default(),
            require_not_worse: false,
            allow_gone: false,
            empty_baseline: EmptyBaseline::Holds,
            inconclusive_passes: false,
            false_discoveries: 0.1,
            hypotheses: None,
            seed: 0,
        }
    }
}

impl CompareOptions {
    /// The share of α of each of so many agents: α / 2K, and all of it for one alone.
    pub(super) fn agent_share(&self, agents: usize) -> f64 {
        match self.hypotheses.unwrap_or(agents).max(agents) {
            0 | 1 => self.alpha,
            agents => self.alpha / (2.0 * super::to_f64(agents)),
        }
    }

    /// The share of α of the suite's own test: α / 2; none with one agent, which has all of it.
    pub(super) fn suite_share(&self, agents: usize) -> Option<f64> {
        (self.hypotheses.unwrap_or(agents).max(agents) > 1).then_some(self.alpha / 2.0)
    }

    /// Whether another behaviour alone turns the comparison red.
    pub(super) fn fails_on_behaviour(&self) -> bool {
        self.fail_on.contains(&Metric::Behaviour)
    }

    /// The margin of an agent, in points.
    pub(super) fn margin_of(&self, agent: &str) -> f64 {
        self.agent_margins
            .get(agent)
            .copied()
            .unwrap_or(self.margin)
    }
}

setters! {
    CompareOptions {
        with_margin(margin: f64);
        with_agent_margins(agent_margins: BTreeMap<String, f64>);
        with_suite_margin(suite_margin: f64);
        with_cost_margin(cost_margin: f64);
        with_fail_on(fail_on: impl IntoIterator<Item = Metric>) => fail_on.into_iter().collect();
        with_cost(cost: CostKind);
        with_require_not_worse(require_not_worse: bool);
        with_allow_gone(allow_gone: bool);
        with_empty_baseline(empty_baseline: EmptyBaseline);
        with_inconclusive_passes(inconclusive_passes: bool);
        with_hypotheses(hypotheses: usize) => Some(hypotheses);
        with_seed(seed: u64);
    }
}
