//! Messages that are spread over attributes, one a field.

use serde_json::{Map, Value, json};

use super::emitters::Meaning;
use super::messages::{Exchanged, of_chat, with_role};
use crate::import::json::{given, text};

/// Messages spread over attributes: `gen_ai.prompt.0.content`, `llm.input_messages.0.message.content`.
pub(super) fn read(attributes: &Map<String, Value>, into: &mut Exchanged) {
    let input = Meaning::InputTree.names().map(|prefix| (prefix, false));
    let output = Meaning::OutputTree.names().map(|prefix| (prefix, true));
    for (prefix, is_output) in input.chain(output) {
        let tree = nested(attributes, prefix);
        for message in numbered(&tree) {
            let message = given(&message, "message").unwrap_or(&message);
            let nameless = if is_output { "assistant" } else { "unknown" };
            let role = text(message, "role").unwrap_or(nameless);
            let mut message = with_role(message, role);
            if let Some(parts) = given(&message, "contents").cloned() {
                let parts = numbered(&parts).into_iter();
                let texts: Vec<Value> = parts
                    .map(|part| given(&part, "message_content").unwrap_or(&part).clone())
                    .collect();
                if given(&message, "content").is_none() {
                    message["content"] = texts.into();
                }
            }
            let calls = numbered(&message["tool_calls"]);
            if !calls.is_empty() {
                message["tool_calls"] = calls.into();
            }
            let mut message = of_chat(&message);
            if is_output {
                // An instrumentation may give the items of one answer as messages.
                match into.output.first_mut() {
                    Some(first) if prefix.starts_with("llm.") => {
                        first.parts.append(&mut message.parts);
                    }
                    _ => into.output.push(message),
                }
            } else {
                into.input.push(message);
            }
        }
    }
}

/// The attributes under a prefix, as a tree.
fn nested(attributes: &Map<String, Value>, prefix: &str) -> Value {
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
fn numbered(tree: &Value) -> Vec<Value> {
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
