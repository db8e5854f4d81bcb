//! The stage that makes runs ready, where the environment asks for it: the runs of the cases that were
//! selected are recorded before any case is judged. What goes wrong is left with the suite, whose
//! cases fail with it; judging knows nothing of this.
//!
//! - `plan`: what is to be recorded of an agent, found out before anything is spent; `work`: what that may be;
//! - `changed`: the runs that are not what the agent's code does now;
//! - `cost`: what recording will cost, as the runs that are there did;
//! - `announcement`: what is said of it, and what then stops everything;
//! - `session`: the runs of one agent; `partial`: some of them alone; `tools`: what they were offered;
//! - `redaction`: what must not get into them;
//! - `prompt_date`: a date in the prompt, which is another one tomorrow;
//! - `redaction_counts`: how much of it was a secret;
//! - `own_driver`: what only an agent's own code records;
//! - `unplayed`: what recordings alone do not test;
//! - `own_loop`: who answers where the built-in agent does not; an agent with `command:` is run by that.

mod announcement;
mod changed;
mod cost;
mod own_driver;
mod own_loop;
mod partial;
mod plan;
mod prompt_date;
mod redaction;
mod redaction_counts;
mod session;
#[cfg(test)]
mod tests;
mod tools;
mod unplayed;
mod work;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock};

use mcptest_suite::model::{Agent, Suite};
use mcptest_suite::{Case, CaseKind, Diagnostic, Subject};
use mcptest_trace::record::say;
use mcptest_trace::record::store::{Lock, Store, StoreError};
use regex::Regex;

use super::functions::AgentFunctions;
use super::loaded::LoadedSuite;
use super::lookup::RunLookup;
use super::regression::is_compared;
use super::runs::{self, SuitePlace};
use super::verdicts::panic_text;
use crate::eval::{FaultPlan, PlaybackOptions};
use crate::record::{Live, LiveError, Mode, RecordRequest, RecordRequestError};
use crate::render::{Evidence, Failure, Finding};
use crate::trace::{Layout, Run};

pub(crate) use announcement::Next;
pub(crate) use own_loop::OwnLoop;
pub(crate) use plan::Plan;
use session::RecordingSession;
use unplayed::UnplayedAgents;
use work::Work;

/// What a recorded run says of what was asked of the agent, and of the tools it was offered.
const REQUEST: &str = "request_fingerprint";
const TOOLS: &str = "tools_fingerprint";

/// The variable under which nextest tells its processes that they belong together.
const TOGETHER: &str = "NEXTEST_RUN_ID";

/// Recording live, as it was asked for.
pub(crate) struct LiveRecording {
    asked: RecordRequest,
    live: Arc<dyn Live>,
    /// What runs agents that are commands.
    commands: Arc<dyn Live>,
    /// The agents that are functions.
    functions: AgentFunctions,
    /// Whether agents without code of their own are a loop of one's own.
    has_own_loop: bool,
    /// Why nothing may be spent.
    refused: OnceLock<String>,
    /// How many played runs are kept for the cases that ask for them.
    kept: AtomicUsize,
    /// The agents that were recorded, and whose code the suites do not test.
    unplayed: UnplayedAgents,
}

/// What the environment asks to record, with the loop of one's own if there is one.
pub(crate) fn requested_recording(
    own_loop: Option<&Arc<dyn Live>>,
    functions: &AgentFunctions,
) -> Result<Option<LiveRecording>, RecordRequestError> {
    let Some(asked) = crate::record::read_record_request()? else {
        return Ok(None);
    };
    if asked.dry_run && shared_notes().0.is_some() {
        return Err(RecordRequestError::DryRunInNextest);
    }
    let live = own_loop.map_or_else(built_in, Arc::clone);
    Ok(Some(LiveRecording {
        asked,
        live,
        has_own_loop: own_loop.is_some(),
        commands: commands(),
        functions: functions.clone(),
        refused: OnceLock::new(),
        kept: AtomicUsize::new(0),
        unplayed: UnplayedAgents::default(),
    }))
}

