//! Numbers after their noun, and identifiers in a list: *order 8*, *orders 7, 8 and 9*, *orders 7-9*.

use std::ops::Range;

use super::detail::{Detail, Kind};
use crate::eval::narrative::words::lexicon::{Lexicon, stem};
use crate::eval::narrative::words::marks::{Mark, Marks, of};
use crate::eval::narrative::words::token::{Token, TokenQueries};

/// Numbers that a range stands for at most: *orders 7-9*.
const RANGE: usize = 20;

/// Whether a token may stand in a list of numbers: *7*, *W12*, *7-9*.
fn is_item(words: &[Token<'_>], at: usize) -> bool {
    words.marks(at).has(Mark::Identifier) || is_number(words, at)
}

/// Whether a token is a plain number or a range of them, and no time, count or amount.
fn is_number(words: &[Token<'_>], at: usize) -> bool {
    let text = words.text(at);
    if !text.starts_with(|c: char| c.is_ascii_digit()) && !words.is(at, Mark::Determiner) {
        return false;
    }
    let plain = is_digits(text) || several(words, at).is_some() || is_word(words, at);
    let next = words.marks(at + 1);
    let again = at > 0 && follows_noun(words, at) && is_item_after(words, at + 1);
    let unit = next.has(Mark::Content) && !next.has(Mark::Participle) && !again;
    let of_amount = at > 0 && matches!(words.text(at - 1), "$" | "€" | "£");
    let percent = words.text(at + 1) == "%";
    plain && !words.is(at, Mark::Date) && !unit && !of_amount && !percent
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a number has its noun right before it.
fn follows_noun(words: &[Token<'_>], at: usize) -> bool {
    words.is(at - 1, Mark::Content)
}

/// Whether the noun before a number is told again with another: *order 7 order 8*.
fn is_item_after(words: &[Token<'_>], noun: usize) -> bool {
    is_digits(words.text(noun + 1))
}

/// Whether a token is the word for a number in a list: *orders seven and eight*, but not *seven orders*.
fn is_word(words: &[Token<'_>], at: usize) -> bool {
    let number = |at: usize| {
        let known = words.is(at, Mark::Determiner) && words.text(at) != "both";
        known
            && Lexicon::get()
                .quantity(words.text(at))
                .is_some_and(|many| many < RANGE)
    };
    let before = at.checked_sub(1).map_or("", |at| words.text(at));
    let listed = matches!(before, "and" | ",") && at > 1 && number(at - 2);
    let plural = stem(before) != before && words.is(at.wrapping_sub(1), Mark::Content);
    number(at) && (plural || listed) && !words.is(at + 1, Mark::Content)
}

/// The numbers that a token after a noun in the plural stands for: *orders 7-9*, *orders 7/8*.
fn several(words: &[Token<'_>], at: usize) -> Option<Vec<String>> {
    let text = words.text(at);
    let noun = at.checked_sub(1).map_or("", |at| words.text(at));
    let (first, last) = text.split_once(['-', '/'])?;
    let number = |text: &str| {
        is_digits(text)
            .then(|| text.parse::<usize>().ok())
            .flatten()
    };
    let (from, to) = (number(first)?, number(last)?);
    if stem(noun) == noun || !words.is(at - 1, Mark::Content) {
        return None;
    }
    if text.contains('/') {
        return Some(vec![first.to_owned(), last.to_owned()]);
    }
    range(from, to)
}

fn range(from: usize, to: usize) -> Option<Vec<String>> {
    let all = from < to && to - from < RANGE;
    all.then(|| (from..=to).map(|number| number.to_string()).collect())
}

/// How many tokens at a place join the items of a list: *and*, *as well as*, *(#*.
fn joint(words: &[Token<'_>], at: usize) -> usize {
    match words.text(at) {
        "as" if words.text(at + 1) == "well" && words.text(at + 2) == "as" => 3,
        "and" | "," | ":" | "#" | "&" | "plus" | "also" => 1,
        "number" | "numbers" | "no" | "nos" | "through" | "thru" | "–"
            if is_digits(words.text(at + 1)) =>
        {
            1
        }
        "(" if is_item(words, at + 1) || words.text(at + 1) == "#" => 1,
        _ => 0,
    }
}

fn is_joint(words: &[Token<'_>], at: usize) -> bool {
    joint(words, at) > 0
}

/// How many tokens from a place on lead to the next item: joints, and the noun once more.
fn leads(words: &[Token<'_>], from: usize, noun: Option<&str>) -> usize {
    let mut at = from;
    loop {
        let joint = joint(words, at);
        let again = at > from
            && noun.is_some_and(|noun| stem(words.text(at)) == noun)
            && !words.is(at, Mark::Participle);
        match (joint, again) {
            (0, false) => return at - from,
            (0, true) => at += 1,
            _ => at += joint,
        }
    }
}

/// Where a list that follows ends: *these orders: 7, 8 and 9*, *order 7, order 8*.
pub(crate) fn with_list(words: &[Token<'_>], start: usize, end: usize) -> usize {
    let mut last = end;
    let mut at = end;
    let first = (start..end).find(|at| is_item(words, *at));
    let noun = first.and_then(|first| noun_before(words, start, first));
    // *ct_90, and ct_91 needs no change*
    let ends = |at: usize| {
        let marks = words.marks(at);
        at >= words.len()
            || is_joint(words, at)
            || marks.meets(of![Parts Comma Sign Preposition Conjunction])
    };
    while at < words.len() {
        let leads = leads(words, at, noun.as_deref());
        if !is_item(words, at + leads) {
            break;
        }
        at += leads + 1;
        if ends(at) {
            last = at;
        }
    }
    last
}

/// The numbers after a noun, and the identifiers in a list.
pub(crate) fn numbers(words: &[Token<'_>], range: Range<usize>) -> Vec<Detail> {
    let mut found = Vec::new();
    let mut at = range.start;
    while at < range.end {
        if !is_item(words, at) {
            at += 1;
            continue;
        }
        let noun = noun_before(words, range.start, at);
        let mut items: Vec<(String, bool)> = Vec::new();
        while at < range.end && is_item(words, at) {
            let before = at.checked_sub(1).map_or("", |at| words.text(at));
            let to = matches!(before, "through" | "thru" | "–").then(|| words.text(at).parse());
            let from = items.last().and_then(|(text, _)| text.parse().ok());
            match (from, to) {
                (Some(from), Some(Ok(to))) => {
                    let more = self::range(from, to).unwrap_or_default();
                    items.extend(more.into_iter().skip(1).map(|text| (text, false)));
                }
                _ => items.extend(item(words, at)),
            }
            at += 1;
            at += leads(words, at, noun.as_deref());
        }
        let listed = items.len() > 1;
        for (text, identifier) in items {
            let kind = if identifier {
                Some(Kind::Listed).filter(|_| listed)
            } else {
                noun.clone().map(Kind::Numbered)
            };
            found.extend(kind.map(|kind| Detail { kind, text, listed }));
        }
    }
    found
}

/// What a token of a list names, and whether that is an identifier.
fn item(words: &[Token<'_>], at: usize) -> Vec<(String, bool)> {
    let text = words.text(at);
    if words.is(at, Mark::Identifier) {
        return vec![(text.to_owned(), true)];
    }
    let several = several(words, at).unwrap_or_else(|| {
        let word = Some(text).filter(|text| !is_digits(text));
        let number = word.and_then(|word| Lexicon::get().quantity(word));
        vec![number.map_or_else(|| text.to_owned(), |number| number.to_string())]
    });
    several.into_iter().map(|text| (text, false)).collect()
}

/// What an entry of a list under a claim names: *Order 7*, *7*, *W12*; the claim's noun where it has none.
pub(crate) fn of_entry(words: &[Token<'_>], noun: Option<&String>) -> Option<Detail> {
    let first = (0..words.len().min(4)).find(|at| is_item(words, *at))?;
    let own = noun_before(words, 0, first).or_else(|| noun.cloned());
    let (text, identifier) = item(words, first).into_iter().next()?;
    let kind = if identifier {
        Kind::Listed
    } else {
        Kind::Numbered(own?)
    };
    let listed = true;
    Some(Detail { kind, text, listed })
}

/// The noun right before a list of numbers: *orders 7*, *both orders, 7*, *order number 7*, *these orders: 7*.
fn noun_before(words: &[Token<'_>], start: usize, first: usize) -> Option<String> {
    let mut at = first;
    while at > start {
        at -= 1;
        let text = words.text(at);
        if matches!(
            text,
            "," | ":" | "#" | "(" | "number" | "numbers" | "no" | "nos" | "." | "id" | "ids"
        ) {
            continue;
        }
        let marks = words.marks(at);
        let noun = marks.has(Mark::Content) && !marks.meets(of![Date Time]);
        return noun.then(|| stem(text).into_owned());
    }
    None
}
