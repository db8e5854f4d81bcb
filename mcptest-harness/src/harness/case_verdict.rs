//! What a case is judged in, and what it can come to.

use mcptest_suite::Style;

use crate::gate::Judgement;
use crate::record::rerun_command;
use crate::render::Failure;

/// What a case needs besides its suite.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    /// The case's full name.
    pub(crate) name: String,
    /// The full name of the agent's own case.
    pub(crate) agent: String,
    /// The name of the suite: what its cases' names begin with.
    pub(crate) suite: String,
    /// Whether the case is run only when ignored ones are asked for.
    pub(crate) ignored: bool,
    /// Whether checks in Rust run on the agent too.
    pub(crate) checked: bool,
    /// Whether what was computed is told of a case that holds.
    pub(crate) told: bool,
    /// The package the case belongs to.
    pub(crate) package: String,
    pub(crate) style: Style,
}

impl Context {
    /// The command that runs this case alone.
    pub(crate) fn rerun_command(&self) -> String {
        rerun_command(&self.package, &self.name, self.ignored)
    }
}

/// What became of a case that does not fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CaseOutcome {
    /// With what was computed, as a table, where that is told.
    Holds(Option<String>),
    /// Another case judges it; this one says so.
    Elsewhere(String),
    /// Nothing here can tell whether it holds, for a reason.
    Undecided(String),
}

/// The verdict on a case, as it was made.
#[derive(Default)]
pub(crate) struct CaseVerdict {
    pub(super) came: Conclusion,
    /// What it was made of; its failure stands in `came`.
    pub(super) judgement: Judgement,
}

/// What a case came to.
#[derive(Default)]
pub(super) enum Conclusion {
    #[default]
    Holds,
    /// Another case judges it.
    Elsewhere(String),
    /// Nothing here can tell.
    Undecided(String),
    Fails(Failure),
    /// It fails without being judged: the whole text.
    NotJudged(String),
}

impl From<Conclusion> for CaseVerdict {
    fn from(came: Conclusion) -> Self {
        Self {
            came,
            ..Self::default()
        }
    }
}

/// What is said of a case whose agent's recordings cannot be used: the agent's own case says why.
pub(crate) fn not_judged_text(failure: &Failure, context: &Context) -> String {
    format!(
        "not judged: the recordings of this agent cannot be used; see `{}` ({})",
        context.agent,
        failure.to_line()
    )
}
