//! Requests of the format, written.

use serde_json::{Value, json};

use super::{Anthropic, blocks};
use crate::exchange::{Item, ModelRequest};
use crate::json::text;
use crate::protocol::RequestWriter;
use crate::protocol::writer::{result_text, tool};

impl RequestWriter for Anthropic {
    fn path(&self, _: &str) -> String {
        "/v1/messages".to_owned()
    }

    fn request_value(&self, asked: &ModelRequest) -> Value {
        let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
        // Results of calls that were made together are one message.
        let mut is_open = false;
        for item in &asked.items {
            let goes_on = std::mem::replace(&mut is_open, matches!(item, Item::Result(_)));
            let (role, said) = match item {
                Item::User(text) | Item::Turn { text, .. } => ("user", vec![words(text)]),
                Item::Answer(parts) => ("assistant", blocks(parts)),
                Item::Result(result) => {
                    let mut block = json!({
                        "type": "tool_result", "tool_use_id": result.id, "content": result_text(result),
                    });
                    if result.is_error == Some(true) {
                        block["is_error"] = true.into();
                    }
                    ("user", vec![block])
                }
                Item::Reference(_) => continue,
            };
            // The provider refuses texts, and messages, that say nothing.
            let is_blank =
                |block: &Value| text(block, "type") == Some("text") && block["text"] == "";
            let said = said.into_iter().filter(|block| !is_blank(block));
            let said: Vec<Value> = said.collect();
            match messages.last_mut() {
                Some((_, results)) if goes_on && is_open => results.extend(said),
                _ if said.is_empty() => {}
                _ => messages.push((role, said)),
            }
        }
        let messages = messages.into_iter();
        let messages = messages.map(|(role, said)| json!({ "role": role, "content": said }));
        let mut body = json!({ "messages": messages.collect::<Vec<_>>() });
        for (key, value) in [("model", &asked.model), ("system", &asked.system)] {
            if let Some(value) = value {
                body[key] = value.as_str().into();
            }
        }
        let tools = asked.tools.iter();
        let tools: Vec<Value> = tools
            .map(|offered| tool(offered, "input_schema").into())
            .collect();
        if !tools.is_empty() {
            body["tools"] = tools.into();
        }
        body
    }
}

fn words(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}
