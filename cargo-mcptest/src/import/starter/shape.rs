//! What is asked of the arguments of a call that several runs make.

use std::collections::BTreeSet;

use mcptest::eval::{ArgsShape, Schema};
use serde_json::{Map, Value, json};

use super::arguments::Stays;
use super::writes::Write;

/// The most values of an argument, and combinations of them, that are told apart.
const VARIANTS: usize = 4;

/// What all of some calls have in their arguments: each argument on which they agree; of those that stay and
/// differ, the few combinations that there are.
pub(super) fn shape(calls: &[&Write<'_>]) -> ArgsShape<Schema> {
    let objects: Option<Vec<&Map<String, Value>>> = calls
        .iter()
        .map(|write| write.call.args.as_object())
        .collect();
    let Some(objects) = objects else {
        return ArgsShape::Any;
    };
    let keys: BTreeSet<&String> = objects.iter().flat_map(|args| args.keys()).collect();
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut varied = Vec::new();
    let mut is_open = false;
    for key in keys {
        let values: Vec<&Value> = objects.iter().filter_map(|args| args.get(key)).collect();
        let asked = if values.len() == calls.len() {
            required.push(json!(key));
            values_of(&values, calls.iter().map(|write| write.stays[key]).min())
        } else {
            json!({})
        };
        if asked.get("enum").is_some() {
            varied.push(key);
        } else {
            is_open |= asked.get("const").is_none();
        }
        properties.insert(key.clone(), asked);
    }
    let of_varied = |args: &&Map<String, Value>| -> Map<String, Value> {
        let entries = varied
            .iter()
            .map(|key| ((*key).clone(), args[*key].clone()));
        entries.collect()
    };
    let variants = distinct(objects.iter().map(of_varied));
    let few = variants.len() <= VARIANTS;
    if !is_open && few {
        let whole = distinct(objects.iter().map(|args| Value::Object((*args).clone())));
        return match whole.as_slice() {
            [args] => ArgsShape::Exact(args.clone()),
            all => ArgsShape::Schema(Schema::new(json!({ "enum": all }))),
        };
    }
    let mut schema = json!({ "required": required, "additionalProperties": false });
    if few && varied.len() > 1 {
        // What one run has of one argument does not go with what another has of the next.
        let hold = |variant: &Map<String, Value>| {
            let entries = variant.iter();
            let entries = entries.map(|(key, value)| (key.clone(), json!({ "const": value })));
            json!({ "properties": entries.collect::<Map<_, _>>() })
        };
        schema["anyOf"] = variants.iter().map(hold).collect();
        for key in varied {
            properties[key] = json!({});
        }
    }
    schema["properties"] = properties.into();
    ArgsShape::Schema(Schema::new(schema))
}

/// Each of some values once.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

/// What is asked of an argument that every call has.
fn values_of(values: &[&Value], stays: Option<Stays>) -> Value {
    match (distinct(values.iter()).as_slice(), stays) {
        ([value], Some(Stays::Yes)) => json!({ "const": value }),
        ([value], Some(Stays::IfShared)) if values.len() > 1 => json!({ "const": value }),
        (seen, Some(Stays::Yes)) if seen.len() <= VARIANTS => json!({ "enum": seen }),
        _ => json!({ "type": kind(values) }),
    }
}

/// The type of values, where they have one.
fn kind(values: &[&Value]) -> Value {
    let kind = |value: &Value| match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let kinds: BTreeSet<&str> = values.iter().map(|value| kind(value)).collect();
    match kinds.first() {
        Some(kind) if kinds.len() == 1 => json!(kind),
        _ => json!(kinds),
    }
}
