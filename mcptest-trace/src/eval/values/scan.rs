//! Where names and small numbers are in a text, and what stands around them.

use std::ops::Range;

use crate::trace::to_snake_case;

use super::super::boundaries::extends_word;
use super::argument::is_numbered;
use super::around::{Around, CURRENCIES, Sign};
use super::atoms::is_currency;
use super::dates::month;
use super::names::{BEFORE, LONGEST, small_number};
use super::words::stem;
use super::{Word, words_key};

/// Words for money.
const COINS: [&str; 4] = ["dollar", "euro", "pound", "buck"];

/// A text in which names are looked for, and the key under which it stands.
pub(in crate::eval) struct ScannedText<'a> {
    pub(in crate::eval) plain: &'a str,
    pub(in crate::eval) words: &'a [Word],
    pub(in crate::eval) key: Option<&'a str>,
}

impl ScannedText<'_> {
    /// Calls `found` with each wanted name and small number of the text, with its place and what stands around it.
    pub(in crate::eval) fn for_each_name(
        &self,
        is_wanted: impl Fn(u64) -> bool,
        mut found: impl FnMut(u64, Range<usize>, Around),
    ) {
        for at in 0..self.words.len() {
            for count in 1..=LONGEST.min(self.words.len() - at) {
                let name = &self.words[at..at + count];
                let key = words_key(name);
                if is_wanted(key) {
                    let span = name[0].span.start..name[count - 1].span.end;
                    let around = self.around(at, &span);
                    found(key, span, around);
                }
            }
            if let Some((key, span)) = self.number(at).filter(|(key, _)| is_wanted(*key)) {
                let around = self.around(at, &span);
                found(key, span, around);
            }
        }
    }

    /// What stands around a part of the text.
    pub(in crate::eval) fn around_span(&self, span: &Range<usize>) -> Around {
        let at = self
            .words
            .partition_point(|word| word.span.end <= span.start);
        self.around(at, span)
    }

    /// The small number that begins at a word and is no part of a longer one, of a date or a time.
    fn number(&self, at: usize) -> Option<(u64, Range<usize>)> {
        let start = self.words[at].span.start;
        let is_digit = |sign: char| sign.is_ascii_digit();
        let rest = &self.plain[start..];
        let length = rest
            .find(|sign| !(is_digit(sign) || sign == '.'))
            .unwrap_or(rest.len());
        let number = rest[..length].trim_end_matches('.');
        let mut before = self.plain[..start].chars().rev();
        let (last, other) = (before.next(), before.next());
        let mut behind = rest[number.len()..].chars();
        let (next, after) = (behind.next(), behind.next());
        let joins = |sign: Option<char>| sign.is_some_and(|sign| ".,:/-".contains(sign));
        let goes_on = joins(last) && other.is_some_and(is_digit)
            || joins(next) && after.is_some_and(is_digit)
            || next.is_some_and(|sign| extends_word(sign) || sign == '%')
            || self.is_beside_month(at);
        let key = small_number(number).filter(|_| !goes_on)?;
        Some((key, start..start + number.len()))
    }

    /// Whether a number is a day: `June 13`, `13 of June`.
    fn is_beside_month(&self, at: usize) -> bool {
        let word = |at: Option<usize>| Some(&self.plain[self.words.get(at?)?.span.clone()]);
        let (before, next) = (word(at.checked_sub(1)), word(Some(at + 1)));
        let is_of = next.is_some_and(|next| next.eq_ignore_ascii_case("of"));
        let next = if is_of { word(Some(at + 2)) } else { next };
        before
            .into_iter()
            .chain(next)
            .any(|word| month(word).is_some())
    }

    fn around(&self, at: usize, span: &Range<usize>) -> Around {
        let part = &self.plain[span.clone()];
        let (before, behind) = (&self.plain[..span.start], &self.plain[span.end..]);
        let ends =
            |gap: &str| gap.contains('\n') || gap.contains(['.', '!', '?']) && gap.ends_with(' ');
        let mut near = Vec::new();
        for place in (0..at).rev().take(BEFORE) {
            let gap = &self.plain[self.words[place].span.end..self.words[place + 1].span.start];
            let word = &self.plain[self.words[place].span.clone()];
            let is_short = gap == ". " && is_numbered(word);
            if ends(gap) && !is_short {
                break;
            }
            near.push(word);
        }
        let next = self.words[at..]
            .iter()
            .find(|word| word.span.start >= span.end);
        let next = next.filter(|word| !ends(&self.plain[span.end..word.span.start]));
        let next = next.map(|word| &self.plain[word.span.clone()]);
        let is_quote = |sign: char| "'\"`*“”‘’„«»".contains(sign);
        let end = behind.strip_prefix(['.', ',', '!', '?']).unwrap_or(behind);
        let lead =
            before.trim_end_matches(|sign: char| sign == ' ' || sign == '\t' || is_quote(sign));
        let rest = without_time(behind).trim_start_matches(is_quote);
        let is_whole = lead.is_empty() && rest.trim_start().is_empty();
        let is_money = |word: &&str| {
            let word = word.to_lowercase();
            is_currency(&word) || COINS.contains(&word.strip_suffix('s').unwrap_or(&word))
        };
        let nearest = near.first();
        let is_field = lead.strip_suffix(':').is_some_and(is_key)
            && (rest.is_empty() || rest.starts_with([',', ';', '}', ']', '\n', '\r']));
        let is_money = lead.ends_with(CURRENCIES)
            || behind.trim_start().starts_with(CURRENCIES)
            || next.iter().chain(nearest).any(is_money);
        let signs = [
            (
                Sign::Quoted,
                before.ends_with(is_quote) && end.starts_with(is_quote)
                    || before.ends_with('@') && !before.ends_with("@@") && part.len() > 2,
            ),
            (Sign::Upper, part.starts_with(char::is_uppercase)),
            (
                Sign::First,
                lead.is_empty() || lead.ends_with(['.', '!', '?', '\n', '•', '-', '>']),
            ),
            (Sign::Whole, is_whole),
            (Sign::Field, is_field),
            (Sign::Number, small_number(part).is_some()),
            (Sign::Money, is_money),
            (
                Sign::Numbered,
                lead.ends_with('#') || nearest.is_some_and(|word| is_numbered(word)),
            ),
            (Sign::Header, is_header(behind)),
        ];
        let signs = signs
            .into_iter()
            .filter_map(|(sign, is)| is.then_some(sign));
        let stems = |word: &str| {
            to_snake_case(word)
                .split('_')
                .rev()
                .map(stem)
                .collect::<Vec<_>>()
        };
        Around {
            before: near.into_iter().flat_map(stems).collect(),
            behind: next.map(stem),
            keys: self.key.filter(|_| is_whole).map(stems).unwrap_or_default(),
            signs: signs.collect(),
        }
    }
}

