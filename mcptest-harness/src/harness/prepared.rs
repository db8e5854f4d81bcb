//! The suites of a run, loaded, and what does not load: everything that becomes a test case.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use libtest_mimic::Trial;
use mcptest_suite::model::Agent;
use mcptest_suite::{
    Case, CaseKind, Diagnostic, LOAD, LoadError, Subject, SuitePath, UNSUPPORTED, portable_path,
};

use super::arguments::TestArguments;
use super::functions::{AgentFunctions, FunctionError};
use super::loaded::LoadedSuite;
use super::recording::{LiveRecording, needed_subjects};
use super::tags::{Selection, SelectionError};
use super::trials::{RustCheck, Settings, check_trial, trial};
use crate::record::rerun_command;
use crate::render::rerun_line;
use crate::result::{CaseResult, digest, folder};

/// What is to be run.
#[derive(Default)]
pub(super) struct Prepared {
    suites: Vec<(SuitePath, Arc<LoadedSuite>, Vec<Named>)>,
    /// Case name and problem of each suite that does not load.
    failures: BTreeMap<String, Vec<LoadProblem>>,
    /// The suite that has a case, as its place in the list, by the case's full name.
    taken: HashMap<Arc<str>, usize>,
    /// The agents that are asked for, where not all are.
    selection: Option<Selection>,
}

/// An agent whose runs are needed.
pub(super) struct NeededAgent<'a> {
    path: &'a SuitePath,
    pub(super) suite: &'a LoadedSuite,
    pub(super) subject: Subject,
}

impl NeededAgent<'_> {
    /// The full name of the agent's own case.
    pub(super) fn case(&self) -> String {
        format!("{}::{}", self.path, self.suite.case_name(self.subject))
    }

    /// How many runs it has.
    #[cfg(feature = "session")]
    pub(super) fn runs(&self) -> u64 {
        self.suite.agent(self.subject).runs.value as u64
    }
}

/// Where a case belongs.
pub(super) struct ShardPlace {
    /// The name by which the case is put into a shard.
    pub(super) name: Arc<str>,
    /// Whether it judges all agents of its suite.
    pub(super) of_all: bool,
}

/// A case with its full name.
type Named = (Arc<str>, Case);

/// Why a suite does not load.
enum LoadProblem {
    Text(String),
    Load(LoadError),
}

impl Prepared {
    pub(super) fn new(selection: Option<Selection>) -> Self {
        Self {
            selection,
            ..Self::default()
        }
    }

    /// What is selected can be, as far as the suites load.
    pub(super) fn check_selection(&self, asked: &TestArguments) -> Result<(), SelectionError> {
        let Some(selection) = self.selection.as_ref().filter(|_| self.failures.is_empty()) else {
            return Ok(());
        };
        let suites = self.suites.iter().map(|(_, suite, _)| &*suite.suite);
        selection.check(suites, !asked.runs_ignored())
    }

    /// Each function is an agent that some suite has, as far as the suites load.
    pub(super) fn check_functions(&self, functions: &AgentFunctions) -> Result<(), FunctionError> {
        if self.failures.is_empty() {
            functions.check_names(self.agents())
        } else {
            Ok(())
        }
    }

    fn agents(&self) -> impl Iterator<Item = &Agent> + Clone {
        let suites = self.suites.iter();
        suites.flat_map(|(_, suite, _)| &suite.suite.agents)
    }

    /// Whether a name is that of a suite that does not load.
    pub(super) fn is_failure(&self, name: &str) -> bool {
        self.failures.contains_key(name)
    }

    pub(super) fn add_failure(&mut self, case: String, text: String) {
        self.failures
            .entry(case)
            .or_default()
            .push(LoadProblem::Text(text));
    }

    pub(super) fn add_load_error(&mut self, path: &SuitePath, error: LoadError) {
        let case = format!("{path}::{LOAD}");
        self.failures
            .entry(case)
            .or_default()
            .push(LoadProblem::Load(error));
    }

