//! Texts that differ and look the same: what of them differs, spelt so that it is seen.
//!
//! Control characters and unusual spaces are shown as escapes wherever text is shown. What is left is
//! Unicode normalisation (`ü` is one character, or two) and characters that choose a form of the one before.

use mcptest_trace::text::escape_line;
use mcptest_trace::trace::canonical_json;
use serde_json::Value;
use unicode_normalization::UnicodeNormalization as _;

/// The most characters of a difference that are spelt.
const SPELT: usize = 40;

/// What tells two texts apart that look the same, e.g. ``the only difference is Unicode normalisation:
/// expected `Z\u{fc}rich`, recorded `Zu\u{308}rich` ``; nothing where they are the same, or a look tells.
#[must_use]
pub fn unseen(names: [&str; 2], texts: [&str; 2]) -> Option<String> {
    let [old, new] = texts;
    if old == new || look(old) != look(new) {
        return None;
    }
    let why = if composed(old) == composed(new) {
        "Unicode normalisation"
    } else {
        "invisible characters"
    };
    let [old, new] = spelt(old, new);
    let [before, after] = names.map(escape_line);
    Some(format!(
        "the only difference is {why}: {before} `{old}`, {after} `{new}`"
    ))
}

/// The same of values.
#[must_use]
pub fn unseen_in(names: [&str; 2], values: [&Value; 2]) -> Option<String> {
    let [old, new] = values.map(canonical_json);
    unseen(names, [&old, &new])
}

/// A value with every text in one form of normalisation: composed, or else decomposed. A key of an object
/// that becomes another's is left out.
#[must_use]
pub fn normalised(value: &Value, as_composed: bool) -> Value {
    let text = |text: &str| {
        if as_composed {
            composed(text)
        } else {
            text.nfd().collect()
        }
    };
    match value {
        Value::String(it) => text(it).into(),
        Value::Array(items) => items.iter().map(|it| normalised(it, as_composed)).collect(),
        Value::Object(map) => {
            let entries = map.iter();
            let entries = entries.map(|(key, it)| (text(key), normalised(it, as_composed)));
            entries.collect()
        }
        other => other.clone(),
    }
}

fn composed(text: &str) -> String {
    text.nfc().collect()
}

/// What a person sees of a text that is shown.
fn look(text: &str) -> String {
    let chooses_a_form =
        |character: &char| matches!(character, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}');
    let shown = escape_line(text);
    shown
        .chars()
        .filter(|it| !chooses_a_form(it))
        .nfc()
        .collect()
}

/// A text with all that is not ASCII as escapes.
#[must_use]
pub fn spell(text: &str) -> String {
    text.chars().map(spelt_character).collect()
}

fn spelt_character(character: char) -> String {
    match character {
        ' '..='~' => character.to_string(),
        other => other.escape_unicode().to_string(),
    }
}

/// The words around what differs, with all that is not ASCII as escapes.
fn spelt(old: &str, new: &str) -> [String; 2] {
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
        let spelt = part.iter().take(SPELT).copied().map(spelt_character);
        let more = if part.len() > SPELT { "…" } else { "" };
        spelt.collect::<String>() + more
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(old: &str, new: &str) -> Option<String> {
        unseen(["expected", "recorded"], [old, new])
    }

    #[test]
    fn normalisation_is_told_with_the_word_that_differs() {
        assert_eq!(
            told("to Z\u{fc}rich, now", "to Zu\u{308}rich, now").unwrap(),
            r"the only difference is Unicode normalisation: expected `Z\u{fc}rich`, recorded `Zu\u{308}rich`"
        );
        assert_eq!(
            unseen_in(
                ["a", "b"],
                [&json!({ "c": "e\u{301}" }), &json!({ "c": "\u{e9}" })]
            )
            .unwrap(),
            r"the only difference is Unicode normalisation: a `e\u{301}`, b `\u{e9}`"
        );
        let long = "e\u{301}".repeat(50);
        let text = told(&long, &long.nfc().collect::<String>()).unwrap();
        assert!(text.contains("…`, recorded"), "{text}");
    }

    #[test]
    fn what_chooses_the_form_of_a_character_is_told() {
        assert_eq!(
            told("\u{2764}\u{fe0f} it", "\u{2764} it").unwrap(),
            r"the only difference is invisible characters: expected `\u{2764}\u{fe0f}`, recorded `\u{2764}`"
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
            assert_eq!(told(old, new), None, "{old:?} {new:?}");
        }
    }

    #[test]
    fn values_are_normalised_whole() {
        let value = json!({ "e\u{301}": ["e\u{301}", 1, null] });
        let composed = json!({ "\u{e9}": ["\u{e9}", 1, null] });
        assert_eq!(normalised(&value, true), composed);
        assert_eq!(normalised(&composed, false), value);
    }
}
