//! The scalars of a call's arguments, and another one of each kind.

use crate::trace::canonical_json;
use serde_json::{Value, json};

use super::operator::Operator;
use super::words::{is_identifier, next_identifier};

/// A key or an index.
#[derive(Clone, Copy)]
pub(super) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// The keys of an object by byte.
pub(super) fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value
        .as_object()
        .map(|map| map.keys().map(String::as_str).collect())
        .unwrap_or_default();
    keys.sort_unstable();
    keys
}

/// The scalars of a value with their paths: keys by byte, arrays by index.
pub(super) fn leaves(value: &Value) -> Vec<(Vec<Step<'_>>, &Value)> {
    fn walk<'a>(
        value: &'a Value,
        path: &mut Vec<Step<'a>>,
        found: &mut Vec<(Vec<Step<'a>>, &'a Value)>,
    ) {
        match value {
            Value::Object(map) => {
                for key in keys(value) {
                    if let Some(item) = map.get(key) {
                        path.push(Step::Key(key));
                        walk(item, path, found);
                        path.pop();
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    path.push(Step::Index(index));
                    walk(item, path, found);
                    path.pop();
                }
            }
            scalar => found.push((path.clone(), scalar)),
        }
    }
    let mut found = Vec::new();
    walk(value, &mut Vec::new(), &mut found);
    found
}

pub(super) fn at<'v>(value: &'v mut Value, path: &[Step<'_>]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get_mut(*key),
        Step::Index(index) => value.get_mut(*index),
    })
}

pub(super) fn shown(path: &[Step<'_>]) -> String {
    let steps = path.iter().map(|step| match step {
        Step::Key(key) => format!(".{key}"),
        Step::Index(index) => format!("[{index}]"),
    });
    format!("args{} ", steps.collect::<String>())
}

/// A scalar in words: texts without quotes.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => canonical_json(other),
    }
}

/// Another scalar of its kind; there is none of `null`.
pub(super) fn changed(leaf: &Value) -> Option<(Operator, Value)> {
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
