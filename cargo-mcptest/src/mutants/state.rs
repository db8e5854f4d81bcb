//! What became of a mutant.

use mcptest_trace::evidence::mutants::{Mutant, MutantLabel, MutantVerdict};
use serde::Serialize;

/// Whether a mutant was noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum MutantState {
    /// A gate noticed.
    Killed,
    /// No gate noticed.
    Survived,
    /// No gate was green on its run.
    NotCovered,
    /// It is harmless, and no gate minds.
    Harmless,
    /// It is harmless, and a gate minds.
    Brittle,
}

impl MutantState {
    pub(super) fn from_verdict(mutant: &Mutant, judged: &MutantVerdict) -> Self {
        match (mutant.label, judged.killed_by.is_empty()) {
            (MutantLabel::Harmless, true) => Self::Harmless,
            (MutantLabel::Harmless, false) => Self::Brittle,
            (_, false) => Self::Killed,
            (_, true) if judged.covered => Self::Survived,
            (_, true) => Self::NotCovered,
        }
    }

    pub(super) const fn is_survivor(self) -> bool {
        matches!(self, Self::Survived | Self::NotCovered)
    }
}
