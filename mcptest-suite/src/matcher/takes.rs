//! What matchers take, as JSON Schemas for editors.

use serde_json::{Value, json};

/// A text, or a number that is taken as it is written.
pub(super) fn text() -> Value {
    json!({ "type": ["string", "number"] })
}

/// A text with something in it.
pub(super) fn some_text() -> Value {
    json!({ "type": ["string", "number"], "minLength": 1 })
}

/// A number, or a variable in its place.
pub(super) fn number() -> Value {
    json!({ "anyOf": [{ "type": "number" }, variable()] })
}

/// A whole number from 0, or a variable in its place.
pub(super) fn count() -> Value {
    json!({ "anyOf": [{ "type": "integer", "minimum": 0 }, variable()] })
}

fn variable() -> Value {
    json!({ "type": "string", "pattern": "\\$\\{" })
}

/// Something that a value can be without: not nothing, and nothing empty.
pub(super) fn needle() -> Value {
    json!({ "not": { "enum": [null, "", [], {}] } })
}

/// A list with something in it.
pub(super) fn list_of(item: &Value) -> Value {
    json!({ "type": "array", "minItems": 1, "items": item })
}

/// A matcher.
pub(super) fn matcher() -> Value {
    json!({ "$ref": "#/$defs/matcher" })
}

/// A JSON Schema.
pub(super) fn json_schema() -> Value {
    json!({ "type": "object", "minProperties": 1 })
}
