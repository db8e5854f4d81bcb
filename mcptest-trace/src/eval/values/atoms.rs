//! Mail addresses, names of hosts and files, identifiers, dates in digits and numbers.

use std::ops::Range;

use super::super::whole::in_word;
use super::dates::{self, Date};
use super::words::is_year;
use super::{Kind, Value, key};

/// The fewest digits of a number.
pub(super) const DIGITS: usize = 4;

/// Whether a text is the name of a host or of a file: `evil.com`, `report.pdf`.
pub(super) fn is_dotted(text: &str) -> bool {
    let mut labels = text.split('.');
    let last = labels.next_back().unwrap_or_default();
    let is_ending =
        (2..=12).contains(&last.len()) && last.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let mut labels = labels.peekable();
    labels.peek().is_some()
        && is_ending
        && last.contains(|sign: char| sign.is_ascii_alphabetic())
        && labels
            .all(|label| label.len() >= 2 && label.chars().all(|sign| in_word(sign) || sign == '-'))
}

pub(super) fn find(text: &str, found: &mut Vec<Value>) {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut at = 0;
    let joins = |sign: char, at: usize| {
        in_word(sign)
            || "-._@+".contains(sign)
            || sign == ',' && at > 0 && digit(at - 1) && digit(at + 1)
    };
    while let Some(sign) = text[at..].chars().next() {
        let start = at;
        while let Some(sign) = text[at..].chars().next().filter(|sign| joins(*sign, at)) {
            at += sign.len_utf8();
        }
        if at == start {
            at += sign.len_utf8();
            continue;
        }
        let word = text[start..at].trim_end_matches(|sign| "-._@+".contains(sign));
        let trimmed = word.trim_start_matches(|sign| "-._@+".contains(sign));
        let start = start + word.len() - trimmed.len();
        let end = start + trimmed.len();
        let beside = [start.checked_sub(1), Some(end)].into_iter().flatten();
        let in_address = beside
            .filter_map(|at| bytes.get(at))
            .any(|byte| matches!(byte, b'/' | b'\\'));
        atom(trimmed, start, in_address, found);
    }
}

fn atom(text: &str, start: usize, in_address: bool, found: &mut Vec<Value>) {
    let mut push = |key: u64, shown: Range<usize>, kind| {
        let span = start + shown.start..start + shown.end;
        found.push(Value { key, kind, span });
    };
    let all = 0..text.len();
    let has = |is: fn(char) -> bool| text.chars().any(is);
    if let Some((name, host)) = text.split_once('@') {
        if !name.is_empty() && host.contains('.') {
            push(key(text), all, Kind::Whole);
            push(key(host), name.len() + 1..text.len(), Kind::Part);
        }
    } else if let Some(date) = Date::in_digits(text) {
        dates::push(date, start..start + 10, found);
    } else if is_dotted(text) {
        let kind = if in_address { Kind::Part } else { Kind::Whole };
        let bare = text
            .get(4..)
            .filter(|_| text[..4].eq_ignore_ascii_case("www."));
        push(key(bare.unwrap_or(text)), all, kind);
    } else if has(char::is_alphabetic) {
        if !has(|sign| sign.is_ascii_digit()) {
            return;
        }
        if !is_measure(text) && text.chars().count() > 2 {
            push(key(text), all.clone(), Kind::Whole);
        }
        let joined = text.replace('-', "");
        if joined.len() == 32 && joined.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            push(key(&joined), all, Kind::Whole);
        } else if let Some(amount) = money(text) {
            number(&text[amount.clone()], amount.start, &mut push);
        }
    } else if text.split('.').count() == 4 {
        push(key(text), all, Kind::Whole);
    } else if has(|sign| sign.is_ascii_digit()) {
        let mut at = 0;
        for part in text.split('-') {
            number(part, at, &mut push);
            at += part.len() + 1;
        }
    }
}

/// The numbers of a run of digits, points and commas, that have so many digits and are no years.
fn number(text: &str, at: usize, push: &mut impl FnMut(u64, Range<usize>, Kind)) {
    for (inner, number) in numbers(text) {
        let from = at + inner;
        for spelt in spellings(number) {
            let digits = spelt.bytes().filter(u8::is_ascii_digit).count();
            if digits >= DIGITS && !is_year(&spelt) {
                push(key(&spelt), from..from + number.len(), Kind::Whole);
            }
        }
    }
}

/// Where the number is in an amount of money that is written as one word: `1000USD`, `EUR1000`.
fn money(text: &str) -> Option<Range<usize>> {
    let is_part = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b',');
    let start = text.bytes().position(is_part)?;
    let length = text[start..]
        .bytes()
        .take_while(|byte| is_part(*byte))
        .count();
    let (before, behind) = (&text[..start], &text[start + length..]);
    let unit = if before.is_empty() { behind } else { before };
    let alone = before.is_empty() || behind.is_empty();
    (alone && is_currency(unit)).then_some(start..start + length)
}

/// Whether a word is the code of a currency.
pub(super) fn is_currency(word: &str) -> bool {
    const CODES: [&str; 18] = [
        "usd", "eur", "gbp", "chf", "jpy", "cny", "inr", "cad", "aud", "nzd", "sek", "nok", "dkk",
        "pln", "czk", "brl", "mxn", "krw",
    ];
    CODES.iter().any(|code| code.eq_ignore_ascii_case(word))
}

/// Whether a text is an ordinal, a size, a time or a small count: `2nd`, `30ml`, `500-piece`.
fn is_measure(text: &str) -> bool {
    let rest = text.trim_start_matches(|sign: char| sign.is_ascii_digit() || ",.".contains(sign));
    let letters = rest.chars().all(|sign| sign.is_alphabetic() || sign == '-');
    let digits = text.len() - rest.len();
    letters && (1..DIGITS).contains(&digits) && (rest.chars().count() <= 3 || rest.starts_with('-'))
}

/// The numbers between commas, of which those that set thousands apart belong to the number.
fn numbers(text: &str) -> Vec<(usize, &str)> {
    let text = text.trim_end_matches(['.', ',']);
    let whole = text.split_once('.').map_or(text, |(whole, _)| whole);
    let mut groups = whole.split(',').skip(1);
    if groups.all(|group| group.len() == 3) {
        return vec![(0, text)];
    }
    let mut at = 0;
    let parts = text.split(',').map(|part| {
        let start = at;
        at += part.len() + 1;
        (start, part)
    });
    parts.collect()
}

/// How a number is spelt without what sets thousands apart. A point may do that too, and a comma be the point.
fn spellings(number: &str) -> Vec<String> {
    let mut spelt = vec![normal(&number.replace(',', ""))];
    let (whole, rest) = number.split_once(',').unwrap_or((number, "0"));
    let mut groups = whole.split('.');
    let first = groups.next().unwrap_or_default();
    let grouped = whole.contains('.')
        && (1..=3).contains(&first.len())
        && groups.all(|group| group.len() == 3)
        && !rest.contains(['.', ',']);
    if grouped {
        spelt.push(normal(&format!("{}.{rest}", whole.replace('.', ""))));
        spelt.dedup();
    }
    spelt
}

/// A number without zeros behind its point.
pub(super) fn normal(number: &str) -> String {
    match number.split_once('.') {
        Some((whole, rest)) if rest.bytes().all(|byte| byte == b'0') => whole.to_owned(),
        Some(_) => number.trim_end_matches('0').to_owned(),
        None => number.to_owned(),
    }
}
