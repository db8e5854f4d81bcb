//! What a client asked a model, and what the model said: one form for all wire formats.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One model call: the request and its answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Exchange {
    /// What the client asked.
    pub asked: ModelRequest,
    /// What the model said.
    pub said: ModelResponse,
}

/// A request for an answer of a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelRequest {
    /// The model that is asked.
    pub model: Option<String>,
    /// The system prompt: the text of all leading system messages, joined by a blank line.
    pub system: Option<String>,
    /// The talk so far. Where [`previous`](Self::previous) is there, only what is new.
    pub items: Vec<Item>,
    /// The tools that the model may call.
    pub tools: Vec<Tool>,
    /// The identifier of the answer that this request continues (Responses, threads of Messages).
    pub previous: Option<String>,
    /// Whether the answer comes as a stream of events.
    pub streamed: bool,
    /// Everything else in the request that may change the answer, as the format spells it.
    pub parameters: Map<String, Value>,
}

impl ModelRequest {
    /// The first thing that the user said.
    #[must_use]
    pub fn opening(&self) -> Option<&str> {
        self.items.iter().find_map(|item| match item {
            Item::User(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// The messages of others than the model, in order: who spoke, and what was said.
    pub(crate) fn other_messages(&self) -> Vec<(&str, &str)> {
        Self::other_messages_in(&self.items)
    }

    /// The messages of others than the model in a part of a talk.
    pub(crate) fn other_messages_in<'i>(
        items: impl IntoIterator<Item = &'i Item>,
    ) -> Vec<(&'i str, &'i str)> {
        let heard = items.into_iter().filter_map(|item| match item {
            Item::User(text) => Some(("user", text.as_str())),
            Item::Turn { role, text } => Some((role.as_str(), text.as_str())),
            _ => None,
        });
        heard.collect()
    }
}

/// One thing in a talk.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// The user said something.
    User(String),
    /// The model answered.
    Answer(Vec<Part>),
    /// A tool answered.
    Result(ToolResult),
    /// Somebody else said something, such as a later system message.
    Turn {
        /// Who spoke.
        role: String,
        /// What was said.
        text: String,
    },
    /// An item of an earlier answer, which stands there by its identifier alone (Responses).
    Reference(String),
}

/// A part of what a model said, in the order in which it was said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Text.
    Text(String),
    /// Text by which the model refuses.
    Refusal(String),
    /// A call of a tool.
    Call(Call),
    /// The result of a tool that the provider ran itself.
    Result(ToolResult),
    /// What only the provider understands, and a client has to send back as it is.
    Opaque(Opaque),
}

/// Something that only one provider understands: thinking with its signature, encrypted reasoning, a
/// field that this version does not know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opaque {
    /// The name of the wire format that has it.
    pub protocol: String,
    /// The value, as it stood there.
    pub value: Value,
}

/// A call of a tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Call {
    /// The identifier by which the result finds the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool's name, as the model has it.
    pub name: String,
    /// The server that offers the tool, where the format says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The arguments: an object; text where the model wrote no JSON object.
    pub args: Value,
    /// The arguments as the model wrote them, where that is not their canonical JSON: keys in another order, spaces,
    /// numbers in another form. Code that quotes them sees these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Who called, for calls by code that the model wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<Value>,
    /// The call as the provider wrote it, where the fields above do not say all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native: Option<Opaque>,
}

/// The result of a call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolResult {
    /// The identifier of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The name of the tool, where the result says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What the tool answered, as the format has it.
    pub value: Value,
    /// Whether it is an error, where the format says so; a format without such a flag says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// The result as the provider wrote it, where a provider ran the tool itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native: Option<Opaque>,
}

/// A tool that a model may call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What the model is told of it.
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    pub schema: Option<Value>,
    /// Whether arguments have to fit the schema (`strict`), where the request says it.
    pub strict: Option<bool>,
}

/// The answer of a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelResponse {
    /// The provider's identifier of the answer.
    pub id: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// What it said.
    pub parts: Vec<Part>,
    /// The items that it said, where the format has items (Responses).
    pub items: Vec<AnswerItem>,
    /// Why it stopped; `None` where the answer does not say.
    pub stop: Option<Stop>,
    /// The tokens that it took; `None` where the answer does not say.
    pub tokens: Option<CallTokens>,
    /// How many other answers came with this one (`n`), which are not looked at.
    pub others: usize,
    /// The error that the provider told inside of a stream, which ended the answer.
    pub error: Option<Box<Value>>,
}

impl ModelResponse {
    /// The calls that the client has to run.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) if call.native.is_none() => Some(call),
            _ => None,
        })
    }
}

/// An item of an answer: a later request may name it instead of sending it again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerItem {
    /// Its identifier.
    pub id: String,
    /// How many of the parts are of it.
    pub parts: usize,
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// It had said all.
    End,
    /// It waits for the results of its calls.
    Calls,
    /// It reached the most tokens that it may write.
    Length,
    /// It wrote a text at which it should stop.
    Sequence(String),
    /// It refused, or a filter held its words back.
    Refused,
    /// The provider failed.
    Failed,
    /// Another reason, as the format spells it.
    Other(String),
}

/// The tokens of one model call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallTokens {
    /// All tokens that were sent to the model.
    pub prompt: u64,
    /// Those of them that were read from a cache, where that was told.
    pub cached: Option<u64>,
    /// Those of them that were written to a cache, where that was told.
    pub written: Option<u64>,
    /// All tokens that the model wrote.
    pub completion: u64,
    /// Those of them that it thought with, where that was told.
    pub reasoning: Option<u64>,
}
