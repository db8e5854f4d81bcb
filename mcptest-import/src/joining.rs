//! Which records are one run.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::digest::Digest;
use crate::input::{Record, RecordPlace};

/// What was said so far, after each of some messages, and in all.
pub(crate) fn prefix_digests(
    begin: &str,
    essences: impl Iterator<Item = String>,
) -> (Vec<Digest>, Digest) {
    let mut state = Digest::from_parts(&[begin]);
    let after = essences.map(|essence| {
        state = state.chain(&essence);
        state
    });
    (after.collect(), state)
}

/// Gathers the records of each run; memory is an index of places.
#[derive(Debug, Default)]
pub struct Joiner {
    runs: Vec<Vec<RecordPlace>>,
    /// The run that a run became a part of.
    joined: HashMap<usize, usize>,
    keys: HashMap<Digest, usize>,
    /// The run that a request goes on with, by what it repeats: the oldest that nothing continued yet, else the last.
    tips: HashMap<Digest, Tip>,
    /// The runs that came into such a state after it.
    later_tips: HashMap<Digest, VecDeque<Tip>>,
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

/// A logged call, as far as it says of which run it is.
pub(crate) struct ChainLink {
    /// What its request repeats: states that runs may be in, the one with most of the talk first.
    pub(crate) before: Vec<Digest>,
    /// The states that the run is in after it.
    pub(crate) after: Vec<Digest>,
    /// All that was asked.
    pub(crate) asked: Digest,
    /// Whether the call failed: nothing goes on with its answer.
    pub(crate) is_failed: bool,
}

impl Joiner {
    /// Whether a file logs a call twice: the same one, with the same identifier.
    pub fn is_logged_twice(&mut self, record: &Record<'_>, id: &str) -> bool {
        let file = record.part.input.to_string();
        let call = Digest::from_value(&record.value);
        !self.logged.insert(call.chain(id).chain(&file))
    }

    /// A record that is a run.
    pub fn add_single(&mut self, part: RecordPlace) {
        self.runs.push(vec![part]);
    }

    /// A record of the run with this key.
    pub(crate) fn add_keyed(&mut self, part: RecordPlace, key: Digest) {
        let run = self.run_for_key(key);
        self.runs[run].push(part);
    }

