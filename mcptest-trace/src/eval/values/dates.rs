//! Dates, in digits and in words: `2031-05-20`, `20.05.2031`, `May 20th, 2031`, `from the 13th to the 17th of May`.
//!
//! A date has a key of its own and one of its day without the year. The second is a part: it is told only where a text
//! names the day without a year. Where a text leaves open which number is the month, it says both dates.

use std::ops::Range;

use super::{TextValue, ValueKind, Word, key};
use crate::eval::months;

/// Words between the two days of a span of days, or between a day and its month.
const BETWEEN: [&str; 8] = ["to", "the", "of", "and", "through", "until", "till", "or"];

/// A day, and its year where that is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Date {
    year: Option<u16>,
    month: u8,
    day: u8,
}

impl Date {
    fn new(year: Option<u16>, month: u8, day: u8) -> Option<Self> {
        let fits = (1..=12).contains(&month) && (1..=31).contains(&day);
        fits.then_some(Self { year, month, day })
    }

    /// Parses a date as `2031-05-20`, alone or before a time of day.
    pub(super) fn parse_digits(text: &str) -> Option<Self> {
        let date = text.get(..10)?;
        let rest = &text[10..];
        let mut parts = date.split('-');
        let mut part = |length| parts.next().filter(|part: &&str| part.len() == length);
        let (year, month, day) = (part(4)?, part(2)?, part(2)?);
        if !(rest.is_empty() || rest.starts_with(['T', 't'])) {
            return None;
        }
        Self::new(
            Some(digits(year)?),
            u8::try_from(digits(month)?).ok()?,
            u8::try_from(digits(day)?).ok()?,
        )
    }

    fn day_key(self) -> u64 {
        key(&format!("--{:02}-{:02}", self.month, self.day))
    }
}

fn digits(text: &str) -> Option<u16> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| plain)
}

pub(super) fn push(date: Date, span: Range<usize>, found: &mut Vec<TextValue>) {
    let day = date.day_key();
    let mut push = |key, part| {
        let kind = ValueKind::Date { day, part };
        let span = span.clone();
        found.push(TextValue { key, kind, span });
    };
    if let Some(year) = date.year {
        let whole = format!("{year:04}-{:02}-{:02}", date.month, date.day);
        push(key(&whole), false);
    }
    push(day, date.year.is_some());
}

/// Dates that are no `2031-05-20`.
pub(super) fn find(text: &str, words: &[Word], found: &mut Vec<TextValue>) {
    let text = Text { text, words };
    for at in 0..words.len() {
        if let Some(month) = text.month(at) {
            text.push_around_month(month, at, found);
        } else {
            text.push_numeric(at, found);
        }
    }
}

/// The month that a word names.
pub(super) fn month(word: &str) -> Option<u8> {
    u8::try_from(months::parse_month(word)?).ok()
}

struct Text<'a> {
    text: &'a str,
    words: &'a [Word],
}

