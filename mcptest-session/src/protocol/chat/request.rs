//! Requests of the format, written.

use serde_json::{Value, json};

use super::{Chat, message};
use crate::exchange::{Item, ModelRequest, Part};
use crate::protocol::RequestWriter;
use crate::protocol::writer::{result_text, tool};

/// What a provider added to its answer and takes back: what the model thought.
const TAKEN_BACK: [&str; 2] = ["reasoning_content", "reasoning_details"];

/// Fields of an answer's message that a request may have.
const OF_ANSWER: [&str; 3] = ["role", "content", "tool_calls"];

impl RequestWriter for Chat {
    fn path(&self, _: &str) -> String {
        "/chat/completions".to_owned()
    }

    fn request_value(&self, asked: &ModelRequest) -> Value {
        let said = |role: &str, text: &str| json!({ "role": role, "content": text });
        let system = asked.system.iter().map(|text| said("system", text));
        let talk = asked.items.iter().filter_map(|item| match item {
            Item::User(text) => Some(said("user", text)),
            Item::Turn { role, text } => Some(said(role, text)),
            Item::Answer(parts) => Some(answered(parts)),
            Item::Result(result) => Some(json!({
                "role": "tool", "tool_call_id": result.id, "content": result_text(result),
            })),
            Item::Reference(_) => None,
        });
        let messages: Vec<Value> = system.chain(talk).collect();
        let mut body = json!({ "messages": messages });
        if let Some(model) = &asked.model {
            body["model"] = model.as_str().into();
        }
        let tools = asked.tools.iter().map(|offered| {
            let mut function = tool(offered, "parameters");
            if let Some(strict) = offered.strict {
                function.insert("strict".to_owned(), strict.into());
            }
            json!({ "type": "function", "function": function })
        });
        let tools: Vec<Value> = tools.collect();
        // Providers refuse an empty list.
        if !tools.is_empty() {
            body["tools"] = tools.into();
        }
        body
    }
}

/// An answer as a request repeats it. Servers that speak the format refuse fields that they do not know, and nulls.
fn answered(parts: &[Part]) -> Value {
    let mut said = message(parts);
    if let Some(refusal) = said["refusal"].as_str() {
        said["content"] = refusal.into();
    }
    if said["content"].is_null() {
        said["content"] = "".into();
    }
    if let Some(fields) = said.as_object_mut() {
        fields.retain(|key, _| {
            OF_ANSWER.contains(&key.as_str()) || TAKEN_BACK.contains(&key.as_str())
        });
    }
    said
}
