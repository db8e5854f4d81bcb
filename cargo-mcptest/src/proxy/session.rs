//! What the messages of a session say: the server's name, its tools, the calls and their answers.

use std::collections::{BTreeMap, HashMap};

use mcptest_trace::record::{CallId, Recorder};
use mcptest_trace::text::counted;
use mcptest_trace::trace::OfferedTool;
use regex::Regex;
use serde_json::{Value, json};

use super::Speaker;
use super::frames::Frame;
use crate::lossless::Change;

/// A session while it goes on.
pub(super) struct ProxySession {
    run: Recorder,
    server: Option<String>,
    /// What was asked and not answered yet, by the request's identifier.
    asked: HashMap<String, Asked>,
    tools: Vec<OfferedTool>,
    /// Whether it is known how the agent is instructed, and what it said at the end.
    system_prompt: bool,
    closing: bool,
    news: bool,
    /// Messages that are no JSON as they are written, by what was read otherwise in them.
    mended: BTreeMap<Change, usize>,
    /// Messages that could not be read.
    unreadable: usize,
}

enum Asked {
    Call(CallId),
    Tools,
    Initialize,
}

impl ProxySession {
    pub(super) fn new(agent: &str, model: &str, server: Option<String>) -> Self {
        Self {
            run: Recorder::new(agent, model),
            server,
            asked: HashMap::new(),
            tools: Vec::new(),
            system_prompt: false,
            closing: false,
            news: false,
            mended: BTreeMap::new(),
            unreadable: 0,
        }
    }

    pub(super) fn asked(&mut self, prompt: &str, system_prompt: Option<&str>) {
        self.run.user(prompt);
        if let Some(text) = system_prompt {
            self.run.system_prompt(text);
            self.system_prompt = true;
        }
    }

    /// The agent's last message.
    pub(super) fn closed(&mut self, text: &str) {
        self.run.said(text.trim_end());
        self.closing = true;
    }

    /// Whether a call or an answer has come since the run was last asked for.
    pub(super) fn has_news(&self) -> bool {
        self.news
    }

    /// The run so far, without what is not known: the system prompt, and why it stopped where there is no
    /// closing.
    pub(super) fn cassette(&mut self) -> Value {
        self.news = false;
        let mut cassette = self.run.cassette();
        if !self.system_prompt
            && let Some(run) = cassette.as_object_mut()
        {
            run.remove("system_prompt");
        }
        if !self.closing
            && let Some(conversation) = cassette.pointer_mut("/trace/conversation")
            && let Some(conversation) = conversation.as_object_mut()
        {
            conversation.remove("stop_reason");
        }
        cassette
    }

    /// What was said otherwise than it is recorded, a line each.
    pub(super) fn flaws(&self) -> Vec<String> {
        let mended = self.mended.iter().map(|(change, count)| {
            let messages = counted(*count, "message");
            format!("no valid JSON in {messages}: {}", change.told())
        });
        let unreadable = (self.unreadable > 0).then(|| {
            let messages = counted(self.unreadable, "message");
            format!("no JSON at all in {messages}: what could be told of them is recorded as text")
        });
        mended.chain(unreadable).collect()
    }

    /// Takes in what went by.
    pub(super) fn take(&mut self, side: Speaker, frame: Frame) {
        match frame {
            Frame::Message(message, mended) => {
                for change in mended {
                    *self.mended.entry(change).or_default() += 1;
                }
                self.see(side, message);
            }
            Frame::Unreadable(text) => {
                self.unreadable += 1;
                self.salvage(side, &text);
            }
        }
    }

