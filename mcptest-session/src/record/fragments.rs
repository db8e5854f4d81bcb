//! Which of many texts stand in another text, without a look at each of them: the other text is looked up stretch by
//! stretch.

use std::collections::{BTreeSet, HashMap, HashSet};

/// A text of so many bytes is found by its first and its last ones.
pub(super) const LONG: usize = 40;

/// Up to this many texts are looked for one by one.
const FEW: usize = 32;

/// What a long text begins and ends with.
type End = [u8; LONG];

/// Texts that may stand in others, each with the numbers that it was added under.
#[derive(Debug, Default)]
pub(super) struct Fragments {
    texts: HashMap<String, BTreeSet<usize>>,
    /// The shorter texts and all that they begin with, as bytes.
    short: HashSet<Vec<u8>>,
    /// The others, by how they begin, then by how they end.
    long: HashMap<End, HashMap<End, Vec<String>>>,
}

impl Fragments {
    /// Adds a text under a number.
    pub(super) fn add(&mut self, text: &str, number: usize) {
        if let Some(numbers) = self.texts.get_mut(text) {
            numbers.insert(number);
            return;
        }
        self.texts.insert(text.to_owned(), BTreeSet::from([number]));
        let bytes = text.as_bytes();
        if let (Some(begin), Some(end)) = (bytes.first_chunk(), bytes.last_chunk()) {
            let by_end = self.long.entry(*begin).or_default();
            by_end.entry(*end).or_default().push(text.to_owned());
        } else {
            let begins = (0..=bytes.len()).map(|to| bytes[..to].to_vec());
            self.short.extend(begins);
        }
    }

    /// The numbers of each text that stands in another one.
    pub(super) fn found_in(&self, text: &str) -> Vec<&BTreeSet<usize>> {
        if self.texts.len() <= FEW {
            let stands = self.texts.iter().filter(|(one, _)| text.contains(&***one));
            return stands.map(|(_, numbers)| numbers).collect();
        }
        let found = self.short_in(text).into_iter().chain(self.long_in(text));
        found.filter_map(|one| self.texts.get(one)).collect()
    }

    fn short_in<'t>(&self, text: &'t str) -> HashSet<&'t str> {
        let mut found = HashSet::new();
        for from in 0..=text.len() {
            let ends = from..=text.len();
            let known = ends.take_while(|to| self.short.contains(&text.as_bytes()[from..*to]));
            let whole = known.filter_map(|to| text.get(from..to));
            found.extend(whole.filter(|one| self.texts.contains_key(*one)));
        }
        found
    }

    fn long_in(&self, text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        if self.long.is_empty() {
            return found;
        }
        let stretches: HashSet<&[u8]> = text.as_bytes().windows(LONG).collect();
        for begin in &stretches {
            let Some(by_end) = self.long.get(*begin) else {
                continue;
            };
            // Many texts may begin alike, and the other text may be long: the fewer of both are gone through.
            let ends: Vec<&Vec<String>> = if by_end.len() < stretches.len() {
                let ends = by_end.iter();
                let ends = ends.filter(|(end, _)| stretches.contains(&end[..]));
                ends.map(|(_, texts)| texts).collect()
            } else {
                let ends = stretches.iter();
                ends.filter_map(|end| by_end.get(*end)).collect()
            };
            let texts = ends.into_iter().flatten().map(String::as_str);
            found.extend(texts.filter(|one| text.contains(one)));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_texts_that_stand_in_another_are_found_however_many_and_long_they_are(
            texts in proptest::collection::vec("[ab]{0,3}|[aé]{0,4}|b{38,42}|b{20}[ab]b{20,40}", 0..2 * FEW),
            other in "[abé]{0,6}|b{30,60}|b{20}[ab]{1,2}b{20,40}",
        ) {
            let mut fragments = Fragments::default();
            for (number, text) in texts.iter().enumerate() {
                fragments.add(text, number);
            }
            let found = fragments.found_in(&other).into_iter().flatten().copied();
            let plain = (0..texts.len()).filter(|number| other.contains(&texts[*number]));
            prop_assert_eq!(found.collect::<BTreeSet<usize>>(), plain.collect::<BTreeSet<usize>>());
        }
    }

    #[test]
    fn many_texts_are_found_by_their_ends() {
        let text = |number: usize| format!("{}{number}{}", "begin ".repeat(9), "end ".repeat(12));
        let mut fragments = Fragments::default();
        for number in 0..3 * FEW {
            fragments.add(&text(number), number);
            fragments.add(&number.to_string(), 1_000 + number);
        }
        let other = format!("So far: {} That was all.", text(7));
        let found = fragments.found_in(&other).into_iter().flatten().copied();
        assert_eq!(found.collect::<BTreeSet<usize>>(), [7, 1_007].into());
        // What begins and ends alike is not the same.
        let other = format!("{}x{}", "begin ".repeat(9), "end ".repeat(12));
        assert!(fragments.found_in(&other).is_empty());
    }
}
