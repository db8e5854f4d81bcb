//! Which sub-scores count, of which turns, and how low they may be.

use serde::Serialize;

use crate::trace::Turn;
use crate::words::words;

words! {
    /// A sub-score of a run.
    ///
    /// A closed set: whoever matches on it need not expect another.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum SubScore {
        /// How concentrated the tools are over the calls.
        ToolUsageStability = "tool_usage_stability",
        /// How alike in length the assistant turns are.
        ResponseConsistency = "response_consistency",
        /// Share of calls that repeat no earlier one.
        Redundancy = "redundancy",
        /// Token spend relative to distinct calls.
        CostPerProgress = "cost_per_progress",
    }
}

impl SubScore {
    /// All, in the order of [`StabilityReport::scores`](super::StabilityReport::scores).
    pub const ALL: [Self; 4] = [
        Self::ToolUsageStability,
        Self::ResponseConsistency,
        Self::Redundancy,
        Self::CostPerProgress,
    ];
}

/// The sub-scores that count; at least one.
///
/// ```
/// use mcptest_trace::eval::{Dimensions, SubScore};
///
/// let dimensions = Dimensions::from_scores([SubScore::Redundancy]).unwrap();
/// assert!(dimensions.contains(SubScore::Redundancy) && !dimensions.contains(SubScore::CostPerProgress));
/// assert_eq!(Dimensions::from_scores([]), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dimensions {
    first: SubScore,
    counts: [bool; 4],
}

impl Dimensions {
    /// All four.
    pub const ALL: Self = Self {
        first: SubScore::ToolUsageStability,
        counts: [true; 4],
    };

    /// Makes these sub-scores the ones that count; `None` of none, as nothing would be judged.
    #[must_use]
    pub fn from_scores(scores: impl IntoIterator<Item = SubScore>) -> Option<Self> {
        let mut counts = [false; 4];
        for score in scores {
            counts[score as usize] = true;
        }
        let first = SubScore::ALL
            .into_iter()
            .find(|score| counts[*score as usize])?;
        Some(Self { first, counts })
    }

    /// Whether a sub-score counts.
    #[must_use]
    pub const fn contains(self, score: SubScore) -> bool {
        self.counts[score as usize]
    }

    /// The sub-scores that count, in order.
    pub fn iter(self) -> impl Iterator<Item = SubScore> {
        SubScore::ALL
            .into_iter()
            .filter(move |score| self.contains(*score))
    }

    pub(super) const fn first(self) -> SubScore {
        self.first
    }
}

impl Default for Dimensions {
    /// All four.
    fn default() -> Self {
        Self::ALL
    }
}

/// The turns that `response_consistency` looks at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Turns {
    /// All assistant turns.
    #[default]
    All,
    /// Those in which something is said: not the `tool_use` turns, which stand for a tool call.
    Said,
}

impl Turns {
    /// Whether a turn is looked at.
    #[must_use]
    pub fn includes(self, turn: &Turn) -> bool {
        turn.is_assistant() && (self == Self::All || !turn.is_tool_use())
    }
}

/// What is looked at, and what departs from the seed.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct StabilityOptions {
    /// The sub-scores that can be a run's weakest, and so make `score`, `weakest_score` and
    /// `variance`, and that raise drift flags.
    pub dimensions: Dimensions,
    /// The turns that `response_consistency` looks at.
    pub turns: Turns,
    /// Tokens per useful call from which `cost_per_progress` starts to fall; above 0.
    pub tokens_per_useful_call: f64,
    /// The floors that drift flags are counted for.
    pub floors: StabilityFloors,
}

impl Default for StabilityOptions {
    /// As the seed says: all four sub-scores, all assistant turns, 2000 tokens, floors of 0.5.
    fn default() -> Self {
        Self {
            dimensions: Dimensions::ALL,
            turns: Turns::All,
            tokens_per_useful_call: super::TOKENS_PER_USEFUL_CALL,
            floors: StabilityFloors::default(),
        }
    }
}

/// Floors of the sub-scores, each in `0.0..=1.0`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct StabilityFloors {
    /// Of `tool_usage_stability`.
    pub tool_usage_stability: f64,
    /// Of `response_consistency`.
    pub response_consistency: f64,
    /// Of `redundancy`.
    pub redundancy: f64,
    /// Of `cost_per_progress`.
    pub cost_per_progress: f64,
}

impl Default for StabilityFloors {
    /// 0.5 on every sub-score.
    fn default() -> Self {
        Self {
            tool_usage_stability: 0.5,
            response_consistency: 0.5,
            redundancy: 0.5,
            cost_per_progress: 0.5,
        }
    }
}

impl StabilityFloors {
    /// The floors in the order of [`SUB_SCORES`](super::SUB_SCORES).
    #[must_use]
    pub const fn floors(&self) -> [f64; 4] {
        [
            self.tool_usage_stability,
            self.response_consistency,
            self.redundancy,
            self.cost_per_progress,
        ]
    }
}
