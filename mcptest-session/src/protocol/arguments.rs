//! The arguments of a call: JSON in a text.

use std::collections::BTreeSet;

use mcptest_trace::trace::{canonical_json, without_rounding};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
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

/// A call whose arguments are read, with their text where they were written otherwise.
pub(super) fn of_call(call: Call) -> Call {
    let args = read(Some(&call.args));
    let text = match call.args {
        Value::String(text) => Some(text),
        _ => call.text,
    };
    Call {
        text: text.filter(|text| *text != canonical(&args)),
        args,
        ..call
    }
}

/// What stands before JSON that is written into a value as the text that it is; no provider writes such a text.
const AS_WRITTEN: &str = "\u{10fffd}json:";

/// JSON as a text, written into a value by [`written`] as it is.
fn as_written(text: &str) -> Value {
    Value::String(format!("{AS_WRITTEN}{text}"))
}

/// A value as JSON, in which the arguments of calls stand as the model wrote them.
pub(crate) fn written(value: &Value) -> String {
    serde_json::to_string(&Written(value)).unwrap_or_else(|_| value.to_string())
}

/// A value of which some texts are JSON already.
struct Written<'v>(&'v Value);

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Array(items) => serializer.collect_seq(items.iter().map(Written)),
            Value::Object(map) => {
                let members = map.iter().map(|(key, value)| (key, Written(value)));
                serializer.collect_map(members)
            }
            Value::String(text) => match raw(text) {
                Some(raw) => raw.serialize(serializer),
                None => serializer.serialize_str(text),
            },
            other => other.serialize(serializer),
        }
    }
}

/// The JSON that a text stands for, where it is such a text.
fn raw(text: &str) -> Option<&RawValue> {
    serde_json::from_str(text.strip_prefix(AS_WRITTEN)?).ok()
}

/// Arguments of a written answer as text.
pub(super) fn text_of(args: &Value) -> String {
    match args {
        Value::String(text) => match raw(text) {
            Some(raw) => raw.get().to_owned(),
            None => text.clone(),
        },
        other => canonical(other),
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

/// Writes the arguments of a call as text.
pub(super) fn text(call: &Call) -> String {
    let text = call.text.clone();
    text.unwrap_or_else(|| canonical(&call.args))
}

fn canonical(args: &Value) -> String {
    match args {
        Value::String(raw) => raw.clone(),
        Value::Null => "{}".to_owned(),
        other => canonical_json(other),
    }
}

/// Writes the arguments of a call where an object is expected.
pub(super) fn object(call: &Call) -> Value {
    let is_object = |text: &&String| {
        let raw = serde_json::from_str::<&RawValue>(text);
        raw.is_ok_and(|raw| raw.get().starts_with('{'))
    };
    match &call.args {
        Value::Object(_) if let Some(text) = call.text.as_ref().filter(is_object) => {
            as_written(text)
        }
        args @ Value::Object(_) => args.clone(),
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
