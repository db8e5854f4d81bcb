//! Did the agents get worse since the recordings we trust, or is that noise?
//!
//! Runs are unpaired within an agent, agents are paired: the same task, the same suite. For each metric
//! that may fail, the chance of any false red is at most α: α / 2 for the suite's test and α / 2K for
//! each of K agents (all of α for an agent alone). That is weighted Bonferroni, the first step of Holm:
//! an agent's verdict needs no other agent's data. A finding also needs the practical margin.
//!
//! - outcomes: Boschloo's exact test for an agent, an exact stratified test for the suite;
//! - cost: the exact rank sum, and the interval of Moses;
//! - behaviour: the energy distance over tools and whole calls, a reading list.
//!
//! ```
//! use mcptest_trace::evidence::compare::{AgentSamples, CompareOptions, RunSample, Sides, compare};
//!
//! let runs = |passed: usize| (0..6).map(|run| RunSample::with_outcome(run < passed)).collect();
//! let agent = AgentSamples::new("refund", Sides::Both { baseline: runs(6), candidate: runs(1) });
//! let comparison = compare(&[agent], &CompareOptions::default());
//! assert_eq!(comparison.exit_status(), 1);
//! ```

mod behaviour;
mod cost;
mod decision;
mod gaps;
mod options;
mod outcomes;
mod rank;
mod sample;
mod suite;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::number::{to_f64, to_u64};
use crate::stats::discovery::discoveries;
use crate::stats::energy_distance::Distances;
use crate::stats::rank_sum::RankSum;
use crate::words::words;
use gaps::Gaps;

pub use crate::stats::energy_distance::Permuted;
pub use crate::stats::moses::{Shift, ShiftInterval};
pub use behaviour::{BehaviourCompared, ChangedArgument, Differences, Occurrence, SuiteBehaviour};
pub use cost::{CostCompared, OtherMachines, SuiteCost};
pub use decision::Decision;
pub use gaps::NoCost;
pub use options::{CompareOptions, EmptyBaseline, Metric};
pub use outcomes::{OutcomesCompared, Passed};
pub use rank::Undecided;
pub use sample::{
    AgentChange, AgentName, AgentSamples, Behaviour, Cost, CostKind, RunSample, RunShare, Sides,
};
pub use suite::SuiteOutcomes;
pub use text::{AgentNames, Row, ShownAgents};

/// The version of a comparison as JSON.
pub const FORMAT: &str = "compare/1.0";

words! {
    /// What a test says.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    #[non_exhaustive]
    pub enum MetricFinding {
        /// Worse: significant, and by at least the margin.
        Regressed = "regressed",
        /// Better: significant, and by at least the margin.
        Improved = "improved",
        /// Fewer pass, by at least the margin and with p of at most α; its share of α is smaller, as other agents
        /// are compared too. More runs would decide.
        CannotBeToldYet = "cannot be told yet",
        /// Neither.
        NoEvidence = "no evidence",
        /// No run of the baseline passed.
        NothingToLose = "nothing to lose",
        /// Not even a candidate without a pass would be significant.
        TooFewRuns = "too few runs",
    }
}

/// One agent, compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AgentComparison {
    /// The stem of its recordings.
    pub agent: String,
    /// Outcomes, where they are known on both sides.
    pub outcomes: Option<OutcomesCompared>,
    /// Runs of the baseline and of the candidate that outcomes leave out, where there are any.
    pub unjudged: Option<[RunShare; 2]>,
    /// Runs of the baseline and of the candidate whose recordings do not say if they passed, where others say it.
    pub without_outcome: Option<[RunShare; 2]>,
    /// Cost, where it is known on both sides.
    pub cost: Option<CostCompared>,
    /// Why the cost is not compared, where runs do not say it.
    pub no_cost: Option<NoCost>,
    /// Why the cost is not compared, where it is known on both sides and depends on the machine.
    pub other_machines: Option<OtherMachines>,
    /// Behaviour, where it is known on both sides.
    pub behaviour: Option<BehaviourCompared>,
}

