//! Texts that differ and look the same: what of them differs, spelt so that it is seen.
//!
//! Control characters and unusual spaces are shown as escapes wherever text is shown. What is left is
//! Unicode normalisation (`ü` is one character, or two), characters that choose a form of the one before,
//! and characters that look like others (the Cyrillic `а`).

use super::escape_line;
use crate::trace::canonical_json;
use serde_json::Value;
use unicode_normalization::UnicodeNormalization as _;

use super::skeleton::{composed_visible, skeleton, visible_skeleton};

/// The most characters of a difference that are spelt.
const SPELT: usize = 40;

/// What tells two texts apart that look the same, e.g. ``the only difference is Unicode normalisation:
/// expected `Z\u{fc}rich`, recorded `Zu\u{308}rich` ``; nothing where they are the same, or a look tells.
#[must_use]
pub fn describe_invisible_difference(names: [&str; 2], texts: [&str; 2]) -> Option<String> {
    let [old, new] = texts;
    if old == new || visible_skeleton(old) != visible_skeleton(new) {
        return None;
    }
    let why = difference_kind([old, new]);
    let [old, new] = escaped_difference(old, new);
    let [before, after] = names.map(escape_line);
    Some(format!(
        "the only difference is {why}: {before} `{old}`, {after} `{new}`"
    ))
}

/// What tells two values apart that look the same; nothing where they are equal, or a look tells.
#[must_use]
pub fn describe_invisible_difference_in(names: [&str; 2], values: [&Value; 2]) -> Option<String> {
    let [old, new] = values.map(canonical_json);
    describe_invisible_difference(names, [&old, &new])
}

/// How the texts of a value are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextForm {
    /// A letter with its mark is one character.
    Composed,
    /// A letter with its mark is two characters.
    Decomposed,
    /// No character is one that is not seen, or one that looks like a more common one.
    Plain,
}

/// A value with every text in one form. A key of an object that becomes another's is left out.
#[must_use]
pub fn normalised(value: &Value, form: TextForm) -> Value {
    let text = |text: &str| match form {
        TextForm::Composed => composed(text),
        TextForm::Decomposed => text.nfd().collect(),
        TextForm::Plain => skeleton(text),
    };
    match value {
        Value::String(it) => text(it).into(),
        Value::Array(items) => items.iter().map(|it| normalised(it, form)).collect(),
        Value::Object(map) => {
            let entries = map.iter();
            let entries = entries.map(|(key, it)| (text(key), normalised(it, form)));
            entries.collect()
        }
        other => other.clone(),
    }
}

fn composed(text: &str) -> String {
    text.nfc().collect()
}

/// The kind of difference between two texts that look the same.
pub(super) fn difference_kind([one, other]: [&str; 2]) -> &'static str {
    if composed(one) == composed(other) {
        "Unicode normalisation"
    } else if composed_visible(one) == composed_visible(other) {
        "invisible characters"
    } else {
        "look-alike characters"
    }
}

/// A character as it is, or its escape if it is not ASCII.
pub(super) fn escape_non_ascii(character: char) -> String {
    match character {
        ' '..='~' => character.to_string(),
        other => other.escape_unicode().to_string(),
    }
}

