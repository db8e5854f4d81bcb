//! A suite that is ready to be judged: loaded, compiled, its runs read once when first needed.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use mcptest_suite::model::{Agent, AgentCommand, Gate, GateKind, Suite};
use mcptest_suite::{Case, Diagnostic, LoadError, Source, Subject};
use regex::Regex;

use super::agent_runs::AgentRuns;
use super::discovery::SuiteFile;
use super::functions::AgentFunctions;
use super::lookup::{PlaceError, RunLookup};
use super::near_names::NearNames;
use super::pattern::without_detours;
use super::regression::trusted::Trusted;
use super::runs::{self, SuitePlace};
use super::runs_error::RunsError;
use super::snapshots::CaseSnapshots;
use crate::command::command_line_again;
use crate::gate::{
    self, AgentGates, CompiledGate, Criterion as _, GateReading, Input, SnapshotStore, Stale,
};
use crate::record::own_code::is_run_of_built_in;
use crate::record::{RecordCommand, RecordLine, RunsAgent, in_ci, shell_words};
use crate::render::Failure;
use crate::trace::{Run, read_runs};

/// Where nobody is told how to record.
static NO_LINE: RecordLine = RecordLine::Test(String::new());

/// The runs of an agent with a model, or why they cannot be judged.
pub(crate) type Recorded = Result<AgentRuns, Failure>;

/// A loaded suite, shared by its cases.
#[derive(Clone)]
pub(crate) struct LoadedSuite {
    pub(crate) suite: Arc<Suite>,
    crate_dir: PathBuf,
    relative: PathBuf,
    gates: Arc<[AgentGates]>,
    redact: Arc<[Regex]>,
    recorded: Arc<HashMap<Subject, Arc<OnceLock<Recorded>>>>,
    /// Whether all runs of an agent were recorded just now, where recording was asked for; an error is what its cases fail
    /// with.
    ready: Arc<HashMap<Subject, OnceLock<Result<bool, Failure>>>>,
    command: RecordCommand,
    /// Which agents are functions of the crate.
    functions: AgentFunctions,
    /// Whether judging leaves nothing behind.
    looked_at: bool,
    /// Whether its agents are played whatever it asks: no other command has their cases of `playback`.
    is_only_played: bool,
    /// What lies where its runs lie, once an agent has asked for it.
    near: Arc<OnceLock<NearNames>>,
    /// What its agents are compared with, once a case has asked for it.
    trusted: Arc<OnceLock<Result<Arc<Trusted>, Failure>>>,
    /// The folder that has its recordings, where that is not the package's.
    elsewhere: Option<Arc<OtherFolder>>,
}

/// Another folder that is laid out as the package.
struct OtherFolder {
    folder: PathBuf,
    /// The suite's folder there.
    suite_dir: PathBuf,
}

impl LoadedSuite {
    /// Loads a suite file, and compiles what it asks.
    pub(crate) fn load(crate_dir: &Path, file: &SuiteFile) -> Result<Self, LoadError> {
        let source = Suite::open(&file.path, &file.shown)?;
        Self::load_whole(crate_dir, file, source)
    }

