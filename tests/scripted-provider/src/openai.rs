//! `OpenAI` Chat Completions: what a request must be, and how an answer looks.

mod answer;
mod messages;

use serde_json::Value;

use crate::{
    api::{Api, ApiError},
    exchange::Exchange,
    node::{Node, is_plain_name},
};

pub(crate) use answer::render_body;
use messages::messages;

const FIELDS: &[&str] = &[
    "audio",
    "frequency_penalty",
    "function_call",
    "functions",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "metadata",
    "modalities",
    "model",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_retention",
    "reasoning_effort",
    "response_format",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "user",
    "verbosity",
    "web_search_options",
];

/// Checks a request body.
pub(crate) fn read(body: &Value) -> Result<Exchange, ApiError> {
    let root = Node::root(Api::OpenAi, body);
    root.refuse_unknown(FIELDS)?;
    let model = root.need("model")?.text()?.to_owned();
    check_limits(&root)?;
    let tools = tool_names(&root)?;
    check_tool_choice(&root, &tools)?;
    let mut exchange = messages(&root)?;
    exchange.model = model;
    Ok(exchange)
}

/// A flag of the request, where it is there.
fn body_flag(root: &Node<'_>, key: &str) -> Option<bool> {
    root.value().get(key)?.as_bool()
}

fn check_limits(root: &Node<'_>) -> Result<(), ApiError> {
    for key in ["max_tokens", "max_completion_tokens"] {
        if let Some(limit) = root.at(key) {
            limit.positive()?;
        }
    }
    if let (Some(old), Some(_)) = (root.at("max_tokens"), root.at("max_completion_tokens")) {
        return Err(old.error(
            "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
        ));
    }
    for (key, max) in [("temperature", 2.0), ("top_p", 1.0)] {
        if let Some(number) = root.at(key) {
            number.number_up_to(max)?;
        }
    }
    if let Some(stream) = root.at("stream") {
        stream.flag()?;
    }
    if let Some(options) = root.at("stream_options")
        && body_flag(root, "stream") != Some(true)
    {
        return Err(options
            .error("The 'stream_options' parameter is only allowed when 'stream' is enabled."));
    }
    if let Some(choices) = root.at("n")
        && choices.positive()? > 1
    {
        return Err(choices.error("The scripted provider gives one choice."));
    }
    Ok(())
}

fn tool_names<'a>(root: &Node<'a>) -> Result<Vec<&'a str>, ApiError> {
    let Some(tools) = root.at("tools") else {
        return Ok(Vec::new());
    };
    let mut names = Vec::new();
    for tool in tools.some_items()? {
        check_kind(&tool)?;
        let function = tool.need("function")?;
        let name = checked_name(&function.need("name")?)?;
        if let Some(description) = function.at("description") {
            description.text()?;
        }
        if let Some(parameters) = function.at("parameters") {
            let fields = parameters.fields()?;
            let kind = fields.get("type").and_then(Value::as_str).unwrap_or("None");
            if kind != "object" {
                return Err(parameters
                    .error(format!(
                        "Invalid schema for function '{name}': schema must be a JSON Schema of \
                         'type: \"object\"', got 'type: \"{kind}\"'."
                    ))
                    .with_code("invalid_function_parameters"));
            }
        }
        names.push(name);
    }
    Ok(names)
}

fn check_tool_choice(root: &Node<'_>, tools: &[&str]) -> Result<(), ApiError> {
    for key in ["tool_choice", "parallel_tool_calls"] {
        if let Some(field) = root.at(key).filter(|_| tools.is_empty()) {
            return Err(field.error(format!(
                "Invalid value for '{key}': '{key}' is only allowed when 'tools' are specified."
            )));
        }
    }
    let Some(choice) = root.at("tool_choice") else {
        return Ok(());
    };
    if let Value::String(mode) = choice.value() {
        return match mode.as_str() {
            "none" | "auto" | "required" => Ok(()),
            other => Err(invalid_value(
                &choice,
                other,
                "'none', 'auto', and 'required'",
            )),
        };
    }
    check_kind(&choice)?;
    let name = choice.need("function")?.need("name")?;
    if tools.contains(&name.text()?) {
        return Ok(());
    }
    Err(choice.error(format!(
        "Invalid value for 'tool_choice': the function '{}' is not in 'tools'.",
        name.text()?
    )))
}

/// Tools and tool calls must have the type `function`.
fn check_kind(node: &Node<'_>) -> Result<(), ApiError> {
    let kind = node.need("type")?;
    match kind.text()? {
        "function" => Ok(()),
        other => Err(invalid_value(&kind, other, "'function'")),
    }
}

fn checked_name<'a>(name: &Node<'a>) -> Result<&'a str, ApiError> {
    let text = name.text()?;
    if is_plain_name(text, 64) {
        return Ok(text);
    }
    let path = name.path();
    Err(if is_plain_name(text, usize::MAX) {
        too_long(name, 64, text.len())
    } else {
        name.error(format!(
            "Invalid '{path}': string does not match pattern. Expected a string that matches the \
             pattern '^[a-zA-Z0-9_-]+$'."
        ))
        .with_code("invalid_value")
    })
}

fn too_long(node: &Node<'_>, max: usize, length: usize) -> ApiError {
    node.error(format!(
        "Invalid '{}': string too long. Expected a string with maximum length {max}, but got a \
         string with length {length} instead.",
        node.path()
    ))
    .with_code("string_above_max_length")
}

fn invalid_value(node: &Node<'_>, value: &str, supported: &str) -> ApiError {
    node.error(format!(
        "Invalid value: '{value}'. Supported values are: {supported}."
    ))
    .with_code("invalid_value")
}
