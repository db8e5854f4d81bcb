//! The values of a text that can be told again elsewhere: identifiers, addresses, dates, numbers, stretches of words.
//! Names and small numbers, which are values only as whole arguments, are in `names`.

mod addresses;
pub(super) mod argument;
pub(super) mod around;
mod atoms;
mod codes;
mod dates;
mod groups;
pub(super) mod markup;
pub(super) mod names;
pub(super) mod scan;
mod words;

use std::ops::Range;

use super::views::{self, Encoding, View};
use crate::fnv::fnv1a64;

pub(super) use words::{RARE, WORDS, Word, words};

/// A value of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextValue {
    /// What tells the value from others: equal values have one key, however they are spelt.
    pub(super) key: u64,
    pub(super) kind: ValueKind,
    /// Where it stands in the text.
    pub(super) span: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueKind {
    /// It stands there by itself.
    Whole,
    /// It is a part of an address or of another value, and told only where it stands by itself elsewhere.
    Part,
    /// A date; `day` is the key of its day without the year. Of a date with a year that is a part of it.
    Date { day: u64, part: bool },
    /// So many words from the word of this place on. A sign of a script without spaces is half a word. `rare` are
    /// those that are no common words, by bits from the first.
    Words { at: usize, halves: usize, rare: u8 },
}

impl ValueKind {
    /// Whether it is told only where it stands by itself elsewhere.
    pub(super) fn is_part(self) -> bool {
        matches!(self, Self::Part | Self::Date { part: true, .. })
    }
}

/// A text as it stands, or what it says once an encoding is taken off.
pub(super) enum Layer<'a> {
    Plain(&'a str),
    Decoded(View),
}

impl Layer<'_> {
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Plain(text) => text,
            Self::Decoded(view) => &view.text,
        }
    }

    /// The range of the text as it stands that a range of this one comes from.
    pub(super) fn outer_span(&self, span: Range<usize>) -> Range<usize> {
        match self {
            Self::Plain(_) => span,
            Self::Decoded(view) => view.outer_span(span),
        }
    }

    pub(super) fn encoding(&self) -> Option<Encoding> {
        match self {
            Self::Plain(_) => None,
            Self::Decoded(view) => Some(view.encoding),
        }
    }

    /// Whether its lines are what line breaks cut in two: each line is by itself.
    fn is_cut(&self) -> bool {
        matches!(self, Self::Decoded(view) if view.is_cut)
    }

    /// Its words. What line breaks cut in two is no text, and has none.
    pub(super) fn words(&self) -> Vec<Word> {
        if self.is_cut() {
            return Vec::new();
        }
        words(self.text())
    }

    /// Its values, where these are its words.
    pub(super) fn values(&self, words: &[Word]) -> Vec<TextValue> {
        let mut found = values(self.text(), words);
        if self.is_cut() {
            found.retain(|value| !self.text()[value.span.clone()].contains('\n'));
        }
        found
    }
}

/// A text, and the texts behind it.
pub(super) fn layers(text: &str) -> impl Iterator<Item = Layer<'_>> {
    let behind = views::all_decoded_views(text)
        .into_iter()
        .map(Layer::Decoded);
    std::iter::once(Layer::Plain(text)).chain(behind)
}

/// The values of a text as it stands, of which these are the words.
fn values(text: &str, words: &[Word]) -> Vec<TextValue> {
    let mut found = Vec::new();
    words::stretches(text, words, &mut found);
    addresses::find(text, &mut found);
    atoms::find(text, &mut found);
    groups::find(text, &mut found);
    dates::find(text, words, &mut found);
    markup::demote_tag_values(text, &mut found);
    found
}

fn key(text: &str) -> u64 {
    fnv1a64(text.to_lowercase().as_bytes())
}

/// The keys that a name has as an identifier and as words.
pub(super) fn name_keys(name: &str) -> [u64; 2] {
    [key(name), words_key(&words(name))]
}

/// The key of several words together.
fn words_key<'a>(words: impl IntoIterator<Item = &'a Word>) -> u64 {
    let keys = words.into_iter().flat_map(|word| word.key.to_le_bytes());
    fnv1a64(&keys.collect::<Vec<u8>>())
}

#[cfg(test)]
mod tests;
