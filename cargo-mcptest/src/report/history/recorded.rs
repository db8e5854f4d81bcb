//! What each commit has of each agent. A file of the same bytes at the same place is read and judged once,
//! however many commits have it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use mcptest::judge::{AgentTest, RunsError};
use mcptest_trace::text::pluralize;

use super::judged::{AgentHistory, JudgedRun, State};
use super::results::ResultsReader;
use crate::failure::Failure;
use crate::files::{literal_prefix, recording_stems};
use crate::git::{FileKind, History};
use crate::judging::OpenPackage;
use crate::outcome::Gates;

/// So many files that cannot be read are named.
const NAMED: usize = 3;

/// An agent while the commits are read.
struct RecordingReader<'a> {
    test: &'a AgentTest<'a>,
    gates: Gates<'a>,
    stems: Vec<String>,
    /// Where the suite says that its recordings are, from the package's folder.
    named: Option<PathBuf>,
    /// The files of the commit that is read, and their places.
    now: BTreeMap<PathBuf, usize>,
    /// The place of each file that was read, by its path and its object.
    known: BTreeMap<(PathBuf, String), Option<usize>>,
    has_changed: bool,
    history: AgentHistory,
}

/// All agents over the commits, and what could not be read, a line each.
pub(super) fn read_agents(
    opened: &OpenPackage,
    history: &mut History,
) -> Result<(Vec<AgentHistory>, Vec<String>), Failure> {
    let tests = opened.suites.agents();
    let mut agents: Vec<RecordingReader<'_>> = tests
        .iter()
        .map(|test| RecordingReader::new(test, &opened.package.folder))
        .collect();
    let mut results = ResultsReader::new(&tests);
    let folder = tempfile::Builder::new().prefix("mcptest-").tempdir()?;
    let mut unreadable = Vec::new();
    let commits = std::mem::take(&mut history.commits);
    for (place, commit) in commits.iter().enumerate() {
        for change in &commit.changes {
            if change.kind == FileKind::Result {
                let object = change.object.as_deref();
                if let Some(object) = object.filter(|object| !results.has_read(object)) {
                    let bytes = history.read_object(object, &change.path)?;
                    results.read(object, &bytes);
                }
                results.change(&change.path, object);
                continue;
            }
            let own = change.path.strip_prefix(&history.prefix);
            let own = own.unwrap_or(&change.path).to_owned();
            for agent in agents.iter_mut().filter(|agent| agent.may_have(&own)) {
                let Some(object) = &change.object else {
                    agent.has_changed |= agent.now.remove(&own).is_some();
                    continue;
                };
                let key = (own.clone(), object.clone());
                if !agent.known.contains_key(&key) {
                    let bytes = history.read_object(object, &change.path)?;
                    let file = folder.path().join(&change.path);
                    let package = folder.path().join(&history.prefix);
                    let runs = agent.read(&package, &file, &bytes)?;
                    let found = match runs {
                        FileRuns::Runs(runs) => {
                            agent.history.files.push(runs);
                            Some(agent.history.files.len() - 1)
                        }
                        FileRuns::None => None,
                        FileRuns::Unreadable(error) => {
                            let commit: String = commit.name.chars().take(10).collect();
                            let why = error.to_string();
                            let mut lines = why.lines().filter(|line| !line.trim().is_empty());
                            let why = lines.next().unwrap_or_default();
                            unreadable.push(format!("in {commit}: {why}"));
                            None
                        }
                    };
                    agent.known.insert(key.clone(), found);
                }
                agent.has_changed |= match agent.known.get(&key) {
                    Some(Some(file)) => agent.now.insert(own.clone(), *file) != Some(*file),
                    _ => agent.now.remove(&own).is_some(),
                };
            }
        }
        for agent in &mut agents {
            agent.commit_state(place);
        }
        results.commit_state(place);
    }
    history.commits = commits;
    let more = unreadable.len().saturating_sub(NAMED);
    unreadable.truncate(NAMED);
    let mut notes: Vec<String> = unreadable
        .into_iter()
        .map(|why| format!("a recording that cannot be read was left out, {why}"))
        .collect();
    if more > 0 {
        let more = pluralize(more, "more recording");
        notes.push(format!("and {more} that cannot be read"));
    }
    let mut told = 0;
    let mut found = Vec::new();
    for agent in agents {
        let of_results = agent.history.states.is_empty();
        let of_results = of_results.then(|| results.history(agent.test)).flatten();
        told += usize::from(of_results.is_some());
        found.extend(of_results.or(Some(agent.history)));
    }
    found.retain(|agent| !agent.states.is_empty());
    if told > 0 {
        notes.push(format!(
            "these commits have no recordings of {}, only results with their saved verdicts",
            pluralize(told, "agent test")
        ));
    }
    Ok((found, notes))
}

/// The runs of a file.
enum FileRuns {
    Runs(Vec<JudgedRun>),
    /// It is no recording of the agent.
    None,
    Unreadable(RunsError),
}

impl<'a> RecordingReader<'a> {
    fn new(test: &'a AgentTest<'a>, package: &Path) -> Self {
        let beside = test.suite().source.path().parent();
        let beside = beside.and_then(|beside| beside.strip_prefix(package).ok());
        let beside = beside.unwrap_or(Path::new(""));
        let cassette = test.agent().cassette.as_ref();
        Self {
            test,
            gates: Gates::for_agent(test),
            stems: recording_stems(test),
            named: cassette.map(|named| beside.join(literal_prefix(&named.value))),
            now: BTreeMap::new(),
            known: BTreeMap::new(),
            has_changed: false,
            history: AgentHistory::new(test),
        }
    }

    /// Whether a file may be a recording of the agent, by its name; whether it is one, reading it says.
    fn may_have(&self, path: &Path) -> bool {
        if let Some(named) = &self.named {
            return path.starts_with(named);
        }
        let own = path.file_stem();
        let above = path.parent().and_then(Path::file_name);
        let names = [own, above].into_iter().flatten();
        let mut names = names.map(|name| name.to_string_lossy());
        names.any(|name| self.stems.iter().any(|stem| **stem == name))
    }

    /// The runs of a file, which lies alone in a folder laid out as the package; nothing where it is not one of
    /// the agent.
    fn read(&self, package: &Path, file: &Path, bytes: &[u8]) -> Result<FileRuns, Failure> {
        let above = file.parent().unwrap_or(package);
        fs::create_dir_all(above)?;
        fs::create_dir_all(package)?;
        fs::write(file, bytes)?;
        let runs = self.test.runs_in(package);
        fs::remove_file(file)?;
        Ok(match runs {
            Ok(Some(runs)) => {
                let runs = runs.iter();
                let prices = &self.test.suite().prices;
                let runs = runs.map(|run| JudgedRun::from_run(run, &self.gates, prices));
                FileRuns::Runs(runs.collect())
            }
            Ok(None) => FileRuns::None,
            Err(error) => FileRuns::Unreadable(error),
        })
    }

    /// Keeps what the agent has in a commit, where that is other than before.
    fn commit_state(&mut self, commit: usize) {
        if self.has_changed {
            self.history.states.push(State {
                commit,
                files: self.now.values().copied().collect(),
            });
        }
        self.has_changed = false;
    }
}
