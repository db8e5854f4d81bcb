//! Does the agent behave differently? A reading list: a better agent behaves differently too.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Behaviour, CompareOptions, MetricFinding, RunSample};
use crate::stats::energy_distance::{Distances, Permuted, suite_test};
use crate::stats::random::Stream;
use crate::stats::sequence::distance;

/// The behaviour of an agent on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BehaviourCompared {
    /// Sequences of tool names.
    pub tools: Permuted,
    /// Sequences of whole calls.
    pub calls: Permuted,
    /// Whether the tools are other ones, among all agents at the false discovery rate.
    pub other: bool,
    /// What p must not exceed for a failure; `None` where behaviour fails nothing.
    pub share: Option<f64>,
    /// What that says.
    pub finding: MetricFinding,
    /// What is on one side only.
    pub differences: Differences,
}

/// What is described without a p-value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Differences {
    /// Tools of no run of the baseline.
    pub new_tools: Vec<Occurrence>,
    /// Tools of no run of the candidate.
    pub lost_tools: Vec<Occurrence>,
    /// Argument keys of no run of the baseline, of tools that both sides call.
    pub new_arguments: Vec<Occurrence>,
    /// Argument keys of no run of the candidate, of tools that both sides call.
    pub lost_arguments: Vec<Occurrence>,
    /// Arguments with one value in all runs of each side, and not the same.
    pub changed_arguments: Vec<ChangedArgument>,
}

/// A tool or an argument, and how many runs of a side have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Occurrence {
    /// The tool, or `<tool>.<key>`.
    pub name: String,
    /// In so many runs.
    pub runs: usize,
    /// Of so many.
    pub of: usize,
}

/// An argument that has another value now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ChangedArgument {
    /// `<tool>.<key>`.
    pub name: String,
    /// Its value in all runs of the baseline, as JSON.
    pub before: String,
    /// Its value in all runs of the candidate, as JSON.
    pub now: String,
}

/// The behaviours of these runs; `None` when there is none or one is not known.
pub(super) fn behaviours(runs: &[RunSample]) -> Option<Vec<&Behaviour>> {
    let known: Vec<_> = runs
        .iter()
        .map(|run| run.behaviour.as_ref())
        .collect::<Option<_>>()?;
    (!known.is_empty()).then_some(known)
}

/// Compares the behaviour of an agent; `other` is for the caller, who sees all agents.
pub(super) fn compare(
    agent: &str,
    baseline: &[&Behaviour],
    candidate: &[&Behaviour],
    share: Option<f64>,
    seed: u64,
) -> Option<(BehaviourCompared, Distances)> {
    let tools = distances(baseline, candidate, |run| &run.tools)?;
    let calls = distances(baseline, candidate, |run| &run.calls)?;
    let stream = |test: &str| Stream::new(&format!("compare/{agent}/{test}"), seed);
    let tested = tools.test(stream("tools"));
    let compared = BehaviourCompared {
        tools: tested,
        calls: calls.test(stream("calls")),
        other: false,
        share,
        finding: finding(&tested, share),
        differences: differences(baseline, candidate),
    };
    Some((compared, tools))
}

/// A regression where a share of α is given, and reached.
fn finding(tested: &Permuted, share: Option<f64>) -> MetricFinding {
    match share {
        Some(share) if tested.p <= share => MetricFinding::Regressed,
        _ => MetricFinding::NoEvidence,
    }
}

/// Compares the behaviour of all agents of which it is known.
pub(super) fn compare_suite(
    agents: &[&(BehaviourCompared, Distances)],
    options: &CompareOptions,
) -> Option<SuiteBehaviour> {
    if agents.is_empty() {
        return None;
    }
    let distances: Vec<&Distances> = agents.iter().map(|(_, distances)| distances).collect();
    let tools = suite_test(&distances, Stream::new("compare/suite/tools", options.seed));
    let share = options.suite_share(agents.len());
    let share = share.filter(|_| options.fails_on_behaviour());
    Some(SuiteBehaviour {
        agents: agents.len(),
        others: agents.iter().filter(|(found, _)| found.other).count(),
        tools,
        share,
        finding: finding(&tools, share),
    })
}