impl SuiteComparison {
    /// What a metric says of the suite.
    #[must_use]
    pub fn finding(&self, metric: Metric) -> Option<MetricFinding> {
        match metric {
            Metric::Outcomes => self.outcomes.as_ref().map(|found| found.finding),
            Metric::Cost => self.cost.as_ref().map(|found| found.finding),
            Metric::Behaviour => self.behaviour.as_ref().map(|found| found.finding),
        }
    }
}

impl AgentComparison {
    /// What a metric says of this agent.
    #[must_use]
    pub fn finding(&self, metric: Metric) -> Option<MetricFinding> {
        match metric {
            Metric::Outcomes => self.outcomes.as_ref().map(|found| found.finding),
            Metric::Cost => self.cost.as_ref().map(|found| found.finding),
            Metric::Behaviour => self.behaviour.as_ref().map(|found| found.finding),
        }
    }

    /// Whether a metric that may fail regressed.
    #[must_use]
    pub fn regressed(&self, options: &CompareOptions) -> bool {
        let found = |metric: &Metric| self.finding(*metric) == Some(MetricFinding::Regressed);
        options.fail_on.iter().any(found)
    }
}

/// The suite, compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SuiteComparison {
    /// Outcomes of all agents that have them.
    pub outcomes: Option<SuiteOutcomes>,
    /// Cost of all agents that have one.
    pub cost: Option<SuiteCost>,
    /// Behaviour of all agents.
    pub behaviour: Option<SuiteBehaviour>,
}

/// An agent that is not compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NotComparable {
    /// The stem of its recordings.
    pub agent: String,
    /// Why, one line each.
    pub differences: Vec<String>,
}

/// An agent whose runs somebody chose, which is no random sample: of its baseline only some runs are left, or those of
/// its runs were recorded anew that met a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SelectedRuns {
    /// The stem of its recordings.
    pub agent: String,
    /// The runs of the baseline that are gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<RunShare>,
    /// The runs of the candidate that were recorded anew because they met a change, where the others were kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub met_change: Option<RunShare>,
}

/// Two sides, compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// The format of this as JSON.
    pub format: &'static str,
    /// The options it was made with.
    pub options: CompareOptions,
    /// What agents are called, by the stems of their recordings, where that is known.
    pub names: BTreeMap<String, AgentName>,
    /// The agents with new recordings, in byte order.
    pub agents: Vec<AgentComparison>,
    /// Agents whose recordings are the same bytes on both sides.
    pub unchanged: Vec<String>,
    /// Agents only among the candidates.
    pub new: Vec<String>,
    /// Agents only in the baseline, though they are still asked for.
    pub gone: Vec<String>,
    /// Agents only in the baseline that are not asked for any more.
    pub dropped: Vec<String>,
    /// Why agents are gone, by their stems, where more is known than that there is no recording.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub gone_because: BTreeMap<String, String>,
    /// Agents that are asked for, and that neither side has a recording of.
    pub unrecorded: Vec<String>,
    /// Agents that were asked something else or recorded with another model, and those whose recordings cannot be
    /// read.
    pub not_comparable: Vec<NotComparable>,
    /// What the compared agents are now that they were not before, by their stems.
    pub changes: BTreeMap<String, Vec<AgentChange>>,
    /// Agents of whose baseline only a choice of the runs is left.
    pub chosen: Vec<SelectedRuns>,
    /// All agents together.
    pub suite: SuiteComparison,
    /// What it comes to.
    #[serde(flatten)]
    pub decision: Decision,
    /// What records more runs of agents, by their stems, where that is known.
    #[serde(skip)]
    pub record_commands: BTreeMap<String, RecordCommands>,
    /// How many agents of those that were compared are left out here, as [`Self::of_agents`] does.
    #[serde(skip)]
    left_out: usize,
}

/// What records missing runs of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordCommands {
    /// Of the agent alone.
    pub agent: String,
    /// Of all agents of its suite.
    pub suite: String,
}

impl RecordCommands {
    /// A command for an agent alone, and one for its suite.
    pub fn new(agent: impl Into<String>, suite: impl Into<String>) -> Self {
        Self {
            agent: agent.into(),
            suite: suite.into(),
        }
    }
}

