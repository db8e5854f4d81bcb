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

/// As [`escape_line`], for what is stored and compared later: the set of characters that it escapes stays the
/// same, so that a file of an earlier version is still equal.
///
/// ```
/// assert_eq!(mcptest_trace::text::escape_stored_line("a\u{ad}\u{e000}"), "a\\u{ad}\u{e000}");
/// ```
#[must_use]
pub fn escape_stored_line(text: &str) -> Cow<'_, str> {
    escape_where(text, |character| {
        is_escaped_in_files(character) || character == '\t'
    })
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

/// Control characters (but the tab), and the characters that reorder or hide text, look like a space and
/// are none, or have no look that a font knows.
#[must_use]
pub fn is_hostile(character: char) -> bool {
    is_escaped_in_files(character)
        || matches!(character,
            // Private use, and what is no character.
            '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}' | '\u{fdd0}'..='\u{fdef}'
            // Annotations, and what stands for an object.
            | '\u{fff0}'..='\u{fffc}' | '\u{fffe}' | '\u{ffff}'
            // Formats of shorthand, hieroglyphs and music.
            | '\u{1bca0}'..='\u{1bca3}' | '\u{13430}'..='\u{1343f}' | '\u{1d173}'..='\u{1d17a}'
            // Kept free for more characters that are not seen.
            | '\u{e0080}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}')
}

/// What [`escape_stored_line`] escapes, but the tab: never more and never less.
fn is_escaped_in_files(character: char) -> bool {
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
    fn what_has_no_look_is_shown() {
        for character in [
            '\u{e000}',
            '\u{f8ff}',
            '\u{fff9}',
            '\u{fffc}',
            '\u{1d173}',
            '\u{10fffd}',
        ] {
            assert!(is_hostile(character), "{character:?}");
            assert!(escape_line(&format!("a{character}b")).is_ascii());
        }
        // Emoji, marks that choose a form, and the sign for a character that was lost.
        assert_eq!(
            escape("\u{2764}\u{fe0f}\u{fffd}"),
            "\u{2764}\u{fe0f}\u{fffd}"
        );
    }

    #[test]
    fn what_is_stored_is_escaped_as_it_always_was() {
        let text = "a\u{a0}\u{ad}\t\u{e000}\u{fffc}\u{1d173}";
        assert_eq!(
            escape_stored_line(text),
            "a\\u{a0}\\u{ad}\\t\u{e000}\u{fffc}\u{1d173}"
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
