//! Which records are one run.

use std::collections::{HashMap, HashSet};

use super::digest::Digest;
use super::input::{Record, RecordPlace};

/// What was said so far, after each of some messages, and in all.
pub(super) fn states(begin: &str, essences: impl Iterator<Item = String>) -> (Vec<Digest>, Digest) {
    let mut state = Digest::of(&[begin]);
    let after = essences.map(|essence| {
        state = state.then(&essence);
        state
    });
    (after.collect(), state)
}

/// Gathers the records of each run; memory is an index of places.
#[derive(Debug, Default)]
pub(super) struct Joiner {
    runs: Vec<Vec<RecordPlace>>,
    /// The run that a run became a part of.
    joined: HashMap<usize, usize>,
    keys: HashMap<Digest, usize>,
    /// After which records a run is continued: the run, and how many records it had then.
    tips: HashMap<Digest, (usize, usize)>,
    /// The logged calls that have an identifier.
    logged: HashSet<Digest>,
}

impl Joiner {
    /// Whether a file logs a call twice: the same one, with the same identifier.
    pub(super) fn knows(&mut self, record: &Record<'_>, id: &str) -> bool {
        let file = record.part.input.to_string();
        let call = Digest::of_value(&record.value);
        !self.logged.insert(call.then(id).then(&file))
    }

    /// A record that is a run.
    pub(super) fn alone(&mut self, part: RecordPlace) {
        self.runs.push(vec![part]);
    }

    /// A record of the run with this key.
    pub(super) fn keyed(&mut self, part: RecordPlace, key: Digest) {
        let run = self.run_of(key);
        self.runs[run].push(part);
    }

    /// Two keys mean one run.
    pub(super) fn same(&mut self, one: Digest, other: Digest) {
        let (one, other) = (self.run_of(one), self.run_of(other));
        if one == other {
            return;
        }
        // The larger one takes the smaller one in.
        let (into, from) = if self.runs[one].len() < self.runs[other].len() {
            (other, one)
        } else {
            (one, other)
        };
        let parts = std::mem::take(&mut self.runs[from]);
        self.runs[into].extend(parts);
        self.joined.insert(from, into);
    }

    fn run_of(&mut self, key: Digest) -> usize {
        let next = self.runs.len();
        let run = *self.keys.entry(key).or_insert(next);
        if run == next {
            self.runs.push(Vec::new());
        }
        self.whole(run)
    }

    /// The run that a run is a part of by now.
    fn whole(&mut self, mut run: usize) -> usize {
        while let Some(into) = self.joined.get(&run).copied() {
            // The next one who asks has a shorter way.
            if let Some(further) = self.joined.get(&into).copied() {
                self.joined.insert(run, further);
            }
            run = into;
        }
        run
    }

    /// A record that continues what ended with the first of some states that is known, or begins a
    /// run. Returns whether it continues one.
    pub(super) fn chained(
        &mut self,
        part: RecordPlace,
        before: &[Digest],
        after: &[Digest],
    ) -> bool {
        let found = before
            .iter()
            .find_map(|state| self.tips.get(state).copied());
        let run = match found {
            Some((run, length)) if self.runs[run].len() == length => {
                self.runs[run].push(part);
                run
            }
            // Something else continued it already: two runs with one beginning.
            Some((run, length)) => {
                let mut parts = self.runs[run][..length].to_vec();
                parts.push(part);
                self.runs.push(parts);
                self.runs.len() - 1
            }
            None => {
                self.runs.push(vec![part]);
                self.runs.len() - 1
            }
        };
        let length = self.runs[run].len();
        for state in after {
            self.tips.insert(*state, (run, length));
        }
        found.is_some()
    }

    /// The runs in the order of their first records.
    pub(super) fn finish(mut self) -> Vec<Joined> {
        let keys = std::mem::take(&mut self.keys).into_iter();
        let keys: Vec<(Digest, usize)> = keys.map(|(key, run)| (key, self.whole(run))).collect();
        let mut runs: Vec<Joined> = self
            .runs
            .into_iter()
            .map(|parts| Joined {
                parts,
                keys: Vec::new(),
            })
            .collect();
        for (key, run) in keys {
            runs[run].keys.push(key);
        }
        for run in &mut runs {
            run.parts.sort_unstable();
            run.parts.dedup();
            run.keys.sort_unstable();
        }
        runs.retain(|run| !run.parts.is_empty());
        runs.sort();
        runs
    }
}

/// The records of a run, and its keys, both in order: a record may hold something of other runs, too.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Joined {
    pub(super) parts: Vec<RecordPlace>,
    pub(super) keys: Vec<Digest>,
}
