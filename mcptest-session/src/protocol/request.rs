//! What the wire formats read of a request in the same way.

use mcptest_trace::record::redact::percent_decoded;
use serde_json::{Map, Value};

use crate::exchange::Tool;
use crate::json::{non_null, nonempty_string, text};

/// What an object says besides what is read of it.
pub(super) fn parameters(body: &Value, read: &[&str]) -> Map<String, Value> {
    let fields = body.as_object().into_iter().flatten();
    let rest = fields.filter(|(key, value)| !read.contains(&key.as_str()) && !value.is_null());
    rest.map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// A tool as `OpenAI` has it, also as functions were offered before there were tools.
pub(super) fn tool(tool: &Value) -> Option<Tool> {
    let function = non_null(tool, "function").or_else(|| non_null(tool, "custom"));
    let function = function.unwrap_or(tool);
    let name = text(function, "name").or_else(|| text(tool, "type"))?;
    Some(Tool {
        name: name.to_owned(),
        description: nonempty_string(function, "description"),
        schema: non_null(function, "parameters").cloned(),
        strict: function.get("strict").and_then(Value::as_bool),
    })
}

/// Whether a path ends with these segments.
pub(super) fn ends_with(path: &str, end: &str) -> bool {
    path.trim_end_matches('/')
        .strip_suffix(end)
        .is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// The deployment that a path of Azure names.
pub(super) fn deployment(path: &str) -> Option<String> {
    let (_, rest) = path.split_once("/deployments/")?;
    let name = rest.split('/').next().filter(|name| !name.is_empty())?;
    Some(percent_decoded(name))
}
