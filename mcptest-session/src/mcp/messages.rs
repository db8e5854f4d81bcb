//! What the messages of MCP say: which tool is called, and what answers it.

mod partial;
mod waiting;

use std::collections::BTreeMap;

use mcptest_trace::text::pluralize;
use serde_json::{Value, json};

use self::waiting::{PendingKind, PendingRequests};
use super::frames::Frame;
use crate::lossless::{Change, is_too_deep, parse};

pub(crate) use waiting::is_same_id;

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
    /// An answer that cannot be read.
    Unread {
        /// The answer as it came.
        text: String,
        /// Whether it says readably that the tool failed. If it does not, nobody knows.
        failed: bool,
    },
}

impl Answer {
    /// What a tool answered, as MCP has results of tools: an error of JSON-RPC is one that failed. Of an answer that
    /// cannot be read the text is kept.
    #[must_use]
    pub fn to_tool_result(&self) -> Value {
        match self {
            Self::Result(result) => result.clone(),
            Self::Error(error) => {
                let text = error["message"].as_str().or(error.as_str());
                match text {
                    Some(text) => failed_result(text),
                    None if error.is_null() => failed_result("the server answered with an error"),
                    None => failed_result(&format!("the server answered with an error: {error}")),
                }
            }
            Self::Unread { text, failed: true } => failed_result(text),
            Self::Unread { text, .. } => json!({ "content": [{ "type": "text", "text": text }] }),
        }
    }
}

/// The result of a tool that failed.
#[must_use]
pub fn failed_result(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": true })
}

/// What hears of the calls and answers that go by.
pub trait Listener {
    /// What names a call.
    type Call;

    /// A tool is called.
    fn on_call(&mut self, tool: &str, args: Value) -> Self::Call;

    /// A call is answered.
    fn on_return(&mut self, call: Self::Call, answer: Answer);

    /// The client waits for a call no longer. It is an error to the agent then, as in every recording, whatever the
    /// server says later.
    fn on_give_up(&mut self, call: Self::Call);

    /// A request that calls no tool is answered.
    fn on_answer(&mut self, method: &str, params: Value, answer: Answer);
}

/// The messages of a client and a server, as they go by.
#[derive(Debug)]
pub struct Messages<C> {
    /// What was asked and not answered yet.
    asked: PendingRequests<C>,
    /// Answers to no request.
    strays: usize,
    /// Messages that are no JSON as they are written, by what was read otherwise in them.
    mended: BTreeMap<Change, usize>,
    /// Messages that are no JSON, and messages that nest too deep.
    unreadable: usize,
    deep: usize,
}

impl<C> Default for Messages<C> {
    fn default() -> Self {
        Self {
            asked: PendingRequests::default(),
            strays: 0,
            mended: BTreeMap::new(),
            unreadable: 0,
            deep: 0,
        }
    }
}

impl<C> Messages<C> {
    /// What was said otherwise than it is read, a line each.
    #[must_use]
    pub fn flaws(&self) -> Vec<String> {
        let mended = self.mended.iter().map(|(change, count)| {
            let messages = pluralize(*count, "message");
            let told = change.describe();
            match change {
                // Such a message is JSON.
                Change::Number | Change::Twice => format!("{told}, in {messages}"),
                Change::Word | Change::Half | Change::Cut => {
                    format!("no valid JSON in {messages}: {told}")
                }
            }
        });
        let unreadable = (self.unreadable > 0).then(|| {
            let messages = pluralize(self.unreadable, "message");
            format!("no JSON at all in {messages}: their readable parts are recorded as text")
        });
        let deep = (self.deep > 0).then(|| {
            let messages = pluralize(self.deep, "message");
            format!("too many levels within one another in {messages}: their readable parts are recorded as text")
        });
        mended.chain(unreadable).chain(deep).collect()
    }

    /// What does not fit together till now, a line each: answers without a request, and calls without an answer.
    #[must_use]
    pub fn loose_ends(&self) -> Vec<String> {
        let strays = (self.strays > 0).then(|| {
            let (belong, these) = match self.strays {
                1 => ("belongs", "this answer"),
                _ => ("belong", "these answers"),
            };
            let answers = pluralize(self.strays, "answer");
            format!("{answers} of the server {belong} to no request, and the recording does not have {these}")
        });
        let calls = self.asked.call_count();
        let unanswered = (calls > 0).then(|| {
            let have = if calls == 1 { "has" } else { "have" };
            format!("{} {have} no answer", pluralize(calls, "call"))
        });
        strays.into_iter().chain(unanswered).collect()
    }

