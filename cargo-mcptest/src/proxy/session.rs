//! What the messages of a session say, as a run: the server's name, its tools, the calls and their answers.

use mcptest_session::mcp::frames::Frame;
use mcptest_session::mcp::messages::{Answer, Listener, Messages, Speaker, failed};
use mcptest_trace::record::{CallId, Recorder};
use serde_json::{Value, json};

/// A session while it goes on.
pub(super) struct ProxySession {
    messages: Messages<CallId>,
    heard: Heard,
    /// Whether it is known how the agent is instructed, and what it said at the end.
    system_prompt: bool,
    closing: bool,
}

/// What was heard, as a run.
struct Heard {
    run: Recorder,
    server: Option<String>,
    /// As the recording has them.
    tools: Vec<Value>,
    news: bool,
}

impl ProxySession {
    pub(super) fn new(agent: &str, model: &str, server: Option<String>) -> Self {
        Self {
            messages: Messages::default(),
            heard: Heard {
                run: Recorder::new(agent, model),
                server,
                tools: Vec::new(),
                news: false,
            },
            system_prompt: false,
            closing: false,
        }
    }

    pub(super) fn asked(&mut self, prompt: &str, system_prompt: Option<&str>) {
        self.heard.run.user(prompt);
        if let Some(text) = system_prompt {
            self.heard.run.system_prompt(text);
            self.system_prompt = true;
        }
    }

    /// The agent's last message.
    pub(super) fn closed(&mut self, text: &str) {
        self.heard.run.said(text.trim_end());
        self.closing = true;
    }

    /// Whether a call or an answer has come since the run was last asked for.
    pub(super) fn has_news(&self) -> bool {
        self.heard.news
    }

    /// The run so far, without what is not known: the system prompt, and why it stopped where there is no
    /// closing.
    pub(super) fn cassette(&mut self) -> Value {
        self.heard.news = false;
        let mut cassette = self.heard.run.cassette();
        if !self.heard.tools.is_empty() {
            cassette["tools"] = self.heard.tools.clone().into();
        }
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
        self.messages.flaws()
    }

    /// Takes in what went by.
    pub(super) fn take(&mut self, side: Speaker, frame: Frame) {
        self.messages.take(side, frame, &mut self.heard);
    }
}

impl Listener for Heard {
    type Call = CallId;

    fn called(&mut self, tool: &str, args: Value) -> CallId {
        self.news = true;
        let server = self.server.clone().unwrap_or_default();
        self.run.tool_called(&server, tool, args)
    }

    fn returned(&mut self, call: CallId, answer: Answer) {
        self.news = true;
        let result = answer.of_tool();
        match answer {
            Answer::Result(_) => self.run.tool_returned(call, result),
            Answer::Error(_) => self.run.tool_failed(call, result),
        };
    }

    fn given_up(&mut self, call: CallId) {
        self.news = true;
        let result = failed("the client stopped waiting for this call");
        self.run.tool_failed(call, result);
    }

    fn answered(&mut self, method: &str, _: Value, answer: Answer) {
        let Answer::Result(result) = answer else {
            return;
        };
        match method {
            "initialize" if self.server.is_none() => {
                let name = result["serverInfo"]["name"].as_str();
                self.server = name.map(str::to_owned);
            }
            "tools/list" => self.offered(&result),
            _ => {}
        }
    }
}

impl Heard {
    /// The tools that the server offers, with all that it says of them; of several pages each adds its own. A list that
    /// comes again takes the place of what was known.
    fn offered(&mut self, result: &Value) {
        let server = self.server.clone().unwrap_or_default();
        let listed = result["tools"].as_array().into_iter().flatten();
        for tool in listed.filter(|tool| tool["name"].is_string()) {
            let hint = &tool["annotations"]["readOnlyHint"];
            // That a server says nothing more of a tool is known here.
            let annotations = tool["annotations"].as_object().cloned();
            let mut written = json!({ "name": tool["name"], "server": server, "annotations": annotations.unwrap_or_default() });
            let optional = [
                ("description", &tool["description"]),
                ("input_schema", &tool["inputSchema"]),
                ("read_only", hint),
            ];
            for (key, value) in optional {
                if !value.is_null() {
                    written[key] = value.clone();
                }
            }
            let mut known = self.tools.iter_mut();
            match known.find(|known| known["name"] == written["name"]) {
                Some(known) => *known = written,
                None => self.tools.push(written),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use mcptest_session::mcp::frames::Lines;
    use serde_json::json;

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
            ["no JSON at all in 2 messages: their readable parts are recorded as text"]
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
                r#"{"id":1,"result":{"tools":[{"name":"get","description":"Gets.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}}"#,
                "\n",
                r#"{"id":2,"result":{"tools":[{"name":"put"}]}}"#,
                "\n",
            ),
        );
        let tools = run["tools"].as_array().unwrap();
        assert_eq!(
            tools[0],
            json!({ "name": "get", "server": "", "description": "Gets.", "input_schema": { "type": "object" },
                "annotations": { "readOnlyHint": true }, "read_only": true })
        );
        assert_eq!(tools.len(), 2);
        assert_eq!(
            tools[1],
            json!({ "name": "put", "server": "", "annotations": {} })
        );
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
