//! Recordings at a git revision, read from git's objects: nothing is checked out, nothing is fetched,
//! and the work tree stays as it is.
//!
//! What is found lies in a temporary folder like the package lies in its repository, so that suites
//! find their recordings in it as they do in the package.

mod checked_out;
mod history;
mod objects;
mod problem;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::failure::Failure;
pub(crate) use checked_out::CommitState;
pub(crate) use history::{Commit, FileKind, History, RepositoryPaths};
use objects::{Objects, TreeEntry};
use problem::GitProblem;

/// Recordings at a revision.
#[derive(Debug)]
pub(crate) struct Revision {
    /// The full name of the commit.
    pub(crate) commit: String,
    /// The package's folder as it is laid out in the temporary one.
    pub(crate) package: PathBuf,
    /// How many files were read.
    pub(crate) files: usize,
    /// The stems of all recordings of the repository there, wherever they lie.
    pub(crate) stems: BTreeSet<String>,
    /// Folders of packages that are nested in the package there, from its own.
    pub(crate) nested: BTreeSet<PathBuf>,
    /// Removed when this is dropped.
    _folder: TempDir,
}

/// A git repository around a package.
struct Repository {
    /// Where git is called.
    folder: PathBuf,
    /// The package's folder from the repository's top; empty at the top.
    prefix: PathBuf,
}

impl Revision {
    /// Reads the recordings that a package has at a revision: the `.json` and `.jsonl` files of every
    /// folder `cassettes`, and those below the places that suites name (`cassette:`), which are
    /// relative to the package. And its suites: all files below the folders that are their roots.
    pub(crate) fn read(
        package: &Path,
        revision: &str,
        named: &[PathBuf],
        roots: &[PathBuf],
    ) -> Result<Self, Failure> {
        let repository = Repository::discover(package).map_err(Failure::from)?;
        let read = repository.read(revision, named, roots);
        read.map_err(Failure::from)
    }
}

/// The stem of a recording by its path: an agent and a model, below a folder `cassettes`.
fn recording_stem(path: &Path) -> Option<String> {
    let kept = path
        .extension()
        .is_some_and(|end| end == "json" || end == "jsonl");
    let below = path.iter().any(|part| part == "cassettes");
    let parts = [path.file_stem(), path.parent().and_then(Path::file_name)];
    let mut names = parts
        .into_iter()
        .flatten()
        .map(|name| name.to_string_lossy());
    let stem = names.find(|name| name.contains("__"));
    stem.filter(|_| kept && below)
        .map(std::borrow::Cow::into_owned)
}

/// A package's folder from the top of its repository; nothing where it is in none.
pub(crate) fn repository_prefix(package: &Path) -> Option<PathBuf> {
    Repository::discover(package)
        .ok()
        .map(|repository| repository.prefix)
}

/// Whether git ignores a path of a folder; nothing where the folder is in no repository, or there is no git.
pub(crate) fn ignores(folder: &Path, path: &Path) -> Option<bool> {
    let repository = Repository::discover(folder).ok()?;
    let mut git = repository.command(&["check-ignore", "--quiet", "--no-index", "--"]);
    let asked = git.arg(path).stdin(Stdio::null()).output().ok()?;
    match asked.status.code() {
        Some(0) => Some(true),
        Some(1) => Some(false),
        _ => None,
    }
}

impl Repository {
    fn discover(package: &Path) -> Result<Self, GitProblem> {
        let mut repository = Self {
            folder: package.to_owned(),
            prefix: PathBuf::new(),
        };
        let prefix = repository
            .run(&["rev-parse", "--show-prefix"])
            .map_err(|problem| match problem {
                GitProblem::Git(said) if said.contains("not a git repository") => {
                    GitProblem::NoRepository(package.to_owned())
                }
                problem => problem,
            })?;
        repository.prefix = PathBuf::from(prefix);
        Ok(repository)
    }

