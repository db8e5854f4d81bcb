//! The messages of a model call, in whichever of the conventions they are.

use mcptest_trace::trace::canonical_json;
use serde_json::{Map, Value, json};

use super::span::{Log, OtelSpan};
use crate::import::blob;
use crate::import::content::text_of;
use crate::import::event::{Answer, Call, Event};
use crate::import::json::{given, identifier, is_set, list, member, role, text, unfolded};
use crate::import::openai::error_flag;

/// A message.
#[derive(Debug, Default)]
pub(super) struct OtelMessage {
    pub(super) role: String,
    /// What is said, called and answered in it.
    pub(super) parts: Vec<Event>,
    /// What is left out of it.
    pub(super) notes: Vec<&'static str>,
    pub(super) finish: Option<String>,
}

/// A part of a message, or what is noted in its place.
type MessagePart = Result<Event, &'static str>;

/// What a model call was sent and what it wrote.
#[derive(Debug, Default)]
pub(super) struct Exchanged {
    pub(super) system: Vec<String>,
    pub(super) input: Vec<OtelMessage>,
    pub(super) output: Vec<OtelMessage>,
}

impl OtelMessage {
    fn new(role: &str, parts: impl IntoIterator<Item = MessagePart>, finish: Option<&str>) -> Self {
        let mut message = Self {
            role: role.to_lowercase(),
            finish: finish.map(str::to_owned),
            ..Self::default()
        };
        for part in parts {
            match part {
                Ok(part) => message.parts.push(part),
                Err(note) => message.notes.push(note),
            }
        }
        message
    }

    /// What makes a message the same message.
    pub(super) fn essence(&self) -> String {
        self.essence_with(|call| call.id.as_deref())
    }

    /// The same, whatever its calls are identified by.
    pub(super) fn anonymous_essence(&self) -> String {
        self.essence_with(|_| None)
    }

    fn essence_with(&self, id: impl Fn(&Call) -> Option<&str>) -> String {
        let parts = self.parts.iter().map(|part| match part {
            Event::Call(call) => json!([id(call), call.name, unfolded(&call.args)]),
            Event::Answer(answer) => json!([answer.id, answer.value]),
            part => json!(text_in(part)),
        });
        canonical_json(&json!([self.role, parts.collect::<Vec<_>>()]))
    }

    pub(super) fn calls(&self) -> impl Iterator<Item = &Call> {
        self.parts.iter().filter_map(|part| match part {
            Event::Call(call) => Some(call),
            _ => None,
        })
    }

    pub(super) fn text(&self) -> String {
        self.parts.iter().filter_map(text_in).collect()
    }
}

fn text_in(part: &Event) -> Option<&str> {
    match part {
        Event::Said(text) => Some(text),
        _ => None,
    }
}

/// Reads the messages of a model call from its span and the log records beside it.
pub(super) fn of(span: &OtelSpan, logs: &[&Log]) -> Exchanged {
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
    let is_system = |message: &OtelMessage| matches!(message.role.as_str(), "system" | "developer");
    let (system, input): (Vec<_>, Vec<_>) = exchanged.input.drain(..).partition(is_system);
    exchanged
        .system
        .extend(system.iter().map(OtelMessage::text));
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
        let text = match &system {
            Value::Array(parts) => OtelMessage::new("system", parts.iter().map(part), None).text(),
            other => text_of(Some(other)),
        };
        into.system = vec![text];
    }
}

/// A message with parts.
fn of_parts(message: &Value) -> OtelMessage {
    let parts = list(message, "parts");
    if parts.is_empty() && given(message, "content").is_some() {
        return of_chat(message);
    }
    let role = text(message, "role").unwrap_or_default();
    OtelMessage::new(role, parts.iter().map(part), text(message, "finish_reason"))
}

