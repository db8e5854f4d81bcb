//! The runner: every suite below the roots as libtest cases.

use std::collections::HashMap;
use std::fmt;
use std::io::IsTerminal as _;
use std::mem;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use libtest_mimic::{ColorSetting, Trial};
use mcptest_suite::{
    Diagnostic, LoadError, Style, SuitePath, is_reserved, nearest, quoted_list, segment,
};
use mcptest_trace::record::say;

use super::agent_runs::{AgentRuns, Verdict};
use super::arguments::{TestArguments, filtered_trial, process_arguments, threads};
use super::discovery::discover;
use super::functions::AgentFunctions;
use super::loaded::LoadedSuite;
use super::no_case::{NO_CASE, no_case_text};
use super::output;
use super::prepared::{NeededAgent, Prepared};
use super::recording::{self, LiveRecording, Next, Plan};
use super::runner_error::{CheckNameError, RunnerError};
use super::sharding::Sharding;
use super::tags::Selection;
use super::trials::{RustCheck, Settings};
use super::verdicts::Verdicts;
use crate::record::{Live, RecordCommand};
use crate::result::{JudgedShard, folder};

/// The crate's folder: where cargo or nextest says it is now, else where it was compiled.
pub(crate) fn crate_dir(compiled: &str) -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(compiled), PathBuf::from)
}

/// The runner of a `harness = false` test target, built with [`harness!`](crate::harness!).
///
/// ```no_run
/// # use std::process::ExitCode;
/// fn main() -> ExitCode {
///     mcptest::harness!().root("suites").root("more/suites").run()
/// }
/// ```
#[derive(Clone)]
pub struct Harness {
    compiled_in: String,
    package: String,
    target: Option<String>,
    roots: Vec<PathBuf>,
    checks: Vec<(String, RustCheck)>,
    pub(super) own_loop: Option<Arc<dyn Live>>,
    /// What runs every agent, whatever the suites say.
    program: Vec<String>,
    /// Whether each agent with a command has `playback`, whatever the suites say.
    plays: bool,
    /// Whether recordings are only made, and judged by somebody else.
    only_records: bool,
    /// Whether filters that leave no case are an error.
    requires_case: bool,
    /// The agents that are async functions.
    pub(super) functions: AgentFunctions,
}

impl fmt::Debug for Harness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let checks: Vec<&String> = self.checks.iter().map(|(name, _)| name).collect();
        f.debug_struct("Harness")
            .field("compiled_in", &self.compiled_in)
            .field("package", &self.package)
            .field("target", &self.target)
            .field("roots", &self.roots)
            .field("checks", &checks)
            .field("own_loop", &self.own_loop.is_some())
            .field("program", &self.program)
            .field("plays", &self.plays)
            .field("only_records", &self.only_records)
            .field("requires_case", &self.requires_case)
            .field("functions", &self.functions)
            .finish()
    }
}

impl Harness {
    #[doc(hidden)]
    #[must_use]
    pub fn new(compiled_in: &str, package: &str) -> Self {
        Self {
            compiled_in: compiled_in.to_owned(),
            package: package.to_owned(),
            target: None,
            roots: Vec::new(),
            checks: Vec::new(),
            own_loop: None,
            program: Vec::new(),
            plays: false,
            only_records: false,
            requires_case: false,
            functions: AgentFunctions::default(),
        }
    }

