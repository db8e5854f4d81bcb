//! Whether a value says something, or that there is nothing: *none*, *0*, *[]*.

use serde_json::Value;

use crate::eval::narrative::words::lexicon::lower;

/// Whether a value at a key for errors is one.
pub(super) fn is_something(value: &Value) -> bool {
    // What is in brackets says the same: *(none)*, *[]*.
    const NOTHING: [&str; 18] = [
        "",
        "0",
        "200",
        "empty",
        "false",
        "n/a",
        "nil",
        "no",
        "no error",
        "no errors",
        "none",
        "nothing",
        "null",
        "ok",
        "success",
        "successful",
        "successfully",
        "undefined",
    ];
    match value {
        Value::Null => false,
        Value::Bool(set) => *set,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => {
            let signs = |c: char| c.is_whitespace() || c.is_ascii_punctuation() || c == '—';
            !NOTHING.contains(&&*lower(text.trim_matches(signs)))
        }
        Value::Array(items) => items.iter().any(is_something),
        // `{ code: 0, message: "OK" }`
        Value::Object(fields) => match fields.get("code") {
            Some(code) => is_something(code),
            None => !fields.is_empty(),
        },
    }
}
