//! The texts behind a text: what it says once an encoding is taken off it. What is found behind an encoding
//! has its place in the text in front.

use std::ops::Range;

/// Runs that are shorter encode nothing worth looking for.
const SHORTEST: usize = 8;

/// The letters that JSON writes for control characters, behind a backslash.
pub(crate) const CONTROLS: [(char, char); 5] = [
    ('n', '\n'),
    ('t', '\t'),
    ('r', '\r'),
    ('b', '\u{8}'),
    ('f', '\u{c}'),
];

/// A text behind a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) text: String,
    /// Where each byte of it comes from.
    places: Vec<Range<usize>>,
}

impl View {
    /// The part of the text in front that a part of this one comes from.
    pub(crate) fn place(&self, part: Range<usize>) -> Range<usize> {
        match (
            self.places.get(part.start),
            self.places.get(part.end.saturating_sub(1)),
        ) {
            (Some(first), Some(last)) => first.start..last.end,
            _ => 0..0,
        }
    }

    fn of(bytes: Vec<u8>, places: Vec<Range<usize>>) -> Option<Self> {
        let text = String::from_utf8(bytes).ok()?;
        Some(Self { text, places })
    }

    /// A run of an encoding that is taken out as a whole.
    fn of_run(bytes: Vec<u8>, run: &Range<usize>) -> Option<Self> {
        let text = String::from_utf8(bytes).ok()?;
        let printable = |character: char| !character.is_control() || character.is_whitespace();
        let places = vec![run.clone(); text.len()];
        text.chars().all(printable).then_some(Self { text, places })
    }

    /// The same view seen from the text in front of `front`.
    fn behind(self, front: &Self) -> Self {
        let places = self.places.into_iter().map(|place| front.place(place));
        Self {
            places: places.collect(),
            text: self.text,
        }
    }
}

/// Every text behind a text: JSON text to two levels, percent encoding, base64 and hex.
pub(crate) fn of(text: &str) -> Vec<View> {
    let mut views = Vec::new();
    if let Some(once) = unescaped(text) {
        if let Some(twice) = unescaped(&once.text) {
            views.push(twice.behind(&once));
        }
        views.push(once);
    }
    views.extend(unpercented(text));
    for run in runs(text) {
        let encoded = &text[run.clone()];
        views.extend(base64(encoded).and_then(|bytes| View::of_run(bytes, &run)));
        views.extend(hex(encoded).and_then(|bytes| View::of_run(bytes, &run)));
    }
    views
}

/// A text with its percent encoding taken off.
#[cfg(feature = "store")]
#[must_use]
pub fn percent_decoded(text: &str) -> String {
    unpercented(text).map_or_else(|| text.to_owned(), |view| view.text)
}

fn unpercented(text: &str) -> Option<View> {
    read(text, |rest, decoded| {
        let digits = rest.strip_prefix('%')?.as_bytes().get(..2)?;
        decoded.push(byte(digits)?);
        Some(3)
    })
}

/// The inside of a JSON string, read; what is no escape stays as it is.
fn unescaped(text: &str) -> Option<View> {
    read(text, |rest, decoded| {
        let (character, length) = escape(rest)?;
        decoded.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        Some(length)
    })
}

/// A text with its codes read, where it has any; `code` decodes the one that a text begins with, and
/// says how long it is.
fn read(text: &str, code: impl Fn(&str, &mut Vec<u8>) -> Option<usize>) -> Option<View> {
    let (mut decoded, mut places) = (Vec::new(), Vec::new());
    let (mut at, mut found) = (0, false);
    while let Some(character) = text[at..].chars().next() {
        let read = code(&text[at..], &mut decoded);
        found |= read.is_some();
        let end = at + read.unwrap_or(character.len_utf8());
        if read.is_none() {
            decoded.extend_from_slice(&text.as_bytes()[at..end]);
        }
        places.resize(decoded.len(), at..end);
        at = end;
    }
    found.then(|| View::of(decoded, places))?
}

