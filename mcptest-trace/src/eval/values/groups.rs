//! Numbers that are written in groups: of telephones, accounts and cards, and those whose thousands are set apart.

use super::super::boundaries::extends_word;
use super::atoms::DIGITS;
use super::words::is_year;
use super::{TextValue, ValueKind, key};

/// The fewest and the most digits of a telephone or a card.
const TELEPHONE: std::ops::RangeInclusive<usize> = 7..=20;

pub(super) fn find(text: &str, found: &mut Vec<TextValue>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let before = text[..at].chars().next_back();
        let begins = bytes[at].is_ascii_alphanumeric() && !before.is_some_and(extends_word);
        let end = if begins {
            thousands(text, at, found);
            account(bytes, at, found).or_else(|| telephone(bytes, at, found))
        } else {
            None
        };
        at = end.unwrap_or_else(|| text.ceil_char_boundary(at + 1));
    }
}

/// `GB33 BUKB 2020 1555 55`: groups of four, the first of two letters and two digits. The end of it.
fn account(bytes: &[u8], start: usize, found: &mut Vec<TextValue>) -> Option<usize> {
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
    while fits && let Some(gap) = gap(bytes.get(end..).unwrap_or_default()) {
        let next = group(end + gap)?;
        let written = next
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        let is_last = next.len() < 4;
        if next.is_empty()
            || next.len() > 4
            || !written
            || is_last && !next.iter().any(u8::is_ascii_digit)
        {
            break;
        }
        joined.extend(next);
        end += gap + next.len();
        groups += 1;
        if is_last {
            break;
        }
    }
    let joined = String::from_utf8(joined).ok().filter(|_| groups >= 3)?;
    found.push(TextValue {
        key: key(&joined),
        kind: ValueKind::Whole,
        span: start..end,
    });
    Some(end)
}

/// The length of what sets two groups of an account apart: a sign, or a line break with spaces around it.
fn gap(rest: &[u8]) -> Option<usize> {
    let spaces = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    match rest.first()? {
        b'-' | b'.' => Some(1),
        _ => Some(rest.iter().take_while(spaces).count()).filter(|length| *length > 0),
    }
}

/// `555-0100`, `+1 (555) 010-0199`, `4111 1111 1111 1111`: groups of digits. The end of it.
///
/// What stands behind the first groups may be another number, and a number with the code of its country, behind a plus
/// sign, may be told without: such parts are told where they stand by themselves elsewhere.
fn telephone(bytes: &[u8], start: usize, found: &mut Vec<TextValue>) -> Option<usize> {
    let (mut joined, mut at, mut gap) = (String::new(), start, 0);
    let mut ends: Vec<(usize, usize)> = Vec::new();
    while let Some(byte) = bytes.get(at) {
        if byte.is_ascii_digit() {
            gap = 0;
            joined.push(char::from(*byte));
            if !bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
                ends.push((joined.len(), at + 1));
            }
        } else if gap < 2 && b" -()".contains(byte) || gap == 0 && *byte == b'.' {
            // A point joins two digits and nothing else.
            let joins = *byte != b'.' || bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
            if !joins {
                break;
            }
            gap += 1;
        } else {
            break;
        }
        at += 1;
    }
    if let Some(end) = date(&ends, start, bytes) {
        return Some(end);
    }
    if let [(4, _), (8, end)] = ends[..]
        && is_year(&joined[..4])
        && is_year(&joined[4..8])
    {
        return Some(end);
    }
    let in_word = |end: usize| bytes.get(end).is_some_and(u8::is_ascii_alphabetic);
    ends.retain(|(digits, end)| TELEPHONE.contains(digits) && !in_word(*end));
    let plus = start.checked_sub(1).and_then(|at| bytes.get(at)) == Some(&b'+');
    let (digits, end) = ends.pop()?;
    let all = &joined[..digits];
    let one_group = end - start == digits;
    let mut push = |text: &str, kind, end: usize| {
        found.push(TextValue {
            key: key(text),
            kind,
            span: start..end,
        });
    };
    if !one_group {
        push(all, ValueKind::Whole, end);
        for (digits, end) in ends {
            push(&joined[..digits], ValueKind::Part, end);
        }
    }
    if plus {
        let suffixes = (1..=3).filter_map(|skipped| all.get(skipped..));
        suffixes
            .filter(|rest| TELEPHONE.contains(&rest.len()))
            .for_each(|rest| push(rest, ValueKind::Part, end));
    }
    if let Some(rest) = all
        .strip_prefix('0')
        .filter(|rest| rest.len() >= *TELEPHONE.start())
    {
        push(rest.trim_start_matches('0'), ValueKind::Whole, end);
    }
    Some(end)
}

/// The end of a date, of which these are the first groups, each with the digits so far and its end.
fn date(ends: &[(usize, usize)], start: usize, bytes: &[u8]) -> Option<usize> {
    let [(first, at), (second, next), (third, end), ..] = ends else {
        return None;
    };
    let lengths = [*first, second - first, third - second];
    let is_date = lengths[1] <= 2
        && (lengths[0] == 4 && lengths[2] <= 2 || lengths[0] <= 2 && lengths[2] == 4);
    let joined = end - start == third + 2 && bytes.get(*at) == bytes.get(*next);
    (is_date && joined && bytes.get(*at) != Some(&b' ')).then_some(*end)
}

/// `12 500` and `12'500.00`: three digits a group, set apart by a space or a quote.
fn thousands(text: &str, start: usize, found: &mut Vec<TextValue>) {
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        rest.bytes().take_while(u8::is_ascii_digit).count()
    };
    let first = digits(start);
    if !(1..=3).contains(&first) {
        return;
    }
    let (mut joined, mut end) = (text[start..start + first].to_owned(), start + first);
    while let Some(sign) = text[end..].chars().next() {
        let from = end + sign.len_utf8();
        if !matches!(sign, ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}' | '\'' | '’')
            || digits(from) != 3
        {
            break;
        }
        joined.push_str(&text[from..from + 3]);
        end = from + 3;
    }
    if end == start + first {
        return;
    }
    let rest = &text[end..];
    let cents = rest.strip_prefix(['.', ',']).map_or(0, |_| digits(end + 1));
    if (1..=2).contains(&cents) {
        joined = super::atoms::normal(&format!("{joined}.{}", &rest[1..=cents]));
        end += 1 + cents;
    }
    let goes_on = text[end..].chars().next().is_some_and(extends_word);
    if joined.len() >= DIGITS && !goes_on {
        found.push(TextValue {
            key: key(&joined),
            kind: ValueKind::Whole,
            span: start..end,
        });
    }
}
