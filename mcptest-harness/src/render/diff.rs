//! Two texts against each other.

use mcptest_suite::{Style, escape_line};
use similar::{ChangeTag, DiffOp, TextDiff};

use mcptest_trace::text::{
    describe_invisible_difference, escape_lookalike_pair, escape_lookalikes, shorten,
};

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
        let unseen = describe_invisible_difference(names, [&self.old, &self.new]);
        let mut notes = Vec::new();
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
            let (lines, found) = self.by_line(style);
            notes = found;
            lines
        } else {
            let ([old, new], found) = focus(&self.old, &self.new);
            notes = found;
            vec![
                paint(style, ChangeTag::Delete, &format!("-{old}")),
                paint(style, ChangeTag::Insert, &format!("+{new}")),
            ]
        };
        // What is said of the whole texts is not said of their words again.
        if let Some(unseen) = unseen {
            notes = vec![unseen];
        }
        let notes = notes.iter().map(|note| format!("  {note}"));
        let lines = head.into_iter().chain(lines).chain(notes);
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

    /// The changed lines with their context, and what is to be said of words that look the same.
    fn by_line(&self, style: Style) -> (Vec<String>, Vec<String>) {
        let head = |text: &str| text.split_inclusive('\n').take(LINES).collect::<String>();
        let (old, new) = (head(&self.old), head(&self.new));
        let left_out = old.len() < self.old.len() || new.len() < self.new.len();
        let diff = TextDiff::from_lines(&old, &new);
        let mut groups: Vec<Vec<Change>> = Vec::new();
        for group in diff.grouped_ops(CONTEXT) {
            let changes = group.iter().flat_map(|op| changes(&diff, op));
            groups.push(changes.collect());
        }
        let changed = groups.iter_mut().flatten().take(SHOWN);
        let changed = changed.filter(|change| change.tag != ChangeTag::Equal);
        let mut notes = escape_lookalikes(changed.map(|change| &mut change.text).collect());
        if notes.is_empty() {
            let mut shown = groups.iter_mut().flatten().take(SHOWN);
            notes.extend(shown.find_map(|change| change.note.take()));
        }
        let drawn = groups.iter().map(|group| {
            let lines = group.iter().map(|change| change.draw(style));
            lines.collect::<Vec<_>>()
        });
        let mut lines = drawn.collect::<Vec<_>>().join(&"  ⋮".to_owned());
        if lines.len() > SHOWN {
            let more = lines.len() - SHOWN;
            lines.truncate(SHOWN);
            lines.push(format!("  … {more} more lines of the diff"));
        }
        if left_out {
            lines.push(format!("  … only the first {LINES} lines were compared"));
        }
        (lines, notes)
    }
}

/// The lines of two texts that differ, each with its sign, and no others. A long line is shown where it differs from
/// the line that it replaces.
pub(crate) fn changed_lines(old: &str, new: &str) -> Vec<String> {
    if old != new && old.trim_end() == new.trim_end() {
        return vec!["only the white space at the end differs".to_owned()];
    }
    let head = |text: &str| text.split_inclusive('\n').take(LINES).collect::<String>();
    let heads = [head(old), head(new)];
    let left_out = heads[0].len() < old.len() || heads[1].len() < new.len();
    let diff = TextDiff::from_lines(&heads[0], &heads[1]);
    let all = diff.ops().iter().flat_map(|op| changes(&diff, op));
    let differing = all.filter(|change| change.tag != ChangeTag::Equal);
    let mut lines: Vec<String> = differing.map(|change| change.draw(Style::Plain)).collect();
    if left_out {
        lines.push(format!("only the first {LINES} lines were compared"));
    }
    lines
}

/// A line of a diff.
struct Change {
    tag: ChangeTag,
    text: String,
    /// What keeps the line apart from the one that it replaces, if both look the same.
    note: Option<String>,
}

impl Change {
    fn draw(&self, style: Style) -> String {
        let sign = match self.tag {
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
            ChangeTag::Equal => ' ',
        };
        let line = self.text.as_str();
        let shown = if self.tag == ChangeTag::Equal {
            shorten(line.trim_end(), LINE)
        } else {
            // What stands at the end of a line may be all that differs.
            let ends = line.trim_end_matches(' ');
            let blanks = r"\u{20}".repeat(line.len() - ends.len());
            shorten(ends, LINE) + &blanks
        };
        paint(style, self.tag, format!("{sign}{shown}").trim_end())
    }
}

/// Whether a line is cut when it is shown.
fn is_long(line: &str) -> bool {
    line.chars().nth(LINE).is_some()
}

