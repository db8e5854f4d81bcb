//! A package's suites judged in this process, without building its tests: what `cargo mcptest` does.
//!
//! Nothing is written and nothing is recorded here. Checks in Rust are not among the cases, since
//! they are in the package's own test programs; `MCPTEST_RESULTS` lets those tell what they found.

use std::path::{Path, PathBuf};

use mcptest_suite::model::{GateKind, Suite};
use mcptest_suite::{Case, CaseKind, LOAD, Style};

use super::case;
use super::case_result;
use super::case_verdict::Context;
use super::discovery::discover;
use super::loaded::LoadedSuite;
use super::playing::Driver;
use super::tags::{self, Selection};
use crate::gate::{Input, Player};
use crate::record::RecordCommand;
use crate::render::Evidence;
use crate::result::CaseResult;

pub use super::agent_test::{AgentTest, Ask};
pub use super::runs_error::RunsError;
pub use super::side_runs::SideRuns;
pub use super::tags::SelectionError;

/// The suites of a package, loaded.
///
/// ```no_run
/// use mcptest::judge::Package;
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
            let command = RecordCommand {
                package: Some(name.to_owned()),
                target: None,
                suite: path.to_string(),
                own_loop: false,
                program: Vec::new(),
            };
            match LoadedSuite::load(folder, &file) {
                Ok(suite) => {
                    let suite = suite.into_read_only(command);
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
            .map(|(name, suite)| (name.as_str(), &*suite.suite))
    }

    /// What `MCPTEST_TAGS` asks for can be selected, where every suite loads.
    ///
    /// # Errors
    ///
    /// It is no list of tags, names one that no agent has, or selects no agent.
    pub fn check_tags(&self) -> Result<(), SelectionError> {
        self.check_selection(false)
    }

    /// What `MCPTEST_TAGS` asks for can be selected, where every suite loads, and an agent that is chosen is
    /// judged.
    ///
    /// # Errors
    ///
    /// It is no list of tags, names one that no agent has, or selects no agent; or `skip` and `only` leave out all
    /// agents that are chosen.
    pub fn check_judged_tags(&self) -> Result<(), SelectionError> {
        self.check_selection(true)
    }

    fn check_selection(&self, judges: bool) -> Result<(), SelectionError> {
        match Selection::from_environment()? {
            Some(selection) if self.failures.is_empty() => {
                let suites = self.suites.iter();
                selection.check(suites.map(|(_, suite)| &*suite.suite), judges)
            }
            _ => Ok(()),
        }
    }

    /// The cases of all suites that load, by name.
    #[must_use]
    pub fn cases(&self) -> Vec<PackageCase<'_>> {
        let mut cases = Vec::new();
        for (name, suite) in &self.suites {
            cases.extend(suite.suite.cases().into_iter().map(|case| PackageCase {
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
            subjects.map(|subject| AgentTest::new(name, suite, subject))
        });
        let mut agents: Vec<_> = agents.collect();
        agents.sort_by(|left, right| left.case().cmp(right.case()));
        agents
    }
}

/// A case of a package.
#[derive(Clone)]
pub struct PackageCase<'a> {
    package: &'a str,
    suite_name: &'a str,
    suite: &'a LoadedSuite,
    name: String,
    case: Case,
}

impl std::fmt::Debug for PackageCase<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("PackageCase").field(&self.name).finish()
    }
}

impl PackageCase<'_> {
    /// The case's full name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The full name of the agent's own case; nothing for what stands for no agent.
    #[must_use]
    pub fn agent(&self) -> Option<String> {
        let agent = self.suite.case_name(self.case.kind.subject()?);
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

    /// Whether judging it runs the agent's own code: it is of `playback`, or of a gate that counts the runs for which
    /// `playback` holds.
    #[must_use]
    pub fn runs_code(&self) -> bool {
        let CaseKind::Gate(subject, kind) = self.case.kind else {
            return false;
        };
        let gates = self.suite.gates(subject);
        gates.get(kind).is_some_and(|gate| gate.runs_code(gates))
    }

    /// Why it is listed but not judged.
    #[must_use]
    pub fn ignored(&self) -> Option<&str> {
        self.case.ignored.as_deref()
    }

    /// Why it is left out by its agent's tags, as `MCPTEST_TAGS` asks; nothing where it is selected.
    #[must_use]
    pub fn left_out(&self) -> Option<String> {
        tags::why_left_out(self.suite.agent(self.case.kind.subject()?))
    }

    /// The result of a case that is not judged, and why.
    #[must_use]
    pub fn not_judged(&self, reason: &str) -> CaseResult {
        case_result::ignored_result(self.suite, &self.case, &self.context(), reason)
    }

    /// Judges the case. One that is ignored has no verdict, and its result says why; where `reliability`
    /// counts it, the result has its numbers.
    #[must_use]
    pub fn judge(&self) -> CaseResult {
        let context = self.context();
        if let Some(reason) = &self.case.ignored {
            return case::ignored_result(self.suite, &self.case, &context, reason);
        }
        let verdict = case::verdict(self.suite, &self.case, &context);
        case_result::to_result(&verdict, self.suite, &self.case, &context)
    }

    /// What the numbers of a gate were made of, also where it holds: texts of several lines. Nothing
    /// for a case that is no gate, or whose recordings cannot be used.
    #[must_use]
    pub fn explain(&self) -> Vec<String> {
        let CaseKind::Gate(subject, kind) = self.case.kind else {
            return Vec::new();
        };
        let gate = self.suite.gates(subject).get(kind);
        let (Some(gate), Ok(recorded)) = (gate, self.suite.runs(subject)) else {
            return Vec::new();
        };
        let snapshots = self.suite.snapshots(subject);
        let player = Driver::for_agent(self.suite, subject, Some(recorded))
            .player(self.suite, subject, recorded);
        let input = Input {
            player: player.as_ref().map(|player| player as &dyn Player),
            ..self.suite.input(subject, recorded, &snapshots)
        };
        let evidence = Evidence::tell_words_apart(gate.explain(&input));
        evidence.iter().map(Evidence::to_plain_text).collect()
    }

    fn context(&self) -> Context {
        Context {
            name: self.name.clone(),
            agent: self.agent().unwrap_or_default(),
            suite: self.suite_name.to_owned(),
            ignored: self.case.ignored.is_some(),
            // What a check in Rust would say is not known here, and nothing is said of it.
            checked: false,
            told: false,
            package: self.package.to_owned(),
            style: Style::Plain,
        }
    }
}