    /// Nothing is recorded while a suite does not load, or where one recording would take the place
    /// of another.
    pub(super) fn guard_recording(&self, recording: &LiveRecording) {
        if let Some(case) = self.failures.keys().next() {
            return recording.refuse_all(format!(
                "no run is recorded while a suite does not load; see `{case}`"
            ));
        }
        let mut places = HashMap::new();
        for (path, suite, _) in &self.suites {
            for place in suite.recording_places() {
                if let Some(other) = places.insert(place.clone(), path) {
                    return recording.refuse_all(format!(
                        "{other} and {path} both have an agent whose recordings are {}; rename one of the two, or give one a `cassette:`",
                        portable_path(&place)
                    ));
                }
            }
        }
    }

    /// Takes a suite in, unless one of its names is taken already.
    pub(super) fn add_suite(
        &mut self,
        path: SuitePath,
        suite: LoadedSuite,
        suites: &HashMap<String, String>,
        checks: &[(String, RustCheck)],
    ) {
        let mut cases = suite.suite.cases();
        // A registered check has cases of its own in place of the ignored one.
        let registered = |name: &str| {
            let last = name
                .rsplit_once(&format!("::{UNSUPPORTED}::"))
                .map(|(_, last)| last);
            last.is_some_and(|last| checks.iter().any(|(check, _)| check == last))
        };
        cases.retain(|case| case.kind != CaseKind::Unsupported || !registered(&case.name));
        let named = |case: Case| (format!("{path}::{}", case.name).into(), case);
        let cases: Vec<Named> = cases.into_iter().map(named).collect();
        let clashes = cases.iter().filter_map(|(name, case)| {
            let other = self
                .taken
                .get(name)
                .map(|other| self.suites[*other].1.source().display_path());
            let other = other.or_else(|| suites.get(&**name).map(String::as_str))?;
            let subject = case.kind.subject();
            let span = subject.map(|subject| suite.agent(subject).name.span);
            let span = span.unwrap_or_default();
            let problem = Diagnostic::new(format!("the name `{name}` is taken by {other}"))
                .label(span, format!("its case would be `{name}`"))
                .help("rename this agent, or move one of the two suites");
            Some(problem)
        });
        let clashes: Vec<_> = clashes.collect();
        if !clashes.is_empty() {
            return self.add_load_error(&path, LoadError::new(suite.source().clone(), clashes));
        }
        let place = self.suites.len();
        let of_this = cases.iter().map(|(name, _)| (Arc::clone(name), place));
        self.taken.extend(of_this);
        self.suites.push((path, Arc::new(suite), cases));
    }

    /// Why an agent is not asked for, if it is not.
    fn why_left_out(&self, suite: &LoadedSuite, subject: Subject) -> Option<String> {
        let selection = self.selection.as_ref()?;
        selection.why_left_out(suite.agent(subject))
    }

