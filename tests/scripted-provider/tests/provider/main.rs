//! The provider, seen by a plain HTTP client.

#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a failed helper fails its test")]

mod anthropic;
mod binary;
mod conversations;
mod failures;
mod openai;
mod scripts;
mod streams;
mod strict;

use scripted_provider::{Provider, Script};
use serde_json::{Value, json};

/// The status, the headers and the body of an answer.
struct Answer {
    status: u16,
    headers: ureq::http::HeaderMap,
    body: Value,
}

impl Answer {
    /// The body of an answer that must be a 200.
    fn ok(self) -> Value {
        assert_eq!(self.status, 200, "{}", self.body);
        self.body
    }

    /// The message of an answer that must be an error with this status.
    fn error(&self, status: u16) -> &str {
        assert_eq!(self.status, status, "{}", self.body);
        self.body["error"]["message"].as_str().unwrap()
    }
}

fn start(script: &Value) -> Provider {
    let script = Script::from_json(&script.to_string()).unwrap();
    Provider::start(script).unwrap()
}

/// Plays the replies to the user message "go".
fn play(replies: &Value) -> Provider {
    start(&json!({ "conversations": [{ "user": "go", "runs": [replies] }] }))
}

fn send(url: &str, headers: &[(&str, &str)], body: &str) -> Result<Answer, ureq::Error> {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(std::time::Duration::from_secs(10)));
    let agent: ureq::Agent = config.build().into();
    let mut request = agent.post(url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let mut response = request.send(body)?;
    let text = response.body_mut().read_to_string()?;
    Ok(Answer {
        status: response.status().as_u16(),
        headers: response.headers().clone(),
        body: serde_json::from_str(&text).unwrap_or(Value::String(text)),
    })
}

const ANTHROPIC_HEADERS: &[(&str, &str)] = &[
    ("x-api-key", "test-key"),
    ("anthropic-version", "2023-06-01"),
    ("content-type", "application/json"),
];

const OPENAI_HEADERS: &[(&str, &str)] = &[
    ("authorization", "Bearer test-key"),
    ("content-type", "application/json"),
];

/// Asks in the shape of Anthropic, with tools.
fn messages(provider: &Provider, messages: &Value) -> Answer {
    let body = json!({
        "model": "m", "max_tokens": 100, "messages": messages,
        "tools": [{ "name": "find", "input_schema": { "type": "object" } }],
    });
    post_messages(provider, &body)
}

fn post_messages(provider: &Provider, body: &Value) -> Answer {
    let url = format!("{}/v1/messages", provider.url());
    send(&url, ANTHROPIC_HEADERS, &body.to_string()).unwrap()
}

/// Asks in the shape of `OpenAI`, with tools.
fn chat(provider: &Provider, messages: &Value) -> Answer {
    let body = json!({
        "model": "m", "messages": messages,
        "tools": [{ "type": "function", "function": { "name": "find", "parameters": { "type": "object" } } }],
    });
    post_chat(provider, &body)
}

fn post_chat(provider: &Provider, body: &Value) -> Answer {
    let url = format!("{}/v1/chat/completions", provider.url());
    send(&url, OPENAI_HEADERS, &body.to_string()).unwrap()
}

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}
