//! What was said and called in a run, in order.

use serde_json::{Value, json};

use crate::trace::canonical_json;

/// What was said and called in a run, in order: what whoever makes a recording writes down alike, as it
/// happens or from somebody else's trace.
#[doc(hidden)]
#[derive(Debug, Clone, Default)]
pub struct Talk {
    turns: Vec<Value>,
    users: Vec<UserTurn>,
}

/// What the user said, and where what followed begins.
#[derive(Debug, Clone)]
struct UserTurn {
    text: String,
    calls_from: usize,
    answer: Option<String>,
}

impl Talk {
    /// The user says something, after so many calls.
    pub fn user(&mut self, text: &str, calls: usize) {
        self.turn("user", text);
        self.users.push(UserTurn {
            text: text.to_owned(),
            calls_from: calls,
            answer: None,
        });
    }

    /// A turn of its own, neither an answer nor a question.
    pub fn turn(&mut self, role: &str, text: &str) {
        self.turns.push(json!({ "role": role, "content": text }));
    }

    /// The agent says something: an answer, unless a call follows.
    pub fn said(&mut self, text: &str) {
        self.turn("assistant", text);
        if let Some(user) = self.users.last_mut() {
            user.answer = Some(text.to_owned());
        }
    }

    /// The agent calls a tool; what was said before was no answer yet. Returns how the call is written.
    pub fn called(&mut self, server: Option<&str>, tool: &str, args: &Value) -> String {
        let server = server.map_or_else(String::new, |server| format!("{server}::"));
        let written = format!("tool_use {server}{tool} with {}", canonical_json(args));
        self.turn("assistant", &written);
        if let Some(user) = self.users.last_mut() {
            user.answer = None;
        }
        written
    }

    /// What the user said first.
    #[must_use]
    pub fn first(&self) -> Option<&str> {
        self.users.first().map(|user| user.text.as_str())
    }

    /// How often the user spoke.
    #[must_use]
    pub fn user_turns(&self) -> usize {
        self.users.len()
    }

    /// The answer to what the user said last.
    #[must_use]
    pub fn answer(&self) -> Option<&str> {
        self.users.last()?.answer.as_deref()
    }

    /// Writes it into a trace whose calls and conversation are there.
    pub fn write(&self, trace: &mut Value) {
        if let Some(answer) = self.answer() {
            trace["final_response"] = answer.into();
        }
        let calls = trace["tool_calls"].as_array().map_or(0, Vec::len);
        let conversation = &mut trace["conversation"];
        conversation["turns"] = self.turns.as_slice().into();
        if self.users.len() > 1 {
            let ends = self.users.iter().skip(1).map(|user| user.calls_from);
            let turns = self
                .users
                .iter()
                .zip(ends.chain([calls]))
                .map(|(user, end)| {
                    let mut turn = json!({ "calls": [user.calls_from, end] });
                    if let Some(answer) = &user.answer {
                        turn["response"] = answer.as_str().into();
                    }
                    turn
                });
            conversation["per_turn"] = turns.collect();
        }
    }
}
