//! Short forms of long things, for whoever says something: knows nothing of gates, verdicts or suites.

mod unseen;

use mcptest_suite::escape_line;
use mcptest_trace::record::fingerprint;
use serde_json::Value;

use crate::trace::canonical_json;
pub(crate) use unseen::{normalised, spell, unseen, unseen_in};

/// The most characters of a value that are shown on one line.
const SHOWN: usize = 160;

/// A value as JSON on one line, cut in the middle when it is long.
pub(crate) fn short_json(value: &Value) -> String {
    truncate(&canonical_json(value), SHOWN)
}

/// Text on one line of at most about `most` characters: what is left out is in the middle, and the
/// full length is stated.
pub(crate) fn truncate(text: &str, most: usize) -> String {
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

/// A name of at most so many bytes, 17 or more: of a longer one the beginning and a fingerprint.
pub(crate) fn short_name(name: &str, most: usize) -> String {
    if name.len() <= most {
        return name.to_owned();
    }
    let end = name.floor_char_boundary(most - 17);
    format!("{}-{}", &name[..end], fingerprint(name))
}

/// The numbers of runs, from 1, of their places; a long list is cut.
pub(crate) fn numbers(places: &[usize]) -> String {
    const SHOWN: usize = 20;
    let shown = places
        .iter()
        .take(SHOWN)
        .map(|place| (place + 1).to_string());
    let shown = shown.collect::<Vec<_>>().join(", ");
    match places.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// A count with a separator every three digits.
pub(crate) fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Keeps both ends of a long list of lines.
pub(crate) fn truncate_lines(lines: &[String]) -> String {
    const ENDS: usize = 40;
    if lines.len() <= 2 * ENDS {
        return lines.join("\n");
    }
    let (head, tail) = (&lines[..ENDS], &lines[lines.len() - ENDS..]);
    format!(
        "{}\n   ⋮  {} more lines\n{}",
        head.join("\n"),
        lines.len() - 2 * ENDS,
        tail.join("\n")
    )
}

/// What a value is, in words.
pub(crate) fn kind(value: &Value) -> &'static str {
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
    fn long_text_keeps_both_ends_and_states_its_length() {
        assert_eq!(
            truncate(&"ab".repeat(50), 8),
            "abab … [100 characters] … abab"
        );
        assert_eq!(truncate("a\u{1b}\nb", 80), "a\\u{1b}\\nb");
    }

    #[test]
    fn a_long_list_of_runs_is_cut() {
        assert_eq!(numbers(&[0, 2]), "1, 3");
        let all: Vec<usize> = (0..5_000).collect();
        assert!(numbers(&all).ends_with("19, 20 and 4980 more"));
    }

    #[test]
    fn counts_are_grouped() {
        let shown: Vec<_> = [0, 999, 1000, 1_234_567]
            .into_iter()
            .map(thousands)
            .collect();
        assert_eq!(shown, ["0", "999", "1,000", "1,234,567"]);
    }
}
