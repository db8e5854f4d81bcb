//! Recordings and snapshots that no suite asks for.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use mcptest::command::command_line;
use mcptest::judge::AgentTest;
use mcptest_suite::{portable_path, segment};
use serde_json::Value;

use super::{ProblemKind, SuiteProblem};
use crate::files::{find_files, literal_prefix, recording_stems, stem};
use crate::judging::OpenPackage;

/// What nothing asks for, by paths from the package's folder.
pub(super) struct Orphans {
    recordings: BTreeSet<String>,
    /// The recordings of imports, whose entries may not be in a suite yet.
    imported: BTreeSet<String>,
    snapshots: BTreeSet<String>,
    /// The recordings of each stem.
    stems: BTreeMap<String, Vec<String>>,
}

impl Orphans {
    pub(super) fn find(opened: &OpenPackage) -> Self {
        let agents = opened.suites.agents();
        let folder = &opened.package.folder;
        let places = opened.recording_folders();
        let mut snapshots: BTreeSet<PathBuf> = BTreeSet::new();
        for (_, suite) in opened.suites.suites() {
            let beside = suite.source.path().parent().unwrap_or(folder);
            snapshots.insert(beside.join("snapshots"));
        }
        let asked = ReferencedFiles::from_agents(folder, &agents);
        let mut orphans = Self {
            recordings: BTreeSet::new(),
            imported: BTreeSet::new(),
            snapshots: BTreeSet::new(),
            stems: BTreeMap::new(),
        };
        for place in places {
            for path in find_files(&place, &["json", "jsonl"], &[]) {
                let runs = read_runs(&path);
                let is_other =
                    || !runs.is_empty() && runs.iter().all(|run| run.get("trace").is_none());
                if !asked.is_recording(folder, &path) && !is_other() {
                    let file = display_path(folder, &path);
                    if let Some(stem) = stem(&place, &path) {
                        orphans.stems.entry(stem).or_default().push(file.clone());
                    }
                    let of_kind = if runs.iter().any(|run| run.get("imported").is_some()) {
                        &mut orphans.imported
                    } else {
                        &mut orphans.recordings
                    };
                    of_kind.insert(file);
                }
            }
        }
        for place in snapshots {
            for path in find_files(&place, &["snap", "new"], &[]) {
                if is_suite_snapshot(&path) && !asked.is_snapshot(&path) {
                    orphans.snapshots.insert(display_path(folder, &path));
                }
            }
        }
        orphans
    }

    /// The files that may go, from the package's folder.
    pub(super) fn files(&self) -> impl Iterator<Item = &str> {
        self.recordings
            .iter()
            .chain(&self.snapshots)
            .map(String::as_str)
    }

    /// The stems that the recordings are of.
    pub(super) fn stems(&self) -> impl Iterator<Item = &str> {
        self.stems.keys().map(String::as_str)
    }

    /// Takes recordings out that may be an agent's by a name that was changed.
    pub(super) fn exclude(&mut self, stems: &[String]) {
        let files = stems.iter().filter_map(|stem| self.stems.get(stem));
        for file in files.flatten() {
            self.recordings.remove(file);
            self.imported.remove(file);
        }
    }

    pub(super) fn problems(&self) -> impl Iterator<Item = SuiteProblem> {
        let problem = |file: &String, what: &str, help: &str| SuiteProblem {
            kind: ProblemKind::Orphan,
            about: file.clone(),
            text: format!("orphan: no agent test asks for the {what} {file}\n\nhelp: {help}"),
        };
        let removes = format!("`{}` removes it", command_line("validate --fix"));
        let pasted = "put its entry into the suite (the import prints the entry again), or repeat the same import with `--undo`";
        let recordings = self.recordings.iter();
        let recordings = recordings.map({
            let removes = removes.clone();
            move |file| problem(file, "recording", &removes)
        });
        let imported = self.imported.iter();
        let imported = imported.map(move |file| problem(file, "recording", pasted));
        let snapshots = self.snapshots.iter();
        let snapshots = snapshots.map(move |file| problem(file, "snapshot", &removes));
        recordings.chain(imported).chain(snapshots)
    }
}

