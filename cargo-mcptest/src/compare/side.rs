//! A side of a comparison: where its runs come from.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use mcptest::command::command_line;
use mcptest::judge::{self, AgentTest};
use mcptest::result::CaseResult;
use mcptest::result::folder::Results;
use mcptest_suite::portable_path;
use mcptest_trace::evidence::compare::EmptyBaseline;
use serde_json::{Value, json};

use super::recordings_folder::{PackageLayout, RecordingsFolder, declared_folders};
use super::restore_advice;
use crate::failure::Failure;
use crate::files::{find_files, recording_stems};
use crate::git::Revision;
use crate::judging::{OpenPackage, may_belong_to};
use crate::output::counted_are;

/// A side of a comparison.
pub(super) enum Side {
    /// What is recorded in the package now.
    Here(PathBuf),
    /// A folder that holds recordings.
    Folder { shown: String, folder: PathBuf },
    /// Recordings at a git revision.
    Revision { named: String, revision: Revision },
    Results {
        shown: String,
        folder: PathBuf,
        agents: AgentResults,
        left_out: usize,
    },
}

/// Results, by the full name of the agent's own case.
type AgentResults = BTreeMap<String, Vec<CaseResult>>;

/// Where the runs of a side are.
pub(super) enum SidePlace<'a> {
    /// Recorded in a folder that is laid out as the package.
    Recordings(RecordingsFolder<'a>),
    /// Told of by results.
    Results(&'a AgentResults),
}

impl Side {
    /// The side that a word means; without one, what is recorded in the package now.
    pub(super) fn read(opened: &OpenPackage, named: Option<&str>) -> Result<Self, Failure> {
        let package = &opened.package;
        let Some(named) = named else {
            return Ok(Self::Here(package.folder.clone()));
        };
        let folder = Path::new(named);
        if folder.is_file() {
            return Err(Failure::new(format!("`{named}` is a file"))
                .with_help("name the folder that holds `cassettes/`, the recordings or the results, or a git revision"));
        }
        if folder.is_dir() {
            let folder = std::path::absolute(folder)?;
            let shown = portable_path(Path::new(named));
            return if has_results(&folder) {
                Self::open_results(opened, &folder, shown)
            } else {
                Ok(Self::Folder { shown, folder })
            };
        }
        if named.starts_with(['.', '/']) {
            return Err(
                Failure::new(format!("there is no folder `{named}`")).with_help(format!(
                    "`{}` saves the results of today there as a baseline",
                    command_line("compare --accept <folder>")
                )),
            );
        }
        let mut kept = declared_folders(opened);
        kept.extend(baseline_folders(opened));
        let revision = Revision::read(&package.folder, named, &kept, &package.roots)?;
        Ok(Self::Revision {
            named: named.to_owned(),
            revision,
        })
    }

    fn open_results(opened: &OpenPackage, folder: &Path, shown: String) -> Result<Self, Failure> {
        let mut results = Results::read(folder)
            .map_err(|error| Failure::new(format!("the results cannot be read: {error}")))?;
        let package = &opened.package.name;
        results.cases.retain(|case| case.package == *package);
        // What an agent's result would say, nobody knows: without it the agent would be a new one.
        let is_own = |(file, _): &&(String, String)| may_belong_to(package, file);
        if let Some((file, why)) = results.unreadable.iter().find(is_own) {
            return Err(
                Failure::new(format!("a result cannot be read: {file}: {why}"))
                    .with_help(restore_advice()),
            );
        }
        if results.cases.is_empty() {
            return Err(Failure::new(format!(
                "`{shown}` has no result of the package `{package}`"
            )));
        }
        let mut agents = AgentResults::new();
        for case in results.cases {
            if let Some(agent) = &case.agent {
                agents.entry(agent.case.clone()).or_default().push(case);
            }
        }
        Ok(Self::Results {
            shown,
            folder: folder.to_owned(),
            agents,
            left_out: results.unreadable.len(),
        })
    }

    /// The package as it was there, where its suites are known too: those of a revision.
    pub(super) fn revision_suites(&self, opened: &OpenPackage) -> Option<OpenPackage> {
        let Self::Revision { revision, .. } = self else {
            return None;
        };
        let package = opened.package.clone().at_revision(&revision.package);
        let suites = judge::Package::open(&package.folder, &package.name, &package.roots);
        Some(OpenPackage { package, suites })
    }

    /// What it comes to as a baseline that has no agent: a revision may be older than the suites, unless it has
    /// recordings of these agents in another place; a folder was named.
    pub(super) fn empty_baseline(&self, agents: &[AgentTest<'_>]) -> EmptyBaseline {
        match self {
            Self::Folder { .. } | Self::Results { .. } => EmptyBaseline::CannotTell,
            Self::Revision { revision, .. }
                if agents
                    .iter()
                    .flat_map(recording_stems)
                    .any(|stem| revision.stems.contains(&stem)) =>
            {
                EmptyBaseline::CannotTell
            }
            _ => EmptyBaseline::Holds,
        }
    }

    /// What to do where recordings of it cannot be read.
    pub(super) const fn unreadable_advice(&self, is_baseline: bool) -> &'static str {
        match self {
            Self::Revision { .. } if is_baseline => {
                "what a commit has cannot be changed: name a revision as the baseline in which these recordings can be read, or correct them first, and compare with the commit that has them"
            }
            Self::Folder { .. } if is_baseline => {
                "take these files of the baseline back out of your version control, or record the baseline again"
            }
            _ => "record these runs again, or remove the files that are no recordings of it",
        }
    }

    /// What to do where an agent of it has another name now.
    pub(super) const fn renamed_advice(&self) -> &'static str {
        match self {
            Self::Revision { .. } => {
                "keep the old name until its runs are compared, or say `--allow-gone`: then it counts as gone and new, and is not compared"
            }
            Self::Results { .. } => {
                "save the results of the baseline again under the new name, or say `--allow-gone`: then it counts as gone and new"
            }
            Self::Here(_) | Self::Folder { .. } => {
                "give its recordings in the baseline the new name, or say `--allow-gone`: then it counts as gone and new"
            }
        }
    }

    /// Where its runs are, beside the other side and the package.
    pub(super) fn place<'a>(
        &'a self,
        package: &'a PackageLayout,
        other: &'a Self,
    ) -> SidePlace<'a> {
        static NONE: BTreeSet<PathBuf> = BTreeSet::new();
        let (folder, nested) = match self {
            Self::Here(folder) | Self::Folder { folder, .. } => (folder, &NONE),
            Self::Revision { revision, .. } => (&revision.package, &revision.nested),
            Self::Results { agents, .. } => return SidePlace::Results(agents),
        };
        let other_side = match other {
            Self::Here(folder) | Self::Folder { folder, .. } | Self::Results { folder, .. } => {
                Some(folder.as_path())
            }
            Self::Revision { .. } => None,
        };
        SidePlace::Recordings(RecordingsFolder::new(folder, package, other_side, nested))
    }

    pub(super) fn json(&self) -> Value {
        match self {
            Self::Here(_) => json!({ "kind": "working_tree" }),
            Self::Folder { shown, .. } => json!({ "kind": "folder", "name": shown }),
            Self::Revision { named, revision } => {
                json!({ "kind": "revision", "name": named, "commit": revision.commit, "files": revision.files })
            }
            Self::Results {
                shown, left_out, ..
            } => {
                json!({ "kind": "results", "name": shown, "left_out": left_out })
            }
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Here(_) => f.write_str("the working tree"),
            Self::Folder { shown, .. } => f.write_str(shown),
            Self::Revision { named, revision } if revision.commit.starts_with(named.as_str()) => {
                write!(f, "commit {}", revision.commit)
            }
            Self::Revision { named, revision } => write!(f, "{named}, commit {}", revision.commit),
            Self::Results {
                shown, left_out, ..
            } => {
                write!(f, "results in {shown}, with their saved verdicts")?;
                match left_out {
                    0 => Ok(()),
                    some => write!(
                        f,
                        " ({} no results of this version)",
                        counted_are(*some, "file")
                    ),
                }
            }
        }
    }
}

