//! Which agents there is something to say of.

use serde::Serialize;

use super::{AgentComparison, CompareOptions, Comparison, Metric, MetricFinding};
use crate::text::pluralize;

/// How much an agent asks to be looked at, most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// Something that fails was found.
    Red,
    /// Something was found that does not fail.
    Reported,
    /// Nothing was found.
    Quiet,
}

/// An agent of which nothing can be told with the runs that there are, and how many more would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Undecided {
    /// The stem of its recordings.
    pub agent: String,
    /// Runs on each side from which on it shows: the drop that was seen, or a fall to no pass where none was.
    pub needed: u64,
    /// How many more that are, before and now.
    pub more: [u64; 2],
    /// Whether that is for certain; else it is about so many, with probability 0.8, as some of the baseline's
    /// runs fail, or some of the candidate's pass.
    pub certain: bool,
    /// Whether fewer of its runs pass now, and more runs would show it.
    pub fell: bool,
}

impl Undecided {
    /// How many more runs the side with fewer of them needs.
    #[must_use]
    pub fn most(&self) -> u64 {
        let [before, now] = self.more;
        before.max(now)
    }
}

impl AgentComparison {
    pub(super) fn rank(&self, options: &CompareOptions) -> Rank {
        let metrics = [Metric::Outcomes, Metric::Cost, Metric::Behaviour];
        let is_found = |metric: &Metric| {
            matches!(
                self.finding(*metric),
                Some(MetricFinding::Regressed | MetricFinding::Improved)
            )
        };
        let unknown = self.outcomes.is_none() && options.fail_on.contains(&Metric::Outcomes);
        let other = self.behaviour.as_ref().is_some_and(|it| it.other);
        let gaps = self.unjudged.is_some() || self.without_outcome.is_some();
        let lost = gaps || self.has_lost_costs();
        if self.regressed(options) {
            Rank::Red
        } else if metrics.iter().any(is_found) || unknown || other || lost || self.has_fallen() {
            Rank::Reported
        } else {
            Rank::Quiet
        }
    }

    /// Whether there is something to say of it, so that it is shown where others are counted.
    #[must_use]
    pub fn is_reported(&self, options: &CompareOptions) -> bool {
        self.rank(options) != Rank::Quiet
    }

    /// Whether fewer of its runs passed by the margin or more, and there are too few runs to show it.
    pub(super) fn has_fallen(&self) -> bool {
        let found = self.outcomes.as_ref();
        found.is_some_and(|found| match found.finding {
            MetricFinding::CannotBeToldYet => true,
            MetricFinding::TooFewRuns => found.drop() >= found.margin - 1e-9,
            _ => false,
        })
    }

    /// Whether its drop would have been a finding if no other agent had been compared: more runs decide.
    #[must_use]
    pub fn needs_more_runs(&self) -> bool {
        self.finding(Metric::Outcomes) == Some(MetricFinding::CannotBeToldYet)
    }

    /// Whether some of its runs passed and none does now, with too few runs to show it.
    pub(super) fn has_fallen_to_none(&self) -> bool {
        let none = |found: &super::OutcomesCompared| found.candidate.passed == 0;
        self.has_fallen() && !self.needs_more_runs() && self.outcomes.as_ref().is_some_and(none)
    }

    /// Whether a metric that may fail could have been a finding, with runs as bad as can be. Where outcomes may fail
    /// they must be known: that a run costs the same says nothing of whether it passes.
    #[must_use]
    pub fn could_tell(&self, options: &CompareOptions) -> bool {
        if options.fail_on.contains(&Metric::Outcomes) {
            let found = self.finding(Metric::Outcomes);
            return found.is_some_and(|found| found != MetricFinding::TooFewRuns);
        }
        options.fail_on.iter().any(|metric| match metric {
            Metric::Outcomes => false,
            Metric::Cost => self.cost.is_some_and(|cost| cost.smallest_p <= cost.share),
            Metric::Behaviour => {
                let behaviour = self.behaviour.as_ref();
                let share = behaviour.and_then(|behaviour| behaviour.share);
                behaviour
                    .is_some_and(|found| share.is_some_and(|share| found.tools.smallest_p <= share))
            }
        })
    }

    /// How many more runs would decide, where there are too few; nothing where more runs pass than before.
    #[must_use]
    pub fn undecided(&self) -> Option<Undecided> {
        let found = self.outcomes.as_ref()?;
        let (needed, certain) = match found.finding {
            MetricFinding::CannotBeToldYet => (found.runs_for_drop()?, false),
            MetricFinding::TooFewRuns if found.drop() > -1e-9 => {
                let certain = found.baseline.passed == found.baseline.runs;
                (found.runs_for_all(), certain)
            }
            _ => return None,
        };
        // About so many may be there already, and were too few.
        let needed = needed.max(super::to_u64(found.fewer_runs()) + 1);
        let more = [found.baseline, found.candidate]
            .map(|side| needed.saturating_sub(super::to_u64(side.runs)));
        Some(Undecided {
            agent: self.agent.clone(),
            needed,
            more,
            certain,
            fell: found.finding == MetricFinding::CannotBeToldYet,
        })
    }
}

