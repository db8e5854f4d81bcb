//! The messages of a model call, in whichever of the conventions they are.

use mcptest_trace::trace::canonical_json;
use serde_json::{Map, Value, json};

use super::span::{Log, Span};
use crate::import::blob;
use crate::import::json::{given, identifier, list, text, unfolded};
use crate::import::openai::text_of;

/// A message.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Message {
    pub(super) role: String,
    pub(super) parts: Vec<Part>,
    pub(super) finish: Option<String>,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    Text(String),
    Call {
        id: Option<String>,
        name: String,
        args: Value,
    },
    Response {
        id: Option<String>,
        value: Value,
        failed: Option<bool>,
    },
    Reasoning,
    /// What stands among tool calls and is none.
    NoCall,
}

/// What a model call was sent and what it wrote.
#[derive(Debug, Default)]
pub(super) struct Exchanged {
    pub(super) system: Vec<String>,
    pub(super) input: Vec<Message>,
    pub(super) output: Vec<Message>,
}

impl Message {
    /// What makes a message the same message.
    pub(super) fn essence(&self) -> String {
        let parts: Vec<Value> = self
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Text(text) => Some(json!(text)),
                Part::Call { id, name, args } => Some(json!([id, name, unfolded(args)])),
                Part::Response { id, value, .. } => Some(json!([id, value])),
                Part::Reasoning | Part::NoCall => None,
            })
            .collect();
        canonical_json(&json!([self.role, parts]))
    }

    pub(super) fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}

/// Reads the messages of a model call from its span and the log records beside it.
pub(super) fn of(span: &Span, logs: &[&Log]) -> Exchanged {
    let mut exchanged = Exchanged::default();
    structured(&span.attributes, &mut exchanged);
    let events = || span.events.iter().chain(logs.iter().copied());
    for event in events() {
        structured(&event.attributes, &mut exchanged);
    }
    if exchanged.is_empty() {
        of_ai_sdk(span, &mut exchanged);
    }
    if exchanged.is_empty() {
        for event in events() {
            exchanged.event(event);
        }
    }
    if exchanged.is_empty() {
        exchanged.flat(&span.attributes);
    }
    let (system, input): (Vec<_>, Vec<_>) = exchanged
        .input
        .drain(..)
        .partition(|message| matches!(message.role.as_str(), "system" | "developer"));
    exchanged.system.extend(system.iter().map(Message::text));
    exchanged.input = input;
    exchanged
}

/// `gen_ai.input.messages` and its like.
fn structured(attributes: &Map<String, Value>, into: &mut Exchanged) {
    let messages = |key: &str| {
        let value = attributes.get(key).map(unfolded)?;
        let messages = value.as_array()?.iter().map(of_parts).collect::<Vec<_>>();
        Some(messages)
    };
    if let Some(input) = messages("gen_ai.input.messages") {
        into.input = input;
    }
    if let Some(output) = messages("gen_ai.output.messages") {
        into.output = output;
    }
    if let Some(system) = attributes.get("gen_ai.system_instructions").map(unfolded) {
        let texts: Vec<String> = match &system {
            Value::Array(parts) => parts
                .iter()
                .map(part)
                .filter_map(|part| match part {
                    Part::Text(text) => Some(text),
                    _ => None,
                })
                .collect(),
            other => vec![text_of(Some(other))],
        };
        into.system = vec![texts.concat()];
    }
}

/// A message with parts.
fn of_parts(message: &Value) -> Message {
    let parts = list(message, "parts").iter().map(part).collect::<Vec<_>>();
    if parts.is_empty() && given(message, "content").is_some() {
        return of_chat(message);
    }
    Message {
        role: text(message, "role").unwrap_or_default().to_owned(),
        parts,
        finish: text(message, "finish_reason").map(str::to_owned),
    }
}

