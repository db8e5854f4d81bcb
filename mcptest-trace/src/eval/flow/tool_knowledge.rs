//! What the agent knows from its tools: their names, and the values that their schemas list for an argument.

use std::collections::HashSet;

use serde_json::Value;

use super::super::tool_pattern::ToolPattern;
use super::super::values;
use super::FlowContext;
use super::entry::{CheckedArgument, scalar_text};
use crate::trace::Trace;

/// How far a schema is followed.
const DEEPEST: usize = 16;

/// The names of tools, and their schemas.
pub(super) struct ToolKnowledge<'a> {
    names: HashSet<u64>,
    told: &'a FlowContext<'a>,
}

impl<'a> ToolKnowledge<'a> {
    pub(super) fn new(trace: &Trace, told: &'a FlowContext<'a>) -> Self {
        let called = trace.tool_calls.iter().map(|call| call.name.as_str());
        let offered = told.schemas.iter().map(|(tool, _)| *tool);
        let names: HashSet<&str> = called.chain(offered).collect();
        Self {
            names: names.into_iter().flat_map(values::name_keys).collect(),
            told,
        }
    }

    /// Whether a value is the name of a tool.
    pub(super) fn is_tool_name(&self, key: u64) -> bool {
        self.names.contains(&key)
    }

    /// Whether the schema of its tool lists the text of an argument.
    pub(super) fn schema_lists(&self, tool: &str, looked_at: &CheckedArgument<'_>) -> bool {
        let is_of = |name: &str| ToolPattern::new(name).matches_tool_of(tool, &self.told.servers);
        let mut schemas = self.told.schemas.iter().filter(|(name, _)| is_of(name));
        schemas.any(|(_, schema)| {
            let lists =
                |listed: &Value| scalar_text(listed).is_some_and(|text| text == looked_at.text);
            let steps: Vec<&str> = looked_at.object_keys().collect();
            is_listed(schema, schema, &steps, DEEPEST, &lists)
        })
    }
}

/// Whether a schema lists a value of the property that these steps lead to.
fn is_listed(
    root: &Value,
    schema: &Value,
    steps: &[&str],
    depth: usize,
    lists: &dyn Fn(&Value) -> bool,
) -> bool {
    let Some(depth) = depth.checked_sub(1) else {
        return false;
    };
    let go = |schema: &Value, steps: &[&str]| is_listed(root, schema, steps, depth, lists);
    let each = |key: &str| schema[key].as_array().into_iter().flatten();
    let here = match steps {
        [] => {
            let listed = [&schema["const"], &schema["default"]];
            each("enum")
                .chain(each("examples"))
                .chain(listed)
                .any(lists)
        }
        [step, rest @ ..] => go(&schema["properties"][*step], rest),
    };
    let pointer = schema["$ref"].as_str().and_then(|at| at.strip_prefix('#'));
    let referred = pointer.and_then(|at| root.pointer(at));
    let others = ["anyOf", "oneOf", "allOf", "prefixItems"]
        .into_iter()
        .flat_map(each);
    // Places in lists are no steps.
    let items = Some(&schema["items"]).filter(|items| items.is_object());
    here || items.is_some_and(|items| go(items, steps))
        || referred.is_some_and(|schema| go(schema, steps))
        || others.into_iter().any(|schema| go(schema, steps))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_lists_values_wherever_they_stand_in_it() {
        let schema = json!({
            "$defs": { "level": { "enum": ["low", "urgent_one"] }, "loop": { "$ref": "#/$defs/loop" } },
            "properties": {
                "plain": { "enum": ["open_now"] },
                "either": { "anyOf": [{ "const": 7 }, { "type": "null" }] },
                "list": { "items": { "properties": { "level": { "$ref": "#/$defs/level" } } } },
                "usual": { "type": "string", "default": "en_1" },
                "round": { "$ref": "#/$defs/loop" },
            },
        });
        let lists = |path: &str, value: Value| {
            let steps: Vec<&str> = path.split('.').collect();
            is_listed(&schema, &schema, &steps, DEEPEST, &|listed| {
                *listed == value
            })
        };
        assert!(lists("plain", json!("open_now")) && lists("either", json!(7)));
        assert!(lists("list.level", json!("urgent_one")) && lists("usual", json!("en_1")));
        assert!(!lists("plain", json!("closed")) && !lists("level", json!("low")));
        assert!(!lists("round", json!("low")) && !lists("plain.more", json!("open_now")));
    }
}
