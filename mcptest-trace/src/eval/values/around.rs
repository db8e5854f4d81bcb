//! What stands around a name, a small number or a date in a text.

use super::words::stem;

/// The signs of currencies.
pub(super) const CURRENCIES: [char; 4] = ['$', '€', '£', '¥'];

/// What stands around a name, a number or a date in a text.
#[derive(Debug, Clone, Default)]
pub(in crate::eval) struct Around {
    /// The words before it in its sentence, from the nearest, and the next one.
    pub(super) before: Vec<u64>,
    pub(super) behind: Option<u64>,
    /// The words of the key under which it stands alone.
    pub(super) keys: Vec<u64>,
    pub(super) signs: Vec<Sign>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// Quotes are around it.
    Quoted,
    /// It begins in upper case.
    Upper,
    /// It is the beginning of a sentence or a line.
    First,
    /// It is all of the text, but for a time of day.
    Whole,
    /// It is all that stands behind a colon, but for a time of day.
    Field,
    /// It is a small number.
    Number,
    /// The sign or the name of a currency is beside it.
    Money,
    /// `#` is before it, or a word such as `no`.
    Numbered,
    /// It is in the line above a quoted mail, or before a line of a log.
    Header,
}

impl Around {
    pub(super) fn has(&self, sign: Sign) -> bool {
        self.signs.contains(&sign)
    }

    /// Whether it is all of a field or of the text, but for a time of day.
    pub(super) fn is_field(&self) -> bool {
        self.has(Sign::Whole) || self.has(Sign::Field)
    }

    /// The words of its key, so many before it, and the next one.
    pub(super) fn near(&self, within: usize) -> impl Iterator<Item = u64> {
        let words = self.before.iter().take(within).chain(&self.behind);
        words.chain(&self.keys).copied()
    }

    /// Whether one of so many words before it is one of these.
    pub(super) fn follows(&self, within: usize, words: &[&str]) -> bool {
        let mut before = self.before.iter().take(within);
        before.any(|near| words.iter().any(|word| stem(word) == *near))
    }

    /// Whether it is a number in a longer text, and so perhaps one of something else.
    pub(in crate::eval) fn is_other_number(&self) -> bool {
        self.has(Sign::Number) && !self.has(Sign::Whole)
    }
}
