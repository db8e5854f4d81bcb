//! An agent test as a whole: its runs, and what it asks of runs.

use std::path::{Path, PathBuf};
use std::slice;

use mcptest_suite::Subject;
use mcptest_suite::model::{Agent, GateKind, Suite};

use super::agent_runs::AgentRuns;
use super::loaded::LoadedSuite;
use super::runs_error::RunsError;
use super::tags;
use crate::energy::Analysis;
use crate::eval::{KnownTools, NarrativeReport, narrative_divergence_with};
use crate::gate::{CompiledGate, Criterion, Expect, Input, RunVerdict, SnapshotStore};
use crate::trace::Run;

/// An agent test with one model.
pub struct AgentTest<'a> {
    suite_name: &'a str,
    suite: &'a LoadedSuite,
    subject: Subject,
    case: String,
}

impl std::fmt::Debug for AgentTest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("AgentTest").field(&self.case).finish()
    }
}

impl<'a> AgentTest<'a> {
    pub(super) fn new(suite_name: &'a str, suite: &'a LoadedSuite, subject: Subject) -> Self {
        Self {
            suite_name,
            suite,
            subject,
            case: format!("{suite_name}::{}", suite.case_name(subject)),
        }
    }

    /// The full name of the agent's own case.
    #[must_use]
    pub fn case(&self) -> &str {
        &self.case
    }

    /// The name of its suite: what its cases' names begin with.
    #[must_use]
    pub fn suite_name(&self) -> &'a str {
        self.suite_name
    }

    /// Its suite.
    #[must_use]
    pub fn suite(&self) -> &'a Suite {
        &self.suite.suite
    }

    /// What the suite says of it.
    #[must_use]
    pub fn agent(&self) -> &'a Agent {
        self.suite.agent(self.subject)
    }

    /// The model's identifier.
    #[must_use]
    pub fn model(&self) -> &'a str {
        &self.agent().models[self.subject.model].value.id
    }

    /// Why it is left out by its tags, as `MCPTEST_TAGS` asks; nothing where it is selected.
    #[must_use]
    pub fn left_out(&self) -> Option<String> {
        tags::why_left_out(self.agent())
    }

    /// The stem of its recordings.
    #[must_use]
    pub fn stem(&self) -> String {
        self.suite.stem(self.subject)
    }

    /// Its recorded runs.
    ///
    /// # Errors
    ///
    /// Why they cannot be judged, as `cargo test` prints it.
    pub fn runs(&self) -> Result<&'a [Run], RunsError> {
        let recorded = self.suite.runs(self.subject);
        recorded
            .as_ref()
            .map(AgentRuns::runs)
            .map_err(|failure| RunsError::NotJudged(failure.findings_text(self.suite.source())))
    }

    /// Its runs below another folder: a copy of the package, a folder that holds `cassettes/`, or the
    /// recordings themselves. Nothing where none are there; however many there are, they are not held
    /// against the suite.
    ///
    /// # Errors
    ///
    /// A recording there cannot be read, or the runs lie in several places.
    pub fn runs_in(&self, folder: &Path) -> Result<Option<Vec<Run>>, RunsError> {
        self.suite.runs_in(folder, self.subject)
    }

    /// The files of its runs below another folder, as [`Self::runs_in`] finds them; none where it finds none, or cannot
    /// tell which these are.
    #[must_use]
    pub fn files_in(&self, folder: &Path) -> Vec<PathBuf> {
        let files = self.suite.files_in(folder, self.subject);
        let files = files.ok().flatten().unwrap_or_default().into_iter();
        files.map(|(path, _)| path).collect()
    }

    /// What the closing of a run claims, and what supports it: as the agent's `narrative` reads it,
    /// else as the default does.
    #[must_use]
    pub fn closing(&self, run: &Run) -> NarrativeReport {
        let options = self.suite.gates(self.subject).narrative_options();
        match self.suite.runs(self.subject) {
            Ok(recorded) => {
                let of_runs = || KnownTools::of_runs(recorded.runs());
                let known = recorded.known_tools().get_or_init(of_runs);
                narrative_divergence_with(&run.trace, &options, known)
            }
            Err(_) => narrative_divergence_with(&run.trace, &options, &KnownTools::default()),
        }
    }

    /// How the tokens of a run grow: as the agent's `energy` reads it, else as the default does.
    /// Nothing where that cannot be computed, e.g. without tokens of each model call.
    #[must_use]
    pub fn energy(&self, run: &Run) -> Option<Analysis> {
        let recorded = self.suite.runs(self.subject).as_ref().ok()?;
        let input = self.suite.input(self.subject, recorded, &NoSnapshots);
        self.suite.gates(self.subject).energy_analysis(&input, run)
    }

    /// The tools that the agent's `trajectory`, else its `golden_path`, expects, in order.
    #[must_use]
    pub fn plan(&self) -> Vec<&'a str> {
        self.suite.gates(self.subject).plan()
    }

    /// The tools that the agent's gates say change something, and those that they say only read.
    #[must_use]
    pub fn tool_lists(&self) -> [Vec<&'a String>; 2] {
        let lists = self.suite.gates(self.subject).tool_lists();
        lists.map(|list| list.iter().collect())
    }

    /// All that is asked of the agent, its own `expect:` first; nothing where its recordings cannot
    /// be used.
    #[must_use]
    pub fn asks(&self) -> Vec<Ask<'a>> {
        let Ok(recorded) = self.suite.runs(self.subject) else {
            return Vec::new();
        };
        let gates = self.suite.gates(self.subject);
        let own = (!gates.expect.is_empty()).then_some(None);
        // Code is run against recorded runs, and no others.
        let judging = gates.gates.iter();
        let judging = judging.filter(|gate| gate.kind != GateKind::Playback);
        let asks = own.into_iter().chain(judging.map(Some));
        asks.map(|gate| Ask {
            suite: self.suite,
            subject: self.subject,
            recorded,
            gate,
        })
        .collect()
    }
}

