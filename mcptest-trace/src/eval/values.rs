//! The values of a text that can be told again elsewhere: identifiers, addresses, numbers, stretches of words.

use std::ops::Range;

use super::views;
use super::whole::in_word;
use crate::fnv::fnv1a64;

/// How many words make a stretch.
pub(super) const WORDS: usize = 5;

/// The fewest digits of a number.
const DIGITS: usize = 4;

/// How many beginnings of an address are looked at.
const STEPS: usize = 32;

/// A value of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value {
    /// The same for values that are equal, upper case and white space aside.
    pub(super) key: u64,
    pub(super) kind: Kind,
    /// Where it stands in the text.
    pub(super) span: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It stands there by itself.
    Whole,
    /// It is the beginning or the end of an address, and told only where it stands by itself elsewhere.
    Part,
    /// So many words from the word of this place on. A sign of a script without spaces is half a word.
    Words { at: usize, halves: usize },
}

/// The values of a text, and those of the texts behind it: what it says once JSON, percent encoding, base64 or
/// hex is taken off. Each list is of one of these texts.
pub(super) fn layers(text: &str) -> Vec<Vec<Value>> {
    let mut layers = vec![values(text)];
    let behind = |text: &str, layers: &mut Vec<Vec<Value>>| {
        layers.extend(views::of(text).into_iter().map(|view| {
            let mut values = values(&view.text);
            for value in &mut values {
                value.span = view.place(value.span.clone());
            }
            values
        }));
    };
    behind(text, &mut layers);
    if text.contains("://") {
        // A slash is a sign of base64, and sets it apart in an address.
        behind(&text.replace('/', " "), &mut layers);
    }
    layers.retain(|layer| !layer.is_empty());
    layers
}

/// The values of a text as it stands.
pub(super) fn values(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    words(text, &mut found);
    addresses(text, &mut found);
    atoms(text, &mut found);
    grouped(text, &mut found);
    found
}

fn key(text: &str) -> u64 {
    fnv1a64(text.to_lowercase().as_bytes())
}

/// Each stretch of so many words.
fn words(text: &str, found: &mut Vec<Value>) {
    let mut words: Vec<(u64, usize, Range<usize>)> = Vec::new();
    let mut signs = text.char_indices().peekable();
    while let Some((start, sign)) = signs.next() {
        if !sign.is_alphanumeric() {
            continue;
        }
        let mut end = start + sign.len_utf8();
        let spaced = in_word(sign);
        while let Some(&(at, next)) = signs.peek().filter(|(_, next)| spaced && in_word(*next)) {
            end = at + next.len_utf8();
            signs.next();
        }
        words.push((key(&text[start..end]), 1 + usize::from(spaced), start..end));
    }
    for (at, window) in words.windows(WORDS).enumerate() {
        let bytes: Vec<u8> = window
            .iter()
            .flat_map(|(key, ..)| key.to_le_bytes())
            .collect();
        let halves = window.iter().map(|(_, halves, _)| halves).sum();
        found.push(Value {
            key: fnv1a64(&bytes),
            kind: Kind::Words { at, halves },
            span: window[0].2.start..window[WORDS - 1].2.end,
        });
    }
}

/// The parts of a text between signs, with their places.
fn split(text: &str, between: impl Fn(char) -> bool) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive(between).map(move |part| {
        let start = at;
        at += part.len();
        (start, part)
    })
}

/// URLs and paths, and how they begin.
fn addresses(text: &str, found: &mut Vec<Value>) {
    let apart = |sign: char| sign.is_whitespace() || "\"'`<>|{}[]()".contains(sign);
    for (start, chunk) in split(text, apart) {
        let chunk = chunk.trim_end_matches(|sign| apart(sign) || ".,;:!?*".contains(sign));
        if let Some(scheme) = chunk.find("://") {
            let at = start + scheme + 3;
            address(&chunk[scheme + 3..], at, found);
            continue;
        }
        let joins = |sign: char| "=,;&?".contains(sign);
        for (inner, piece) in split(chunk, joins) {
            let piece = piece.trim_end_matches(|sign| joins(sign) || ".:!*".contains(sign));
            if is_path(piece) {
                address(piece, start + inner, found);
            }
        }
    }
}

