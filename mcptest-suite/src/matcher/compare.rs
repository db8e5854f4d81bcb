//! Whether an expected and a recorded value can be compared at all.
//!
//! What cannot be compared does not hold, and neither does its negation.

use mcptest_trace::eval::contains;
use mcptest_trace::trace::json_eq;
use serde_json::Value;

use mcptest_trace::text::kind;

/// Whether the question makes sense: what can never be contained is not "not contained" either.
fn comparable(expected: &Value, value: &Value) -> Result<(), String> {
    let of_lists = |value: &Value| {
        let items = value.as_array();
        items.is_some_and(|items| items.iter().all(Value::is_array))
    };
    let advice = if of_lists(value) {
        " that is none of its lists; name a single value, or the place of one list"
    } else if value.is_array() {
        "; look at its elements with `[*]` and a key"
    } else {
        ""
    };
    if compares_parts(expected, value) {
        return Ok(());
    }
    Err(format!(
        "{} cannot contain {}{advice}",
        kind(value),
        kind(expected)
    ))
}

/// As [`comparable`], at every key that both have; a difference that can be told decides first.
pub(super) fn comparable_below(expected: &Value, value: &Value) -> Result<(), String> {
    let (Value::Object(keys), Value::Object(map)) = (expected, value) else {
        return comparable(expected, value);
    };
    let mut reason = None;
    for (key, expected) in keys {
        let Some(value) = map.get(key) else {
            return Ok(());
        };
        match comparable_below(expected, value) {
            Err(below) => {
                let key = crate::escape_line(key);
                reason = reason.or(Some(format!("at `{key}`: {below}")));
            }
            Ok(()) if !contains(expected, value) => return Ok(()),
            Ok(()) => {}
        }
    }
    reason.map_or(Ok(()), Err)
}

fn compares_parts(expected: &Value, value: &Value) -> bool {
    match (expected, value) {
        (Value::Object(_), Value::Object(_)) => true,
        // Each wanted element needs one that could be it; a list without elements has none, and says so.
        (Value::Array(wanted), Value::Array(items)) => {
            let could_be = |wanted: &Value, item: &Value| match (wanted, item) {
                (Value::Object(_), item) => item.is_object(),
                (Value::Array(_), item) => item.is_array(),
                (_, item) => !item.is_object() && !item.is_array(),
            };
            let mut wanted = wanted.iter();
            items.is_empty() || wanted.all(|wanted| items.iter().any(|item| could_be(wanted, item)))
        }
        (Value::Object(_) | Value::Array(_), _) => false,
        // Of the elements of a list it is enough that one can be looked into.
        (_, Value::Array(items)) => {
            let says = |item: &Value| item.is_number() || item.is_boolean();
            let mut read = items
                .iter()
                .map(|item| compares_parts(expected, item) || says(item));
            items.is_empty() || read.any(|read| read)
        }
        (_, Value::Object(_)) => true,
        // A number that stands alone is compared as a number, so a text is not looked for in it.
        (Value::String(_), value) => value.is_string(),
        _ => true,
    }
}

/// What became of a subset.
pub(super) enum Subset {
    Holds,
    Fails,
    /// The recorded value is of a kind that cannot hold the expected one.
    NotComparable(String),
}

/// Every expected key, recursively; lists and scalars equal. One difference that can be told decides.
pub(super) fn subset(expected: &Value, value: &Value) -> Subset {
    subset_at("", expected, value)
}

fn subset_at(path: &str, expected: &Value, value: &Value) -> Subset {
    match (expected, value) {
        (Value::Object(expected), Value::Object(value)) => {
            let mut verdict = Subset::Holds;
            for (key, expected) in expected {
                // A key without a value is as good as none.
                let Some(value) = value
                    .get(key)
                    .filter(|value| !value.is_null() || expected.is_null())
                else {
                    return Subset::Fails;
                };
                let path = match path {
                    "" => key.clone(),
                    path => format!("{path}.{key}"),
                };
                match (subset_at(&path, expected, value), &verdict) {
                    (Subset::Fails, _) => return Subset::Fails,
                    (Subset::NotComparable(reason), Subset::Holds) => {
                        verdict = Subset::NotComparable(reason);
                    }
                    _ => {}
                }
            }
            verdict
        }
        _ if kind(expected) != kind(value) => {
            let place = match path {
                "" => String::new(),
                path => format!(", at `{}`", crate::escape_line(path)),
            };
            let (holder, held) = (kind(value), kind(expected));
            Subset::NotComparable(format!("{holder} cannot hold {held}{place}"))
        }
        _ if json_eq(expected, value) => Subset::Holds,
        _ => Subset::Fails,
    }
}

/// A value with every text in lower case, at any depth. Keys stay as they are.
pub(super) fn lower_case(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(text.to_lowercase()),
        Value::Array(items) => items.iter().map(lower_case).collect(),
        Value::Object(map) => {
            let lower = map
                .iter()
                .map(|(key, value)| (key.clone(), lower_case(value)));
            Value::Object(lower.collect())
        }
        other => other.clone(),
    }
}
