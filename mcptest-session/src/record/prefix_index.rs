//! An index of histories: it finds those with which another history begins, without a look at each of them.
//! Histories are found by the hash of their words.

use std::collections::{BTreeSet, HashMap};

use super::history::{History, HistoryTree, Mark};

/// Histories, each with a number.
#[derive(Debug, Default)]
pub(super) struct PrefixIndex {
    talks: HashMap<usize, (History, Mark)>,
    /// The histories by the hash of their words.
    alike: HashMap<u64, SameWords>,
}

/// The histories with the same words.
#[derive(Debug, Default)]
struct SameWords {
    all: BTreeSet<usize>,
    /// The histories whose calls and results have the same identifiers.
    by_ids: HashMap<u64, BTreeSet<usize>>,
    /// The histories with a call or a result that has no identifier: more than one list of identifiers fits.
    loose: BTreeSet<usize>,
}

impl PrefixIndex {
    /// Adds a history, or puts it in the place of the one with this number.
    pub(super) fn set(&mut self, number: usize, talk: History, talks: &HistoryTree) {
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

    /// The history with a number.
    pub(super) fn history(&self, number: usize) -> History {
        let found = self.talks.get(&number);
        found.map_or(History::EMPTY, |(talk, _)| *talk)
    }

    /// The longest of the histories with which a history begins, the first of several; and how long it is.
    pub(super) fn longest_continued(
        &self,
        talk: History,
        talks: &HistoryTree,
    ) -> Option<(usize, usize)> {
        talks.beginnings(talk).find_map(|begin| {
            let sets = self.fitting(&talks.mark(begin)).into_iter();
            let first = sets.filter_map(|numbers| self.continued_by(begin, numbers, talks).next());
            Some((first.min()?, talks.length(begin)))
        })
    }

    /// Takes out all histories with which a history begins.
    pub(super) fn take_continued(&mut self, talk: History, talks: &HistoryTree) -> Vec<usize> {
        let mut taken = Vec::new();
        for begin in talks.beginnings(talk) {
            if self.talks.is_empty() {
                break;
            }
            let sets = self.fitting(&talks.mark(begin)).into_iter();
            let found: BTreeSet<usize> = sets
                .flat_map(|numbers| self.continued_by(begin, numbers, talks))
                .collect();
            for number in found {
                self.remove(number);
                taken.push(number);
            }
        }
        taken
    }

    /// The sets of histories that may be a beginning with this mark.
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

    /// The histories of a set with which a history begins, in their order.
    fn continued_by<'b>(
        &'b self,
        talk: History,
        numbers: &'b BTreeSet<usize>,
        talks: &'b HistoryTree,
    ) -> impl Iterator<Item = usize> + 'b {
        let numbers = numbers.iter().copied();
        numbers.filter(move |number| talks.continues(talk, self.history(*number)))
    }

    /// Takes out the history with a number.
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
