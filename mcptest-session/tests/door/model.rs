//! A client of the model, in the format of chat completions.

use serde_json::{Value, json};

use crate::tools::Tools;

/// Asks the model; the message that it answers.
pub(crate) async fn ask(tools: &Tools, talk: &[Value], offered: &[&str]) -> Option<Value> {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut request = json!({ "model": "m", "messages": talk });
    if !offered.is_empty() {
        let schema = json!({ "type": "object" });
        let each = offered.iter().map(|name| {
            json!({ "type": "function", "function": { "name": name, "description": "Does.", "parameters": schema } })
        });
        request["tools"] = each.collect();
    }
    let url = format!("{}/chat/completions", tools.model());
    let sent = client.post(url).bearer_auth("sk-planted-0123456789");
    let answer = sent.json(&request).send().await.unwrap();
    let is_whole = answer.status().is_success();
    let body: Value = answer.json().await.unwrap();
    is_whole.then(|| body["choices"][0]["message"].clone())
}

/// The calls of a message: their identifiers, names and arguments.
pub(crate) fn calls(message: &Value) -> Vec<(String, String, Value)> {
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let calls = calls.map(|call| {
        let args = text(&call["function"]["arguments"]);
        let args = serde_json::from_str(&args).unwrap();
        (text(&call["id"]), text(&call["function"]["name"]), args)
    });
    calls.collect()
}

pub(crate) fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

pub(crate) fn result(id: &str, text: &str) -> Value {
    json!({ "role": "tool", "tool_call_id": id, "content": text })
}
