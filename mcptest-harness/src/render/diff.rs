//! Two texts against each other.

use mcptest_suite::{Style, escape_line};
use similar::{ChangeTag, TextDiff};

use crate::text::{spell, truncate, unseen};

/// Lines around a change.
const CONTEXT: usize = 3;
/// The most lines of a text that are compared.
const LINES: usize = 2_000;
/// The most lines of a diff that are shown.
const SHOWN: usize = 120;
/// The most characters of a line that are shown.
const LINE: usize = 200;

/// An old and a new text, and what each is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Diff {
    pub(crate) old_name: String,
    pub(crate) new_name: String,
    pub(crate) old: String,
    pub(crate) new: String,
}

impl Diff {
    pub(crate) fn render(&self, style: Style) -> String {
        let head = [
            paint(
                style,
                ChangeTag::Delete,
                &format!("--- {}", escape_line(&self.old_name)),
            ),
            paint(
                style,
                ChangeTag::Insert,
                &format!("+++ {}", escape_line(&self.new_name)),
            ),
        ];
        let names = [self.old_name.as_str(), &self.new_name];
        let unseen = unseen(names, [&self.old, &self.new]);
        let lines = if let Some(line) = self.line_ends() {
            vec![line]
        } else if self.old.trim_end() == self.new.trim_end() {
            // Only the white space at the end differs, which no plain line would show.
            let end = |text: &str| {
                let shown: String = text
                    .chars()
                    .rev()
                    .take(24)
                    .collect::<Vec<_>>()
                    .into_iter()
                    .rev()
                    .collect();
                format!("…{}", shown.escape_debug())
            };
            vec![
                paint(style, ChangeTag::Delete, &format!("-{}", end(&self.old))),
                paint(style, ChangeTag::Insert, &format!("+{}", end(&self.new))),
                "  only the white space at the end differs; in YAML, `|-` keeps no line break"
                    .to_owned(),
            ]
        } else if self.old.contains('\n') || self.new.contains('\n') {
            self.by_line(style)
        } else {
            let (mut old, mut new) = focus(&self.old, &self.new);
            if unseen.is_some() {
                (old, new) = (spell(&old), spell(&new));
            }
            vec![
                paint(style, ChangeTag::Delete, &format!("-{old}")),
                paint(style, ChangeTag::Insert, &format!("+{new}")),
            ]
        };
        let unseen = unseen.map(|unseen| format!("  {unseen}"));
        let lines = head.into_iter().chain(lines).chain(unseen);
        lines.collect::<Vec<_>>().join("\n")
    }

    /// What is said of texts that are the same but for how their lines end.
    fn line_ends(&self) -> Option<String> {
        let plain = |text: &str| text.replace("\r\n", "\n");
        let ends = |text: &str| {
            let some_plain = text.replace("\r\n", "").contains('\n');
            match (text.contains("\r\n"), some_plain) {
                (true, true) => r"`\r\n` and `\n`",
                (true, false) => r"`\r\n`",
                (false, _) => r"`\n`",
            }
        };
        (self.old != self.new && plain(&self.old) == plain(&self.new)).then(|| {
            format!(
                "  only the line ends differ: {} ({}), {} ({})",
                ends(&self.old),
                escape_line(&self.old_name),
                ends(&self.new),
                escape_line(&self.new_name)
            )
        })
    }

    fn by_line(&self, style: Style) -> Vec<String> {
        let head = |text: &str| text.split_inclusive('\n').take(LINES).collect::<String>();
        let (old, new) = (head(&self.old), head(&self.new));
        let left_out = old.len() < self.old.len() || new.len() < self.new.len();
        let diff = TextDiff::from_lines(&old, &new);
        let mut lines = Vec::new();
        for group in diff.grouped_ops(CONTEXT) {
            if !lines.is_empty() {
                lines.push("  ⋮".to_owned());
            }
            for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
                let sign = match change.tag() {
                    ChangeTag::Delete => '-',
                    ChangeTag::Insert => '+',
                    ChangeTag::Equal => ' ',
                };
                let line = change.value();
                let line = line.strip_suffix('\n').unwrap_or(line);
                let shown = if sign == ' ' {
                    truncate(line.trim_end(), LINE)
                } else {
                    // What stands at the end of a line may be all that differs.
                    let ends = line.trim_end_matches(' ');
                    let blanks = r"\u{20}".repeat(line.len() - ends.len());
                    truncate(ends, LINE) + &blanks
                };
                lines.push(paint(
                    style,
                    change.tag(),
                    format!("{sign}{shown}").trim_end(),
                ));
            }
        }
        if lines.len() > SHOWN {
            let more = lines.len() - SHOWN;
            lines.truncate(SHOWN);
            lines.push(format!("  … {more} more lines of the diff"));
        }
        if left_out {
            lines.push(format!("  … only the first {LINES} lines were compared"));
        }
        lines
    }
}