impl Comparison {
    /// Sets what records more runs of agents, by their stems. The first sentence then names the command that
    /// records the runs which would decide.
    #[must_use]
    pub fn with_record_commands(mut self, commands: BTreeMap<String, RecordCommands>) -> Self {
        self.record_commands = commands;
        self
    }

    /// The exit status: 0 holds, 1 a finding, 3 cannot tell.
    #[must_use]
    pub const fn exit_status(&self) -> u8 {
        self.decision.exit_status()
    }
}

/// An agent while it is compared.
struct ComparedAgent<'a> {
    name: &'a str,
    passed: Option<(Passed, Passed)>,
    costs: Option<(Vec<f64>, Vec<f64>)>,
    gaps: Gaps,
    behaviours: Option<(Vec<&'a Behaviour>, Vec<&'a Behaviour>)>,
}

impl<'a> ComparedAgent<'a> {
    fn new(
        name: &'a str,
        baseline: &'a [RunSample],
        candidate: &'a [RunSample],
        kind: CostKind,
    ) -> Self {
        let gaps = Gaps::find([baseline, candidate], kind);
        let are_alike = gaps.no_cost.is_none() && gaps.other_machines.is_none();
        let costs = cost::costs(baseline, kind).zip(cost::costs(candidate, kind));
        Self {
            name,
            passed: Passed::count(baseline).zip(Passed::count(candidate)),
            costs: costs.filter(|_| are_alike),
            gaps,
            behaviours: behaviour::behaviours(baseline).zip(behaviour::behaviours(candidate)),
        }
    }
}

/// Compares two sides, agent by agent and as a whole.
///
/// Agents are judged in the byte order of their stem, whatever order they come in.
#[must_use]
pub fn compare(samples: &[AgentSamples], options: &CompareOptions) -> Comparison {
    let mut samples: Vec<&AgentSamples> = samples.iter().collect();
    samples.sort_by(|left, right| left.agent.cmp(&right.agent));
    let [
        mut unchanged,
        mut new,
        mut gone,
        mut dropped,
        mut unrecorded,
    ] = [const { Vec::new() }; 5];
    let mut gone_because = BTreeMap::new();
    let (mut agents, mut not_comparable, mut chosen) = (Vec::new(), Vec::new(), Vec::new());
    let (mut names, mut changes) = (BTreeMap::new(), BTreeMap::new());
    for sample in samples {
        let name = &sample.agent;
        if !sample.changes.is_empty() {
            changes.insert(name.clone(), sample.changes.clone());
        }
        let called = sample.name.iter();
        names.extend(called.map(|called| (name.clone(), called.clone())));
        if sample.lost.or(sample.met_change).is_some() {
            chosen.push(SelectedRuns {
                agent: name.clone(),
                lost: sample.lost,
                met_change: sample.met_change,
            });
        }
        match &sample.sides {
            Sides::Both {
                baseline,
                candidate,
            } => agents.push(ComparedAgent::new(name, baseline, candidate, options.cost)),
            Sides::Unchanged => unchanged.push(name.clone()),
            Sides::New => new.push(name.clone()),
            Sides::Gone => {
                gone.push(name.clone());
                gone_because.extend(sample.gone_because.clone().map(|why| (name.clone(), why)));
            }
            Sides::Dropped => dropped.push(name.clone()),
            Sides::Unrecorded => unrecorded.push(name.clone()),
            Sides::NotComparable { differences } => not_comparable.push(NotComparable {
                agent: name.clone(),
                differences: differences.clone(),
            }),
        }
    }
    let judged = judge(&agents, options);
    let suite = judge_suite(&judged, options);
    let mut comparison = Comparison {
        format: FORMAT,
        options: options.clone(),
        names,
        agents: judged.into_iter().map(JudgedAgent::comparison).collect(),
        unchanged,
        new,
        gone,
        dropped,
        gone_because,
        unrecorded,
        not_comparable,
        changes,
        chosen,
        suite,
        decision: Decision::Unchanged,
        record_commands: BTreeMap::new(),
        left_out: 0,
    };
    comparison.decision = decision::decide(&comparison);
    comparison
}