/// Distances of sequences of words; a word is a number from here on, whichever run comes first.
fn distances(
    baseline: &[&Behaviour],
    candidate: &[&Behaviour],
    words: impl Fn(&Behaviour) -> &Vec<String>,
) -> Option<Distances> {
    let both = baseline.iter().chain(candidate);
    let known: BTreeSet<&String> = both.flat_map(|run| words(run)).collect();
    let numbers: BTreeMap<&String, usize> = known.into_iter().zip(0..).collect();
    let numbered = |runs: &[&Behaviour]| -> Vec<Vec<usize>> {
        let sequences = runs.iter().map(|run| words(run).iter());
        let numbered = sequences.map(|words| words.map(|word| numbers[word]).collect());
        numbered.collect()
    };
    let (baseline, candidate) = (numbered(baseline), numbered(candidate));
    Distances::new(&baseline, &candidate, |left, right| distance(left, right))
}

fn differences(baseline: &[&Behaviour], candidate: &[&Behaviour]) -> Differences {
    let tools = |runs: &[&Behaviour]| counts(runs, |run| run.tools.iter().collect());
    let keys = |runs: &[&Behaviour]| counts(runs, |run| run.arguments.keys().collect());
    let (tools_before, tools_now) = (tools(baseline), tools(candidate));
    let (keys_before, keys_now) = (keys(baseline), keys(candidate));
    let both = |key: &str| {
        let called = |tools: &BTreeMap<String, usize>| tools.keys().any(|tool| is_of(key, tool));
        called(&tools_before) && called(&tools_now)
    };
    let arguments = |here: &BTreeMap<String, usize>, there, of| {
        let seen = only_here(here, there, of);
        seen.into_iter().filter(|seen| both(&seen.name)).collect()
    };
    Differences {
        new_tools: only_here(&tools_now, &tools_before, candidate.len()),
        lost_tools: only_here(&tools_before, &tools_now, baseline.len()),
        new_arguments: arguments(&keys_now, &keys_before, candidate.len()),
        lost_arguments: arguments(&keys_before, &keys_now, baseline.len()),
        changed_arguments: changed_arguments(baseline, candidate),
    }
}

fn is_of(key: &str, tool: &str) -> bool {
    key.strip_prefix(tool)
        .is_some_and(|rest| rest.starts_with('.'))
}

/// In how many runs each name is.
fn counts<'a>(
    runs: &[&'a Behaviour],
    names: impl Fn(&'a Behaviour) -> BTreeSet<&'a String>,
) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for name in runs.iter().flat_map(|run| names(run)) {
        *counts.entry(name.clone()).or_insert(0) += 1;
    }
    counts
}

fn only_here(
    here: &BTreeMap<String, usize>,
    there: &BTreeMap<String, usize>,
    of: usize,
) -> Vec<Occurrence> {
    let missing = here.iter().filter(|(name, _)| !there.contains_key(*name));
    missing
        .map(|(name, runs)| Occurrence {
            name: name.clone(),
            runs: *runs,
            of,
        })
        .collect()
}

fn changed_arguments(baseline: &[&Behaviour], candidate: &[&Behaviour]) -> Vec<ChangedArgument> {
    let (before, now) = (constant_arguments(baseline), constant_arguments(candidate));
    let pairs = before.into_iter().filter_map(|(name, before)| {
        let now = now.get(name).filter(|now| **now != before)?;
        Some(ChangedArgument {
            name: name.clone(),
            before: before.clone(),
            now: (*now).clone(),
        })
    });
    pairs.collect()
}

/// The arguments that have one value, the same in every run.
fn constant_arguments<'a>(runs: &[&'a Behaviour]) -> BTreeMap<&'a String, &'a String> {
    let Some((first, others)) = runs.split_first() else {
        return BTreeMap::new();
    };
    let single = first.arguments.iter().filter(|(name, values)| {
        values.len() == 1
            && others
                .iter()
                .all(|run| run.arguments.get(*name) == Some(values))
    });
    single
        .filter_map(|(name, values)| Some((name, values.first()?)))
        .collect()
}

/// The suite's behaviour.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SuiteBehaviour {
    /// Agents whose behaviour is compared.
    pub agents: usize,
    /// Of these, how many behave differently at the false discovery rate.
    pub others: usize,
    /// Sequences of tool names, over all agents.
    pub tools: Permuted,
    /// What p must not exceed for a failure; `None` where behaviour fails nothing.
    pub share: Option<f64>,
    /// What that says.
    pub finding: MetricFinding,
}
