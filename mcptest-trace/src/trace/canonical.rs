//! JSON in one spelling, and JSON equality by value.
//!
//! `serde_json` sorts keys by default, but a dependency elsewhere in the user's build may switch
//! its `preserve_order` feature on; both functions here give the same answer either way.

use serde_json::{Map, Number, Value};

/// Bytes that most arguments take.
const SHORT: usize = 64;

/// The value as compact JSON with the keys sorted at every depth and numbers as `serde_json`
/// prints them once parsed (so `1` and `1.0` differ).
///
/// ```
/// use mcptest_trace::trace::canonical_json;
/// use serde_json::json;
///
/// assert_eq!(canonical_json(&json!({ "b": 1, "a": [1.0] })), r#"{"a":[1.0],"b":1}"#);
/// ```
#[must_use]
pub fn canonical_json(value: &Value) -> String {
    spelled_json(value, false)
}

/// The value as [`canonical_json`] writes it, but one spelling for numbers of one value: `1` for `1.0`.
/// Two values have the same exactly when they are [equal by value](json_eq).
#[must_use]
pub fn value_json(value: &Value) -> String {
    spelled_json(value, true)
}

fn spelled_json(value: &Value, by_value: bool) -> String {
    let mut out = Vec::with_capacity(SHORT);
    write(value, by_value, &mut out);
    // JSON is UTF-8.
    String::from_utf8(out).unwrap_or_default()
}

/// The value as JSON over several lines, with the keys sorted at every depth.
#[must_use]
pub fn pretty_json(value: &Value) -> String {
    fn in_order(value: &Value) -> Value {
        match value {
            Value::Object(map) => sorted(map)
                .map(|(key, value)| (key.clone(), in_order(value)))
                .collect(),
            Value::Array(items) => items.iter().map(in_order).collect(),
            other => other.clone(),
        }
    }
    serde_json::to_string_pretty(&in_order(value)).unwrap_or_default()
}

/// The entries by their keys, as they are unless `preserve_order` is on.
pub(super) fn sorted(map: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    let as_it_is = map.keys().is_sorted();
    let mut entries: Vec<_> = map.iter().filter(|_| !as_it_is).collect();
    entries.sort_unstable_by_key(|(key, _)| *key);
    let kept = map.iter().filter(move |_| as_it_is);
    kept.chain(entries)
}

fn write(value: &Value, by_value: bool, out: &mut Vec<u8>) {
    match value {
        Value::Number(number) if by_value && number.is_f64() => match as_integer(number) {
            Some(whole) => write_plain(&whole, out),
            None => write_plain(number, out),
        },
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write(item, by_value, out);
            }
            out.push(b']');
        }
        Value::Object(map) => {
            out.push(b'{');
            for (index, (key, item)) in sorted(map).enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_plain(key, out);
                out.push(b':');
                write(item, by_value, out);
            }
            out.push(b'}');
        }
        scalar => write_plain(scalar, out),
    }
}

/// Writes a text or a scalar as `serde_json` does. Writing to memory cannot fail.
fn write_plain(value: &(impl serde::Serialize + ?Sized), out: &mut Vec<u8>) {
    let _ = serde_json::to_writer(out, value);
}

/// Equality where numbers compare by value, at any depth: `1` equals `1.0`.
///
/// ```
/// use mcptest_trace::trace::json_eq;
/// use serde_json::json;
///
/// assert!(json_eq(&json!({ "n": [1] }), &json!({ "n": [1.0] })));
/// assert!(!json_eq(&json!(1), &json!("1")));
/// ```
#[must_use]
pub fn json_eq(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => number_eq(left, right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(l, r)| json_eq(l, r))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, value)| right.get(key).is_some_and(|other| json_eq(value, other)))
        }
        _ => left == right,
    }
}

fn number_eq(left: &Number, right: &Number) -> bool {
    match (as_integer(left), as_integer(right)) {
        (None, None) => left.as_f64() == right.as_f64(),
        // Beyond 2^53 a float cannot tell neighbours apart, so a whole number is only equal to a
        // float that converts to exactly that number.
        (left, right) => left == right,
    }
}

/// The whole number that a number is, however it is spelt.
#[expect(
    clippy::float_cmp,
    clippy::cast_possible_truncation,
    reason = "the range is checked"
)]
pub(super) fn as_integer(number: &Number) -> Option<i128> {
    let spelt = number.as_i64().map(i128::from);
    let spelt = spelt.or_else(|| number.as_u64().map(i128::from));
    spelt.or_else(|| {
        let float = number.as_f64()?;
        (float.trunc() == float && float.abs() < 1e20).then_some(float as i128)
    })
}

/// An object without what is `null` in it.
pub(crate) fn without_null(mut value: Value) -> Value {
    if let Some(map) = value.as_object_mut() {
        map.retain(|_, value| !value.is_null());
    }
    value
}

/// Calls `found` with every scalar of a value.
pub(crate) fn for_each_scalar<'a>(value: &'a Value, found: &mut impl FnMut(&'a Value)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| for_each_scalar(item, found)),
        Value::Object(map) => map.values().for_each(|item| for_each_scalar(item, found)),
        scalar => found(scalar),
    }
}

/// Calls `found` with every text of a value but its keys.
pub(crate) fn for_each_text<'a>(value: &'a Value, found: &mut impl FnMut(&'a str)) {
    for_each_scalar(value, &mut |scalar| {
        if let Value::String(text) = scalar {
            found(text);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn key_order_does_not_matter_at_any_depth() {
        let left: Value =
            serde_json::from_str(r#"{"a":{"x":1,"y":[{"k":1,"j":2}]},"b":2}"#).unwrap();
        let right: Value =
            serde_json::from_str(r#"{"b":2,"a":{"y":[{"j":2,"k":1}],"x":1}}"#).unwrap();
        assert_eq!(canonical_json(&left), canonical_json(&right));
    }

    #[test]
    fn whole_and_float_are_two_spellings_but_one_value() {
        assert_ne!(canonical_json(&json!(1)), canonical_json(&json!(1.0)));
        assert!(json_eq(&json!(1), &json!(1.0)));
        assert!(!json_eq(
            &json!(9_007_199_254_740_993_u64),
            &json!(9_007_199_254_740_992.0)
        ));
    }

    #[test]
    fn numbers_of_one_value_have_one_spelling_by_value() {
        let spelt = |text: &str| value_json(&serde_json::from_str(text).unwrap());
        assert_eq!(
            spelt(r#"{"n":[1.0,-0.0,1e3,0.5]}"#),
            r#"{"n":[1,0,1000,0.5]}"#
        );
        assert_ne!(spelt("9007199254740993"), spelt("9007199254740992.0"));
        assert_ne!(spelt("1"), spelt("\"1\""));
    }

    #[test]
    fn array_order_matters() {
        assert!(!json_eq(&json!([1, 2]), &json!([2, 1])));
    }
}