    /// Loads a suite file with those of its agents whose case names are wanted, where they can be told apart and
    /// nothing is wrong with them; else with all agents.
    pub(crate) fn load_agents(
        crate_dir: &Path,
        file: &SuiteFile,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Self, LoadError> {
        let source = Suite::open(&file.path, &file.shown)?;
        let mut reading = GateReading::default();
        let some = Suite::parse_filtered(&source, &wanted, &mut reading);
        let some = some.and_then(|suite| Self::compile(crate_dir, file, suite, reading).ok());
        some.map_or_else(|| Self::load_whole(crate_dir, file, source), Ok)
    }

    fn load_whole(crate_dir: &Path, file: &SuiteFile, source: Source) -> Result<Self, LoadError> {
        let mut reading = GateReading::default();
        let suite = Suite::parse_with(source, &mut reading)?;
        Self::compile(crate_dir, file, suite, reading)
    }

    fn compile(
        crate_dir: &Path,
        file: &SuiteFile,
        suite: Suite,
        reading: GateReading,
    ) -> Result<Self, LoadError> {
        let (gates, redact) = reading.finish(&suite.source, &suite.redact)?;
        let focused = suite.agents.iter().filter(|_| in_ci());
        let problems: Vec<_> = focused.filter_map(only_in_ci).collect();
        if !problems.is_empty() {
            return Err(LoadError::new(suite.source, problems));
        }
        let recorded = subjects(&suite).map(|subject| (subject, Arc::default()));
        let recorded: HashMap<_, _> = recorded.collect();
        let ready = subjects(&suite).map(|subject| (subject, OnceLock::new()));
        let ready: HashMap<_, _> = ready.collect();
        Ok(Self {
            crate_dir: crate_dir.to_owned(),
            relative: file.relative.clone(),
            gates: gates.into(),
            redact: redact.into(),
            recorded: Arc::new(recorded),
            ready: Arc::new(ready),
            suite: suite.into(),
            command: RecordCommand::default(),
            functions: AgentFunctions::default(),
            looked_at: false,
            is_only_played: false,
            near: Arc::default(),
            trusted: Arc::default(),
            elsewhere: None,
        })
    }

    /// The suite for a reader: no snapshot is written. `command`: what a person types to record.
    pub(crate) fn into_read_only(mut self, command: RecordCommand) -> Self {
        self.command = command;
        self.looked_at = true;
        self
    }

    /// Sets the command that records its agents: what a person types.
    pub(crate) fn with_record_command(mut self, command: RecordCommand) -> Self {
        self.command = command;
        self
    }

    /// Sets another folder for its recordings, which is laid out as the package.
    pub(crate) fn with_recordings_in(mut self, folder: &Path) -> Self {
        let path = self.suite.source.path();
        let suite_dir = path.parent().unwrap_or(path);
        let below = suite_dir.strip_prefix(&self.crate_dir).unwrap_or(suite_dir);
        self.elsewhere = Some(Arc::new(OtherFolder {
            folder: without_detours(folder),
            suite_dir: without_detours(&folder.join(below)),
        }));
        self
    }

    /// Keeps the runs of an agent that were read and played already, for its cases.
    pub(crate) fn keep_runs(&self, subject: Subject, runs: AgentRuns) {
        _ = self.recorded[&subject].set(Ok(runs));
    }

    /// Sets which of its agents are functions of the crate.
    pub(crate) fn with_functions(mut self, functions: &AgentFunctions) -> Self {
        self.functions = functions.clone();
        self
    }

    /// Lets this program run each agent, whatever the suite says.
    pub(crate) fn with_program(mut self, program: &[String]) -> Self {
        if let Some(suite) = Arc::get_mut(&mut self.suite) {
            for agent in &mut suite.agents {
                let mut command = AgentCommand::new(program.to_vec(), &self.crate_dir);
                if let Some(own) = &agent.command {
                    command.before.clone_from(&own.before);
                    command.closing_is_stdout = own.closing_is_stdout;
                }
                agent.command = Some(command);
            }
        }
        self.command.program = program.to_vec();
        self
    }

    /// Gives each agent with a command the gate `playback`, whatever the suite says.
    pub(crate) fn with_playback(mut self) -> Self {
        self.is_only_played = true;
        let parts = (Arc::get_mut(&mut self.suite), Arc::get_mut(&mut self.gates));
        if let (Some(suite), Some(gates)) = parts {
            let agents = suite.agents.iter_mut().zip(gates);
            let with_command = agents.filter(|(agent, _)| agent.command.is_some());
            for (agent, gates) in with_command {
                let mut own = agent.gates.iter_mut();
                if let Some(own) = own.find(|gate| gate.kind == GateKind::Playback) {
                    // A case that `reliability` judges would not play.
                    own.counted = false;
                } else {
                    let span = agent.name.span;
                    agent.gates.push(Gate::new(GateKind::Playback, span));
                    agent.gates.sort_by_key(|gate| gate.kind);
                    gates.gates.push(CompiledGate::playback(span));
                }
            }
        }
        self
    }

    /// What a person types to play an agent alone, where a command plays it whatever the suite asks.
    pub(crate) fn play_line(&self, case: &str) -> Option<String> {
        let mut words = format!("--exact {case}");
        if !self.command.program.is_empty() {
            words += &format!(" -- {}", shell_words(&self.command.program));
        }
        self.is_only_played
            .then(|| command_line_again("play", &words))
            .flatten()
    }

    /// A copy that lists the folders of runs anew: something was recorded.
    pub(crate) fn with_new_listing(&self) -> Self {
        Self {
            near: Arc::default(),
            trusted: Arc::default(),
            ..self.clone()
        }
    }

    /// A copy that has read no runs yet: its cases stand somewhere else, and what is said of its runs says where.
    pub(crate) fn with_unread_runs(&self) -> Self {
        let unread = self
            .recorded
            .keys()
            .map(|subject| (*subject, Arc::default()));
        self.with_new_listing().with_runs(unread.collect())
    }

    /// Makes an agent's runs ready before any is read, once.
    pub(crate) fn make_ready(
        &self,
        subject: Subject,
        record: impl FnOnce() -> Result<bool, Failure>,
    ) {
        _ = self.ready[&subject].get_or_init(record);
    }

    /// Whether an agent was to be recorded, and was not.
    pub(crate) fn is_unrecorded(&self, subject: Subject) -> bool {
        self.ready[&subject].get().is_some_and(Result::is_err)
    }

    /// Why an agent was not recorded that was to be.
    pub(crate) fn unrecorded(&self, subject: Subject) -> Option<&Failure> {
        self.ready[&subject].get()?.as_ref().err()
    }

    /// Whether all runs of an agent were recorded by this process.
    pub(crate) fn is_new(&self, subject: Subject) -> bool {
        matches!(self.ready[&subject].get(), Some(Ok(true)))
    }

    /// A copy that keeps the runs of one agent alone: they are let go with the last copy that holds them.
    pub(crate) fn for_agent(&self, subject: Subject) -> Self {
        let runs = self.recorded.get(&subject).cloned();
        self.with_runs([(subject, runs.unwrap_or_default())].into())
    }

    /// A copy for a case of no one agent, which reads runs and lets them go.
    pub(crate) fn for_all_agents(&self) -> Self {
        self.with_runs(HashMap::new())
    }

    fn with_runs(&self, recorded: HashMap<Subject, Arc<OnceLock<Recorded>>>) -> Self {
        Self {
            recorded: Arc::new(recorded),
            ..self.clone()
        }
    }

    pub(crate) fn source(&self) -> &Source {
        &self.suite.source
    }

    /// Where it is kept what the suite's agents are compared with.
    pub(crate) fn trusted_runs(&self) -> &OnceLock<Result<Arc<Trusted>, Failure>> {
        &self.trusted
    }

    /// Which agents are functions of the crate.
    pub(crate) fn functions(&self) -> &AgentFunctions {
        &self.functions
    }

    /// Whether a loop of one's own records the agents that have no code of their own.
    pub(crate) fn has_own_loop(&self) -> bool {
        self.command.own_loop
    }

    /// Whether judging leaves nothing behind.
    pub(crate) fn is_read_only(&self) -> bool {
        self.looked_at
    }

    /// The folder of the suite's package.
    pub(crate) fn crate_dir(&self) -> &Path {
        &self.crate_dir
    }

    /// The folder that the suite was found in.
    pub(crate) fn root(&self) -> &Path {
        let path = self.source().path();
        let above = path.ancestors().nth(self.relative.components().count());
        above.unwrap_or(&self.crate_dir)
    }

    /// Where runs of the suite's agents are looked for below another folder, as [`Self::files_in`] does.
    pub(crate) fn run_places_in(&self, folder: &Path) -> BTreeSet<PathBuf> {
        let suite_path = self.source().path();
        let suite_dir = suite_path.parent().unwrap_or(suite_path);
        let below = suite_dir.strip_prefix(&self.crate_dir).unwrap_or(suite_dir);
        let cassettes = folder.join("cassettes");
        let central = cassettes.join(self.relative.with_extension(""));
        let beside = folder.join(below).join("cassettes");
        [folder.to_owned(), cassettes, central, beside].into()
    }

    /// The files of an agent's runs below another folder that is laid out as its package, or that holds
    /// `cassettes/` or the recordings themselves; nothing where there are none. However many there
    /// are, they are not held against the suite.
    pub(crate) fn files_in(
        &self,
        folder: &Path,
        subject: Subject,
    ) -> Result<Option<Vec<(PathBuf, String)>>, RunsError> {
        let agent = self.agent(subject);
        let suite_path = self.source().path();
        let suite_dir = suite_path.parent().unwrap_or(suite_path);
        let below = suite_dir.strip_prefix(&self.crate_dir).unwrap_or(suite_dir);
        let stems = || agent.cassette_stems(&agent.models[subject.model].value);
        let cassette = agent.cassette.as_ref();
        let cassette = cassette.map(|cassette| cassette.value.clone());
        let mut layouts = vec![(folder.join(below), cassette), (folder.to_owned(), None)];
        for stem in stems() {
            let files = ["", ".json", ".jsonl"].map(|end| format!("{stem}{end}"));
            layouts.extend(files.map(|file| (folder.to_owned(), Some(file))));
        }
        for (suite_dir, cassette) in layouts {
            let wanted = RunLookup {
                crate_dir: folder,
                shown_from: folder,
                suite_dir: &suite_dir,
                suite_stem: self.relative.with_extension(""),
                cassette: cassette.as_deref(),
                stems: stems(),
                agents: &[],
                near: &OnceLock::new(),
            };
            match wanted.files_if_any() {
                Ok(Some(files)) => return Ok(Some(files)),
                Ok(None) | Err(PlaceError::Nothing { .. }) => {}
                Err(PlaceError::Several(places)) => {
                    let agent = agent.name.value.clone();
                    return Err(RunsError::SeveralPlaces { agent, places });
                }
                Err(PlaceError::Unusable { problem, .. }) => {
                    return Err(RunsError::Unusable(problem));
                }
            }
        }
        Ok(None)
    }

    /// The runs of an agent below another folder, read from the files that [`Self::files_in`] finds.
    pub(crate) fn runs_in(
        &self,
        folder: &Path,
        subject: Subject,
    ) -> Result<Option<Vec<Run>>, RunsError> {
        let Some(files) = self.files_in(folder, subject)? else {
            return Ok(None);
        };
        read_runs(&files).map(Some).map_err(RunsError::Unreadable)
    }

    /// Where the runs of its agents lie, and are put. `command`: what a person types to record.
    pub(crate) fn suite_place<'a>(
        &'a self,
        command: &'a RecordLine,
        near: &'a OnceLock<NearNames>,
    ) -> SuitePlace<'a> {
        let own = self.own_suite_place(command, near);
        match &self.elsewhere {
            None => own,
            Some(elsewhere) => SuitePlace {
                crate_dir: &elsewhere.folder,
                suite_dir: &elsewhere.suite_dir,
                ..own
            },
        }
    }

    /// Where the suite's own recordings lie, wherever new ones are put. `command`: what a person types to record.
    pub(crate) fn own_suite_place<'a>(
        &'a self,
        command: &'a RecordLine,
        near: &'a OnceLock<NearNames>,
    ) -> SuitePlace<'a> {
        let path = self.suite.source.path();
        SuitePlace {
            crate_dir: &self.crate_dir,
            suite_dir: path.parent().unwrap_or(path),
            shown_from: &self.crate_dir,
            relative: &self.relative,
            command,
            near,
        }
    }

    /// The files of an agent's recorded runs; none where they cannot be told.
    pub(crate) fn recorded_files(&self, subject: Subject) -> Vec<PathBuf> {
        let place = self.suite_place(&NO_LINE, &self.near);
        let wanted = place.lookup(&self.suite, self.agent(subject), subject.model);
        let files = wanted.files().unwrap_or_default().into_iter();
        files.map(|(path, _)| path).collect()
    }

    /// Every agent with every one of its models.
    pub(crate) fn subjects(&self) -> impl Iterator<Item = Subject> {
        subjects(&self.suite)
    }

    /// The stem of an agent's recordings.
    pub(crate) fn stem(&self, subject: Subject) -> String {
        let agent = self.agent(subject);
        agent.cassette_stem(&agent.models[subject.model].value)
    }

    /// The name of an agent's own case, below the suite's.
    pub(crate) fn case_name(&self, subject: Subject) -> String {
        self.agent(subject).case_name(subject.model)
    }

    pub(crate) fn agent(&self, subject: Subject) -> &Agent {
        &self.suite.agents[subject.agent]
    }

    /// What is asked of an agent.
    pub(crate) fn gates(&self, subject: Subject) -> &AgentGates {
        &self.gates[subject.agent]
    }

    /// What `redact:` says.
    pub(crate) fn redact_patterns(&self) -> &[Regex] {
        &self.redact
    }

    /// What a person types to record an agent.
    pub(crate) fn record_line(&self, subject: Subject) -> RecordLine {
        let agent = self.agent(subject);
        let is_function = self.functions.for_agent(agent).is_some();
        let by = if agent.command.is_some() {
            RunsAgent::Program
        } else if is_function || agent.gate(GateKind::Playback).is_some() {
            // What is played is code of the agent's own, wherever that is.
            RunsAgent::OwnCode
        } else {
            RunsAgent::Anything
        };
        self.command.for_case(&self.case_name(subject), by)
    }

    /// The runs of an agent, read when the first case asks for them.
    pub(crate) fn runs(&self, subject: Subject) -> &Recorded {
        self.recorded[&subject].get_or_init(|| {
            if let Some(not_ready) = self.ready[&subject].get() {
                not_ready.clone()?;
            }
            let command = self.record_line(subject);
            let (suite, agent, model) = (&self.suite, self.agent(subject), subject.model);
            let runs = runs::load(suite, agent, model, &self.suite_place(&command, &self.near))?;
            let has_code = agent.command.is_some() || self.functions.for_agent(agent).is_some();
            if has_code && runs.first().is_some_and(is_run_of_built_in) {
                return Err(runs::of_another_agent(agent, &command));
            }
            let model = &agent.models[model].value;
            let runs = AgentRuns::new(&suite.source, agent, model, runs);
            // An error is a failure of the agent case.
            let stale = self.stale(subject, &command);
            let judgement = stale.judge(&self.input(subject, &runs, &self.snapshots(subject)));
            judgement.failure.map_or(Ok(runs), Err)
        })
    }

    /// What runs may not have been recorded with. `command`: what a person types to record the agent.
    pub(crate) fn stale<'a>(&'a self, subject: Subject, command: &'a RecordLine) -> Stale<'a> {
        let agent = self.agent(subject);
        Stale {
            agent,
            gates: self.gates(subject),
            model: &agent.models[subject.model],
            command,
        }
    }

    /// What is judged of an agent's runs, by the agent itself.
    pub(crate) fn input<'a>(
        &'a self,
        subject: Subject,
        runs: &'a AgentRuns,
        snapshots: &'a dyn SnapshotStore,
    ) -> Input<'a> {
        let (agent, gates) = (self.agent(subject), self.gates(subject));
        Input {
            agent,
            gates,
            declared: gate::Declared {
                name: "expect",
                span: agent.name.span,
                expect: &gates.expect,
            },
            runs: runs.runs(),
            of_sub_agent: false,
            recorded: runs.runs(),
            known_tools: runs.known_tools(),
            snapshots,
            player: None,
        }
    }

    /// Where the recordings of its agents go, but for those that say so themselves.
    pub(crate) fn recording_places(&self) -> Vec<PathBuf> {
        let place = self.suite_place(&NO_LINE, &self.near);
        let places = self.subjects().filter_map(|subject| {
            let agent = self.agent(subject);
            let wanted = place.lookup(&self.suite, agent, subject.model);
            let layout = agent.cassette.is_none().then(|| wanted.layout(2).ok())??;
            Some(layout.path().with_extension(""))
        });
        places.collect()
    }

    /// Whether its package is a crate, and no folder of suites alone.
    pub(crate) fn is_in_crate(&self) -> bool {
        self.command.package.as_deref() != Some("")
    }

    /// The snapshots of an agent.
    pub(crate) fn snapshots(&self, subject: Subject) -> CaseSnapshots {
        let (agent, source) = (self.case_name(subject), self.source());
        let snapshots = CaseSnapshots::new(
            source.path(),
            source.display_path(),
            &self.crate_dir,
            &agent,
        );
        snapshots
            .compare_only(self.looked_at || self.elsewhere.is_some())
            .in_crate(self.is_in_crate())
    }

    /// The case of a name below the suite's.
    pub(crate) fn find_case(&self, name: &str) -> Option<Case> {
        self.suite
            .cases()
            .into_iter()
            .find(|case| case.name == name)
    }
}

fn subjects(suite: &Suite) -> impl Iterator<Item = Subject> {
    let agents = suite.agents.iter().enumerate();
    agents
        .flat_map(|(agent, test)| (0..test.models.len()).map(move |model| Subject { agent, model }))
}

fn only_in_ci(agent: &Agent) -> Option<Diagnostic> {
    let problem = Diagnostic::new("`only: true` leaves the other agents of this suite untested")
        .label(agent.only?, "fails while `CI` is set")
        .help("remove it before committing");
    Some(problem)
}
