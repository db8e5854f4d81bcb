//! Words, and stretches of them.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use super::super::boundaries::extends_word;
use super::{TextValue, ValueKind, key, words_key};

/// How many words make a stretch.
pub(in crate::eval) const WORDS: usize = 5;

/// How many words of a stretch are no common ones.
pub(in crate::eval) const RARE: u32 = 2;

/// Words that any two texts share: the frequent ones of the language, and those of greetings and closings.
static COMMON: LazyLock<HashSet<u64>> = LazyLock::new(|| {
    let lines = include_str!("common.txt").lines();
    let words = lines.filter(|line| !line.starts_with('#'));
    words.flat_map(str::split_whitespace).map(key).collect()
});

/// A word of a text; of a script without spaces, a sign.
#[derive(Debug, Clone)]
pub(in crate::eval) struct Word {
    pub(in crate::eval) key: u64,
    pub(in crate::eval) spaced: bool,
    /// Whether it says nothing of where a text comes from.
    pub(in crate::eval) is_common: bool,
    pub(in crate::eval) span: Range<usize>,
}

/// Whether a word of this key says nothing of where a text comes from.
pub(super) fn is_common_key(key: u64) -> bool {
    COMMON.contains(&key)
}

/// The words of a text in order.
pub(in crate::eval) fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut signs = text.char_indices().peekable();
    while let Some((start, sign)) = signs.next() {
        if !sign.is_alphanumeric() {
            continue;
        }
        let mut end = start + sign.len_utf8();
        let spaced = extends_word(sign);
        while let Some(&(at, next)) = signs
            .peek()
            .filter(|(_, next)| spaced && extends_word(*next))
        {
            end = at + next.len_utf8();
            signs.next();
        }
        let word = &text[start..end];
        let key = key(word);
        words.push(Word {
            key,
            spaced,
            is_common: is_common_key(key) || is_time_number(word),
            span: start..end,
        });
    }
    words
}

/// Whether a word is a number as times and dates have them.
fn is_time_number(word: &str) -> bool {
    let rest = word.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let digits = word.len() - rest.len();
    let ends = ["am", "pm", "st", "nd", "rd", "th", "h"];
    let is_time =
        (1..=2).contains(&digits) && ends.iter().any(|end| end.eq_ignore_ascii_case(rest));
    rest.is_empty() && (digits <= 2 || is_year(word)) || is_time
}

/// Each stretch of so many words. Those of one address are no stretch: an address is a value of its own.
pub(super) fn stretches(text: &str, words: &[Word], found: &mut Vec<TextValue>) {
    for (at, window) in words.windows(WORDS).enumerate() {
        if is_in_address(text, window) {
            continue;
        }
        let halves = window.iter().map(|word| 1 + usize::from(word.spaced)).sum();
        let rare = window
            .iter()
            .enumerate()
            .filter(|(_, word)| !word.is_common);
        found.push(TextValue {
            key: words_key(window),
            kind: ValueKind::Words {
                at,
                halves,
                rare: rare.fold(0, |bits, (place, _)| bits | 1 << place),
            },
            span: window[0].span.start..window[WORDS - 1].span.end,
        });
    }
}

/// Whether nothing but signs of addresses stands between words, and not dashes alone.
fn is_in_address(text: &str, words: &[Word]) -> bool {
    let mut gaps = words
        .windows(2)
        .map(|pair| &text[pair[0].span.end..pair[1].span.start]);
    let signs = "./:@?&=#~-";
    let all = gaps
        .clone()
        .all(|gap| !gap.is_empty() && gap.chars().all(|sign| signs.contains(sign)));
    all && gaps.any(|gap| gap != "-")
}

/// The key of a word, of which there may be one or several.
pub(super) fn stem(word: &str) -> u64 {
    let word = word.to_lowercase();
    key(word.strip_suffix('s').unwrap_or(&word))
}

/// Whether a number is as likely a year, which any text may have.
pub(super) fn is_year(number: &str) -> bool {
    number.len() == 4 && (number.starts_with("19") || number.starts_with("20"))
}
