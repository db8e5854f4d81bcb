//! Why the recordings of a revision cannot be read, and what to do.

use std::io;
use std::path::PathBuf;

use crate::failure::Failure;

#[derive(Debug)]
pub(super) enum GitProblem {
    /// There is no git.
    NoGit,
    /// The package is in no repository.
    NoRepository(PathBuf),
    /// No commit has this name.
    Unknown {
        revision: String,
        shallow: bool,
        /// A revision or path that the user may have meant.
        near: Option<String>,
    },
    /// An object of the revision is not in this clone.
    Absent { revision: String, said: String },
    /// A recording lies in Git LFS.
    Lfs { revision: String, path: PathBuf },
    /// A recording is a link.
    Link { revision: String, path: PathBuf },
    /// What git says.
    Git(String),
    /// What the system says.
    Io(io::Error),
}

impl GitProblem {
    /// Git does not start.
    pub(super) fn cannot_start(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::NoGit,
            _ => Self::Io(error),
        }
    }
}

impl From<io::Error> for GitProblem {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// How to compare with what git alone cannot give.
fn folder_advice(revision: &str, more: &str) -> String {
    format!(
        "check the revision out into a folder: `git worktree add ../baseline {revision}`{more}; then name this folder instead of the revision"
    )
}

impl From<GitProblem> for Failure {
    fn from(problem: GitProblem) -> Self {
        match problem {
            GitProblem::NoGit => Self::new("the command needs `git` to read the recordings of a revision, and there is no `git` here")
                .with_help("install git, or name a folder with the recordings instead of a revision"),
            GitProblem::NoRepository(folder) => {
                Self::new(format!("`{}` is in no git repository", folder.display()))
                    .with_help("name a folder with the recordings instead of a revision")
            }
            GitProblem::Unknown { revision, shallow: true, .. } => Self::new(format!(
                "the revision `{revision}` is not in this shallow clone"
            ))
            .with_help("fetch the rest: `git fetch --unshallow`; in a GitHub workflow, `fetch-depth: 0` for actions/checkout"),
            GitProblem::Unknown { revision, near, .. } => {
                let failure = Self::new(format!(
                    "`{revision}` is neither a folder nor a revision that git knows"
                ));
                match near {
                    Some(near) => failure.with_help(format!("did you mean `{near}`?")),
                    None => failure.with_help("`git log --oneline` lists commits, `git branch --all` lists branches, `git tag` lists tags"),
                }
            }
            GitProblem::Absent { revision, said } => Self::new(format!(
                "not all of the recordings at `{revision}` are in this clone: {said}"
            ))
            .with_help("the command fetches nothing; `git fetch --refetch --no-filter` completes a partial clone"),
            GitProblem::Lfs { revision, path } => Self::new(format!(
                "`{}` at `{revision}` is in Git LFS, and git has only a pointer to it",
                path.display()
            ))
            .with_help(folder_advice(&revision, " and `git lfs pull` there")),
            GitProblem::Link { revision, path } => Self::new(format!(
                "`{}` at `{revision}` is a symbolic link, and only files are read",
                path.display()
            ))
            .with_help(folder_advice(&revision, "")),
            GitProblem::Git(said) => Self::new(format!("git says: {said}")),
            GitProblem::Io(error) => Self::new(format!("the recordings of the revision cannot be read: {error}")),
        }
    }
}
