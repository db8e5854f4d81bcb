//! What a model call was sent and what it wrote, as its span says it.

use serde_json::{Map, Value, json};

use crate::spans::Meaning;
use crate::trace::canonical_json;

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    Text(String),
    Call {
        id: Option<String>,
        name: String,
        args: Value,
    },
    Result {
        id: Option<String>,
        value: Value,
    },
}

/// A message.
#[derive(Debug, Clone)]
pub(super) struct Message {
    pub(super) role: String,
    pub(super) parts: Vec<Part>,
}

/// What a model call was sent and what it wrote.
#[derive(Debug, Clone, Default)]
pub(super) struct Exchange {
    pub(super) system: Option<String>,
    /// None where the span does not carry it.
    pub(super) input: Option<Vec<Message>>,
    pub(super) output: Option<Message>,
    /// How the answer ended, where the message says so.
    pub(super) finish: Option<String>,
}

impl Exchange {
    pub(super) fn from_attributes(attributes: &Map<String, Value>) -> Self {
        let told = |meaning: Meaning| {
            let mut values = meaning.names().filter_map(|key| attributes.get(key));
            values.find(|value| !value.is_null()).map(parse_nested_json)
        };
        let messages = |meaning| -> Option<Vec<Value>> {
            match told(meaning)? {
                Value::Array(messages) => Some(messages),
                _ => None,
            }
        };
        let instructions = told(Meaning::SystemPrompt).map(|told| match told {
            Value::Array(parts) => parts.iter().filter_map(content_text).collect::<Vec<_>>(),
            other => content_text(&other).into_iter().collect(),
        });
        let mut system = instructions.unwrap_or_default();
        let input = messages(Meaning::Input).map(|messages| {
            let messages = messages.iter().map(Message::from_json);
            let (instructing, rest): (Vec<_>, Vec<_>) =
                messages.partition(|message| is_system(&message.role));
            for message in instructing {
                let text = message.text();
                // Who writes both says one thing twice.
                if !without_whitespace(&system.concat()).contains(&without_whitespace(&text)) {
                    system.push(text);
                }
            }
            rest
        });
        let output = messages(Meaning::Output).unwrap_or_default();
        let output = output.first();
        Self {
            system: Some(system.join("\n\n")).filter(|text| !text.is_empty()),
            input,
            output: output.map(Message::from_json),
            finish: output.and_then(|it| Some(it.get("finish_reason")?.as_str()?.to_owned())),
        }
    }

    /// The tools that the answer calls.
    pub(super) fn calls(&self) -> impl Iterator<Item = &Part> {
        let parts = self.output.iter().flat_map(|message| &message.parts);
        parts.filter(|part| matches!(part, Part::Call { .. }))
    }

    /// Whether a model had answered before this call: it goes on with a conversation.
    pub(super) fn continues_conversation(&self) -> bool {
        let mut messages = self.input.iter().flatten();
        messages.any(Message::is_of_model)
    }

    /// What the user said first.
    pub(super) fn first_user_text(&self) -> Option<String> {
        let mut messages = self.input.iter().flatten();
        let first = messages.find(|message| message.is_of_user() && message.has_text())?;
        Some(first.text())
    }

    /// A key for each part that was sent: parts with equal keys are one part.
    pub(super) fn request_keys(&self) -> Vec<String> {
        let messages = self.input.iter().flatten();
        messages.flat_map(Message::part_keys).collect()
    }

    /// A key for each part of the answer: parts with equal keys are one part.
    pub(super) fn response_keys(&self) -> Vec<String> {
        let messages = self.output.iter();
        messages.flat_map(Message::part_keys).collect()
    }
}

impl Message {
    fn from_json(message: &Value) -> Self {
        let text = |key: &str| message.get(key).and_then(Value::as_str);
        let parts = message.get("parts").and_then(Value::as_array);
        let mut parts = merge_texts(parts.into_iter().flatten().filter_map(Part::from_json));
        if let (true, Some(content)) = (parts.is_empty(), text("content")) {
            parts.push(Part::Text(content.to_owned()));
        }
        Self {
            role: text("role").unwrap_or_default().to_lowercase(),
            parts,
        }
    }

    pub(super) fn is_of_user(&self) -> bool {
        matches!(self.role.as_str(), "user" | "human")
    }

    fn is_of_model(&self) -> bool {
        matches!(self.role.as_str(), "assistant" | "model" | "ai" | "agent")
    }

    fn has_text(&self) -> bool {
        self.parts
            .iter()
            .any(|part| matches!(part, Part::Text(text) if !text.is_empty()))
    }

    fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// The keys of the parts. A call or a result is known by its identifier, a text by who says it.
    fn part_keys(&self) -> impl Iterator<Item = String> {
        let speaker = if self.is_of_model() {
            "assistant"
        } else {
            &self.role
        };
        self.parts.iter().map(move |part| {
            let essence = match part {
                Part::Call {
                    id: Some(id), name, ..
                } => json!(["call", id, name]),
                Part::Call {
                    id: None,
                    name,
                    args,
                } => json!(["call", null, name, args]),
                Part::Result { id: Some(id), .. } => json!(["result", id]),
                Part::Result { id: None, value } => json!(["result", null, value]),
                Part::Text(text) => json!([speaker, text]),
            };
            canonical_json(&essence)
        })
    }
}

impl Part {
    fn from_json(part: &Value) -> Option<Self> {
        let own = |key: &str| part.get(key).filter(|value| !value.is_null());
        let named = |key: &str| own(key).and_then(Value::as_str).map(str::to_owned);
        Some(match named("type").as_deref().unwrap_or("text") {
            "text" => Self::Text(content_text(part).unwrap_or_default()),
            // Its tokens are counted; what it says is nobody's answer.
            "reasoning" => return None,
            "tool_call" => Self::Call {
                id: named("id"),
                name: named("name").unwrap_or_default(),
                args: own("arguments").map_or_else(|| json!({}), arguments),
            },
            "tool_call_response" => Self::Result {
                id: named("id"),
                value: own("response")
                    .or(own("result"))
                    .cloned()
                    .unwrap_or_default(),
            },
            other => Self::Text(format!("[{other}]")),
        })
    }
}

/// Parts, of which texts that follow one another are one: of a stream each piece may be a part.
fn merge_texts(all: impl Iterator<Item = Part>) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for part in all {
        match (part, parts.last_mut()) {
            (Part::Text(more), Some(Part::Text(text))) => text.push_str(&more),
            (part, _) => parts.push(part),
        }
    }
    parts
}

/// Arguments: JSON in a text is the object that it is.
pub(super) fn arguments(value: &Value) -> Value {
    match value {
        Value::String(text) if text.trim().is_empty() => json!({}),
        Value::String(text) => match serde_json::from_str(text) {
            Ok(Value::Object(map)) => Value::Object(map),
            _ => value.clone(),
        },
        other => other.clone(),
    }
}

/// A value that stands as JSON in a text: the value.
fn parse_nested_json(value: &Value) -> Value {
    let text = value.as_str();
    let inner = text.and_then(|text| serde_json::from_str(text).ok());
    inner.unwrap_or_else(|| value.clone())
}

fn content_text(value: &Value) -> Option<String> {
    let content = value.get("content").or_else(|| value.get("text"));
    content.unwrap_or(value).as_str().map(str::to_owned)
}

fn is_system(role: &str) -> bool {
    matches!(role, "system" | "developer")
}

fn without_whitespace(text: &str) -> String {
    text.chars()
        .filter(|letter| !letter.is_whitespace())
        .collect()
}