/// How many more runs decide on some agents, in words: `about 4 to 21 more runs each`; nothing of no agent.
pub(super) fn more_runs_text(undecided: &[Undecided]) -> Option<String> {
    let most = undecided.iter().map(Undecided::most);
    let (low, high) = (most.clone().min()?, most.max()?);
    let are_certain = undecided.iter().all(|agent| agent.certain);
    let about = if are_certain { "" } else { "about " };
    let more = pluralize(usize::try_from(high).unwrap_or(usize::MAX), "more run");
    let runs = if low == high {
        more
    } else {
        format!("{low} to {more}")
    };
    let each = if undecided.len() == 1 { "" } else { " each" };
    Some(format!("{about}{runs}{each}"))
}

impl Comparison {
    /// Whose runs are too few to tell anything, and how many more would do.
    ///
    /// ```
    /// use mcptest_trace::evidence::compare::{AgentSamples, CompareOptions, RunSample, Sides, compare};
    ///
    /// let runs = || vec![RunSample::with_outcome(true)];
    /// let agent = AgentSamples::new("refund", Sides::Both { baseline: runs(), candidate: runs() });
    /// let undecided = compare(&[agent], &CompareOptions::default()).undecided();
    /// assert_eq!((undecided[0].needed, undecided[0].more), (3, [2, 2]));
    /// ```
    #[must_use]
    pub fn undecided(&self) -> Vec<Undecided> {
        let agents = self.agents.iter();
        agents.filter_map(AgentComparison::undecided).collect()
    }

    /// Whether an agent may have got worse although nothing was found: its runs could not have shown it, or say less
    /// than those of the baseline.
    pub(super) fn is_unclear(&self, agent: &AgentComparison) -> bool {
        let fail_on = &self.options.fail_on;
        let lost_outcomes = fail_on.contains(&Metric::Outcomes) && agent.has_lost_outcomes();
        let lost_costs = fail_on.contains(&Metric::Cost) && agent.has_lost_costs();
        let chosen = self.chosen.iter().any(|it| it.agent == agent.agent);
        lost_outcomes || lost_costs || chosen || !agent.could_tell(&self.options)
    }

    /// How many agents have runs that were recorded anew because they met a change, while others were kept.
    pub(super) fn count_rerecorded(&self) -> usize {
        let chosen = self.chosen.iter();
        chosen.filter(|agent| agent.met_change.is_some()).count()
    }

    /// The stems of all agents.
    pub(super) fn stems(&self) -> impl Iterator<Item = &str> {
        let compared = self.agents.iter().map(|agent| &agent.agent);
        let others = self.not_comparable.iter().map(|agent| &agent.agent);
        let lists = [
            &self.unchanged,
            &self.new,
            &self.gone,
            &self.dropped,
            &self.unrecorded,
        ];
        compared
            .chain(others)
            .chain(lists.into_iter().flatten())
            .map(String::as_str)
    }

    /// Keeps the rows of some agents. Whatever all agents together come to, the decision too, stays what it is.
    #[must_use]
    pub fn filter_agents(&self, keep: impl Fn(&str) -> bool) -> Self {
        let some = |stems: &[String]| -> Vec<String> {
            let kept = stems.iter().filter(|stem| keep(stem));
            kept.cloned().collect()
        };
        let agents = self.agents.iter().filter(|agent| keep(&agent.agent));
        let not_comparable = self.not_comparable.iter();
        let chosen = self.chosen.iter().filter(|agent| keep(&agent.agent));
        let changes = self.changes.iter().filter(|(agent, _)| keep(agent));
        let because = self.gone_because.iter().filter(|(agent, _)| keep(agent));
        let named = self.names.iter().filter(|(agent, _)| keep(agent));
        let commands = self.record_commands.iter();
        let commands = commands.filter(|(agent, _)| keep(agent));
        let pair = |(agent, said): (&String, &String)| (agent.clone(), said.clone());
        // Field by field: a clone of the whole, for each of many suites, would copy what is left out.
        Self {
            format: self.format,
            options: self.options.clone(),
            names: named
                .map(|(agent, name)| (agent.clone(), name.clone()))
                .collect(),
            agents: agents.cloned().collect(),
            unchanged: some(&self.unchanged),
            new: some(&self.new),
            gone: some(&self.gone),
            dropped: some(&self.dropped),
            gone_because: because.map(pair).collect(),
            unrecorded: some(&self.unrecorded),
            not_comparable: not_comparable
                .filter(|agent| keep(&agent.agent))
                .cloned()
                .collect(),
            changes: changes
                .map(|(agent, changes)| (agent.clone(), changes.clone()))
                .collect(),
            chosen: chosen.cloned().collect(),
            suite: self.suite.clone(),
            decision: self.decision.clone(),
            record_commands: commands
                .map(|(agent, commands)| (agent.clone(), commands.clone()))
                .collect(),
            left_out: self.left_out + self.stems().filter(|stem| !keep(stem)).count(),
        }
    }
}
