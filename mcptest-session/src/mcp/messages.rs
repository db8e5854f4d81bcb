//! What the messages of MCP say: which tool is called, and what answers it.

use std::collections::{BTreeMap, HashMap};

use mcptest_trace::text::counted;
use regex::Regex;
use serde_json::{Value, json};

use super::frames::Frame;
use crate::lossless::Change;

/// Who wrote something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The one who calls tools.
    Client,
    /// The one who has them.
    Server,
}

/// What answers a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// What was asked for.
    Result(Value),
    /// An error of JSON-RPC.
    Error(Value),
}

impl Answer {
    /// What a tool answered, as MCP has results of tools: an error of JSON-RPC is one that failed.
    #[must_use]
    pub fn of_tool(&self) -> Value {
        match self {
            Self::Result(result) => result.clone(),
            Self::Error(error) => {
                let text = error["message"].as_str();
                failed(text.unwrap_or("the server answered with an error"))
            }
        }
    }
}

/// The result of a tool that failed.
#[must_use]
pub fn failed(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": true })
}

/// What hears of the calls and answers that go by.
pub trait Listener {
    /// What names a call.
    type Call;

    /// A tool is called.
    fn called(&mut self, tool: &str, args: Value) -> Self::Call;

    /// A call is answered.
    fn returned(&mut self, call: Self::Call, answer: Answer);

    /// The client waits for a call no longer. It is an error to the agent then, as in every recording, whatever the
    /// server says later.
    fn given_up(&mut self, call: Self::Call);

    /// A request that calls no tool is answered.
    fn answered(&mut self, method: &str, params: Value, answer: Answer);
}

/// The messages of a client and a server, as they go by.
#[derive(Debug)]
pub struct Messages<C> {
    /// What was asked and not answered yet, by the request's identifier.
    asked: HashMap<String, Asked<C>>,
    /// Messages that are no JSON as they are written, by what was read otherwise in them.
    mended: BTreeMap<Change, usize>,
    /// Messages that could not be read.
    unreadable: usize,
}

#[derive(Debug)]
enum Asked<C> {
    Call(C),
    Other(String, Value),
}

impl<C> Default for Messages<C> {
    fn default() -> Self {
        Self {
            asked: HashMap::new(),
            mended: BTreeMap::new(),
            unreadable: 0,
        }
    }
}

impl<C> Messages<C> {
    /// What was said otherwise than it is read, a line each.
    #[must_use]
    pub fn flaws(&self) -> Vec<String> {
        let mended = self.mended.iter().map(|(change, count)| {
            let messages = counted(*count, "message");
            format!("no valid JSON in {messages}: {}", change.told())
        });
        let unreadable = (self.unreadable > 0).then(|| {
            let messages = counted(self.unreadable, "message");
            format!("no JSON at all in {messages}: their readable parts are recorded as text")
        });
        mended.chain(unreadable).collect()
    }

    /// The call of a request that waits for its answer.
    #[must_use]
    pub fn waiting(&self, id: &Value) -> Option<&C> {
        match self.asked.get(&id.to_string())? {
            Asked::Call(call) => Some(call),
            Asked::Other(..) => None,
        }
    }

    /// Takes in what went by.
    pub fn take(&mut self, side: Speaker, frame: Frame, listener: &mut impl Listener<Call = C>) {
        match frame {
            Frame::Message(message, mended) => {
                for change in mended {
                    *self.mended.entry(change).or_default() += 1;
                }
                self.see(side, message, listener);
            }
            Frame::Unreadable(text) => {
                self.unreadable += 1;
                self.salvage(side, &text, listener);
            }
        }
    }

