//! Where captured runs are put.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::captured_run::CapturedRun;
use crate::record::RecordError;
use crate::record::environment::{provider_secrets, secrets_by_name, variables};
use crate::record::redact::Redactor;
use crate::record::store::{Layout, Store, StoreError, render, write_atomically};
use crate::text::slug;

/// The file of a run. It is written after each model call and each tool, so that a process that is killed leaves what
/// had happened.
#[derive(Debug, Default)]
pub(super) struct RunFile(Mutex<Place>);

#[derive(Debug, Default)]
struct Place {
    path: Option<PathBuf>,
    /// The number of the state that was written last.
    state: u64,
}

impl RunFile {
    /// Writes a state of the run, unless a later one stands there.
    pub(super) fn write(
        &self,
        state: u64,
        run: &CapturedRun,
        folder: &Path,
        redactor: &Redactor,
    ) -> Result<(), RecordError> {
        let mut place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state <= place.state {
            return Ok(());
        }
        let mut cassette = run.cassette();
        redactor.redact_run(&mut cassette);
        let path = match &place.path {
            Some(path) => {
                write_atomically(path, render(&cassette).as_bytes()).map(|()| path.clone())
            }
            None => add(run, &cassette, folder),
        };
        place.path = Some(path?);
        place.state = state;
        Ok(())
    }
}

/// Adds a run to those of its agent with its model, where a suite looks for them. Without their lock: whoever records the
/// agent may hold it, and wait for this process.
fn add(run: &CapturedRun, cassette: &Value, folder: &Path) -> Result<PathBuf, StoreError> {
    let stem = format!("{}__{}", slug(&run.agent), slug(&run.model));
    Store::pinned(&Layout::Folder(folder.join(stem)))?.add_unlocked(cassette)
}

/// What is taken out of the runs: the values of variables that hold keys, and what the program named.
pub(super) fn redactor(named: &[(String, String)]) -> Result<Redactor, RecordError> {
    let secrets = provider_secrets()
        .chain(named.iter().cloned())
        .chain(secrets_by_name(variables()));
    Redactor::new(secrets, Vec::new()).map_err(RecordError::Redaction)
}
