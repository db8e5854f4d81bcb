//! Which records are one run.

use std::collections::{HashMap, HashSet, VecDeque};

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
    /// The runs that a request may go on with, by what it repeats of them.
    tips: HashMap<Digest, Tips>,
    /// The runs that begin with the records of another run, and the record with which each leaves it.
    branches: HashMap<usize, RecordPlace>,
    /// The calls that failed and were not tried again so far, by what they asked.
    failed: HashMap<Digest, (RecordPlace, Option<Digest>)>,
    /// How many failed calls were tried again.
    retried: usize,
    /// The logged calls that have an identifier.
    logged: HashSet<Digest>,
}

/// A run, and how many records it had.
type Tip = (usize, usize);

/// The runs that are in one state.
#[derive(Debug, Default)]
struct Tips {
    /// Those that nothing continued yet, the oldest first. One may have gone on from another state.
    open: VecDeque<Tip>,
    /// The last one that was continued.
    continued: Option<Tip>,
}

/// A logged call, as far as it says of which run it is.
pub(super) struct ChainLink {
    /// What its request repeats: states that runs may be in, the one with most of the talk first.
    pub(super) before: Vec<Digest>,
    /// The states that the run is in after it.
    pub(super) after: Vec<Digest>,
    /// All that was asked.
    pub(super) asked: Digest,
    /// Whether the call failed: nothing goes on with its answer.
    pub(super) is_failed: bool,
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

    /// A logged call that continues the run whose talk its request repeats, or begins a run. A call that failed is
    /// no part of a run if the same is asked again. Returns whether the call continues a run.
    pub(super) fn chained(&mut self, part: RecordPlace, link: &ChainLink) -> bool {
        self.retried += usize::from(self.failed.remove(&link.asked).is_some());
        let mut before = link.before.iter().copied();
        let found = before.find(|state| self.tips.contains_key(state));
        if link.is_failed {
            self.failed.insert(link.asked, (part, found));
        } else {
            self.go_on(part, found, &link.after);
        }
        found.is_some()
    }

    /// How many failed calls are no part of a run, because the same was asked again.
    pub(super) fn retried(&self) -> usize {
        self.retried
    }

    /// Puts a record behind the oldest run in a state that nothing continued yet. If there is none, the record begins
    /// a run, which has the beginning of a run that was in this state.
    fn go_on(&mut self, part: RecordPlace, state: Option<Digest>, after: &[Digest]) {
        let tip = state.and_then(|state| self.take_tip(state));
        let run = match tip {
            Some((run, length)) if self.runs[run].len() == length => run,
            Some((run, length)) => {
                let begin = self.runs[run][..length].to_vec();
                self.branches.insert(self.runs.len(), part);
                self.runs.push(begin);
                self.runs.len() - 1
            }
            None => {
                self.runs.push(Vec::new());
                self.runs.len() - 1
            }
        };
        self.runs[run].push(part);
        let tip = (run, self.runs[run].len());
        for state in after {
            self.tips.entry(*state).or_default().open.push_back(tip);
        }
    }

    /// The oldest run in a state that nothing continued yet, else the last one.
    fn take_tip(&mut self, state: Digest) -> Option<Tip> {
        let tips = self.tips.get_mut(&state)?;
        while let Some(tip) = tips.open.pop_front() {
            tips.continued = Some(tip);
            if self.runs[tip.0].len() == tip.1 {
                break;
            }
        }
        tips.continued
    }

    /// The runs in the order of their first records.
    pub(super) fn finish(mut self) -> Vec<Joined> {
        // Nobody tried these again: their runs end with them.
        let mut failed: Vec<(RecordPlace, Option<Digest>)> =
            std::mem::take(&mut self.failed).into_values().collect();
        failed.sort_unstable();
        for (part, state) in failed {
            self.go_on(part, state, &[]);
        }
        let keys = std::mem::take(&mut self.keys).into_iter();
        let keys: Vec<(Digest, usize)> = keys.map(|(key, run)| (key, self.whole(run))).collect();
        let mut runs: Vec<Joined> = self
            .runs
            .into_iter()
            .enumerate()
            .map(|(run, parts)| Joined {
                parts,
                keys: Vec::new(),
                branch: self.branches.get(&run).copied(),
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
    /// The record with which the run leaves another run that begins with the same records.
    pub(super) branch: Option<RecordPlace>,
}