/// The words around what differs, with all that is not ASCII as escapes.
pub(super) fn escaped_difference(old: &str, new: &str) -> [String; 2] {
    let texts = [old, new].map(|text| text.chars().collect::<Vec<char>>());
    let shortest = texts[0].len().min(texts[1].len());
    let same = |pair: &(&char, &char)| pair.0 == pair.1;
    let start = texts[0].iter().zip(&texts[1]).take_while(same).count();
    let backwards = texts[0].iter().rev().zip(texts[1].iter().rev());
    let end = backwards.take_while(same).count().min(shortest - start);
    let outside = |character: &&char| !character.is_alphanumeric();
    // As far as the words go that differ in part.
    let before = texts[0][..start].iter().rev().take_while(|it| !outside(it));
    // Where there is no word, with the character that a form was chosen of.
    let chosen = texts[0][..start].last().is_some_and(|it| !it.is_ascii());
    let from = start - before.count().max(usize::from(chosen));
    let behind = texts[0][texts[0].len() - end..].iter();
    let kept = end - behind.take_while(|it| !outside(it)).count();
    texts.map(|text| {
        let part = &text[from..text.len() - kept];
        let spelt = part.iter().take(SPELT).copied().map(escape_non_ascii);
        let more = if part.len() > SPELT { "…" } else { "" };
        spelt.collect::<String>() + more
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn difference(old: &str, new: &str) -> Option<String> {
        describe_invisible_difference(["expected", "recorded"], [old, new])
    }

    #[test]
    fn normalisation_is_told_with_the_word_that_differs() {
        assert_eq!(
            difference("to Z\u{fc}rich, now", "to Zu\u{308}rich, now").unwrap(),
            r"the only difference is Unicode normalisation: expected `Z\u{fc}rich`, recorded `Zu\u{308}rich`"
        );
        assert_eq!(
            describe_invisible_difference_in(
                ["a", "b"],
                [&json!({ "c": "e\u{301}" }), &json!({ "c": "\u{e9}" })]
            )
            .unwrap(),
            r"the only difference is Unicode normalisation: a `e\u{301}`, b `\u{e9}`"
        );
        let long = "e\u{301}".repeat(50);
        let text = difference(&long, &long.nfc().collect::<String>()).unwrap();
        assert!(text.contains("…`, recorded"), "{text}");
    }

    #[test]
    fn what_chooses_the_form_of_a_character_is_told() {
        assert_eq!(
            difference("\u{2764}\u{fe0f} it", "\u{2764} it").unwrap(),
            r"the only difference is invisible characters: expected `\u{2764}\u{fe0f}`, recorded `\u{2764}`"
        );
    }

    #[test]
    fn characters_that_look_like_others_are_told() {
        let said = |old, new, parts: [&str; 2]| {
            let [one, other] = parts;
            assert_eq!(
                difference(old, new).unwrap(),
                format!(
                    "the only difference is look-alike characters: expected `{one}`, recorded `{other}`"
                )
            );
        };
        said("paypal", "p\u{430}ypal", ["paypal", r"p\u{430}ypal"]);
        said("O1", "\u{39f}1", ["O1", r"\u{39f}1"]);
        said("A-1", "A\u{2011}1", ["A-1", r"A\u{2011}1"]);
        said("x -1", "x \u{2212}1", ["-1", r"\u{2212}1"]);
        said("A1", "\u{ff21}\u{ff11}", ["A1", r"\u{ff21}\u{ff11}"]);
        said("a file", "a \u{fb01}le", ["file", r"\u{fb01}le"]);
        said("wait...", "wait\u{2026}", ["wait...", r"wait\u{2026}"]);
        // Both kinds of differences: the wider word.
        said(
            "paypal Z\u{fc}rich",
            "p\u{430}ypal Zu\u{308}rich",
            [r"paypal Z\u{fc}rich", r"p\u{430}ypal Zu\u{308}rich"],
        );
    }

    #[test]
    fn what_a_look_tells_needs_no_word() {
        for (old, new) in [
            ("a", "a"),
            ("a", "b"),
            ("a b", "a\u{a0}b"),
            ("ab", "a\u{200b}b"),
            ("", "a"),
        ] {
            assert_eq!(difference(old, new), None, "{old:?} {new:?}");
        }
    }

    #[test]
    fn values_are_normalised_whole() {
        let value = json!({ "e\u{301}": ["e\u{301}", 1, null] });
        let composed = json!({ "\u{e9}": ["\u{e9}", 1, null] });
        assert_eq!(normalised(&value, TextForm::Composed), composed);
        assert_eq!(normalised(&composed, TextForm::Decomposed), value);
        let written = json!(["p\u{430}y\u{200b}pal", "a\u{a0}b", "Zu\u{308}rich"]);
        let plain = json!(["paypal", "a b", "Z\u{fc}rich"]);
        assert_eq!(normalised(&written, TextForm::Plain), plain);
    }
}
