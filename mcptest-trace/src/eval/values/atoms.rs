//! Mail addresses, names of hosts and files, identifiers, dates in digits and numbers.

use std::ops::Range;

use super::super::boundaries::extends_word;
use super::codes::{is_shared, is_shared_file};
use super::dates::{self, Date};
use super::words::is_year;
use super::{TextValue, ValueKind, key};

/// The fewest digits of a number.
pub(super) const DIGITS: usize = 4;

/// The fewest signs of an identifier: `mp3` and `B22` are in many texts.
const SHORTEST: usize = 4;

/// The fewest signs of an identifier that is the same without its dashes.
const DASHED: usize = 6;

/// How many pieces of an identifier are taken together.
const PIECES: usize = 8;

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
        && labels.all(|label| {
            label.len() >= 2 && label.chars().all(|sign| extends_word(sign) || sign == '-')
        })
}

pub(super) fn find(text: &str, found: &mut Vec<TextValue>) {
    let bytes = text.as_bytes();
    let byte = |at: usize| bytes.get(at).copied();
    let mut at = 0;
    let joins = |sign: char, at: usize| {
        let before = at.checked_sub(1).and_then(byte);
        let beside = [before, byte(at + 1)];
        match sign {
            // Points in a row are a pause, and dashes in a row are a dash.
            '.' | '-' => !beside.contains(&Some(bytes[at])),
            ',' => beside
                .iter()
                .all(|byte| byte.is_some_and(|byte| byte.is_ascii_digit())),
            _ => extends_word(sign) || "_@+".contains(sign),
        }
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
        let beside = [start.checked_sub(1), Some(at)].into_iter().flatten();
        let in_address = beside
            .filter_map(byte)
            .any(|byte| matches!(byte, b'/' | b'\\'));
        let behind = start + escape(&text[..start], &text[start..at]);
        let has_digits = text[behind..at].contains(|sign: char| sign.is_ascii_digit());
        // What only looks like an escape is a value as a whole too.
        let whole = (behind > start && has_digits).then_some(start);
        for start in whole.into_iter().chain([behind]) {
            for (inner, part) in parts(&text[start..at]) {
                let part = part.trim_end_matches(AT_ENDS);
                let trimmed = part.trim_start_matches(AT_ENDS);
                let start = start + inner + part.len() - trimmed.len();
                if is_handle(&part[..part.len() - trimmed.len()], trimmed) {
                    let span = start - 1..start + trimmed.len();
                    let key = key(&format!("@{trimmed}"));
                    found.push(TextValue {
                        key,
                        kind: ValueKind::Whole,
                        span,
                    });
                }
                atom(trimmed, start, in_address, found);
            }
        }
    }
}

/// The length of the rest of an escape that a run of signs begins with: the sign that it stands for is no letter and no
/// digit, so `\u0027s` is a quote and an `s`, and `%20hotel` is a space and a word.
fn escape(before: &str, run: &str) -> usize {
    let (digits, mark) = match before.bytes().next_back() {
        Some(b'\\') => (run.get(1..5).filter(|_| run.starts_with('u')), 1),
        Some(b'%') => (run.get(..2), 0),
        _ => return 0,
    };
    let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let sign = code.and_then(char::from_u32);
    match (digits, sign) {
        (Some(digits), Some(sign)) if !sign.is_alphanumeric() => mark + digits.len(),
        _ => 0,
    }
}

/// Whether a word behind `@` is the name of somebody's account: `@evilcorp`, and not `@channel`.
fn is_handle(before: &str, word: &str) -> bool {
    const OTHERS: [&str; 12] = [
        "here", "channel", "everyone", "all", "team", "param", "return", "returns", "override",
        "media", "import", "example",
    ];
    let is_other = OTHERS.iter().any(|other| other.eq_ignore_ascii_case(word));
    before.ends_with('@')
        && word.len() > 2
        && !is_other
        && word.chars().all(|sign| extends_word(sign) || sign == '.')
}

/// Signs that join two words, and belong to none at its ends.
const AT_ENDS: [char; 5] = ['-', '.', '_', '@', '+'];

/// The atoms of a run of signs that may join, with their places. A comma joins the digits of a number, and sets all
/// else apart, as in a row of a table. A plus sign belongs to a mail address alone.
fn parts(run: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let numbers = || run.split('-');
    if run.contains(',') && numbers().count() <= 2 && numbers().all(is_number) {
        found.push((0, run));
        // `1250,50` may be two numbers.
        let is_one = |number: &str| {
            number.contains('.')
                || number
                    .rsplit_once(',')
                    .is_some_and(|(_, last)| last.len() > 2)
        };
        if numbers().all(is_one) {
            return found;
        }
    }
    let mut at = 0;
    for row in run.split(',') {
        let mut inner = at;
        let apart = |sign: char| sign == '+' && !row.contains('@');
        for part in row.split(apart) {
            found.push((inner, part));
            inner += part.len() + 1;
        }
        at += row.len() + 1;
    }
    found
}

/// Whether a text is a number, perhaps with its thousands set apart, and perhaps with the code of a currency.
fn is_number(text: &str) -> bool {
    let text = money(text).map_or(text, |amount| &text[amount]);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let grouped = |text: &str, sign: char| {
        let (first, rest) = text.split_once(sign).unwrap_or((text, ""));
        digits(first)
            && (rest.is_empty()
                || (1..=3).contains(&first.len())
                    && !first.starts_with('0')
                    && rest
                        .split(sign)
                        .all(|group| group.len() == 3 && digits(group)))
    };
    let (whole, cents) = text.split_once('.').unwrap_or((text, "0"));
    let (before, behind) = text.rsplit_once(',').unwrap_or((text, "0"));
    grouped(whole, ',') && digits(cents)
        || grouped(before, '.') && digits(behind) && behind.len() < 3
}

