//! Schemas that every value is valid against, or none: no recording can decide them, so they are
//! mistakes of the suite.

use std::slice;

use super::references::Schemas;
use crate::load::problems::Problems;
use crate::{Diagnostic, Entry, Node, NodeValue};

/// How many references are followed one after the other.
const MOST_REFERENCES: usize = 64;

/// What a value can be, and how all of a kind are called. A whole number is a number.
const TYPES: [(&str, &str); 6] = [
    ("string", "every text"),
    ("number", "every number"),
    ("boolean", "every boolean"),
    ("object", "every object"),
    ("array", "every list"),
    ("null", "nothing"),
];

/// Keywords of a JSON Schema that ask nothing of a value by themselves.
const ASK_NOTHING: &str = "$anchor $comment $defs $dynamicAnchor $id $schema $vocabulary default definitions \
    deprecated description examples id contentEncoding contentSchema readOnly title \
    writeOnly contentMediaType";

/// Notes a schema that every value, or none, is valid against, or every value of the type that its
/// keywords are about.
pub(super) fn check(node: &Node, problems: &mut Problems) {
    let meant = resolve_references(node);
    if asks_nothing(meant) {
        problems.push(
            Diagnostic::at(node.span, "every value is valid against this schema")
                .note("every run gets the same verdict here, so nothing is tested")
                .help("say what must be there, e.g. `{ type: string, minLength: 1 }`, or leave it out"),
        );
    } else if fits_nothing(meant) {
        problems.push(
            Diagnostic::at(node.span, "no value is valid against this schema")
                .note("every run gets the same verdict here, so nothing is tested")
                .help("say what must be there, e.g. `{ type: string, minLength: 1 }`"),
        );
    } else if let Some(kind) = asks_a_type_alone(meant) {
        let message = format!("{} is valid against this schema", kind.every);
        problems.push(
            Diagnostic::at(node.span, message)
                .note("every run gets the same verdict here, so nothing is tested")
                .help(format!(
                    "ask for more, or write `type: {}` if only the type matters",
                    kind.name
                )),
        );
    }
}

/// Whether a schema asks nothing but what stands at one of its keywords.
#[must_use]
pub fn asks_only(schema: &Node, keyword: &str) -> bool {
    let entries = schema.entries().unwrap_or_default();
    entries
        .iter()
        .all(|entry| entry.key == keyword || entry_asks_nothing(schema, entry))
}

/// Follows references that stand alone in their schemas, and returns the schema at the end of the chain.
fn resolve_references(root: &Node) -> &Node {
    let mut schemas = Schemas::from_root(root);
    let (mut node, mut steps) = (root, MOST_REFERENCES);
    while steps > 0 && asks_only(node, "$ref") {
        let Some(next) = schemas.references_from(node).next() else {
            break;
        };
        (node, steps) = (next, steps - 1);
    }
    node
}

fn asks_nothing(node: &Node) -> bool {
    let Some(entries) = node.entries() else {
        return node.value == NodeValue::Bool(true);
    };
    entries.iter().all(|entry| entry_asks_nothing(node, entry))
}

/// Whether a keyword asks nothing of a value of any type, and implies no type.
fn entry_asks_nothing(schema: &Node, entry: &Entry) -> bool {
    let (value, items) = (&entry.value, entry.value.items().unwrap_or_default());
    match entry.key.as_str() {
        "if" => ["then", "else"]
            .into_iter()
            .filter_map(|key| schema.get(key))
            .all(asks_nothing),
        "then" | "else" => asks_nothing(value),
        "type" => is_every_type(items.iter()),
        "allOf" => items.iter().all(asks_nothing),
        "anyOf" => {
            let alone = items.iter().filter(|item| asks_only(item, "type"));
            let types = alone.filter_map(|item| item.get("type"));
            items.iter().any(asks_nothing)
                || is_every_type(
                    types.flat_map(|types| types.items().unwrap_or(slice::from_ref(types))),
                )
        }
        "oneOf" => {
            let certain = items.iter().filter(|item| asks_nothing(item)).count();
            let never = items.iter().filter(|item| fits_nothing(item)).count();
            certain == 1 && never + 1 == items.len()
        }
        "not" => fits_nothing(value),
        key => ASK_NOTHING.split(' ').any(|keyword| keyword == key),
    }
}

fn is_every_type<'n>(named: impl Iterator<Item = &'n Node>) -> bool {
    let named: Vec<&str> = named.filter_map(Node::text).collect();
    TYPES.iter().all(|(name, _)| named.contains(name))
}

/// A type that keywords are about.
struct Kind {
    name: &'static str,
    every: &'static str,
}

/// The type that is all a schema asks, since it has keywords about it which ask nothing.
fn asks_a_type_alone(schema: &Node) -> Option<Kind> {
    let mut about = None;
    for entry in schema.entries()? {
        let (value, items) = (&entry.value, entry.value.items().unwrap_or_default());
        let none = value.entries().is_some_and(<[_]>::is_empty);
        let zero = value.number() == Some(0.0);
        let named = value.entries().unwrap_or_default();
        let (name, asks) = match entry.key.as_str() {
            "minLength" => ("string", !zero),
            "minItems" | "minContains" => ("array", !zero),
            "contains" => {
                let least = schema.get("minContains").and_then(Node::text);
                (
                    "array",
                    least != Some("0") || schema.get("maxContains").is_some(),
                )
            }
            "uniqueItems" => ("array", value.value != NodeValue::Bool(false)),
            "items" | "additionalItems" | "unevaluatedItems" => ("array", !asks_nothing(value)),
            "prefixItems" => ("array", !items.iter().all(asks_nothing)),
            "minProperties" => ("object", !zero),
            "required" => ("object", !items.is_empty()),
            "properties" | "patternProperties" | "dependentSchemas" => (
                "object",
                !named.iter().all(|entry| asks_nothing(&entry.value)),
            ),
            "dependentRequired" | "dependencies" => ("object", !none),
            "additionalProperties" | "unevaluatedProperties" | "propertyNames" => {
                ("object", !asks_nothing(value))
            }
            _ if entry_asks_nothing(schema, entry) => continue,
            _ => return None,
        };
        if asks || about.is_some_and(|about| about != name) {
            return None;
        }
        about = Some(name);
    }
    let (name, every) = *TYPES.iter().find(|(name, _)| about == Some(name))?;
    Some(Kind { name, every })
}

fn fits_nothing(node: &Node) -> bool {
    let Some(entries) = node.entries() else {
        return node.value == NodeValue::Bool(false);
    };
    entries.iter().any(|entry| match entry.key.as_str() {
        "allOf" => entry
            .value
            .items()
            .unwrap_or_default()
            .iter()
            .any(fits_nothing),
        "not" => asks_nothing(&entry.value),
        _ => false,
    })
}
