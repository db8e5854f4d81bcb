//! What went by becomes a run.

mod conversations;
mod history;
mod own_calls;
mod placing;
mod runs;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::observed::{Observed, Outcome};
use super::{RecordedRun, RunOptions};
use crate::protocol;

/// What goes by, a request every ten milliseconds whose answer takes five.
#[derive(Default)]
struct Wire {
    observed: Vec<Observed>,
}

impl Wire {
    fn request(&mut self, path: &str, request: &Value, outcome: Outcome) -> &mut Self {
        let known = protocol::at(path);
        let asked_at = 10 * self.observed.len() as u64;
        let asked = known
            .as_ref()
            .map(|(protocol, route)| protocol.parse_request(route, request).into());
        self.observed.push(Observed {
            protocol: known.map(|(protocol, _)| protocol),
            method: "POST".to_owned(),
            path: path.to_owned(),
            query: None,
            digest: super::digest("POST", path, None, request.to_string().as_bytes()),
            asked,
            asked_at,
            ended_at: Some(asked_at + 5),
            tick: 10 * asked_at + 1,
            outcome,
            gone: false,
            changes: BTreeSet::new(),
        });
        self
    }

    fn answered(&mut self, path: &str, request: &Value, response: &Value) -> &mut Self {
        let (protocol, _) = protocol::at(path).unwrap();
        let said = protocol.parse_response(response).unwrap();
        let broken = None;
        self.request(path, request, Outcome::Answered { said, broken })
    }

    /// A call of a chat completion.
    fn chat(&mut self, messages: &Value, message: &Value) -> &mut Self {
        let request = chat_request(messages);
        self.answered("/v1/chat/completions", &request, &chat_answer(message))
    }

    fn run(&self, options: &RunOptions) -> RecordedRun {
        RecordedRun::from_observed(&self.observed, options).unwrap()
    }
}

fn chat_request(messages: &Value) -> Value {
    json!({ "model": "gpt-5", "messages": messages, "tools": [
        { "type": "function", "function": { "name": "shop__cancel", "description": "Cancels.", "parameters": { "type": "object" } } },
    ] })
}

fn chat_answer(message: &Value) -> Value {
    let calls = message.get("tool_calls").is_some();
    json!({ "id": "c", "model": "gpt-5-2025-08-07",
        "choices": [{ "message": message, "finish_reason": if calls { "tool_calls" } else { "stop" } }],
        "usage": { "prompt_tokens": 10, "completion_tokens": 4, "prompt_tokens_details": { "cached_tokens": 6 } } })
}

fn system(text: &str) -> Value {
    json!({ "role": "system", "content": text })
}

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

fn says(text: &str) -> Value {
    json!({ "role": "assistant", "content": text })
}

/// A message that calls `shop__cancel` for each identifier and order.
fn calls(all: &[(&str, u32)]) -> Value {
    let call = |(id, order): &(&str, u32)| {
        json!({ "id": id, "type": "function",
            "function": { "name": "shop__cancel", "arguments": json!({ "order": order }).to_string() } })
    };
    json!({ "role": "assistant", "content": null, "tool_calls": all.iter().map(call).collect::<Vec<_>>() })
}

fn result(id: &str, text: &str) -> Value {
    json!({ "role": "tool", "tool_call_id": id, "content": text })
}

fn options(prompt: &str) -> RunOptions {
    RunOptions {
        agent: "Order desk".to_owned(),
        turns: vec![prompt.to_owned()],
        servers: vec!["shop".to_owned()],
        ..RunOptions::default()
    }
}
