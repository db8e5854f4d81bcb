//! Outcomes of the suite as a whole: it has the power that an agent with four runs cannot have.

use serde::Serialize;

use super::{CompareOptions, MetricFinding, OutcomesCompared};
use crate::stats::stratified::{
    Passes, mean_interval, noticeable_mean_drop, runs_for_mean_drop, stratified,
};

/// The outcomes of all agents together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SuiteOutcomes {
    /// Agents whose outcomes are compared.
    pub agents: usize,
    /// The mean over agents of the change of the share of passes, in points: below 0 where fewer pass.
    pub difference: f64,
    /// Its 95% interval for agents like these, within −100 and 100; none where there are fewer than three agents.
    pub interval: Option<(f64, f64)>,
    /// Exact stratified p for fewer passes now.
    pub p_worse: f64,
    /// Exact stratified p for more passes now.
    pub p_better: f64,
    /// `p_worse` if no run passed now.
    pub smallest_p: f64,
    /// Whether these are exact, and not from a normal approximation.
    pub exact: bool,
    /// What p must not exceed; `None` where the suite has no test of its own.
    pub share: Option<f64>,
    /// The least mean drop that counts, in points.
    pub margin: f64,
    /// What that says.
    pub finding: MetricFinding,
    /// The mean drop, in points, that would have been noticed with probability 0.8.
    pub noticeable_drop: Option<f64>,
    /// About how many runs a side and agent a mean drop of the margin needs.
    pub runs_for_margin: Option<u64>,
}

/// Compares the outcomes of all agents that have them.
pub(super) fn compare(
    agents: &[&OutcomesCompared],
    options: &CompareOptions,
) -> Option<SuiteOutcomes> {
    let (share, margin) = (options.suite_share(agents.len()), options.suite_margin);
    // What a test of the suite would have to reach, also where it does not decide.
    let level = share.unwrap_or(options.alpha);
    let passes: Vec<Passes> = agents.iter().map(|agent| agent.passes()).collect();
    let differences: Vec<f64> = passes.iter().map(Passes::difference).collect();
    let mean = mean_interval(&differences)?;
    let test = stratified(&passes);
    let difference = 100.0 * mean.mean;
    let noticed = noticeable_mean_drop(&passes, level);
    let nothing_to_lose = agents.iter().all(|agent| agent.baseline.passed == 0);
    let finding = match share {
        Some(share) if test.worse <= share && -difference >= margin - 1e-9 => {
            MetricFinding::Regressed
        }
        Some(share) if test.better <= share && difference >= margin - 1e-9 => {
            MetricFinding::Improved
        }
        _ if nothing_to_lose => MetricFinding::NothingToLose,
        Some(share) if test.smallest > share => MetricFinding::TooFewRuns,
        _ => MetricFinding::NoEvidence,
    };
    Some(SuiteOutcomes {
        agents: agents.len(),
        difference,
        // A share of passes changes by 100 points at the most.
        interval: mean.interval.map(|bounds| {
            let (low, high) = bounds;
            ((100.0 * low).max(-100.0), (100.0 * high).min(100.0))
        }),
        p_worse: test.worse,
        p_better: test.better,
        smallest_p: test.smallest,
        exact: test.exact,
        share,
        margin,
        finding,
        noticeable_drop: noticed.map(|drop| 100.0 * drop),
        runs_for_margin: noticed.and_then(|drop| runs_for_mean_drop(&passes, drop, margin / 100.0)),
    })
}