/// The folders that suites compare their agents with, from the package's folder.
fn baseline_folders(opened: &OpenPackage) -> Vec<PathBuf> {
    let folder = &opened.package.folder;
    let suites = opened.suites.suites();
    let named = suites.filter_map(|(_, suite)| {
        let beside = suite.source.path().parent()?.strip_prefix(folder).ok()?;
        Some(beside.join(&suite.regression.as_ref()?.baseline.value))
    });
    named.collect()
}

/// A file of a package, as it is shown.
pub(super) fn display_path(folder: &Path, file: &Path) -> String {
    portable_path(file.strip_prefix(folder).unwrap_or(file))
}

/// Whether a folder holds results of cases: any of its JSON files is one, whatever the others are. Recordings are
/// passed over by their names, so that a folder of them is not read.
fn has_results(folder: &Path) -> bool {
    let is_recording = |file: &Path| {
        let below = file.strip_prefix(folder).unwrap_or(file);
        let mut parts = below.iter().map(|part| part.to_string_lossy());
        parts.any(|part| part == "cassettes" || part.contains("__"))
    };
    let files = find_files(folder, &["json"], &[]);
    let (recordings, others): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|file| is_recording(file));
    let mut asked = others.iter().chain(recordings.first());
    asked.any(|file| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let value: Value = serde_json::from_str(&text).unwrap_or_default();
        value.get("case").is_some() && value.get("suite").is_some()
    })
}
