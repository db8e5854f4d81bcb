//! Why a recording could not be stored, and what to do.

use std::fmt;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

/// Why something was not stored. Whatever was recorded before is untouched.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// The disk, or what the user may have of it, is full.
    Full {
        /// Where.
        path: PathBuf,
    },
    /// The file or its folder may not be written.
    ReadOnly {
        /// Where.
        path: PathBuf,
        /// What the system says.
        source: Error,
    },
    /// A folder lies where a file is to be written.
    FolderInTheWay {
        /// Where.
        path: PathBuf,
    },
    /// A file lies where a folder is needed.
    FileInTheWay {
        /// Where.
        path: PathBuf,
    },
    /// Anything else the file system says.
    Failed {
        /// Where.
        path: PathBuf,
        /// What was tried: the end of "cannot be …".
        doing: &'static str,
        /// What the system says.
        source: Error,
    },
    /// Two layouts hold runs of the same agent.
    Several {
        /// Where each of them lies.
        paths: Vec<PathBuf>,
    },
    /// The one file that the suite names holds one run, and more are wanted.
    OneRun {
        /// Where.
        path: PathBuf,
    },
    /// A run to publish is not staged, or its file is no JSON.
    NotStaged {
        /// The staging folder.
        folder: PathBuf,
        /// The numbers of the runs.
        missing: Vec<usize>,
    },
    /// The note in a staging folder cannot be understood.
    BadMarker {
        /// Where.
        path: PathBuf,
    },
    /// The path has no file name to store runs under.
    NoName {
        /// Where.
        path: PathBuf,
    },
    /// No folder for lock files can be used.
    NoLock {
        /// Where.
        path: PathBuf,
        /// What the system says.
        source: Error,
    },
}

impl StoreError {
    /// Sorts an error of writing a path into what a user can act on.
    pub(super) fn writing(path: &Path, doing: &'static str, source: Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::Full { path },
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                Self::ReadOnly { path, source }
            }
            ErrorKind::IsADirectory => Self::FolderInTheWay { path },
            ErrorKind::NotADirectory => Self::FileInTheWay { path },
            _ => Self::Failed {
                path,
                doing,
                source,
            },
        }
    }

    /// What is wrong.
    pub fn problem(&self) -> String {
        match self {
            Self::Full { path } => format!("{} was not written: the disk is full", shown(path)),
            Self::ReadOnly { path, source } => {
                format!("{} cannot be written: {}", shown(path), said(source))
            }
            Self::FolderInTheWay { path } => {
                format!("{} is a folder, and a file is to be written", shown(path))
            }
            Self::FileInTheWay { path } => {
                format!("{} is a file, and a folder is needed there", shown(path))
            }
            Self::Failed {
                path,
                doing,
                source,
            } => format!("{} cannot be {doing}: {}", shown(path), said(source)),
            Self::Several { paths } => {
                let paths: Vec<String> = paths.iter().map(|path| shown(path)).collect();
                let paths = paths.join(" and ");
                format!("the runs of one agent lie in one place, and here are {paths}")
            }
            Self::OneRun { path } => {
                format!(
                    "`cassette:` names {}, which holds one run, and more are wanted",
                    shown(path)
                )
            }
            Self::NotStaged { folder, missing } => {
                let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
                let (runs, are) = match missing.as_slice() {
                    [_] => ("run", "is"),
                    _ => ("runs", "are"),
                };
                let missing = missing.join(", ");
                format!("{runs} {missing} {are} not recorded in {}", shown(folder))
            }
            Self::BadMarker { path } => format!(
                "{} does not say which runs an interrupted recording was to replace",
                shown(path)
            ),
            Self::NoName { path } => format!("{} does not end in a name", shown(path)),
            Self::NoLock { path, source } => {
                format!(
                    "no lock file can be made in {}: {}",
                    shown(path),
                    said(source)
                )
            }
        }
    }

    /// What to do next.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Full { .. } => {
                "free some space and record again; what was recorded before is untouched".to_owned()
            }
            Self::ReadOnly { .. } => {
                "make the file and its folder writable, or record on a machine where they are"
                    .to_owned()
            }
            Self::FolderInTheWay { .. } => "move the folder away, and record again".to_owned(),
            Self::FileInTheWay { .. } => "move the file away, and record again".to_owned(),
            Self::Failed { .. } => "see to the cause, and record again".to_owned(),
            Self::Several { .. } => "keep the recordings you mean and remove the others".to_owned(),
            Self::OneRun { .. } => {
                "name a folder or a `.jsonl` file in `cassette:`, or say `runs: 1`".to_owned()
            }
            Self::NotStaged { .. } => "record them, and all runs are replaced together".to_owned(),
            Self::BadMarker { path } => {
                let folder = path.parent().unwrap_or(path);
                format!(
                    "keep the runs in {} that you want, remove that folder, and record again",
                    shown(folder)
                )
            }
            Self::NoName { .. } => "name a file or a folder in `cassette:`".to_owned(),
            Self::NoLock { .. } => {
                "make that folder writable, or set `TMPDIR` (`TEMP` on Windows) to one that is"
                    .to_owned()
            }
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.problem(), self.help())
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::ReadOnly { source, .. }
            | Self::Failed { source, .. }
            | Self::NoLock { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// A path in backticks, with control characters shown instead of sent to the terminal.
fn shown(path: &Path) -> String {
    let mut text = String::from("`");
    for character in path.to_string_lossy().chars() {
        if character.is_control() {
            text.extend(character.escape_default());
        } else {
            text.push(character);
        }
    }
    text.push('`');
    text
}

/// What the operating system says, without its number and its capital letter.
fn said(error: &Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_lowercase().chain(characters).collect(),
        None => error.kind().to_string(),
    }
}
