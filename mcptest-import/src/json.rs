//! Small questions to JSON values.

pub(crate) use mcptest_session::json::*;
use serde_json::Value;

use crate::input::{Change, parse};

/// Whether a member is a flag that is set.
pub(crate) fn is_set(value: &Value, key: &str) -> bool {
    value.get(key).and_then(parse_flag) == Some(true)
}

/// Unwraps a value that may stand as JSON in a text.
#[must_use]
pub fn unwrap_json_text(value: &Value) -> Value {
    unwrap_json_text_with_changes(value, &mut Vec::new())
}

/// Unwraps a value that may stand as JSON in a text, and notes what was read otherwise than it is written.
pub(crate) fn unwrap_json_text_with_changes(value: &Value, changes: &mut Vec<Change>) -> Value {
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