/// The lines of one operation. A long line is shown where it differs from the line that it replaces.
fn changes(diff: &TextDiff<'_, '_, '_, str>, op: &DiffOp) -> Vec<Change> {
    let changes = diff.iter_changes(op).map(|change| {
        let line = change.value();
        Change {
            tag: change.tag(),
            text: line.strip_suffix('\n').unwrap_or(line).to_owned(),
            note: None,
        }
    });
    let mut changes: Vec<Change> = changes.collect();
    if let DiffOp::Replace {
        old_len, new_len, ..
    } = op
        && old_len == new_len
    {
        let (old, new) = changes.split_at_mut(*old_len);
        for (old, new) in old.iter_mut().zip(new).take(SHOWN) {
            if is_long(&old.text) || is_long(&new.text) {
                let (shown, notes) = focus(&old.text, &new.text);
                [old.text, new.text] = shown;
                old.note = notes.into_iter().next();
            } else {
                old.note = escape_lookalike_pair([&mut old.text, &mut new.text]);
            }
        }
    }
    changes
}

/// One line each, with what both share cut down to the neighbourhood of the difference, and what is to be
/// said of words that look the same.
fn focus(old: &str, new: &str) -> ([String; 2], Vec<String>) {
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
    let from = if start > NEAR + 10 { start - NEAR } else { 0 };
    let cut = if end > NEAR + 10 { end - NEAR } else { 0 };
    let part = |text: &[char]| text[from..text.len() - cut].iter().collect::<String>();
    let [mut old, mut new] = [part(&old), part(&new)];
    let notes = match escape_lookalike_pair([&mut old, &mut new]) {
        Some(note) => vec![note],
        None => escape_lookalikes(vec![&mut old, &mut new]),
    };
    let mark = |left_out: usize| if left_out > 0 { "…" } else { "" };
    let show = |part: String| {
        let part = shorten(&part, 2 * LINE);
        format!("{}{part}{}", mark(from), mark(cut))
    };
    ([show(old), show(new)], notes)
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
    fn the_mark_of_a_cut_stays_where_letters_are_spelt() {
        let (same, tail) = ("x".repeat(90), "\u{43f}".repeat(90));
        assert_eq!(
            diff(
                &format!("{same} Z\u{fc}rich {tail}"),
                &format!("{same} Zu\u{308}rich {tail}")
            ),
            format!(
                "--- recorded\n+++ suite\n-…{0} Z\\u{{fc}}rich {1}…\n+…{0} Zu\\u{{308}}rich {1}…\n  the only difference is Unicode normalisation: recorded `Z\\u{{fc}}rich`, suite `Zu\\u{{308}}rich`",
                "x".repeat(38),
                "\u{43f}".repeat(35)
            )
        );
    }

    #[test]
    fn what_is_not_seen_is_told_beside_what_is_seen() {
        let note = "`Z\\u{fc}rich` and `Zu\\u{308}rich` look the same, but they differ in Unicode normalisation";
        assert_eq!(
            diff("Z\u{fc}rich is big", "Zu\u{308}rich is small"),
            format!(
                "--- recorded\n+++ suite\n-Z\\u{{fc}}rich is big\n+Zu\\u{{308}}rich is small\n  {note}"
            )
        );
        assert_eq!(
            diff("a\nZ\u{fc}rich is big\nc", "a\nZu\u{308}rich is small\nc"),
            format!(
                "--- recorded\n+++ suite\n a\n-Z\\u{{fc}}rich is big\n+Zu\\u{{308}}rich is small\n c\n  {note}"
            )
        );
        assert_eq!(
            diff("a\n-1\nb\nc", "a\n\u{2212}1\nb\nd"),
            "--- recorded\n+++ suite\n a\n--1\n+\\u{2212}1\n b\n-c\n+d\n  `-1` and `\\u{2212}1` look the same, but they differ in look-alike characters"
        );
    }

    #[test]
    fn look_alike_characters_are_told() {
        assert_eq!(
            diff("p\u{430}ypal", "paypal"),
            "--- recorded\n+++ suite\n-p\\u{430}ypal\n+paypal\n  the only difference is look-alike characters: recorded `p\\u{430}ypal`, suite `paypal`"
        );
        assert_eq!(
            diff("a\np\u{430}ypal\n", "a\npaypal\n"),
            "--- recorded\n+++ suite\n a\n-p\\u{430}ypal\n+paypal\n  the only difference is look-alike characters: recorded `p\\u{430}ypal`, suite `paypal`"
        );
    }

    #[test]
    fn long_lines_are_shown_where_they_differ() {
        let long = |word: &str| format!("a\n{}{word}{}\nb", "x".repeat(300), "y".repeat(300));
        assert_eq!(
            diff(&long("4"), &long("5")),
            format!(
                "--- recorded\n+++ suite\n a\n-…{0}4{1}…\n+…{0}5{1}…\n b",
                "x".repeat(40),
                "y".repeat(40)
            )
        );
        let text = diff(&long("Z\u{fc}rich"), &long("Zu\u{308}rich"));
        assert!(text.contains("xZ\\u{fc}richy"), "{text}");
        assert!(text.contains("xZu\\u{308}richy"), "{text}");
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
