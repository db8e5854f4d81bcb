//! Short forms of recorded values.

use std::borrow::Cow;

use serde_json::Value;

use super::escape_line;
use crate::trace::canonical_json;

/// The most characters of a value that are shown on one line.
pub(super) const SHOWN: usize = 160;

/// A value as JSON on one line, cut in the middle when it is long.
#[must_use]
pub fn short_json(value: &Value) -> String {
    shorten(&canonical_json(value), SHOWN)
}

/// Text on one line of at most about `most` characters: what is left out is in the middle, and the
/// full length is stated.
#[must_use]
pub fn shorten(text: &str, most: usize) -> String {
    let shown = escape_line(text);
    let length = shown.chars().count();
    if length <= most {
        return shown.into_owned();
    }
    let keep = most / 2;
    let head: String = shown.chars().take(keep).collect();
    let tail: String = shown.chars().skip(length - keep).collect();
    format!("{head} … [{} characters] … {tail}", text.chars().count())
}

/// A name that stands without quotes: a space at its beginning or its end is an escape.
#[must_use]
pub fn escape_outer_spaces(name: &str) -> Cow<'_, str> {
    let inner = name.trim_matches(' ');
    if inner.len() == name.len() {
        return Cow::Borrowed(name);
    }
    let start = name.len() - name.trim_start_matches(' ').len();
    let end = name.len() - start - inner.len();
    let spaces = |count: usize| r"\u{20}".repeat(count);
    Cow::Owned(format!("{}{inner}{}", spaces(start), spaces(end)))
}

/// What a value is, in words.
#[must_use]
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_around_a_name_are_shown() {
        assert_eq!(escape_outer_spaces("a b"), "a b");
        assert_eq!(escape_outer_spaces("  a b "), r"\u{20}\u{20}a b\u{20}");
        assert_eq!(escape_outer_spaces(" "), r"\u{20}");
        assert_eq!(escape_outer_spaces(""), "");
    }

    #[test]
    fn long_text_keeps_both_ends_and_states_its_length() {
        assert_eq!(
            shorten(&"ab".repeat(50), 8),
            "abab … [100 characters] … abab"
        );
        assert_eq!(shorten("a\u{1b}\nb", 80), "a\\u{1b}\\nb");
    }
}
