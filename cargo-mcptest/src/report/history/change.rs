//! The commits in which an agent became another one.
//!
//! Outcomes, tokens, time and money each have marks of their own. After each commit with new runs, every earlier commit
//! since the last mark may be the one in which the agent changed: the runs before it are held against the runs from
//! it on. So a fall that one commit has too few runs to show is found as soon as the next ones have it too.
//!
//! However many commits and agents there are, the chance of any mark where nothing changed is at most 5% for each of
//! the four: each of the K pairs of commits has its share of it, as an agent of a comparison has.

use std::collections::BTreeSet;

use mcptest_trace::evidence::compare::{
    AgentComparison, CompareOptions, Cost, CostKind, Metric, MetricFinding, RunSample,
    compare_agent,
};
use serde::Serialize;
use serde_json::json;

use super::judged::{AgentHistory, JudgedRun};
use crate::outcome::OutcomeSource;

/// A measure that changed in a commit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Change {
    /// Which of the commits.
    pub(super) commit: usize,
    /// `worse`, `better` or `other`, which is what is asked.
    pub(super) kind: &'static str,
    /// What changed: `outcomes`, `tokens`, `ms`, `usd`; `asked`, which is all of them.
    pub(super) of: &'static str,
    /// What it was before and what it is since, where that was compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) found: Option<[SideSummary; 2]>,
}

/// The summary of the runs of a side.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum SideSummary {
    /// Runs that passed, of so many.
    Outcomes { passed: usize, runs: usize },
    /// The mean of tokens, of milliseconds, or of dollars.
    Mean(f64),
}

/// The new runs of an agent in a commit.
struct CommitRuns<'a> {
    commit: usize,
    runs: Vec<&'a JudgedRun>,
}

/// What is looked at for changes.
#[derive(Debug, Clone, Copy)]
enum Measure {
    Outcomes(OutcomeSource),
    Tokens,
    /// On one machine alone.
    Ms,
    Usd,
}

/// The changes of each agent, in the order of the commits.
pub(super) fn find_changes(agents: &[AgentHistory]) -> Vec<Vec<Change>> {
    let stretches: Vec<_> = agents.iter().map(comparable_stretches).collect();
    let pairs = stretches.iter().flatten().map(|stretch| {
        let steps = stretch.len();
        steps * steps.saturating_sub(1) / 2
    });
    let options = CompareOptions::default().with_hypotheses(pairs.sum::<usize>().max(1));
    let of_time = options.clone().with_cost(CostKind::Ms);
    let of_money = options.clone().with_cost(CostKind::Usd);
    let of_agent = |(agent, stretches): (&AgentHistory, Vec<Vec<CommitRuns<'_>>>)| {
        let mut changes = Vec::new();
        for (place, stretch) in stretches.iter().enumerate() {
            if let Some(first) = stretch.first().filter(|_| place > 0) {
                changes.push(Change {
                    commit: first.commit,
                    kind: "other",
                    of: "asked",
                    found: None,
                });
            }
            let outcomes = Measure::Outcomes(agent.outcome());
            changes.extend(outcomes.changes(&agent.stem, stretch, &options));
            changes.extend(Measure::Tokens.changes(&agent.stem, stretch, &options));
            changes.extend(Measure::Ms.changes(&agent.stem, stretch, &of_time));
            changes.extend(Measure::Usd.changes(&agent.stem, stretch, &of_money));
        }
        changes.sort_by_key(|change| change.commit);
        changes
    };
    agents.iter().zip(stretches).map(of_agent).collect()
}

/// The commits with new runs of an agent; where it is asked otherwise, a stretch of its own begins.
fn comparable_stretches(agent: &AgentHistory) -> Vec<Vec<CommitRuns<'_>>> {
    let mut stretches: Vec<Vec<CommitRuns<'_>>> = Vec::new();
    let mut seen: BTreeSet<usize> = BTreeSet::new();
    let mut asked: BTreeSet<&[String; 3]> = BTreeSet::new();
    for state in &agent.states {
        let files = state.files.iter().copied();
        let new: Vec<usize> = files.filter(|file| !seen.contains(file)).collect();
        let runs = new.iter().filter_map(|file| agent.files.get(*file));
        let step = CommitRuns {
            commit: state.commit,
            runs: runs.flatten().collect(),
        };
        if step.runs.is_empty() {
            continue;
        }
        seen.extend(new);
        let asked_now: BTreeSet<&[String; 3]> = step.runs.iter().map(|run| &run.asked).collect();
        match stretches.last_mut().filter(|_| asked_now == asked) {
            Some(stretch) => stretch.push(step),
            None => stretches.push(vec![step]),
        }
        asked = asked_now;
    }
    stretches
}

