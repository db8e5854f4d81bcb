//! The messages of a request: their roles, and that every call is answered.

use serde_json::Value;

use crate::{
    api::ApiError,
    exchange::{Exchange, PastCall, Turn},
    node::Node,
    openai::{check_kind, checked_name, invalid_value, too_long},
};

const ROLES: &str = "'system', 'assistant', 'user', 'function', 'tool', and 'developer'";

/// Checks the messages of a request.
pub(super) fn messages(root: &Node<'_>) -> Result<Exchange, ApiError> {
    let messages = root.need("messages")?;
    let mut exchange = Exchange::default();
    // The ids of the latest calls, and those that no tool message answered.
    let (mut called, mut open): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for message in messages.some_items()? {
        let role = message.need("role")?;
        if role.text()? != "tool" {
            check_answered(&messages, &open)?;
            called.clear();
        }
        match role.text()? {
            "system" | "developer" => exchange.system.push_str(&content(&message)?),
            "user" => exchange.turns.push(Turn::User(content(&message)?)),
            "assistant" => {
                let (text, calls) = read_assistant(&message)?;
                called = calls.iter().map(|call| call.id.clone()).collect();
                open.clone_from(&called);
                exchange.turns.push(Turn::Assistant { text, calls });
            }
            "tool" => {
                let id = message.need("tool_call_id")?;
                let call_id = id.text()?.to_owned();
                if called.is_empty() {
                    return Err(role.error(
                        "Invalid parameter: messages with role 'tool' must be a response to a \
                         preceeding message with 'tool_calls'.",
                    ));
                }
                if !called.contains(&call_id) {
                    return Err(id.error(format!(
                        "Invalid parameter: 'tool_call_id' of '{call_id}' not found in \
                         'tool_calls' of previous message."
                    )));
                }
                if !open.contains(&call_id) {
                    return Err(id.error(format!(
                        "Duplicate value for 'tool_call_id' of '{call_id}' in message."
                    )));
                }
                open.retain(|open| *open != call_id);
                let text = content(&message)?;
                exchange.turns.push(Turn::Result { call_id, text });
            }
            other => return Err(invalid_value(&role, other, ROLES)),
        }
    }
    check_answered(&messages, &open)?;
    Ok(exchange)
}

fn check_answered(messages: &Node<'_>, open: &[String]) -> Result<(), ApiError> {
    if open.is_empty() {
        return Ok(());
    }
    Err(messages.error(format!(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to \
         each 'tool_call_id'. The following tool_call_ids did not have response messages: {}",
        open.join(", ")
    )))
}

fn read_assistant(message: &Node<'_>) -> Result<(String, Vec<PastCall>), ApiError> {
    let mut calls: Vec<PastCall> = Vec::new();
    if let Some(tool_calls) = message.at("tool_calls") {
        for call in tool_calls.some_items()? {
            check_kind(&call)?;
            let id = call.need("id")?;
            let text = id.text()?;
            if text.len() > 40 {
                return Err(too_long(&id, 40, text.len()));
            }
            if calls.iter().any(|known| known.id == text) {
                return Err(id.error(format!("Duplicate value for 'id' of '{text}'.")));
            }
            let function = call.need("function")?;
            calls.push(PastCall {
                id: text.to_owned(),
                name: checked_name(&function.need("name")?)?.to_owned(),
                arguments: function.need("arguments")?.text()?.to_owned(),
            });
        }
    }
    let text = match (message.at("content"), message.at("refusal")) {
        (Some(_), _) => content(message)?,
        (None, Some(refusal)) => refusal.text()?.to_owned(),
        (None, None) if calls.is_empty() => return Err(no_content(message)),
        (None, None) => String::new(),
    };
    Ok((text, calls))
}

/// The text of a message, given plainly or in parts.
fn content(message: &Node<'_>) -> Result<String, ApiError> {
    let content = message.at("content").ok_or_else(|| no_content(message))?;
    if let Value::String(text) = content.value() {
        return Ok(text.clone());
    }
    let mut text = String::new();
    for part in content.some_items()? {
        let kind = part.need("type")?;
        match kind.text()? {
            "text" => text.push_str(part.need("text")?.text()?),
            "refusal" => text.push_str(part.need("refusal")?.text()?),
            "image_url" | "input_audio" | "file" => {
                part.need(kind.text()?)?.fields()?;
            }
            other => {
                let supported = "'text', 'image_url', 'input_audio', 'refusal', and 'file'";
                return Err(invalid_value(&kind, other, supported));
            }
        }
    }
    Ok(text)
}

fn no_content(message: &Node<'_>) -> ApiError {
    let path = format!("{}.content", message.path());
    ApiError::invalid("Invalid value for 'content': expected a string, got null.").with_param(path)
}