#[cfg(feature = "session")]
fn built_in() -> Arc<dyn Live> {
    Arc::new(crate::record::built_in::BuiltIn)
}

#[cfg(not(feature = "session"))]
fn built_in() -> Arc<dyn Live> {
    Arc::new(own_loop::NotBuilt)
}

#[cfg(feature = "session")]
fn commands() -> Arc<dyn Live> {
    Arc::new(crate::record::command::Commands)
}

#[cfg(not(feature = "session"))]
fn commands() -> Arc<dyn Live> {
    Arc::new(own_loop::NotBuilt)
}

/// What is recorded: an agent with a model, at its place.
#[derive(Clone, Copy)]
struct ToRecord<'a> {
    suite: &'a Suite,
    agent: &'a Agent,
    model: usize,
    /// The faults that are injected.
    faults: &'a FaultPlan,
    /// What `redact:` says.
    redact: &'a [Regex],
    /// How its runs are played, where the suite asks for that.
    playback: Option<&'a PlaybackOptions>,
    /// Where its runs are put.
    place: &'a SuitePlace<'a>,
    /// Where the suite has its runs, which may be somewhere else.
    own_place: &'a SuitePlace<'a>,
    /// What runs were recorded with and the suite no longer says.
    stale: &'a dyn Fn(&[Run]) -> Vec<Finding>,
}

impl<'a> ToRecord<'a> {
    fn lookup(&self) -> RunLookup<'a> {
        self.place.lookup(self.suite, self.agent, self.model)
    }

    /// What is looked for among the suite's own recordings, wherever new ones are put.
    fn own_lookup(&self) -> RunLookup<'a> {
        self.own_place.lookup(self.suite, self.agent, self.model)
    }
}

impl LiveRecording {
    /// What runs an agent: one driver each.
    fn driver(&self, agent: &Agent) -> &dyn Live {
        if agent.command.is_some() {
            return &*self.commands;
        }
        self.functions
            .for_agent(agent)
            .map_or(&*self.live, |own| &**own)
    }

    /// Whether an agent has code of its own: a program, or a function.
    fn has_own_code(&self, agent: &Agent) -> bool {
        agent.command.is_some() || self.functions.for_agent(agent).is_some()
    }

    /// From now on nothing is recorded, for a reason.
    pub(crate) fn refuse_all(&self, why: String) {
        self.refused.get_or_init(|| why);
    }

    /// The folder that gets the recordings of a package, where that is not the package's own.
    pub(crate) fn target_folder(
        &self,
        package: &Path,
    ) -> Result<Option<PathBuf>, RecordRequestError> {
        let Some(into) = &self.asked.into else {
            return Ok(None);
        };
        let folder = package.join(into);
        let real = |path: &Path| path.canonicalize().ok();
        if folder.is_file() {
            let folder = into.clone();
            return Err(RecordRequestError::IntoFile { folder });
        }
        if real(&folder).is_some_and(|folder| Some(folder) == real(package)) {
            return Err(RecordRequestError::IntoPackage);
        }
        Ok(Some(folder))
    }

    /// What the runs that were recorded do not test, in one line. `program`: what runs every agent, if a person named it
    /// beside the suites.
    pub(crate) fn untested_line(&self, program: &[String]) -> Option<String> {
        self.unplayed.line(program)
    }

