//! What a comparison needs of the runs of one agent.

use std::collections::{BTreeMap, BTreeSet};

use crate::eval::{Metrics as _, Prices, count_calls_with};
use crate::number::ceil_to_u64;
use crate::setters::setters;
use crate::text::pluralize;
use crate::trace::{Run, canonical_json};
use crate::words::words;
use serde::{Deserialize, Serialize};
use serde_json::Value;

words! {
    /// What a run costs.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    #[non_exhaustive]
    pub enum CostKind {
        /// Tokens of the whole run.
        #[default]
        Tokens = "tokens",
        /// Model calls.
        Steps = "steps",
        /// Tool calls.
        Calls = "calls",
        /// Milliseconds of the whole run.
        Ms = "ms",
        /// US dollars of the whole run, where the suite states the prices.
        Usd = "usd",
    }
}

impl CostKind {
    /// The target of the gate `calls` that says it.
    #[must_use]
    pub const fn target(self) -> &'static str {
        match self {
            Self::Tokens => "calls.tokens",
            Self::Steps => "calls.steps",
            Self::Calls => "calls.count",
            Self::Ms => "calls.ms",
            Self::Usd => "calls.usd",
        }
    }

    /// Whether it depends on the machine that recorded the run.
    #[must_use]
    pub const fn depends_on_machine(self) -> bool {
        matches!(self, Self::Ms)
    }

    /// What a run cost, by the values of its targets below the parts of their names, as
    /// [`Metrics::metrics`](crate::eval::Metrics::metrics) has them; nothing where the run has no such target.
    ///
    /// ```
    /// use mcptest_trace::evidence::compare::{Cost, CostKind};
    /// use serde_json::json;
    ///
    /// let targets = json!({ "calls": { "tokens": 1200, "usd": 0.0015 } });
    /// assert_eq!(CostKind::Tokens.cost_from_targets(&targets), Some(Cost::measured(1200)));
    /// assert_eq!(CostKind::Usd.cost_from_targets(&targets), Some(Cost::measured(1_500_000)));
    /// assert_eq!(CostKind::Ms.cost_from_targets(&targets), None);
    /// ```
    #[must_use]
    pub fn cost_from_targets(self, targets: &Value) -> Option<Cost> {
        let mut parts = self.target().split('.');
        let value = parts.try_fold(targets, |value, part| value.get(part))?;
        let amount = match value.as_u64() {
            Some(amount) if self != Self::Usd => Some(amount),
            _ => round_to_count(value.as_f64()? / self.unit()),
        };
        amount.map(Cost::measured)
    }

    /// What there is less or more of.
    pub(super) const fn noun(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Steps => "model calls",
            Self::Calls => "tool calls",
            Self::Ms => "time",
            Self::Usd => "money",
        }
    }

    /// What there is less or more of, with its verb.
    pub(super) const fn noun_with_verb(self) -> &'static str {
        match self {
            Self::Tokens => "tokens are",
            Self::Steps => "model calls are",
            Self::Calls => "tool calls are",
            Self::Ms => "time is",
            Self::Usd => "money is",
        }
    }

    /// What an amount of 1 is: a billionth of a dollar, else one of what is counted.
    pub(super) const fn unit(self) -> f64 {
        match self {
            Self::Usd => 1e-9,
            _ => 1.0,
        }
    }
}

/// The nearest whole number that is not below 0.
fn round_to_count(value: f64) -> Option<u64> {
    let value = value.round();
    (value >= 0.0).then(|| ceil_to_u64(value)).flatten()
}

/// What a run cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Cost {
    /// The amount; of dollars, so many billionths of one.
    pub amount: u64,
    /// Whether it is an estimate.
    pub estimated: bool,
}

impl Cost {
    /// A cost that was measured.
    #[must_use]
    pub const fn measured(amount: u64) -> Self {
        Self {
            amount,
            estimated: false,
        }
    }

