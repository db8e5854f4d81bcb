//! Several runs together: how stable they were, and how alike their paths are.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    Dimensions, StabilityFloors, StabilityOptions, StabilityReport, SubScore, agent_stability_with,
    drift_flags_of, float, mean, share, sum, variance,
};
use crate::trace::{AsTrace, Tokens, Trace, Turn, canonical_json};

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
/// (product of the lengths, over 64) for each pair of *different* runs.
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
    let runs: Vec<StabilityReport> = traces
        .iter()
        .map(|trace| agent_stability_with(&**trace, options.turns))
        .collect();
    let weakest = |run: &StabilityReport| run.score(run.weakest_of(options.dimensions));
    let weakest: Vec<f64> = runs.iter().map(weakest).collect();
    let pairs = compare_pairs(&traces.iter().map(AsRef::as_ref).collect::<Vec<_>>());
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

struct Pairs {
    similarity: f64,
    consistency: f64,
    diverging: usize,
    early: usize,
}

/// A run as numbers: for each call its tool and its arguments.
pub(super) type Path = Vec<(usize, usize)>;

fn compare_pairs(traces: &[&Trace]) -> Pairs {
    let mut tools = HashMap::new();
    let mut arguments = HashMap::new();
    let mut counts: HashMap<Path, usize> = HashMap::new();
    let mut distinct: Vec<Path> = Vec::new();
    for trace in traces {
        let mut path = Path::with_capacity(trace.tool_calls.len());
        for call in &trace.tool_calls {
            let next = tools.len();
            let tool = *tools.entry(call.name.as_str()).or_insert(next);
            let next = arguments.len();
            path.push((
                tool,
                *arguments.entry(canonical_json(&call.args)).or_insert(next),
            ));
        }
        let count = counts.entry(path.clone()).or_default();
        *count += 1;
        if *count == 1 {
            distinct.push(path);
        }
    }
    let total = traces.len() * traces.len().saturating_sub(1) / 2;
    if total == 0 {
        return Pairs {
            similarity: 1.0,
            consistency: 1.0,
            diverging: 0,
            early: 0,
        };
    }
    let (mut similarity, mut consistency) = (Vec::new(), Vec::new());
    let (mut diverging, mut early) = (0, 0);
    for (index, left) in distinct.iter().enumerate() {
        // Runs with the same calls are alike in everything.
        let same = counts[left] * (counts[left] - 1) / 2;
        similarity.push(float(same));
        consistency.push(float(same));
        let places = Places::of(left, tools.len());
        for right in &distinct[index + 1..] {
            let pairs = counts[left] * counts[right];
            similarity.push(float(pairs) * places.similarity(right));
            consistency.push(float(pairs) * argument_consistency(left, right));
            if let Some(step) = divergence(left, right) {
                diverging += pairs;
                early += if step < 2 { pairs } else { 0 };
            }
        }
    }
    let total = float(total);
    Pairs {
        similarity: sum(similarity) / total,
        consistency: sum(consistency) / total,
        diverging,
        early,
    }
}

/// Where a run's path has each tool, 64 positions a word.
pub(super) struct Places {
    calls: usize,
    /// Words for a tool.
    words: usize,
    /// The words of all tools, one after the other.
    bits: Vec<u64>,
}

impl Places {
    /// Of a path whose tools are numbers below `tools`.
    pub(super) fn of(path: &Path, tools: usize) -> Self {
        let words = path.len().div_ceil(64);
        let mut bits = vec![0; tools * words];
        for (index, (tool, _)) in path.iter().enumerate() {
            bits[tool * words + index / 64] |= 1 << (index % 64);
        }
        Self {
            calls: path.len(),
            words,
            bits,
        }
    }

    /// `2·LCS / (len a + len b)` of the tools of this path and another.
    pub(super) fn similarity(&self, other: &Path) -> f64 {
        let calls = self.calls + other.len();
        if calls == 0 {
            1.0
        } else {
            2.0 * float(self.longest_common_subsequence(other)) / float(calls)
        }
    }

    /// The length of the longest common subsequence of the tools, 64 positions of this path at a
    /// time (Crochemore, Iliopoulos, Pinzon and Reid, "A fast and practical bit-vector algorithm for
    /// the longest common subsequence problem", 2001): a zero bit marks a position where the
    /// subsequence grows.
    fn longest_common_subsequence(&self, other: &Path) -> usize {
        let mut row = vec![u64::MAX; self.words];
        for (tool, _) in other {
            let places = &self.bits[tool * self.words..][..self.words];
            let mut carry = false;
            for (word, places) in row.iter_mut().zip(places) {
                let (sum, over) = word.overflowing_add(*word & places);
                let (sum, over_again) = sum.overflowing_add(u64::from(carry));
                carry = over || over_again;
                *word = sum | (*word & !places);
            }
        }
        // No bit past the path's end is ever cleared: no tool has a place there.
        row.iter().map(|word| word.count_zeros() as usize).sum()
    }
}

pub(super) fn argument_consistency(left: &Path, right: &Path) -> f64 {
    let aligned = left
        .iter()
        .zip(right)
        .filter(|((tool, _), (other, _))| tool == other);
    let (same, all) = aligned.fold((0, 0), |(same, all), ((_, args), (_, other))| {
        (same + usize::from(args == other), all + 1)
    });
    share(same, all)
}

/// The step at which two tool sequences part.
fn divergence(left: &Path, right: &Path) -> Option<usize> {
    let parted = left
        .iter()
        .zip(right)
        .position(|((tool, _), (other, _))| tool != other);
    parted.or_else(|| (left.len() != right.len()).then(|| left.len().min(right.len())))
}
