//! What is checked out.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::Repository;
use super::problem::GitProblem;

/// A commit, and whether what is judged is something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct CommitState {
    /// Its full name.
    name: String,
    /// Seconds since 1970.
    time: i64,
    /// The first line of its message.
    subject: String,
    /// Whether files of the package are not as the commit has them.
    changed: bool,
}

impl CommitState {
    /// What is checked out around a package; nothing where no commit is. Files that git does not know count below
    /// `places` alone: the suites and the recordings.
    pub(crate) fn checked_out(
        package: &Path,
        places: impl Iterator<Item = PathBuf>,
    ) -> Option<Self> {
        let repository = Repository::discover(package).ok()?;
        let mut state = repository.commit_state("HEAD").ok()?;
        let places: Vec<String> = places
            .filter(|place| place.starts_with(package))
            .map(|place| place.to_string_lossy().into_owned())
            .collect();
        let known = ["status", "--porcelain", "--untracked-files=no", "--", "."];
        let new = ["status", "--porcelain", "--untracked-files=normal", "--"];
        let new: Vec<&str> = new
            .into_iter()
            .chain(places.iter().map(String::as_str))
            .collect();
        let differs = |arguments: &[&str]| repository.run(arguments).is_ok_and(|it| !it.is_empty());
        state.changed = differs(&known) || (!places.is_empty() && differs(&new));
        Some(state)
    }

    /// A commit of the repository around a package.
    pub(crate) fn at(package: &Path, commit: &str) -> Option<Self> {
        Repository::discover(package)
            .ok()?
            .commit_state(commit)
            .ok()
    }
}

impl Repository {
    fn commit_state(&self, revision: &str) -> Result<CommitState, GitProblem> {
        let name = self.resolve_commit(revision)?;
        let commit = self.run_log(&["--max-count=1", &name])?.into_iter().next();
        Ok(CommitState {
            name,
            time: commit
                .as_ref()
                .map(|commit| commit.time)
                .unwrap_or_default(),
            subject: commit.map(|commit| commit.subject).unwrap_or_default(),
            changed: false,
        })
    }
}