    /// Keeps what can be told of a message that is no JSON: that a tool was called, that an answer came.
    fn salvage(&mut self, side: Speaker, text: &str) {
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
                self.run.tool_returned(call, json!({ "content": content }));
                self.news = true;
            }
            return;
        }
        let calls = part(r#""method"\s*:\s*"(tools/call)""#).is_some();
        if let Some(name) = part(r#""name"\s*:\s*"([^"]+)""#).filter(|_| calls) {
            let server = self.server.clone().unwrap_or_default();
            let call = self.run.tool_called(&server, &name, text.into());
            self.asked.insert(id, Asked::Call(call));
            self.news = true;
        }
    }

    /// Takes in a message, or several in one list.
    fn see(&mut self, side: Speaker, message: Value) {
        match (message, side) {
            (Value::Array(all), side) => {
                for message in all {
                    self.see(side, message);
                }
            }
            (message, Speaker::Client) => self.of_client(&message),
            (message, Speaker::Server) => self.of_server(message),
        }
    }

    fn of_client(&mut self, message: &Value) {
        if message["method"] == "notifications/cancelled" {
            return self.given_up(&message["params"]["requestId"]);
        }
        let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) else {
            return;
        };
        let asked = match method {
            "initialize" => Asked::Initialize,
            "tools/list" => Asked::Tools,
            "tools/call" => {
                let parameters = &message["params"];
                let Some(tool) = parameters["name"].as_str() else {
                    return;
                };
                let server = self.server.clone().unwrap_or_default();
                // Some clients send an empty text for no arguments.
                let arguments = parameters.get("arguments").filter(|it| **it != "").cloned();
                self.news = true;
                Asked::Call(self.run.tool_called(
                    &server,
                    tool,
                    arguments.unwrap_or_else(|| json!({})),
                ))
            }
            _ => return,
        };
        self.asked.insert(id.to_string(), asked);
    }

    /// The client waits no longer. A call is an error to the agent then, as in every recording, whatever the
    /// server says later.
    fn given_up(&mut self, id: &Value) {
        if let Some(Asked::Call(call)) = self.asked.remove(&id.to_string()) {
            let content = json!([{ "type": "text", "text": "the client gave this call up" }]);
            self.run
                .tool_failed(call, json!({ "content": content, "isError": true }));
            self.news = true;
        }
    }

    fn of_server(&mut self, mut message: Value) {
        // A request of the server's own has an identifier too.
        if message.get("method").is_some() {
            return;
        }
        let asked = message.get("id").map(Value::to_string);
        let Some(asked) = asked.and_then(|id| self.asked.remove(&id)) else {
            return;
        };
        let result = message.get_mut("result").map(Value::take);
        match (asked, result) {
            (Asked::Call(call), Some(result)) => {
                self.run.tool_returned(call, result);
                self.news = true;
            }
            (Asked::Call(call), None) => {
                let text = message["error"]["message"].as_str();
                let text = text.unwrap_or("the server answered with an error");
                let content = json!([{ "type": "text", "text": text }]);
                let result = json!({ "content": content, "isError": true });
                self.run.tool_failed(call, result);
                self.news = true;
            }
            (Asked::Initialize, Some(result)) if self.server.is_none() => {
                let name = result["serverInfo"]["name"].as_str();
                self.server = name.map(str::to_owned);
            }
            (Asked::Tools, Some(result)) => self.offered(&result),
            _ => {}
        }
    }

    /// The tools that the server offers; of several pages each adds its own.
    fn offered(&mut self, result: &Value) {
        let server = self.server.clone().unwrap_or_default();
        let tools = result["tools"].as_array().into_iter().flatten();
        let tools = tools.filter_map(|tool| {
            let line = format!("{server}::{}", tool["name"].as_str()?);
            let reads = tool["annotations"]["readOnlyHint"].as_bool();
            Some(OfferedTool::in_line(&line).with_read_only(reads))
        });
        for tool in tools {
            if self.tools.iter().all(|known| known.name != tool.name) {
                self.tools.push(tool);
            }
        }
        self.run.tools_offered(self.tools.iter().cloned());
    }
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
pub(super) fn begins(message: &Value) -> bool {
    match message {
        Value::Array(all) => all.iter().any(begins),
        message => message["method"] == "initialize",
    }
}

/// Whether it is a message of MCP at all.
pub(super) fn is_message(message: &Value) -> bool {
    match message {
        Value::Array(all) => !all.is_empty() && all.iter().all(is_message),
        message => message["jsonrpc"] == "2.0",
    }
}

#[cfg(test)]
mod tests {
    use super::super::frames::Lines;
    use super::*;

    fn session(client: &str, server: &str) -> Value {
        let mut session = ProxySession::new("A", "m", None);
        session.asked("p", None);
        for (side, text) in [(Speaker::Client, client), (Speaker::Server, server)] {
            let mut lines = Lines::default();
            // In the smallest parts that can come.
            for byte in text.bytes() {
                lines.take(&[byte], |frame| session.take(side, frame));
            }
        }
        session.cassette()
    }