    /// Two keys mean one run.
    pub(crate) fn merge_keys(&mut self, one: Digest, other: Digest) {
        let (one, other) = (self.run_for_key(one), self.run_for_key(other));
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

    fn run_for_key(&mut self, key: Digest) -> usize {
        let next = self.runs.len();
        let run = *self.keys.entry(key).or_insert(next);
        if run == next {
            self.runs.push(Vec::new());
        }
        self.root_run(run)
    }

    /// The run that a run is a part of by now.
    fn root_run(&mut self, mut run: usize) -> usize {
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
    pub(crate) fn add_chained(&mut self, part: RecordPlace, link: &ChainLink) -> bool {
        self.retried += usize::from(self.failed.remove(&link.asked).is_some());
        let mut before = link.before.iter().copied();
        let found = before.find(|state| self.tips.contains_key(state));
        if link.is_failed {
            self.failed.insert(link.asked, (part, found));
        } else {
            self.continue_run(part, found, &link.after);
        }
        found.is_some()
    }

    /// How many failed calls are no part of a run, because the same was asked again.
    #[must_use]
    pub fn retried_calls(&self) -> usize {
        self.retried
    }

    /// Puts a record behind the oldest run in a state that nothing continued yet. If there is none, the record begins
    /// a run, which has the beginning of a run that was in this state.
    fn continue_run(&mut self, part: RecordPlace, state: Option<Digest>, after: &[Digest]) {
        let tip = state.and_then(|state| self.take_tip(state));
        let run = match tip {
            Some(tip @ (run, _)) if self.is_open(tip) => run,
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
            self.add_tip(*state, tip);
        }
    }

    /// A run came into a state.
    fn add_tip(&mut self, state: Digest, tip: Tip) {
        let is_waiting = self.later_tips.contains_key(&state)
            || self.tips.get(&state).is_some_and(|tip| self.is_open(*tip));
        if is_waiting {
            self.later_tips.entry(state).or_default().push_back(tip);
        } else {
            self.tips.insert(state, tip);
        }
    }

    /// Whether nothing continued a run yet.
    fn is_open(&self, (run, length): Tip) -> bool {
        self.runs[run].len() == length
    }

    /// The oldest run in a state that nothing continued yet, else the last one.
    fn take_tip(&mut self, state: Digest) -> Option<Tip> {
        let mut tip = self.tips.get(&state).copied()?;
        while !self.is_open(tip)
            && let Some(next) = self
                .later_tips
                .get_mut(&state)
                .and_then(VecDeque::pop_front)
        {
            tip = next;
        }
        if self.later_tips.get(&state).is_some_and(VecDeque::is_empty) {
            self.later_tips.remove(&state);
        }
        self.tips.insert(state, tip);
        Some(tip)
    }

    /// The runs in the order of their first records.
    #[must_use]
    pub fn finish(mut self) -> Vec<Joined> {
        // Nobody tried these again: their runs end with them.
        let mut failed: Vec<(RecordPlace, Option<Digest>)> =
            std::mem::take(&mut self.failed).into_values().collect();
        failed.sort_unstable();
        for (part, state) in failed {
            self.continue_run(part, state, &[]);
        }
        let keys = std::mem::take(&mut self.keys).into_iter();
        let keys: Vec<(Digest, usize)> = keys.map(|(key, run)| (key, self.root_run(run))).collect();
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
pub struct Joined {
    /// Where its records lie.
    pub parts: Vec<RecordPlace>,
    /// The keys by which they were joined.
    pub keys: Vec<Digest>,
    /// The record with which the run leaves another run that begins with the same records.
    pub branch: Option<RecordPlace>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn state(step: usize) -> Digest {
        Digest::from_parts(&["state", &step.to_string()])
    }

    /// The call of a step; all runs are in the same states, so that nothing but the order tells them apart.
    fn link(step: usize, is_failed: bool) -> ChainLink {
        ChainLink {
            before: (0..=step).rev().map(state).collect(),
            after: vec![state(step + 1)],
            asked: state(step),
            is_failed,
        }
    }

    proptest! {
        #[test]
        fn runs_that_say_the_same_are_as_many_as_there_were(
            (order, length) in (1_usize..5, 1_usize..5).prop_flat_map(|(runs, length)| {
                let order: Vec<usize> = (0..runs * length).map(|it| it % runs).collect();
                (Just(order).prop_shuffle(), Just(length))
            }),
            failed in proptest::collection::vec(any::<bool>(), 20),
        ) {
            let mut steps = [0; 5];
            let (mut joiner, mut number, mut attempts) = (Joiner::default(), 0, 0);
            let mut add = |joiner: &mut Joiner, step, is_failed| {
                number += 1;
                joiner.add_chained(RecordPlace::new(number, 1), &link(step, is_failed));
            };
            for (run, failed) in order.iter().zip(failed) {
                let step = steps[*run];
                if failed {
                    add(&mut joiner, step, true);
                    attempts += 1;
                }
                add(&mut joiner, step, false);
                steps[*run] += 1;
            }
            prop_assert_eq!(joiner.retried_calls(), attempts);
            let runs = joiner.finish();
            prop_assert_eq!(runs.len() * length, order.len());
            for run in runs {
                prop_assert_eq!((run.parts.len(), run.branch), (length, None));
            }
        }
    }

    #[test]
    fn what_goes_on_a_second_time_leaves_the_last_run_that_went_on() {
        let mut joiner = Joiner::default();
        for (number, step) in [(1, 0), (2, 0), (3, 1), (4, 1), (5, 1)] {
            joiner.add_chained(RecordPlace::new(number, 1), &link(step, false));
        }
        joiner.add_chained(RecordPlace::new(6, 1), &link(1, true));
        let runs = joiner.finish().into_iter();
        let runs = runs.map(|run| {
            let numbers = run.parts.iter().map(|part| part.number());
            (
                numbers.collect::<Vec<u32>>(),
                run.branch.map(RecordPlace::number),
            )
        });
        let expected = [
            (vec![1, 3], None),
            (vec![2, 4], None),
            (vec![2, 5], Some(5)),
            (vec![2, 6], Some(6)),
        ];
        assert_eq!(runs.collect::<Vec<_>>(), expected);
    }
}
