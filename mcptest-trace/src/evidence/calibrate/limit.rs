//! The proposed limit, what it promises, and the check on agents that it was not made from.

use std::collections::BTreeMap;

use crate::stats::{Interval, wilson};
use serde::Serialize;

use super::{Alarms, Quantity};
use crate::number::to_u64;
use crate::stats::area::ScoredRun;
use crate::stats::conformal::{Passing, Share, confident_share, promised_probability};

/// A limit made from passing runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Limit {
    /// The proposed value: the looser of both thresholds.
    pub value: f64,
    /// The value as it is written: rounded outward.
    pub rounded: f64,
    /// The threshold for new runs of these agents.
    pub same_agents: f64,
    /// The threshold for agents that are not among these; `None` where there are too few.
    pub new_agents: Option<f64>,
    /// Passing runs it is made from.
    pub runs: usize,
    /// Agents with a passing run.
    pub agents: usize,
    /// k: the limit is the k-th worst; 0 where the runs are too few for the share.
    pub k: usize,
    /// The share of new passing runs of these agents that meets it, at least, on average.
    pub promised: f64,
    /// The share that meets it with 95% confidence.
    pub confident: f64,
    /// Runs that the share needs; `None` for all of them.
    pub runs_needed: Option<u64>,
    /// What it does to the runs that were read.
    pub seen: Alarms,
}

/// The passing runs, and the place of each agent that has one.
fn passing<'a>(runs: &[ScoredRun<'a>]) -> (Passing, BTreeMap<&'a str, usize>) {
    let mut agents: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.passed) {
        agents.entry(run.agent).or_default().push(run.goodness);
    }
    let places = agents.keys().copied().zip(0..).collect();
    let agents: Vec<Vec<f64>> = agents.into_values().collect();
    (Passing::new(&agents), places)
}

/// The looser of both thresholds, as goodness.
fn looser_threshold(passing: &Passing, share: Share, left_out: Option<usize>) -> Option<f64> {
    let same = passing.threshold(share, left_out)?;
    let new = passing.threshold_for_new_agents(share, left_out);
    Some(new.map_or(same, |new| same.min(new)))
}

/// The limit from these runs; `None` when none passed.
pub(super) fn limit(target: &Quantity, runs: &[ScoredRun<'_>], share: Share) -> Option<Limit> {
    let (passing, agents) = passing(runs);
    let same = passing.threshold(share, None)?;
    let new = passing.threshold_for_new_agents(share, None);
    let looser = looser_threshold(&passing, share, None)?;
    let count = runs.iter().filter(|run| run.passed).count();
    let k = share.allowed(count);
    let value = target.goodness(looser);
    Some(Limit {
        value,
        rounded: target.rounded(value),
        same_agents: target.goodness(same),
        new_agents: new.map(|new| target.goodness(new)),
        runs: count,
        agents: agents.len(),
        k,
        promised: promised_probability(count, k),
        confident: confident_share(count, k)?,
        runs_needed: share.runs_needed(),
        seen: count_alarms(runs, looser),
    })
}

/// What a least goodness does to these runs.
fn count_alarms(runs: &[ScoredRun<'_>], least: f64) -> Alarms {
    let mut seen = Alarms::default();
    for run in runs {
        seen.add(run.passed, run.goodness < least);
    }
    seen
}

/// How a limit does on agents that it was not made from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CrossValidation {
    /// What was left out: an agent at a time, or a run at a time where there is one agent.
    pub left_out: LeftOut,
    /// Alarms over all left-out runs.
    pub tally: Alarms,
    /// The 95% interval (Wilson) of the share of false alarms.
    pub false_alarms: Option<Interval>,
    /// The 95% interval (Wilson) of the share of catches.
    pub catches: Option<Interval>,
    /// Whether each run was stopped, in the order they came in; `None` for those not judged.
    #[serde(skip)]
    pub alarms: Vec<Option<bool>>,
}

/// What is left out at a time.
///
/// A closed set: whoever matches on it need not expect another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftOut {
    /// All runs of an agent.
    Agent,
    /// A run: there is one agent.
    Run,
}

/// Judges each agent by the limit that the other agents' runs give; `None` stands for runs that are
/// not judged.
pub(super) fn cross_validate(all: &[Option<ScoredRun<'_>>], share: Share) -> CrossValidation {
    let judged: Vec<ScoredRun<'_>> = all.iter().flatten().copied().collect();
    let (passing, agents) = passing(&judged);
    let one = judged.windows(2).all(|pair| pair[0].agent == pair[1].agent);
    let mut limits: BTreeMap<&str, Option<f64>> = BTreeMap::new();
    let mut tally = Alarms::default();
    let mut alarms = Vec::with_capacity(all.len());
    for run in all {
        let limit = run.as_ref().and_then(|run| {
            if one {
                return without_run(&judged, run, share);
            }
            let left_out = agents.get(run.agent).copied();
            let from_others = || looser_threshold(&passing, share, left_out);
            *limits.entry(run.agent).or_insert_with(from_others)
        });
        let alarm = run.zip(limit).map(|(run, limit)| {
            let alarm = run.goodness < limit;
            tally.add(run.passed, alarm);
            alarm
        });
        alarms.push(alarm);
    }
    CrossValidation {
        left_out: if one { LeftOut::Run } else { LeftOut::Agent },
        tally,
        false_alarms: wilson(to_u64(tally.false_alarms), to_u64(tally.passed), 0.95),
        catches: wilson(to_u64(tally.catches), to_u64(tally.failed), 0.95),
        alarms,
    }
}

/// The limit that the other runs of the one agent give.
fn without_run(runs: &[ScoredRun<'_>], left_out: &ScoredRun<'_>, share: Share) -> Option<f64> {
    let passed = runs.iter().filter(|run| run.passed);
    let mut others: Vec<f64> = passed.map(|run| run.goodness).collect();
    let own = |goodness: &f64| goodness.total_cmp(&left_out.goodness).is_eq();
    if left_out.passed
        && let Some(place) = others.iter().position(own)
    {
        others.swap_remove(place);
    }
    looser_threshold(&Passing::new(&[others]), share, None)
}

/// A limit of a share, and what it does to the runs that were read.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CurvePoint {
    /// The share in percent.
    pub share: u32,
    /// The limit.
    pub limit: f64,
    /// What it does.
    pub seen: Alarms,
}

/// The shares of a curve, in percent.
const CURVE: [u32; 4] = [80, 90, 95, 100];

/// The curve from limits to false alarms and catches, for runs of these agents.
pub(super) fn curve(target: &Quantity, runs: &[ScoredRun<'_>]) -> Vec<CurvePoint> {
    let (passing, _) = passing(runs);
    let points = CURVE.into_iter().filter_map(|percent| {
        let least = passing.threshold(Share::percent(percent)?, None)?;
        Some(CurvePoint {
            share: percent,
            limit: target.goodness(least),
            seen: count_alarms(runs, least),
        })
    });
    points.collect()
}
