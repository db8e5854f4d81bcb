//! Within-session stability of one run, and how alike several runs are.

mod across;
mod lanes;
mod options;
mod pairs;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use serde::Serialize;

use super::measure::{Measure, Unit};
use crate::number::{share, to_f64, unordered_mean};
use crate::trace::{AsTrace, Trace};
pub use across::{StabilityAcross, agent_stability_across, agent_stability_across_with};
pub use options::{Dimensions, StabilityFloors, StabilityOptions, SubScore, Turns};

/// The sub-scores of one run as targets, which floors are held against, in the order of [`SUB_SCORES`].
pub const SUB_SCORE_TARGETS: [Measure; 4] = [
    Measure::new("stability.tool_usage_stability", Unit::Fraction)
        .higher_is_better("how few different tools make the calls"),
    Measure::new("stability.response_consistency", Unit::Fraction)
        .higher_is_better("how alike in length the answers are"),
    Measure::new("stability.redundancy", Unit::Fraction)
        .higher_is_better("share of calls that repeat no earlier one"),
    Measure::new("stability.cost_per_progress", Unit::Fraction)
        .higher_is_better("how few tokens each different call took"),
];

/// Tokens per useful call from which `cost_per_progress` starts to fall, where the options say nothing else
/// (seed 1).
pub const TOKENS_PER_USEFUL_CALL: f64 = 2000.0;

/// The names of the four sub-scores, in the order of [`StabilityReport::scores`].
pub const SUB_SCORES: [&str; 4] = [
    SubScore::ToolUsageStability.as_str(),
    SubScore::ResponseConsistency.as_str(),
    SubScore::Redundancy.as_str(),
    SubScore::CostPerProgress.as_str(),
];

/// The sub-scores of one run, each in `0.0..=1.0`, higher is more stable.
///
/// Four sub-scores per run, each from 0 to 1, higher is more stable (seed 1, "The four
/// sub-scores"):
///
/// - `tool_usage_stability` = 1 − (distinct tools − 1) / (calls − 1), clamped; 1 below two calls;
/// - `response_consistency` = 1 − min(1, σ/µ) of the assistant turns' lengths in Unicode scalar
///   values, with the population σ; 1 below two such turns or when all are empty;
/// - `redundancy` = distinct calls / calls; 1 without calls;
/// - `cost_per_progress` = par / max(par, tokens / distinct calls), par being 2000 tokens unless the options
///   say otherwise; 1 when no tokens were spent, 0 when tokens were spent against no call.
///
/// Distinct calls key on name, server and arguments by value (`1` is `1.0`); distinct tools on the name. Across
/// runs (seed 3, "Within-session stability"): mean, minimum and population variance of each run's
/// weakest sub-score, and three measures of how alike the runs' paths are.
///
/// Three options depart from the seed where a suite asks for it ([`StabilityOptions`]): which
/// sub-scores can be the weakest and raise flags ([`Dimensions`]), whether the turns that stand
/// for a tool call are left out of `response_consistency` ([`Turns`]), and what a useful call may cost.
///
/// These are heuristics about the shape of a trace, not judgements of its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StabilityReport {
    /// How concentrated the tools are over the calls.
    pub tool_usage_stability: f64,
    /// How alike in length the assistant turns are.
    pub response_consistency: f64,
    /// Share of calls that repeat no earlier one.
    pub redundancy: f64,
    /// Token spend relative to distinct calls.
    pub cost_per_progress: f64,
}

impl StabilityReport {
    /// The report of a trace that has so many calls that differ, and so many tools.
    fn from_trace(trace: &Trace, calls: usize, tools: usize, options: &StabilityOptions) -> Self {
        Self {
            tool_usage_stability: tool_usage_stability(trace.tool_calls.len(), tools),
            response_consistency: response_consistency(trace, options.turns),
            redundancy: share(calls, trace.tool_calls.len()).unwrap_or(1.0),
            cost_per_progress: cost_per_progress(
                trace.tokens_taken().unwrap_or_default(),
                calls,
                options.tokens_per_useful_call,
            ),
        }
    }

    /// The sub-scores in the order of [`SUB_SCORES`].
    #[must_use]
    pub const fn scores(&self) -> [f64; 4] {
        [
            self.tool_usage_stability,
            self.response_consistency,
            self.redundancy,
            self.cost_per_progress,
        ]
    }

    /// One of them.
    #[must_use]
    pub const fn score(&self, of: SubScore) -> f64 {
        self.scores()[of as usize]
    }

    /// The lowest of the four sub-scores.
    #[must_use]
    pub fn weakest_score(&self) -> f64 {
        self.score(self.weakest_among(Dimensions::ALL))
    }

