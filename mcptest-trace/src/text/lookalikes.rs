//! Words of one message that differ and look the same: each is spelt where it stands, so that a reader sees
//! which is which.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::mem::take;
use std::ops::Range;

use super::is_hostile;

use super::invisible_difference::{difference_kind, escape_non_ascii, escaped_difference};
use super::skeleton::visible_skeleton;

/// Spells the words that look the same as another word of these texts and are not equal to it. The result
/// says what they differ in, a line each.
///
/// Commands stay as they are, so that they can be copied.
///
/// ```
/// let mut message = "expected `paypal`, recorded `p\u{430}ypal`".to_owned();
/// let notes = mcptest_trace::text::escape_lookalikes(vec![&mut message]);
/// assert_eq!(message, r"expected `paypal`, recorded `p\u{430}ypal`");
/// assert_eq!(
///     notes,
///     [r"`paypal` and `p\u{430}ypal` look the same, but they differ in look-alike characters"]
/// );
/// ```
#[must_use]
pub fn escape_lookalikes(mut texts: Vec<&mut String>) -> Vec<String> {
    let mut notes = Vec::new();
    // Each round leaves fewer characters that are not ASCII. What was spelt may part other words.
    while texts.iter().any(|text| !text.is_ascii()) {
        let shown: Vec<&str> = texts.iter().map(|text| text.as_str()).collect();
        let alike = Lookalikes::find(&shown);
        if alike.groups.is_empty() {
            break;
        }
        notes.extend(alike.notes(&shown));
        let spelt: Vec<String> = shown.iter().map(|text| alike.escape_text(text)).collect();
        for (text, spelt) in texts.iter_mut().zip(spelt) {
            **text = spelt;
        }
    }
    notes
}

/// Spells two texts that look the same as a whole and are not equal. The result says what they differ in.
#[must_use]
pub fn escape_lookalike_pair([one, other]: [&mut String; 2]) -> Option<String> {
    if one == other || visible_skeleton(one) != visible_skeleton(other) {
        return None;
    }
    let parts = escaped_difference(one, other).map(|part| format!("`{part}`"));
    let note = note(&parts.join(" and "), difference_kind([one, other]));
    let both = escape_group(&[one.clone(), other.clone()]);
    for (text, spelt) in [one, other].into_iter().zip(both) {
        *text = spelt;
    }
    Some(note)
}

fn note(these: &str, reason: &str) -> String {
    format!("{these} look the same, but they differ in {reason}")
}

/// Words and values that look the same and differ, each with the escapes that it is spelt with.
struct Lookalikes {
    groups: Vec<Vec<String>>,
    words: HashMap<String, String>,
    /// Whole values between quotes.
    wholes: HashMap<String, String>,
}

impl Lookalikes {
    fn find(texts: &[&str]) -> Self {
        let parts = || texts.iter().flat_map(|text| parts(text));
        let words = groups(parts().flat_map(Part::words), visible_skeleton);
        let mut alike = Self {
            words: escaped_forms(&words),
            groups: words,
            wholes: HashMap::new(),
        };
        // A whole value counts where its words do not tell enough: a single letter, a sign.
        let quoted = parts().filter(|part| part.quoted && !part.is_verbatim());
        let wholes = groups(quoted.map(|part| part.text), |text| {
            visible_skeleton(&alike.escape_words(text))
        });
        alike.wholes = escaped_forms(&wholes);
        alike.groups.extend(wholes);
        alike
    }

    fn escape_text(&self, text: &str) -> String {
        let spelt = parts(text).map(|part| {
            let whole = self.wholes.get(part.text).filter(|_| part.quoted);
            let inner = match whole {
                _ if part.is_verbatim() => part.text.to_owned(),
                Some(spelt) => spelt.clone(),
                None => self.escape_words(part.text),
            };
            inner + part.end
        });
        spelt.collect()
    }