/// The character that an escape at the beginning of a text stands for, and its length.
fn escape(text: &str) -> Option<(char, usize)> {
    let rest = text.strip_prefix('\\')?;
    let short = |character| Some((character, 2));
    match rest.chars().next()? {
        character @ ('"' | '\\' | '/') => short(character),
        'u' => {
            let unit = |at: usize| u16::from_str_radix(text.get(at..at + 4)?, 16).ok();
            let first = unit(2)?;
            let second = text
                .get(6..8)
                .filter(|next| *next == "\\u")
                .and_then(|_| unit(8));
            let pair = second.map(|second| vec![first, second]).unwrap_or_default();
            match char::decode_utf16(pair).next() {
                Some(Ok(character)) if character.len_utf16() == 2 => Some((character, 12)),
                _ => Some((char::from_u32(u32::from(first))?, 6)),
            }
        }
        letter => {
            let (_, control) = CONTROLS.iter().find(|(known, _)| *known == letter)?;
            short(*control)
        }
    }
}

/// The runs of characters that may be base64 or hex.
fn runs(text: &str) -> impl Iterator<Item = Range<usize>> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte);
    let (bytes, mut at) = (text.as_bytes(), 0);
    std::iter::from_fn(move || {
        while at < bytes.len() {
            let from = at + bytes[at..].iter().position(is_part)?;
            let length = bytes[from..]
                .iter()
                .take_while(|byte| is_part(byte))
                .count();
            at = from + length;
            if length >= SHORTEST {
                return Some(from..at);
            }
        }
        None
    })
}

/// Base64 of either alphabet, without its padding.
fn base64(text: &str) -> Option<Vec<u8>> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    let values: Option<Vec<u8>> = text.bytes().map(value).collect();
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    for group in values?.chunks(4) {
        let bits = group
            .iter()
            .fold(0_u32, |bits, value| bits << 6 | u32::from(*value));
        let bits = bits << (6 * (4 - group.len()));
        let [_, first, second, third] = bits.to_be_bytes();
        let count = (group.len() * 6 / 8).min(3);
        bytes.extend_from_slice(&[first, second, third][..count]);
    }
    Some(bytes)
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let bytes = text.as_bytes();
    bytes
        .len()
        .is_multiple_of(2)
        .then(|| bytes.chunks(2).map(byte).collect())?
}

/// The byte that two hex digits are.
fn byte(digits: &[u8]) -> Option<u8> {
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let [high, low] = digits else { return None };
    u8::try_from(digit(*high)? << 4 | digit(*low)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn behind(text: &str) -> Vec<String> {
        of(text).into_iter().map(|view| view.text).collect()
    }

    #[test]
    fn each_encoding_is_taken_off() {
        assert!(behind(r"\u0073k-1").contains(&"sk-1".to_owned()));
        assert!(behind(r"\\u0073k-1").contains(&"sk-1".to_owned()));
        assert!(behind("%73k-1").contains(&"sk-1".to_owned()));
        assert!(behind("x: c2stdGVzdC0x!").contains(&"sk-test-1".to_owned()));
        assert!(behind("736b2d7465737431").contains(&"sk-test1".to_owned()));
        assert!(
            behind("nothing at all")
                .iter()
                .all(|text| !text.contains("nothing"))
        );
    }

    #[test]
    fn a_part_of_a_view_is_a_part_of_the_text() {
        let text = r"a \u0073k-1 b";
        let view = of(text).remove(0);
        let at = view.text.find("sk-1").unwrap();
        assert_eq!(&text[view.place(at..at + 4)], r"\u0073k-1");
        let text = "é %73k";
        let view = of(text).remove(0);
        let at = view.text.find("sk").unwrap();
        assert_eq!(&text[view.place(at..at + 2)], "%73k");
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_too_odd(text in r#"([\\u0-9a-f%"é🚀+/=]|[ -~]){0,40}"#) {
            for view in of(&text) {
                let whole = view.place(0..view.text.len());
                proptest::prop_assert!(text.get(whole).is_some());
            }
        }
    }
}
