//! Where two JSON values part, place by place.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::trace::json_eq;

/// One place where the recorded value is not what was expected.
///
/// Shared by everything that compares expected with recorded arguments. Paths are written as
/// assertion targets are: dots, `[n]`, and `["a.b"]` for a key that is not a plain word.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ArgDiff {
    /// The place, from the root of the compared values; empty for the root itself.
    pub path: String,
    /// What was expected there; `None` when nothing was. A schema check puts the violated keyword
    /// here, e.g. `{"type": "number"}`.
    pub expected: Option<Value>,
    /// What was recorded there; `None` when nothing was.
    pub recorded: Option<Value>,
}

impl ArgDiff {
    /// A difference at a place: what was expected and what was recorded there, where there was something.
    pub fn new(path: impl Into<String>, expected: Option<Value>, recorded: Option<Value>) -> Self {
        Self {
            path: path.into(),
            expected,
            recorded,
        }
    }

    /// Puts `prefix` before the path: the difference is then one of the value that holds the compared one there.
    #[must_use]
    pub fn prefixed(mut self, prefix: &str) -> Self {
        let joint = if self.path.is_empty() || self.path.starts_with('[') {
            ""
        } else {
            "."
        };
        self.path = format!("{prefix}{joint}{}", self.path);
        self
    }
}

impl fmt::Display for ArgDiff {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(formatter, "`{}`: ", self.path)?;
        }
        match (&self.expected, &self.recorded) {
            (Some(expected), Some(recorded)) => {
                write!(formatter, "expected {expected}, recorded {recorded}")
            }
            (Some(expected), None) => write!(formatter, "expected {expected}, recorded nothing"),
            (None, Some(recorded)) => write!(formatter, "expected nothing, recorded {recorded}"),
            (None, None) => formatter.write_str("differs"),
        }
    }
}

/// Every place where two values differ; empty exactly when they are equal by value (`1` equals
/// `1.0`, as in [`json_eq`]).
///
/// ```
/// use mcptest_trace::eval::exact_diffs;
/// use serde_json::json;
///
/// let diffs = exact_diffs(&json!({ "city": "Davis", "days": 3 }), &json!({ "city": "Dixon", "days": 3.0 }));
/// assert_eq!(diffs.len(), 1);
/// assert_eq!(diffs[0].to_string(), r#"`city`: expected "Davis", recorded "Dixon""#);
/// ```
#[must_use]
pub fn exact_diffs(expected: &Value, recorded: &Value) -> Vec<ArgDiff> {
    let mut diffs = Vec::new();
    collect_exact("", expected, recorded, &mut diffs);
    diffs
}

fn collect_exact(path: &str, expected: &Value, recorded: &Value, diffs: &mut Vec<ArgDiff>) {
    match (expected, recorded) {
        (Value::Object(wanted), Value::Object(found)) => {
            for (key, value) in wanted {
                match found.get(key) {
                    Some(other) => collect_exact(&key_path(path, key), value, other, diffs),
                    None => diffs.push(diff(key_path(path, key), Some(value), None)),
                }
            }
            for (key, value) in found.iter().filter(|(key, _)| !wanted.contains_key(*key)) {
                diffs.push(diff(key_path(path, key), None, Some(value)));
            }
        }
        (Value::Array(wanted), Value::Array(found)) => {
            for index in 0..wanted.len().max(found.len()) {
                let place = format!("{path}[{index}]");
                match (wanted.get(index), found.get(index)) {
                    (Some(value), Some(other)) => collect_exact(&place, value, other, diffs),
                    (value, other) => diffs.push(diff(place, value, other)),
                }
            }
        }
        _ if json_eq(expected, recorded) => {}
        _ => diffs.push(diff(path.to_owned(), Some(expected), Some(recorded))),
    }
}

pub(super) fn diff(path: String, expected: Option<&Value>, recorded: Option<&Value>) -> ArgDiff {
    ArgDiff {
        path,
        expected: expected.cloned(),
        recorded: recorded.cloned(),
    }
}

/// The path of `key` in the object at `path`.
pub(super) fn key_path(path: &str, key: &str) -> String {
    let plain = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-');
    if key.is_empty() || !key.chars().all(plain) {
        format!("{path}[{}]", Value::from(key))
    } else if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn paths(expected: &Value, recorded: &Value) -> Vec<String> {
        let diffs = exact_diffs(expected, recorded);
        diffs.into_iter().map(|diff| diff.path).collect()
    }

    #[test]
    fn every_differing_place_is_named_once() {
        let expected = json!({ "a": { "b": [1, 2, 3] }, "gone": true, "same": null });
        let recorded = json!({ "a": { "b": [1, 9] }, "same": null, "new.key": 1 });
        assert_eq!(
            paths(&expected, &recorded),
            ["a.b[1]", "a.b[2]", "gone", r#"["new.key"]"#]
        );
    }

    #[test]
    fn a_difference_at_the_root_has_an_empty_path_and_can_be_moved_below_a_name() {
        let diff = exact_diffs(&json!({}), &Value::Null).remove(0);
        assert_eq!(diff.path, "");
        assert_eq!(diff.clone().prefixed("args").path, "args");
        assert_eq!(
            exact_diffs(&json!([1]), &json!([2]))
                .remove(0)
                .prefixed("args")
                .path,
            "args[0]"
        );
    }

    #[test]
    fn an_object_does_not_equal_a_list() {
        assert_eq!(paths(&json!({ "a": {} }), &json!({ "a": [] })), ["a"]);
    }
}