fn part(part: &Value) -> Part {
    let content = || part.get("content").or_else(|| part.get("text"));
    let own = |keys: &[&str]| keys.iter().find_map(|key| given(part, key)).cloned();
    match text(part, "type").unwrap_or("text") {
        "text" => Part::Text(text_of(content())),
        "reasoning" => Part::Reasoning,
        "tool_call" | "server_tool_call" => {
            let inner = given(part, "server_tool_call").unwrap_or(part);
            Part::Call {
                id: identifier(part, "id"),
                name: text(part, "name")
                    .or_else(|| text(inner, "name"))
                    .unwrap_or_default()
                    .to_owned(),
                args: own(&["arguments", "server_tool_call"]).unwrap_or_default(),
            }
        }
        "tool_call_response" | "server_tool_call_response" => Part::Response {
            id: identifier(part, "id"),
            value: own(&["response", "result", "server_tool_call_response"]).unwrap_or_default(),
            failed: None,
        },
        "tool-call" => Part::Call {
            id: identifier(part, "toolCallId"),
            name: text(part, "toolName").unwrap_or_default().to_owned(),
            args: own(&["input", "args"]).unwrap_or_default(),
        },
        "tool-result" => {
            let value = own(&["output", "result"]).unwrap_or_default();
            // From the fifth release on with the kind of the value beside it.
            let kind = text(&value, "type").filter(|_| value.get("value").is_some());
            let failed = kind.is_some_and(|kind| kind.starts_with("error"))
                || part.get("isError") == Some(&Value::Bool(true));
            Part::Response {
                id: identifier(part, "toolCallId"),
                value: if kind.is_some() {
                    value["value"].clone()
                } else {
                    value
                },
                failed: failed.then_some(true),
            }
        }
        _ => Part::Text(blob::words(part)),
    }
}

/// What spans of the Vercel AI SDK hold; before its fourth release answers were `ai.result`.
///
/// Source: vercel/ai `content/docs/03-ai-sdk-core/60-telemetry.mdx`.
fn of_ai_sdk(span: &Span, into: &mut Exchanged) {
    let Some(Value::Array(sent)) = span.first(&["ai.prompt.messages"]).map(unfolded) else {
        return;
    };
    let message = |message: &Value| Message {
        role: text(message, "role").unwrap_or_default().to_owned(),
        parts: match message.get("content") {
            Some(Value::Array(parts)) => parts.iter().map(part).collect(),
            content => vec![Part::Text(text_of(content))],
        },
        finish: None,
    };
    into.input = sent.iter().map(message).collect();
    let said = ["text", "object"].iter().find_map(|key| {
        span.text(&format!("ai.response.{key}"))
            .or_else(|| span.text(&format!("ai.result.{key}")))
    });
    let mut parts = Vec::from_iter(said.map(|said| Part::Text(said.to_owned())));
    let calls = span.first(&["ai.response.toolCalls", "ai.result.toolCalls"]);
    if let Some(Value::Array(calls)) = calls.map(unfolded) {
        parts.extend(calls.into_iter().map(|mut call| {
            let Some(map) = call.as_object_mut() else {
                return Part::NoCall;
            };
            map.insert("type".to_owned(), "tool-call".into());
            part(&call)
        }));
    }
    if !parts.is_empty() {
        into.output.push(Message {
            role: "assistant".to_owned(),
            parts,
            finish: None,
        });
    }
}

/// A message as chat APIs have it.
fn of_chat(message: &Value) -> Message {
    let role = text(message, "role").unwrap_or_default();
    let content = given(message, "content");
    let mut parts = Vec::new();
    if role == "tool" && (content.is_some() || list(message, "tool_calls").is_empty()) {
        parts.push(Part::Response {
            id: identifier(message, "tool_call_id").or_else(|| identifier(message, "id")),
            value: content.cloned().unwrap_or_default(),
            failed: None,
        });
    } else {
        let said = text_of(content);
        if !said.is_empty() {
            parts.push(Part::Text(said));
        }
    }
    for call in list(message, "tool_calls") {
        let call = given(call, "tool_call").unwrap_or(call);
        let function = given(call, "function").unwrap_or(call);
        parts.push(Part::Call {
            id: identifier(call, "id"),
            name: text(function, "name").unwrap_or_default().to_owned(),
            args: function.get("arguments").cloned().unwrap_or_default(),
        });
    }
    Message {
        role: role.to_owned(),
        parts,
        finish: text(message, "finish_reason").map(str::to_owned),
    }
}

impl Exchanged {
    pub(super) fn is_empty(&self) -> bool {
        self.input.is_empty() && self.output.is_empty()
    }

