//! What Markdown puts around and inside words: stars, back quotes, underscores, and a backslash before a sign.

use std::cell::Cell;

use super::{Encoding, View, decode_codes};

/// Removes the signs of Markdown from a text.
pub(super) fn strip_markdown(text: &str) -> Option<View> {
    if !text.contains(['*', '`', '_', '\\']) && !text.contains("~~") {
        return None;
    }
    let before = Cell::new(' ');
    decode_codes(Encoding::Markdown, text, |rest, decoded| {
        let mut signs = rest.chars();
        let sign = signs.next()?;
        let next = signs.next().unwrap_or(' ');
        match sign {
            '*' | '`' => Some(1),
            '~' if next == '~' => Some(2),
            '\\' if next.is_ascii_punctuation() => {
                before.set(next);
                decoded.extend_from_slice(next.encode_utf8(&mut [0; 4]).as_bytes());
                Some(2)
            }
            '_' if is_edge(before.get(), next) => Some(1),
            sign => {
                before.set(sign);
                None
            }
        }
    })
}

/// Whether an underscore is at an end of a word, and so none of its signs.
fn is_edge(before: char, next: char) -> bool {
    let beside_space = before.is_whitespace() || next.is_whitespace();
    beside_space || before.is_alphanumeric() != next.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_taken_off() {
        for (text, rest) in [
            ("**W34**, `W35`, W3**4**", Some("W34, W35, W34")),
            ("_see_ user_17\\_b", Some("see user_17_b")),
            ("~~old~~ eve\\@evil.example", Some("old eve@evil.example")),
            ("_/etc/x_y_", Some("/etc/x_y")),
            ("user_17, ~/x, C:\\temp", None),
        ] {
            assert_eq!(
                strip_markdown(text).map(|view| view.text).as_deref(),
                rest,
                "{text}"
            );
        }
    }
}
