//! What became of a mutant.

use mcptest_trace::evidence::mutants::{Judged, Label, Mutant};

/// What became of a mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
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

impl State {
    pub(super) fn of(mutant: &Mutant, judged: &Judged) -> Self {
        match (mutant.label, judged.killed_by.is_empty()) {
            (Label::Harmless, true) => Self::Harmless,
            (Label::Harmless, false) => Self::Brittle,
            (_, false) => Self::Killed,
            (_, true) if judged.covered => Self::Survived,
            (_, true) => Self::NotCovered,
        }
    }

    pub(super) const fn is_survivor(self) -> bool {
        matches!(self, Self::Survived | Self::NotCovered)
    }

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Killed => "killed",
            Self::Survived => "survived",
            Self::NotCovered => "not_covered",
            Self::Harmless => "harmless",
            Self::Brittle => "brittle",
        }
    }
}
