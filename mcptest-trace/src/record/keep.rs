//! Putting a recorder's run into a file.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};

use super::environment::{provider_secrets, secrets_by_name, variables};
use super::redact::{Redactor, TooLarge};
use super::store::{Layout, Lock, Store, StoreError};
use super::{Recorder, say};

impl Recorder {
    /// Writes the run to a new file.
    ///
    /// # Errors
    ///
    /// The file exists, or cannot be written.
    pub fn write_to(&self, file: impl AsRef<Path>) -> Result<(), RecordError> {
        let file = file.as_ref();
        if file.exists() {
            return Err(RecordError::Exists {
                file: file.to_owned(),
            });
        }
        self.store(&Layout::Single(file.to_owned())).map(drop)
    }

    /// Adds the run to a folder of runs, as `run-1.json` or the next number that is free; returns
    /// the file. The folder is made where it is missing.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn add_to(&self, folder: impl AsRef<Path>) -> Result<PathBuf, RecordError> {
        self.store(&Layout::Folder(folder.as_ref().to_owned()))
    }

    fn store(&self, layout: &Layout) -> Result<PathBuf, RecordError> {
        if self.is_writing_disabled() {
            return Err(RecordError::WrittenByHarness);
        }
        let secrets = provider_secrets()
            .chain(self.secrets().iter().cloned())
            .chain(secrets_by_name(variables()));
        let redactor = Redactor::new(secrets, Vec::new()).map_err(RecordError::Redaction)?;
        let mut run = self.cassette();
        redactor.redact_run(&mut run);
        let waiting = || say("waiting: another process records there");
        let _lock = Lock::acquire(layout, waiting)?;
        let store = Store::pinned(layout)?;
        Ok(store.add(&run)?)
    }
}

/// Why a run could not be written.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordError {
    /// The file exists, and a recording is not overwritten.
    Exists {
        /// The file.
        file: PathBuf,
    },
    /// The recorder is the harness's, which writes the run itself.
    WrittenByHarness,
    /// The file or its folder cannot be used.
    Store(StoreError),
    /// The secrets are too many to look for.
    Redaction(TooLarge),
}

impl From<StoreError> for RecordError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exists { file } => write!(
                f,
                "{} exists already, and a recording is not overwritten; remove it first",
                file.display()
            ),
            Self::WrittenByHarness => f.write_str(
                "the harness writes this run when the loop returns; a recorder of one's own writes where it likes",
            ),
            Self::Store(error) => write!(f, "{}; {}", error.problem(), error.help()),
            Self::Redaction(error) => write!(f, "{error}"),
        }
    }
}

impl Error for RecordError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Exists { .. } | Self::WrittenByHarness => None,
            Self::Store(error) => Some(error),
            Self::Redaction(error) => Some(error),
        }
    }
}
