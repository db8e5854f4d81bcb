//! The Anthropic Messages API: what a request must be, and how an answer looks.

mod answer;
mod messages;
mod threads;

use serde_json::Value;

use crate::{
    api::{Api, ApiError},
    exchange::{Exchange, Turn},
    node::{Node, is_plain_name},
};

pub(crate) use answer::render_body;
use messages::{messages, plain_text};
pub(crate) use threads::Threads;

const FIELDS: &[&str] = &[
    "cache_control",
    "container",
    "context_management",
    "inference_geo",
    "max_tokens",
    "mcp_servers",
    "messages",
    "metadata",
    "model",
    "output_config",
    "output_format",
    "service_tier",
    "stop_sequences",
    "stream",
    "system",
    "temperature",
    "thinking",
    "thread",
    "tool_choice",
    "tools",
    "top_k",
    "top_p",
];

/// Checks a request body.
pub(crate) fn read(body: &Value) -> Result<Exchange, ApiError> {
    let root = Node::root(Api::Anthropic, body);
    root.refuse_unknown(FIELDS)?;
    let model = root.need("model")?.text()?.to_owned();
    root.need("max_tokens")?.positive()?;
    for (key, max) in [("temperature", 1.0), ("top_p", 1.0)] {
        if let Some(number) = root.at(key) {
            number.number_up_to(max)?;
        }
    }
    if let Some(stream) = root.at("stream") {
        stream.flag()?;
    }
    let system = match root.at("system") {
        Some(system) => plain_text(&system)?,
        None => String::new(),
    };
    let tools = tool_names(&root)?;
    check_tool_choice(&root, &tools)?;
    let turns = messages(&root)?;
    let calls = turns.iter().any(|turn| match turn {
        Turn::Assistant { calls, .. } => !calls.is_empty(),
        _ => false,
    });
    if calls && tools.is_empty() {
        return Err(ApiError::invalid(
            "Requests which include `tool_use` or `tool_result` blocks must define tools",
        ));
    }
    Ok(Exchange {
        model,
        system,
        turns,
    })
}

fn tool_names<'a>(root: &Node<'a>) -> Result<Vec<&'a str>, ApiError> {
    let Some(tools) = root.at("tools") else {
        return Ok(Vec::new());
    };
    let mut names = Vec::new();
    for tool in tools.items()? {
        let tool = tool.with_tag("custom");
        tool.fields()?;
        if let Some(kind) = tool.at("type")
            && kind.text()? != "custom"
        {
            return Err(kind.error("Input should be 'custom'"));
        }
        let name = checked_name(&tool.need("name")?)?;
        if let Some(description) = tool.at("description") {
            description.text()?;
        }
        let schema = tool.need("input_schema")?;
        let kind = schema.need("type")?;
        if kind.value() != "object" {
            return Err(kind.error("Input should be 'object'"));
        }
        if names.contains(&name) {
            return Err(ApiError::invalid("tools: Tool names must be unique."));
        }
        names.push(name);
    }
    Ok(names)
}

fn check_tool_choice(root: &Node<'_>, tools: &[&str]) -> Result<(), ApiError> {
    let Some(choice) = root.at("tool_choice") else {
        return Ok(());
    };
    if tools.is_empty() {
        return Err(choice.error("may only be specified while providing tools"));
    }
    match choice.need("type")?.text()? {
        "auto" | "any" | "none" => Ok(()),
        "tool" => {
            let name = choice.need("name")?.text()?;
            if tools.contains(&name) {
                return Ok(());
            }
            Err(ApiError::invalid(format!(
                "Tool '{name}' not found in provided tools"
            )))
        }
        other => Err(choice.error(format!(
            "Input tag '{other}' found using 'type' does not match any of the expected tags: \
             'auto', 'any', 'tool', 'none'"
        ))),
    }
}

fn checked_name<'a>(name: &Node<'a>) -> Result<&'a str, ApiError> {
    let text = name.text()?;
    if is_plain_name(text, 128) {
        return Ok(text);
    }
    Err(name.error("String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"))
}
