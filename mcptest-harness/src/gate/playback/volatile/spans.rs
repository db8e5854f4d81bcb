//! The smallest stretches in which two texts differ, if all of them are values that change by themselves.

use std::sync::LazyLock;

use regex::Regex;
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// A stretch of two texts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) old: String,
    pub(super) new: String,
    /// What matches it on both sides and no other words; nothing where only the whole value tells what it is.
    pub(super) mask: Option<String>,
}

/// Values that are known by their form, each as the mask that blanks it: the longer before what may be part of it.
const FORMS: [&str; 9] = [
    r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?",
    r"\d{4}-\d{2}-\d{2}",
    r"(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day,? )?(?:\d{1,2}\.? )?(?:January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\.? (?:\d{1,2},? )?\d{4}",
    r"\b\d{1,2}[/.]\d{1,2}[/.]\d{4}\b",
    r"\b\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?",
    r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b",
    r"\b1[5-9]\d{8}(?:\d{3}|\d{6}|\d{9})?(?:\.\d+)?\b",
    r"\b[0-9a-f]{32,64}\b",
    r"\b[0-9A-HJKMNP-TV-Z]{26}\b",
];

static KNOWN: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let forms = FORMS.iter().map(|form| Regex::new(form));
    forms.filter_map(Result::ok).collect()
});