/// Something that is asked of an agent: its `expect:`, or a gate. It can be asked of other runs than
/// the recorded ones. Snapshots are not looked at: they are of the recorded runs.
#[derive(Clone, Copy)]
pub struct Ask<'a> {
    suite: &'a LoadedSuite,
    subject: Subject,
    recorded: &'a AgentRuns,
    gate: Option<&'a CompiledGate>,
}

impl std::fmt::Debug for Ask<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Ask").field(&self.name()).finish()
    }
}

impl Ask<'_> {
    /// The gate's key, or `expect`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.gate.map_or("expect", |gate| gate.kind.name())
    }

    /// The gate; nothing for the agent's own `expect:`.
    #[must_use]
    pub fn gate(&self) -> Option<GateKind> {
        self.gate.map(|gate| gate.kind)
    }

    /// Whether the agent's `reliability` counts the runs that it holds for, so that it has no verdict of
    /// its own.
    #[must_use]
    pub fn is_counted(&self) -> bool {
        let declared = &self.suite.agent(self.subject).gates;
        match self.gate() {
            Some(kind) => declared
                .iter()
                .any(|gate| gate.kind == kind && gate.counted),
            None => self.suite.gates(self.subject).reliability_counts_expect(),
        }
    }

    /// The verdict on a run by itself; nothing where all runs are judged together.
    #[must_use]
    pub fn judge_run(&self, run: &Run) -> Option<RunVerdict> {
        let input = self.input(slice::from_ref(run));
        Some(match self.gate {
            Some(gate) => match gate.broken_by(&input, 0)?.is_empty() {
                true if gate.is_idle(run) => RunVerdict::NothingJudged,
                holds => RunVerdict::judged(holds),
            },
            None => Expect::verdicts(&input, 0).verdict(input.gates.expect.len()),
        })
    }

    /// Whether runs together break nothing of it; what nobody can tell is not broken.
    #[must_use]
    pub fn holds(&self, runs: &[Run]) -> bool {
        let input = self.input(runs);
        let judgement = match self.gate {
            Some(gate) => gate.judge(&input),
            None => Expect.judge(&input),
        };
        judgement.failure.is_none()
    }

    fn input<'r>(&'r self, runs: &'r [Run]) -> Input<'r> {
        let own = self.suite.input(self.subject, self.recorded, &NoSnapshots);
        Input { runs, ..own }
    }
}

/// Snapshots that nobody looks at.
struct NoSnapshots;

impl SnapshotStore for NoSnapshots {
    fn value(&self, _: usize, _: &str, _: &serde_json::Value) -> Result<(), Vec<String>> {
        Ok(())
    }

    fn outline(&self, _: &str) -> Result<(), Vec<String>> {
        Ok(())
    }

    fn tools(&self, _: &str) -> Result<(), Vec<String>> {
        Ok(())
    }
}
