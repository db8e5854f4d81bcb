//! Whether a value of an argument occurs in a result.

use serde_json::Value;

use crate::trace::{each_text, json_eq};

/// The value of an argument: of the key as it stands, else of a dot path into objects.
pub(super) fn argument<'a>(args: &'a Value, path: &str) -> &'a Value {
    let nested = || path.split('.').try_fold(args, |value, key| value.get(key));
    args.get(path).or_else(nested).unwrap_or(&Value::Null)
}

/// A result that values may come from.
pub(super) struct Source<'a> {
    result: &'a Value,
    /// The same with the texts that are JSON read as JSON.
    opened: Value,
}

impl<'a> Source<'a> {
    pub(super) fn new(result: &'a Value) -> Self {
        Self {
            result,
            opened: opened(result),
        }
    }

    /// Hands over each text of the result.
    pub(super) fn each_text(&self, found: &mut impl FnMut(&'a str)) {
        each_text(self.result, found);
    }

    /// Whether a scalar occurs, as a scalar or inside a string.
    pub(super) fn holds(&self, scalar: &Value) -> bool {
        match scalar {
            // JSON in a text may spell letters by their numbers: `m\u00f6n`.
            Value::String(text) if number(text).is_none() => {
                occurs(scalar, self.result) || occurs(scalar, &self.opened)
            }
            _ => occurs(scalar, &self.opened),
        }
    }
}

/// A value in which every text that is a JSON object or list is one.
fn opened(value: &Value) -> Value {
    match value {
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
            serde_json::from_str(text).unwrap_or_else(|_| value.clone())
        }
        Value::Array(items) => items.iter().map(opened).collect(),
        Value::Object(map) => {
            let entries = map.iter();
            entries
                .map(|(key, value)| (key.clone(), opened(value)))
                .collect()
        }
        other => other.clone(),
    }
}

fn occurs(scalar: &Value, result: &Value) -> bool {
    match (scalar, result) {
        (_, Value::Array(items)) => items.iter().any(|item| occurs(scalar, item)),
        (_, Value::Object(map)) => map.values().any(|item| occurs(scalar, item)),
        (Value::String(text), Value::String(found)) => match number(text) {
            Some(number) => has_number(found, &number, text),
            None => found.contains(text.as_str()),
        },
        (Value::String(text), found) => {
            let spelling = found.to_string();
            !found.is_null()
                && (spelling == *text || number(text).is_some_and(|number| json_eq(&number, found)))
        }
        (Value::Number(number), Value::String(text)) => {
            has_number(text, scalar, &number.to_string())
        }
        (found, Value::String(text)) => has_word(text, &found.to_string()),
        _ => json_eq(scalar, result),
    }
}

/// The number that a text spells, plainly: no zeros before it, no sign but a minus.
fn number(text: &str) -> Option<Value> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let whole = digits.split_once('.').map_or(digits, |(whole, _)| whole);
    let plain = digits.starts_with(|first: char| first.is_ascii_digit())
        && digits
            .chars()
            .all(|character| character.is_ascii_digit() || character == '.')
        && (whole == "0" || !whole.starts_with('0'));
    if !plain {
        return None;
    }
    let fits = |value: &Value| value.is_i64() || value.is_u64() || digits.contains('.');
    let value: Value = serde_json::from_str(text).ok()?;
    fits(&value).then_some(value)
}

/// Whether a number stands in a text as a whole token, in any spelling, `spelt` among them.
fn has_number(text: &str, wanted: &Value, spelt: &str) -> bool {
    let in_token =
        |character: char| character.is_alphanumeric() || matches!(character, '_' | '.' | ',');
    let is =
        |token: &str| token == spelt || number(token).is_some_and(|found| json_eq(&found, wanted));
    let mut before = None;
    let mut rest = text;
    while let Some(start) = rest.find(in_token) {
        let (between, from) = rest.split_at(start);
        let end = from
            .find(|character| !in_token(character))
            .unwrap_or(from.len());
        let (run, after) = from.split_at(end);
        // A minus is a sign unless it stands between two words.
        let mut left = between.chars().rev();
        let negative = left.next() == Some('-')
            && match left.next() {
                Some(earlier) => !in_token(earlier),
                None => before.is_none(),
            };
        let signed = |token: &str, first: bool| {
            if negative && first {
                is(&format!("-{token}"))
            } else {
                is(token)
            }
        };
        let run = run.trim_matches([',', '.']);
        let found = if let Some(plain) = ungrouped(run) {
            signed(&plain, true)
        } else {
            let mut pieces = run.split(',').enumerate();
            pieces.any(|(index, piece)| signed(piece.trim_end_matches('.'), index == 0))
        };
        if found {
            return true;
        }
        before = run.chars().next_back();
        rest = after;
    }
    false
}