    #[doc(hidden)]
    #[must_use]
    pub fn built_as(mut self, target: &str) -> Self {
        self.target = Some(target.to_owned());
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub fn with_functions_elsewhere(mut self) -> Self {
        self.functions.set_elsewhere();
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub fn record_by(mut self, program: Vec<String>) -> Self {
        self.program = program;
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub fn with_playback(mut self) -> Self {
        self.plays = true;
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub fn requiring_case(mut self) -> Self {
        self.requires_case = true;
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub fn only_recording(mut self) -> Self {
        self.only_records = true;
        self
    }

    /// Adds a folder, relative to the crate's, in which suites are looked for. Without any it is
    /// `suites`.
    #[must_use]
    pub fn root(mut self, folder: impl Into<PathBuf>) -> Self {
        self.roots.push(folder.into());
        self
    }

    /// Adds a check of every agent test: one case `<suite>::<agent>::<name>` each, which runs the
    /// closure on the agent's recorded runs. It fails when the closure panics or returns an error.
    ///
    /// ```no_run
    /// # use std::process::ExitCode;
    /// fn main() -> ExitCode {
    ///     mcptest::harness!()
    ///         .check("answers", |runs| {
    ///             runs.each("there is a closing message", |run| {
    ///                 run.trace.closing().map(drop).ok_or("it says nothing")
    ///             })
    ///         })
    ///         .run()
    /// }
    /// ```
    #[must_use]
    pub fn check<V: Verdict>(
        mut self,
        name: &str,
        check: impl Fn(&AgentRuns) -> V + Send + Sync + 'static,
    ) -> Self {
        let check: RustCheck = Arc::new(move |runs| check(runs).verdict());
        self.checks.push((name.to_owned(), check));
        self
    }

    /// Runs the cases that the command line asks for.
    ///
    /// The exit code is libtest's: 0 when nothing failed, 101 when a case failed or the arguments
    /// contradict each other. A flag that nobody knows ends the process with 2.
    #[must_use]
    pub fn run(&self) -> ExitCode {
        self.try_run().unwrap_or_else(|problem| {
            say(&format!("error: {problem}"));
            ExitCode::from(101)
        })
    }

    /// Runs the cases that the command line asks for. An error is about what was asked for.
    fn try_run(&self) -> Result<ExitCode, RunnerError> {
        let of_environment = std::env::var("RUST_TEST_THREADS").ok();
        let asked = TestArguments::read(process_arguments()?, of_environment.as_deref())?;
        self.check_names()?;
        self.functions.check(self.own_loop.is_some())?;
        let style = output_style(asked.arguments.color, asked.arguments.logfile.is_some());
        // A list is made without recording anything.
        let recording = if asked.arguments.list {
            None
        } else {
            recording::requested_recording(self.own_loop.as_ref(), &self.functions)?
        };
        let prepared = self.prepare(&asked, Selection::from_environment()?, recording.as_ref())?;
        prepared.check_selection(&asked)?;
        // Of single cases not every suite is loaded.
        if recording.is_some() || !asked.arguments.exact {
            prepared.check_functions(&self.functions)?;
        }
        let verdicts = Verdicts::default();
        let run = Settings {
            package: &self.package,
            style,
            checks: &self.checks,
            verdicts: &verdicts,
        };
        let made = prepared.trials(&asked, &run);
        let is_load = |name: &str| prepared.is_failure(name);
        let mut chosen = asked.select(&made, is_load);
        let refuses = self.requires_case && asked.has_filters() && !asked.arguments.list;
        if refuses && !chosen.contains(&true) {
            return self.refuse_filters(&asked, &run);
        }
        let sharding = asked.shard.map(|shard| Sharding {
            shard,
            placed: prepared.shard_names(&self.checks),
            records: recording.is_some(),
        });
        let all_chosen = sharding
            .as_ref()
            .map(|sharding| sharding.narrow(&made, &mut chosen));
        let judged = sharding.as_ref().map(|sharding| {
            let suites = prepared.digest();
            let cases = chosen.iter().filter(|chosen| **chosen).count();
            JudgedShard::new(&self.package, sharding.shard, suites, cases)
        });
        if let Some(judged) = judged.as_ref().filter(|_| !asked.arguments.list) {
            folder::write_requested_shard(|folder| judged.begin(folder));
        }
        let arguments = asked.to_libtest();
        let trials = || {
            let trials = made.iter().zip(&chosen);
            let trials = trials.map(|(trial, chosen)| match chosen {
                true => verdicts.duplicate(trial),
                false => filtered_trial(),
            });
            trials.collect::<Vec<_>>()
        };
        let names = output::wanted_names(&arguments, &trials());
        if let Some(recording) = &recording {
            prepared.guard_recording(recording);
            let needed = match (&sharding, &all_chosen) {
                (Some(sharding), Some(all)) => {
                    sharding.share(prepared.needed_agents(all, &asked, &self.checks))
                }
                _ => prepared.needed_agents(&names, &asked, &self.checks),
            };
            let threads = threads(&arguments, needed.len());
            if let Some(ended) = self.record_agents(recording, &needed, threads) {
                return Ok(ended);
            }
        }
        if arguments.list {
            // The process ends with the list: nothing is taken apart for it.
            mem::forget(prepared);
        } else {
            // From here on a suite is held by its cases alone: its runs go with the last of them.
            drop(prepared);
        }
        if let Some(judged) = sharding.as_ref().filter(|_| names.is_empty()) {
            mcptest_trace::record::say(&judged.without_case(made.len()));
        }
        let exit_code = output::run(&arguments, &verdicts, &names, trials);
        let untested = recording.and_then(|recording| recording.untested_line(&self.program));
        if let Some(line) = untested {
            say(&line);
        }
        if let Some(judged) = judged.as_ref().filter(|_| !arguments.list) {
            folder::write_requested_shard(|folder| judged.end(folder));
        }
        // What a process was asked to write and did not write is no success of it.
        Ok(folder::write_failure().map_or(exit_code, |_| ExitCode::from(101)))
    }

    /// Says that no case fits the filters, with the nearest names of all.
    fn refuse_filters(
        &self,
        asked: &TestArguments,
        run: &Settings<'_>,
    ) -> Result<ExitCode, RunnerError> {
        let all = asked.without_filters();
        let prepared = self.prepare(&all, Selection::from_environment()?, None)?;
        let trials = prepared.trials(&all, run);
        let names: Vec<&str> = trials.iter().map(Trial::name).collect();
        say(&format!("error: {}", no_case_text(asked, &names)));
        Ok(ExitCode::from(NO_CASE))
    }

    /// Records what is to be recorded of some agents; how everything ends, where nothing is judged.
    fn record_agents(
        &self,
        recording: &LiveRecording,
        needed: &[NeededAgent<'_>],
        threads: usize,
    ) -> Option<ExitCode> {
        let failed = |text: &str| {
            say(text);
            Some(ExitCode::from(101))
        };
        let planned = map_on_threads(threads, needed.len(), |index| {
            let NeededAgent { suite, subject, .. } = needed[index];
            (suite, subject, recording.plan(suite, subject))
        });
        match recording.announce(&planned) {
            Err(text) => return failed(&text),
            Ok(Next::Nothing) => return Some(ExitCode::SUCCESS),
            Ok(Next::Record) => {}
        }
        let plans = planned.into_iter().map(|(.., plan)| Mutex::new(Some(plan)));
        let plans: Vec<Mutex<Option<Plan>>> = plans.collect();
        map_on_threads(threads, needed.len(), |index| {
            let NeededAgent { suite, subject, .. } = needed[index];
            let plan = plans[index]
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            recording.record(suite, subject, plan);
        });
        if !self.only_records {
            return None;
        }
        let unrecorded = needed
            .iter()
            .filter_map(|agent| recording.unrecorded(agent.suite, agent.subject));
        let unrecorded: Vec<String> = unrecorded.collect();
        if unrecorded.is_empty() {
            Some(ExitCode::SUCCESS)
        } else {
            failed(&unrecorded.join("\n\n"))
        }
    }

    /// Where checks are registered, one that a suite names must be among them.
    fn check_known_checks(&self, suite: LoadedSuite) -> Result<LoadedSuite, LoadError> {
        let known = || self.checks.iter().map(|(name, _)| name.as_str());
        let named = suite.suite.agents.iter().flat_map(|agent| &agent.checks);
        let unknown = named.filter(|check| known().all(|name| name != check.name.value));
        let problems = unknown.map(|check| {
            let message = format!("no check `{}` is registered in this test", check.name.value);
            Diagnostic::at(check.name.span, message).help(
                match nearest(&check.name.value, known()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("registered: {}", quoted_list(known())),
                },
            )
        });
        let problems: Vec<_> = problems.collect();
        if self.checks.is_empty() || problems.is_empty() {
            return Ok(suite);
        }
        Err(LoadError::new(suite.source().clone(), problems))
    }

    /// A check's name is a segment of a case name: an identifier that is not taken.
    fn check_names(&self) -> Result<(), CheckNameError> {
        for (index, (name, _)) in self.checks.iter().enumerate() {
            let (name, near) = (name.clone(), segment(name));
            if near.as_ref() != Some(&name) {
                return Err(CheckNameError::NoIdentifier { name, near });
            }
            if is_reserved(&name) {
                return Err(CheckNameError::Reserved { name });
            }
            if self.checks[..index]
                .iter()
                .any(|(earlier, _)| *earlier == name)
            {
                return Err(CheckNameError::Twice { name });
            }
        }
        Ok(())
    }

    /// Finds and loads what the arguments need.
    fn prepare(
        &self,
        asked: &TestArguments,
        selection: Option<Selection>,
        recording: Option<&LiveRecording>,
    ) -> Result<Prepared, RunnerError> {
        let crate_dir = crate_dir(&self.compiled_in);
        let elsewhere = recording.map(|recording| recording.target_folder(&crate_dir));
        let elsewhere = elsewhere.transpose()?.flatten();
        let default = [PathBuf::from("suites")];
        let roots = if self.roots.is_empty() {
            &default[..]
        } else {
            &self.roots
        };
        let found = discover(&crate_dir, roots);
        // Which tags there are is known when every suite is.
        let all = selection.is_some() || recording.is_some();
        let mut prepared = Prepared::new(selection);
        for (name, text) in found.problems {
            prepared.add_failure(name, text);
        }
        let names: HashMap<String, String> = found
            .suites
            .iter()
            .map(|(name, file)| (name.to_string(), file.shown.clone()))
            .collect();
        // Before anything is spent, every suite must load.
        let needed = |path: &SuitePath| all || asked.needs_suite(|name| path.may_contain(name));
        let needed = found.suites.into_iter().filter(|(path, _)| needed(path));
        let (paths, files): (Vec<_>, Vec<_>) = needed.unzip();
        let load = |index: usize| {
            let (agents, file) = (asked.agents_below(&paths[index]), &files[index]);
            match agents.filter(|_| !all) {
                Some(agents) => {
                    LoadedSuite::load_agents(&crate_dir, file, |name| agents.contains(name))
                }
                None => LoadedSuite::load(&crate_dir, file),
            }
        };
        let loaded = map_on_threads(threads(&asked.arguments, files.len()), files.len(), load);
        for (path, loaded) in paths.into_iter().zip(loaded) {
            let command = RecordCommand {
                package: Some(self.package.clone()),
                target: self.target.clone(),
                suite: path.to_string(),
                own_loop: self.own_loop.is_some(),
                program: Vec::new(),
            };
            let loaded = loaded.and_then(|suite| {
                let suite = suite.with_record_command(command);
                self.functions.check_suite(&suite.suite)?;
                Ok(suite.with_functions(&self.functions))
            });
            let loaded = match self.program.as_slice() {
                [] => loaded,
                program => loaded.map(|suite| suite.with_program(program)),
            };
            let loaded = if self.plays {
                loaded.map(LoadedSuite::with_playback)
            } else {
                loaded
            };
            let loaded = match &elsewhere {
                Some(folder) => loaded.map(|suite| suite.with_recordings_in(folder)),
                None => loaded,
            };
            match loaded.and_then(|suite| self.check_known_checks(suite)) {
                Ok(suite) => prepared.add_suite(path, suite, &names, &self.checks),
                Err(error) => prepared.add_load_error(&path, error),
            }
        }
        Ok(prepared)
    }
}

/// Does this many pieces of work on so many threads; what each gives, in order.
fn map_on_threads<T: Send + Sync>(
    threads: usize,
    pieces: usize,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let done: Vec<_> = (0..pieces).map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let take = || {
        while let Some((index, place)) = Some(next.fetch_add(1, Ordering::SeqCst))
            .and_then(|index| Some((index, done.get(index)?)))
        {
            place.get_or_init(|| work(index));
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(take);
        }
        take();
    });
    done.into_iter().filter_map(OnceLock::into_inner).collect()
}

/// Colour only on a terminal, unless the command line says otherwise.
fn output_style(asked: Option<ColorSetting>, to_file: bool) -> Style {
    let colour = match asked.unwrap_or_default() {
        ColorSetting::Always => true,
        ColorSetting::Never => false,
        ColorSetting::Auto => {
            let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            !unwanted && !to_file && std::io::stdout().is_terminal()
        }
    };
    if colour { Style::Colour } else { Style::Plain }
}
