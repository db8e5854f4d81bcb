//! The runs that an agent has, and what tells one from another.

use std::collections::HashMap;
use std::path::Path;

use mcptest_trace::record::say;
use mcptest_trace::record::store::{Layout, Lock, RunPlace, Store, StoreError};
use serde_json::Value;

use mcptest_import::Digest;

/// How runs are written.
#[derive(Debug, Clone, Copy)]
pub(super) struct StoreOptions {
    /// One file of lines an agent.
    pub(super) jsonl: bool,
    /// In the place of those that an agent has.
    pub(super) replace: bool,
    /// Not at all.
    pub(super) check: bool,
}

/// The recordings with a stem in a place; `lines` is the form where there are none yet.
pub(super) fn layout(place: &Path, stem: &str, lines: bool) -> Layout {
    let beside = |end: &str| place.join(format!("{stem}{end}"));
    if lines || beside(".jsonl").is_file() {
        Layout::Lines(beside(".jsonl"))
    } else {
        Layout::Folder(beside(""))
    }
}

/// Keeps other recorders from an agent's runs.
pub(super) fn lock(layout: &Layout) -> Result<Lock, StoreError> {
    Lock::acquire(layout, || say("waiting: another process records there"))
}

/// The runs that are there.
#[derive(Debug, Default)]
pub(super) struct ExistingRuns {
    /// By identifier.
    pub(super) runs: HashMap<String, RecordedRun>,
    pub(super) count: usize,
}

/// A run that is there.
#[derive(Debug)]
pub(super) struct RecordedRun {
    pub(super) place: RunPlace,
    /// What tells it from others of the same identifier.
    pub(super) essence: Digest,
    /// What it is byte for byte.
    pub(super) bytes: Digest,
    /// The file that it was imported from.
    pub(super) file: Option<String>,
}

impl ExistingRuns {
    /// Reads the runs that are there, one at a time.
    pub(super) fn load(store: &Store, mut each: impl FnMut(&Value)) -> Result<Self, StoreError> {
        let mut existing = Self::default();
        store.for_each_run(|place, bytes| {
            existing.count += 1;
            let Ok(run) = serde_json::from_slice::<Value>(bytes) else {
                return;
            };
            each(&run);
            if let Some(id) = identity(&run) {
                let recorded = RecordedRun {
                    place: place.clone(),
                    essence: content_digest(&run),
                    bytes: Digest::from_parts(&[&String::from_utf8_lossy(bytes)]),
                    file: run["imported"]["file"].as_str().map(str::to_owned),
                };
                existing.runs.insert(id, recorded);
            }
        })?;
        Ok(existing)
    }
}

/// What a run is told by: the identifier that it had in its source, else itself.
pub(super) fn identity(run: &Value) -> Option<String> {
    match run.get("imported").and_then(|imported| imported.get("id")) {
        Some(id) => Some(id.as_str()?.to_owned()),
        None => Some(mcptest_import::content_id(run)),
    }
}

/// What makes a run the same run, wherever it was imported from.
pub(super) fn content_digest(run: &Value) -> Digest {
    let mut run = run.clone();
    if let Some(imported) = run.get_mut("imported").and_then(Value::as_object_mut) {
        imported.remove("file");
        imported.remove("record");
    }
    Digest::from_value(&run)
}
