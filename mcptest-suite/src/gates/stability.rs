//! `stability:`

use super::target::{Better, GateTarget, count, flag, fraction};
use super::{AgentFacts, Block};
use crate::load::fields::{Fields, Problems};
use crate::{Diagnostic, Span};

pub(super) const TARGETS: &[GateTarget] = &[
    fraction(
        "stability.score",
        Better::Higher,
        "mean of each run's weakest sub-score",
    ),
    fraction(
        "stability.weakest_score",
        Better::Higher,
        "the lowest sub-score of any run",
    ),
    fraction(
        "stability.variance",
        Better::Lower,
        "population variance of the runs' weakest sub-scores",
    )
    .up_to(0.25),
    fraction(
        "stability.tool_sequence_similarity",
        Better::Higher,
        "how alike the order of tools is between runs",
    ),
    fraction(
        "stability.argument_consistency",
        Better::Higher,
        "how often aligned calls of two runs have the same arguments",
    ),
    flag(
        "stability.early_divergence",
        Better::Lower,
        "1 when most runs that part do so within the first two calls",
    ),
    count(
        "stability.drift_flags",
        Better::Lower,
        "sub-scores below their floor, over all runs",
    ),
    fraction(
        "stability.tool_usage_stability.mean",
        Better::Higher,
        "how few tools share the calls: mean of the runs",
    ),
    fraction(
        "stability.tool_usage_stability.min",
        Better::Higher,
        "how few tools share the calls: the lowest run",
    ),
    fraction(
        "stability.response_consistency.mean",
        Better::Higher,
        "how alike in length the answers are: mean of the runs",
    ),
    fraction(
        "stability.response_consistency.min",
        Better::Higher,
        "how alike in length the answers are: the lowest run",
    ),
    fraction(
        "stability.redundancy.mean",
        Better::Higher,
        "share of calls that repeat no earlier one: mean of the runs",
    ),
    fraction(
        "stability.redundancy.min",
        Better::Higher,
        "share of calls that repeat no earlier one: the lowest run",
    ),
    fraction(
        "stability.cost_per_progress.mean",
        Better::Higher,
        "tokens against different calls: mean of the runs",
    ),
    fraction(
        "stability.cost_per_progress.min",
        Better::Higher,
        "tokens against different calls: the lowest run",
    ),
];

/// Options of the stability gate.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stability {
    /// Fails any run with a sub-score strictly below its floor.
    pub floors: Option<Floors>,
}

/// Floors of the four sub-scores, each from 0 to 1; what is not stated is 0.5.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Floors {
    /// Of `tool_usage_stability`.
    pub tool_usage_stability: Option<f64>,
    /// Of `response_consistency`.
    pub response_consistency: Option<f64>,
    /// Of `redundancy`.
    pub redundancy: Option<f64>,
    /// Of `cost_per_progress`.
    pub cost_per_progress: Option<f64>,
}

impl Block for Stability {
    fn read(
        fields: &mut Fields<'_>,
        agent: &AgentFacts<'_>,
        span: Span,
        problems: &mut Problems,
    ) -> Option<Self> {
        if let Some(runs) = agent.runs.filter(|runs| runs.value < 2) {
            let mut problem = Diagnostic::new("`stability` needs at least 2 runs")
                .label(span, "compares runs with each other")
                .help("record more runs and say so with `runs: 5`, or remove the gate");
            if runs.span != Span::default() {
                problem = problem.also(runs.span, "one run has no variance");
            }
            problems.push(problem);
        }
        let floors = fields.get("floors").and_then(|node| {
            let mut fields = Fields::open(node, "`floors`", problems)?;
            let mut floor = |key| {
                fields
                    .get(key)
                    .and_then(|node| problems.number(node, 0.0, 1.0))
            };
            let floors = Floors {
                tool_usage_stability: floor("tool_usage_stability"),
                response_consistency: floor("response_consistency"),
                redundancy: floor("redundancy"),
                cost_per_progress: floor("cost_per_progress"),
            };
            fields.finish(problems);
            Some(floors)
        });
        Some(Self { floors })
    }
}
