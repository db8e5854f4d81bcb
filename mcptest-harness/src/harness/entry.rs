//! What the code that `#[mcptest::suite]` writes calls.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use mcptest_suite::{Case, LoadError, Style};

use super::agent_runs::{AgentRuns, Verdict};
use super::case;
use super::case_verdict::{CaseOutcome, Context};
use super::discovery::SuiteFile;
use super::functions::{AgentFunction, AgentFunctions};
use super::loaded::LoadedSuite;
use super::recording;
use super::runner::crate_dir;
use crate::record::RecordCommand;
use crate::render::rerun_line;
use crate::result::folder;

/// A failure whose `Debug` is its text, so that the standard test harness prints it as it is.
pub struct Shown(String);

impl fmt::Debug for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The harness writes `Error: ` before it.
        write!(f, "\n{}", self.0)
    }
}

/// A case as the macro names it.
#[derive(Debug, Clone, Copy)]
pub struct MacroCase<'a> {
    /// The crate's folder when it was compiled.
    pub crate_dir: &'a str,
    /// The crate's package.
    pub package: &'a str,
    /// The suite file, relative to the crate.
    pub suite: &'a str,
    /// The suite file, relative to its root.
    pub relative: &'a str,
    /// `module_path!()` of the module that the attribute stands on.
    pub module: &'a str,
    /// The case's name below the suite's.
    pub case: &'a str,
    /// The name of the agent's own case below the suite's.
    pub agent: &'a str,
    /// The async function that is every agent of the suite, where the attribute names one.
    pub function: Option<fn() -> AgentFunction>,
}

type Loaded = Result<Arc<LoadedSuite>, String>;

/// A suite's file, the agent that is read of it where not all are, and the module whose cases read it, with a function
/// that is its agents or without.
#[derive(Clone, PartialEq, Eq, Hash)]
struct LoadKey {
    path: PathBuf,
    agent: Option<String>,
    module: String,
    by_function: bool,
}

impl LoadKey {
    /// Whether what another module has loaded, and made ready, serves here too.
    fn serves(&self, other: &Self) -> bool {
        let same = (&self.path, &self.agent) == (&other.path, &other.agent);
        same && self.by_function == other.by_function
    }
}

/// Suites that this process has loaded, so that the cases of a module share them. Modules with the same suite share
/// its loading and its recording; what they read and say of its runs names the module.
static LOADED: Mutex<Option<HashMap<LoadKey, Loaded>>> = Mutex::new(None);

/// Judges one case.
///
/// # Errors
///
/// The failure text.
pub fn run_case(case: &MacroCase<'_>) -> Result<(), Shown> {
    let (suite, found, context) = find(case)?;
    match case::judge(&suite, &found, &context).map_err(Shown)? {
        // The standard test harness keeps what is printed, and shows it where it is asked to.
        CaseOutcome::Holds(scores) => {
            if let Some(scores) = scores {
                println!("{scores}");
            }
            check_results_written()
        }
        // The standard test harness has no way to ignore a test that runs already.
        CaseOutcome::Elsewhere(reason) => {
            println!("note: {}", mcptest_suite::escape_line(&reason));
            check_results_written()
        }
        CaseOutcome::Undecided(reason) => Err(Shown(undecided_text(&reason, &context))),
    }
}

/// A case that nothing here can decide is no pass.
fn undecided_text(reason: &str, context: &Context) -> String {
    format!(
        "error: not judged: {}\n\nhelp: a test with `mcptest::main!()` lists such a case as ignored; here, write `skip:` in the suite\n\n{}",
        mcptest_suite::escape_line(reason),
        rerun_line(&context.rerun_command())
    )
}

/// Runs a check on the recorded runs of the agent that a case is about.
///
/// # Errors
///
/// The failure text.
pub fn run_check<V: Verdict>(
    case: &MacroCase<'_>,
    check: impl Fn(&AgentRuns) -> V,
) -> Result<(), Shown> {
    let (suite, found, context) = find(case)?;
    // The function's tests stand in a module of its name.
    let name = case.module.rsplit("::").next().unwrap_or_default();
    let judge = |runs: &AgentRuns| check(runs).verdict();
    case::judge_check(&suite, &found, name, &judge, &context).map_err(Shown)?;
    check_results_written()
}

/// A test that holds fails where its process could not write a result that it was asked for.
fn check_results_written() -> Result<(), Shown> {
    folder::write_failure().map_or(Ok(()), |told| Err(Shown(told.to_owned())))
}

