//! What is wrong with runs that do not meet a default, in words.

use crate::render::SEE_RUNS;

/// What is wrong with a run, or with all runs together, that does not meet a bound of a default gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DefaultSentence {
    /// The sentence without numbers.
    pub(super) plain: &'static str,
    /// The sentence with numbers.
    pub(super) numbered: Option<String>,
    pub(super) target: &'static str,
    /// The number of the target.
    pub(super) found: String,
    /// The bound in words.
    pub(super) bound: String,
}

impl DefaultSentence {
    fn words(&self) -> &str {
        self.numbered.as_deref().unwrap_or(self.plain)
    }

    /// The sentence with what is behind it: the target, its number, its bound.
    pub(super) fn with_target(&self) -> String {
        let Self {
            target,
            found,
            bound,
            ..
        } = self;
        format!("{} ({target}: {found}, {bound})", self.words())
    }

    /// The sentence for one of several runs whose numbers differ.
    pub(super) fn for_one_run(&self) -> String {
        let Self { target, found, .. } = self;
        format!("{} ({target}: {found})", self.words())
    }

    /// The sentence for several runs whose numbers differ.
    pub(super) fn for_several_runs(&self) -> String {
        let Self { target, bound, .. } = self;
        format!("{} ({target}: {bound}){SEE_RUNS}", self.plain)
    }
}