/// Whether a text is a path: from a root, or of several steps or with the ending of a file.
fn is_path(text: &str) -> bool {
    let mut steps = text.split(['/', '\\']).filter(|step| !step.is_empty());
    let rooted = text.starts_with(['/', '\\', '~', '.']) || text.get(1..3) == Some(":\\");
    let (first, last) = (steps.next(), steps.next_back());
    match (first, last) {
        (Some(_), None) => rooted && text.len() > 2 && text.contains(['/', '\\']),
        (Some(first), Some(last)) => {
            rooted || is_dotted(first) || is_dotted(last) || steps.next().is_some()
        }
        _ => false,
    }
}

/// An address as a whole, and each beginning of it that ends where a step does.
fn address(text: &str, at: usize, found: &mut Vec<Value>) {
    let whole = text.trim_end_matches(['/', '\\']);
    if !whole.contains(char::is_alphanumeric) {
        return;
    }
    let folded = whole.to_lowercase().replace('\\', "/");
    let mut push = |key: u64, kind, end: usize| {
        let span = at..at + end;
        found.push(Value { key, kind, span });
    };
    push(fnv1a64(folded.as_bytes()), Kind::Whole, whole.len());
    // Beginnings of one that is as long in lower case; others are told as wholes.
    if folded.len() == whole.len() {
        let steps = folded.match_indices(['/', '?', '&', '#', ';']);
        for (end, _) in steps.filter(|(end, _)| *end > 1).take(STEPS) {
            push(fnv1a64(&folded.as_bytes()[..end]), Kind::Part, end);
        }
    }
}

