//! Several runs together: how stable they were, and how alike their paths are.

use serde::Serialize;

use super::super::measure::{Measure, Unit};
use super::super::metrics::metrics;
use super::pairs::Paths;
use super::{StabilityOptions, StabilityReport, SubScore, drift_flags_among, mean, variance};
use crate::trace::{AsTrace, Trace, Turn};

/// What several runs of one agent look like together.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StabilityAcross {
    /// Mean of the runs' weakest scores, `0.0..=1.0`.
    pub score: f64,
    /// The lowest of the runs' weakest scores, `0.0..=1.0`.
    pub weakest_score: f64,
    /// Population variance of the runs' weakest scores, `0.0..=0.25`.
    pub variance: f64,
    /// Mean over the pairs of runs of `2·LCS / (len a + len b)` of the tool names, `0.0..=1.0`; 1
    /// for two empty runs and without pairs.
    pub tool_sequence_similarity: f64,
    /// Mean over the pairs of the share of same-tool positions with identical canonical arguments,
    /// `0.0..=1.0`; 1 for a pair without such a position and without pairs.
    pub argument_consistency: f64,
    /// 1 when a strict majority of the pairs whose tool sequences part do so at step 0 or 1.
    pub early_divergence: u8,
    /// Number of runs in which anything happened: a call, an assistant turn or a token.
    pub eventful: usize,
    /// The runs' own reports, in order.
    pub runs: Vec<StabilityReport>,
    /// What was looked at, and the floors.
    #[serde(skip)]
    pub options: StabilityOptions,
}

impl StabilityAcross {
    /// How many sub-scores that count are below their floors, over all runs.
    #[must_use]
    pub fn drift_flags(&self) -> usize {
        let flags =
            |run| drift_flags_among(run, &self.options.floors, self.options.dimensions).len();
        self.runs.iter().map(flags).sum()
    }

    /// The names of the sub-scores of a run, by its place, that count and are below their floors.
    #[must_use]
    pub fn run_drift_flags(&self, run: usize) -> Vec<&'static str> {
        let run = self.runs.get(run);
        run.map_or_else(Vec::new, |run| {
            drift_flags_among(run, &self.options.floors, self.options.dimensions)
        })
    }

    /// The mean of a sub-score over the runs.
    fn mean(&self, score: SubScore) -> f64 {
        let scores: Vec<f64> = self.runs.iter().map(|run| run.score(score)).collect();
        mean(&scores)
    }

    /// The lowest of a sub-score over the runs.
    fn min(&self, score: SubScore) -> f64 {
        let scores = self.runs.iter().map(|run| run.score(score));
        scores.fold(f64::INFINITY, f64::min)
    }
}

metrics! { StabilityAcross as across {
    Measure::new("stability.score", Unit::Fraction)
        .higher_is_better("mean of each run's weakest sub-score") => across.score,
    Measure::new("stability.weakest_score", Unit::Fraction)
        .higher_is_better("the lowest sub-score of any run") => across.weakest_score,
    Measure::new("stability.variance", Unit::Fraction)
        .lower_is_better("population variance of the runs' weakest sub-scores")
        .up_to(0.25) => across.variance,
    Measure::new("stability.tool_sequence_similarity", Unit::Fraction)
        .higher_is_better("how alike the order of tools is between runs")
        => across.tool_sequence_similarity,
    Measure::new("stability.argument_consistency", Unit::Fraction)
        .higher_is_better("how often aligned calls of two runs have the same arguments")
        => across.argument_consistency,
    Measure::new("stability.early_divergence", Unit::Flag)
        .lower_is_better("1 when most runs that differ from each other differ within the first two calls already")
        => across.early_divergence,
    Measure::new("stability.drift_flags", Unit::Count)
        .lower_is_better("sub-scores below their floor, over all runs") => across.drift_flags(),
    Measure::new("stability.tool_usage_stability.mean", Unit::Fraction)
        .higher_is_better("how few different tools make the calls: mean of the runs")
        => across.mean(SubScore::ToolUsageStability),
    Measure::new("stability.tool_usage_stability.min", Unit::Fraction)
        .higher_is_better("how few different tools make the calls: the lowest run")
        => across.min(SubScore::ToolUsageStability),
    Measure::new("stability.response_consistency.mean", Unit::Fraction)
        .higher_is_better("how alike in length the answers are: mean of the runs")
        => across.mean(SubScore::ResponseConsistency),
    Measure::new("stability.response_consistency.min", Unit::Fraction)
        .higher_is_better("how alike in length the answers are: the lowest run")
        => across.min(SubScore::ResponseConsistency),
    Measure::new("stability.redundancy.mean", Unit::Fraction)
        .higher_is_better("share of calls that repeat no earlier one: mean of the runs")
        => across.mean(SubScore::Redundancy),
    Measure::new("stability.redundancy.min", Unit::Fraction)
        .higher_is_better("share of calls that repeat no earlier one: the lowest run")
        => across.min(SubScore::Redundancy),
    Measure::new("stability.cost_per_progress.mean", Unit::Fraction)
        .higher_is_better("how few tokens each different call took: mean of the runs")
        => across.mean(SubScore::CostPerProgress),
    Measure::new("stability.cost_per_progress.min", Unit::Fraction)
        .higher_is_better("how few tokens each different call took: the lowest run")
        => across.min(SubScore::CostPerProgress),
} }