    fn read(
        &self,
        revision: &str,
        named: &[PathBuf],
        roots: &[PathBuf],
    ) -> Result<Revision, GitProblem> {
        let commit = self.resolve_commit(revision)?;
        let folder = tempfile::Builder::new()
            .prefix("mcptest-")
            .tempdir()
            .map_err(GitProblem::from)?;
        let mut objects = Objects::open(self, revision)?;
        let mut files = 0;
        let (mut nested, mut stems) = (BTreeSet::new(), BTreeSet::new());
        for TreeEntry { path, mode, object } in objects.tree(self, &commit)? {
            if path.ends_with("Cargo.toml") {
                let folder = path.parent().unwrap_or(Path::new(""));
                let below = folder.strip_prefix(&self.prefix).ok();
                nested.extend(below.filter(|it| *it != Path::new("")).map(Path::to_owned));
            }
            let is_recording = self.is_recording(&path, named);
            stems.extend(recording_stem(&path));
            if !is_recording && !self.is_suite(&path, roots) {
                continue;
            }
            if mode == "120000" && !is_recording {
                // Links are not followed, here as in the work tree's own objects.
                continue;
            }
            if mode == "120000" {
                return Err(GitProblem::Link {
                    revision: revision.to_owned(),
                    path,
                });
            }
            let bytes = objects.read(&object, &path)?;
            // A path in a git tree has no `..`; git refuses to make one.
            let place = folder.path().join(&path);
            fs::create_dir_all(place.parent().unwrap_or(folder.path()))
                .map_err(GitProblem::from)?;
            fs::write(place, bytes).map_err(GitProblem::from)?;
            files += usize::from(is_recording);
        }
        let package = folder.path().join(&self.prefix);
        fs::create_dir_all(&package).map_err(GitProblem::from)?;
        Ok(Revision {
            commit,
            package,
            files,
            stems,
            nested,
            _folder: folder,
        })
    }

    /// Whether a file is a suite of the package, or lies beside one.
    fn is_suite(&self, path: &Path, roots: &[PathBuf]) -> bool {
        let mut roots = roots
            .iter()
            .filter_map(|root| relative_to_prefix(&self.prefix, root));
        roots.any(|root| path.starts_with(root))
    }

    /// Whether a file is one of a folder `cassettes` of the package, or below a place that suites name.
    fn is_recording(&self, path: &Path, named: &[PathBuf]) -> bool {
        let kept = path
            .extension()
            .is_some_and(|end| end == "json" || end == "jsonl");
        let in_folder = |path: &Path| {
            path.parent()
                .is_some_and(|folder| folder.iter().any(|part| part == "cassettes"))
        };
        let own = path.strip_prefix(&self.prefix).is_ok_and(in_folder);
        let mut named = named
            .iter()
            .filter_map(|place| relative_to_prefix(&self.prefix, place));
        kept && (own || named.any(|place| path.starts_with(place)))
    }

    /// The full name of the commit that a revision means.
    fn resolve_commit(&self, revision: &str) -> Result<String, GitProblem> {
        let commit = |revision: &str| {
            let wanted = format!("{revision}^{{commit}}");
            self.run(&[
                "rev-parse",
                "--verify",
                "--quiet",
                "--end-of-options",
                &wanted,
            ])
        };
        commit(revision).map_err(|_| {
            let is = |answer: &str| {
                self.run(&["rev-parse", answer])
                    .is_ok_and(|said| said == "true")
            };
            let remote = format!("origin/{revision}");
            GitProblem::Unknown {
                revision: revision.to_owned(),
                shallow: is("--is-shallow-repository"),
                near: commit(&remote).is_ok().then_some(remote),
            }
        })
    }

    /// Runs git, and returns what it says without the line end.
    fn run(&self, arguments: &[&str]) -> Result<String, GitProblem> {
        let output = self
            .command(arguments)
            .stdin(Stdio::null())
            .output()
            .map_err(GitProblem::cannot_start)?;
        let text = |bytes: &[u8]| {
            String::from_utf8_lossy(bytes)
                .trim_end_matches('\n')
                .to_owned()
        };
        if output.status.success() {
            Ok(text(&output.stdout))
        } else {
            Err(GitProblem::Git(text(&output.stderr)))
        }
    }

    /// Git that fetches nothing, asks nothing and locks nothing.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command
            .arg("-C")
            .arg(&self.folder)
            .args(arguments)
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C");
        command
    }
}

/// A place relative to a folder of the repository, from the repository's top; `None` outside of it.
fn relative_to_prefix(prefix: &Path, place: &Path) -> Option<PathBuf> {
    let mut found = PathBuf::new();
    for part in prefix.join(place).components() {
        match part {
            Component::Normal(part) => found.push(part),
            Component::CurDir => {}
            Component::ParentDir => {
                if !found.pop() {
                    return None;
                }
            }
            Component::Prefix(_) | Component::RootDir => return None,
        }
    }
    Some(found)
}
