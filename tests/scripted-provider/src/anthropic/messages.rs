//! The messages of a request: their blocks, and that every call is answered.

use std::collections::HashSet;

use serde_json::Value;

use crate::{
    anthropic::checked_name,
    api::ApiError,
    exchange::{PastCall, Turn},
    node::{Node, is_plain_name},
};

/// The ids of the calls of the message before, and where that message is.
#[derive(Debug, Default)]
struct Open {
    path: String,
    calls: Vec<String>,
}

/// Checks the messages of a request.
pub(super) fn messages(root: &Node<'_>) -> Result<Vec<Turn>, ApiError> {
    let messages = root.need("messages")?;
    let items = messages.items()?;
    if items.is_empty() {
        return Err(messages.error("at least one message is required"));
    }
    let mut turns = Vec::new();
    let mut ids = HashSet::new();
    let mut open = Open::default();
    let mut assistant_last = false;
    for message in &items {
        message.refuse_unknown(&["role", "content"])?;
        let role = message.need("role")?;
        let before = std::mem::take(&mut open);
        match role.text()? {
            "user" => {
                read_user(message, &before, &mut turns)?;
                assistant_last = false;
            }
            "assistant" if turns.is_empty() => {
                return Err(messages.error("first message must use the \"user\" role"));
            }
            "assistant" => {
                check_answered(&before, &[])?;
                let (text, calls) = read_assistant(message)?;
                for call in &calls {
                    if !ids.insert(call.id.clone()) {
                        return Err(messages.error("`tool_use` ids must be unique"));
                    }
                }
                let called = calls.iter().map(|call| call.id.clone()).collect();
                open = Open {
                    path: message.path().to_owned(),
                    calls: called,
                };
                turns.push(Turn::Assistant { text, calls });
                assistant_last = true;
            }
            other => {
                return Err(messages.error(format!(
                    "Unexpected role \"{other}\". Allowed roles are \"user\" or \"assistant\"; \
                     the Messages API accepts a top-level `system` parameter."
                )));
            }
        }
    }
    check_answered(&open, &[])?;
    if assistant_last {
        return Err(ApiError::invalid(
            "This model does not support assistant message prefill. The conversation must end \
             with a user message.",
        ));
    }
    Ok(turns)
}

/// Reads a user message, which must begin with the results of all calls of the
/// message before it.
fn read_user(message: &Node<'_>, before: &Open, turns: &mut Vec<Turn>) -> Result<(), ApiError> {
    let mut text = None::<String>;
    let mut results: Vec<String> = Vec::new();
    let mut late = false;
    for (kind, block) in blocks(message)? {
        match kind {
            "text" => text.get_or_insert_default().push_str(block_text(&block)?),
            "tool_result" => {
                let id = block.need("tool_use_id")?.text()?;
                if !before.calls.iter().any(|call| call == id) {
                    return Err(block.error(format!(
                        "unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each \
                         `tool_result` block must have a corresponding `tool_use` block in the \
                         previous message."
                    )));
                }
                if results.iter().any(|known| known == id) {
                    return Err(block.error(format!(
                        "each tool_use must have a single result. Found multiple `tool_result` \
                         blocks with id: {id}"
                    )));
                }
                if let Some(flag) = block.at("is_error") {
                    flag.flag()?;
                }
                late |= text.is_some();
                results.push(id.to_owned());
                turns.push(Turn::Result {
                    call_id: id.to_owned(),
                    text: match block.at("content") {
                        Some(content) => plain_text(&content)?,
                        None => String::new(),
                    },
                });
            }
            "image" | "document" | "search_result" => {
                block.need("source")?;
                text.get_or_insert_default();
            }
            other => return Err(unexpected_block(&block, other, "user")),
        }
    }
    check_answered(before, if late { &[] } else { &results })?;
    turns.extend(text.map(Turn::User));
    Ok(())
}

fn read_assistant(message: &Node<'_>) -> Result<(String, Vec<PastCall>), ApiError> {
    let (mut text, mut calls) = (String::new(), Vec::new());
    for (kind, block) in blocks(message)? {
        match kind {
            "text" => text.push_str(block_text(&block)?),
            "tool_use" => {
                let id = block.need("id")?;
                if !is_plain_name(id.text()?, usize::MAX) {
                    return Err(id.error("String should match pattern '^[a-zA-Z0-9_-]+$'"));
                }
                let input = block.need("input")?;
                input.fields()?;
                calls.push(PastCall {
                    id: id.text()?.to_owned(),
                    name: checked_name(&block.need("name")?)?.to_owned(),
                    arguments: input.value().to_string(),
                });
            }
            "thinking" => {
                block.need("thinking")?.text()?;
                block.need("signature")?.text()?;
            }
            "redacted_thinking" => {
                block.need("data")?.text()?;
            }
            other => return Err(unexpected_block(&block, other, "assistant")),
        }
    }
    Ok((text, calls))
}

/// The blocks of a message with their kinds. A plain text counts as one.
fn blocks<'a>(message: &Node<'a>) -> Result<Vec<(&'a str, Node<'a>)>, ApiError> {
    let content = message.need("content")?;
    let blocks = match content.value() {
        Value::String(text) if !text.is_empty() => return Ok(vec![("text", content)]),
        Value::String(_) => Vec::new(),
        _ => content.items()?,
    };
    if blocks.is_empty() {
        return Err(message.error(
            "all messages must have non-empty content except for the optional final assistant \
             message",
        ));
    }
    let mut kinds = Vec::new();
    for block in blocks {
        let kind = block.need("type")?.text()?;
        let block = block.with_tag(kind);
        kinds.push((kind, block));
    }
    Ok(kinds)
}

/// The text of a text block, or of a content that is a plain text.
fn block_text<'a>(block: &Node<'a>) -> Result<&'a str, ApiError> {
    let text = match block.value() {
        Value::String(text) => text.as_str(),
        _ => block.need("text")?.text()?,
    };
    if text.is_empty() {
        return Err(ApiError::invalid(
            "messages: text content blocks must be non-empty",
        ));
    }
    Ok(text)
}

/// A text, or the texts of a list of blocks one after the other.
pub(super) fn plain_text(content: &Node<'_>) -> Result<String, ApiError> {
    if let Value::String(text) = content.value() {
        return Ok(text.clone());
    }
    let mut text = String::new();
    for block in content.items()? {
        let kind = block.need("type")?.text()?;
        if kind == "text" {
            text.push_str(block_text(&block.with_tag(kind))?);
        }
    }
    Ok(text)
}

/// Refuses calls of the message before that no result answers.
fn check_answered(before: &Open, results: &[String]) -> Result<(), ApiError> {
    let unanswered: Vec<_> = before
        .calls
        .iter()
        .filter(|call| !results.contains(call))
        .map(String::as_str)
        .collect();
    if unanswered.is_empty() {
        return Ok(());
    }
    Err(ApiError::invalid(format!(
        "{}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each \
         `tool_use` block must have a corresponding `tool_result` block in the next message.",
        before.path,
        unanswered.join(", ")
    )))
}

fn unexpected_block(block: &Node<'_>, kind: &str, role: &str) -> ApiError {
    block.error(format!(
        "Input tag '{kind}' found using 'type' is not expected in a message of the {role}"
    ))
}
