//! `OpenAI` Responses: what a request must be, and how an answer looks.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::{
    api::{Api, ApiError},
    exchange::{Answer, Arguments, Exchange, PastCall, Turn},
    node::Node,
    script::Stop,
};

/// A moment in 2025: the answers are the same at any time.
const CREATED: u64 = 1_750_000_000;

/// What was answered, which later requests may name instead of sending it again.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    items: HashMap<String, Value>,
    /// The items before and of each response.
    talks: HashMap<String, Vec<Value>>,
}

impl Stored {
    /// Keeps an answer and what it was asked.
    pub(crate) fn keep(&mut self, asked: &Value, body: &Value) {
        let output = body["output"].as_array().into_iter().flatten();
        for item in output.clone() {
            let id = item["id"].as_str().unwrap_or_default().to_owned();
            self.items.insert(id, item.clone());
        }
        let mut talk = self.all_items(asked);
        talk.extend(output.cloned());
        let id = body["id"].as_str().unwrap_or_default().to_owned();
        self.talks.insert(id, talk);
    }

    /// All items that a request stands for.
    fn all_items(&self, asked: &Value) -> Vec<Value> {
        let previous = asked["previous_response_id"].as_str();
        let mut talk = previous
            .and_then(|id| self.talks.get(id).cloned())
            .unwrap_or_default();
        match &asked["input"] {
            Value::String(text) => talk.push(json!({ "role": "user", "content": text })),
            Value::Array(items) => talk.extend(items.iter().map(|item| self.resolve(item))),
            _ => {}
        }
        talk
    }

    fn resolve(&self, item: &Value) -> Value {
        let referred = item["id"]
            .as_str()
            .filter(|_| item["type"] == "item_reference");
        let stored = referred.and_then(|id| self.items.get(id));
        stored.unwrap_or(item).clone()
    }
}

/// Checks a request body.
pub(crate) fn read(body: &Value, stored: &Stored) -> Result<Exchange, ApiError> {
    let root = Node::root(Api::Responses, body);
    let mut exchange = Exchange {
        model: root.need("model")?.text()?.to_owned(),
        ..Exchange::default()
    };
    if let Some(previous) = root.at("previous_response_id") {
        let id = previous.text()?;
        if !stored.talks.contains_key(id) {
            return Err(previous.error(format!("Previous response with id '{id}' not found.")));
        }
    }
    if let Some(instructions) = root.at("instructions") {
        instructions.text()?.clone_into(&mut exchange.system);
    }
    root.need("input")?;
    let talk = json!({ "input": stored.all_items(body) });
    let input = Node::root(Api::Responses, &talk).need("input")?;
    let mut open: Vec<String> = Vec::new();
    for item in input.items()? {
        let kind = item.at("type").map_or(Ok("message"), |kind| kind.text())?;
        match kind {
            "message" => read_message(&item, &mut exchange)?,
            "function_call" => {
                let call = PastCall {
                    id: item.need("call_id")?.text()?.to_owned(),
                    name: item.need("name")?.text()?.to_owned(),
                    arguments: item.need("arguments")?.text()?.to_owned(),
                };
                open.push(call.id.clone());
                add_answer(&mut exchange, String::new(), Some(call));
            }
            "function_call_output" => {
                let id = item.need("call_id")?;
                let call_id = id.text()?.to_owned();
                if !open.contains(&call_id) {
                    return Err(item.error(format!(
                        "No tool call found for function call output with call_id {call_id}."
                    )));
                }
                open.retain(|open| *open != call_id);
                let text = join_texts(item.need("output")?.value());
                exchange.turns.push(Turn::Result { call_id, text });
            }
            "reasoning" => {}
            other => {
                return Err(item.error(format!("Item of type '{other}' not found.")));
            }
        }
    }
    match open.first() {
        Some(id) => Err(input.error(format!("No tool output found for function call {id}."))),
        None => Ok(exchange),
    }
}

/// The assistant says or calls something: in the answer that is last, or in a new one.
fn add_answer(exchange: &mut Exchange, said: String, called: Option<PastCall>) {
    if let Some(Turn::Assistant { text, calls }) = exchange.turns.last_mut() {
        text.push_str(&said);
        calls.extend(called);
        return;
    }
    exchange.turns.push(Turn::Assistant {
        text: said,
        calls: called.into_iter().collect(),
    });
}

fn read_message(item: &Node<'_>, exchange: &mut Exchange) -> Result<(), ApiError> {
    let role = item.need("role")?;
    let text = join_texts(item.need("content")?.value());
    match role.text()? {
        "user" => exchange.turns.push(Turn::User(text)),
        "system" | "developer" => exchange.system.push_str(&text),
        "assistant" => add_answer(exchange, text, None),
        other => return Err(role.error(format!("Invalid value: '{other}'."))),
    }
    Ok(())
}

/// A text, or the texts of parts.
fn join_texts(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.collect()
        }
        other => other.to_string(),
    }
}

/// The body of an answer.
pub(crate) fn render_body(answer: &Answer) -> Value {
    let refused = answer.stop == Some(Stop::Refusal);
    let mut output = Vec::new();
    if !answer.text.is_empty() || answer.calls.is_empty() {
        let part = if refused {
            json!({ "type": "refusal", "refusal": answer.text })
        } else {
            json!({ "type": "output_text", "text": answer.text, "annotations": [], "logprobs": [] })
        };
        output.push(json!({
            "id": format!("msg_{}", answer.id),
            "type": "message",
            "status": "completed",
            "role": "assistant",
            "content": [part],
        }));
    }
    for (index, call) in answer.calls.iter().enumerate() {
        let arguments = match &call.arguments {
            Arguments::Json(args) => args.to_string(),
            Arguments::Raw(raw) => raw.clone(),
        };
        output.push(json!({
            "id": format!("fc_{}_{index}", answer.id),
            "type": "function_call",
            "status": "completed",
            "call_id": format!("call_{}_{index}", answer.id),
            "name": call.name,
            "arguments": arguments,
        }));
    }
    let cut = answer.stop == Some(Stop::MaxTokens);
    json!({
        "id": format!("resp_{}", answer.id),
        "object": "response",
        "created_at": CREATED,
        "status": if cut { "incomplete" } else { "completed" },
        "error": null,
        "incomplete_details": cut.then(|| json!({ "reason": "max_output_tokens" })),
        "instructions": null,
        "metadata": {},
        "model": answer.model,
        "output": output,
        "parallel_tool_calls": true,
        "previous_response_id": null,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": {
            "input_tokens": answer.usage.prompt,
            "input_tokens_details": { "cached_tokens": answer.usage.cached },
            "output_tokens": answer.usage.completion,
            "output_tokens_details": { "reasoning_tokens": answer.usage.reasoning },
            "total_tokens": answer.usage.prompt + answer.usage.completion,
        },
    })
}
