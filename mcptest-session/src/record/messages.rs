//! The messages of a request, as a past that the agent wrote itself is kept and compared.

use std::borrow::Borrow;
#[cfg(feature = "play")]
use std::sync::Arc;

use serde_json::{Value, json};

use super::events;
use super::payload::to_mcp_payload;
use super::scratchpad::inserted_text;
use crate::exchange::{Item, Part, ToolResult};
#[cfg(feature = "play")]
use crate::json::{count, list, nonempty_string};
use crate::protocol::blob;

/// One message of a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Message {
    /// Who speaks: `user`, `assistant`, `call`, `result`, or another one.
    pub(crate) role: String,
    /// What is said: a text, a call with its arguments, a result.
    pub(crate) value: Value,
    /// The call of the trace whose result the message tells.
    pub(crate) of: Option<usize>,
}

/// The messages of a request. However a client cuts an answer into pieces, its text comes before its calls.
pub(crate) fn read_messages(items: &[impl Borrow<Item>]) -> Vec<Message> {
    let mut all = Vec::new();
    let mut add = |role: &str, value: Value| {
        all.push(Message {
            role: role.to_owned(),
            value,
            of: None,
        });
    };
    for piece in events::pieces(items) {
        let mut text = String::new();
        let mut calls = Vec::new();
        for item in piece.iter().map(Borrow::borrow) {
            match item {
                Item::User(text) => add("user", text.as_str().into()),
                Item::Turn { role, text } => add(role, text.as_str().into()),
                Item::Result(result) => {
                    let (mut result, _) = to_mcp_payload(result.value.clone());
                    blob::condense(&mut result);
                    add("result", result);
                }
                Item::Reference(id) => add("assistant", id.as_str().into()),
                Item::Answer(parts) => {
                    for part in parts {
                        match part {
                            Part::Text(more) | Part::Refusal(more) => text += more,
                            Part::Call(call) if call.native.is_none() => {
                                let mut args = call.args.clone();
                                blob::condense_arguments(&mut args);
                                calls.push(json!({ "name": call.name, "arguments": args }));
                            }
                            Part::Call(_) | Part::Result(_) | Part::Opaque(_) => {}
                        }
                    }
                }
            }
        }
        if !text.trim().is_empty() {
            add("assistant", text.trim().into());
        }
        for call in calls {
            add("call", call);
        }
    }
    all
}

/// Whether the model is told that a call failed: by the format, else by a result in MCP's form; `None` where
/// neither says it.
pub(crate) fn told_is_error(result: &ToolResult) -> Option<bool> {
    let (said, is_mcp) = to_mcp_payload(result.value.clone());
    let own = said.get("isError").and_then(Value::as_bool);
    match (result.is_error, own.filter(|_| is_mcp)) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (flag, own) => flag.or(own),
    }
}

/// The messages of a request that an earlier request of the conversation did not have. Whole messages that stand
/// in both are left out, and so is the shared part of a text: a secret is found wherever it stands.
pub(crate) fn delta_to_json(before: &[Message], now: &[Message]) -> Value {
    let same = before.iter().zip(now).take_while(|(old, new)| old == new);
    let same = same.count();
    let each = now[same..].iter().enumerate().map(|(number, one)| {
        let mut written = json!({ "role": one.role, "value": one.value });
        if let Some(call) = one.of {
            written["call_index"] = call.into();
        }
        if let (Some(old), true) = (before.get(same), number == 0)
            && let (Some(text), Some(now)) = (old.value.as_str(), one.value.as_str())
            && let Some((more, rest)) = inserted_text(text, now)
            && old.role == one.role
        {
            written["value"] = more.into();
            written["before"] = rest.into();
        }
        written
    });
    json!({ "after": same, "messages": each.collect::<Vec<_>>() })
}

/// The messages of a request, from those of the earlier request and what was written of the difference; `None`
/// where these do not go together.
#[cfg(feature = "play")]
pub(crate) fn delta_from_json(
    before: &[Arc<Message>],
    written: &Value,
) -> Option<Vec<Arc<Message>>> {
    let same = usize::try_from(count(written, "after")?).ok()?;
    let mut all = before.get(..same)?.to_vec();
    for one in list(written, "messages") {
        let mut value = one.get("value")?.clone();
        if let Some(rest) = one.get("before").and_then(Value::as_str) {
            let old = before.get(all.len())?.value.as_str()?;
            value = format!("{}{}{rest}", old.strip_suffix(rest)?, value.as_str()?).into();
        }
        let of = count(one, "call_index").and_then(|call| usize::try_from(call).ok());
        all.push(Arc::new(Message {
            role: nonempty_string(one, "role")?,
            value,
            of,
        }));
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(text: &str) -> Message {
        Message {
            role: "user".to_owned(),
            value: text.into(),
            of: None,
        }
    }

    #[cfg(feature = "play")]
    #[test]
    fn what_is_written_of_talks_is_read_again() {
        let talks = [
            vec![user("Q\nend")],
            vec![user("Q\nfirst\nend")],
            vec![user("Q\nfirst\nsecond\nend"), user("b")],
            vec![user("other"), user("b")],
        ];
        let mut before: Vec<Message> = Vec::new();
        let mut known = Vec::new();
        for talk in talks {
            let written = delta_to_json(&before, &talk);
            known = delta_from_json(&known, &written).unwrap();
            let read: Vec<Message> = known.iter().map(|one| Message::clone(one)).collect();
            assert_eq!(read, talk, "{written}");
            before = talk;
        }
    }

    #[test]
    fn a_message_that_stands_in_the_talk_before_is_written_once() {
        let before = [user("a"), user("b\nend")];
        let now = [user("a"), user("b\nmore\nend"), user("c")];
        let wanted = json!({ "after": 1, "messages": [
            { "role": "user", "value": "more\n", "before": "end" },
            { "role": "user", "value": "c" },
        ] });
        assert_eq!(delta_to_json(&before, &now), wanted);
    }
}
