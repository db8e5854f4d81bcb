//! Which of many talks another talk goes on with, without a look at each of them: talks are found by the digest of their
//! words.

use std::collections::{BTreeSet, HashMap};

use super::talks::{Mark, Talk, Talks};

/// Talks, each with a number.
#[derive(Debug, Default)]
pub(super) struct Beginnings {
    talks: HashMap<usize, (Talk, Mark)>,
    /// The talks by the digest of their words.
    alike: HashMap<u64, Alike>,
}

/// Talks of the same words.
#[derive(Debug, Default)]
struct Alike {
    all: BTreeSet<usize>,
    /// The talks whose calls and results have the same identifiers.
    by_ids: HashMap<u64, BTreeSet<usize>>,
    /// The talks with a call or a result that has no identifier: more than one list of identifiers fits.
    loose: BTreeSet<usize>,
}

impl Beginnings {
    /// Adds a talk, or puts it in the place of the one with this number.
    pub(super) fn put(&mut self, number: usize, talk: Talk, talks: &Talks) {
        self.remove(number);
        let mark = talks.mark(talk);
        let alike = self.alike.entry(mark.words).or_default();
        alike.all.insert(number);
        alike.by_ids.entry(mark.ids).or_default().insert(number);
        if mark.has_missing {
            alike.loose.insert(number);
        }
        self.talks.insert(number, (talk, mark));
    }

    /// The talk with a number.
    pub(super) fn talk(&self, number: usize) -> Talk {
        let found = self.talks.get(&number);
        found.map_or(Talk::EMPTY, |(talk, _)| *talk)
    }

    /// The longest of the talks that a talk goes on with, the first of several; and how long it is.
    pub(super) fn longest(&self, talk: Talk, talks: &Talks) -> Option<(usize, usize)> {
        talks.beginnings(talk).find_map(|begin| {
            let sets = self.fitting(&talks.mark(begin)).into_iter();
            let first = sets.filter_map(|numbers| self.that_fit(begin, numbers, talks).next());
            Some((first.min()?, talks.length(begin)))
        })
    }

    /// Takes out all talks that a talk goes on with.
    pub(super) fn take_all(&mut self, talk: Talk, talks: &Talks) -> Vec<usize> {
        let mut taken = Vec::new();
        for begin in talks.beginnings(talk) {
            if self.talks.is_empty() {
                break;
            }
            let sets = self.fitting(&talks.mark(begin)).into_iter();
            let found: BTreeSet<usize> = sets
                .flat_map(|numbers| self.that_fit(begin, numbers, talks))
                .collect();
            for number in found {
                self.remove(number);
                taken.push(number);
            }
        }
        taken
    }

    /// Sets of talks in which those are that a talk of this mark may go on with.
    fn fitting(&self, mark: &Mark) -> Vec<&BTreeSet<usize>> {
        let Some(alike) = self.alike.get(&mark.words) else {
            return Vec::new();
        };
        // Without an identifier each of them fits, and the first look ends the search.
        if !mark.has_given || mark.has_missing {
            return vec![&alike.all];
        }
        let exact = alike.by_ids.get(&mark.ids);
        exact.into_iter().chain([&alike.loose]).collect()
    }

    /// The talks of a set that a talk goes on with, in their order.
    fn that_fit<'b>(
        &'b self,
        talk: Talk,
        numbers: &'b BTreeSet<usize>,
        talks: &'b Talks,
    ) -> impl Iterator<Item = usize> + 'b {
        let numbers = numbers.iter().copied();
        numbers.filter(move |number| talks.goes_on(talk, self.talk(*number)))
    }

    /// Takes out the talk with a number.
    pub(super) fn remove(&mut self, number: usize) {
        let Some((_, mark)) = self.talks.remove(&number) else {
            return;
        };
        let Some(alike) = self.alike.get_mut(&mark.words) else {
            return;
        };
        alike.all.remove(&number);
        alike.loose.remove(&number);
        if let Some(same) = alike.by_ids.get_mut(&mark.ids) {
            same.remove(&number);
            if same.is_empty() {
                alike.by_ids.remove(&mark.ids);
            }
        }
        if alike.all.is_empty() {
            self.alike.remove(&mark.words);
        }
    }
}