/// The suite, the case in it, and the names around it. What the case is judged by is recorded where that
/// was asked for: each test function is one case, and selects it.
fn find(case: &MacroCase<'_>) -> Result<(Arc<LoadedSuite>, Case, Context), Shown> {
    let functions = case.function.map(|function| function().into_functions());
    let functions = functions.unwrap_or_default();
    let recording = recording::requested_recording(None, &functions);
    let recording = recording.map_err(|problem| Shown(format!("error: {problem}")))?;
    let crate_dir = crate_dir(case.crate_dir);
    let elsewhere = recording
        .as_ref()
        .map(|asked| asked.target_folder(&crate_dir));
    let elsewhere = elsewhere.transpose();
    let elsewhere = elsewhere.map_err(|problem| Shown(format!("error: {problem}")))?;
    let loaded = load(
        &crate_dir,
        case,
        &functions,
        recording.is_some(),
        elsewhere.flatten().as_deref(),
    );
    let mut suite = loaded.map_err(Shown)?;
    let Some(found) = suite.find_case(case.case) else {
        return Err(Shown(format!(
            "error: {} has no case `{}` any more\n\nhelp: build the tests again; the suite changed after they were built",
            case.suite, case.case
        )));
    };
    if let Some(recording) = recording {
        for subject in recording::needed_subjects(&suite, &found) {
            recording.record(&suite, subject, None);
        }
        suite = Arc::new(suite.with_new_listing());
    }
    // Within the crate's test binary the crate's own name is not part of a test's name.
    let module = case.module.split_once("::").map_or("", |(_, rest)| rest);
    let full = |name: &str| {
        if module.is_empty() {
            name.to_owned()
        } else {
            format!("{module}::{name}")
        }
    };
    let context = Context {
        name: full(case.case),
        agent: full(case.agent),
        suite: module.to_owned(),
        ignored: found.ignored.is_some(),
        // Which checks there are is not known here; they are functions of their own.
        checked: true,
        told: std::env::args_os().any(|argument| argument == "--show-output"),
        package: case.package.to_owned(),
        style: Style::Plain,
    };
    Ok((suite, found, context))
}

/// Whether one case is run by its exact name, as nextest runs each, so that it is the only one here.
fn is_run_alone() -> bool {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let flag = |argument: &OsString| argument.to_string_lossy().starts_with('-');
    let exact = arguments.iter().any(|argument| argument == "--exact");
    exact && arguments.iter().filter(|argument| !flag(argument)).count() == 1
}

/// `whole`: with all agents, though one alone is run. `elsewhere`: the folder that has its recordings, where that is
/// not the crate's.
fn load(
    crate_dir: &Path,
    case: &MacroCase<'_>,
    functions: &AgentFunctions,
    whole: bool,
    elsewhere: Option<&Path>,
) -> Loaded {
    let path = crate_dir.join(case.suite);
    // Loading a suite cannot leave the map half-changed, so a panic elsewhere does not spoil it.
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let by_path = loaded.get_or_insert_with(HashMap::new);
    let file = SuiteFile {
        path: path.clone(),
        shown: case.suite.to_owned(),
        relative: PathBuf::from(case.relative),
    };
    let (target, module) = case.module.split_once("::").unwrap_or((case.module, ""));
    let command = RecordCommand {
        package: Some(case.package.to_owned()),
        // The tests of a library have its name, and `--test` does not find them.
        target: (target != case.package.replace('-', "_")).then(|| target.to_owned()),
        suite: module.to_owned(),
        own_loop: false,
        program: Vec::new(),
    };
    let agent = case.agent.split("::").next();
    let agent = agent.filter(|agent| !whole && !agent.is_empty() && is_run_alone());
    let part = LoadKey {
        path,
        agent: agent.map(str::to_owned),
        module: case.module.to_owned(),
        by_function: case.function.is_some(),
    };
    if let Some(loaded) = by_path.get(&part) {
        return loaded.clone();
    }
    let shown = |error: LoadError| error.render(Style::Plain);
    let mut others = by_path.iter();
    let other = others.find(|(other, _)| part.serves(other));
    let loaded = match (other, agent) {
        (Some((_, loaded)), _) => loaded.clone().map(|suite| suite.with_unread_runs()),
        (None, Some(agent)) => {
            LoadedSuite::load_agents(crate_dir, &file, |name| name == agent).map_err(shown)
        }
        (None, None) => LoadedSuite::load(crate_dir, &file).map_err(shown),
    };
    let loaded = loaded.map(|suite| {
        let suite = suite.with_record_command(command).with_functions(functions);
        Arc::new(match elsewhere {
            Some(folder) => suite.with_recordings_in(folder),
            None => suite,
        })
    });
    by_path.insert(part, loaded.clone());
    loaded
}
