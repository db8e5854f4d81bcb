//! The messages of a model call, in whichever of the conventions they are.

use mcptest_trace::spans::Meaning;
use mcptest_trace::trace::canonical_json;
use serde_json::{Map, Value, json};

use super::span::{Log, OtelSpan};
use super::spread::{self, Place};
use crate::blob;
use crate::content::text_of;
use crate::event::{Answer, Call, Event};
use crate::formats::openai::error_flag;
use crate::input::Change;
use crate::json::{
    identifier, is_set, list, member, non_null, nonempty_string, role, text, unwrap_json_text,
    unwrap_json_text_with_changes,
};

/// A message.
#[derive(Debug, Clone, Default)]
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
    /// What was read otherwise than it is written.
    pub(super) changes: Vec<Change>,
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

    /// What makes each part of it the same part, whatever message it stands in: calls and results are known by
    /// their identifiers.
    pub(super) fn part_keys(&self) -> impl Iterator<Item = String> {
        self.parts.iter().map(|part| {
            let essence = match part {
                Event::Call(call) => match &call.id {
                    Some(id) => json!(["call", id, call.name]),
                    None => json!(["call", null, call.name, unwrap_json_text(&call.args)]),
                },
                Event::Answer(answer) => match &answer.id {
                    Some(id) => json!(["result", id]),
                    None => json!(["result", null, answer.value]),
                },
                part => json!([canonical_role(&self.role), part_text(part)]),
            };
            canonical_json(&essence)
        })
    }

    pub(super) fn calls(&self) -> impl Iterator<Item = &Call> {
        self.parts.iter().filter_map(|part| match part {
            Event::Call(call) => Some(call),
            _ => None,
        })
    }

    pub(super) fn calls_mut(&mut self) -> impl Iterator<Item = &mut Call> {
        self.parts.iter_mut().filter_map(|part| match part {
            Event::Call(call) => Some(call),
            _ => None,
        })
    }

    pub(super) fn text(&self) -> String {
        self.parts.iter().filter_map(part_text).collect()
    }
}

/// Who speaks, by one name.
fn canonical_role(role: &str) -> &str {
    match role {
        "model" | "ai" | "agent" => "assistant",
        "human" => "user",
        other => other,
    }
}

fn part_text(part: &Event) -> Option<&str> {
    match part {
        Event::Said(text) => Some(text),
        _ => None,
    }
}

/// Reads the messages of a model call from its span and the log records beside it.
pub(super) fn from_span(span: &OtelSpan, logs: &[&Log]) -> Exchanged {
    let mut exchanged = Exchanged::default();
    read_structured(&span.attributes, &mut exchanged);
    let events = || span.events.iter().chain(logs.iter().copied());
    for event in events() {
        read_structured(&event.attributes, &mut exchanged);
    }
    if exchanged.is_empty() {
        read_ai_sdk(span, &mut exchanged);
    }
    if exchanged.is_empty() {
        for event in events() {
            exchanged.add_event(event);
        }
    }
    if exchanged.is_empty() {
        exchanged.add_spread(&span.attributes);
    }
    let is_system = |message: &OtelMessage| matches!(message.role.as_str(), "system" | "developer");
    let (system, input): (Vec<_>, Vec<_>) = exchanged.input.drain(..).partition(is_system);
    exchanged.add_instructions(system.iter().map(OtelMessage::text).collect());
    exchanged.input = input;
    exchanged
}

impl Exchanged {
    /// Takes in messages that are spread over attributes.
    fn add_spread(&mut self, attributes: &Map<String, Value>) {
        for (message, place) in spread::messages(attributes) {
            let mut message = parse_chat_message(&message);
            match (place, self.output.first_mut()) {
                (Place::Input, _) => self.input.push(message),
                (Place::Part, Some(first)) => first.parts.append(&mut message.parts),
                (Place::Part | Place::Output, _) => self.output.push(message),
            }
        }
    }
}

/// `gen_ai.input.messages` and its like.
fn read_structured(attributes: &Map<String, Value>, into: &mut Exchanged) {
    let changes = &mut into.changes;
    let mut first = |meaning: Meaning| {
        let mut values = meaning.names().filter_map(|key| attributes.get(key));
        let value = values.find(|value| !value.is_null())?;
        Some(unwrap_json_text_with_changes(value, changes))
    };
    let system = first(Meaning::SystemPrompt);
    let mut messages = |meaning: Meaning| {
        let value = first(meaning)?;
        let messages = value
            .as_array()?
            .iter()
            .map(parse_parts_message)
            .collect::<Vec<_>>();
        Some(messages)
    };
    if let Some(input) = messages(Meaning::Input) {
        into.input = input;
    }
    if let Some(output) = messages(Meaning::Output) {
        into.output = output;
    }
    if let Some(system) = system {
        let text = match &system {
            Value::Array(parts) => {
                OtelMessage::new("system", parts.iter().map(parse_part), None).text()
            }
            other => text_of(Some(other)),
        };
        into.system = vec![text];
    }
}

/// A message with parts.
fn parse_parts_message(message: &Value) -> OtelMessage {
    let parts = list(message, "parts");
    if parts.is_empty() && non_null(message, "content").is_some() {
        return parse_chat_message(message);
    }
    let role = text(message, "role").unwrap_or_default();
    OtelMessage::new(
        role,
        parts.iter().map(parse_part),
        text(message, "finish_reason"),
    )
}

