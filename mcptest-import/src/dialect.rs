//! Calls and results as parts of a message in the form of other client libraries: Bedrock's Converse API, the
//! messages of the AI SDK, items of the Responses API, Gemini.

use std::borrow::Cow;

use mcptest_trace::trace::canonical_json;
use serde_json::{Value, json};

use crate::event::{Answer, Call, Event, ForeignRun};
use crate::json::{
    identifier, list, member, non_null, nonempty_string, parse_flag, role, text, truthy,
};
use crate::loss::LossReason;

/// What a part of a message is, besides what somebody says.
pub(crate) enum MessagePart {
    Call(Call),
    Answer(Answer),
    /// A call, and its result if it has one.
    Both(Call, Option<Answer>),
    Thought,
    /// Where a model call of the AI SDK begins.
    Mark,
    /// It looks like a call or a result, in a form that is not known.
    Unknown,
}

impl MessagePart {
    /// What a part is, if it is no text, no picture and no block of Anthropic's.
    pub(crate) fn from_value(part: &Value) -> Option<Self> {
        let kind = text(part, "type").unwrap_or_default();
        let inner = |key: &str| non_null(part, key).filter(|inner| inner.is_object());
        if let Some(call) = inner("toolUse") {
            return Some(Self::Call(parse_call(call, "toolUseId", "name", "input")));
        }
        if let Some(result) = inner("toolResult") {
            return Some(Self::Answer(parse_converse_result(result)));
        }
        if let Some(call) = inner("functionCall") {
            return Some(Self::Call(parse_call(call, "id", "name", "args")));
        }
        if let Some(result) = inner("functionResponse") {
            let value = member(result, "response");
            return Some(Self::Answer(parse_answer(
                result, "id", "name", value, None,
            )));
        }
        Some(match kind {
            "tool-call" => {
                let is_old = non_null(part, "input").is_none();
                let args = if is_old { "args" } else { "input" };
                Self::Call(parse_call(part, "toolCallId", "toolName", args))
            }
            "tool-result" => Self::Answer(parse_ai_sdk_result(part)),
            "function_call" => {
                let id = identifier(part, "call_id").or_else(|| identifier(part, "id"));
                Self::Call(Call::new(id, text(part, "name"), member(part, "arguments")))
            }
            "function_call_output" => {
                let value = member(part, "output");
                Self::Answer(parse_answer(part, "call_id", "name", value, None))
            }
            "reasoning" => Self::Thought,
            "step-start" => Self::Mark,
            _ if is_ui_call(part) => {
                let name = kind.strip_prefix("tool-");
                let name = name.or_else(|| text(part, "toolName"));
                let call = Call::new(identifier(part, "toolCallId"), name, member(part, "input"));
                Self::Both(call, parse_ui_result(part))
            }
            _ if inner("reasoningContent").is_some() => Self::Thought,
            _ if looks_like_call(part) => Self::Unknown,
            _ => return None,
        })
    }

    /// Puts the part among the events of a run, or reports it.
    pub(crate) fn read(self, part: &Value, run: &mut ForeignRun) {
        match self {
            Self::Call(call) => run.push_call(call),
            Self::Answer(answer) => run.push(Event::Answer(answer)),
            Self::Both(call, answer) => {
                run.push_call(call);
                if let Some(answer) = answer {
                    run.push(Event::Answer(answer));
                }
            }
            Self::Thought => run.note("reasoning left out"),
            Self::Mark => {
                if !matches!(run.events.last(), Some(Event::Step(_))) {
                    run.push_step(None);
                }
            }
            Self::Unknown => run.report_lost(LossReason::UnknownCall, canonical_json(part)),
        }
    }
}

/// Whether a message has parts that are no text, no picture and no block of Anthropic's.
pub(crate) fn has_part(message: &Value) -> bool {
    let mut parts = list(message, "content").iter();
    parts.any(|part| MessagePart::from_value(part).is_some())
}

/// Whether a message of a tool holds results that say themselves of which call they are. Else its content is a result,
/// whatever stands in it.
pub(crate) fn holds_results(message: &Value) -> bool {
    non_null(message, "tool_call_id").is_none() && has_part(message)
}

fn parse_call(call: &Value, id: &str, name: &str, args: &str) -> Call {
    Call::new(identifier(call, id), text(call, name), member(call, args))
}

fn parse_answer(
    result: &Value,
    id: &str,
    name: &str,
    value: Value,
    is_error: Option<bool>,
) -> Answer {
    Answer {
        id: identifier(result, id),
        name: nonempty_string(result, name),
        value,
        is_error,
        duration_ms: None,
    }
}

/// A result of the Converse API: a list of texts and values, and a status that some models lack.
fn parse_converse_result(result: &Value) -> Answer {
    let block = |block: &Value| match (text(block, "text"), non_null(block, "json")) {
        (Some(said), _) => json!({ "type": "text", "text": said }),
        (_, Some(value)) => json!({ "type": "text", "text": canonical_json(value) }),
        _ => block.clone(),
    };
    let value = match list(result, "content") {
        [only] if non_null(only, "json").is_some() => member(only, "json"),
        blocks => blocks.iter().map(block).collect(),
    };
    let is_error = match text(result, "status") {
        Some("error") => Some(true),
        Some("success") => Some(false),
        _ => None,
    };
    parse_answer(result, "toolUseId", "name", value, is_error)
}

