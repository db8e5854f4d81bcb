//! Where words stand in texts: in all texts at once, and not text by text for each word.

use std::collections::{HashMap, HashSet};

/// Words that are looked for. A word has no signs but those of identifiers.
#[derive(Debug, Default)]
pub(super) struct Words<'w> {
    words: HashSet<&'w str>,
    /// In bytes, each once: identifiers have few lengths.
    lengths: Vec<usize>,
}

impl<'w> FromIterator<&'w str> for Words<'w> {
    fn from_iter<I: IntoIterator<Item = &'w str>>(words: I) -> Self {
        let words: HashSet<&str> = words.into_iter().collect();
        let mut lengths: Vec<usize> = words.iter().map(|word| word.len()).collect();
        lengths.sort_unstable();
        lengths.dedup();
        Self { words, lengths }
    }
}

impl<'w> Words<'w> {
    /// The words that stand in a text, also within longer ones.
    pub(super) fn find_in(&self, text: &str) -> HashSet<&'w str> {
        let mut found = HashSet::new();
        let tokens = text.split(|letter| !is_word_char(letter));
        for token in tokens.filter(|token| !token.is_empty()) {
            for (begin, _) in token.char_indices() {
                let rest = &token[begin..];
                let lengths = self
                    .lengths
                    .iter()
                    .take_while(|length| **length <= rest.len());
                let parts = lengths.filter_map(|length| rest.get(..*length));
                found.extend(parts.filter_map(|part| self.words.get(part)));
            }
        }
        found
    }
}

/// For each word, the places of the texts in which it stands, in order.
pub(super) fn find_places<'w>(
    words: &Words<'w>,
    texts: impl Iterator<Item = impl AsRef<str>>,
) -> HashMap<&'w str, Vec<usize>> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, text) in texts.enumerate() {
        for word in words.find_in(text.as_ref()) {
            places.entry(word).or_default().push(place);
        }
    }
    places
}

/// Whether identifiers have this sign.
pub(super) fn is_word_char(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn words_stand_where_a_search_for_each_finds_them(
            words in proptest::collection::vec("[aä1_-]{1,4}", 0..8),
            texts in proptest::collection::vec("[aä1_ \"#-]{0,12}", 0..5),
        ) {
            let wanted: Words<'_> = words.iter().map(String::as_str).collect();
            let places = find_places(&wanted, texts.iter());
            for word in &words {
                let all = texts.iter().enumerate();
                let having = all.filter(|(_, text)| text.contains(word.as_str()));
                let having: Vec<usize> = having.map(|(place, _)| place).collect();
                prop_assert_eq!(places.get(word.as_str()).cloned().unwrap_or_default(), having);
            }
        }
    }
}