    /// A cost that is an estimate.
    #[must_use]
    pub const fn estimated(amount: u64) -> Self {
        Self {
            amount,
            estimated: true,
        }
    }
}

/// What a run did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Behaviour {
    /// The names of the tools, call by call.
    pub tools: Vec<String>,
    /// What tells a call from others, call by call: name and canonical arguments, or their digest.
    pub calls: Vec<String>,
    /// The values of each argument in canonical JSON, by `<tool>.<key>`; empty where they are not known.
    pub arguments: BTreeMap<String, BTreeSet<String>>,
}

impl Behaviour {
    /// What a run called, call by call: the tools, and what tells one call from another.
    #[must_use]
    pub fn new(tools: Vec<String>, calls: Vec<String>) -> Self {
        Self {
            tools,
            calls,
            arguments: BTreeMap::new(),
        }
    }
}

setters! {
    Behaviour {
        with_arguments(arguments: BTreeMap<String, BTreeSet<String>>);
    }
}

/// One run on one side of a comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunSample {
    /// Whether it passed, where that is known.
    pub passed: Option<bool>,
    /// Whether its recording itself says if it passed, whoever is asked in the end.
    #[serde(default)]
    pub outcome_recorded: bool,
    /// Whether who should say that found nothing in it to judge: outcomes leave it out.
    #[serde(default)]
    pub unjudged: bool,
    /// What it cost, where that is known.
    pub cost: Option<Cost>,
    /// The machine that recorded it, where that is known and the cost depends on it.
    #[serde(default)]
    pub recorded_on: Option<String>,
    /// What it did, where that is known.
    pub behaviour: Option<Behaviour>,
}

impl RunSample {
    /// A run of which only the outcome is known.
    #[must_use]
    pub fn with_outcome(passed: bool) -> Self {
        Self::default().with_passed(Some(passed))
    }

    /// With the outcome that its recording says, where it says one.
    #[must_use]
    pub fn with_passed(mut self, passed: Option<bool>) -> Self {
        self.outcome_recorded = passed.is_some();
        self.passed = passed;
        self
    }

    /// What a recorded run says: the recorded outcome, its cost, its calls. A run with 0 tokens,
    /// or no step, is one of which none were recorded. Without prices nobody knows what it cost in money.
    #[must_use]
    pub fn from_run(run: &Run, kind: CostKind) -> Self {
        Self::from_run_with_prices(run, kind, &Prices::default())
    }

    /// What a recorded run says. Its cost in money is counted by these prices.
    #[must_use]
    pub fn from_run_with_prices(run: &Run, kind: CostKind, prices: &Prices) -> Self {
        let trace = &run.trace;
        let counts = count_calls_with(trace, &run.model, prices);
        let cost = kind.cost_from_targets(&counts.metrics());
        let mut behaviour = Behaviour::default();
        for call in &trace.tool_calls {
            behaviour.tools.push(call.name.clone());
            let arguments = call.arguments_json();
            behaviour.calls.push(format!("{} {arguments}", call.name));
            for (key, value) in call.args.as_object().into_iter().flatten() {
                let values = behaviour.arguments.entry(format!("{}.{key}", call.name));
                values.or_default().insert(canonical_json(value));
            }
        }
        Self::default()
            .with_passed(run.outcome.and_then(|outcome| outcome.passed))
            .with_cost(cost)
            .with_recorded_on(
                run.recorded_on
                    .clone()
                    .filter(|_| kind.depends_on_machine()),
            )
            .with_behaviour(Some(behaviour))
    }
}

setters! {
    RunSample {
        with_unjudged(unjudged: bool);
        with_cost(cost: Option<Cost>);
        with_recorded_on(recorded_on: Option<String>);
        with_behaviour(behaviour: Option<Behaviour>);
    }
}

/// How many runs of a side something is true of, and how many runs the side has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RunShare {
    /// Those runs.
    pub runs: usize,
    /// All runs.
    pub of: usize,
}

impl RunShare {
    /// So many of so many.
    #[must_use]
    pub const fn new(runs: usize, of: usize) -> Self {
        Self { runs, of }
    }

