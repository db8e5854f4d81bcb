//! A tool in a line that people can compare.

use mcptest_trace::record::fingerprint;
use serde_json::{Map, Value};

use crate::trace::canonical_json;

/// A tool that a model is offered: its arguments, the optional ones marked, and a fingerprint of all the rest.
pub(crate) fn tool_line(server: &str, name: &str, description: &str, schema: &Value) -> String {
    let empty = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&empty);
    let required = |name: &str| {
        let names = schema["required"].as_array();
        names.is_some_and(|names| names.iter().any(|required| required == name))
    };
    let mut arguments: Vec<String> = properties
        .iter()
        .map(|(name, schema)| {
            let mark = if required(name) { "" } else { "?" };
            match schema["type"].as_str() {
                Some(kind) => format!("{name}{mark}: {kind}"),
                None => format!("{name}{mark}"),
            }
        })
        .collect();
    arguments.sort();
    let rest = fingerprint(&format!("{description}\n{}", canonical_json(schema)));
    let arguments = arguments.join(", ");
    format!("{server}::{name}({arguments}) #{}", &rest[..8])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tool_is_a_line_with_its_arguments() {
        let schema = json!({
            "type": "object",
            "properties": { "order": { "type": "string" }, "cents": { "type": "integer" }, "why": {} },
            "required": ["order", "cents"],
        });
        insta::assert_snapshot!(
            tool_line("desk", "refund", "Pays back.", &schema),
            @"desk::refund(cents: integer, order: string, why?) #a3c31e1c"
        );
    }
}