    /// The name of the lowest sub-score; the first of several.
    #[must_use]
    pub fn weakest(&self) -> &'static str {
        self.weakest_among(Dimensions::ALL).as_str()
    }

    /// The lowest of these sub-scores; the first of several.
    #[must_use]
    pub fn weakest_among(&self, dimensions: Dimensions) -> SubScore {
        let lower = |lowest: SubScore, other: SubScore| {
            if self.score(other) < self.score(lowest) {
                other
            } else {
                lowest
            }
        };
        dimensions.iter().fold(dimensions.first(), lower)
    }

    /// All four on one line, for a log.
    ///
    /// ```
    /// use mcptest_trace::eval::agent_stability;
    /// use serde_json::json;
    ///
    /// let report = agent_stability(&json!({}));
    /// assert_eq!(
    ///     report.summary(),
    ///     "tool_usage_stability 1.00, response_consistency 1.00, redundancy 1.00, cost_per_progress 1.00"
    /// );
    /// ```
    #[must_use]
    pub fn summary(&self) -> String {
        let named = SUB_SCORES.iter().zip(self.scores());
        named
            .map(|(name, score)| format!("{name} {score:.2}"))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// Folds one trace into its four sub-scores.
///
/// ```
/// use mcptest_trace::eval::agent_stability;
/// use serde_json::json;
///
/// let report = agent_stability(&json!({
///     "tool_calls": [
///         { "name": "search", "server": "docs", "args": { "q": "a", "n": 1 } },
///         { "name": "search", "server": "docs", "args": { "n": 1, "q": "a" } },
///     ],
///     "conversation": { "tokens": { "total": 3000 } },
/// }));
/// assert_eq!(report.redundancy, 0.5);
/// assert_eq!(report.tool_usage_stability, 1.0);
/// assert_eq!(report.cost_per_progress, 2000.0 / 3000.0);
/// ```
#[must_use]
pub fn agent_stability<T: AsTrace + ?Sized>(envelope: &T) -> StabilityReport {
    agent_stability_with(envelope, &StabilityOptions::default())
}

/// [`agent_stability`] with options.
#[must_use]
pub fn agent_stability_with<T: AsTrace + ?Sized>(
    envelope: &T,
    options: &StabilityOptions,
) -> StabilityReport {
    let trace = envelope.as_trace();
    let tools = trace.tool_calls.iter().map(|call| call.name.as_str());
    let tools = tools.collect::<HashSet<_>>().len();
    StabilityReport::from_trace(&trace, trace.distinct_tool_calls(), tools, options)
}

fn tool_usage_stability(calls: usize, tools: usize) -> f64 {
    if calls < 2 {
        return 1.0;
    }
    // The same number as 1 − (tools − 1) / (calls − 1), with one rounding: 1 of 5 is 0.2 exactly.
    to_f64(calls - tools) / to_f64(calls - 1)
}

fn response_consistency(trace: &Trace, counted: Turns) -> f64 {
    let turns = trace.conversation.turns.iter();
    let assistant = turns.filter(|turn| counted.includes(turn));
    let lengths: Vec<f64> = assistant
        .map(|turn| to_f64(turn.content.chars().count()))
        .collect();
    let mean = mean(&lengths);
    if lengths.len() < 2 || mean <= 0.0 {
        return 1.0;
    }
    1.0 - (variance(&lengths).sqrt() / mean).min(1.0)
}

fn cost_per_progress(tokens: u64, distinct: usize, par: f64) -> f64 {
    match (tokens, distinct) {
        (0, _) => 1.0,
        (_, 0) => 0.0,
        (tokens, distinct) => par / par.max(to_f64(tokens) / to_f64(distinct)),
    }
}

/// The mean; 0 of nothing. The order of the values makes no difference.
fn mean(values: &[f64]) -> f64 {
    unordered_mean(values.to_vec()).unwrap_or_default()
}

/// The population variance; 0 of nothing.
fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: Vec<f64> = values.iter().map(|value| (value - mean).powi(2)).collect();
    self::mean(&squares)
}

/// The names of the sub-scores strictly below their floors; empty when nothing drifted. A floor of
/// 0 never fires, a floor of 1 flags anything short of perfect.
///
/// ```
/// use mcptest_trace::eval::{StabilityFloors, agent_stability, drift_flags};
/// use serde_json::json;
///
/// let report = agent_stability(&json!({ "conversation": { "tokens": { "total": 10 } } }));
/// assert_eq!(drift_flags(&report, &StabilityFloors::default()), ["cost_per_progress"]);
/// ```
#[must_use]
pub fn drift_flags(report: &StabilityReport, floors: &StabilityFloors) -> Vec<&'static str> {
    drift_flags_among(report, floors, Dimensions::ALL)
}

/// The names of the sub-scores that count and are strictly below their floors.
pub(super) fn drift_flags_among(
    report: &StabilityReport,
    floors: &StabilityFloors,
    dimensions: Dimensions,
) -> Vec<&'static str> {
    let below = |score: &SubScore| report.score(*score) < floors.floors()[*score as usize];
    dimensions
        .iter()
        .filter(below)
        .map(SubScore::as_str)
        .collect()
}