    fn escape_words(&self, text: &str) -> String {
        let (mut spelt, mut copied) = (String::with_capacity(text.len()), 0);
        for word in words(text) {
            if let Some(as_spelt) = self.words.get(&text[word.clone()]) {
                spelt.extend([&text[copied..word.start], as_spelt]);
                copied = word.end;
            }
        }
        spelt + &text[copied..]
    }

    /// One line for each way to differ. What the texts say already is not said again.
    fn notes(&self, texts: &[&str]) -> Vec<String> {
        let quoted = texts.iter().flat_map(|text| parts(text));
        let quoted = quoted.filter(|part| part.quoted).map(|part| part.text);
        let quoted: HashSet<&str> = quoted.collect();
        let mut by_reason: BTreeMap<&str, Vec<&[String]>> = BTreeMap::new();
        for group in &self.groups {
            let [one, other] = [&group[0], &group[1]];
            let said = escaped_difference(one, other);
            if !said.iter().all(|part| quoted.contains(part.as_str())) {
                let reason = difference_kind([one, other]);
                by_reason.entry(reason).or_default().push(group);
            }
        }
        let lines = by_reason.into_iter().map(|(reason, groups)| {
            let first = groups[0].iter().map(|it| format!("`{}`", self.escaped(it)));
            let more = match groups.len() - 1 {
                0 => String::new(),
                1 => "; so does 1 more pair".to_owned(),
                more => format!("; so do {more} more pairs"),
            };
            let first = first.collect::<Vec<_>>().join(" and ");
            note(&first, reason) + &more
        });
        lines.collect()
    }

    fn escaped<'t>(&'t self, text: &'t str) -> &'t str {
        let spelt = self.words.get(text).or_else(|| self.wholes.get(text));
        spelt.map_or(text, String::as_str)
    }
}

/// A part of a text between two quotes, or between the quotes and an end of the text.
struct Part<'t> {
    text: &'t str,
    /// The quote behind it, if there is one.
    end: &'t str,
    /// Whether a quote stands before and behind it.
    quoted: bool,
    /// Whether its line is underlined by the next line, which a longer line would break.
    underlined: bool,
}

impl<'t> Part<'t> {
    /// Whether it stays as it is: an underlined line, or a command, which can be copied.
    fn is_verbatim(&self) -> bool {
        let is_command = ["cargo ", "mcptest-harness "]
            .iter()
            .any(|it| self.text.contains(it));
        self.underlined || (self.quoted && is_command)
    }

    fn words(self) -> impl Iterator<Item = &'t str> {
        let text = if self.is_verbatim() { "" } else { self.text };
        let words = words(text).into_iter().map(|word| &text[word]);
        // The English `a` in a sentence is not meant to be the Russian `а`.
        words.filter(|word| word.len() > 1)
    }
}

fn parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    let underlines = text.split_inclusive('\n').skip(1).map(is_underline);
    let lines = text.split_inclusive('\n');
    let lines = lines.zip(underlines.chain([false]));
    lines.flat_map(|(line, underlined)| {
        let mut is_open = false;
        line.split_inclusive(['"', '`']).map(move |part| {
            let text = part.trim_end_matches(['"', '`']);
            let end = &part[text.len()..];
            let quoted = is_open && !end.is_empty();
            is_open = !end.is_empty();
            Part {
                text,
                end,
                quoted,
                underlined,
            }
        })
    })
}

fn is_underline(line: &str) -> bool {
    line.contains('^') && line.trim_matches(['|', ' ', '^', '\n']).is_empty()
}

/// Where the words of a text are. An escape is a part of its word.
fn words(text: &str) -> Vec<Range<usize>> {
    let (mut words, mut start, mut at) = (Vec::new(), 0, 0);
    while let Some(character) = text[at..].chars().next() {
        match escape_length(&text[at..]) {
            Some(length) => at += length,
            None if is_between(character) => {
                words.extend(trimmed(text, start..at));
                at += character.len_utf8();
                start = at;
            }
            None => at += character.len_utf8(),
        }
    }
    words.extend(trimmed(text, start..text.len()));
    words
}

