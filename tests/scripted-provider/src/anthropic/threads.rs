//! Threads: talks that the provider holds, so that a request has only what is new.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::api::ApiError;

/// What a request has of the thread that it goes on with.
const KEPT: [&str; 2] = ["system", "tools"];

/// The whole request of each answer, with that answer as its last message.
#[derive(Debug, Default)]
pub(crate) struct Threads(HashMap<String, Value>);

impl Threads {
    /// The request with all that the thread holds.
    pub(crate) fn resume(&self, asked: &Value) -> Result<Value, ApiError> {
        let thread = &asked["thread"];
        let mut whole = asked.clone();
        match thread["type"].as_str() {
            None if thread.is_null() => return Ok(whole),
            Some("create") => return Ok(whole),
            Some("continue") => {}
            _ => {
                return Err(ApiError::invalid(
                    "thread.type: Input should be 'create' or 'continue'",
                ));
            }
        }
        let previous = thread["previous_message_id"].as_str().unwrap_or_default();
        let before = self.0.get(previous).ok_or_else(|| {
            ApiError::new(404, format!("thread: there is no message '{previous}'"))
        })?;
        for key in KEPT {
            if asked.get(key).is_some() {
                let why = "a request that continues a thread has it of the thread";
                return Err(ApiError::invalid(format!("{key}: {why}")));
            }
            if let Some(value) = before.get(key) {
                whole[key] = value.clone();
            }
        }
        let messages = |of: &Value| of["messages"].as_array().cloned().unwrap_or_default();
        whole["messages"] = [messages(before), messages(asked)].concat().into();
        Ok(whole)
    }

    /// Keeps a whole request and its answer.
    pub(crate) fn keep(&mut self, whole: &Value, body: &Value) {
        let mut talk = whole.clone();
        if let Some(messages) = talk["messages"].as_array_mut() {
            messages.push(json!({ "role": "assistant", "content": body["content"] }));
        }
        let id = body["id"].as_str().unwrap_or_default().to_owned();
        self.0.insert(id, talk);
    }
}
