//! Messages that are spread over attributes, one a field.

use mcptest_trace::spans::Meaning;
use serde_json::{Map, Value, json};

use crate::json::{non_null, text};

/// On which side of a model call a message stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Input,
    Output,
    /// An answer, which an instrumentation may give in several messages.
    Part,
}

/// Messages spread over attributes: `gen_ai.prompt.0.content`, `llm.input_messages.0.message.content`.
pub(super) fn messages(attributes: &Map<String, Value>) -> Vec<(Value, Place)> {
    let input = Meaning::InputTree.names().map(|prefix| (prefix, false));
    let output = Meaning::OutputTree.names().map(|prefix| (prefix, true));
    let mut found = Vec::new();
    for (prefix, is_output) in input.chain(output) {
        let tree = to_tree(attributes, prefix);
        for message in numbered_members(&tree) {
            let message = non_null(&message, "message").unwrap_or(&message);
            let nameless = if is_output { "assistant" } else { "unknown" };
            let role = text(message, "role").unwrap_or(nameless);
            let mut message = with_role(message, role);
            if let Some(parts) = non_null(&message, "contents").cloned() {
                let parts = numbered_members(&parts).into_iter();
                let texts: Vec<Value> = parts
                    .map(|part| non_null(&part, "message_content").unwrap_or(&part).clone())
                    .collect();
                if non_null(&message, "content").is_none() {
                    message["content"] = texts.into();
                }
            }
            let calls = numbered_members(&message["tool_calls"]);
            if !calls.is_empty() {
                message["tool_calls"] = calls.into();
            }
            let place = match (is_output, prefix.starts_with("llm.")) {
                (false, _) => Place::Input,
                (true, true) => Place::Part,
                (true, false) => Place::Output,
            };
            found.push((message, place));
        }
    }
    found
}

/// A message with a role; what is no message is its content.
pub(super) fn with_role(message: &Value, role: &str) -> Value {
    let mut message = if message.is_object() {
        message.clone()
    } else {
        json!({ "content": message })
    };
    message["role"] = role.into();
    message
}

/// The attributes under a prefix, as a tree.
fn to_tree(attributes: &Map<String, Value>, prefix: &str) -> Value {
    let mut root = json!({});
    for (key, value) in attributes {
        let Some(path) = key.strip_prefix(prefix) else {
            continue;
        };
        let mut at = &mut root;
        let mut segments = path.split('.').peekable();
        while let Some(segment) = segments.next() {
            if !at.is_object() {
                *at = json!({});
            }
            if segments.peek().is_none() {
                at[segment] = value.clone();
                break;
            }
            at = &mut at[segment];
        }
    }
    root
}

/// The members of a tree whose keys are numbers, in their order.
fn numbered_members(tree: &Value) -> Vec<Value> {
    if let Value::Array(items) = tree {
        return items.clone();
    }
    let members = tree.as_object().into_iter().flatten();
    let members = members.filter_map(|(key, value)| Some((key.parse().ok()?, value)));
    let mut numbered: Vec<(u32, &Value)> = members.collect();
    numbered.sort_by_key(|(number, _)| *number);
    let values = numbered.into_iter().map(|(_, value)| value.clone());
    values.collect()
}