    /// The agents whose runs the cases of these names are judged by, each once.
    pub(super) fn needed_agents(
        &self,
        names: &[String],
        asked: &TestArguments,
        checks: &[(String, RustCheck)],
    ) -> Vec<NeededAgent<'_>> {
        let names: HashSet<&str> = names.iter().map(String::as_str).collect();
        let mut all = Vec::new();
        for (path, suite, cases) in &self.suites {
            let judged = cases.iter().filter(|(full, case)| {
                let run = case.ignored.is_none() || asked.runs_ignored();
                run && trial_names(full, case, checks).any(|name| names.contains(&*name))
            });
            let mut seen = HashSet::new();
            let subjects = judged.flat_map(|(_, case)| needed_subjects(suite, case));
            let subjects = subjects.filter(|subject| self.why_left_out(suite, *subject).is_none());
            let once = subjects.filter(|subject| seen.insert(*subject));
            all.extend(once.map(|subject| NeededAgent {
                path,
                suite,
                subject,
            }));
        }
        all
    }

    /// What a case is put into a shard by: the full name of its agent's own case, or its own where it is about no agent.
    /// The cases are those of the suites that load; the others are in every shard.
    pub(super) fn shard_names(
        &self,
        checks: &[(String, RustCheck)],
    ) -> HashMap<Arc<str>, ShardPlace> {
        let mut placed = HashMap::new();
        for (path, suite, cases) in &self.suites {
            for (full, case) in cases {
                let subject = case.kind.subject();
                let name: Arc<str> = match subject {
                    Some(subject) => format!("{path}::{}", suite.case_name(subject)).into(),
                    None => Arc::clone(full),
                };
                for trial in trial_names(full, case, checks) {
                    let (name, of_all) =
                        (Arc::clone(&name), case.kind == CaseKind::SuiteRegression);
                    placed.insert(trial, ShardPlace { name, of_all });
                }
            }
        }
        placed
    }

    /// The digest of all suites, and of which do not load.
    pub(super) fn digest(&self) -> String {
        let texts = self.suites.iter().map(|(path, suite, _)| {
            let source = suite.source();
            format!("{path} {}\n", digest(source.text()))
        });
        let failures = self.failures.keys().map(|case| format!("{case}\n"));
        let mut lines: Vec<String> = texts.chain(failures).collect();
        lines.sort_unstable();
        digest(&lines.concat())
    }

    /// Every case, sorted by name.
    pub(super) fn trials(&self, asked: &TestArguments, run: &Settings<'_>) -> Vec<Trial> {
        let mut trials = Vec::new();
        for (path, suite, cases) in &self.suites {
            let mut held = HashMap::new();
            for (full, case) in cases {
                let subject = case.kind.subject();
                if let Some(reason) = subject.and_then(|subject| self.why_left_out(suite, subject))
                {
                    for name in trial_names(full, case, run.checks) {
                        trials.push(run.ignored_trial(&name, &reason, asked));
                    }
                    continue;
                }
                // Runs are held by the cases of their agent alone.
                let made = || {
                    Arc::new(
                        subject.map_or_else(|| suite.for_all_agents(), |it| suite.for_agent(it)),
                    )
                };
                let suite = if asked.arguments.list {
                    suite
                } else {
                    held.entry(subject).or_insert_with(made)
                };
                trials.push(trial(path, full, suite, case, asked, run));
                for (name, check) in run.checks {
                    trials.extend(check_trial(path, suite, case, asked, run, name, check));
                }
            }
        }
        for (case, problems) in &self.failures {
            let drawn = problems.iter().map(|problem| match problem {
                LoadProblem::Text(text) => text.clone(),
                LoadProblem::Load(error) => error.render(run.style),
            });
            let rerun = rerun_line(&rerun_command(run.package, case, false));
            let text = drawn.chain([rerun]).collect::<Vec<_>>().join("\n\n");
            let (package, name) = (run.package.to_owned(), case.clone());
            // A suite that does not load is shown under `--ignored` too.
            let shown_anyway = asked.arguments.ignored && !asked.arguments.list;
            let trial = run.verdicts.trial(case, move || {
                folder::write_requested(|| CaseResult::refused(&package, &name, &text));
                Err(text)
            });
            trials.push(trial.with_ignored_flag(shown_anyway));
        }
        trials.sort_by(|left, right| left.name().cmp(right.name()));
        trials
    }
}

/// The names of a case's trials: its own, and those of the checks on an agent test.
fn trial_names(
    full: &Arc<str>,
    case: &Case,
    checks: &[(String, RustCheck)],
) -> impl Iterator<Item = Arc<str>> {
    let checks = checks
        .iter()
        .filter(|_| matches!(case.kind, CaseKind::Agent(_)));
    let names = checks.map(move |(check, _)| format!("{full}::{check}").into());
    names.chain([Arc::clone(full)])
}
