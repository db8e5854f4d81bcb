//! The recordings and the results of a package commit by commit, as git has them: what changed between two of them, and the
//! bytes of a file when they are asked for.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::objects::{Objects, TreeEntry};
use super::problem::GitProblem;
use super::{Repository, relative_to_prefix};
use crate::failure::Failure;

/// So many commits are looked at without a revision to begin with.
const LAST: usize = 20;

/// So many are looked at with one.
const MOST: usize = 500;

/// A commit that touched recordings.
#[derive(Debug)]
pub(crate) struct Commit {
    /// Its full name.
    pub(crate) name: String,
    /// Seconds since 1970.
    pub(crate) time: i64,
    /// The first line of its message.
    pub(crate) subject: String,
    /// The recordings that are others than in the commit before; all of them in the first one.
    pub(crate) changes: Vec<Change>,
}

/// Where a package has what it is asked for.
#[derive(Debug)]
pub(crate) struct RepositoryPaths {
    /// The places that suites name, relative to the package.
    pub(crate) named: Vec<PathBuf>,
    /// The package's name, which a folder of its results has.
    pub(crate) package: String,
    /// The names of its suites, with which the files of results begin.
    pub(crate) suites: Vec<String>,
}

/// The kind of a file in a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    Recording,
    Result,
}

/// A recording or a result that is there now, with its object, or is gone.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) kind: FileKind,
    /// From the repository's top.
    pub(crate) path: PathBuf,
    pub(crate) object: Option<String>,
}

/// The commits, the oldest first.
pub(crate) struct History {
    pub(crate) commits: Vec<Commit>,
    /// The package's folder from the repository's top.
    pub(crate) prefix: PathBuf,
    /// What is to be known of it, a line each.
    pub(crate) notes: Vec<String>,
    objects: Objects,
}

impl History {
    /// The last commits that touched the recordings or the results of a package, or all since a revision, which is
    /// the first of them then.
    pub(crate) fn read(
        package: &Path,
        since: Option<&str>,
        places: &RepositoryPaths,
    ) -> Result<Self, Failure> {
        let repository = Repository::discover(package).map_err(Failure::from)?;
        repository.history(since, places).map_err(Failure::from)
    }

    /// The bytes of a recording.
    pub(crate) fn read_object(&mut self, object: &str, path: &Path) -> Result<Vec<u8>, Failure> {
        self.objects.read(object, path).map_err(Failure::from)
    }
}

impl Repository {
    fn history(
        &self,
        since: Option<&str>,
        places: &RepositoryPaths,
    ) -> Result<History, GitProblem> {
        let head = self.resolve_commit("HEAD")?;
        let first = since.map(|since| self.resolve_commit(since)).transpose()?;
        let mut log = self.log_commits(first.as_deref(), &head, places)?;
        let mut notes = Vec::new();
        let most = if first.is_some() { MOST } else { LAST };
        if log.len() > most && first.is_some() {
            notes.push(format!("only the last {most} commits are shown"));
        }
        log.truncate(most);
        log.reverse();
        if let Some(first) = first.filter(|_| log.len() < most) {
            log.splice(0..0, self.run_log(&["--max-count=1", &first])?);
        }
        if self.run(&["rev-parse", "--is-shallow-repository"])? == "true" {
            notes.push("this clone is shallow: older commits are not in it".to_owned());
        }
        let objects = Objects::open(self, since.unwrap_or("HEAD"))?;
        let mut before: Option<String> = None;
        for commit in &mut log {
            commit.changes = match &before {
                None => {
                    let files = objects.tree(self, &commit.name)?.into_iter();
                    let wanted = files.filter_map(|file| {
                        let kind = self.file_kind(&file.path, places)?;
                        Some(regular_file(kind, file))
                    });
                    wanted.collect::<Result<_, _>>()?
                }
                Some(before) => self.changes_between([before, &commit.name], places)?,
            };
            before = Some(commit.name.clone());
        }
        Ok(History {
            commits: log,
            prefix: self.prefix.clone(),
            notes,
            objects,
        })
    }