    /// The call of a request that waits for its answer.
    #[must_use]
    pub fn waiting(&self, id: &Value) -> Option<&C> {
        self.asked.call(id)
    }

    /// Takes in what went by.
    pub fn take(&mut self, side: Speaker, frame: Frame, listener: &mut impl Listener<Call = C>) {
        match frame {
            Frame::Message(message, mended) => {
                for change in mended {
                    *self.mended.entry(change).or_default() += 1;
                }
                self.take_message(side, message, listener);
            }
            Frame::Unreadable(text) => {
                if parse(text.as_bytes()).is_err_and(|error| is_too_deep(&error)) {
                    self.deep += 1;
                } else {
                    self.unreadable += 1;
                }
                self.salvage(side, text, listener);
            }
        }
    }

    /// Keeps what can be told of a message that cannot be read: that a tool was called, that an answer came.
    fn salvage(&mut self, side: Speaker, text: String, listener: &mut impl Listener<Call = C>) {
        let Some(id) = partial::id(&text) else {
            return;
        };
        if side == Speaker::Server {
            match self.asked.take_answered(&id) {
                Some(PendingKind::Call(call)) => {
                    let failed = partial::is_failed(&text);
                    listener.on_return(call, Answer::Unread { text, failed });
                }
                Some(PendingKind::Other(..) | PendingKind::GivenUp) => {}
                None => self.strays += 1,
            }
        } else if let Some(name) = partial::tool_name(&text) {
            let call = listener.on_call(&name, text.into());
            self.asked.add(&id, PendingKind::Call(call));
        }
    }

    /// Takes in a message, or several in one list.
    fn take_message(
        &mut self,
        side: Speaker,
        message: Value,
        listener: &mut impl Listener<Call = C>,
    ) {
        match (message, side) {
            (Value::Array(all), side) => {
                for message in all {
                    self.take_message(side, message, listener);
                }
            }
            (message, Speaker::Client) => self.take_client_message(&message, listener),
            (message, Speaker::Server) => self.take_server_message(message, listener),
        }
    }

    fn take_client_message(&mut self, message: &Value, listener: &mut impl Listener<Call = C>) {
        if message["method"] == "notifications/cancelled" {
            if let Some(call) = self.asked.give_up(&message["params"]["requestId"]) {
                listener.on_give_up(call);
            }
            return;
        }
        let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) else {
            return;
        };
        let asked = if method == "tools/call" {
            let Some((tool, arguments)) = tool_call(message) else {
                return;
            };
            PendingKind::Call(listener.on_call(tool, arguments))
        } else {
            PendingKind::Other(method.to_owned(), message["params"].clone())
        };
        self.asked.add(id, asked);
    }

    fn take_server_message(&mut self, mut message: Value, listener: &mut impl Listener<Call = C>) {
        // A request of the server's own has an identifier too.
        if message.get("method").is_some() {
            return;
        }
        let Some(id) = message.get("id") else {
            return;
        };
        let Some(asked) = self.asked.take_answered(id) else {
            self.strays += 1;
            return;
        };
        // An error is one, whatever stands beside it.
        let error = message.get_mut("error").map(Value::take);
        let error = error.filter(|error| !error.is_null());
        let answer = match (error, message.get_mut("result")) {
            (None, Some(result)) => Answer::Result(result.take()),
            (error, _) => Answer::Error(error.unwrap_or_default()),
        };
        match asked {
            PendingKind::Call(call) => listener.on_return(call, answer),
            PendingKind::Other(method, params) => listener.on_answer(&method, params, answer),
            PendingKind::GivenUp => {}
        }
    }
}

/// The tool that a request calls, and its arguments.
#[must_use]
pub fn tool_call(message: &Value) -> Option<(&str, Value)> {
    let parameters = &message["params"];
    let tool = parameters["name"].as_str()?;
    // Some clients send an empty text for no arguments.
    let arguments = parameters.get("arguments").filter(|it| **it != "").cloned();
    Some((tool, arguments.unwrap_or_else(|| json!({}))))
}

/// Whether a message of a client begins a session.
#[must_use]
pub fn is_initialize(message: &Value) -> bool {
    match message {
        Value::Array(all) => all.iter().any(is_initialize),
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