/// How long the escape is that a text begins with, e.g. `\u{a0}`.
fn escape_length(text: &str) -> Option<usize> {
    let digits = text.strip_prefix(r"\u{")?;
    let end = digits.find(|it: char| !it.is_ascii_hexdigit())?;
    digits[end..].starts_with('}').then_some(end + 4)
}

/// Whether a character stands between words. The mark of a cut is no part of what was cut.
fn is_between(character: char) -> bool {
    let is_other = character.is_ascii() && !character.is_ascii_alphanumeric();
    (is_other && !joins(character)) || character == '…' || is_hostile(character)
}

/// Whether a character joins parts of a word.
fn joins(character: char) -> bool {
    matches!(character, '-' | '_' | '\'')
}

/// A word without what joins it to nothing; nothing if no more is there.
fn trimmed(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let whole = &text[word.clone()];
    let end = word.start + whole.trim_end_matches(joins).len();
    let start = word.end - whole.trim_start_matches(joins).len();
    (start < end).then_some(start..end)
}

/// Texts that differ and have one look, in the order in which they stand.
fn groups<'t>(
    texts: impl Iterator<Item = &'t str>,
    look: impl Fn(&str) -> String,
) -> Vec<Vec<String>> {
    let texts: Vec<&str> = texts.collect();
    let mut of_look: HashMap<String, Vec<&str>> = HashMap::new();
    let mut seen = BTreeSet::new();
    for text in &texts {
        if !text.is_ascii() && seen.insert(*text) {
            of_look.entry(look(text)).or_default();
        }
    }
    let mut order = Vec::new();
    seen.clear();
    for text in texts.into_iter().filter(|text| seen.insert(text)) {
        let known = if text.is_ascii() {
            of_look.get_key_value(text).map(|(look, _)| look.clone())
        } else {
            Some(look(text))
        };
        let Some(known) = known else { continue };
        let group = of_look.entry(known.clone()).or_default();
        group.push(text);
        if group.len() == 2 {
            order.push(known);
        }
    }
    let found = order
        .iter()
        .filter_map(|look| of_look.get_mut(look).map(take));
    let found = found.map(|group| group.into_iter().map(str::to_owned).collect());
    found.collect()
}

/// How the texts of groups are spelt; a text of ASCII alone is as it is.
fn escaped_forms(groups: &[Vec<String>]) -> HashMap<String, String> {
    let all = groups.iter().flat_map(|group| {
        let spelt = escape_group(group);
        group.iter().cloned().zip(spelt)
    });
    all.collect()
}

/// Texts with those characters as escapes that not all have; with all that are not ASCII, where that is
/// not enough.
fn escape_group(group: &[String]) -> Vec<String> {
    let counts: Vec<HashMap<char, usize>> = group.iter().map(|text| counted(text)).collect();
    let is_shared = |it: char| {
        counts
            .iter()
            .all(|count| count.get(&it) == counts[0].get(&it))
    };
    let escape_but = |kept: &dyn Fn(char) -> bool| -> Vec<String> {
        let spell = |text: &String| {
            let characters = text.chars();
            let characters = characters.map(|it| match it {
                it if kept(it) => it.to_string(),
                it => escape_non_ascii(it),
            });
            characters.collect()
        };
        group.iter().map(spell).collect()
    };
    let told = escape_but(&is_shared);
    let looks: BTreeSet<String> = told.iter().map(|text| visible_skeleton(text)).collect();
    if looks.len() == group.len() {
        told
    } else {
        escape_but(&|_| false)
    }
}

fn counted(text: &str) -> HashMap<char, usize> {
    let mut counts = HashMap::new();
    for character in text.chars().filter(|it| !it.is_ascii()) {
        *counts.entry(character).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests;
