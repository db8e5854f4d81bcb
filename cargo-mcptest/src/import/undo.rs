//! An import taken back.
//!
//! What an import wrote is told by doing it once more: a recording goes if it is, byte for byte, what
//! the same files and options give today. Whatever else is there stays, and is told with the reason.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use mcptest_suite::model::{Agent, Suite};
use mcptest_suite::portable_path;
use mcptest_trace::record::store::{RunPlace, Store, render, render_line};
use serde_json::{Value, json};

use super::names::{Name, by_agent};
use super::neighbours::Neighbours;
use super::store::{ExistingRuns, identity, layout, lock};
use super::writing::Writing;
use crate::failure::Failure;
use mcptest_import::Digest;
use mcptest_trace::text::pluralize;

/// The result of undoing an import.
#[derive(Debug, Default)]
pub(super) struct Undone {
    /// The recordings that go.
    pub(super) gone: Vec<String>,
    /// The suite that goes.
    pub(super) suite: Option<PathBuf>,
    /// What stays, and why.
    pub(super) left: Vec<(String, &'static str)>,
    /// Runs of the files that are not recorded.
    pub(super) absent: usize,
    /// Runs of the same agents that no file of these has.
    others: usize,
    /// What is to be done about the suite, where it stays.
    notes: Vec<String>,
}

const CHANGED: &str =
    "is not what this import writes: it was changed since, or imported with other options";
const OTHER_SUITE: &str = "is a recording of another suite too";
const OTHER_FILE: &str = "was imported from another file";
const OTHER_AGENTS: &str = "has other agents";
const RECORDINGS: &str = "has recordings left";
const UNCLAIMED: &str = "is beside recordings that no suite asks for: the entry of another import may still be missing in it";
const CHANGED_SUITE: &str =
    "is not the one that this import proposes: it was there before, or was changed since";

impl Writing<'_> {
    /// Finds what this import would have written as it is there, and removes it unless that is only to
    /// be shown.
    pub(super) fn undo(&mut self, names: &[Name]) -> Result<Undone, Failure> {
        let mut undone = Undone::default();
        for groups in by_agent(names) {
            let mut prompt = None;
            for index in groups {
                self.undo_group(index, &names[index], &mut prompt, &mut undone)?;
            }
        }
        Ok(undone)
    }

    fn undo_group(
        &mut self,
        index: usize,
        name: &Name,
        prompt: &mut Option<String>,
        undone: &mut Undone,
    ) -> Result<(), Failure> {
        let plan = self.plan;
        let group = &plan.groups[index];
        let layout = layout(self.place, &name.stem, self.options.jsonl);
        let _lock = if self.options.check {
            None
        } else {
            Some(lock(&layout)?)
        };
        let store = Store::new(&layout)?;
        let ExistingRuns {
            runs: mut recorded,
            count: there,
        } = ExistingRuns::load(&store, |_| {})?;
        if let Some(entry) = name.entry
            && let Some(suite) = self.suite
        {
            *prompt = Some(suite.agents[entry].prompt.first().value.clone());
        }
        let (mut going, mut matched) = (Vec::new(), 0);
        for run in &group.runs {
            let Some((run, _)) = self.prepare_run(*run, group, name, prompt) else {
                continue;
            };
            let Some(known) = identity(&run).and_then(|id| recorded.remove(&id)) else {
                undone.absent += 1;
                continue;
            };
            matched += 1;
            let text = match known.place.line {
                Some(_) => render_line(&run),
                None => render(&run),
            };
            if self.neighbours.suite(&name.stem).is_some() {
                undone.left.push((display_place(&known.place), OTHER_SUITE));
            } else if known.bytes == Digest::from_parts(&[&text]) {
                undone.gone.push(display_place(&known.place));
                going.push(known.place);
            } else if known.file.as_deref() != run["imported"]["file"].as_str() {
                undone.left.push((display_place(&known.place), OTHER_FILE));
            } else {
                undone.left.push((display_place(&known.place), CHANGED));
            }
        }
        undone.others += there - matched;
        if !going.is_empty() {
            let note = self.count_advice(name, &group.model, there - going.len());
            undone.notes.extend(note);
        }
        if !self.options.check && !going.is_empty() {
            store.remove(&going)?;
        }
        Ok(())
    }
}

impl Undone {
    /// The suite goes with its last recording, if it is still the one that the import proposes. `own` are the
    /// agents of the import.
    pub(super) fn remove_suite(
        &mut self,
        path: &Path,
        own: &[Name],
        proposed: Option<&str>,
        suite: Option<&Suite>,
        neighbours: &Neighbours<'_>,
    ) {
        let Some(suite) = suite.filter(|_| !self.gone.is_empty()) else {
            self.notes.clear();
            return;
        };
        let agents: HashSet<&str> = own.iter().map(|name| &*name.agent).collect();
        let is_own = |agent: &Agent| agents.contains(agent.name.value.as_str());
        let stems: HashSet<&str> = own.iter().map(|name| name.stem.as_str()).collect();
        let is_proposed = proposed == Some(suite.source.text());
        let why = if !self.left.is_empty() || self.others > 0 {
            RECORDINGS
        } else if is_proposed && neighbours.has_unclaimed(&stems) {
            UNCLAIMED
        } else if is_proposed {
            self.suite = Some(path.to_owned());
            self.notes.clear();
            return;
        } else if suite.agents.iter().all(is_own) {
            CHANGED_SUITE
        } else {
            OTHER_AGENTS
        };
        self.left.push((portable_path(path), why));
    }

    /// Whether something stays that this import may have written: not the suite that others need.
    pub(super) fn is_partial(&self) -> bool {
        let needed = [RECORDINGS, OTHER_AGENTS, UNCLAIMED];
        self.left.iter().any(|(_, why)| !needed.contains(why))
    }

    pub(super) fn json(&self, removed: bool) -> Value {
        let left = self.left.iter();
        let left = left.map(|(path, why)| json!({ "path": path, "reason": why }));
        json!({
            "format": "import-undo/1.0",
            "removed": removed,
            "recordings": self.gone,
            "suite": self.suite.as_deref().map(portable_path),
            "left": left.collect::<Vec<_>>(),
            "absent": self.absent,
            "notes": self.notes,
        })
    }

    /// What is said of it, before anything is removed where that is still to come.
    pub(super) fn text(&self) -> String {
        let suite = self.suite.as_deref().map(portable_path);
        let gone = self.gone.iter().chain(&suite);
        let mut lines: Vec<String> = gone.map(|path| format!("removes {path}")).collect();
        let left = self.left.iter();
        lines.extend(left.map(|(path, why)| format!("leaves {path}: it {why}")));
        lines.extend(self.notes.iter().map(|note| format!("note: {note}")));
        if self.absent > 0 {
            let are = if self.absent == 1 { "is" } else { "are" };
            let absent = pluralize(self.absent, "run");
            lines.push(format!(
                "note: {absent} of these files {are} not recorded here"
            ));
        }
        lines.into_iter().map(|line| line + "\n").collect()
    }
}

fn display_place(place: &RunPlace) -> String {
    let file = portable_path(&place.file);
    match place.line {
        Some(line) => format!("{file}:{line}"),
        None => file,
    }
}