    /// What a file of the repository is; nothing where it is neither a recording nor a result.
    fn file_kind(&self, path: &Path, places: &RepositoryPaths) -> Option<FileKind> {
        if self.is_recording(path, &places.named) {
            return Some(FileKind::Recording);
        }
        let folder = path.parent()?.file_name()?;
        let name = path.file_name()?.to_str()?.strip_suffix(".json")?;
        let of_suite = |suite: &String| {
            let rest = name.strip_prefix(suite.as_str());
            rest.is_some_and(|rest| rest.starts_with('.'))
        };
        let is_result = folder == places.package.as_str() && places.suites.iter().any(of_suite);
        is_result.then_some(FileKind::Result)
    }

    /// The commits up to `head` that touched recordings or results, the newest first, one more than is shown.
    fn log_commits(
        &self,
        first: Option<&str>,
        head: &str,
        places: &RepositoryPaths,
    ) -> Result<Vec<Commit>, GitProblem> {
        let range = first.map_or_else(|| head.to_owned(), |first| format!("{first}..{head}"));
        let most = format!("--max-count={}", MOST + 1);
        // A commit of a branch that was merged is no step of this one: each is compared with the one before it.
        let mut arguments = vec![most.as_str(), "--first-parent", &range, "--"];
        let mut wanted: Vec<String> = vec![
            ":(glob)**/cassettes/**/*.json".to_owned(),
            ":(glob)**/cassettes/**/*.jsonl".to_owned(),
        ];
        if !places.package.is_empty() {
            let suites = places.suites.iter();
            let package = &places.package;
            wanted.extend(suites.map(|suite| format!(":(top,glob)**/{package}/{suite}.*.json")));
        }
        let named = places
            .named
            .iter()
            .filter_map(|place| relative_to_prefix(&self.prefix, place));
        wanted.extend(named.map(|place| format!(":(top,literal){}", place.display())));
        arguments.extend(wanted.iter().map(String::as_str));
        self.run_log(&arguments)
    }

    pub(super) fn run_log(&self, arguments: &[&str]) -> Result<Vec<Commit>, GitProblem> {
        let log = ["log", "--date-order", "--format=%H%x00%ct%x00%s"];
        let said = self.run(&[&log[..], arguments].concat())?;
        let commits = said.lines().filter_map(|line| {
            let mut parts = line.splitn(3, '\0');
            Some(Commit {
                name: parts.next()?.to_owned(),
                time: parts.next()?.parse().ok()?,
                subject: parts.next()?.to_owned(),
                changes: Vec::new(),
            })
        });
        Ok(commits.collect())
    }

    /// What is another recording or result in the second of two commits.
    fn changes_between(
        &self,
        commits: [&str; 2],
        places: &RepositoryPaths,
    ) -> Result<Vec<Change>, GitProblem> {
        let [before, now] = commits;
        let difference = [
            "diff-tree",
            "-r",
            "-z",
            "--raw",
            "--no-renames",
            before,
            now,
        ];
        let output = self
            .command(&difference)
            .stdin(Stdio::null())
            .output()
            .map_err(GitProblem::cannot_start)?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(GitProblem::Absent {
                revision: now.to_owned(),
                said,
            });
        }
        let mut parts = output.stdout.split(|byte| *byte == 0);
        let mut changes = Vec::new();
        // `:<mode> <mode> <object> <object> <status>`, then the path.
        while let (Some(head), Some(path)) = (parts.next(), parts.next()) {
            let path = super::objects::path(path);
            let Some(kind) = self.file_kind(&path, places) else {
                continue;
            };
            let head = String::from_utf8_lossy(head);
            let mut words = head.trim_start_matches(':').split(' ').skip(1);
            let (mode, object) = (words.next().unwrap_or_default(), words.nth(1));
            changes.push(if mode == "000000" {
                let object = None;
                Change { kind, path, object }
            } else {
                let (mode, object) = (mode.to_owned(), object.unwrap_or_default().to_owned());
                regular_file(kind, TreeEntry { path, mode, object })?
            });
        }
        Ok(changes)
    }
}

/// A file, which is no link.
fn regular_file(kind: FileKind, entry: TreeEntry) -> Result<Change, GitProblem> {
    let TreeEntry { path, mode, object } = entry;
    if mode == "120000" {
        let revision = "HEAD".to_owned();
        return Err(GitProblem::Link { revision, path });
    }
    Ok(Change {
        kind,
        path,
        object: Some(object),
    })
}