/// Whether a text ends with one or two words that begin a line or an object: the key of a field.
fn is_key(text: &str) -> bool {
    const LONGEST: usize = 60;
    let from = text.floor_char_boundary(text.len().saturating_sub(LONGEST));
    let key = text[from..]
        .rsplit(['\n', '{', '[', '(', ',', '.', ';', '!', '?'])
        .next();
    let mut words = key
        .unwrap_or_default()
        .split_whitespace()
        .filter(|word| *word != "-");
    words.next().is_some() && words.nth(1).is_none()
}

/// Whether a line goes on as the one above a quoted mail does, or as one of a log: `at 9:30 Tom wrote:`, ` 09:30] Tom:`.
fn is_header(behind: &str) -> bool {
    const LONGEST: usize = 100;
    const WROTE: [&str; 3] = ["wrote:", "schrieb:", "écrit :"];
    const LEVELS: [&str; 6] = ["]", "INFO", "WARN", "ERROR", "DEBUG", "TRACE"];
    let upto = behind.floor_char_boundary(behind.len().min(LONGEST));
    let line = behind[..upto].lines().next().unwrap_or_default();
    let rest = without_time(line);
    let is_log = rest.len() < line.len()
        && LEVELS
            .iter()
            .any(|level| rest.trim_start().starts_with(level));
    is_log || WROTE.iter().any(|wrote| line.contains(wrote)) || line.contains("schrieb ")
}

/// What stands behind a time of day: `T10:20:00Z`, ` 10:20`.
fn without_time(text: &str) -> &str {
    let time = text.strip_prefix(['T', 't', ' ']).unwrap_or(text);
    let hour = time.get(..3).is_some_and(|hour| {
        hour.ends_with(':') && hour.bytes().take(2).all(|byte| byte.is_ascii_digit())
    });
    if !hour {
        return text;
    }
    let is_part = |sign: char| sign.is_ascii_digit() || ":.+-Zz".contains(sign);
    time.trim_start_matches(is_part)
}