    /// One of the events up to version 1.36.
    fn event(&mut self, event: &Log) {
        let mut body = match &event.body {
            Value::Object(map) => map.clone(),
            Value::String(_) => unfolded(&event.body)
                .as_object()
                .cloned()
                .unwrap_or_default(),
            _ => Map::new(),
        };
        for (key, value) in &event.attributes {
            body.entry(key.clone()).or_insert_with(|| value.clone());
        }
        for key in ["tool_calls", "message"] {
            if let Some(value) = body.get_mut(key) {
                *value = unfolded(value);
            }
        }
        let body = Value::Object(body);
        let role = match event.name.as_str() {
            "gen_ai.system.message" => "system",
            "gen_ai.user.message" => "user",
            "gen_ai.assistant.message" => "assistant",
            "gen_ai.tool.message" => "tool",
            "gen_ai.choice" => {
                let message = given(&body, "message").unwrap_or(&body);
                let message = with_role(message, "assistant");
                let mut choice = of_chat(&message);
                choice.finish = text(&body, "finish_reason").map(str::to_owned);
                self.output.push(choice);
                return;
            }
            _ => return,
        };
        self.input.push(of_chat(&with_role(&body, role)));
    }

    /// Messages spread over attributes: `gen_ai.prompt.0.content`, `llm.input_messages.0.message.content`.
    fn flat(&mut self, attributes: &Map<String, Value>) {
        for (prefix, is_output) in [
            ("gen_ai.prompt.", false),
            ("gen_ai.completion.", true),
            ("llm.input_messages.", false),
            ("llm.output_messages.", true),
        ] {
            let tree = nested(attributes, prefix);
            for message in numbered(&tree) {
                let message = given(&message, "message").unwrap_or(&message);
                let nameless = if is_output { "assistant" } else { "unknown" };
                let role = text(message, "role").unwrap_or(nameless);
                let mut message = with_role(message, role);
                if let Some(parts) = given(&message, "contents").cloned() {
                    let parts = numbered(&parts).into_iter();
                    let texts: Vec<Value> = parts
                        .map(|part| given(&part, "message_content").unwrap_or(&part).clone())
                        .collect();
                    if given(&message, "content").is_none() {
                        message["content"] = texts.into();
                    }
                }
                let calls = numbered(&message["tool_calls"]);
                if !calls.is_empty() {
                    message["tool_calls"] = calls.into();
                }
                let mut message = of_chat(&message);
                if is_output {
                    // An instrumentation may give the items of one answer as messages.
                    match self.output.first_mut() {
                        Some(first) if prefix.starts_with("llm.") => {
                            first.parts.append(&mut message.parts);
                        }
                        _ => self.output.push(message),
                    }
                } else {
                    self.input.push(message);
                }
            }
        }
    }
}

/// A message with a role; what is no message is its content.
fn with_role(message: &Value, role: &str) -> Value {
    let mut message = if message.is_object() {
        message.clone()
    } else {
        json!({ "content": message })
    };
    message["role"] = role.into();
    message
}

/// The attributes under a prefix, as a tree.
fn nested(attributes: &Map<String, Value>, prefix: &str) -> Value {
    let mut root = json!({});
    for (key, value) in attributes {
        let Some(path) = key.strip_prefix(prefix) else {
            continue;
        };
        let mut at = &mut root;
        let mut segments = path.split('.').peekable();
        while let Some(segment) = segments.next() {
            if !at.is_object() {
                *at = json!({});
            }
            if segments.peek().is_none() {
                at[segment] = value.clone();
                break;
            }
            at = &mut at[segment];
        }
    }
    root
}

/// The members of a tree whose keys are numbers, in their order.
fn numbered(tree: &Value) -> Vec<Value> {
    if let Value::Array(items) = tree {
        return items.clone();
    }
    let members = tree.as_object().into_iter().flatten();
    let mut numbered: Vec<(u32, &Value)> = members
        .filter_map(|(key, value)| Some((key.parse().ok()?, value)))
        .collect();
    numbered.sort_by_key(|(number, _)| *number);
    numbered
        .into_iter()
        .map(|(_, value)| value.clone())
        .collect()
}