fn part(part: &Value) -> MessagePart {
    let content = || part.get("content").or_else(|| part.get("text"));
    let own = |keys: &[&str]| keys.iter().find_map(|key| given(part, key)).cloned();
    let answer = |id, value, is_error| {
        Event::Answer(Answer {
            id,
            value,
            is_error,
        })
    };
    Ok(match text(part, "type").unwrap_or("text") {
        "text" => Event::Said(text_of(content())),
        "reasoning" => return Err("reasoning left out"),
        "tool_call" | "server_tool_call" => {
            let inner = given(part, "server_tool_call").unwrap_or(part);
            let name = text(part, "name").or_else(|| text(inner, "name"));
            let args = own(&["arguments", "server_tool_call"]).unwrap_or_default();
            Event::Call(Call::new(identifier(part, "id"), name, args))
        }
        "tool_call_response" | "server_tool_call_response" => {
            let value = own(&["response", "result", "server_tool_call_response"]);
            answer(
                identifier(part, "id"),
                value.unwrap_or_default(),
                error_flag(part),
            )
        }
        "tool-call" => {
            let args = own(&["input", "args"]).unwrap_or_default();
            let id = identifier(part, "toolCallId");
            Event::Call(Call::new(id, text(part, "toolName"), args))
        }
        "tool-result" => {
            let value = own(&["output", "result"]).unwrap_or_default();
            // From the fifth release on with the kind of the value beside it.
            let kind = text(&value, "type").filter(|_| value.get("value").is_some());
            let failed =
                kind.is_some_and(|kind| kind.starts_with("error")) || is_set(part, "isError");
            let value = match kind {
                Some(_) => value["value"].clone(),
                None => value,
            };
            answer(
                identifier(part, "toolCallId"),
                value,
                failed.then_some(true),
            )
        }
        _ => Event::Said(blob::words(part)),
    })
}

/// What spans of the Vercel AI SDK hold; before its fourth release answers were `ai.result`.
///
/// Source: vercel/ai `content/docs/03-ai-sdk-core/60-telemetry.mdx`.
fn of_ai_sdk(span: &OtelSpan, into: &mut Exchanged) {
    let Some(Value::Array(sent)) = span.first(&["ai.prompt.messages"]).map(unfolded) else {
        return;
    };
    let message = |message: &Value| {
        let role = text(message, "role").unwrap_or_default();
        match message.get("content") {
            Some(Value::Array(parts)) => OtelMessage::new(role, parts.iter().map(part), None),
            content => OtelMessage::new(role, [Ok(Event::Said(text_of(content)))], None),
        }
    };
    into.input = sent.iter().map(message).collect();
    let said = ["text", "object"].iter().find_map(|key| {
        span.text(&format!("ai.response.{key}"))
            .or_else(|| span.text(&format!("ai.result.{key}")))
    });
    let mut parts = Vec::from_iter(said.map(|said| Ok(Event::Said(said.to_owned()))));
    let calls = span.first(&["ai.response.toolCalls", "ai.result.toolCalls"]);
    if let Some(Value::Array(calls)) = calls.map(unfolded) {
        parts.extend(calls.into_iter().map(|mut call| {
            let map = call
                .as_object_mut()
                .ok_or("what is no tool call left out")?;
            map.insert("type".to_owned(), "tool-call".into());
            part(&call)
        }));
    }
    if !parts.is_empty() {
        into.output.push(OtelMessage::new("assistant", parts, None));
    }
}

/// A message as chat APIs have it.
fn of_chat(message: &Value) -> OtelMessage {
    let role = role(message).unwrap_or_default();
    let content = given(message, "content");
    let mut message_of = OtelMessage::new(&role, [], text(message, "finish_reason"));
    let parts = &mut message_of.parts;
    // Anthropic's results are the user's messages.
    let answers = role == "tool" || role == "user" && given(message, "tool_call_id").is_some();
    if answers && (content.is_some() || list(message, "tool_calls").is_empty()) {
        parts.push(Event::Answer(Answer {
            id: identifier(message, "tool_call_id").or_else(|| identifier(message, "id")),
            value: content.cloned().unwrap_or_default(),
            is_error: error_flag(message),
        }));
    } else {
        let said = Some(text_of(content)).filter(|said| !said.is_empty());
        parts.extend(said.map(Event::Said));
    }
    for call in list(message, "tool_calls") {
        let call = given(call, "tool_call").unwrap_or(call);
        let function = given(call, "function").unwrap_or(call);
        let (id, args) = (identifier(call, "id"), member(function, "arguments"));
        parts.push(Event::Call(Call::new(id, text(function, "name"), args)));
    }
    message_of
}

impl Exchanged {
    pub(super) fn is_empty(&self) -> bool {
        self.input.is_empty() && self.output.is_empty()
    }

    /// One of the events up to version 1.36.
    fn event(&mut self, event: &Log) {
        let mut body = match &event.body {
            Value::Object(map) => map.clone(),
            other => unfolded(other).as_object().cloned().unwrap_or_default(),
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
    let members = members.filter_map(|(key, value)| Some((key.parse().ok()?, value)));
    let mut numbered: Vec<(u32, &Value)> = members.collect();
    numbered.sort_by_key(|(number, _)| *number);
    let values = numbered.into_iter().map(|(_, value)| value.clone());
    values.collect()
}
