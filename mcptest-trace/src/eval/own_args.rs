//! Whether an agent's code called a tool of its own with what its model asked.

use serde_json::Value;

use super::arg_diff::{ArgDiff, diff, key_path};
use super::boundaries::spells_scalar;
use crate::trace::{ToolCall, json_eq};

/// Where the code called a tool of its own with another value than the model asked for: `expected` is the model's,
/// `recorded` the code's. Frameworks coerce values (`"7"` to 7) and fill in defaults, and neither is another value.
///
/// ```
/// use mcptest_trace::eval::changed_by_code;
/// use mcptest_trace::trace::Trace;
/// use serde_json::json;
///
/// let run = |own| Trace::from_envelope(&json!({ "tool_calls": [
///     { "name": "pay", "args": { "amount": "7" }, "own": { "args": own } },
/// ] }));
/// assert!(changed_by_code(&run(json!({ "amount": 7 })).tool_calls[0]).is_empty());
/// assert_eq!(changed_by_code(&run(json!({ "amount": 70 })).tool_calls[0])[0].path, "amount");
/// ```
#[must_use]
pub fn changed_by_code(call: &ToolCall) -> Vec<ArgDiff> {
    let own = call.own.as_ref().and_then(|own| own.args.as_ref());
    // What the model asked for is parsed only if the code says what it did.
    let own = own.and_then(Value::as_object).into_iter().flatten();
    let mut diffs = Vec::new();
    for (key, own) in own {
        if let Some(asked) = call.args.get(key) {
            collect(&key_path("", key), asked, own, &mut diffs);
        }
    }
    diffs
}

fn collect(path: &str, asked: &Value, own: &Value, diffs: &mut Vec<ArgDiff>) {
    match (asked, own) {
        (Value::Object(wanted), Value::Object(found)) => {
            for (key, value) in wanted {
                match found.get(key) {
                    Some(other) => collect(&key_path(path, key), value, other, diffs),
                    // What is null may be left out.
                    None if value.is_null() => {}
                    None => diffs.push(diff(key_path(path, key), Some(value), None)),
                }
            }
        }
        (Value::Array(wanted), Value::Array(found)) => {
            for place in 0..wanted.len().max(found.len()) {
                let at = format!("{path}[{place}]");
                match (wanted.get(place), found.get(place)) {
                    (Some(value), Some(other)) => collect(&at, value, other, diffs),
                    (value, other) => diffs.push(diff(at, value, other)),
                }
            }
        }
        _ if equal_but_for_type(asked, own) || equal_but_for_type(own, asked) => {}
        // A model may write JSON into a text.
        (Value::String(text), Value::Object(_) | Value::Array(_)) => {
            match serde_json::from_str::<Value>(text) {
                Ok(inner) if !inner.is_string() => collect(path, &inner, own, diffs),
                _ => diffs.push(diff(path.to_owned(), Some(asked), Some(own))),
            }
        }
        _ => diffs.push(diff(path.to_owned(), Some(asked), Some(own))),
    }
}

/// Whether two values are one but for their type.
fn equal_but_for_type(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Bool(flag), Value::String(text)) => text.eq_ignore_ascii_case(&flag.to_string()),
        (Value::Bool(flag), Value::Number(number)) => {
            number.as_f64() == Some(f64::from(u8::from(*flag)))
        }
        (Value::Number(_) | Value::Null, Value::String(text)) => spells_scalar(text.trim(), one),
        _ => json_eq(one, other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Trace;
    use serde_json::json;

    fn changed(asked: &Value, own: &Value) -> Vec<String> {
        let trace = Trace::from_envelope(&json!({ "tool_calls": [
            { "name": "a", "args": asked, "own": { "args": own } },
        ] }));
        let diffs = changed_by_code(&trace.tool_calls[0]).into_iter();
        diffs.map(|diff| diff.path).collect()
    }

    #[test]
    fn another_type_a_default_and_what_was_left_out_are_no_other_value() {
        for (asked, own) in [
            (json!({ "n": "7" }), json!({ "n": 7 })),
            (json!({ "n": "18.00" }), json!({ "n": 18.0 })),
            (json!({ "n": 7 }), json!({ "n": "7" })),
            (json!({ "n": 7.0 }), json!({ "n": 7 })),
            (json!({ "n": "True" }), json!({ "n": true })),
            (json!({ "n": 1 }), json!({ "n": true })),
            (
                json!({ "n": { "a": "1" } }),
                json!({ "n": { "a": 1, "b": null } }),
            ),
            (json!({ "n": { "a": null } }), json!({ "n": {} })),
            (json!({ "n": "[1, \"2\"]" }), json!({ "n": [1, 2] })),
            (json!({ "n": 1 }), json!({ "state": { "user": 1 } })),
            (json!({ "n": 1, "m": 2 }), json!({ "n": 1 })),
            (json!({ "n": 1 }), json!(null)),
            (json!(null), json!({ "n": 1 })),
        ] {
            assert!(changed(&asked, &own).is_empty(), "{asked} {own}");
        }
    }

    #[test]
    fn another_value_is_named_with_its_place() {
        for (asked, own, path) in [
            (json!({ "n": "7" }), json!({ "n": 70 }), "n"),
            (json!({ "n": "07" }), json!({ "n": 7 }), "n"),
            (json!({ "n": 0 }), json!({ "n": true }), "n"),
            (json!({ "n": "A" }), json!({ "n": "a" }), "n"),
            (json!({ "n": null }), json!({ "n": "x" }), "n"),
            (json!({ "n": { "a": 1 } }), json!({ "n": {} }), "n.a"),
            (json!({ "n": [1] }), json!({ "n": [1, 2] }), "n[1]"),
            (json!({ "n": "[1]" }), json!({ "n": [2] }), "n[0]"),
            (json!({ "n": "x" }), json!({ "n": ["x"] }), "n"),
        ] {
            assert_eq!(changed(&asked, &own), [path], "{asked} {own}");
        }
    }
}
