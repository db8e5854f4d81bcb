//! Several runs together: how stable they were, and how alike their paths are.

use serde::Serialize;
use serde_json::{Value, json};

use super::pairs::Paths;
use super::{
    Dimensions, StabilityFloors, StabilityOptions, StabilityReport, SubScore, drift_flags_of, mean,
    variance,
};
use crate::trace::{AsTrace, Tokens, Trace, Turn};

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
    /// The sub-scores that count for the weakest scores and the drift flags.
    #[serde(skip)]
    pub dimensions: Dimensions,
}

impl StabilityAcross {
    /// Whether nothing happened in any run, so that the perfect scores say nothing.
    ///
    /// ```
    /// use mcptest_trace::eval::agent_stability_across;
    /// use serde_json::json;
    ///
    /// let idle = json!({ "conversation": { "turns": [{ "role": "user", "content": "Hi" }] } });
    /// assert!(agent_stability_across(&[&idle, &idle]).unwrap().judged_nothing());
    /// let called = json!({ "tool_calls": [{ "name": "search" }] });
    /// assert!(!agent_stability_across(&[idle, called]).unwrap().judged_nothing());
    /// ```
    #[must_use]
    pub fn judged_nothing(&self) -> bool {
        self.eventful == 0
    }

    /// Everything a suite can assert on, under the key `stability`, with the drift flags counted
    /// for the given floors.
    #[must_use]
    pub fn metrics(&self, floors: &StabilityFloors) -> Value {
        let flags: usize = self
            .runs
            .iter()
            .map(|run| drift_flags_of(run, floors, self.dimensions).len())
            .sum();
        let mut metrics = json!({
            "score": self.score,
            "weakest_score": self.weakest_score,
            "variance": self.variance,
            "tool_sequence_similarity": self.tool_sequence_similarity,
            "argument_consistency": self.argument_consistency,
            "early_divergence": self.early_divergence,
            "drift_flags": flags,
        });
        for score in SubScore::ALL {
            let scores: Vec<f64> = self.runs.iter().map(|run| run.score(score)).collect();
            let min = scores.iter().copied().fold(f64::INFINITY, f64::min);
            metrics[score.as_str()] = json!({ "mean": mean(&scores), "min": min });
        }
        json!({ "stability": metrics })
    }
}

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
/// options.dimensions = Dimensions::of([SubScore::Redundancy]).unwrap();
/// assert_eq!(across(options).weakest_score, 1.0);
/// ```
#[must_use]
pub fn agent_stability_across_with<T: AsTrace>(
    envelopes: &[T],
    options: StabilityOptions,
) -> Option<StabilityAcross> {
    let traces: Vec<_> = envelopes.iter().map(AsTrace::as_trace).collect();
    let paths = Paths::of(&traces.iter().map(AsRef::as_ref).collect::<Vec<_>>());
    let runs: Vec<StabilityReport> = traces
        .iter()
        .zip(&paths.distinct)
        .map(|(trace, (calls, tools))| StabilityReport::of(trace, *calls, *tools, options.turns))
        .collect();
    let weakest = |run: &StabilityReport| run.score(run.weakest_of(options.dimensions));
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
        dimensions: options.dimensions,
    })
}

fn is_eventful(trace: &Trace) -> bool {
    let conversation = &trace.conversation;
    !trace.tool_calls.is_empty()
        || conversation.turns.iter().any(Turn::is_assistant)
        || conversation.tokens != Tokens::default()
        || !conversation.steps.is_empty()
}
