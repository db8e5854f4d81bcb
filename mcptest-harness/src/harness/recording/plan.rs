//! What is to be recorded of an agent, found out before anything is spent.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::panic::{AssertUnwindSafe, catch_unwind};

use mcptest_suite::Subject;
use mcptest_trace::record::store::Store;
use serde_json::Value;

use super::cost::Cost;
use super::work::Work;
use super::{LiveRecording, REQUEST, ToRecord, is_complete, open_store, to_failure, with_subject};
use crate::harness::loaded::LoadedSuite;
use crate::harness::lookup::RunLookup;
use crate::harness::verdicts::panic_text;
use crate::record::{LiveError, Mode, request_fingerprint};
use crate::trace::{Origin, Run, parse_run};

/// What is to be recorded of an agent, and what that will cost.
pub(crate) struct Plan {
    pub(super) work: Work,
    /// How many runs the suite declares.
    pub(super) declared: usize,
    pub(super) cost: Cost,
    /// What tells the files that it was found out from, where they are looked at.
    stamp: u64,
}

impl Plan {
    /// Whether the files are those that it was found out from.
    pub(super) fn is_current(&self, subject: &ToRecord<'_>) -> bool {
        self.stamp == files_stamp(subject)
    }
}

impl LiveRecording {
    /// Finds out what is to be recorded of an agent. Where what changed is asked, its code runs once for each recording.
    pub(crate) fn plan(&self, suite: &LoadedSuite, subject: Subject) -> Plan {
        with_subject(suite, subject, |asked| {
            let is_looked_at = self.asked.mode == Mode::Changed;
            let stamp = if is_looked_at { files_stamp(&asked) } else { 0 };
            let work = match self.asked.mode {
                Mode::Missing => missing_work(&asked),
                Mode::All => all_work(&asked),
                Mode::Changed => {
                    let find = || self.find_changed(suite, subject, asked);
                    catch_unwind(AssertUnwindSafe(find)).unwrap_or_else(|panic| {
                        let error = LiveError::new("looking for what changed panicked");
                        let said = panic_text(&*panic).unwrap_or_default();
                        Work::Fails(to_failure(asked.agent, error.show(said)))
                    })
                }
            };
            Plan {
                cost: Cost::new(&asked, &work),
                work,
                declared: asked.agent.runs.value,
                stamp,
            }
        })
    }
}

impl ToRecord<'_> {
    /// What tells what is asked of the agent from what was asked of it.
    pub(super) fn request(&self) -> String {
        request_fingerprint(self.suite, self.agent, self.model)
    }

    /// The runs of the agent on disk; nothing where there is no one place for them.
    pub(super) fn store(&self) -> Option<Store> {
        let layout = self.lookup().layout(self.agent.runs.value).ok()?;
        open_store(self.agent, &layout).ok()
    }

    /// The runs that an interrupted recording left and that are of what the suite asks now, by their numbers.
    pub(super) fn interrupted_runs(&self) -> Vec<(usize, Run)> {
        let files = self.store().and_then(|store| store.staged_files().ok());
        let asked = self.request();
        let read = files.into_iter().flatten().filter_map(|(number, path)| {
            let bytes = std::fs::read(&path).ok()?;
            let value: Value = serde_json::from_slice(&bytes).ok()?;
            let fits = number <= self.agent.runs.value && value[REQUEST] == asked.as_str();
            let origin = Origin::file(self.lookup().display_path(&path));
            let run = parse_run(&bytes, &origin).ok().filter(|_| fits)?;
            Some((number, run))
        });
        let mut left: Vec<_> = read.collect();
        left.retain(|(_, run)| (self.stale)(std::slice::from_ref(run)).is_empty());
        left
    }
}

/// The work to record the runs that are declared and not there. Looks, and writes nothing.
fn missing_work(asked: &ToRecord<'_>) -> Work {
    let wanted = asked.lookup();
    if is_complete(asked.agent, &wanted) {
        return Work::Nothing;
    }
    let declared = asked.agent.runs.value;
    let there = asked.store().and_then(|store| store.count_runs().ok());
    let there = match there.unwrap_or_default() {
        0 => asked.interrupted_runs().len(),
        there => there,
    };
    Work::Missing(declared.saturating_sub(there))
}

/// The work to record all runs, but for those that an interrupted recording left.
fn all_work(asked: &ToRecord<'_>) -> Work {
    let left = asked.interrupted_runs().len();
    let published = asked.store().is_some_and(|store| store.is_interrupted());
    let left = if published { 0 } else { left };
    Work::All {
        left: None,
        count: asked.agent.runs.value - left,
        why: None,
    }
}

/// What tells the files of an agent's runs, and of those that were left, from others: in this process alone.
fn files_stamp(asked: &ToRecord<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    let there = run_files(&asked.lookup());
    let left = asked.store().and_then(|store| store.staged_files().ok());
    let left = left.into_iter().flatten().map(|(_, path)| path);
    for path in there.into_iter().chain(left) {
        path.hash(&mut hasher);
        std::fs::read(&path).unwrap_or_default().hash(&mut hasher);
    }
    hasher.finish()
}

fn run_files(wanted: &RunLookup<'_>) -> Vec<std::path::PathBuf> {
    let files = wanted.files().unwrap_or_default().into_iter();
    files.map(|(path, _)| path).collect()
}
