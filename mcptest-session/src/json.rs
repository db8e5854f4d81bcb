//! Members of JSON values, read as what they should be.

pub use mcptest_trace::record::payload::parse_flag;
use serde_json::{Number, Value};

/// A member that is a text.
#[must_use]
pub fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str()
}

/// A member that is a text with something else than white space.
#[must_use]
pub fn nonempty_text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    text(value, key).filter(|text| !text.trim().is_empty())
}

/// A member that is a text and says something, as a string of its own.
#[must_use]
pub fn nonempty_string(value: &Value, key: &str) -> Option<String> {
    nonempty_text(value, key).map(str::to_owned)
}

/// A member whatever it is, to keep; null where there is none.
#[must_use]
pub fn member(value: &Value, key: &str) -> Value {
    value.get(key).cloned().unwrap_or_default()
}

/// The members of an object that say something, but for some.
#[must_use]
pub fn without_members(value: &Value, keys: &[&str]) -> Value {
    let members = value.as_object().into_iter().flatten();
    let rest = members.filter(|(key, value)| !keys.contains(&key.as_str()) && !value.is_null());
    let rest = rest.map(|(key, value)| (key.clone(), value.clone()));
    Value::Object(rest.collect())
}

/// Who speaks in a message, whatever its case.
#[must_use]
pub fn role(message: &Value) -> Option<String> {
    nonempty_text(message, "role").map(str::to_lowercase)
}

/// A member that is a number, to keep.
#[must_use]
pub fn number(value: &Value, key: &str) -> Option<Number> {
    value.get(key)?.as_number().cloned()
}

/// A member that identifies something: a text, or a number as text.
#[must_use]
pub fn identifier(value: &Value, key: &str) -> Option<String> {
    match value.get(key)? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A member that is a list; an absent one is empty.
#[must_use]
pub fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    let list = value.get(key).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

/// A member that counts something, also where it is spelt as text or as `3.0`.
#[must_use]
pub fn count(value: &Value, key: &str) -> Option<u64> {
    parse_count(value.get(key)?)
}

/// A number that counts something, also where it is spelt as text or as `3.0`.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "range and fraction are checked first"
)]
pub fn parse_count(value: &Value) -> Option<u64> {
    let float =
        |float: f64| (float >= 0.0 && float.fract() == 0.0 && float < 9e18).then_some(float as u64);
    match value {
        Value::Number(number) => number.as_u64().or_else(|| float(number.as_f64()?)),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// A member that is there and not null.
#[must_use]
pub fn non_null<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    value.get(key).filter(|value| !value.is_null())
}

/// Whether a member says something is so: `true`, a number other than 0, a text, something inside.
#[must_use]
pub fn truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
    }
}
