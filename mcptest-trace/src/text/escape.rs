//! Making outside text safe to print.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Shows control and format characters as escapes, so that text from a file cannot move the
/// cursor, colour the terminal or reverse the reading order. Line breaks are kept.
///
/// ```
/// assert_eq!(mcptest_trace::text::escape("a\u{1b}[31mb\nc"), "a\\u{1b}[31mb\nc");
/// ```
#[must_use]
pub fn escape(text: &str) -> Cow<'_, str> {
    escape_where(text, |character| character != '\n' && is_hostile(character))
}

/// As [`escape`], for text that must stay on one line: line breaks and tabs are shown as escapes
/// as well.
///
/// ```
/// assert_eq!(mcptest_trace::text::escape_line("a\n\tb"), "a\\n\\tb");
/// ```
#[must_use]
pub fn escape_line(text: &str) -> Cow<'_, str> {
    escape_where(text, |character| is_hostile(character) || character == '\t')
}

fn escape_where(text: &str, escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if escaped(character) {
            match character {
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                // Writing to a string cannot fail.
                other => _ = write!(out, "{}", other.escape_unicode()),
            }
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

/// Control characters (but the tab), and the characters that reorder or hide text, or look like a space and
/// are none.
#[must_use]
pub fn is_hostile(character: char) -> bool {
    (character.is_control() && character != '\t')
        || (character.is_whitespace() && !character.is_ascii())
        || matches!(character,
            '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{e0000}'..='\u{e007f}'
            | '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{2800}' | '\u{3164}' | '\u{ffa0}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_text_is_borrowed_as_it_is() {
        assert!(matches!(escape("größe 🚀\tx\ny"), Cow::Borrowed(_)));
    }

    #[test]
    fn what_looks_like_a_space_is_shown() {
        let text = "a\u{a0}b\u{202f}c\u{2003}d\u{3000}e\u{ad}f g";
        assert_eq!(
            escape(text),
            r"a\u{a0}b\u{202f}c\u{2003}d\u{3000}e\u{ad}f g"
        );
    }

    #[test]
    fn no_hostile_character_survives() {
        for code in (0..0x0011_0000)
            .filter_map(char::from_u32)
            .filter(|c| is_hostile(*c))
        {
            let text = code.to_string();
            assert!(!escape_line(&text).contains(code), "{code:?}");
            assert_eq!(escape(&text).contains(code), code == '\n', "{code:?}");
        }
    }
}
