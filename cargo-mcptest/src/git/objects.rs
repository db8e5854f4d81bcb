//! Git's objects, through one `git cat-file --batch`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use super::Repository;
use super::problem::GitProblem;

/// How a file begins that stands for one in Git LFS.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// A file of a tree.
#[derive(Debug)]
pub(super) struct TreeEntry {
    /// From the repository's top.
    pub(super) path: PathBuf,
    pub(super) mode: String,
    /// Its object's name.
    pub(super) object: String,
}

/// A process that reads objects.
pub(super) struct Objects {
    child: Child,
    asked: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    /// As the user named it.
    revision: String,
}

impl Objects {
    pub(super) fn open(repository: &Repository, revision: &str) -> Result<Self, GitProblem> {
        let mut child = repository
            .command(&["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(GitProblem::cannot_start)?;
        let (asked, answers) = (child.stdin.take(), child.stdout.take());
        let answers = answers.ok_or_else(|| GitProblem::Git("git has no output".to_owned()))?;
        Ok(Self {
            child,
            asked,
            answers: BufReader::new(answers),
            revision: revision.to_owned(),
        })
    }

    /// The files of a commit, by their paths from the repository's top.
    pub(super) fn tree(
        &self,
        repository: &Repository,
        commit: &str,
    ) -> Result<Vec<TreeEntry>, GitProblem> {
        let output = repository
            .command(&["ls-tree", "-r", "-z", "--full-tree", commit])
            .stdin(Stdio::null())
            .output()
            .map_err(GitProblem::cannot_start)?;
        if !output.status.success() {
            return Err(self.missing_object(&String::from_utf8_lossy(&output.stderr)));
        }
        let lines = output
            .stdout
            .split(|byte| *byte == 0)
            .filter(|line| !line.is_empty());
        let entries = lines.filter_map(|line| {
            let tab = line.iter().position(|byte| *byte == b'\t')?;
            let mut words = str::from_utf8(&line[..tab]).ok()?.split(' ');
            let (mode, kind, object) = (words.next()?, words.next()?, words.next()?);
            (kind == "blob").then(|| TreeEntry {
                path: path(&line[tab + 1..]),
                mode: mode.to_owned(),
                object: object.to_owned(),
            })
        });
        Ok(entries.collect())
    }

    /// The bytes of an object, which the file at this path has.
    pub(super) fn read(&mut self, object: &str, path: &Path) -> Result<Vec<u8>, GitProblem> {
        let asked = self
            .asked
            .as_mut()
            .ok_or_else(|| GitProblem::Git("git is closed".to_owned()))?;
        writeln!(asked, "{object}")?;
        asked.flush()?;
        let mut head = String::new();
        self.answers.read_line(&mut head)?;
        let size = head
            .trim_end()
            .rsplit_once(' ')
            .and_then(|(_, size)| size.parse::<usize>().ok());
        let Some(size) = size else {
            return Err(self.missing_object(&head));
        };
        let mut bytes = vec![0; size];
        self.answers.read_exact(&mut bytes)?;
        let mut line_end = [0];
        self.answers.read_exact(&mut line_end)?;
        if bytes.starts_with(LFS_POINTER) {
            return Err(GitProblem::Lfs {
                revision: self.revision.clone(),
                path: path.to_owned(),
            });
        }
        Ok(bytes)
    }

    /// An object is not in this clone.
    fn missing_object(&self, said: &str) -> GitProblem {
        GitProblem::Absent {
            revision: self.revision.clone(),
            said: said.trim().to_owned(),
        }
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        // Without a line to read it ends by itself.
        self.asked = None;
        _ = self.child.wait();
    }
}

#[cfg(unix)]
pub(super) fn path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
pub(super) fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}