    /// Records what is to be recorded of an agent, once: what a plan says, or what is found now.
    pub(crate) fn record(&self, suite: &LoadedSuite, subject: Subject, plan: Option<Plan>) {
        suite.make_ready(subject, || {
            let agent = suite.agent(subject);
            let find = || self.plan(suite, subject);
            let ensure = || {
                let plan = match plan {
                    Some(plan) => plan,
                    None => self.announce_alone(suite, subject, find())?,
                };
                with_subject(suite, subject, |asked| self.record_plan(asked, plan, &find))
            };
            // The cases of other agents are judged all the same.
            catch_unwind(AssertUnwindSafe(ensure)).unwrap_or_else(|panic| {
                let error = LiveError::new("the recording panicked");
                let said = panic_text(&*panic).unwrap_or_default();
                Err(to_failure(agent, error.show(said)))
            })
        });
    }

    /// Records what a plan says; when that is nothing, does nothing. Whether all runs that are there now are new.
    fn record_plan(
        &self,
        subject: ToRecord<'_>,
        plan: Plan,
        find: &dyn Fn() -> Plan,
    ) -> Result<bool, Failure> {
        let ToRecord { agent, place, .. } = subject;
        let wanted = subject.lookup();
        match plan.work {
            Work::Nothing => return Ok(false),
            Work::Fails(failure) | Work::Stops(failure) => return Err(failure),
            Work::Missing(_) if is_complete(agent, &wanted) => return Ok(false),
            _ => {}
        }
        let stored = |error: StoreError| store_failure(agent, place, &error);
        let (layout, mut lock) = lock(agent, &wanted, place, &stored)?;
        let store = open_store(agent, &layout).map_err(stored)?;
        let (done, failed) = shared_notes();
        let note = lock.read_note().map_err(stored)?;
        if note.is_some() && note == failed {
            let problem = "not recorded: the recording failed in another case of this run";
            return Err(to_failure(
                agent,
                LiveError::new(problem).help("see the agent's own case"),
            ));
        }
        if self.asked.mode != Mode::Missing && note.is_some() && note == done {
            return Ok(false);
        }
        let session = RecordingSession {
            recording: self,
            subject,
            store: &store,
            stored: &stored,
        };
        let plan = match self.asked.mode {
            Mode::Changed => {
                store.finish_interrupted().map_err(stored)?;
                // Another process may have recorded in the meantime.
                if plan.is_current(&subject) {
                    plan
                } else {
                    find()
                }
            }
            Mode::Missing | Mode::All => plan,
        };
        let recorded = match plan.work {
            Work::Nothing => return Ok(false),
            Work::Fails(failure) | Work::Stops(failure) => return Err(failure),
            Work::Missing(_) => session.add_missing(),
            Work::All { left, .. } => session.record_all(left.as_deref()),
            Work::Some { places, chosen, .. } => session.replace_runs(&places, chosen),
        };
        let note = if recorded.is_ok() { done } else { failed };
        if let Some(note) = note {
            lock.write_note(&note).map_err(stored)?;
        }
        recorded
    }
}