/// One line each, with what both share cut down to the neighbourhood of the difference.
fn focus(old: &str, new: &str) -> (String, String) {
    const NEAR: usize = 40;
    let (old, new): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
    let shortest = old.len().min(new.len());
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let end = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let end = end.min(shortest - start);
    let show = |text: &[char]| {
        let from = if start > NEAR + 10 { start - NEAR } else { 0 };
        let to = if end > NEAR + 10 {
            text.len() - end + NEAR
        } else {
            text.len()
        };
        let middle: String = text[from..to].iter().collect();
        let (before, after) = (
            if from > 0 { "…" } else { "" },
            if to < text.len() { "…" } else { "" },
        );
        format!("{before}{}{after}", truncate(&middle, 2 * LINE))
    };
    (show(&old), show(&new))
}

fn paint(style: Style, tag: ChangeTag, text: &str) -> String {
    match (style, tag) {
        (Style::Colour, ChangeTag::Delete) => format!("\u{1b}[31m{text}\u{1b}[0m"),
        (Style::Colour, ChangeTag::Insert) => format!("\u{1b}[32m{text}\u{1b}[0m"),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(old: &str, new: &str) -> String {
        let (old_name, new_name) = ("recorded".to_owned(), "suite".to_owned());
        Diff {
            old_name,
            new_name,
            old: old.to_owned(),
            new: new.to_owned(),
        }
        .render(Style::Plain)
    }

    #[test]
    fn one_line_texts_show_the_neighbourhood_of_the_difference() {
        let (same, tail) = ("x".repeat(90), "y".repeat(90));
        assert_eq!(
            diff(&format!("{same}4pm{tail}"), &format!("{same}5pm{tail}")),
            format!(
                "--- recorded\n+++ suite\n-…{0}4pm{1}…\n+…{0}5pm{1}…",
                "x".repeat(40),
                "y".repeat(38)
            )
        );
    }

    #[test]
    fn many_lines_show_the_changes_with_their_context() {
        let old: String = (0..20).map(|n| format!("{n}\n")).collect();
        let new = old.replace("\n10\n", "\nten\n");
        assert_eq!(
            diff(&old, &new),
            "--- recorded\n+++ suite\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13"
        );
    }

    #[test]
    fn white_space_at_the_end_is_shown() {
        let text = diff("Do it.", "Do it.\n");
        assert!(text.contains("-…Do it.\n+…Do it.\\n"), "{text}");
    }

    #[test]
    fn what_differs_within_a_line_and_is_not_seen_is_shown() {
        assert_eq!(
            diff("a\nb  \nc\n", "a\nb\nc\n"),
            "--- recorded\n+++ suite\n a\n-b\\u{20}\\u{20}\n+b\n c"
        );
        assert_eq!(
            diff("a\nb\t\nc\r\n", "a\nb\nc\n"),
            "--- recorded\n+++ suite\n a\n-b\\t\n-c\\r\n+b\n+c"
        );
        assert_eq!(
            diff("a\r\nb\r\n", "a\nb\n"),
            "--- recorded\n+++ suite\n  only the line ends differ: `\\r\\n` (recorded), `\\n` (suite)"
        );
        assert_eq!(
            diff("one\u{a0}two", "one two"),
            "--- recorded\n+++ suite\n-one\\u{a0}two\n+one two"
        );
        assert_eq!(
            diff("Z\u{fc}rich", "Zu\u{308}rich"),
            "--- recorded\n+++ suite\n-Z\\u{fc}rich\n+Zu\\u{308}rich\n  the only difference is Unicode normalisation: recorded `Z\\u{fc}rich`, suite `Zu\\u{308}rich`"
        );
    }

    #[test]
    fn control_codes_are_shown() {
        assert!(!diff("a\u{1b}[31m\nb", "a\nb\u{7}").contains(['\u{1b}', '\u{7}']));
    }

    #[test]
    fn texts_that_overlap_at_both_ends_stay_in_bounds() {
        assert_eq!(diff("aa", "aaa"), "--- recorded\n+++ suite\n-aa\n+aaa");
        assert_eq!(diff("", "b"), "--- recorded\n+++ suite\n-\n+b");
    }
}
