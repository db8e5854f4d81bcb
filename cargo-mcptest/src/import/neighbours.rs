//! What else has its recordings in the folder that an import writes to.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use mcptest_suite::model::Suite;
use mcptest_suite::shown_path;
use mcptest_trace::record::redact::Redactor;
use mcptest_trace::record::store::Store;
use serde_json::Value;

use super::plan::{Group, asked};
use super::store;
use super::writing::Options;

/// The recordings that an agent of this import may not be given: those of other suites, and those of other
/// agents that no suite has any more.
pub(super) struct Neighbours<'n> {
    place: &'n Path,
    pub(super) options: Options,
    redactor: &'n Redactor,
    /// The suites beside this one, by the stems of their recordings, in lower case as some disks have it.
    suites: HashMap<String, String>,
}

impl<'n> Neighbours<'n> {
    /// Of a suite whose recordings lie in a place.
    pub(super) fn of(
        suite: &Path,
        place: &'n Path,
        options: Options,
        redactor: &'n Redactor,
    ) -> Self {
        let folder = suite.parent().unwrap_or(Path::new(""));
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        let mut paths: Vec<PathBuf> = fs::read_dir(folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.file_name() != suite.file_name() && is_suite(path))
            .collect();
        paths.sort();
        let mut suites = HashMap::new();
        for path in paths {
            let shown = shown_path(&path);
            let Ok(read) = Suite::read(&path, &shown) else {
                continue;
            };
            for agent in &read.agents {
                for model in &agent.models {
                    let stem = agent.cassette_stem(&model.value).to_lowercase();
                    suites.entry(stem).or_insert_with(|| shown.clone());
                }
            }
        }
        Self {
            place,
            options,
            redactor,
            suites,
        }
    }

    /// The other suite that has the recordings with a stem.
    pub(super) fn suite(&self, stem: &str) -> Option<&str> {
        self.suites.get(&stem.to_lowercase()).map(String::as_str)
    }

    /// Whose the recordings with a stem are, where they are not those of a group.
    pub(super) fn keeps(&self, stem: &str, group: &Group) -> Option<String> {
        match self.suite(stem) {
            Some(suite) => Some(format!("those of `{suite}`")),
            None if self.has_others(stem, group) => {
                Some("which were asked something else".to_owned())
            }
            None => None,
        }
    }

    /// Whether the recordings with a stem are no runs of a group: they were asked something else.
    fn has_others(&self, stem: &str, group: &Group) -> bool {
        if group.by_task || self.options.replace {
            return false;
        }
        let layout = store::layout(self.place, stem, self.options.jsonl);
        let mut others = false;
        // What cannot be read is told when it is written to.
        _ = Store::new(&layout).and_then(|store| {
            store.each(|_, bytes| {
                let run = serde_json::from_slice::<Value>(bytes);
                others |= run.is_ok_and(|run| asked(&run, self.redactor) != group.asked);
            })
        });
        others
    }
}

fn is_suite(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("yml" | "yaml"))
}
