//! The arguments of a call: JSON in a text.

use std::collections::BTreeSet;

use mcptest_trace::trace::{canonical_json, without_rounding};
use serde_json::{Value, json};

use crate::exchange::Call;
use crate::lossless::{Change, Parsed, parse};

/// Reads arguments. Nothing is the empty object; what is no JSON object stays text.
pub(super) fn read(args: Option<&Value>) -> Value {
    match args {
        None | Some(Value::Null) => json!({}),
        Some(Value::String(text)) => of_text(text).0,
        Some(other) => other.clone(),
    }
}

/// A call whose arguments are read.
pub(super) fn of_call(call: Call) -> Call {
    Call {
        args: read(Some(&call.args)),
        ..call
    }
}

/// Reads arguments that are written as text, and what of them is read otherwise than it is written.
pub(super) fn of_text(text: &str) -> (Value, Vec<Change>) {
    if text.trim().is_empty() {
        return (json!({}), Vec::new());
    }
    // A number that would be rounded stays the digits that it is.
    let exact = without_rounding(text, str::to_owned);
    match parse(exact.as_deref().unwrap_or(text).as_bytes()) {
        Ok(Parsed {
            value: object @ Value::Object(_),
            mut changes,
        }) => {
            changes.extend(exact.map(|_| Change::Number));
            (object, changes)
        }
        _ => (Value::String(text.to_owned()), Vec::new()),
    }
}

/// Adds what is read otherwise than it is written in the arguments that an answer holds as texts.
pub(super) fn changes(body: &Value, changes: &mut BTreeSet<Change>) {
    match body {
        Value::Array(items) => {
            for item in items {
                self::changes(item, changes);
            }
        }
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(text) if key == "arguments" => changes.extend(of_text(text).1),
                    value => self::changes(value, changes),
                }
            }
        }
        _ => {}
    }
}

/// Writes arguments as text.
pub(super) fn text(args: &Value) -> String {
    match args {
        Value::String(raw) => raw.clone(),
        Value::Null => "{}".to_owned(),
        other => canonical_json(other),
    }
}

/// Writes arguments where an object is expected.
pub(super) fn object(args: &Value) -> Value {
    match args {
        Value::Object(_) => args.clone(),
        Value::Null => json!({}),
        other => json!({ "input": other }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_the_object_that_a_text_holds_and_else_the_text() {
        let of = |text: &str| read(Some(&text.into()));
        assert_eq!(of(r#"{"a": 1}"#), json!({ "a": 1 }));
        assert_eq!(of(" "), json!({}));
        assert_eq!(of("{\"a\": "), json!("{\"a\": "));
        assert_eq!(of("[1]"), json!("[1]"));
        assert_eq!(
            of(r#"{"id": 12345678901234567890123}"#),
            json!({ "id": "12345678901234567890123" })
        );
        assert_eq!(
            of(r#"{"a":"x\ud83d","b":NaN}"#),
            json!({ "a": "x\u{fffd}", "b": null })
        );
        assert_eq!(of("[NaN]"), json!("[NaN]"));
        assert_eq!(read(None), json!({}));
    }
}
