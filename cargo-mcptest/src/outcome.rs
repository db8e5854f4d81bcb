//! What says whether a run passed.

use std::error::Error;
use std::fmt;

use mcptest::judge::{AgentTest, Ask};
use mcptest::result::RunVerdict;
use mcptest::suite::gates::GateKind;
use mcptest::trace::Run;
use mcptest_suite::escape_line;

/// What says whether a run passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    pub(crate) const fn describe(self) -> &'static str {
        match self {
            Self::Recorded => "as recorded",
            Self::Gates => "by the gates of the suites",
        }
    }
}

/// What is asked to say whether a run passed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum OutcomeRequest {
    Recorded,
    Gates,
    Score(ScoreOutcome),
}

/// A score of somebody else, and what passes of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ScoreOutcome {
    pub(crate) name: String,
    /// What its value is held against; without it the score says itself whether the run passed.
    bound: Option<ScoreBound>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum ScoreBound {
    Least(f64),
    Most(f64),
}

/// An argument that does not say whether a run passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnknownOutcome;

impl fmt::Display for UnknownOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "write `recorded`, `gates`, `scores.NAME`, or a score with a bound: `scores.NAME>=4`, `scores.NAME<=2`",
        )
    }
}

impl Error for UnknownOutcome {}

impl OutcomeRequest {
    /// What an argument asks for.
    pub(crate) fn parse(text: &str) -> Result<Self, UnknownOutcome> {
        match text {
            "recorded" => return Ok(Self::Recorded),
            "gates" => return Ok(Self::Gates),
            _ => {}
        }
        let score = text.strip_prefix("scores.").and_then(|rest| {
            let bound = |sign: &str, of: fn(f64) -> ScoreBound| {
                let (name, number) = rest.split_once(sign)?;
                let number: f64 = number.trim().parse().ok()?;
                number.is_finite().then(|| (name, Some(of(number))))
            };
            let (name, bound) = bound(">=", ScoreBound::Least)
                .or_else(|| bound("<=", ScoreBound::Most))
                .or_else(|| (!rest.contains(['<', '>', '='])).then_some((rest, None)))?;
            let name = name.trim().to_owned();
            (!name.is_empty()).then_some(ScoreOutcome { name, bound })
        });
        score.map(Self::Score).ok_or(UnknownOutcome)
    }

    /// Where the answer is found; a score stands in the place of what a recording says.
    pub(crate) const fn source(&self) -> OutcomeSource {
        match self {
            Self::Gates => OutcomeSource::Gates,
            Self::Recorded | Self::Score(_) => OutcomeSource::Recorded,
        }
    }

    /// The score that is asked, where one is.
    pub(crate) const fn score(&self) -> Option<&ScoreOutcome> {
        match self {
            Self::Score(score) => Some(score),
            Self::Recorded | Self::Gates => None,
        }
    }
}

impl fmt::Display for ScoreOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "scores.{}", escape_line(&self.name))?;
        match self.bound {
            None => Ok(()),
            Some(ScoreBound::Least(least)) => write!(f, ">={least}"),
            Some(ScoreBound::Most(most)) => write!(f, "<={most}"),
        }
    }
}

impl ScoreOutcome {
    /// Whether a run passed, which each score of the name must say; nothing where the run has no such score, or
    /// one of them does not say it.
    pub(crate) fn outcome_of(&self, run: &Run) -> Option<bool> {
        let passed = run
            .trace
            .scores_named(&self.name)
            .map(|score| match self.bound {
                None => score.passed,
                Some(ScoreBound::Least(least)) => Some(score.value >= least),
                Some(ScoreBound::Most(most)) => Some(score.value <= most),
            });
        let all: Vec<bool> = passed.collect::<Option<_>>()?;
        (!all.is_empty()).then(|| all.iter().all(|passed| *passed))
    }
}

/// The outcome that the recording itself has.
pub(crate) fn recorded_outcome(run: &Run) -> Option<bool> {
    run.outcome.and_then(|outcome| outcome.passed)
}

/// What decides on the runs of an agent one by one: its `expect:` and its per-run gates.
pub(crate) struct Gates<'a>(Vec<Ask<'a>>);

impl<'a> Gates<'a> {
    pub(crate) fn for_agent(agent: &AgentTest<'a>) -> Self {
        Self(agent.asks())
    }

    /// The gates among them.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = GateKind> {
        self.0.iter().filter_map(Ask::gate)
    }

    /// Whether all hold for a run, but for one whose own targets are looked at (a gate, or the agent's `expect:`, which
    /// is none); nothing where they judge nothing of it.
    pub(crate) fn hold_without(
        &self,
        run: &Run,
        without: Option<Option<GateKind>>,
    ) -> Option<bool> {
        let is_asked = |ask: &&Ask<'_>| without.is_none_or(|without| ask.gate() != without);
        let asks = self.0.iter().filter(is_asked);
        let verdicts = asks.filter_map(|ask| ask.judge_run(run));
        verdicts.max().and_then(RunVerdict::passed)
    }
}