/// A word with what may stand inside of it, white space, or one other character.
static TOKEN: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\w(?:[\w\-.:/#+]*\w)?|\s+|(?s:.)").ok());

/// What stands in place of a value that was found by its form.
const BLANK: &str = "\u{0}";

/// The stretches, in order; nothing where a word differs. `is_any`: whatever has a digit changes by itself, else only what
/// looks like a time or an id.
pub(super) fn find_spans(old: &str, new: &str, is_any: bool) -> Option<Vec<Span>> {
    let mut spans = Vec::new();
    let (mut old, mut new) = (old.to_owned(), new.to_owned());
    for form in KNOWN.iter() {
        let of = |text: &str| -> Vec<String> {
            let found = form.find_iter(text);
            found.map(|found| found.as_str().to_owned()).collect()
        };
        let (before, after) = (of(&old), of(&new));
        if before == after || before.len() != after.len() {
            continue;
        }
        let differing = before.into_iter().zip(after);
        let differing = differing.filter(|(old, new)| old != new);
        spans.extend(differing.map(|(old, new)| Span {
            old,
            new,
            mask: Some(form.as_str().to_owned()),
        }));
        old = form.replace_all(&old, BLANK).into_owned();
        new = form.replace_all(&new, BLANK).into_owned();
    }
    if old != new {
        spans.extend(token_spans(&old, &new, is_any)?);
    }
    Some(spans)
}

/// The spans in which two texts differ token by token, once the known forms are blanked; nothing where a word
/// differs.
fn token_spans(old: &str, new: &str, is_any: bool) -> Option<Vec<Span>> {
    let token = TOKEN.as_ref()?;
    let cut = |text| -> Vec<&str> { token.find_iter(text).map(|found| found.as_str()).collect() };
    let (before, after) = (cut(old), cut(new));
    let mut spans = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &before, &after) {
        let (at, count, other) = match op {
            DiffOp::Equal { .. } => continue,
            DiffOp::Replace {
                old_index,
                old_len,
                new_index,
                new_len,
            } if old_len == new_len => (old_index, old_len, new_index),
            _ => return None,
        };
        for place in 0..count {
            let (old, new) = (before[at + place], after[other + place]);
            if old == new {
                continue;
            }
            if !changes_by_itself(old, is_any) || !changes_by_itself(new, is_any) {
                return None;
            }
            let around = (before[..at].concat(), before[at + count..].concat());
            // Between two that change, nothing that stays says which they are.
            let around = if count == 1 {
                around
            } else {
                Default::default()
            };
            spans.push(Span {
                old: old.to_owned(),
                new: new.to_owned(),
                mask: mask_for(old, new, &around.0, &around.1),
            });
        }
    }
    Some(spans)
}

/// Whether a token is a value, and no word: it has a digit. An id also has letters, and is long.
fn changes_by_itself(token: &str, is_any: bool) -> bool {
    let has = |is: fn(&char) -> bool| token.chars().any(|letter| is(&letter));
    let is_id = || has(|letter| letter.is_alphabetic()) && token.chars().count() >= 6;
    has(char::is_ascii_digit) && (is_any || is_id())
}

/// What matches two tokens, and little besides: what they begin and end with alike, else what stands beside them.
fn mask_for(old: &str, new: &str, before: &str, after: &str) -> Option<String> {
    let (old, new): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
    let least = old.len().min(new.len());
    let mut head = (0..least).take_while(|at| old[*at] == new[*at]).count();
    // It ends where a part of the token does.
    while head > 0 && !is_border(&old, head) {
        head -= 1;
    }
    let rest = least - head;
    let same = |at: &usize| old[old.len() - 1 - at] == new[new.len() - 1 - at];
    let mut tail = (0..rest).take_while(same).count();
    while tail > 0 && !(is_border(&old, old.len() - tail) && is_border(&new, new.len() - tail)) {
        tail -= 1;
    }
    let inner = |token: &[char]| token[head..token.len() - tail].to_vec();
    let middle = char_class(&inner(&old), &inner(&new))?;
    let text = |part: &[char]| regex::escape(&part.iter().collect::<String>());
    let (start, end) = (text(&old[..head]), text(&old[old.len() - tail..]));
    let own = format!("{start}{middle}{end}");
    let says = |part: &str| part.chars().filter(|letter| letter.is_alphabetic()).count() >= 2;
    if says(&start) || says(&end) {
        return Some(format!(r"\b{own}\b"));
    }
    // A number or an id alone is told by the words beside it.
    let line = before.rsplit(['\n', '\u{0}']).next().unwrap_or_default();
    let left = two_words(line.char_indices().rev().map(|(at, _)| &line[at..]), line);
    if says(left) {
        return Some(format!(r"{}{own}\b", regex::escape(left)));
    }
    let line = after.split(['\n', '\u{0}']).next().unwrap_or_default();
    let ends = line
        .char_indices()
        .map(|(at, letter)| &line[..at + letter.len_utf8()]);
    let right = two_words(ends, line);
    says(right).then(|| format!(r"\b{own}{}", regex::escape(right)))
}

/// As much of a line as makes two words, else all of it. `parts`: from the least to the whole.
fn two_words<'t>(parts: impl Iterator<Item = &'t str>, line: &'t str) -> &'t str {
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        let next = parts.peek().copied().unwrap_or(line);
        let is_cut = part.len() < next.len() && {
            let beyond = if next.ends_with(part) {
                next.chars().next()
            } else {
                next.chars().next_back()
            };
            beyond.is_some_and(char::is_alphanumeric)
        };
        let count = part.split(|letter: char| !letter.is_alphabetic());
        if !is_cut && count.filter(|word| !word.is_empty()).count() >= 2 {
            return part;
        }
    }
    line
}

/// Whether a part of a token ends before a place: at a sign, or between letters and digits.
fn is_border(token: &[char], at: usize) -> bool {
    let (Some(before), after) = (token.get(at - 1), token.get(at)) else {
        return false;
    };
    !before.is_alphanumeric()
        || after.is_none_or(|after| {
            !after.is_alphanumeric() || before.is_ascii_digit() != after.is_ascii_digit()
        })
}

