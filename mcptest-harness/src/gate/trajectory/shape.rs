//! What the arguments of an expected call may be: `args: { subset: { city: Oslo } }`.

use std::sync::Arc;

use mcptest_suite::read::{
    check_needle, check_no_empty_text, did_you_mean, read_schema, read_value,
};
use mcptest_suite::{Diagnostic, Node, NodeValue};
use serde_json::{Value, json};

use super::super::block::Block;
use crate::eval::{ArgsShape, Schema, contains, subset};
use mcptest_trace::text::short_json;

/// What may stand at `args`, for editors.
pub(super) fn schema() -> Value {
    json!({
        "default": "any",
        "anyOf": [
            { "enum": ["any", "ignore"] },
            { "type": "object", "additionalProperties": false, "properties": { "any": { "description": "Any arguments fit." } } },
            { "type": "object", "additionalProperties": false, "properties": { "ignore": { "description": "The arguments are not compared." } } },
            { "type": "object", "additionalProperties": false, "properties": { "exact": { "description": "The arguments equal this value." } }, "required": ["exact"] },
            { "type": "object", "additionalProperties": false, "properties": { "subset": { "description": "The arguments have at least these values. A text must be the whole text. `7` fits the number 7 and the text \"7\"." } }, "required": ["subset"] },
            { "type": "object", "additionalProperties": false, "properties": { "contains": { "description": "The arguments have at least these values, as the matcher `contains` compares them. A text may be a part of the recorded text." } }, "required": ["contains"] },
            { "type": "object", "additionalProperties": false, "properties": { "schema": {
                "description": "A JSON Schema that the arguments must fit. A schema that every value fits is an error. An unknown keyword is an error, and so is a `$ref` that points outside the schema. A numeric bound without `type` demands a number.",
                "type": "object",
                "minProperties": 1
            } }, "required": ["schema"] }
        ]
    })
}

const SHAPES: [&str; 6] = ["any", "ignore", "exact", "subset", "contains", "schema"];

/// Reads the shape at `args`.
pub(super) fn read(block: &mut Block<'_, '_>, node: &Node) -> Option<ArgsShape<Arc<Schema>>> {
    if matches!(node.value, NodeValue::Text(_)) {
        let choices = [("any", false), ("ignore", true)];
        let ignore = block.problems.choice(node, "argument shape", &choices)?;
        return Some(if ignore {
            ArgsShape::Ignore
        } else {
            ArgsShape::Any
        });
    }
    let Some(entries) = node.entries() else {
        block.problems.expected(
            "an argument shape such as `{ subset: { city: Oslo } }`",
            node,
        );
        return None;
    };
    let [entry] = entries else {
        block.problems.push(
            Diagnostic::at(node.span, "an argument shape has one key")
                .help("write e.g. `args: { exact: { city: Oslo } }`"),
        );
        return None;
    };
    let name = entry.key.as_str();
    match name {
        "any" => Some(ArgsShape::Any),
        "ignore" => Some(ArgsShape::Ignore),
        "exact" | "subset" | "contains" | "schema" if entry.value.is_left_out() => {
            let message = format!("`{name}` is left without a value");
            let help = format!("write e.g. `{name}: {{ city: Oslo }}`, or `args: any`");
            block
                .problems
                .push(Diagnostic::at(entry.key_span, message).help(help));
            None
        }
        "exact" => Some(ArgsShape::Exact(read_value(&entry.value, block.problems))),
        "subset" | "contains" => {
            check_needle(name, &entry.value, block.problems);
            check_no_empty_text(name, &entry.value, block.problems);
            let value = read_value(&entry.value, block.problems);
            Some(match name {
                "subset" => ArgsShape::Subset(value),
                _ => ArgsShape::Contains(value),
            })
        }
        "schema" => {
            let schema = read_schema(&entry.value, block.problems)?;
            block
                .compiler
                .compile_schema(&schema)
                .map(ArgsShape::Schema)
        }
        other => {
            let problem =
                Diagnostic::at(entry.key_span, format!("unknown argument shape `{other}`"));
            block.problems.push(
                did_you_mean(problem, other, SHAPES.into_iter(), "shapes")
                    .note("the recorded arguments go below the shape: `args: { exact: { … } }`"),
            );
            None
        }
    }
}

/// What to do where arguments are a subset only if a part of a text is enough.
pub(super) fn part_of_a_text(shape: &ArgsShape<Arc<Schema>>, recorded: &Value) -> Option<String> {
    let ArgsShape::Subset(expected) = shape else {
        return None;
    };
    let by_part = !subset(expected, recorded) && contains(expected, recorded);
    by_part.then(|| {
        format!(
            "    `subset` compares whole values; if a part of the value is enough, write `args: {{ contains: {} }}`",
            short_json(expected)
        )
    })
}
