//! The runs of an agent over the commits, judged.

use mcptest::judge::AgentTest;
use mcptest::result::{CaseResult, RunFacts};
use mcptest::trace::Run;
use mcptest_trace::eval::{Metrics as _, Prices, count_calls_with};
use serde_json::Value;

use crate::outcome::{Gates, OutcomeSource, recorded_outcome};

/// A recorded run, judged.
#[derive(Debug, Clone)]
pub(super) struct JudgedRun {
    recorded: Option<bool>,
    gates: Option<bool>,
    pub(super) tokens: Option<f64>,
    pub(super) ms: Option<f64>,
    pub(super) usd: Option<f64>,
    /// The machine that recorded it, where that is known.
    pub(super) recorded_on: Option<String>,
    /// The model and the prompts that it was recorded with.
    pub(super) asked: [String; 3],
}

impl JudgedRun {
    pub(super) fn from_run(run: &Run, gates: &Gates<'_>, prices: &Prices) -> Self {
        let counts = count_calls_with(&run.trace, &run.model, prices).metrics();
        // By name: a target that this version has not is one that no run has.
        let target = |name: &str| counts.pointer(name).and_then(Value::as_f64);
        Self {
            recorded: recorded_outcome(run),
            gates: gates.hold_without(run, None),
            tokens: target("/calls/tokens"),
            ms: target("/calls/ms"),
            usd: target("/calls/usd"),
            recorded_on: run.recorded_on.clone(),
            asked: [&run.model, &run.user_prompt, &run.system_prompt].map(Clone::clone),
        }
    }

    /// A run that the result of an agent's own case tells of, with what the gates made of it.
    pub(super) fn from_result(own: &CaseResult, run: &RunFacts, gates: Option<bool>) -> Self {
        let model = own.agent.as_ref().map(|agent| agent.model.clone());
        Self {
            recorded: run.passed,
            gates,
            tokens: run.tokens.map(to_f64),
            ms: run.ms,
            usd: run.usd,
            recorded_on: run.recorded_on.clone(),
            asked: [
                model.unwrap_or_default(),
                run.prompt.clone(),
                run.system_prompt.clone(),
            ],
        }
    }

    pub(super) fn passed(&self, outcome: OutcomeSource) -> Option<bool> {
        match outcome {
            OutcomeSource::Recorded => self.recorded,
            OutcomeSource::Gates => self.gates,
        }
    }
}

/// An agent's files in a commit that changed them.
#[derive(Debug)]
pub(super) struct State {
    /// Which of the commits.
    pub(super) commit: usize,
    /// Places among the agent's files.
    pub(super) files: Vec<usize>,
}

/// An agent over all commits.
pub(super) struct AgentHistory {
    /// The stem of its recordings.
    pub(super) stem: String,
    pub(super) case: String,
    /// Every file that it ever had, with its runs.
    pub(super) files: Vec<Vec<JudgedRun>>,
    pub(super) states: Vec<State>,
}

/// A count as the number that it is.
fn to_f64(count: u64) -> f64 {
    count.to_string().parse().unwrap_or(f64::INFINITY)
}

impl AgentHistory {
    pub(super) fn new(test: &AgentTest<'_>) -> Self {
        Self {
            stem: test.stem(),
            case: test.case().to_owned(),
            files: Vec::new(),
            states: Vec::new(),
        }
    }

    /// The recordings, where each of them says whether its run passed; else the gates.
    pub(super) fn outcome(&self) -> OutcomeSource {
        let mut runs = self.files.iter().flatten();
        if runs.all(|run| run.recorded.is_some()) {
            OutcomeSource::Recorded
        } else {
            OutcomeSource::Gates
        }
    }

    pub(super) fn runs(&self, state: &State) -> impl Iterator<Item = &JudgedRun> {
        let files = state.files.iter();
        files.filter_map(|file| self.files.get(*file)).flatten()
    }
}
