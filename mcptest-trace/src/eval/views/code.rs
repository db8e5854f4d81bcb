//! The escapes of a text in program code: `\x41`, `\u{41}`, `\U00000041`, `\101`.

use std::cell::Cell;

use super::{Encoding, View, decode_codes, hex_byte, parse_escape};

/// Decodes the escapes of program code in a text, and those of JSON beside them.
pub(super) fn decode_code_escapes(text: &str) -> Option<View> {
    if !text.contains('\\') {
        return None;
    }
    let is_code = Cell::new(false);
    let view = decode_codes(Encoding::Code, text, |rest, decoded| {
        let (sign, length) = match bytes(rest).or_else(|| code_point(rest)) {
            Some(found) => {
                is_code.set(true);
                found
            }
            None => parse_escape(rest)?,
        };
        decoded.extend_from_slice(sign.encode_utf8(&mut [0; 4]).as_bytes());
        Some(length)
    });
    view.filter(|_| is_code.get())
}

/// The sign that one or more escaped bytes stand for, and their length. A byte that is no text is a sign of Latin 1.
fn bytes(text: &str) -> Option<(char, usize)> {
    const LONGEST: usize = 4;
    let mut joined = Vec::new();
    let (mut at, mut first) = (0, None);
    while joined.len() < LONGEST
        && let Some((byte, length)) = one_byte(&text[at..])
    {
        joined.push(byte);
        at += length;
        first.get_or_insert((char::from(byte), at));
        if let Ok(sign) = std::str::from_utf8(&joined) {
            return sign.chars().next().map(|sign| (sign, at));
        }
    }
    first
}

/// `\x41` or `\101`, and the length of it.
fn one_byte(text: &str) -> Option<(u8, usize)> {
    let digits = text.strip_prefix('\\')?.as_bytes().get(..3)?;
    if matches!(digits[0], b'x' | b'X') {
        return Some((hex_byte(&digits[1..])?, 4));
    }
    let value = |digits: &[u8]| {
        let digit = |value: u16, digit: &u8| value * 8 + u16::from(digit - b'0');
        let is_octal = digits.iter().all(|digit| (b'0'..=b'7').contains(digit));
        is_octal.then(|| digits.iter().fold(0, digit))
    };
    Some((u8::try_from(value(digits)?).ok()?, 4))
}

/// `\u{41}` or `\U00000041`, and the length of it.
fn code_point(text: &str) -> Option<(char, usize)> {
    let sign = |digits: &str| {
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let code = u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)?;
        char::from_u32(code)
    };
    if let Some(rest) = text.strip_prefix("\\u{") {
        let end = rest.bytes().take(8).position(|byte| byte == b'}')?;
        return Some((sign(&rest[..end])?, end + 4));
    }
    let digits = text.strip_prefix("\\U")?.get(..8)?;
    Some((sign(digits)?, 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_code_are_read() {
        for text in [
            r"m\xc3\xb6n_17",
            r"m\xf6n_17",
            r"m\u{f6}n_17",
            r"m\U000000f6n_17",
            r"m\303\266n_17",
            r"\x6d\u00f6n_17",
        ] {
            let view = decode_code_escapes(text).unwrap();
            assert_eq!(view.text, "m\u{f6}n_17", "{text}");
            assert_eq!(&text[view.outer_span(0..view.text.len())], text);
        }
        for text in [
            "plain",
            r"\u00f6",
            r"C:\new",
            r"\xg1",
            r"\u{}",
            r"\u{d800}",
            r"\U1",
        ] {
            assert_eq!(decode_code_escapes(text), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_escape_is_too_odd(text in r"(\\|x|u|U|\{|\}|[0-9a-f]|é){0,30}") {
            if let Some(view) = decode_code_escapes(&text) {
                proptest::prop_assert!(text.get(view.outer_span(0..view.text.len())).is_some());
            }
        }
    }
}
