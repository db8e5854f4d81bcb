//! The commits in which an agent became another one.
//!
//! The new runs of a commit are held against all runs since the last change. However many commits and agents
//! there are, the chance of any false mark is at most 5% for outcomes, and the same for tokens: each of the K
//! tests has its share of it, as an agent of a comparison has.

use std::collections::BTreeSet;

use mcptest_trace::evidence::compare::{
    CompareOptions, Cost, Metric, MetricFinding, RunSample, compare_agent,
};
use serde::Serialize;

use super::recorded::{AgentHistory, JudgedRun};
use crate::outcome::OutcomeSource;

/// What became another in a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Change {
    /// Which of the commits.
    pub(super) commit: usize,
    /// `worse`, `better` or `other`, which is what is asked.
    pub(super) kind: &'static str,
    /// What was found, in words.
    pub(super) said: String,
}

/// New runs of an agent in a commit, and those since the last change.
struct Pair {
    before: Vec<RunSample>,
    now: Vec<RunSample>,
}

/// The changes of each agent.
pub(super) fn changes(agents: &[AgentHistory]) -> Vec<Vec<Change>> {
    let tests = agents
        .iter()
        .map(|agent| agent.states.len().saturating_sub(1));
    let options = CompareOptions::default().with_hypotheses(tests.sum::<usize>().max(1));
    agents
        .iter()
        .map(|agent| of_agent(agent, &options))
        .collect()
}

fn of_agent(agent: &AgentHistory, options: &CompareOptions) -> Vec<Change> {
    let outcome = agent.outcome();
    let mut changes = Vec::new();
    // The files since the last change, and what their runs were asked.
    let mut since: BTreeSet<usize> = BTreeSet::new();
    let mut asked: BTreeSet<[String; 3]> = BTreeSet::new();
    for state in &agent.states {
        let files = state.files.iter().copied();
        let new: BTreeSet<usize> = files.filter(|file| !since.contains(file)).collect();
        let runs = |files: &BTreeSet<usize>| -> Vec<&JudgedRun> {
            let files = files.iter().filter_map(|file| agent.files.get(*file));
            files.flatten().collect()
        };
        let new_runs = runs(&new);
        if new_runs.is_empty() {
            continue;
        }
        let asked_now: BTreeSet<[String; 3]> =
            new_runs.iter().map(|run| run.asked.clone()).collect();
        let change = if since.is_empty() {
            None
        } else if asked_now != asked {
            let said = "recorded with another model or prompt; not compared with before";
            Some(("other", said.to_owned()))
        } else {
            let pair = Pair {
                before: samples(&runs(&since), outcome),
                now: samples(&new_runs, outcome),
            };
            pair.found(&agent.stem, options)
        };
        if let Some((kind, said)) = change {
            let commit = state.commit;
            changes.push(Change { commit, kind, said });
            since.clear();
        }
        asked = asked_now;
        since.extend(new);
    }
    changes
}

fn samples(runs: &[&JudgedRun], outcome: OutcomeSource) -> Vec<RunSample> {
    let sample = |run: &&JudgedRun| {
        let passed = run.passed(outcome);
        RunSample::default()
            .with_passed(passed)
            .with_unjudged(passed.is_none())
            .with_cost(run.tokens.map(|tokens| Cost::measured(whole(tokens))))
    };
    runs.iter().map(sample).collect()
}

/// A count of tokens as it was recorded.
fn whole(tokens: f64) -> u64 {
    format!("{tokens:.0}").parse().unwrap_or_default()
}

impl Pair {
    fn found(&self, stem: &str, options: &CompareOptions) -> Option<(&'static str, String)> {
        let found = compare_agent(stem, &self.before, &self.now, options);
        let is = |metric, finding| found.finding(metric) == Some(finding);
        let both = [Metric::Outcomes, Metric::Cost];
        let kind = if both
            .iter()
            .any(|metric| is(*metric, MetricFinding::Regressed))
        {
            "worse"
        } else if both
            .iter()
            .any(|metric| is(*metric, MetricFinding::Improved))
        {
            "better"
        } else {
            return None;
        };
        let verdict = found.verdict(options);
        let verdict: Vec<&str> = verdict.split_whitespace().collect();
        let passed = found
            .outcomes
            .map(|outcomes| format!("{} → {} passed; ", outcomes.baseline, outcomes.candidate));
        Some((kind, passed.unwrap_or_default() + &verdict.join(" ")))
    }
}
