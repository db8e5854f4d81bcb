//! Which call at an MCP server is which call of the model.
//!
//! A call of the model and one at a server are the same where the names fit and the arguments are equal, and where the
//! one at the server came after the model was asked and before its result was told. Of several the one whose result
//! the model was told goes first, then the earlier one.

use std::collections::HashMap;
use std::sync::Arc;

use mcptest_trace::trace::canonical_json;
use serde_json::Value;

use super::conversation::Conversation;
use super::options::Role;
use super::payload::payload;
use crate::exchange::{Call, Item};
use crate::mcp::{Seen, SeenCall, is_name_of};

/// A call of the model: its conversation, the model call in that, and the call in the answer.
pub(super) type Place = (usize, usize, usize);

/// The calls at servers, by the calls of the model.
#[derive(Debug, Default)]
pub(super) struct McpCalls {
    pub(super) of_model: HashMap<Place, usize>,
    /// Those that the model did not ask for.
    pub(super) unasked: Vec<usize>,
}

impl McpCalls {
    /// Finds which are which.
    pub(super) fn of(conversations: &[Conversation], roles: &[Role], seen: &Seen) -> Self {
        let mut answers = Vec::new();
        for (index, conversation) in conversations.iter().enumerate() {
            if roles[index] == Role::Side {
                continue;
            }
            let calls = conversation.calls.iter().enumerate();
            let answered = calls.filter(|(_, call)| call.answered);
            answers.extend(answered.map(|(place, call)| (call.ended_at, index, place)));
        }
        answers.sort_unstable();
        let mut of_model = HashMap::new();
        let mut is_used = vec![false; seen.calls.len()];
        for (_, index, place) in answers {
            let conversation = &conversations[index];
            let next = conversation.calls.get(place + 1);
            let window =
                conversation.calls[place].asked_at..=next.map_or(u64::MAX, |next| next.asked_at);
            for (number, call) in conversation.calls[place].said.calls().enumerate() {
                let fits = |(other, seen): &(usize, &SeenCall)| {
                    !is_used[*other] && window.contains(&seen.asked_at) && is_same(call, seen)
                };
                let fitting = || seen.calls.iter().enumerate().filter(fits);
                let told = next.and_then(|next| told(&next.asked.items, call.id.as_deref()?));
                let is_told = |(_, seen): &(usize, &SeenCall)| {
                    told.zip(seen.result.as_ref())
                        .is_some_and(|(told, result)| is_said(told, result))
                };
                let found = fitting().find(is_told).or_else(|| fitting().next());
                if let Some((other, _)) = found {
                    is_used[other] = true;
                    of_model.insert((index, place, number), other);
                }
            }
        }
        let unasked = is_used.iter().enumerate().filter(|(_, used)| !**used);
        Self {
            of_model,
            unasked: unasked.map(|(call, _)| call).collect(),
        }
    }
}

fn is_same(call: &Call, seen: &SeenCall) -> bool {
    // Clients leave out what is null, or write it out.
    let plain = |args: &Value| match args {
        Value::Object(map) => {
            let members = map.iter().filter(|(_, value)| !value.is_null());
            canonical_json(
                &members
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect(),
            )
        }
        other => canonical_json(other),
    };
    is_name_of(&call.name, &seen.server, &seen.tool) && plain(&call.args) == plain(&seen.args)
}

/// What the model was told of a call.
fn told<'t>(items: &'t [Arc<Item>], id: &str) -> Option<&'t Value> {
    let mut items = items.iter().rev();
    items.find_map(|item| match &**item {
        Item::Result(result) if result.id.as_deref() == Some(id) => Some(&result.value),
        _ => None,
    })
}

/// Whether what the model was told is what the server said, whatever a client writes around it.
pub(super) fn is_said(told: &Value, result: &Value) -> bool {
    let is_value = |value: &Value| {
        let same = |said: &Value| !said.is_null() && canonical_json(said) == canonical_json(value);
        same(result) || same(&result["structuredContent"]) || same(&result["content"])
    };
    let (payload, _) = payload(told.clone());
    if is_value(told) || is_value(&payload) {
        return true;
    }
    let told = texts(&payload).unwrap_or_else(|| vec![canonical_json(told)]);
    let told = told.join("\n");
    if serde_json::from_str(&told).is_ok_and(|value| is_value(&value)) {
        return true;
    }
    let said = texts(result).unwrap_or_default();
    let is_there = |text: &String| {
        let text = text.trim();
        // Some clients tell the blocks as JSON.
        let quoted = Value::from(text).to_string();
        told.contains(text) || told.contains(quoted.trim_matches('"'))
    };
    if said.iter().all(|text| text.trim().is_empty()) {
        return told.trim().is_empty() && result["structuredContent"].is_null();
    }
    said.iter().all(is_there)
}

/// The texts of a result in MCP's form; `None` where it has not that form.
fn texts(result: &Value) -> Option<Vec<String>> {
    let blocks = result["content"].as_array()?;
    let texts = blocks.iter().filter_map(|block| block["text"].as_str());
    Some(texts.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_client_writes_around_a_result_is_no_other_result() {
        let result =
            json!({ "content": [{ "type": "text", "text": "it \"is\" sent" }], "isError": false });
        for told in [
            json!("it \"is\" sent"),
            json!("Error: it \"is\" sent"),
            json!([{ "type": "text", "text": "it \"is\" sent" }]),
            json!(result.to_string()),
            json!(result["content"].to_string()),
            json!({ "output": "it \"is\" sent" }),
            result.clone(),
        ] {
            assert!(is_said(&told, &result), "{told}");
        }
        for told in [
            json!("ok"),
            json!(""),
            json!(null),
            json!({ "status": "sent" }),
        ] {
            assert!(!is_said(&told, &result), "{told}");
        }
        let structured = json!({ "content": [], "structuredContent": { "a": 1, "b": 2 } });
        assert!(is_said(&json!("{ \"b\": 2, \"a\": 1 }"), &structured));
        assert!(!is_said(&json!("done"), &structured));
        assert!(!is_said(&json!(""), &structured));
        assert!(is_said(&json!(""), &json!({ "content": [] })));
        assert!(!is_said(&json!("done"), &json!({ "content": [] })));
        let two = json!({ "content": [{ "type": "text", "text": "a1" }, { "type": "text", "text": "b2" }] });
        assert!(is_said(&json!("a1\n\nb2"), &two));
        assert!(!is_said(&json!("a1"), &two));
    }
}