/// Compares one agent alone, as it would be among [`CompareOptions::hypotheses`] agents: for a case of
/// its own that reads no other agent's runs. Behaviour is tested against its share of α alone, since
/// the false discovery rate needs all agents.
///
/// ```
/// use mcptest_trace::evidence::compare::{CompareOptions, RunSample, compare_agent};
///
/// let runs = |passed: usize| (0..6).map(|run| RunSample::with_outcome(run < passed)).collect::<Vec<_>>();
/// let options = CompareOptions::default().with_hypotheses(4);
/// let found = compare_agent("refund", &runs(6), &runs(1), &options);
/// assert!(found.regressed(&options));
/// assert_eq!(found.verdict(&options), "regressed   p 0.0032 ≤ 0.00625, 83 points");
/// ```
#[must_use]
pub fn compare_agent(
    agent: &str,
    baseline: &[RunSample],
    candidate: &[RunSample],
    options: &CompareOptions,
) -> AgentComparison {
    let agents = [ComparedAgent::new(agent, baseline, candidate, options.cost)];
    judge(&agents, options).swap_remove(0).comparison()
}

/// An agent, compared, with what the suite's tests need of it.
struct JudgedAgent {
    agent: String,
    outcomes: Option<OutcomesCompared>,
    cost: Option<(CostCompared, RankSum)>,
    gaps: Gaps,
    behaviour: Option<(BehaviourCompared, Distances)>,
}

impl JudgedAgent {
    fn comparison(self) -> AgentComparison {
        AgentComparison {
            agent: self.agent,
            outcomes: self.outcomes,
            unjudged: self.gaps.unjudged,
            without_outcome: self.gaps.without_outcome,
            cost: self.cost.map(|(compared, _)| compared),
            no_cost: self.gaps.no_cost,
            other_machines: self.gaps.other_machines,
            behaviour: self.behaviour.map(|(compared, _)| compared),
        }
    }
}

/// Compares each of these agents, with its share of α for each metric.
fn judge(agents: &[ComparedAgent<'_>], options: &CompareOptions) -> Vec<JudgedAgent> {
    let share = |has: fn(&&ComparedAgent<'_>) -> bool| {
        options.agent_share(agents.iter().filter(has).count())
    };
    let of_cost = share(|agent| agent.costs.is_some());
    let of_behaviour = share(|agent| agent.behaviours.is_some());
    let of_behaviour = options.fails_on_behaviour().then_some(of_behaviour);
    let mut outcomes = outcomes::Tests::new(share(|agent| agent.passed.is_some()), options.alpha);
    let judged = agents.iter().map(|agent| JudgedAgent {
        agent: agent.name.to_owned(),
        gaps: agent.gaps.clone(),
        outcomes: agent.passed.map(|(before, now)| {
            let margin = options.margin_of(agent.name);
            outcomes.compare(before, now, margin)
        }),
        cost: agent
            .costs
            .as_ref()
            .map(|(before, now)| cost::compare(before, now, of_cost, options.cost_margin)),
        behaviour: agent.behaviours.as_ref().and_then(|(before, now)| {
            behaviour::compare(agent.name, before, now, of_behaviour, options.seed)
        }),
    });
    let mut judged: Vec<JudgedAgent> = judged.collect();
    let behaviours = || judged.iter().filter_map(|one| one.behaviour.as_ref());
    let p_values: Vec<f64> = behaviours().map(|(found, _)| found.tools.p).collect();
    let others = discoveries(&p_values, options.false_discoveries);
    let found = judged.iter_mut().filter_map(|one| one.behaviour.as_mut());
    for ((found, _), other) in found.zip(others) {
        found.other = other;
    }
    judged
}

/// Compares the suite, by the tests that all its agents make together.
fn judge_suite(judged: &[JudgedAgent], options: &CompareOptions) -> SuiteComparison {
    let outcomes = judged.iter().filter_map(|one| one.outcomes.as_ref());
    let costs = judged.iter().filter_map(|one| one.cost.as_ref());
    let behaviours = judged.iter().filter_map(|one| one.behaviour.as_ref());
    SuiteComparison {
        outcomes: suite::compare(&outcomes.collect::<Vec<_>>(), options),
        cost: cost::compare_suite(&costs.collect::<Vec<_>>(), options),
        behaviour: behaviour::compare_suite(&behaviours.collect::<Vec<_>>(), options),
    }
}
