//! Base64 and hex: runs of signs that encode a text as a whole.

use std::collections::HashSet;
use std::ops::Range;

use super::{Encoding, View, hex_byte};

/// Runs that are shorter encode nothing worth looking for.
const SHORTEST: usize = 8;

/// The shortest line of base64 that goes on in the next line.
const LINE: usize = 16;

/// The fewest bytes of hex that are written apart.
const PAIRS: usize = 4;

/// Signs of base64 that may also join a run to what stands beside it.
const JOINS: [&[u8]; 4] = [b"", b"-_", b"/+", b"-_/+"];

/// The texts behind the runs of base64 and hex in a text.
pub(super) fn decode_runs(text: &str) -> Vec<View> {
    let mut views = Vec::new();
    for run in runs(text, is_base64) {
        let mut seen = HashSet::new();
        for joins in JOINS {
            let parts = runs(&text[run.clone()], |byte| !joins.contains(&byte));
            let parts = parts.map(|part| run.start + part.start..run.start + part.end);
            for part in parts.filter(|part| part.len() >= SHORTEST) {
                if seen.insert((part.start, part.end)) {
                    let bytes = decode_base64(text[part.clone()].bytes());
                    views.extend(View::from_run(Encoding::Base64, bytes, &part));
                }
            }
        }
    }
    for run in runs(text, |byte| byte.is_ascii_hexdigit()).filter(|run| run.len() >= SHORTEST) {
        let bytes = decode_hex(&text[run.clone()]);
        views.extend(bytes.and_then(|bytes| View::from_run(Encoding::Hex, bytes, &run)));
    }
    decode_broken_lines(text, &mut views);
    decode_hex_pairs(text.as_bytes(), &mut views);
    views
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte)
}

/// The longest runs of such bytes, all of them ASCII.
fn runs(text: &str, is_part: impl Fn(u8) -> bool) -> impl Iterator<Item = Range<usize>> {
    let (bytes, mut at) = (text.as_bytes(), 0);
    std::iter::from_fn(move || {
        let from = at + bytes.get(at..)?.iter().position(|byte| is_part(*byte))?;
        let rest = bytes[from..].iter();
        at = from + rest.take_while(|byte| is_part(**byte)).count();
        Some(from..at)
    })
}

/// Decodes base64 whose lines were broken: all lines but the last have one length.
fn decode_broken_lines(text: &str, views: &mut Vec<View>) {
    let mut open: Option<(Range<usize>, Vec<u8>, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let line = line.trim_end();
        let head = line.bytes().take_while(|byte| is_base64(*byte)).count();
        let tail = line
            .bytes()
            .rev()
            .take_while(|byte| is_base64(*byte))
            .count();
        if let Some((run, signs, length)) = &mut open
            && head > 0
        {
            signs.extend(&line.as_bytes()[..head]);
            run.end = start + head;
            if head == *length && head == line.len() {
                continue;
            }
        }
        views.extend(open.take().and_then(broken_view));
        if tail >= LINE {
            let from = start + line.len() - tail;
            let signs = line.as_bytes()[line.len() - tail..].to_vec();
            open = Some((from..start + line.len(), signs, tail));
        }
    }
    views.extend(open.and_then(broken_view));
}

/// The text behind lines of base64, if there are several.
fn broken_view((run, signs, first): (Range<usize>, Vec<u8>, usize)) -> Option<View> {
    let bytes = decode_base64(signs.iter().copied());
    View::from_run(Encoding::Base64, bytes, &run).filter(|_| signs.len() > first)
}

/// Decodes hex whose bytes are written apart: `65:76:65`, `0x65, 0x76`.
fn decode_hex_pairs(bytes: &[u8], views: &mut Vec<View>) {
    const GAPS: [&[u8]; 5] = [b", ", b":", b"-", b",", b" "];
    let mut at = 0;
    while at < bytes.len() {
        let joined = at > 0 && bytes[at - 1].is_ascii_alphanumeric();
        let Some((first, mut end)) = hex_pair(bytes, at).filter(|_| !joined) else {
            at += 1;
            continue;
        };
        let mut decoded = vec![first];
        let gap = GAPS.into_iter().find(|gap| bytes[end..].starts_with(gap));
        while let Some(gap) = gap.filter(|gap| bytes[end..].starts_with(gap))
            && let Some((next, behind)) = hex_pair(bytes, end + gap.len())
        {
            decoded.push(next);
            end = behind;
        }
        if decoded.len() >= PAIRS {
            views.extend(View::from_run(Encoding::Hex, decoded, &(at..end)));
        }
        at = end;
    }
}

/// The byte that two hex digits alone are, and their end.
fn hex_pair(bytes: &[u8], at: usize) -> Option<(u8, usize)> {
    let rest = bytes.get(at..)?;
    let prefix = if rest.starts_with(b"0x") { 2 } else { 0 };
    let digits = rest.get(prefix..prefix + 2)?;
    let goes_on = rest.get(prefix + 2).is_some_and(u8::is_ascii_alphanumeric);
    hex_byte(digits)
        .map(|byte| (byte, at + prefix + 2))
        .filter(|_| !goes_on)
}

/// Base64 of either alphabet, without its padding.
fn decode_base64(signs: impl Iterator<Item = u8>) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        _ => 63,
    };
    let values: Vec<u8> = signs.map(value).collect();
    let mut bytes = Vec::with_capacity(values.len() * 3 / 4);
    for group in values.chunks(4) {
        let bits = group
            .iter()
            .fold(0_u32, |bits, value| bits << 6 | u32::from(*value));
        let bits = bits << (6 * (4 - group.len()));
        let [_, first, second, third] = bits.to_be_bytes();
        let count = (group.len() * 6 / 8).min(3);
        bytes.extend_from_slice(&[first, second, third][..count]);
    }
    bytes
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let bytes = text.as_bytes();
    bytes
        .len()
        .is_multiple_of(2)
        .then(|| bytes.chunks(2).map(hex_byte).collect())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn behind(text: &str) -> Vec<String> {
        decode_runs(text)
            .into_iter()
            .map(|view| view.text)
            .collect()
    }

    #[test]
    fn a_run_is_read_whatever_it_is_joined_to() {
        for text in [
            "NDgyMTMtQUI=",
            "data_NDgyMTMtQUI",
            "/c/NDgyMTMtQUI",
            "id-NDgyMTMtQUI/x",
            "id-34383231332d4142",
            "0x34383231332d4142",
            "34:38:32:31:33:2d:41:42",
            "34 38 32 31 33 2D 41 42",
            "0x34, 0x38, 0x32, 0x31, 0x33, 0x2d, 0x41, 0x42",
        ] {
            assert!(behind(text).contains(&"48213-AB".to_owned()), "{text}");
        }
        // A sign that joins may be one of base64.
        assert!(behind("Pz8_Pz8-").contains(&"??????>".replace("??????>", "?????>")));
    }

    #[test]
    fn lines_of_base64_are_one_text() {
        let text = "see:\ndGhlIGNvZGUgNDgyMTMt\r\nQUIgaXMgbm93\r\nbye";
        assert!(behind(text).contains(&"the code 48213-AB is now".to_owned()));
        assert!(behind("10:20 and 11:30").is_empty());
    }

    proptest::proptest! {
        #[test]
        fn every_run_has_a_place(text in "(0x|[0-9a-f]{2}|[A-Za-z0-9]{8,20}|[-_/+=:, \n\u{e9}]){0,30}") {
            for view in decode_runs(&text) {
                proptest::prop_assert!(text.get(view.outer_span(0..view.text.len())).is_some());
            }
        }
    }
}