/// What stands in a file of runs: the whole, or its first line; nothing where neither can be read.
fn read_runs(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let first = text.lines().next().unwrap_or_default();
    let values = [&text, first].map(serde_json::from_str::<Value>);
    values.into_iter().flatten().collect()
}

/// The files that the agent tests refer to.
struct ReferencedFiles {
    /// Files of runs that could be read, from the package's folder.
    read: BTreeSet<String>,
    /// Where an agent's runs may lie whose recordings cannot be used: no file there is an orphan.
    unread: Vec<PathBuf>,
    /// What the names of snapshots begin with.
    snapshots: Vec<String>,
}

impl ReferencedFiles {
    fn from_agents(folder: &Path, agents: &[AgentTest<'_>]) -> Self {
        let mut asked = Self {
            read: BTreeSet::new(),
            unread: Vec::new(),
            snapshots: Vec::new(),
        };
        for agent in agents {
            let suite = agent.suite().source.path();
            let beside = suite.parent().unwrap_or(folder);
            if let Ok(runs) = agent.runs() {
                let read = runs.iter().map(|run| run.origin.shown.clone());
                asked.read.extend(read);
            } else {
                asked.unread.extend(expected_paths(folder, beside, agent));
            }
            let file = suite.file_stem().unwrap_or_default().to_string_lossy();
            let case = agent
                .case()
                .strip_prefix(agent.suite_name())
                .unwrap_or_default();
            let case = case.trim_start_matches("::").replace("::", "-");
            let beginning = format!("{}-{case}-", segment(&file).unwrap_or_default());
            asked.snapshots.push(beginning);
        }
        asked
    }

    fn is_recording(&self, folder: &Path, path: &Path) -> bool {
        let without_end = path.with_extension("");
        let unread = |place: &PathBuf| path.starts_with(place) || without_end == *place;
        self.read.contains(&display_path(folder, path)) || self.unread.iter().any(unread)
    }

    fn is_snapshot(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // A long name is cut, and what is left of the beginning still tells.
        let begins = |beginning: &String| {
            let cut = name.len().min(beginning.len()).min(180);
            name.as_bytes().get(..cut) == beginning.as_bytes().get(..cut)
        };
        self.snapshots.iter().any(begins)
    }
}

/// Whether anything lies where the runs of an agent are looked for.
pub(super) fn is_recorded(folder: &Path, agent: &AgentTest<'_>) -> bool {
    let beside = agent.suite().source.path().parent().unwrap_or(folder);
    expected_paths(folder, beside, agent).iter().any(|place| {
        let mut ends = ["", "json", "jsonl"].iter();
        ends.any(|end| place.with_extension(end).exists())
    })
}

/// Where the runs of an agent are looked for.
fn expected_paths(folder: &Path, beside: &Path, agent: &AgentTest<'_>) -> Vec<PathBuf> {
    let stems = recording_stems(agent);
    let central = agent.suite_name().replace("::", "/");
    let places = [
        beside.join("cassettes"),
        folder.join("cassettes").join(central),
    ];
    let places = places
        .iter()
        .flat_map(|place| stems.iter().map(move |stem| place.join(stem)));
    let own = agent.agent().cassette.as_ref();
    let own = own.map(|own| beside.join(literal_prefix(&own.value)));
    places.chain(own).collect()
}

/// Whether a snapshot says that a suite is its source; others are of other tests.
fn is_suite_snapshot(path: &Path) -> bool {
    let text = fs::read_to_string(path).unwrap_or_default();
    let mut head = text.lines().take(4);
    head.any(|line| {
        let file = line
            .strip_prefix("source: ")
            .map(|file| file.trim_end_matches('"'));
        let end = file.and_then(|file| Path::new(file).extension());
        end.is_some_and(|end| end == "yml" || end == "yaml")
    })
}

fn display_path(folder: &Path, path: &Path) -> String {
    portable_path(path.strip_prefix(folder).unwrap_or(path))
}