impl Text<'_> {
    fn word(&self, at: usize) -> Option<&str> {
        self.words
            .get(at)
            .and_then(|word| self.text.get(word.span.clone()))
    }

    fn month(&self, at: usize) -> Option<u8> {
        month(self.word(at)?)
    }

    /// `5` and `5th`, and nothing of a number with a point or a time.
    fn day(&self, at: usize) -> Option<u8> {
        let word = self.word(at)?;
        let ending = |suffix: &str| {
            let plain = word
                .len()
                .checked_sub(2)
                .and_then(|end| word.split_at_checked(end))?;
            plain.1.eq_ignore_ascii_case(suffix).then_some(plain.0)
        };
        let number = ["st", "nd", "rd", "th"]
            .into_iter()
            .find_map(ending)
            .unwrap_or(word);
        let day = u8::try_from(digits(number).filter(|_| number.len() <= 2)?).ok()?;
        (1..=31).contains(&day).then_some(day)
    }

    fn year(&self, at: usize) -> Option<u16> {
        digits(self.word(at).filter(|word| word.len() == 4)?)
            .filter(|year| (1900..2200).contains(year))
    }

    /// What stands between two words.
    fn gap(&self, at: usize) -> &str {
        let (Some(one), Some(next)) = (self.words.get(at), self.words.get(at + 1)) else {
            return "\n";
        };
        self.text.get(one.span.end..next.span.start).unwrap_or("\n")
    }

    fn is_between(&self, at: usize) -> bool {
        let is = |word: &str| BETWEEN.iter().any(|known| known.eq_ignore_ascii_case(word));
        self.word(at).is_some_and(is)
    }

    /// `June the 4th`.
    fn is_the(&self, at: usize) -> bool {
        self.word(at)
            .is_some_and(|word| word.eq_ignore_ascii_case("the"))
    }

    /// The days that stand before the name of a month or behind it, and the year.
    fn push_around_month(&self, month: u8, at: usize, found: &mut Vec<TextValue>) {
        const FARTHEST: usize = 4;
        let mut before = Vec::new();
        let (mut place, mut between) = (at, 0);
        while let Some(next) = place.checked_sub(1).filter(|_| between < FARTHEST) {
            if self.gap(next).trim().len() > 3 {
                break;
            }
            // `June 3 to June 4`: the 3 is of the other June.
            let is_apart = between > 0 || !self.gap(next).trim().is_empty();
            let of_other = next.checked_sub(1).and_then(|word| self.month(word));
            match self.day(next) {
                Some(_) if is_apart && of_other.is_some() => break,
                Some(day) => {
                    before.push((day, next));
                    between = 0;
                }
                None if self.is_between(next) => between += 1,
                None => break,
            }
            place = next;
        }
        let mut behind = Vec::new();
        let (mut place, mut between) = (at + 1, 0);
        // A year ends what belongs to a month.
        while between < FARTHEST && self.year(place).is_none() && place - at <= 2 * FARTHEST {
            match self.day(place) {
                Some(day) if self.gap(place - 1).trim().len() <= 3 => {
                    behind.push((day, place));
                    between = 0;
                }
                None if self.is_between(place) && (!behind.is_empty() || self.is_the(place)) => {
                    between += 1;
                }
                _ => break,
            }
            place += 1;
        }
        let year_of = |last: usize| self.year(last + 1).map(|year| (year, last + 1));
        let with_year =
            |days: Vec<(u8, usize)>, year: Option<(u16, usize)>, found: &mut Vec<TextValue>| {
                for (day, place) in days {
                    let places = [Some(place), Some(at), year.map(|(_, place)| place)];
                    let places = || places.iter().flatten();
                    let (Some(first), Some(last)) = (places().min(), places().max()) else {
                        continue;
                    };
                    if let Some(date) = Date::new(year.map(|(year, _)| year), month, day) {
                        let span = self.words[*first].span.start..self.words[*last].span.end;
                        push(date, span, found);
                    }
                }
            };
        if before.is_empty() {
            let last = behind.last().map_or(at, |(_, last)| *last);
            with_year(behind, year_of(last), found);
        } else {
            with_year(before, year_of(at), found);
        }
    }

    /// Adds dates as `20.05.2031`, `5/20/2031` and `2031/05/20`.
    fn push_numeric(&self, at: usize, found: &mut Vec<TextValue>) {
        let sign = self.gap(at);
        if !matches!(sign, "." | "/" | "-") || self.gap(at + 1) != sign {
            return;
        }
        let part = |at: usize| self.word(at).and_then(digits);
        let (Some(first), Some(second), Some(third)) = (part(at), part(at + 1), part(at + 2))
        else {
            return;
        };
        let span = self.words[at].span.start..self.words[at + 2].span.end;
        let mut push = |year: Option<u16>, month: u16, day: u16| {
            let [month, day] = [month, day].map(|part| u8::try_from(part).unwrap_or_default());
            if let Some(date) = year.and_then(|year| Date::new(Some(year), month, day)) {
                self::push(date, span.clone(), found);
            }
        };
        if sign != "-" {
            push(self.year(at), second, third);
        }
        push(self.year(at + 2), second, first);
        if sign == "/" && first != second {
            push(self.year(at + 2), first, second);
        }
    }
}
