//! What a claim names besides identifiers: numbers after their noun, addresses, paths, amounts, dates, counts.
//! Here they are found in a sentence; `detail_check` compares them with calls.

use std::ops::Range;

use super::detail::{Detail, Kind};
use super::numbers::{numbers, with_list};
use super::texts::texts;
use crate::eval::months;
use crate::eval::narrative::words::list::OBJECT;
use crate::eval::narrative::words::marks::{Mark, Marks, of};
use crate::eval::narrative::words::token::{Token, TokenQueries};

/// Finds what a claim names in its object and in what follows its verb. `text` is the document's.
pub(crate) fn find(
    words: &[Token<'_>],
    text: &str,
    object: &Range<usize>,
    verb: usize,
) -> Vec<Detail> {
    let ends = of![Parts Comma Ours Finite Relative Condition Negative Presupposed];
    let after = verb + 1..words.until(verb + 1, OBJECT, ends);
    let own = if object.start > verb {
        verb + 1..object.end.max(after.end)
    } else {
        object.clone()
    };
    let own = own.start..with_list(words, own.start, own.end);
    let mut found = numbers(words, own.clone());
    let mut ranges = vec![own];
    if object.start <= verb {
        let after = after.start..with_list(words, after.start, after.end);
        found.extend(numbers(words, after.clone()));
        ranges.push(after);
    }
    for range in ranges {
        // *deleted ./src/b.rs*
        let signs = range.start..range.end.max(words.len().min(range.start + 1));
        let range = if range.is_empty() && words.is(range.start, Mark::Sign) {
            signs
        } else {
            range
        };
        found.extend(texts(words, text, &range));
        found.extend(days(words, &range));
        found.extend(targets(words, text, &range));
    }
    found.extend(count(words, verb));
    found
}

/// The month that a word names, from 1.
fn month(word: &str) -> Option<usize> {
    months::parse_month(word.trim_end_matches('.'))
}

/// The days that are named, as `05-03`.
fn days(words: &[Token<'_>], range: &Range<usize>) -> Vec<Detail> {
    let day = |at: usize| {
        let text = words.text(at);
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let ordinal = matches!(&text[digits.len()..], "" | "st" | "nd" | "rd" | "th");
        let number: usize = digits.parse().ok().filter(|_| ordinal)?;
        (1..=31).contains(&number).then_some(number)
    };
    let mut found = Vec::new();
    for at in range.clone() {
        let text = words.text(at);
        let iso = || iso_day(text).map(|text| (text.to_owned(), 1));
        // *May 3*, *3 May*, *3rd of May*
        let of = usize::from(words.text(at + 1) == "of");
        let of_month = |month: usize, day: usize| format!("{month:02}-{day:02}");
        let named = month(text).and_then(|month| Some((of_month(month, day(at + 1)?), 2)));
        let first = || {
            let month = month(words.text(at + 1 + of))?;
            Some((of_month(month, day(at)?), 2 + of))
        };
        let Some((text, width)) = named.or_else(first).or_else(iso) else {
            continue;
        };
        // *booked for May 3*, but not *placed on May 3*, *your May 3 visit*, *from May 3 through May 6*
        let article = usize::from(words.text(at.wrapping_sub(1)) == "the");
        let lead = at.checked_sub(1 + article).map_or("", |at| words.text(at));
        let placed = at > 1 && words.marks(at - 2).has(Mark::Participle) && at - 2 > range.start;
        let end = at + width;
        let attribute =
            words.marks(end).has(Mark::Content) && !words.marks(end).meets(of![Date Preposition]);
        // *moved to May 3*, but not *from May 3 to May 6*
        let from = range.clone().any(|at| words.text(at) == "from");
        let told = matches!(lead, "for" | "on") || lead == "to" && !from;
        if told && !placed && !attribute {
            let listed = false;
            let kind = Kind::Day;
            found.push(Detail { kind, text, listed });
        }
    }
    found
}

/// The month and the day of `2024-05-03`, also where a time of day follows.
pub(crate) fn iso_day(text: &str) -> Option<&str> {
    let date = text.get(..10)?;
    let mut parts = date.split('-');
    let mut next = |length| {
        let part = parts.next().filter(|part: &&str| part.len() == length)?;
        part.bytes().all(|byte| byte.is_ascii_digit()).then_some(())
    };
    next(4)?;
    next(2)?;
    next(2)?;
    let end = text
        .get(10..)
        .is_none_or(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()));
    end.then(|| &date[5..])
}

/// How many things were added, put or ordered, right after the verb: *added 2 units*.
fn count(words: &[Token<'_>], verb: usize) -> Option<Detail> {
    let at = verb + 1;
    let text = words.text(at);
    let plain =
        !text.is_empty() && text.len() < 5 && text.bytes().all(|byte| byte.is_ascii_digit());
    let things = words.marks(at + 1);
    let noun = things.has(Mark::Content)
        && !things.meets(of![Date Time])
        && words.text(at + 1).ends_with('s');
    (plain && noun).then(|| Detail {
        kind: Kind::Count,
        text: text.to_owned(),
        listed: false,
    })
}

/// What something was changed to, or to whom it was sent, behind a *to*.
fn targets(words: &[Token<'_>], text: &str, range: &Range<usize>) -> Vec<Detail> {
    let mut found = Vec::new();
    for at in range.clone().filter(|at| words.text(*at) == "to") {
        let (next, after) = (at + 1, words.marks(at + 2));
        let Some(token) = words.get(next).filter(|_| next < range.end) else {
            continue;
        };
        let spelt = &text[token.range.clone()];
        let ends = next + 1 >= words.len() || after.meets(of![Parts Comma Preposition Conjunction]);
        let capital =
            spelt.starts_with(char::is_uppercase) && spelt.chars().skip(1).all(char::is_lowercase);
        let name =
            capital && spelt.chars().count() > 2 && token.is(Mark::Content) && token.verb.is_none();
        let number = spelt.bytes().all(|byte| byte.is_ascii_digit());
        // *to 5 Elm Street*, but not *to 3 pm* nor *to 5*
        let named = words
            .get(next + 1)
            .is_some_and(|word| text[word.range.clone()].starts_with(char::is_uppercase));
        let place =
            number && named && after.has(Mark::Content) && !after.meets(of![Date Time Capitals]);
        let kind = match (place, name && ends) {
            (true, _) => Kind::NewNumber,
            (_, true) => Kind::Person,
            _ => continue,
        };
        found.push(Detail {
            kind,
            text: spelt.to_owned(),
            listed: false,
        });
    }
    found
}