/// Whether a text is the name of a host or of a file: `evil.com`, `report.pdf`.
fn is_dotted(text: &str) -> bool {
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

/// Mail addresses, names of hosts and files, identifiers, dates and numbers.
fn atoms(text: &str, found: &mut Vec<Value>) {
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
    let mut push = |text: &str, shown: Range<usize>, kind| {
        let span = start + shown.start..start + shown.end;
        found.push(Value {
            key: key(text),
            kind,
            span,
        });
    };
    let all = 0..text.len();
    let has = |is: fn(char) -> bool| text.chars().any(is);
    if let Some((name, host)) = text.split_once('@') {
        if !name.is_empty() && host.contains('.') {
            push(text, all, Kind::Whole);
        }
    } else if let Some(date) = text.get(..10).filter(|date| is_date(date, &text[10..])) {
        push(date, 0..10, Kind::Whole);
    } else if is_dotted(text) {
        let kind = if in_address { Kind::Part } else { Kind::Whole };
        push(text, all, kind);
    } else if has(char::is_alphabetic) {
        if has(|sign| sign.is_ascii_digit()) && !is_measure(text) && text.chars().count() > 2 {
            push(text, all, Kind::Whole);
        }
    } else if text.split('.').count() == 4 {
        push(text, all, Kind::Whole);
    } else if has(|sign| sign.is_ascii_digit()) {
        let mut at = 0;
        for part in text.split('-') {
            for (inner, number) in numbers(part) {
                let from = at + inner;
                let spelt = normal(&number.replace(',', ""));
                if spelt.bytes().filter(u8::is_ascii_digit).count() >= DIGITS {
                    push(&spelt, from..from + number.len(), Kind::Whole);
                }
            }
            at += part.len() + 1;
        }
    }
}

/// Whether a text is a date, alone or before a time of day.
fn is_date(date: &str, rest: &str) -> bool {
    let mut signs = date.bytes().enumerate();
    let fits = signs.all(|(at, byte)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    fits && (rest.is_empty() || rest.starts_with('T'))
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

/// A number without zeros behind its point.
fn normal(number: &str) -> String {
    match number.split_once('.') {
        Some((whole, rest)) if rest.bytes().all(|byte| byte == b'0') => whole.to_owned(),
        Some(_) => number.trim_end_matches('0').to_owned(),
        None => number.to_owned(),
    }
}

/// Telephone numbers, and numbers of accounts and cards that are written in groups.
fn grouped(text: &str, found: &mut Vec<Value>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let before = text[..at].chars().next_back();
        let begins = bytes[at].is_ascii_alphanumeric() && !before.is_some_and(in_word);
        let read = begins.then(|| account(bytes, at).or_else(|| telephone(bytes, at)));
        let Some((joined, end)) = read.flatten() else {
            at = text.ceil_char_boundary(at + 1);
            continue;
        };
        found.push(Value {
            key: key(&joined),
            kind: Kind::Whole,
            span: at..end,
        });
        at = end;
    }
}

/// `GB33 BUKB 2020 1555 55`: groups of four, the first of two letters and two digits.
fn account(bytes: &[u8], start: usize) -> Option<(String, usize)> {
    let group = |at: usize| {
        let rest = bytes.get(at..)?;
        let length = rest
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric())
            .count();
        Some(&rest[..length])
    };
    let first = group(start)?;
    let fits = first.len() == 4
        && first[..2].iter().all(u8::is_ascii_uppercase)
        && first[2..].iter().all(u8::is_ascii_digit);
    let (mut joined, mut end, mut groups) = (first.to_vec(), start + 4, 1);
    while fits && bytes.get(end) == Some(&b' ') {
        let next = group(end + 1)?;
        let written = next
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        let is_last = next.len() < 4;
        if next.is_empty()
            || next.len() > 4
            || !written
            || is_last && !next.iter().all(u8::is_ascii_digit)
        {
            break;
        }
        joined.extend(next);
        end += 1 + next.len();
        groups += 1;
        if is_last {
            break;
        }
    }
    (groups >= 3).then(|| Some((String::from_utf8(joined).ok()?, end)))?
}

/// `555-0100`, `+1 (555) 010-0199`, `4111 1111 1111 1111`: groups of digits, seven to twenty in all.
fn telephone(bytes: &[u8], start: usize) -> Option<(String, usize)> {
    let (mut joined, mut end, mut at) = (String::new(), start, start);
    let (mut groups, mut gap) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        if byte.is_ascii_digit() {
            groups += usize::from(gap > 0 || groups == 0);
            gap = 0;
            joined.push(char::from(*byte));
            end = at + 1;
        } else if gap < 2 && b" -()".contains(byte) {
            gap += 1;
        } else {
            break;
        }
        at += 1;
    }
    let goes_on = bytes.get(end).is_some_and(u8::is_ascii_alphabetic);
    (groups > 1 && (7..=20).contains(&joined.len()) && !goes_on).then_some((joined, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The values of a text that stand there by themselves.
    fn whole(text: &str) -> Vec<&str> {
        let values = values(text).into_iter();
        let mut whole: Vec<_> = values.filter(|value| value.kind == Kind::Whole).collect();
        whole.sort_by_key(|value| value.span.start);
        whole.into_iter().map(|value| &text[value.span]).collect()
    }

    #[test]
    fn identifiers_addresses_and_numbers_are_values() {
        for (text, values) in [
            ("order W3470184, user_17-b", vec!["W3470184", "user_17-b"]),
            ("<eve@evil.example>.", vec!["eve@evil.example"]),
            ("see notes.txt, 10.0.12.7", vec!["notes.txt", "10.0.12.7"]),
            ("1,250.00 or 1250, 999 and 17.5", vec!["1,250.00", "1250"]),
            ("the 2nd at 10am, 30ml, 500-piece, Q3, e.g. and/or", vec![]),
            ("open C:\\temp\\keys", vec!["C:\\temp\\keys"]),
            ("(/etc/passwd)", vec!["/etc/passwd"]),
            (
                "GB33 BUKB 2020 1555",
                vec!["GB33 BUKB 2020 1555", "GB33", "2020", "1555"],
            ),
        ] {
            let mut wanted = values.clone();
            let mut found = whole(text);
            wanted.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, wanted, "{text}");
        }
    }

    #[test]
    fn an_address_has_its_beginnings_as_parts() {
        let values = values("https://a.example/x/y?z=1");
        let parts = values.iter().filter(|value| value.kind == Kind::Part);
        let ends: Vec<usize> = parts.map(|value| value.span.end).collect();
        assert!(
            ["a.example", "a.example/x", "a.example/x/y"]
                .iter()
                .all(|part| ends.contains(&(8 + part.len())))
        );
    }

    #[test]
    fn upper_case_and_white_space_do_not_count() {
        let keys = |text: &str| {
            values(text)
                .into_iter()
                .map(|value| value.key)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            keys("All of\n the  Secret PLANS"),
            keys("all of the secret plans")
        );
        assert_eq!(layers("q=anne%40a.example").len(), 2);
    }

    proptest! {
        #[test]
        fn every_value_has_a_place(text in r#"([\\u0-9a-fA-F%"é🚀+/=@:. -]|.){0,60}"#) {
            for value in layers(&text).into_iter().flatten() {
                prop_assert!(text.get(value.span).is_some_and(|part| !part.is_empty()));
            }
        }
    }
}
