//! Putting a recorder's run into a file.

use std::path::{Path, PathBuf};

use super::environment::{provider_secrets, secrets_by_name, variables};
use super::redact::Redactor;
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
            return Err(RecordError(format!(
                "{} exists already, and a recording is not overwritten; remove it first",
                file.display()
            )));
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
        let stored =
            |error: StoreError| RecordError(format!("{}; {}", error.problem(), error.help()));
        if self.is_writing_disabled() {
            return Err(RecordError(
                "the harness writes this run when the loop returns; a recorder of one's own writes where it likes"
                    .to_owned(),
            ));
        }
        let secrets = provider_secrets()
            .chain(self.secrets().iter().cloned())
            .chain(secrets_by_name(variables()));
        let redactor =
            Redactor::new(secrets, Vec::new()).map_err(|error| RecordError(error.to_string()))?;
        let mut run = self.cassette();
        redactor.redact_run(&mut run);
        let waiting = || say("waiting: another process records there");
        let _lock = Lock::acquire(layout, waiting).map_err(stored)?;
        let store = Store::pinned(layout).map_err(stored)?;
        store.add(&run).map_err(stored)
    }
}

/// Why a run could not be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordError(String);

impl RecordError {
    #[cfg(feature = "tracing")]
    pub(crate) fn new(what: String) -> Self {
        Self(what)
    }
}

impl std::fmt::Display for RecordError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RecordError {}