    #[test]
    fn calls_meet_their_answers_whatever_their_order_and_their_parts() {
        let run = session(
            concat!(
                r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#,
                "\n",
                r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"get","arguments":{"id":7}}}"#,
                "\n",
                "no JSON\n",
                r#"[{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"put"}}]"#,
                "\n",
            ),
            concat!(
                r#"{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"name":"shop"}}}"#,
                "\r\n",
                r#"{"jsonrpc":"2.0","id":2,"method":"sampling/createMessage"}"#,
                "\n",
                r#"{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"gone"}}"#,
                "\n",
                r#"{"jsonrpc":"2.0","id":"a","result":{"content":[{"type":"text","text":"ok"}]}}"#,
                "\n",
            ),
        );
        let trace = &run["trace"];
        assert_eq!(trace["tool_calls"][0]["name"], "get");
        assert_eq!(trace["tool_calls"][0]["args"], json!({ "id": 7 }));
        let results = trace["tool_results"].as_array().unwrap();
        let of = |call: u64| {
            results
                .iter()
                .find(|result| result["call_index"] == call)
                .unwrap()
        };
        assert_eq!(of(0)["is_error"], false);
        assert_eq!(of(1)["is_error"], true);
        assert_eq!(of(1)["result"]["content"][0]["text"], "gone");
        assert_eq!(trace["conversation"].get("stop_reason"), None);
        assert_eq!(run.get("system_prompt"), None);
    }

    #[test]
    fn a_message_that_cannot_be_read_is_kept_as_text_and_told() {
        let mut session = ProxySession::new("A", "m", Some("shop".to_owned()));
        let call = r#"{"method":"tools/call","params":{"name":"get","arguments":{"id":7,"a":}},"jsonrpc":"2.0","id":3}"#;
        let answer = r#"{"result":{"content":[{"id":99,"x":}]},"jsonrpc":"2.0","id":3}"#;
        session.take(Speaker::Client, Frame::Unreadable(call.to_owned()));
        session.take(Speaker::Server, Frame::Unreadable(answer.to_owned()));
        let run = session.cassette();
        assert_eq!(run["trace"]["tool_calls"][0]["args"], call);
        let result = &run["trace"]["tool_results"][0];
        assert_eq!(result["result"]["content"][0]["text"], answer);
        assert_eq!(
            session.flaws(),
            ["no JSON at all in 2 messages: what could be told of them is recorded as text"]
        );
    }

    #[test]
    fn a_call_that_is_given_up_is_an_error_whatever_comes_later() {
        let run = session(
            concat!(
                r#"{"id":1,"method":"tools/call","params":{"name":"get"}}"#,
                "\n",
                r#"{"method":"notifications/cancelled","params":{"requestId":1}}"#,
                "\n",
            ),
            concat!(r#"{"id":1,"result":{"content":[]}}"#, "\n"),
        );
        let results = run["trace"]["tool_results"].as_array().unwrap();
        assert_eq!(results.len(), 1);
        assert_eq!(results[0]["is_error"], true);
    }

    #[test]
    fn what_a_server_says_of_its_tools_is_kept() {
        let run = session(
            concat!(
                r#"{"id":1,"method":"tools/list"}"#,
                "\n",
                r#"{"id":2,"method":"tools/list","params":{"cursor":"x"}}"#,
                "\n",
            ),
            concat!(
                r#"{"id":1,"result":{"tools":[{"name":"get","annotations":{"readOnlyHint":true}}]}}"#,
                "\n",
                r#"{"id":2,"result":{"tools":[{"name":"put"}]}}"#,
                "\n",
            ),
        );
        let tools = run["tools"].as_array().unwrap();
        assert_eq!(tools.len(), 2);
        assert_eq!(tools[0]["read_only"], true);
    }

    #[test]
    fn a_closing_says_that_the_run_was_completed() {
        let mut session = ProxySession::new("A", "m", Some("shop".to_owned()));
        session.asked("p", Some("be kind"));
        session.closed("Done.\n");
        let run = session.cassette();
        assert_eq!(run["system_prompt"], "be kind");
        assert_eq!(run["trace"]["final_response"], "Done.");
        assert_eq!(run["trace"]["conversation"]["stop_reason"], "completed");
    }
}