/// A number whose thousands are set apart by commas, without them: `1,250.00`.
fn ungrouped(run: &str) -> Option<String> {
    let (whole, _) = run.split_once('.').unwrap_or((run, ""));
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let grouped = whole.contains(',')
        && (1..=3).contains(&first.len())
        && digits(first)
        && groups.all(|group| group.len() == 3 && digits(group));
    grouped.then(|| run.replace(',', ""))
}

/// Whether `word` stands in `text` without being part of a longer word.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        let after = text[start + word.len()..].chars().next();
        let goes_on = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
        !goes_on(before) && !goes_on(after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn holds(scalar: &Value, result: impl Into<Value>) -> bool {
        Source::new(&result.into()).holds(scalar)
    }

    #[test]
    fn letters_that_json_in_a_text_spells_by_numbers_are_found() {
        let found = r#"{"id": "rll_m\u00f6n_1", "note": "say \"hi\""}"#;
        assert!(holds(&json!("rll_mön_1"), found));
        assert!(holds(&json!("say \"hi\""), found));
        assert!(!holds(&json!("rll_mon_1"), found));
    }

    #[test]
    fn numbers_are_whole_tokens() {
        for five in [json!(5), json!("5"), json!(5.0)] {
            for text in [
                "5", "take 5.", "(5)", "a, 5, b", "2-5", "5.0", "1, 5", "x=5;", "[4,5]",
            ] {
                assert!(holds(&five, json!(text)), "{five} in {text}");
            }
            for text in [
                "-5", "15", "5.1", "2.5", "A5", "5px", "1.5.2", "x: -5", "1,005", "05",
            ] {
                assert!(!holds(&five, json!(text)), "{five} in {text}");
            }
        }
        for amount in [json!(1250), json!("1250"), json!("1250.00")] {
            assert!(holds(&amount, json!("for $1,250.00 in all")), "{amount}");
            assert!(holds(&amount, json!("for 1,250, in all")), "{amount}");
            assert!(!holds(&amount, json!("11,250")), "{amount}");
        }
        assert!(holds(&json!(-5), json!("-5")) && holds(&json!(-5), json!("at -5 degrees")));
        assert!(!holds(&json!(-5), json!("2-5")));
        assert!(holds(&json!(250), json!("{\"ids\": [1,250]}")));
        assert!(holds(&json!("007"), json!("agent 007")) && !holds(&json!(7), json!("agent 007")));
        let long = json!(9_007_199_254_740_993_u64);
        assert!(holds(&long, json!("id 9007199254740993")));
        assert!(!holds(&long, json!("id 9007199254740992")));
    }

    #[test]
    fn an_argument_is_a_key_or_a_path() {
        let args = json!({ "a": { "b": 1 }, "a.b": 2, "c": { "d": { "e": 3 } } });
        assert_eq!(argument(&args, "a.b"), &json!(2));
        assert_eq!(argument(&args, "c.d.e"), &json!(3));
        assert_eq!(argument(&args, "c.x.e"), &Value::Null);
    }

    proptest! {
        #[test]
        fn a_number_occurs_between_words_and_not_in_a_longer_one(number: i64, digit in 1..9_u8) {
            let (alone, longer) = (format!("is {number}, or so"), format!("is {number}{digit}, or so"));
            prop_assert!(holds(&json!(number), json!(alone)));
            prop_assert!(!holds(&json!(number), json!(longer)));
        }

        #[test]
        fn no_text_is_too_odd(text in ".{0,20}", number: f64) {
            holds(&json!(number), json!(text));
            holds(&json!(text), json!(text));
        }
    }
}