    /// Keeps what can be told of a message that is no JSON: that a tool was called, that an answer came.
    fn salvage(&mut self, side: Speaker, text: &str, listener: &mut impl Listener<Call = C>) {
        let part = |pattern: &str| {
            let pattern = Regex::new(pattern).ok()?;
            let found = pattern.captures(text)?;
            Some(found.get(1)?.as_str().to_owned())
        };
        let Some(id) = outer_id(text) else {
            return;
        };
        if side == Speaker::Server {
            if let Some(Asked::Call(call)) = self.asked.remove(&id) {
                let content = json!([{ "type": "text", "text": text }]);
                listener.returned(call, Answer::Result(json!({ "content": content })));
            }
            return;
        }
        let calls = part(r#""method"\s*:\s*"(tools/call)""#).is_some();
        if let Some(name) = part(r#""name"\s*:\s*"([^"]+)""#).filter(|_| calls) {
            let call = listener.called(&name, text.into());
            self.asked.insert(id, Asked::Call(call));
        }
    }

    /// Takes in a message, or several in one list.
    fn see(&mut self, side: Speaker, message: Value, listener: &mut impl Listener<Call = C>) {
        match (message, side) {
            (Value::Array(all), side) => {
                for message in all {
                    self.see(side, message, listener);
                }
            }
            (message, Speaker::Client) => self.of_client(&message, listener),
            (message, Speaker::Server) => self.of_server(message, listener),
        }
    }

    fn of_client(&mut self, message: &Value, listener: &mut impl Listener<Call = C>) {
        if message["method"] == "notifications/cancelled" {
            let id = message["params"]["requestId"].to_string();
            if let Some(Asked::Call(call)) = self.asked.remove(&id) {
                listener.given_up(call);
            }
            return;
        }
        let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) else {
            return;
        };
        let asked = if method == "tools/call" {
            let Some((tool, arguments)) = call_of(message) else {
                return;
            };
            Asked::Call(listener.called(tool, arguments))
        } else {
            Asked::Other(method.to_owned(), message["params"].clone())
        };
        self.asked.insert(id.to_string(), asked);
    }

    fn of_server(&mut self, mut message: Value, listener: &mut impl Listener<Call = C>) {
        // A request of the server's own has an identifier too.
        if message.get("method").is_some() {
            return;
        }
        let asked = message.get("id").map(Value::to_string);
        let Some(asked) = asked.and_then(|id| self.asked.remove(&id)) else {
            return;
        };
        let answer = match message.get_mut("result").map(Value::take) {
            Some(result) => Answer::Result(result),
            None => Answer::Error(message["error"].take()),
        };
        match asked {
            Asked::Call(call) => listener.returned(call, answer),
            Asked::Other(method, params) => listener.answered(&method, params, answer),
        }
    }
}

/// The tool that a request calls, and its arguments.
#[must_use]
pub fn call_of(message: &Value) -> Option<(&str, Value)> {
    let parameters = &message["params"];
    let tool = parameters["name"].as_str()?;
    // Some clients send an empty text for no arguments.
    let arguments = parameters.get("arguments").filter(|it| **it != "").cloned();
    Some((tool, arguments.unwrap_or_else(|| json!({}))))
}

/// The identifier of a message that is no JSON: the last `id` that stands in no object within it.
fn outer_id(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let (mut depth, mut at, mut found) = (0_usize, 0, None);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let mut end = at + 1;
                while end < bytes.len() && bytes[end] != b'"' {
                    end += if bytes[end] == b'\\' { 2 } else { 1 };
                }
                let rest = text.get(end + 1..).unwrap_or_default().trim_start();
                if depth <= 1 && bytes.get(at + 1..end) == Some(b"id") && rest.starts_with(':') {
                    let value = rest[1..].trim_start();
                    let length = value.find([',', '}']).unwrap_or(value.len());
                    found = Some(value[..length].trim_end().to_owned());
                }
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Whether a message of a client begins a session.
#[must_use]
pub fn begins(message: &Value) -> bool {
    match message {
        Value::Array(all) => all.iter().any(begins),
        message => message["method"] == "initialize",
    }
}

/// Whether it is a message of MCP at all.
#[must_use]
pub fn is_message(message: &Value) -> bool {
    match message {
        Value::Array(all) => !all.is_empty() && all.iter().all(is_message),
        message => message["jsonrpc"] == "2.0",
    }
}