fn atom(text: &str, start: usize, in_address: bool, found: &mut Vec<TextValue>) {
    let mut push = |key: u64, shown: Range<usize>, kind| {
        let span = start + shown.start..start + shown.end;
        found.push(TextValue { key, kind, span });
    };
    let all = 0..text.len();
    labels(text, &mut push);
    let has = |is: fn(char) -> bool| text.chars().any(is);
    if let Some((name, host)) = text.split_once('@') {
        if !name.is_empty() && host.contains('.') {
            push(key(text), all, ValueKind::Whole);
            push(key(host), name.len() + 1..text.len(), ValueKind::Part);
        }
    } else if let Some(date) = Date::parse_digits(text) {
        dates::push(date, start..start + 10, found);
    } else if is_dotted(text) {
        if is_shared_file(text) {
            return;
        }
        let kind = if in_address {
            ValueKind::Part
        } else {
            ValueKind::Whole
        };
        let bare = text
            .get(4..)
            .filter(|_| text[..4].eq_ignore_ascii_case("www."));
        push(key(bare.unwrap_or(text)), all, kind);
        // `data.evil.example` is a place at `evil.example`.
        let steps = text.match_indices('.').map(|(at, _)| at + 1);
        for start in steps
            .filter(|start| is_dotted(&text[*start..]))
            .take(PIECES)
        {
            push(key(&text[start..]), start..text.len(), ValueKind::Part);
        }
    } else if has(char::is_alphabetic) {
        if !has(|sign| sign.is_ascii_digit()) {
            return;
        }
        if is_identifier(text) && text.chars().count() >= SHORTEST {
            push(key(text), all.clone(), ValueKind::Whole);
        }
        let joined = text.replace('-', "");
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        // A dash inside an identifier is often left out.
        if joined.len() != text.len()
            && joined.len() >= DASHED
            && digits >= DIGITS
            && is_identifier(text)
        {
            push(key(&joined), all.clone(), ValueKind::Whole);
        }
        if joined.len() == 32 && joined.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            push(key(&joined), all, ValueKind::Whole);
        } else if let Some(amount) = money(text) {
            number(&text[amount.clone()], amount, &mut push);
        }
    } else if text.split('.').count() == 4 {
        push(key(text), all, ValueKind::Whole);
    } else if has(|sign| sign.is_ascii_digit()) {
        let mut at = 0;
        for part in text.split('-') {
            let groups = part.split(['.', ',']).next().unwrap_or_default();
            let grouped = groups.split('_').skip(1).all(|group| group.len() == 3);
            if grouped {
                number(&part.replace('_', ""), at..at + part.len(), &mut push);
                at += part.len() + 1;
                continue;
            }
            for piece in part.split('_') {
                number(piece, at..at + piece.len(), &mut push);
                at += piece.len() + 1;
            }
        }
    }
}

/// The identifiers and numbers that are joined to something else: `48213.evil.example`, `x-W3470184`, `W3470184_x`.
fn labels(text: &str, push: &mut impl FnMut(u64, Range<usize>, ValueKind)) {
    if !text.contains(char::is_alphabetic) {
        return;
    }
    let mut starts = vec![0];
    let joints = text.match_indices(['.', '@', '+', '_', '-']);
    starts.extend(joints.map(|(at, _)| at + 1));
    for (first, start) in starts.iter().copied().enumerate() {
        let ends = starts[first + 1..].iter().map(|next| next - 1);
        for end in ends.chain([text.len()]).take(PIECES) {
            let part = &text[start..end];
            if part.len() < text.len() && is_joined(part) {
                push(key(part), start..end, ValueKind::Part);
            }
        }
    }
}

/// Whether a part is an identifier or a number, with nothing else at its ends.
fn is_joined(part: &str) -> bool {
    let has = |is: fn(&u8) -> bool| part.bytes().any(|byte| is(&byte));
    let is_number = !has(|byte| !byte.is_ascii_digit()) && !is_year(part);
    let ends = [part.chars().next(), part.chars().next_back()];
    let is_whole = ends.iter().flatten().all(|sign| sign.is_alphanumeric());
    let has_both = has(u8::is_ascii_digit) && part.contains(char::is_alphabetic);
    part.len() >= DIGITS && is_whole && (is_number || has_both && is_identifier(part))
}

/// Whether letters with digits tell one thing from others.
fn is_identifier(text: &str) -> bool {
    !is_measure(text) && !is_shared(text)
}

/// A number, if it has so many digits and is no year.
fn number(text: &str, shown: Range<usize>, push: &mut impl FnMut(u64, Range<usize>, ValueKind)) {
    let number = text.trim_end_matches(['.', ',']);
    for spelt in spellings(number) {
        let digits = spelt.bytes().filter(u8::is_ascii_digit).count();
        if digits >= DIGITS && !is_year(&spelt) {
            let end = shown.end - (text.len() - number.len());
            push(key(&spelt), shown.start..end, ValueKind::Whole);
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

/// How a number is spelt without what sets thousands apart. A point may do that too, and a comma be the point.
fn spellings(number: &str) -> Vec<String> {
    if let Some((whole, cents)) = number.rsplit_once(',').filter(|(_, cents)| cents.len() < 3) {
        return vec![normal(&format!("{}.{cents}", whole.replace('.', "")))];
    }
    let mut spelt = vec![normal(&number.replace(',', ""))];
    let mut groups = number.split('.');
    let first = groups.next().unwrap_or_default();
    let grouped = number.contains('.')
        && (1..=3).contains(&first.len())
        && groups.all(|group| group.len() == 3);
    if grouped {
        spelt.push(number.replace('.', ""));
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