/// Does something with what is recorded of an agent.
fn with_subject<T>(
    suite: &LoadedSuite,
    subject: Subject,
    run: impl FnOnce(ToRecord<'_>) -> T,
) -> T {
    let command = suite.record_line(subject);
    // What is recorded now was not there before.
    let (near, own_near) = (OnceLock::new(), OnceLock::new());
    run(ToRecord {
        suite: &suite.suite,
        agent: suite.agent(subject),
        model: subject.model,
        faults: &suite.gates(subject).fault_plan(),
        redact: suite.redact_patterns(),
        playback: suite.gates(subject).playback_options(),
        place: &suite.suite_place(&command, &near),
        own_place: &suite.own_suite_place(&command, &own_near),
        stale: &|runs| suite.stale(subject, &command).findings(runs),
    })
}

/// The runs of an agent on disk.
fn open_store(agent: &Agent, layout: &Layout) -> Result<Store, StoreError> {
    match &agent.cassette {
        Some(_) => Store::pinned(layout),
        None => Store::new(layout),
    }
}

/// The agents whose runs a case is judged by.
pub(crate) fn needed_subjects(suite: &LoadedSuite, case: &Case) -> Vec<Subject> {
    if case.kind != CaseKind::SuiteRegression {
        return case.kind.subject().into_iter().collect();
    }
    let cases = suite.suite.cases().into_iter();
    let judged = cases.filter_map(|case| match case.kind {
        CaseKind::Agent(subject) if case.ignored.is_none() => Some(subject),
        _ => None,
    });
    judged
        .filter(|subject| is_compared(suite, *subject))
        .collect()
}

/// What the processes of one nextest run tell each other: that an agent is recorded, that its
/// recording failed. Each of them would pay for it again.
fn shared_notes() -> (Option<String>, Option<String>) {
    match std::env::var(TOGETHER) {
        Ok(run) if !run.is_empty() => (
            Some(format!("{TOGETHER}={run} recorded")),
            Some(format!("{TOGETHER}={run} failed")),
        ),
        _ => (None, None),
    }
}

/// Whether as many runs are there as are declared, and nothing was interrupted. Looks, and writes
/// nothing.
fn is_complete(agent: &Agent, wanted: &RunLookup<'_>) -> bool {
    let there = wanted.files().is_ok_and(|files| {
        let lines = |path: &std::path::Path| {
            let text = std::fs::read(path).unwrap_or_default();
            let lines = text.split(|byte| *byte == b'\n');
            lines.filter(|line| !line.trim_ascii().is_empty()).count()
        };
        let count: usize = files
            .iter()
            .map(|(path, _)| match path.extension() {
                Some(extension) if extension == "jsonl" => lines(path),
                _ => 1,
            })
            .sum();
        count >= agent.runs.value
    });
    let interrupted = || {
        let layout = wanted.layout(agent.runs.value).ok();
        layout.is_some_and(|layout| Store::new(&layout).is_ok_and(|store| store.is_interrupted()))
    };
    there && !interrupted()
}

/// The place of an agent's recordings, and the lock on it.
fn lock(
    agent: &Agent,
    wanted: &RunLookup<'_>,
    place: &SuitePlace<'_>,
    stored: &dyn Fn(StoreError) -> Failure,
) -> Result<(Layout, Lock), Failure> {
    let layout = || {
        let layout = wanted.layout(agent.runs.value);
        let layout = layout.map_err(|error| runs::place_problem(agent, error, place.command))?;
        place
            .check_target_folder(agent, &layout)
            .map_err(|error| to_failure(agent, error))?;
        Ok::<_, Failure>(layout)
    };
    let mut found = layout()?;
    loop {
        let waiting = || {
            say(&format!(
                "waiting: another process records `{}`",
                agent.name.value
            ));
        };
        let lock = Lock::acquire(&found, waiting).map_err(stored)?;
        // Another process may have recorded in the meantime, into another place.
        let now = layout()?;
        if now == found {
            return Ok((found, lock));
        }
        found = now;
    }
}

fn store_failure(agent: &Agent, place: &SuitePlace<'_>, error: &StoreError) -> Failure {
    // Paths are shown from the crate's folder.
    let folder = format!("{}{}", place.crate_dir.display(), std::path::MAIN_SEPARATOR);
    let short = |text: String| text.replace(&folder, "");
    to_failure(
        agent,
        LiveError::new(format!(
            "the recordings of `{}` cannot be saved: {}",
            agent.name.value,
            short(error.problem())
        ))
        .help(short(error.help())),
    )
}

/// An error as a failure of the agent's case.
fn to_failure(agent: &Agent, error: LiveError) -> Failure {
    let span = error.at.unwrap_or(agent.name.span);
    let mut problem = Diagnostic::new(error.problem).label(span, "");
    if let Some(note) = error.note {
        problem = problem.note(note);
    }
    if let Some(help) = error.help {
        problem = problem.help(help);
    }
    let finding = Finding::new(problem);
    match error.shown {
        Some(shown) => finding.show(Evidence::Text(shown)).into(),
        None => finding.into(),
    }
}
