//! Names and small numbers: values only as whole arguments, for any text has words and small numbers.
//!
//! A name is one to four words; a small number has fewer than four digits, or is a year. What stands around one in a
//! result says whether it was meant for the argument: the name of the argument before it, quotes around it, money.

use std::ops::Range;

use super::addresses::is_media_type;
use super::argument::{Argument, Purpose};
use super::around::{Around, CURRENCIES, Sign};
use super::atoms::{DIGITS, normal};
use super::codes::{is_locale, is_shared};
use super::words::is_year;
use super::{Word, key, words_key};

/// The most words of a name.
pub(super) const LONGEST: usize = 4;

/// How many words before a name may name its argument, and before a small number.
pub(super) const BEFORE: usize = 6;
const CLOSE: usize = 3;

/// A whole argument that is a name or a small number.
#[derive(Debug, Clone)]
pub(in crate::eval) struct Name {
    /// What tells the name from others: equal names have one key.
    pub(in crate::eval) key: u64,
    /// Where it stands in the argument.
    pub(in crate::eval) span: Range<usize>,
    shape: Shape,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Number,
    /// A number of four digits that is as likely a year.
    Year,
    /// A word that is in no dictionary: `new_password`, `xKcd`, `742QX`.
    Odd,
    /// A word alone, and whether it begins in upper case.
    Word {
        upper: bool,
    },
    /// So many words, of which so many are not common.
    Words {
        count: usize,
        rare: usize,
    },
}

impl Name {
    /// Parses an argument that is a name or a small number.
    pub(in crate::eval) fn parse(text: &str, words: &[Word]) -> Option<Self> {
        let trimmed = text.trim();
        let start = text.len() - text.trim_start().len();
        let span = start..start + trimmed.len();
        let bare =
            trimmed.trim_matches(|sign: char| CURRENCIES.contains(&sign) || sign.is_whitespace());
        if let Some(key) = small_number(bare) {
            return Some(Self {
                key,
                span,
                shape: if is_year(bare) {
                    Shape::Year
                } else {
                    Shape::Number
                },
            });
        }
        let spelt = |word: &Word| text[word.span.clone()].contains(char::is_alphabetic);
        let is_name = (1..=LONGEST).contains(&words.len()) && words.iter().any(spelt);
        let has_digit = trimmed.contains(|sign: char| sign.is_ascii_digit());
        let is_any = is_locale(trimmed) || has_digit && is_shared(trimmed);
        if !is_name || is_any || is_media_type(trimmed) {
            return None;
        }
        let rare = words.iter().filter(|word| !word.is_common).count();
        let shape = match words {
            [word] => {
                let spelt = &text[word.span.clone()];
                let upper = |sign: char| sign.is_uppercase();
                if rare == 0 || spelt.chars().count() < 3 {
                    return None;
                }
                let later = |is: fn(char) -> bool| spelt.chars().skip(1).any(is);
                let mixed = spelt.contains(char::is_lowercase) && later(char::is_uppercase);
                let coded =
                    spelt.contains(upper) && spelt.contains(|sign: char| sign.is_ascii_digit());
                if spelt.trim_matches('_').contains('_') || mixed || coded {
                    Shape::Odd
                } else {
                    let upper = spelt.starts_with(upper);
                    Shape::Word { upper }
                }
            }
            words => Shape::Words {
                count: words.len(),
                rare,
            },
        };
        Some(Self {
            key: words_key(words),
            span,
            shape,
        })
    }

    /// Whether it is a number, which tells nothing unless something says what it is of.
    pub(in crate::eval) fn is_number(&self) -> bool {
        matches!(self.shape, Shape::Number | Shape::Year)
    }

    /// Whether it is meant wherever another one of the same key is.
    pub(in crate::eval) fn is_like(&self, other: &Self) -> bool {
        self.shape == other.shape
    }

    /// Whether it was meant for an argument, by what stands around it in a result.
    pub(in crate::eval) fn is_meant_for(&self, around: &Around, argument: &Argument) -> bool {
        let set_apart = around.has(Sign::Quoted) || argument.is_named(around, BEFORE);
        match self.shape {
            Shape::Year if argument.is_for(Purpose::Time) => false,
            // Records have numbers in fields, and a lookup gives them on purpose.
            Shape::Number | Shape::Year if around.is_field() => {
                argument.is_named_in_full(around, CLOSE)
            }
            Shape::Number | Shape::Year => {
                argument.is_named(around, CLOSE)
                    || argument.is_for(Purpose::Number) && around.has(Sign::Numbered)
                    || argument.is_for(Purpose::Money) && around.has(Sign::Money)
            }
            _ if argument.is_chosen(around) => false,
            Shape::Odd => true,
            Shape::Word { .. } | Shape::Words { .. }
                if argument.is_for(Purpose::Chosen) && !around.is_field() =>
            {
                set_apart
            }
            Shape::Word { upper } => {
                let is_name = upper
                    && around.has(Sign::Upper)
                    && (around.has(Sign::Whole) || !around.has(Sign::First));
                set_apart || is_name && !argument.is_for(Purpose::Written)
            }
            Shape::Words { rare: 0, .. } => around.has(Sign::Quoted),
            Shape::Words { count, rare } => {
                set_apart || !argument.is_for(Purpose::Written) || count == LONGEST && rare > 1
            }
        }
    }
}

/// The key of a number that is too small to be a value by itself.
pub(super) fn small_number(text: &str) -> Option<u64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.starts_with(|sign: char| sign.is_ascii_digit())
        && digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
        && digits.matches('.').count() < 2;
    let spelt = normal(text);
    let count = spelt.bytes().filter(u8::is_ascii_digit).count();
    (plain && (count < DIGITS || is_year(&spelt))).then(|| key(&format!("number {spelt}")))
}

/// Words before a date that say when a text was written.
const WRITTEN: [&str; 16] = [
    "published",
    "updated",
    "posted",
    "created",
    "modified",
    "changed",
    "edited",
    "written",
    "dated",
    "copyright",
    "released",
    "sent",
    "received",
    "retrieved",
    "today",
    "yesterday",
];

/// Whether a date was meant for an argument: a date that is all of a field (`date: 2031-05-20`) says when something
/// was, unless the field has the argument's name, and so does a date behind a word such as `published`.
pub(in crate::eval) fn is_date_meant_for(around: &Around, argument: &Argument) -> bool {
    let is_of_text = around.follows(CLOSE, &WRITTEN) || around.has(Sign::Header);
    !is_of_text && (!around.is_field() || argument.is_named_beside_time(around, CLOSE))
}

/// Words beside a time of day.
const ZONES: [&str; 14] = [
    "am", "pm", "utc", "gmt", "cet", "cest", "bst", "est", "edt", "cst", "cdt", "pst", "pdt", "z",
];

/// Whether a text is all words that any text has, but for so many parts of it: the dates.
pub(in crate::eval) fn is_common_but(words: &[Word], parts: &[Range<usize>], text: &str) -> bool {
    let is_part = |word: &Word| {
        let inside = |part: &Range<usize>| word.span.start < part.end && part.start < word.span.end;
        parts.iter().any(inside)
    };
    let is_time = |word: &Word| {
        let word = &text[word.span.clone()];
        let is_zone = ZONES.iter().any(|zone| zone.eq_ignore_ascii_case(word));
        is_zone || word.starts_with(|sign: char| sign.is_ascii_digit())
    };
    words
        .iter()
        .all(|word| word.is_common || is_part(word) || is_time(word))
}
