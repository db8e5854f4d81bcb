//! A package's suites judged in this process, without building its tests: what `cargo mcptest` does.
//!
//! Nothing is written and nothing is recorded here. Checks in Rust are not among the cases, since
//! they are in the package's own test programs; `MCPTEST_RESULTS` lets those tell what they found.

mod sides;

use std::path::{Path, PathBuf};

use mcptest_suite::model::{Agent, GateKind, Suite};
use mcptest_suite::{Case, CaseKind, LOAD, Style, Subject};

use super::agent_runs::AgentRuns;
use super::case::{self, Context};
use super::discovery::discover;
use super::loaded::LoadedSuite;
use crate::energy::Analysis;
use crate::eval::{KnownTools, NarrativeReport, narrative_divergence_with};
use crate::gate::{Expect, Gate, Input, ReadGate, SnapshotStore, Subject as Asks};
use crate::record::Command;
use crate::result::CaseResult;
use crate::trace::Run;

pub use sides::SideRuns;

/// The suites of a package, loaded.
///
/// ```no_run
/// use mcptest::replay::Package;
///
/// let package = Package::open("path/to/shop".as_ref(), "shop", &["suites".into()]);
/// for case in package.cases() {
///     println!("{} {}", case.name(), case.judge().status.as_str());
/// }
/// ```
pub struct Package {
    name: String,
    folder: PathBuf,
    suites: Vec<(String, LoadedSuite)>,
    failures: Vec<LoadFailure>,
}

impl std::fmt::Debug for Package {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let suites: Vec<&String> = self.suites.iter().map(|(name, _)| name).collect();
        f.debug_struct("Package")
            .field("name", &self.name)
            .field("folder", &self.folder)
            .field("suites", &suites)
            .field("failures", &self.failures)
            .finish()
    }
}

/// A suite, or a folder of suites, that does not load.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadFailure {
    /// The name of the case that fails for it, e.g. `refunds::load`.
    pub case: String,
    /// Every problem, as `cargo test` prints it.
    pub text: String,
}

impl LoadFailure {
    /// The failure as the result of its case.
    #[must_use]
    pub fn result(&self, package: &str) -> CaseResult {
        CaseResult::refused(package, &self.case, &self.text)
    }
}

impl Package {
    /// Loads every suite below the roots (relative to the package's folder).
    #[must_use]
    pub fn open(folder: &Path, name: &str, roots: &[PathBuf]) -> Self {
        let found = discover(folder, roots);
        let failures = found.problems.into_iter();
        let failures = failures.map(|(case, text)| LoadFailure { case, text });
        let mut package = Self {
            name: name.to_owned(),
            folder: folder.to_owned(),
            suites: Vec::new(),
            failures: failures.collect(),
        };
        for (path, file) in found.suites {
            let command = Command {
                package: Some(name.to_owned()),
                target: None,
                suite: path.to_string(),
                own_loop: false,
            };
            match LoadedSuite::load(folder, &file) {
                Ok(suite) => {
                    let suite = suite.looked_at(command);
                    package.suites.push((path.to_string(), suite));
                }
                Err(error) => package.failures.push(LoadFailure {
                    case: format!("{path}::{LOAD}"),
                    text: error.render(Style::Plain),
                }),
            }
        }
        package
            .failures
            .sort_by(|left, right| left.case.cmp(&right.case));
        package
    }

    /// The package's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The package's folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What does not load, by name.
    #[must_use]
    pub fn failures(&self) -> &[LoadFailure] {
        &self.failures
    }

    /// The suites that load, each with the name that its cases begin with, in the order of their
    /// files.
    pub fn suites(&self) -> impl Iterator<Item = (&str, &Suite)> {
        self.suites
            .iter()
            .map(|(name, suite)| (name.as_str(), &suite.suite))
    }

    /// The cases of all suites that load, by name.
    #[must_use]
    pub fn cases(&self) -> Vec<ReplayCase<'_>> {
        let mut cases = Vec::new();
        for (name, suite) in &self.suites {
            cases.extend(suite.suite.cases().into_iter().map(|case| ReplayCase {
                package: &self.name,
                suite_name: name,
                suite,
                name: format!("{name}::{}", case.name),
                case,
            }));
        }
        cases.sort_by(|left, right| left.name.cmp(&right.name));
        cases
    }

    /// The agent tests of all suites that load, one for each model, by the name of their case.
    #[must_use]
    pub fn agents(&self) -> Vec<AgentTest<'_>> {
        let agents = self.suites.iter().flat_map(|(name, suite)| {
            let subjects = suite.subjects();
            subjects.map(|subject| AgentTest::of(name, suite, subject))
        });
        let mut agents: Vec<_> = agents.collect();
        agents.sort_by(|left, right| left.case.cmp(&right.case));
        agents
    }
}

/// A case of a package.
#[derive(Clone)]
pub struct ReplayCase<'a> {
    package: &'a str,
    suite_name: &'a str,
    suite: &'a LoadedSuite,
    name: String,
    case: Case,
}

impl std::fmt::Debug for ReplayCase<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ReplayCase").field(&self.name).finish()
    }
}

