//! The turns of a recorded conversation, in order.

use serde_json::{Value, json};

use crate::trace::canonical_json;

/// Builds the turns of a recorded conversation, in order: as the run happens, or from somebody else's trace.
#[doc(hidden)]
#[derive(Debug, Clone, Default)]
pub struct TranscriptBuilder {
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

impl TranscriptBuilder {
    /// Adds what the user said after so many calls.
    pub fn add_user(&mut self, text: &str, calls: usize) {
        self.add_turn("user", text);
        self.users.push(UserTurn {
            text: text.to_owned(),
            calls_from: calls,
            answer: None,
        });
    }

    /// Adds a turn of any role, which is neither an answer nor a question.
    pub fn add_turn(&mut self, role: &str, text: &str) {
        self.turns.push(json!({ "role": role, "content": text }));
    }

    /// Adds what the agent said. It is an answer, unless a call follows.
    pub fn add_agent(&mut self, text: &str) {
        self.add_turn("assistant", text);
        if let Some(user) = self.users.last_mut() {
            user.answer = Some(text.to_owned());
        }
    }

    /// Adds a tool call, so that what was said before is no answer. Returns the text of the call's turn.
    pub fn add_call(&mut self, server: Option<&str>, tool: &str, args: &Value) -> String {
        let server = server.map_or_else(String::new, |server| format!("{server}::"));
        let written = format!("tool_use {server}{tool} with {}", canonical_json(args));
        self.add_turn("assistant", &written);
        if let Some(user) = self.users.last_mut() {
            user.answer = None;
        }
        written
    }

    /// What the user said first.
    #[must_use]
    pub fn first_user_text(&self) -> Option<&str> {
        self.users.first().map(|user| user.text.as_str())
    }

    /// How often the user spoke.
    #[must_use]
    pub fn user_turns(&self) -> usize {
        self.users.len()
    }

    /// The answer to what the user said last.
    #[must_use]
    pub fn last_answer(&self) -> Option<&str> {
        self.users.last()?.answer.as_deref()
    }

    /// Writes the turns into a trace whose calls and conversation are there.
    pub fn write_to(&self, trace: &mut Value) {
        if let Some(answer) = self.last_answer() {
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
