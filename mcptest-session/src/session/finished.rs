//! A run that is over, to be written.

use std::path::{Path, PathBuf};

use mcptest_trace::eval::OwnAnswers;
use mcptest_trace::record::redact::RedactionCounts;
use mcptest_trace::record::say;
use mcptest_trace::record::store::{Layout, Lock, Store};
use serde_json::Value;

use super::error::SessionError;

/// A run whose secrets are taken out, to be written.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FinishedRun {
    /// The cassette.
    pub cassette: Value,
    /// How often something was taken out, by the name of its variable or what it is.
    pub redacted: RedactionCounts,
    /// What whoever records should know.
    pub notes: Vec<String>,
    /// The model that the agent asked, where its requests say so.
    pub asked_model: Option<String>,
    /// What the suite answers in the place of own tools, with how often each entry was used.
    pub answers: OwnAnswers,
}

impl FinishedRun {
    /// Adds the run to a folder of runs, as `run-1.json` or the next number that is free; the file is
    /// returned.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn add_to(&self, folder: impl AsRef<Path>) -> Result<PathBuf, SessionError> {
        let layout = Layout::Folder(folder.as_ref().to_owned());
        let waiting = || say("waiting: another process records there");
        let _lock = Lock::acquire(&layout, waiting).map_err(SessionError::Store)?;
        let store = Store::pinned(&layout).map_err(SessionError::Store)?;
        store.add(&self.cassette).map_err(SessionError::Store)
    }
}