/// The characters of two stretches as a pattern; nothing where they have signs of several kinds.
fn char_class(old: &[char], new: &[char]) -> Option<String> {
    let all = |is: fn(&char) -> bool| old.iter().chain(new).all(is);
    let set = if old.is_empty() || new.is_empty() {
        return None;
    } else if all(char::is_ascii_digit) {
        r"\d"
    } else if all(|letter| letter.is_ascii_digit() || ".,".contains(*letter)) {
        r"[\d.,]"
    } else if all(|letter| letter.is_ascii_digit() || ('a'..='f').contains(letter)) {
        "[0-9a-f]"
    } else if all(char::is_ascii_alphanumeric) {
        "[0-9A-Za-z]"
    } else if all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(*letter)) {
        "[0-9A-Za-z_-]"
    } else {
        return None;
    };
    Some(if old.len() == new.len() && old.len() > 1 {
        format!("{set}{{{}}}", old.len())
    } else {
        format!("{set}+")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masks(old: &str, new: &str) -> Option<Vec<String>> {
        let spans = find_spans(old, new, true)?;
        spans.into_iter().map(|span| span.mask).collect()
    }

    fn blanked(text: &str, masks: &[String]) -> String {
        masks.iter().fold(text.to_owned(), |text, mask| {
            Regex::new(mask)
                .unwrap()
                .replace_all(&text, BLANK)
                .into_owned()
        })
    }

    #[test]
    fn every_known_form_is_a_pattern() {
        assert_eq!(KNOWN.len(), FORMS.len());
        assert!(TOKEN.is_some());
    }

    /// Each mask makes its texts equal, and hides no other word or number of the same text.
    #[test]
    fn a_mask_hides_what_changed_and_nothing_else() {
        for (old, new, other) in [
            (
                "It is 2026-03-05. Be brief.",
                "It is 2026-03-06. Be brief.",
                "It is 2026-03-06. Be long.",
            ),
            (
                "now: 2026-03-05T10:00:01Z, order 7",
                "now: 2026-03-05T10:00:02Z, order 7",
                "now: 2026-03-05T10:00:02Z, order 8",
            ),
            (
                "Today is Thursday, March 5, 2026",
                "Today is Friday, March 6, 2026",
                "Today was Friday, March 6, 2026",
            ),
            (
                "Heute ist der 5.3.2026, 10:15",
                "Heute ist der 6.3.2026, 11:15",
                "Morgen ist der 6.3.2026, 11:15",
            ),
            (
                "id 0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0 paid",
                "id 1f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0 paid",
                "id 1f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0 open",
            ),
            (
                "the refund RF-1841 of order 7 is booked",
                "the refund RF-9203 of order 7 is booked",
                "the refund RF-9203 of order 8 is booked",
            ),
            (
                "paid 18 EUR, looked up in 12 ms",
                "paid 18 EUR, looked up in 140 ms",
                "paid 19 EUR, looked up in 140 ms",
            ),
            (
                "trace a1b2c3d4: order 7 delivered",
                "trace 99ffe0d1: order 7 delivered",
                "trace 99ffe0d1: order 7 undelivered",
            ),
            (
                "12 lines were read of file 3",
                "15 lines were read of file 3",
                "15 lines were read of file 4",
            ),
            (
                "wrote /tmp/tmpa1b2/out.txt",
                "wrote /tmp/tmpc3d4/out.txt",
                "wrote /var/tmpc3d4/out.txt",
            ),
        ] {
            let found = masks(old, new).unwrap_or_else(|| panic!("{old}"));
            assert_eq!(blanked(old, &found), blanked(new, &found), "{found:?}");
            assert_ne!(blanked(old, &found), blanked(other, &found), "{found:?}");
        }
    }

    #[test]
    fn words_are_no_values_and_later_numbers_are_none_either() {
        for (old, new) in [
            ("payment done", "payment failed"),
            ("order 7 is paid", "order seven is paid"),
            ("Refund 7", "Refund 7 now"),
            ("status ok", "status 500 ok"),
        ] {
            assert_eq!(find_spans(old, new, true), None, "{new}");
        }
        assert_eq!(
            find_spans("there is no order 8", "there is no order 9", false),
            None
        );
        assert!(find_spans("there is no order 8", "there is no order 9", true).is_some());
        assert!(find_spans("run-a81f2c", "run-b7702d", false).is_some());
        // Nothing beside it says what a number is: only the whole value can be left out.
        assert_eq!(masks("17", "18"), None);
    }
}
