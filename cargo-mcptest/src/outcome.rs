//! What says whether a run passed.

use mcptest::judge::{AgentTest, Ask};
use mcptest::result::RunVerdict;
use mcptest::suite::gates::GateKind;
use mcptest::trace::Run;

/// What says whether a run passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum OutcomeSource {
    /// The recording, by `outcome.passed`.
    Recorded,
    /// The agent's `expect:` and all its gates that judge run by run.
    Gates,
}

impl OutcomeSource {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::Gates => "gates",
        }
    }

    /// In words.
    pub(crate) const fn said(self) -> &'static str {
        match self {
            Self::Recorded => "as recorded",
            Self::Gates => "by the gates of the suites",
        }
    }
}

/// What the recording says.
pub(crate) fn recorded(run: &Run) -> Option<bool> {
    run.outcome.and_then(|outcome| outcome.passed)
}

/// What decides on the runs of an agent one by one: its `expect:` and its per-run gates.
pub(crate) struct Gates<'a>(Vec<Ask<'a>>);

impl<'a> Gates<'a> {
    pub(crate) fn of(agent: &AgentTest<'a>) -> Self {
        Self(agent.asks())
    }

    /// The gates among them.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = GateKind> {
        self.0.iter().filter_map(Ask::gate)
    }

    /// Whether all hold for a run, but for one whose own targets are looked at; nothing where they judge
    /// nothing of it.
    pub(crate) fn hold_without(&self, run: &Run, without: Option<GateKind>) -> Option<bool> {
        let is_asked = |ask: &&Ask<'_>| without.is_none() || ask.gate() != without;
        let asks = self.0.iter().filter(is_asked);
        let verdicts = asks.filter_map(|ask| ask.of_run(run));
        verdicts.max().and_then(RunVerdict::passed)
    }
}
