//! JSON Schemas in suites: known keywords, no references outside, bounds that mean numbers.

use serde_json::{Value, json};

use super::fields::{Fields, Problems};
use crate::model::JsonSchema;
use crate::{Diagnostic, Node, NodeValue};

/// Keywords whose value is one schema.
const ONE: [&str; 12] = [
    "items",
    "additionalItems",
    "contains",
    "additionalProperties",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
];
/// Keywords whose value is a list of schemas.
const LIST: [&str; 5] = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
/// Keywords whose value maps names to schemas.
const NAMED: [&str; 6] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
    "dependencies",
];
/// Keywords whose value is no schema.
const PLAIN: [&str; 35] = [
    "type",
    "enum",
    "const",
    "default",
    "examples",
    "title",
    "description",
    "format",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minContains",
    "maxContains",
    "minProperties",
    "maxProperties",
    "required",
    "dependentRequired",
    "$schema",
    "$id",
    "id",
    "$ref",
    "$anchor",
    "$comment",
    "deprecated",
    "readOnly",
    "writeOnly",
    "contentEncoding",
];
const ALSO_PLAIN: [&str; 4] = [
    "contentMediaType",
    "$vocabulary",
    "$dynamicRef",
    "$dynamicAnchor",
];
const BOUNDS: [&str; 5] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
];

/// Reads a schema; what only compiling can tell is left to where schemas are compiled.
pub(crate) fn read(node: &Node, problems: &mut Problems) -> Option<JsonSchema> {
    let before = problems.0.len();
    check(node, problems);
    let mut value = node.to_json();
    imply_numbers(&mut value);
    (problems.0.len() == before).then(|| JsonSchema {
        value,
        node: node.clone(),
    })
}

fn keywords() -> impl Iterator<Item = &'static str> + Clone {
    PLAIN
        .into_iter()
        .chain(ALSO_PLAIN)
        .chain(ONE)
        .chain(LIST)
        .chain(NAMED)
}

fn check(node: &Node, problems: &mut Problems) {
    let entries = match &node.value {
        NodeValue::Map(entries) => entries,
        NodeValue::Bool(_) => return,
        _ => return problems.expected("a JSON Schema (a mapping or a boolean)", node),
    };
    for entry in entries {
        let key = entry.key.as_str();
        if !keywords().any(|keyword| keyword == key) {
            let message = format!("unknown JSON Schema keyword `{key}`");
            let problem = Diagnostic::at(entry.key_span, message)
                .note("JSON Schema ignores what it does not know, so this would pass without being checked");
            problems.push(match crate::nearest(key, keywords()) {
                Some(near) => problem.help(format!("did you mean `{near}`?")),
                None => problem.help("remove it, or put it under `$comment`"),
            });
        }
        if key == "$ref" || key == "$dynamicRef" {
            check_reference(&entry.value, problems);
        }
        let list = entry.value.items().filter(|_| LIST.contains(&key));
        for item in list.unwrap_or_default() {
            check(item, problems);
        }
        if ONE.contains(&key) && list.is_none() {
            check(&entry.value, problems);
        }
        if NAMED.contains(&key) {
            let named = entry.value.entries().unwrap_or_default();
            // `dependencies` may also map a name to a list of names.
            for entry in named.iter().filter(|entry| entry.value.items().is_none()) {
                check(&entry.value, problems);
            }
        }
    }
}

fn check_reference(node: &Node, problems: &mut Problems) {
    if node.text().is_some_and(|text| !text.starts_with('#')) {
        problems.push(
            Diagnostic::at(node.span, "a `$ref` may only point inside its own schema")
                .note("replaying reads no other file and no network")
                .help("copy the definition under `$defs` and refer to it as `#/$defs/name`"),
        );
    }
}

/// Adds `type: number` where a numeric bound stands without anything that says what the value is.
fn imply_numbers(value: &mut Value) {
    let Value::Object(schema) = value else { return };
    let bounded = BOUNDS.iter().any(|bound| schema.contains_key(*bound));
    let typed = ["type", "enum", "const", "$ref"]
        .iter()
        .any(|key| schema.contains_key(*key));
    if bounded && !typed {
        schema.insert("type".to_owned(), json!("number"));
    }
    for (key, value) in schema.iter_mut() {
        let key = key.as_str();
        match value {
            Value::Array(items) if LIST.contains(&key) => items.iter_mut().for_each(imply_numbers),
            Value::Object(named) if NAMED.contains(&key) => {
                named.values_mut().for_each(imply_numbers);
            }
            value if ONE.contains(&key) => imply_numbers(value),
            _ => {}
        }
    }
}

/// Reads the options of `is-json` and `is-valid-tools-call`.
pub(crate) fn read_optional(
    node: &Node,
    owner: &'static str,
    problems: &mut Problems,
) -> Option<Option<JsonSchema>> {
    if matches!(node.value, NodeValue::Null | NodeValue::Bool(true)) {
        return Some(None);
    }
    let mut fields = Fields::open(node, owner, problems)?;
    let schema = fields.get("schema");
    fields.finish(problems);
    match schema {
        None => Some(None),
        Some(node) => read(node, problems).map(Some),
    }
}