fn parse_part(part: &Value) -> MessagePart {
    let content = || part.get("content").or_else(|| part.get("text"));
    let own = |keys: &[&str]| keys.iter().find_map(|key| non_null(part, key)).cloned();
    let answer = |id, value, is_error| {
        Event::Answer(Answer {
            id,
            name: nonempty_string(part, "name"),
            value,
            is_error,
            duration_ms: None,
        })
    };
    Ok(match text(part, "type").unwrap_or("text") {
        "text" => Event::Said(text_of(content())),
        "reasoning" => return Err("reasoning left out"),
        "tool_call" | "server_tool_call" => {
            let inner = non_null(part, "server_tool_call").unwrap_or(part);
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
fn read_ai_sdk(span: &OtelSpan, into: &mut Exchanged) {
    let sent = span.attribute(Meaning::Prompt);
    let sent = sent.map(|sent| unwrap_json_text_with_changes(sent, &mut into.changes));
    let Some(Value::Array(sent)) = sent else {
        return;
    };
    let message = |message: &Value| {
        let role = text(message, "role").unwrap_or_default();
        match message.get("content") {
            Some(Value::Array(parts)) => OtelMessage::new(role, parts.iter().map(parse_part), None),
            content => OtelMessage::new(role, [Ok(Event::Said(text_of(content)))], None),
        }
    };
    into.input = sent.iter().map(message).collect();
    let said = span.attribute_text(Meaning::OutputText);
    let mut parts = Vec::from_iter(said.map(|said| Ok(Event::Said(said.to_owned()))));
    if let Some(Value::Array(calls)) = span.attribute(Meaning::OutputCalls).map(unwrap_json_text) {
        parts.extend(calls.into_iter().map(|mut call| {
            let map = call
                .as_object_mut()
                .ok_or("parts that are no tool call left out")?;
            map.insert("type".to_owned(), "tool-call".into());
            parse_part(&call)
        }));
    }
    if !parts.is_empty() {
        into.output.push(OtelMessage::new("assistant", parts, None));
    }
}

/// A message as chat APIs have it.
pub(super) fn parse_chat_message(message: &Value) -> OtelMessage {
    let role = role(message).unwrap_or_default();
    let content = non_null(message, "content");
    let mut message_of = OtelMessage::new(&role, [], text(message, "finish_reason"));
    let parts = &mut message_of.parts;
    // Anthropic's results are the user's messages.
    let answers = role == "tool" || role == "user" && non_null(message, "tool_call_id").is_some();
    if answers && (content.is_some() || list(message, "tool_calls").is_empty()) {
        parts.push(Event::Answer(Answer {
            id: identifier(message, "tool_call_id").or_else(|| identifier(message, "id")),
            name: nonempty_string(message, "name"),
            value: content.cloned().unwrap_or_default(),
            is_error: error_flag(message),
            duration_ms: None,
        }));
    } else {
        let said = Some(text_of(content)).filter(|said| !said.is_empty());
        parts.extend(said.map(Event::Said));
    }
    for call in list(message, "tool_calls") {
        let call = non_null(call, "tool_call").unwrap_or(call);
        let function = non_null(call, "function").unwrap_or(call);
        let (id, args) = (identifier(call, "id"), member(function, "arguments"));
        parts.push(Event::Call(Call::new(id, text(function, "name"), args)));
    }
    message_of
}

impl Exchanged {
    pub(super) fn is_empty(&self) -> bool {
        self.input.is_empty() && self.output.is_empty()
    }

    /// Takes what system messages say beside what the system instructions say: who writes both says one thing
    /// twice.
    fn add_instructions(&mut self, said: Vec<String>) {
        let dense = |texts: &[String]| -> String {
            let letters = texts.iter().flat_map(|text| text.chars());
            letters.filter(|letter| !letter.is_whitespace()).collect()
        };
        let (known, all) = (dense(&self.system), dense(&said));
        if all.len() > known.len() && all.contains(&known) {
            self.system = said;
            return;
        }
        let is_new = |text: &String| !known.contains(&dense(std::slice::from_ref(text)));
        self.system.extend(said.into_iter().filter(is_new));
    }

    /// One of the events up to version 1.36.
    fn add_event(&mut self, event: &Log) {
        let mut body = match &event.body {
            Value::Object(map) => map.clone(),
            other => unwrap_json_text(other)
                .as_object()
                .cloned()
                .unwrap_or_default(),
        };
        for (key, value) in &event.attributes {
            body.entry(key.clone()).or_insert_with(|| value.clone());
        }
        for key in ["tool_calls", "message"] {
            if let Some(value) = body.get_mut(key) {
                *value = unwrap_json_text(value);
            }
        }
        let body = Value::Object(body);
        let role = match event.name.as_str() {
            "gen_ai.system.message" => "system",
            "gen_ai.user.message" => "user",
            "gen_ai.assistant.message" => "assistant",
            "gen_ai.tool.message" => "tool",
            "gen_ai.choice" => {
                let message = non_null(&body, "message").unwrap_or(&body);
                let message = spread::with_role(message, "assistant");
                let mut choice = parse_chat_message(&message);
                choice.finish = text(&body, "finish_reason").map(str::to_owned);
                self.output.push(choice);
                return;
            }
            _ => return,
        };
        self.input
            .push(parse_chat_message(&spread::with_role(&body, role)));
    }
}