/// A result of the AI SDK: since version 5 its output says of which kind it is.
fn parse_ai_sdk_result(part: &Value) -> Answer {
    let output = non_null(part, "output").filter(|output| text(output, "type").is_some());
    let (value, is_error) = if let Some(output) = output {
        let kind = text(output, "type").unwrap_or_default();
        let failed = kind.starts_with("error") || kind == "execution-denied";
        let value = ["value", "reason"]
            .iter()
            .find_map(|key| non_null(output, key));
        (value, Some(failed))
    } else {
        let value = ["output", "result"]
            .iter()
            .find_map(|key| non_null(part, key));
        (value, part.get("isError").and_then(parse_flag))
    };
    let value = value.cloned().unwrap_or_default();
    parse_answer(part, "toolCallId", "toolName", value, is_error)
}

/// Whether a part is a call as the AI SDK shows it to users: `tool-NAME`, with its state.
fn is_ui_call(part: &Value) -> bool {
    let kind = text(part, "type").unwrap_or_default();
    let states = ["input-available", "output-available", "output-error"];
    let is_known = text(part, "state").is_some_and(|state| states.contains(&state));
    is_known && (kind.starts_with("tool-") || kind == "dynamic-tool")
}

/// The result of such a call.
fn parse_ui_result(part: &Value) -> Option<Answer> {
    let (key, failed) = match text(part, "state")? {
        "output-available" => ("output", false),
        "output-error" => ("errorText", true),
        _ => return None,
    };
    let value = member(part, key);
    Some(parse_answer(
        part,
        "toolCallId",
        "toolName",
        value,
        Some(failed),
    ))
}

/// Whether a name is one that calls and results of tools have somewhere.
fn is_call_key(name: &str) -> bool {
    let name = name.to_lowercase().replace(['-', '_'], "");
    let ends = [
        "call",
        "calls",
        "use",
        "uses",
        "result",
        "results",
        "response",
        "output",
        "invocation",
        "invocations",
    ];
    (name.contains("tool") || name.contains("function"))
        && ends.iter().any(|end| name.ends_with(end))
}

fn looks_like_call(part: &Value) -> bool {
    let kind = text(part, "type").unwrap_or_default();
    // Blocks of Anthropic's, which are read as such.
    let is_block = kind.ends_with("tool_use") || kind.ends_with("tool_result");
    let mut members = part.as_object().into_iter().flatten();
    let is_of_call = |(key, value): (&String, &Value)| {
        matches!(key.as_str(), "toolCallId" | "toolUseId" | "tool_call_id")
            || (value.is_object() || value.is_array()) && is_call_key(key)
    };
    !is_block && (is_call_key(kind) || members.any(is_of_call))
}

/// A message with its parts and its calls under the keys that are read: `tool_calls` for `toolCalls`.
pub(crate) fn normalize_keys(message: &Value) -> Cow<'_, Value> {
    const KEYS: [(&str, &str); 5] = [
        ("parts", "content"),
        ("toolCalls", "tool_calls"),
        ("toolCallId", "tool_call_id"),
        ("functionCall", "function_call"),
        ("toolName", "tool_name"),
    ];
    const OF_CALL: [(&str, &str); 2] = [("toolCallId", "id"), ("toolName", "name")];
    let id = answered_call_id(message);
    if id.is_none()
        && !KEYS
            .iter()
            .any(|(from, _)| non_null(message, from).is_some())
    {
        return Cow::Borrowed(message);
    }
    let mut message = message.clone();
    rename_keys(&mut message, &KEYS);
    if let Some(id) = id {
        message["tool_call_id"] = id.into();
    }
    if let Some(Value::Array(calls)) = message.get_mut("tool_calls") {
        for call in calls {
            rename_keys(call, &OF_CALL);
        }
    }
    Cow::Owned(message)
}

/// The identifier of the call that a result answers, where it stands in a list of one (SWE-agent) or in the call, which
/// the result repeats (`AgentDojo`).
fn answered_call_id(message: &Value) -> Option<String> {
    if !is_result(message) || non_null(message, "tool_call_id").is_some() {
        return None;
    }
    match list(message, "tool_call_ids") {
        [Value::String(id)] => Some(id.clone()),
        _ => identifier(non_null(message, "tool_call")?, "id"),
    }
}

fn is_result(message: &Value) -> bool {
    matches!(role(message).as_deref(), Some("tool" | "function"))
}

/// Gives members their other names, unless these are there.
fn rename_keys(value: &mut Value, keys: &[(&str, &str)]) {
    for (from, to) in keys {
        if non_null(value, to).is_none()
            && let Some(map) = value.as_object_mut()
            && let Some(member) = map.remove(*from)
        {
            map.insert((*to).to_owned(), member);
        }
    }
}

/// Reports what a message has beside its content that looks like calls, in a form that is not known.
pub(crate) fn report_unknown(message: &Value, run: &mut ForeignRun) {
    const READ: [&str; 2] = ["tool_calls", "function_call"];
    for (key, value) in message.as_object().into_iter().flatten() {
        let is_read = match value {
            // A list of calls, or a call.
            Value::Array(_) => key == READ[0],
            Value::Object(_) => key == READ[1],
            _ => true,
        };
        // A result may repeat its call.
        let is_echo = key == "tool_call" && is_result(message);
        if !is_read && !is_echo && is_call_key(key) && truthy(value) {
            let shown = canonical_json(&json!({ key: value }));
            run.report_lost(LossReason::UnknownCall, shown);
        }
    }
}
