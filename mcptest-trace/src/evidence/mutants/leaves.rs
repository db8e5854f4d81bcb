//! A scalar of a call's arguments, and another one of its kind.

use crate::trace::canonical_json;
use serde_json::{Value, json};

use super::operator::Operator;
use super::words::{is_identifier, next_identifier};

/// A scalar in words: texts without quotes.
pub(super) fn scalar_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => canonical_json(other),
    }
}

/// Changes a scalar to another one of its kind. There is none for `null`.
pub(super) fn changed_scalar(leaf: &Value) -> Option<(Operator, Value)> {
    match leaf {
        Value::Bool(flag) => Some((Operator::ChangeFlag, json!(!flag))),
        Value::Number(number) => {
            let more = match (number.as_i64(), number.as_u64(), number.as_f64()) {
                (Some(whole), ..) if whole < i64::MAX => json!(whole + 1),
                (_, Some(whole), _) if whole < u64::MAX => json!(whole + 1),
                (.., Some(real)) => json!(real + 1.0),
                _ => return None,
            };
            Some((Operator::ChangeNumber, more))
        }
        Value::String(text) if is_identifier(text) => {
            Some((Operator::ChangeIdentifier, json!(next_identifier(text))))
        }
        Value::String(text) => {
            let more = if text.chars().any(char::is_whitespace) {
                " (changed)"
            } else {
                "x"
            };
            Some((Operator::ChangeText, json!(format!("{text}{more}"))))
        }
        _ => None,
    }
}
