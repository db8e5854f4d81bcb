//! Why something was not stored, in words that a user can act on.

use std::fmt;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

/// Why something was not stored. Whatever was recorded before is untouched.
#[derive(Debug)]
pub struct StoreError {
    problem: String,
    help: String,
    /// What the system says.
    source: Option<Error>,
}

impl StoreError {
    fn new(problem: String, help: impl Into<String>) -> Self {
        let help = help.into();
        Self {
            problem,
            help,
            source: None,
        }
    }

    /// Adds what the system says to the end of the problem.
    fn with_system_error(mut self, source: Error) -> Self {
        self.problem = format!("{}: {}", self.problem, system_message(&source));
        self.source = Some(source);
        self
    }

    /// The disk, or what the user may have of it, is full.
    pub(super) fn disk_full(path: &Path) -> Self {
        Self::new(
            format!("{} was not written: the disk is full", display_path(path)),
            "free some space and record again; what was recorded before is untouched",
        )
    }

    /// The file or its folder may not be written.
    pub(super) fn read_only(path: &Path, source: Error) -> Self {
        let help = "make the file and its folder writable, or record on a machine where they are";
        Self::new(format!("{} cannot be written", display_path(path)), help)
            .with_system_error(source)
    }

    /// A folder lies where a file is to be written.
    pub(super) fn folder_in_the_way(path: &Path) -> Self {
        Self::new(
            format!(
                "{} is a folder, and a file is to be written",
                display_path(path)
            ),
            "move the folder away, and record again",
        )
    }

    /// A file lies where a folder is needed.
    pub(super) fn file_in_the_way(path: &Path) -> Self {
        Self::new(
            format!(
                "{} is a file, and a folder is needed there",
                display_path(path)
            ),
            "move the file away, and record again",
        )
    }

    /// Anything else that the file system says; `doing` is the end of "cannot be …".
    pub(super) fn failed(path: &Path, doing: &str, source: Error) -> Self {
        let problem = format!("{} cannot be {doing}", display_path(path));
        Self::new(problem, "remove the cause, and record again").with_system_error(source)
    }

    /// Two layouts hold runs of the same agent.
    pub(super) fn several_layouts(paths: &[&PathBuf]) -> Self {
        let paths: Vec<String> = paths.iter().map(|path| display_path(path)).collect();
        let paths = paths.join(" and ");
        Self::new(
            format!(
                "the runs of this agent are in several places, and must be in one place: {paths}"
            ),
            "keep the recordings you mean and remove the others",
        )
    }

    /// The one file that the suite names holds one run, and more are wanted.
    pub(super) fn single_run_only(path: &Path) -> Self {
        let path = display_path(path);
        Self::new(
            format!("`cassette:` names {path}, which holds one run, and the suite wants more runs"),
            "name a folder or a `.jsonl` file in `cassette:`, or write `runs: 1`",
        )
    }

    /// Runs to publish are not staged, or their files are no JSON.
    pub(super) fn not_staged(folder: &Path, missing: &[usize]) -> Self {
        let (runs, are) = match missing {
            [_] => ("run", "is"),
            _ => ("runs", "are"),
        };
        let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
        let (missing, folder) = (missing.join(", "), display_path(folder));
        Self::new(
            format!("{runs} {missing} {are} not recorded in {folder}"),
            "record these runs too; all runs are replaced together",
        )
    }

    /// The note in a staging folder cannot be understood.
    pub(super) fn bad_marker(path: &Path) -> Self {
        let (path, folder) = (
            display_path(path),
            display_path(path.parent().unwrap_or(path)),
        );
        Self::new(
            format!("{path} does not say which runs an interrupted recording was to replace"),
            format!(
                "keep the runs in {folder} that you want, remove that folder, and record again"
            ),
        )
    }

    /// The path has no file name to store runs under.
    pub(super) fn no_name(path: &Path) -> Self {
        Self::new(
            format!("{} does not end in a name", display_path(path)),
            "name a file or a folder in `cassette:`",
        )
    }

    /// No folder for lock files can be used.
    pub(super) fn no_lock(path: &Path, source: Error) -> Self {
        let help = "make that folder writable, or set `TMPDIR` (`TEMP` on Windows) to one that is";
        Self::new(
            format!("no lock file can be made in {}", display_path(path)),
            help,
        )
        .with_system_error(source)
    }

    /// Sorts an error of writing a path into what a user can act on.
    pub(super) fn from_write_error(path: &Path, doing: &str, source: Error) -> Self {
        match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::disk_full(path),
            _ if is_not_writable(&source) => Self::read_only(path, source),
            ErrorKind::IsADirectory => Self::folder_in_the_way(path),
            ErrorKind::NotADirectory => Self::file_in_the_way(path),
            _ => Self::failed(path, doing, source),
        }
    }

    /// The kind of what the system said.
    pub(super) fn kind(&self) -> Option<ErrorKind> {
        self.source.as_ref().map(Error::kind)
    }

    /// Names the folder as what may not be written to, where the file was only there to try it.
    pub(super) fn for_folder(self, folder: &Path) -> Self {
        match self.source {
            Some(source) if is_not_writable(&source) => Self::read_only(folder, source),
            source => Self { source, ..self },
        }
    }

    /// What is wrong.
    #[must_use]
    pub fn problem(&self) -> String {
        self.problem.clone()
    }

    /// What to do next.
    #[must_use]
    pub fn help(&self) -> String {
        self.help.clone()
    }
}

fn is_not_writable(source: &Error) -> bool {
    matches!(
        source.kind(),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
    )
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.problem, self.help)
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}

/// A path in backticks, with control characters shown instead of sent to the terminal.
fn display_path(path: &Path) -> String {
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
fn system_message(error: &Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_lowercase().chain(characters).collect(),
        None => error.kind().to_string(),
    }
}