    /// Both numbers, and what they count: `1 of 6 runs`.
    pub(super) fn describe(self) -> String {
        format!("{} of {}", self.runs, pluralize(self.of, "run"))
    }

    /// Counts the runs of a side that something is true of.
    pub(super) fn count(side: &[RunSample], is: impl Fn(&RunSample) -> bool) -> Self {
        Self::new(side.iter().filter(|run| is(run)).count(), side.len())
    }
}

impl std::fmt::Display for RunShare {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {}", self.runs, self.of)
    }
}

/// What an agent is called, as its suite or its recordings write it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AgentName {
    /// Its name.
    pub agent: String,
    /// Its model.
    pub model: String,
    /// Its suite, where a suite asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suite: Option<String>,
}

impl AgentName {
    /// An agent with a model.
    pub fn new(agent: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            agent: agent.into(),
            model: model.into(),
            suite: None,
        }
    }
}

setters! {
    AgentName {
        with_suite(suite: impl Into<String>) => Some(suite.into());
    }
}

/// Something that an agent is now and was not before, such as another system prompt.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct AgentChange {
    /// What changed, as a sentence without its end: `the system prompt changed`.
    pub what: String,
    /// The lines that differ, each with its sign; empty where there is nothing more to say.
    pub diff: Vec<String>,
}

impl AgentChange {
    /// A change with the lines that differ.
    pub fn new(what: impl Into<String>, diff: Vec<String>) -> Self {
        Self {
            what: what.into(),
            diff,
        }
    }
}

/// An agent of a comparison.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AgentSamples {
    /// The stem of its recordings; agents go in its byte order.
    pub agent: String,
    /// What people call it; by its stem where that is not known.
    pub name: Option<AgentName>,
    /// Its runs.
    pub sides: Sides,
    /// What the agent is now that it was not before: its system prompt, its tools, its model. It is compared all the
    /// same.
    pub changes: Vec<AgentChange>,
    /// How many runs of the baseline are gone, where others of it are left among the candidate: somebody
    /// chose, and a choice of runs is no sample.
    pub lost: Option<RunShare>,
    /// How many runs of the candidate were recorded anew because they met a change, where the others were kept: somebody
    /// chose here too.
    pub met_change: Option<RunShare>,
    /// Why it is gone, where more is known than that there is no recording of it.
    pub gone_because: Option<String>,
}

impl AgentSamples {
    /// An agent by the stem of its recordings, and its runs.
    pub fn new(agent: impl Into<String>, sides: Sides) -> Self {
        Self {
            agent: agent.into(),
            name: None,
            sides,
            changes: Vec::new(),
            lost: None,
            met_change: None,
            gone_because: None,
        }
    }
}

setters! {
    AgentSamples {
        with_name(name: AgentName) => Some(name);
        with_changes(changes: Vec<AgentChange>);
        with_lost(lost: Option<RunShare>);
        with_met_change(met_change: Option<RunShare>);
        with_gone_because(gone_because: Option<String>);
    }
}

/// Where an agent has runs.
///
/// A closed set: whoever matches on it need not expect another.
#[derive(Debug, Clone, PartialEq)]
pub enum Sides {
    /// On both sides, of other bytes.
    Both {
        /// The runs that are trusted.
        baseline: Vec<RunSample>,
        /// The runs in question.
        candidate: Vec<RunSample>,
    },
    /// On both sides, with equal bytes: there is no hypothesis to test.
    Unchanged,
    /// Only among the candidates.
    New,
    /// Only in the baseline, though it is still asked for: whether it got worse, nobody can tell.
    Gone,
    /// Only in the baseline, and not asked for any more.
    Dropped,
    /// On neither side, though it is asked for.
    Unrecorded,
    /// Asked something else, recorded with another model, or with recordings that cannot be read: never judged.
    NotComparable {
        /// Why, one line each.
        differences: Vec<String>,
    },
}
