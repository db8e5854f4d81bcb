//! An agent's recorded runs, found and read once, and what is wrong with them.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use mcptest_suite::model::{Agent, Suite};
use mcptest_suite::{Diagnostic, Span, portable_path};

use super::lookup::{PlaceError, RunLookup};
use super::near_names::NearNames;
use super::pattern::without_detours;
use crate::record::{LiveError, RecordLine};
use crate::render::{Evidence, Failure, Finding};
use crate::trace::{Layout, Run, read_runs};
use mcptest_trace::text::pluralize;

/// Where a suite lies.
pub(crate) struct SuitePlace<'a> {
    /// The folder below which its recordings lie: the package's, or another that is laid out as it.
    pub(crate) crate_dir: &'a Path,
    /// The suite's folder there.
    pub(crate) suite_dir: &'a Path,
    /// The folder that shown paths are relative to.
    pub(crate) shown_from: &'a Path,
    /// The suite's path below its root.
    pub(crate) relative: &'a Path,
    /// What a person types to record the agent.
    pub(crate) command: &'a RecordLine,
    /// What lies where the suite's runs lie, once an agent has asked for it.
    pub(crate) near: &'a OnceLock<NearNames>,
}

/// Finds and reads the runs. An error is a failure of the agent case: missing, malformed or copied
/// runs, or a wrong number of them.
pub(crate) fn load(
    suite: &Suite,
    agent: &Agent,
    model: usize,
    place: &SuitePlace<'_>,
) -> Result<Vec<Run>, Failure> {
    let wanted = place.lookup(suite, agent, model);
    let (files, not_read) = wanted
        .files_and_rest()
        .map_err(|error| place_problem(agent, error, place.command))?;
    let runs = read_files(agent, &files)?;
    if !not_read.is_empty() {
        return Err(not_read_problem(agent, &not_read));
    }
    if runs.len() != agent.runs.value {
        return Err(count_problem(agent, &runs, place.command));
    }
    Ok(runs)
}

impl SuitePlace<'_> {
    /// What is looked for where, for an agent with a model.
    pub(crate) fn lookup<'a>(
        &'a self,
        suite: &'a Suite,
        agent: &'a Agent,
        model: usize,
    ) -> RunLookup<'a> {
        RunLookup {
            crate_dir: self.crate_dir,
            shown_from: self.shown_from,
            suite_dir: self.suite_dir,
            suite_stem: self.relative.with_extension(""),
            cassette: agent
                .cassette
                .as_ref()
                .map(|cassette| cassette.value.as_str()),
            stems: agent.cassette_stems(&agent.models[model].value),
            agents: &suite.agents,
            near: self.near,
        }
    }
    /// Nothing is put anywhere but below the folder that recordings are to be put into.
    pub(crate) fn check_target_folder(
        &self,
        agent: &Agent,
        layout: &Layout,
    ) -> Result<(), LiveError> {
        let is_elsewhere = self.crate_dir != self.shown_from;
        if !is_elsewhere || without_detours(layout.path()).starts_with(self.crate_dir) {
            return Ok(());
        }
        let named = agent.cassette.as_ref();
        let problem = format!(
            "the recordings of `{}` would not be put below {}",
            agent.name.value,
            portable_path(self.crate_dir)
        );
        let error = LiveError::new(problem).help(
            "only recordings in the package's folder can be put into another folder; let `cassette:` name a path in it, or leave the agent out",
        );
        let at = named.map(|cassette| cassette.span);
        Err(LiveError { at, ..error })
    }
}

/// The runs that are there, however many.
pub(crate) fn read(
    agent: &Agent,
    wanted: &RunLookup<'_>,
    command: &RecordLine,
) -> Result<Vec<Run>, Failure> {
    let files = wanted
        .files()
        .map_err(|error| place_problem(agent, error, command))?;
    read_files(agent, &files)
}

pub(crate) fn read_files(agent: &Agent, files: &[(PathBuf, String)]) -> Result<Vec<Run>, Failure> {
    read_runs(files).map_err(|errors| {
        let more = errors.len().saturating_sub(UNUSABLE);
        let findings = errors.into_iter().take(UNUSABLE).map(|error| {
            let message = format!("the recording {} cannot be used", error.origin);
            let problem = Diagnostic::new(message)
                .label(agent.name.span, "a recording of this agent")
                .help(error.help.clone());
            Finding::new(problem).show(Evidence::Text(error.render()))
        });
        let text = format!("… {more} more recordings of this agent cannot be used");
        Failure {
            findings: findings.collect(),
            evidence: (more > 0)
                .then_some(Evidence::Text(text))
                .into_iter()
                .collect(),
        }
    })
}

/// How many files that may be meant are named.
const MEANT: usize = 6;

/// How many recordings that cannot be used are shown.
const UNUSABLE: usize = 10;

