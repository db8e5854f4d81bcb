//! What runs cost: did the agent become dearer?

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;

use super::{CompareOptions, CostKind, MetricFinding, RunSample};
use crate::number::{to_f64, unordered_mean};
use crate::stats::moses::{Shift, shift};
use crate::stats::rank_sum::RankSum;
use crate::stats::stratified::mean_interval;
use crate::text::escape_line;

/// The cost of an agent on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CostCompared {
    /// Mean cost before.
    pub baseline: f64,
    /// Mean cost now.
    pub candidate: f64,
    /// Ratio of the means; `None` where the baseline cost nothing.
    pub ratio: Option<f64>,
    /// Median of all ratios, with its interval.
    pub shift: Option<Shift>,
    /// Exact rank sum's p for a higher cost now.
    pub p_costlier: f64,
    /// Exact rank sum's p for a lower cost now.
    pub p_cheaper: f64,
    /// The smallest `p_costlier` that these costs can lead to.
    pub smallest_p: f64,
    /// Whether these are exact, and not from a normal approximation.
    pub exact: bool,
    /// What p must not exceed.
    pub share: f64,
    /// What that says.
    pub finding: MetricFinding,
}

/// Costs of both sides that are not compared, though they are known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OtherMachines {
    /// The machines that recorded the baseline, and the candidate; none where a recording does not say.
    pub recorded_on: [BTreeSet<Option<String>>; 2],
}

impl OtherMachines {
    /// Where a cost depends on the machine, and both sides were not recorded on one.
    pub(super) fn detect(sides: [&[RunSample]; 2], kind: CostKind) -> Option<Self> {
        let recorded_on = sides.map(|runs| -> BTreeSet<Option<String>> {
            let of_cost = runs.iter().filter(|run| run.cost.is_some());
            of_cost.map(|run| run.recorded_on.clone()).collect()
        });
        let [before, now] = &recorded_on;
        let is_one = before.len() == 1 && before == now && !before.contains(&None);
        let is_known = !before.is_empty() && !now.is_empty();
        (kind.depends_on_machine() && is_known && !is_one).then_some(Self { recorded_on })
    }
}

impl fmt::Display for OtherMachines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [before, now] = self.recorded_on.each_ref().map(|machines| {
            let machines = machines.iter().map(|machine| match machine {
                Some(machine) => format!("`{}`", escape_line(machine).replace('`', "ʼ")),
                None => "an unknown machine".to_owned(),
            });
            machines.collect::<Vec<_>>().join(" and ")
        });
        write!(f, "recorded on {before} before and on {now} now")
    }
}

/// The costs of these runs; `None` when there is none or one is not known.
pub(super) fn costs(runs: &[RunSample], kind: CostKind) -> Option<Vec<f64>> {
    let amount = |run: &RunSample| Some(to_f64(run.cost?.amount) * kind.unit());
    let amounts: Vec<f64> = runs.iter().map(amount).collect::<Option<_>>()?;
    (!amounts.is_empty()).then_some(amounts)
}

/// Compares the costs of an agent; `margin` is in percent.
pub(super) fn compare(
    baseline: &[f64],
    candidate: &[f64],
    share: f64,
    margin: f64,
) -> (CostCompared, RankSum) {
    let mean = |costs: &[f64]| unordered_mean(costs.to_vec()).unwrap_or_default();
    let (before, now) = (mean(baseline), mean(candidate));
    let ranked = RankSum::rank(candidate, baseline);
    let (p_costlier, p_cheaper) = (ranked.p_larger(), ranked.p_smaller());
    let compared = CostCompared {
        baseline: before,
        candidate: now,
        ratio: (before > 0.0).then(|| now / before),
        shift: shift(baseline, candidate),
        p_costlier,
        p_cheaper,
        smallest_p: ranked.smallest_p(),
        exact: ranked.is_exact(),
        share,
        finding: finding(before, now, (p_costlier, p_cheaper), share, margin),
    };
    (compared, ranked)
}

fn finding(before: f64, now: f64, p: (f64, f64), share: f64, margin: f64) -> MetricFinding {
    let factor = |percent: f64| before * (1.0 + percent / 100.0);
    if p.0 <= share && now >= factor(margin) * (1.0 - 1e-12) {
        MetricFinding::Regressed
    } else if p.1 <= share && now <= factor(-margin) * (1.0 + 1e-12) {
        MetricFinding::Improved
    } else {
        MetricFinding::NoEvidence
    }
}

/// The cost of the suite.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SuiteCost {
    /// Agents whose cost is compared.
    pub agents: usize,
    /// Geometric mean over agents of the ratio of their means.
    pub ratio: Option<f64>,
    /// Its 95% interval for agents like these.
    pub interval: Option<(f64, f64)>,
    /// Exact stratified rank sum's p for a higher cost now.
    pub p_costlier: f64,
    /// Exact stratified rank sum's p for a lower cost now.
    pub p_cheaper: f64,
    /// The smallest `p_costlier` that these costs can lead to.
    pub smallest_p: f64,
    /// Whether these are exact, and not from a normal approximation.
    pub exact: bool,
    /// What p must not exceed; `None` where the suite has no test of its own.
    pub share: Option<f64>,
    /// What that says.
    pub finding: MetricFinding,
}

/// Compares the cost of all agents that have one.
pub(super) fn compare_suite(
    agents: &[&(CostCompared, RankSum)],
    options: &CompareOptions,
) -> Option<SuiteCost> {
    if agents.is_empty() {
        return None;
    }
    let (share, margin) = (options.suite_share(agents.len()), options.cost_margin);
    let sum = RankSum::sum(agents.iter().map(|(_, ranked)| ranked));
    let ratios = agents.iter().filter_map(|(cost, _)| cost.ratio);
    let logs: Vec<f64> = ratios.filter(|ratio| *ratio > 0.0).map(f64::ln).collect();
    let mean = mean_interval(&logs);
    let ratio = mean.map(|mean| mean.mean.exp());
    let interval = mean.and_then(|mean| mean.interval);
    let (p_costlier, p_cheaper) = (sum.p_larger(), sum.p_smaller());
    let finding = match (share, ratio) {
        (Some(share), Some(ratio)) => finding(1.0, ratio, (p_costlier, p_cheaper), share, margin),
        _ => MetricFinding::NoEvidence,
    };
    Some(SuiteCost {
        agents: agents.len(),
        ratio,
        interval: interval.map(|(low, high)| (low.exp(), high.exp())),
        p_costlier,
        p_cheaper,
        smallest_p: sum.smallest_p(),
        exact: sum.is_exact(),
        share,
        finding,
    })
}