/// Folds several runs into one report; `None` without runs.
///
/// Runs with the same calls are compared once, so the cost is one longest common subsequence
/// (product of the lengths, over 64) for each pair of *different* runs. A run is compared with up to 128
/// runs of up to sixteen calls at a time, or with up to 32 longer ones of about one length.
///
/// ```
/// use mcptest_trace::eval::agent_stability_across;
/// use serde_json::json;
///
/// let search = json!({ "tool_calls": [{ "name": "search" }, { "name": "fetch" }] });
/// let fetch = json!({ "tool_calls": [{ "name": "fetch" }] });
/// let across = agent_stability_across(&[search, fetch]).unwrap();
/// assert_eq!(across.tool_sequence_similarity, 2.0 / 3.0);
/// assert_eq!(across.early_divergence, 1);
/// ```
#[must_use]
pub fn agent_stability_across<T: AsTrace>(envelopes: &[T]) -> Option<StabilityAcross> {
    agent_stability_across_with(envelopes, StabilityOptions::default())
}

/// [`agent_stability_across`] with options.
///
/// ```
/// use mcptest_trace::eval::{
///     Dimensions, StabilityOptions, SubScore, agent_stability_across_with,
/// };
/// use serde_json::json;
///
/// let chatty = json!({
///     "tool_calls": [{ "name": "search" }],
///     "conversation": { "tokens": { "total": 8000 } },
/// });
/// let mut options = StabilityOptions::default();
/// let across = |options| agent_stability_across_with(&[&chatty, &chatty], options).unwrap();
/// assert_eq!(across(options).weakest_score, 0.25);
/// options.dimensions = Dimensions::from_scores([SubScore::Redundancy]).unwrap();
/// assert_eq!(across(options).weakest_score, 1.0);
/// ```
#[must_use]
pub fn agent_stability_across_with<T: AsTrace>(
    envelopes: &[T],
    options: StabilityOptions,
) -> Option<StabilityAcross> {
    let traces: Vec<_> = envelopes.iter().map(AsTrace::as_trace).collect();
    let paths = Paths::from_traces(&traces.iter().map(AsRef::as_ref).collect::<Vec<_>>());
    let runs: Vec<StabilityReport> = traces
        .iter()
        .zip(&paths.distinct)
        .map(|(trace, (calls, tools))| StabilityReport::from_trace(trace, *calls, *tools, &options))
        .collect();
    let weakest = |run: &StabilityReport| run.score(run.weakest_among(options.dimensions));
    let weakest: Vec<f64> = runs.iter().map(weakest).collect();
    let pairs = paths.compare();
    (!runs.is_empty()).then(|| StabilityAcross {
        score: mean(&weakest),
        weakest_score: weakest.iter().copied().fold(f64::INFINITY, f64::min),
        variance: variance(&weakest),
        tool_sequence_similarity: pairs.similarity,
        argument_consistency: pairs.consistency,
        early_divergence: u8::from(pairs.early * 2 > pairs.diverging),
        eventful: traces.iter().filter(|trace| is_eventful(trace)).count(),
        runs,
        options,
    })
}

fn is_eventful(trace: &Trace) -> bool {
    let conversation = &trace.conversation;
    !trace.tool_calls.is_empty()
        || conversation.turns.iter().any(Turn::is_assistant)
        || trace.tokens_taken() > Some(0)
        || !conversation.steps.is_empty()
}