impl Measure {
    const fn name(self) -> &'static str {
        match self {
            Self::Outcomes(_) => "outcomes",
            Self::Tokens => "tokens",
            Self::Ms => "ms",
            Self::Usd => "usd",
        }
    }

    const fn metric(self) -> Metric {
        match self {
            Self::Outcomes(_) => Metric::Outcomes,
            Self::Tokens | Self::Ms | Self::Usd => Metric::Cost,
        }
    }

    /// The value of the measure for a run.
    fn value(self, run: &JudgedRun) -> Option<f64> {
        match self {
            Self::Outcomes(source) => run.passed(source).map(f64::from),
            Self::Tokens => run.tokens,
            Self::Ms => run.ms,
            Self::Usd => run.usd,
        }
    }

    fn sample(self, run: &JudgedRun) -> RunSample {
        match self {
            Self::Outcomes(source) => {
                let passed = run.passed(source);
                RunSample::default()
                    .with_passed(passed)
                    .with_unjudged(passed.is_none())
            }
            Self::Tokens => {
                RunSample::default().with_cost(cost(CostKind::Tokens, "tokens", run.tokens))
            }
            Self::Ms => RunSample::default()
                .with_cost(cost(CostKind::Ms, "ms", run.ms))
                .with_recorded_on(run.recorded_on.clone()),
            Self::Usd => RunSample::default().with_cost(cost(CostKind::Usd, "usd", run.usd)),
        }
    }

    fn changes(
        self,
        stem: &str,
        steps: &[CommitRuns<'_>],
        options: &CompareOptions,
    ) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut since = 0;
        for upto in 1..=steps.len() {
            while let Some((at, change)) = self.first_change(stem, &steps[..upto], since, options) {
                since = at;
                changes.push(change);
            }
        }
        changes
    }

    /// The change in these steps after the step `since`: where it is likeliest, or in the last step.
    fn first_change(
        self,
        stem: &str,
        steps: &[CommitRuns<'_>],
        since: usize,
        options: &CompareOptions,
    ) -> Option<(usize, Change)> {
        let last = steps.len().checked_sub(1).filter(|last| *last > since)?;
        let likeliest = self.likeliest_step(&steps[since..]).map(|at| since + at);
        let mut places = vec![last];
        places.extend(likeliest.filter(|at| *at != last));
        places.into_iter().rev().find_map(|at| {
            let samples = |steps: &[CommitRuns<'_>]| -> Vec<RunSample> {
                let runs = steps.iter().flat_map(|step| &step.runs);
                runs.map(|run| self.sample(run)).collect()
            };
            let before = samples(&steps[since..at]);
            let found = compare_agent(stem, &before, &samples(&steps[at..]), options);
            let kind = match found.finding(self.metric())? {
                MetricFinding::Regressed => "worse",
                MetricFinding::Improved => "better",
                _ => return None,
            };
            let change = Change {
                commit: steps[at].commit,
                kind,
                of: self.name(),
                found: self::side_summaries(&found),
            };
            Some((at, change))
        })
    }

    /// Before which of these steps the means differ most, each weighed by how many runs it rests on.
    fn likeliest_step(self, steps: &[CommitRuns<'_>]) -> Option<usize> {
        let sums: Vec<(f64, f64)> = steps
            .iter()
            .map(|step| {
                let values = step.runs.iter().filter_map(|run| self.value(run));
                values.fold((0.0, 0.0), |(sum, runs), value| (sum + value, runs + 1.0))
            })
            .collect();
        let add = |all: (f64, f64), one: &(f64, f64)| (all.0 + one.0, all.1 + one.1);
        let all = sums.iter().fold((0.0, 0.0), add);
        let mut before = (0.0, 0.0);
        let mut best: Option<(usize, f64)> = None;
        for (at, step) in sums.iter().enumerate().skip(1) {
            before = add(before, &sums[at - 1]);
            let now = (all.0 - before.0, all.1 - before.1);
            if before.1 == 0.0 || now.1 == 0.0 || step.1 == 0.0 {
                continue;
            }
            let apart = (before.0 / before.1 - now.0 / now.1).abs();
            let weight = apart * (before.1 * now.1 / all.1).sqrt();
            if best.is_none_or(|(_, most)| weight > most) {
                best = Some((at, weight));
            }
        }
        best.map(|(at, _)| at)
    }
}

/// The summaries of both sides.
fn side_summaries(comparison: &AgentComparison) -> Option<[SideSummary; 2]> {
    let outcomes = comparison.outcomes.map(|found| {
        [found.baseline, found.candidate].map(|side| SideSummary::Outcomes {
            passed: side.passed,
            runs: side.runs,
        })
    });
    let cost = comparison.cost.as_ref();
    outcomes.or_else(|| cost.map(|found| [found.baseline, found.candidate].map(SideSummary::Mean)))
}

/// What a run cost, as a comparison takes it.
fn cost(kind: CostKind, name: &str, amount: Option<f64>) -> Option<Cost> {
    kind.cost_from_targets(&json!({ "calls": { name: amount? } }))
}