impl ReplayCase<'_> {
    /// The case's full name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The full name of the agent's own case; nothing for what stands for no agent.
    #[must_use]
    pub fn agent(&self) -> Option<String> {
        let subject = self.subject()?;
        let agent = self.suite.agent(subject).case_name(subject.model);
        Some(format!("{}::{agent}", self.suite_name))
    }

    /// The gate; nothing for the agent's own case.
    #[must_use]
    pub fn gate(&self) -> Option<GateKind> {
        match self.case.kind {
            CaseKind::Gate(_, kind) => Some(kind),
            _ => None,
        }
    }

    /// Why it is listed but not judged.
    #[must_use]
    pub fn ignored(&self) -> Option<&str> {
        self.case.ignored.as_deref()
    }

    /// Judges the case. One that is ignored is not judged, and its result says why.
    #[must_use]
    pub fn judge(&self) -> CaseResult {
        let context = self.context();
        if let Some(reason) = &self.case.ignored {
            return case::ignored(self.suite, &self.case, &context, reason);
        }
        let verdict = case::verdict(self.suite, &self.case, &context);
        case::data(&verdict, self.suite, &self.case, &context)
    }

    /// What the numbers of a gate were made of, also where it holds: texts of several lines. Nothing
    /// for a case that is no gate, or whose recordings cannot be used.
    #[must_use]
    pub fn explain(&self) -> Vec<String> {
        let CaseKind::Gate(subject, kind) = self.case.kind else {
            return Vec::new();
        };
        let gate = self.suite.gates(subject).get(kind);
        let (Some(gate), Ok(recorded)) = (gate, self.suite.recorded(subject)) else {
            return Vec::new();
        };
        let snapshots = self.suite.snapshots(subject);
        let input = self.suite.input(subject, recorded, &snapshots).of(gate);
        let evidence = gate.gate.explain(&input).into_iter();
        evidence.map(|evidence| evidence.plain()).collect()
    }

    fn subject(&self) -> Option<Subject> {
        match self.case.kind {
            CaseKind::Agent(subject)
            | CaseKind::Gate(subject, _)
            | CaseKind::Regression(subject) => Some(subject),
            _ => None,
        }
    }

    fn context(&self) -> Context {
        Context {
            name: self.name.clone(),
            agent: self.agent().unwrap_or_default(),
            suite: self.suite_name.to_owned(),
            ignored: self.case.ignored.is_some(),
            // What a check in Rust would say is not known here, and nothing is said of it.
            checked: false,
            package: self.package.to_owned(),
            style: Style::Plain,
        }
    }
}

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
    pub(super) fn of(suite_name: &'a str, suite: &'a LoadedSuite, subject: Subject) -> Self {
        let agent = suite.agent(subject).case_name(subject.model);
        Self {
            suite_name,
            suite,
            subject,
            case: format!("{suite_name}::{agent}"),
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
    pub fn runs(&self) -> Result<&'a [Run], String> {
        let recorded = self.suite.recorded(self.subject);
        recorded
            .as_ref()
            .map(AgentRuns::runs)
            .map_err(|failure| failure.findings_text(self.suite.source()))
    }

    /// Its runs below another folder: a copy of the package, a folder that holds `cassettes/`, or the
    /// recordings themselves. Nothing where none are there; however many there are, they are not held
    /// against the suite.
    ///
    /// # Errors
    ///
    /// A recording there cannot be read, or the runs lie in several places.
    pub fn runs_in(&self, folder: &Path) -> Result<Option<Vec<Run>>, String> {
        self.suite.recorded_in(folder, self.subject)
    }

    /// What the closing of a run claims, and what supports it: as the agent's `narrative` reads it,
    /// else as the default does.
    #[must_use]
    pub fn closing(&self, run: &Run) -> NarrativeReport {
        let options = self.suite.gates(self.subject).narrative_options();
        match self.suite.recorded(self.subject) {
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
        let recorded = self.suite.recorded(self.subject).as_ref().ok()?;
        let gates = self.suite.gates(self.subject);
        input(
            self.suite,
            self.subject,
            recorded,
            recorded.runs(),
            |input| gates.energy_of(input, run),
        )
    }

    /// The tools that the agent's `trajectory`, else its `golden_path`, expects, in order.
    #[must_use]
    pub fn plan(&self) -> Vec<&'a str> {
        self.suite.gates(self.subject).plan()
    }

    /// All that is asked of the agent, its own `expect:` first; nothing where its recordings cannot
    /// be used.
    #[must_use]
    pub fn asks(&self) -> Vec<Ask<'a>> {
        let Ok(recorded) = self.suite.recorded(self.subject) else {
            return Vec::new();
        };
        let gates = self.suite.gates(self.subject);
        let own = (!gates.expect.is_empty()).then_some(None);
        let asks = own.into_iter().chain(gates.gates.iter().map(Some));
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
    gate: Option<&'a ReadGate>,
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

    /// Whether it holds for a run by itself; nothing where all runs are judged together.
    #[must_use]
    pub fn holds_for(&self, run: &Run) -> Option<bool> {
        self.with(self.recorded.runs(), |gate, input| {
            gate.of_run(input, run).map(|breaches| breaches.is_empty())
        })
    }

    /// Whether it holds for runs together.
    #[must_use]
    pub fn holds(&self, runs: &[Run]) -> bool {
        self.with(runs, |gate, input| gate.judge(input).failure.is_none())
    }

    fn with<T>(&self, runs: &[Run], judge: impl FnOnce(&dyn Gate, &Input<'_>) -> T) -> T {
        input(
            self.suite,
            self.subject,
            self.recorded,
            runs,
            |input| match self.gate {
                Some(gate) => judge(&*gate.gate, &input.of(gate)),
                None => judge(&Expect, input),
            },
        )
    }
}

/// What is judged, without snapshots: an agent's `expect:`, of some runs.
fn input<T>(
    suite: &LoadedSuite,
    subject: Subject,
    recorded: &AgentRuns,
    runs: &[Run],
    judge: impl FnOnce(&Input<'_>) -> T,
) -> T {
    let (agent, gates) = (suite.agent(subject), suite.gates(subject));
    judge(&Input {
        agent,
        gates,
        subject: Asks {
            name: "expect",
            span: agent.name.span,
            expect: &gates.expect,
        },
        runs,
        known_tools: recorded.known_tools(),
        snapshots: &NoSnapshots,
    })
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
}
