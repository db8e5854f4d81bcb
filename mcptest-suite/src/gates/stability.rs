//! `stability:`

use super::{AgentFacts, Block};
use crate::load::fields::{Fields, Problems};
use crate::{Diagnostic, Span};

pub(super) const TARGETS: &[&str] = &[
    "stability.score",
    "stability.weakest_score",
    "stability.variance",
    "stability.tool_sequence_similarity",
    "stability.argument_consistency",
    "stability.early_divergence",
    "stability.drift_flags",
    "stability.tool_usage_stability.mean",
    "stability.tool_usage_stability.min",
    "stability.response_consistency.mean",
    "stability.response_consistency.min",
    "stability.redundancy.mean",
    "stability.redundancy.min",
    "stability.cost_per_progress.mean",
    "stability.cost_per_progress.min",
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
