//! The text of a content: of a message, of a block, of a part.

use serde_json::Value;

use super::blob;
use crate::json::text;

/// The text of a content: a text, or the texts of its parts one after another.
#[must_use]
pub fn text_of(content: Option<&Value>) -> String {
    match content {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().map(part).collect(),
        Some(other) => part(other),
    }
}

fn part(part: &Value) -> String {
    let kinds = ["text", "refusal", "output_text", "input_text", "content"];
    let said = || kinds.iter().find_map(|key| text(part, key));
    match part {
        Value::String(text) => text.clone(),
        _ => said().map_or_else(|| blob::words(part), str::to_owned),
    }
}
