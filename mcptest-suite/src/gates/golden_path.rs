//! `golden_path:`

use serde::Serialize;

use super::target::{Better, GateTarget, count, flag, fraction};
use super::{AgentFacts, Block};
use crate::Span;
use crate::load::fields::{Fields, Problems};

pub(super) const TARGETS: &[GateTarget] = &[
    fraction(
        "golden_path.penalty",
        Better::Higher,
        "1 is no waste at all; the more is wasted, the lower",
    ),
    flag(
        "golden_path.passed",
        Better::Higher,
        "1 when nothing that is penalised was wasted",
    ),
    count(
        "golden_path.extra_steps",
        Better::Lower,
        "calls beyond the length of the golden path",
    ),
    count(
        "golden_path.backtracks",
        Better::Lower,
        "returns to a tool used earlier",
    ),
    count(
        "golden_path.repeated_tools",
        Better::Lower,
        "calls of the same tool as the call before",
    ),
];

/// Options of the golden-path gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GoldenPath {
    /// The ideal sequence of tools; never empty.
    pub calls: Vec<String>,
    /// Whether calls beyond the ideal length cost nothing.
    pub allow_extra_steps: bool,
    /// Whether returning to an earlier tool costs.
    pub penalize_backtracking: bool,
    /// Whether calling one tool twice in a row costs.
    pub penalize_repeated_tools: bool,
}

impl GoldenPath {
    /// An ideal sequence with the default options.
    pub fn new(calls: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            calls: calls.into_iter().map(Into::into).collect(),
            allow_extra_steps: false,
            penalize_backtracking: true,
            penalize_repeated_tools: true,
        }
    }
}

impl Block for GoldenPath {
    fn read(
        fields: &mut Fields<'_>,
        _agent: &AgentFacts<'_>,
        _span: Span,
        problems: &mut Problems,
    ) -> Option<Self> {
        let calls = fields
            .required("calls", problems)
            .map(|node| problems.texts(node, "tool names"));
        let mut flag = |key, default| {
            fields
                .get(key)
                .and_then(|node| problems.flag(node))
                .unwrap_or(default)
        };
        let usual = Self::new([""; 0]);
        let allow_extra_steps = flag("allow_extra_steps", usual.allow_extra_steps);
        let penalize_backtracking = flag("penalize_backtracking", usual.penalize_backtracking);
        let penalize_repeated_tools =
            flag("penalize_repeated_tools", usual.penalize_repeated_tools);
        Some(Self {
            calls: calls?.into_iter().map(|call| call.value).collect(),
            allow_extra_steps,
            penalize_backtracking,
            penalize_repeated_tools,
        })
    }
}
