//! Requests and answers that went by, and their run.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::agent::ask;
use crate::exchange::{CallTokens, ModelResponse};
use crate::play::Player;
use crate::protocol;
use crate::record::{Observed, Outcome, RecordedRun, RunOptions};

pub(super) const PATH: &str = "/openai/v1/chat/completions";

/// What went by: each request with its answer.
#[derive(Default)]
pub(super) struct Wire(Vec<Observed>);

impl Wire {
    pub(super) fn chat(&mut self, request: &Value, message: &Value) {
        let (protocol, _) = protocol::at(PATH).unwrap();
        let body = json!({ "choices": [{ "message": message, "finish_reason": "stop" }] });
        self.answered(PATH, request, protocol.parse_response(&body).unwrap());
    }

    pub(super) fn answered(&mut self, path: &str, request: &Value, said: ModelResponse) {
        self.respond(path, request, said, None);
    }

    pub(super) fn broken(&mut self, path: &str, request: &Value, said: ModelResponse, why: &str) {
        self.respond(path, request, said, Some(why.to_owned()));
    }

    fn respond(
        &mut self,
        path: &str,
        request: &Value,
        said: ModelResponse,
        broken: Option<String>,
    ) {
        let (protocol, route) = protocol::at(path).unwrap();
        let said = ModelResponse {
            id: Some(format!("answer {}", self.0.len())),
            tokens: Some(CallTokens {
                prompt: 10,
                completion: 4,
                ..CallTokens::default()
            }),
            ..said
        };
        let asked_at = 10 * self.0.len() as u64;
        self.0.push(Observed {
            protocol: Some(protocol),
            method: "POST".to_owned(),
            path: path.to_owned(),
            query: None,
            digest: String::new(),
            asked: Some(protocol.parse_request(&route, request).into()),
            asked_at,
            ended_at: Some(asked_at + 5),
            tick: 0,
            outcome: Outcome::Answered { said, broken },
            gone: false,
            changes: BTreeSet::new(),
        });
    }

    pub(super) fn run(&self, options: &RunOptions) -> Value {
        RecordedRun::from_observed(&self.0, options)
            .unwrap()
            .cassette
    }
}

pub(super) fn says(text: &str) -> Value {
    json!({ "role": "assistant", "content": text })
}

pub(super) fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

pub(super) fn calls(id: &str, order: u32) -> Value {
    json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": id, "type": "function",
        "function": { "name": "shop__cancel", "arguments": json!({ "order": order }).to_string() } }] })
}

pub(super) fn result(id: &str, order: u32) -> Value {
    json!({ "role": "tool", "tool_call_id": id, "content": json!({ "cancelled": order }).to_string() })
}

/// The messages that a player answers, one request after the other.
pub(super) async fn answers(player: &Player, requests: &[Value]) -> Vec<Value> {
    let mut answers = Vec::new();
    for request in requests {
        let (status, bytes) = ask(player, answers.len(), PATH, None, request).await;
        let body: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(status, 200, "{body}");
        answers.push(body["choices"][0]["message"].clone());
    }
    answers
}

pub(super) fn paths(player: &Player) -> Vec<String> {
    let outcome = player.played();
    let all = outcome.divergences.into_iter().chain(outcome.unasked);
    all.map(|it| it.path).collect()
}

pub(super) fn texts(answers: &[Value]) -> Vec<&str> {
    let texts = answers.iter().map(|it| it["content"].as_str().unwrap());
    texts.collect()
}
