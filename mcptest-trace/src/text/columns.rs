//! Columns of a terminal: a wide sign such as an emoji takes two.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// How many columns a line has at the most.
pub const COLUMNS: usize = 100;

/// How many columns a text on one line takes.
#[must_use]
pub fn width(text: &str) -> usize {
    text.width()
}

/// A text of at most so many columns, with `…` in its middle where that leaves something out: names differ
/// at their ends as often as at their beginnings.
#[must_use]
pub fn truncate_middle(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let signs: Vec<&str> = text.graphemes(true).collect();
    let room = most.saturating_sub(1);
    let (tail_room, mut head, mut tail) = (room / 2, String::new(), Vec::new());
    let mut taken = 0;
    for sign in signs.iter().rev() {
        if taken + width(sign) > tail_room {
            break;
        }
        taken += width(sign);
        tail.push(*sign);
    }
    for sign in signs {
        if width(&head) + width(sign) > room - taken {
            break;
        }
        head.push_str(sign);
    }
    tail.reverse();
    format!("{head}…{}", tail.concat())
}

/// A text on one line of at most so many columns, with `…` at its end where that leaves something out.
#[must_use]
pub fn truncate_end(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let mut kept = String::new();
    for sign in text.graphemes(true) {
        if width(&kept) + width(sign) + 1 > most {
            break;
        }
        kept.push_str(sign);
    }
    kept.push('…');
    kept
}

/// A text and the spaces that fill a column.
#[must_use]
pub fn pad_to(text: &str, column: usize) -> String {
    let fill = column.saturating_sub(width(text));
    format!("{text}{:fill$}", "")
}

/// The parts of a text between which a line may be broken: its words. What stands in backticks is one of them, so
/// that a command can be copied.
#[must_use]
pub fn unbroken_words(text: &str) -> Vec<String> {
    let is_paired = text.matches('`').count().is_multiple_of(2);
    let mut words: Vec<String> = Vec::new();
    let mut is_open = false;
    for word in text.split(' ') {
        match words.last_mut().filter(|_| is_open) {
            Some(last) => {
                last.push(' ');
                last.push_str(word);
            }
            None => words.push(word.to_owned()),
        }
        is_open ^= is_paired && !word.matches('`').count().is_multiple_of(2);
    }
    words
}

/// A text in lines of at most [`COLUMNS`], broken at spaces, and not in backticks; all but the first are indented.
/// A word that is longer than a line has a line of its own.
#[must_use]
pub fn wrap(text: &str, indent: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in unbroken_words(text) {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(&word) <= COLUMNS => {
                line.push(' ');
                line.push_str(&word);
            }
            Some(_) => lines.push(format!("{:indent$}{word}", "")),
            None => lines.push(word),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn wide_signs_take_two_columns() {
        assert_eq!(pad_to("🛒", 4), "🛒  ");
        assert_eq!(truncate_middle("refund_desk_🛒_gpt", 9), "refu…_gpt");
        assert_eq!(truncate_middle("🛒🛒🛒🛒", 5), "🛒…🛒");
        assert_eq!(truncate_end("🛒🛒🛒🛒", 5), "🛒🛒…");
        assert_eq!(truncate_end("abcde", 5), "abcde");
    }

    #[test]
    fn long_lines_are_broken_at_spaces() {
        let text = format!("{} {}", "a".repeat(60), "b".repeat(60));
        assert_eq!(
            wrap(&text, 2),
            format!("{}\n  {}", "a".repeat(60), "b".repeat(60))
        );
        assert_eq!(wrap("short", 2), "short");
    }

    #[test]
    fn a_command_is_never_broken() {
        let command = "`cargo mcptest record --all --exact refunds::refund_agent`";
        let text = format!("{} {command}, or more", "a".repeat(80));
        assert_eq!(
            wrap(&text, 2),
            format!("{}\n  {command}, or more", "a".repeat(80))
        );
        assert_eq!(unbroken_words("a `b c"), ["a", "`b", "c"]);
        assert_eq!(
            unbroken_words("a `b c` `d`  e"),
            ["a", "`b c`", "`d`", "", "e"]
        );
    }

    proptest! {
        #[test]
        fn nothing_is_wider_than_its_column(text in "\\PC{0,60}", most in 1..40_usize) {
            prop_assert!(width(&truncate_middle(&text, most)) <= most);
            prop_assert!(width(&truncate_end(&text, most)) <= most);
        }
    }
}