pub(crate) fn place_problem(agent: &Agent, error: PlaceError, command: &RecordLine) -> Failure {
    let span = agent
        .cassette
        .as_ref()
        .map_or(agent.name.span, |cassette| cassette.span);
    match error {
        PlaceError::Nothing {
            looked,
            put,
            near,
            meant,
        } => {
            let declared = agent.runs.value;
            let problem = Diagnostic::new(format!(
                "no recorded run of `{}` was found",
                agent.name.value
            ))
            .label(
                span,
                format!("declares {} and has none", pluralize(declared, "run")),
            );
            let problem = match (declared, &put) {
                (1, [one, _]) => problem.help(format!(
                    "record it with `{}`, or put a recording of your own at {one}",
                    command.missing()
                )),
                (many, [_, several]) => problem.help(format!(
                    "record {many} runs with `{}`, or put recordings of your own at {several} and so on, one file for each run",
                    command.missing()
                )),
            };
            let problem = near.iter().fold(problem, |problem, near| {
                problem.note(format!(
                    "{near} is not read: its name differs in upper and lower case or in the extension"
                ))
            });
            let more = meant.len().saturating_sub(MEANT);
            let meant = meant.iter().take(MEANT);
            let problem = meant.fold(problem, |problem, (path, why)| {
                problem.note(format!("{path} is not read: {why}"))
            });
            let problem = match more {
                0 => problem,
                more => problem.note(format!("{more} more files of such names are not read")),
            };
            let looked = format!("looked for:\n{}", looked.join("\n"));
            Finding::new(problem).show(Evidence::Text(looked)).into()
        }
        PlaceError::Several(places) => Diagnostic::new(
            "the runs of this agent are in several places, and must be in one place",
        )
        .label(span, places.join(" and "))
        .help("keep the recordings you mean and remove the others")
        .into(),
        PlaceError::Unusable { problem, help } => {
            Diagnostic::new(problem).label(span, "").help(help).into()
        }
    }
}

/// The recordings are of the built-in agent, and the agent has code of its own.
pub(crate) fn of_another_agent(agent: &Agent, command: &RecordLine) -> Failure {
    let name = &agent.name.value;
    let problem =
        format!("the recordings of `{name}` are of the built-in agent, and it has code of its own");
    let help = format!("record its own code: `{}`", command.all());
    let problem = Diagnostic::new(problem).label(agent.name.span, "");
    problem.help(help).into()
}

/// What looks like a run must be one.
pub(crate) fn not_read_problem(agent: &Agent, paths: &[String]) -> Failure {
    const SHOWN: usize = 12;
    let message = match paths.len() {
        1 => "a file beside the recorded runs is not read: its name is not the name of a run"
            .to_owned(),
        many => format!(
            "{many} files beside the recorded runs are not read: their names are not names of runs"
        ),
    };
    let problem = Diagnostic::new(message)
        .label(agent.name.span, "where this agent's runs are")
        .help("name each run `run-N.json`, with one run in a file; move files that are no runs elsewhere");
    let mut lines: Vec<String> = paths.iter().take(SHOWN).cloned().collect();
    if let more @ 1.. = paths.len().saturating_sub(SHOWN) {
        lines.push(format!("… {more} more"));
    }
    Finding::new(problem)
        .show(Evidence::Text(lines.join("\n")))
        .into()
}

fn count_problem(agent: &Agent, runs: &[Run], command: &RecordLine) -> Failure {
    let (declared, recorded) = (agent.runs.value, runs.len());
    let message = format!(
        "{} declared, {recorded} recorded",
        pluralize(declared, "run")
    );
    let stated = agent.runs.span != Span::default();
    let span = if stated {
        agent.runs.span
    } else {
        agent.name.span
    };
    let label = if stated {
        "declared here"
    } else {
        "without `runs:` one run is declared"
    };
    let help = if recorded == 0 {
        format!(
            "record {} into the file that was found: `{}`",
            pluralize(declared, "run"),
            command.missing()
        )
    } else if recorded < declared {
        format!(
            "record {} more with `{}`, or write `runs: {recorded}`",
            declared - recorded,
            command.missing()
        )
    } else {
        format!(
            "write `runs: {recorded}`, or remove the {} that you do not want",
            pluralize(recorded - declared, "run")
        )
    };
    let files: Vec<String> = runs.iter().map(|run| run.origin.to_string()).collect();
    let shown = match files.as_slice() {
        [] => "no run in the file that was found".to_owned(),
        files if files.len() <= 12 => files.join("\n"),
        files => format!("{}\n… {} more", files[..12].join("\n"), files.len() - 12),
    };
    Finding::new(Diagnostic::new(message).label(span, label).help(help))
        .show(Evidence::Text(format!("recorded:\n{shown}")))
        .into()
}
