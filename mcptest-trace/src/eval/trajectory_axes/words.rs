//! Whether a value of an argument occurs in a result.

use serde_json::Value;

use super::super::boundaries::{
    contains_number, contains_scalar, contains_whole, parse_plain_number, spells_scalar,
};
use crate::trace::{for_each_text, json_eq};

/// The value of an argument: of the key as it stands, else of a dot path into objects.
pub(super) fn argument<'a>(args: &'a Value, path: &str) -> &'a Value {
    let nested = || path.split('.').try_fold(args, |value, key| value.get(key));
    args.get(path).or_else(nested).unwrap_or(&Value::Null)
}

/// A result that values may come from.
pub(super) struct Source<'a> {
    result: &'a Value,
    /// The result, in which each text that is JSON is parsed.
    opened: Value,
}

impl<'a> Source<'a> {
    pub(super) fn new(result: &'a Value) -> Self {
        Self {
            result,
            opened: parse_nested_json(result),
        }
    }

    /// Calls `found` with each text of the result.
    pub(super) fn for_each_text(&self, found: &mut impl FnMut(&'a str)) {
        for_each_text(self.result, found);
    }

    /// Whether a text of the result has these words.
    fn contains_words(&self, words: &str) -> bool {
        let mut says = false;
        self.for_each_text(&mut |text| says |= contains_whole(text, words));
        says
    }

    /// Whether a scalar occurs, as a scalar or inside a string.
    pub(super) fn contains(&self, scalar: &Value) -> bool {
        match scalar {
            // JSON in a text may spell letters by their numbers: `m\u00f6n`.
            Value::String(text) if parse_plain_number(text).is_none() => {
                occurs(scalar, self.result)
                    || occurs(scalar, &self.opened)
                    || spellings(text).any(|spelt| self.contains_words(&spelt))
            }
            _ => occurs(scalar, &self.opened) || self.contains_quoted(scalar),
        }
    }

    /// Whether a number stands between quotes in a text, also as a key: variants of a product are listed so.
    fn contains_quoted(&self, scalar: &Value) -> bool {
        let spelt = match scalar {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return false,
        };
        let quoted = format!("\"{spelt}\"");
        let mut found = false;
        self.for_each_text(&mut |text| found |= text.contains(&quoted));
        found
    }
}

/// How JSON in a text spells a text where it spells it otherwise: `m\\u00f6n`, `https:\\/\\/x.org`.
fn spellings(text: &str) -> impl Iterator<Item = String> {
    let quoted = Value::from(text).to_string();
    let plain = quoted.trim_matches('"').to_owned();
    let mut ascii = String::new();
    for letter in plain.chars() {
        if letter.is_ascii() {
            ascii.push(letter);
        } else {
            let mut buffer = [0; 2];
            for unit in letter.encode_utf16(&mut buffer) {
                ascii += &format!("\\u{unit:04x}");
            }
        }
    }
    let slashes = plain.replace('/', "\\/");
    let text = text.to_owned();
    let all = [plain, ascii, slashes].into_iter();
    all.filter(move |spelt| *spelt != text)
}

/// Parses every text in a value that is a JSON object or list.
fn parse_nested_json(value: &Value) -> Value {
    match value {
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
            serde_json::from_str(text).unwrap_or_else(|_| value.clone())
        }
        Value::Array(items) => items.iter().map(parse_nested_json).collect(),
        Value::Object(map) => {
            let entries = map.iter();
            entries
                .map(|(key, value)| (key.clone(), parse_nested_json(value)))
                .collect()
        }
        other => other.clone(),
    }
}

fn occurs(scalar: &Value, result: &Value) -> bool {
    match (scalar, result) {
        (_, Value::Array(items)) => items.iter().any(|item| occurs(scalar, item)),
        (_, Value::Object(map)) => map.values().any(|item| occurs(scalar, item)),
        (Value::String(text), Value::String(found)) => match parse_plain_number(text) {
            Some(number) => contains_number(found, &number, text),
            None => contains_whole(found, text),
        },
        (Value::String(text), found) => !found.is_null() && spells_scalar(text, found),
        (scalar, Value::String(text)) => contains_scalar(text, scalar),
        _ => json_eq(scalar, result),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn holds(scalar: &Value, result: impl Into<Value>) -> bool {
        Source::new(&result.into()).contains(scalar)
    }

    #[test]
    fn letters_that_json_in_a_text_spells_by_numbers_are_found() {
        let found = r#"{"id": "rll_m\u00f6n_1", "note": "say \"hi\""}"#;
        assert!(holds(&json!("rll_mön_1"), found));
        assert!(holds(&json!("say \"hi\""), found));
        assert!(!holds(&json!("rll_mon_1"), found));
    }

    #[test]
    fn json_among_other_words_may_spell_a_text_otherwise() {
        for (found, text) in [
            ("Found 1:\n[{\"name\": \"M\\u00f6n\"}]", "Mön"),
            (
                "```json\n{\"url\": \"https:\\/\\/x.org\\/a\"}\n```",
                "https://x.org/a",
            ),
            ("It said {\"text\": \"one\\ntwo\"}.", "one\ntwo"),
        ] {
            assert!(holds(&json!(text), found), "{text:?} in {found}");
        }
        assert!(!holds(&json!("Mon"), "[{\"name\": \"M\\u00f6n\"}] more"));
    }

    #[test]
    fn a_key_of_json_in_a_text_is_in_that_text() {
        let found = r#"{ "variants": { "6534134392": { "free": true }, "A-1": {} } }"#;
        assert!(holds(&json!("6534134392"), found) && holds(&json!("A-1"), found));
        assert!(holds(&json!(6_534_134_392_u64), found));
        assert!(!holds(&json!("653"), found) && !holds(&json!("6534134393"), found));
    }

    #[test]
    fn texts_and_numbers_stand_there_as_a_whole() {
        assert!(holds(&json!(250), "{\"ids\": [1,250]}"));
        assert!(holds(&json!("007"), "agent 007") && !holds(&json!(7), "agent 007"));
        assert!(holds(&json!("1250.00"), "for $1,250.00 in all"));
        assert!(holds(&json!("A-1"), json!({ "id": "A-1" })));
        assert!(!holds(&json!("A-1"), json!({ "id": "A-10" })));
        assert!(!holds(&json!("anne@x.org"), "joanne@x.org"));
        assert!(!holds(&json!("a"), "banana") && !holds(&json!(1), "A-1"));
    }

    #[test]
    fn an_argument_is_a_key_or_a_path() {
        let args = json!({ "a": { "b": 1 }, "a.b": 2, "c": { "d": { "e": 3 } } });
        assert_eq!(argument(&args, "a.b"), &json!(2));
        assert_eq!(argument(&args, "c.d.e"), &json!(3));
        assert_eq!(argument(&args, "c.x.e"), &Value::Null);
    }
}
