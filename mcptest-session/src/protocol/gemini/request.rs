//! Requests of the format, written.

use serde_json::{Value, json};

use super::{Gemini, written};
use crate::exchange::{Item, ModelRequest, ToolResult};
use crate::protocol::RequestWriter;
use crate::protocol::numbered::is_numbered;
use crate::protocol::writer::{result_text, tool};

impl RequestWriter for Gemini {
    fn path(&self, model: &str) -> String {
        format!("/v1beta/models/{model}:generateContent")
    }

    fn request_value(&self, asked: &ModelRequest) -> Value {
        let mut contents: Vec<(&str, Vec<Value>)> = Vec::new();
        // The results of an answer's calls are one content.
        let mut is_open = false;
        for item in &asked.items {
            let goes_on = std::mem::replace(&mut is_open, matches!(item, Item::Result(_)));
            let (role, parts) = match item {
                Item::User(text) | Item::Turn { text, .. } => {
                    ("user", vec![json!({ "text": text })])
                }
                Item::Answer(parts) => ("model", written(parts)),
                Item::Result(result) => ("user", vec![response(result)]),
                Item::Reference(_) => continue,
            };
            match contents.last_mut() {
                Some((_, results)) if goes_on && is_open => results.extend(parts),
                // The provider refuses a content without parts.
                _ if parts.is_empty() => {}
                _ => contents.push((role, parts)),
            }
        }
        let contents = contents.into_iter();
        let contents = contents.map(|(role, parts)| json!({ "role": role, "parts": parts }));
        let mut body = json!({ "contents": contents.collect::<Vec<_>>() });
        if let Some(system) = &asked.system {
            body["systemInstruction"] = json!({ "parts": [{ "text": system }] });
        }
        let tools = asked.tools.iter();
        let tools: Vec<Value> = tools
            .map(|offered| tool(offered, "parametersJsonSchema").into())
            .collect();
        if !tools.is_empty() {
            body["tools"] = json!([{ "functionDeclarations": tools }]);
        }
        body
    }
}

/// A result. The format has no flag for errors, and a key for each.
fn response(result: &ToolResult) -> Value {
    let key = if result.is_error == Some(true) {
        "error"
    } else {
        "result"
    };
    let mut response = json!({ "name": result.name, "response": { key: result_text(result) } });
    if let Some(id) = result.id.as_deref().filter(|id| !is_numbered(id)) {
        response["id"] = id.into();
    }
    json!({ "functionResponse": response })
}
