//! Arguments and results, as recordings have them.

use serde_json::{Value, json};

use crate::event::Answer;
use crate::input::{Change, Parsed, parse};
use crate::json::parse_flag;
use crate::mapping::Mapping;

/// Arguments: JSON in a text is the object that it is; nothing is the empty object. What was read otherwise
/// than it is written is added to the changes.
pub(crate) fn normalize_args(args: Value, changes: &mut Vec<Change>) -> Value {
    match args {
        Value::Null => json!({}),
        Value::String(text) if text.trim().is_empty() => json!({}),
        Value::String(text) => match parse(text.as_bytes()) {
            Ok(Parsed {
                value: Value::Object(map),
                changes: more,
            }) => {
                changes.extend(more);
                Value::Object(map)
            }
            _ => Value::String(text),
        },
        other => other,
    }
}

/// Whether a result is an error, where something says so. The result's own flag is set right.
pub(super) fn is_error(
    answer: &Answer,
    value: &mut Value,
    is_mcp: bool,
    mapping: &Mapping,
) -> Option<bool> {
    let own = value.get("isError").and_then(parse_flag);
    let matched = || {
        let pattern = mapping.error_if.as_ref();
        pattern.is_some_and(|pattern| texts(value).iter().any(|text| pattern.is_match(text)))
    };
    if answer.is_error == Some(true) || own == Some(true) || matched() {
        if own == Some(false) {
            value["isError"] = true.into();
        }
        return Some(true);
    }
    (answer.is_error.is_some() || is_mcp).then_some(false)
}

/// The texts of a result: those of its blocks, else what it is as JSON.
fn texts(value: &Value) -> Vec<String> {
    match value["content"].as_array() {
        Some(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.map(str::to_owned).collect()
        }
        None => vec![mcptest_trace::trace::canonical_json(value)],
    }
}
