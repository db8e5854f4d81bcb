//! Small questions to JSON values.

use serde_json::{Number, Value};

use super::input::{Change, parse};

/// A member that is a text.
pub(super) fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str()
}

/// A member that is a text and says something.
pub(super) fn word<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    text(value, key).filter(|text| !text.trim().is_empty())
}

/// The same, to keep.
pub(super) fn named(value: &Value, key: &str) -> Option<String> {
    word(value, key).map(str::to_owned)
}

/// A member whatever it is, to keep; null where there is none.
pub(super) fn member(value: &Value, key: &str) -> Value {
    value.get(key).cloned().unwrap_or_default()
}

/// The members of an object that say something, but for some.
pub(super) fn without(value: &Value, keys: &[&str]) -> Value {
    let members = value.as_object().into_iter().flatten();
    let rest = members.filter(|(key, value)| !keys.contains(&key.as_str()) && !value.is_null());
    let rest = rest.map(|(key, value)| (key.clone(), value.clone()));
    Value::Object(rest.collect())
}

/// Whether a member is a flag that is set.
pub(super) fn is_set(value: &Value, key: &str) -> bool {
    value.get(key).and_then(flag) == Some(true)
}

/// A flag in the spellings of those who keep it as a text or a number; nothing where it says neither.
pub(super) fn flag(value: &Value) -> Option<bool> {
    let spelt = match value {
        Value::String(text) => text.to_lowercase(),
        other => other.to_string(),
    };
    match spelt.as_str() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// Who speaks in a message, whatever its case.
pub(super) fn role(message: &Value) -> Option<String> {
    word(message, "role").map(str::to_lowercase)
}

/// A member that is a number, to keep.
pub(super) fn number(value: &Value, key: &str) -> Option<Number> {
    value.get(key)?.as_number().cloned()
}

/// A member that identifies something: a text, or a number as text.
pub(super) fn identifier(value: &Value, key: &str) -> Option<String> {
    match value.get(key)? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A member that is a list; an absent one is empty.
pub(super) fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    let list = value.get(key).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

/// A member that counts something, also where it is spelt as text or as `3.0`.
pub(super) fn count(value: &Value, key: &str) -> Option<u64> {
    whole(value.get(key)?)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "range and fraction are checked first"
)]
pub(super) fn whole(value: &Value) -> Option<u64> {
    let float =
        |float: f64| (float >= 0.0 && float.fract() == 0.0 && float < 9e18).then_some(float as u64);
    match value {
        Value::Number(number) => number.as_u64().or_else(|| float(number.as_f64()?)),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// A member that is there and not null.
pub(super) fn given<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    value.get(key).filter(|value| !value.is_null())
}

/// Whether a member says something is so: `true`, a number other than 0, a text, something inside.
pub(super) fn truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
    }
}

/// A value that may stand as JSON in a text: the value.
pub(super) fn unfolded(value: &Value) -> Value {
    unfolded_with(value, &mut Vec::new())
}

/// The same, and what was read otherwise than it is written.
pub(super) fn unfolded_with(value: &Value, changes: &mut Vec<Change>) -> Value {
    match value {
        Value::String(text) => match parse(text.as_bytes()) {
            Ok(parsed) => {
                changes.extend(parsed.changes);
                parsed.value
            }
            Err(_) => value.clone(),
        },
        other => other.clone(),
    }
}

/// A text in which only the first characters are shown.
pub(super) fn shortened(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
