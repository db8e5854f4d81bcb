//! What the messages of a session say, as a run: the server's name, its tools, the calls and their answers.

use std::collections::HashSet;

use mcptest_session::mcp::frames::Frame;
use mcptest_session::mcp::messages::{Answer, Listener, Messages, Speaker, failed_result};
use mcptest_trace::record::{CallId, Recorder};
use serde_json::{Value, json};

/// A session while it goes on.
pub(super) struct ProxySession {
    messages: Messages<HeardCall>,
    heard: HeardRun,
    /// Whether it is known how the agent is instructed, and what it said at the end.
    system_prompt: bool,
    closing: bool,
}

/// A call: as the recorder has it, and its place among the calls.
type HeardCall = (CallId, usize);

/// What was heard, as a run.
struct HeardRun {
    run: Recorder,
    /// The calls that went by before the server said its name.
    unnamed: usize,
    /// The calls of which nobody knows whether they failed.
    unknown: HashSet<usize>,
    server: Option<String>,
    /// As the recording has them.
    tools: Vec<Value>,
    news: bool,
    /// Whether the client asked for more than a session.
    used: bool,
}

impl ProxySession {
    pub(super) fn new(agent: &str, model: &str, server: Option<String>) -> Self {
        Self {
            messages: Messages::default(),
            heard: HeardRun {
                run: Recorder::new(agent, model),
                unnamed: 0,
                unknown: HashSet::new(),
                server,
                tools: Vec::new(),
                news: false,
                used: false,
            },
            system_prompt: false,
            closing: false,
        }
    }

    pub(super) fn set_prompt(&mut self, prompt: &str, system_prompt: Option<&str>) {
        self.heard.run.user(prompt);
        if let Some(text) = system_prompt {
            self.heard.run.system_prompt(text);
            self.system_prompt = true;
        }
    }

    /// The agent's last message.
    pub(super) fn set_closing(&mut self, text: &str) {
        self.heard.run.said(text.trim_end());
        self.closing = true;
    }

    /// Whether a call or an answer has come since the run was last asked for.
    pub(super) fn has_changes(&self) -> bool {
        self.heard.news
    }

    /// Whether the client asked for more than a session: who only says `initialize` makes no run.
    pub(super) fn is_used(&self) -> bool {
        self.heard.used
    }

    /// The run so far, without what is not known: the system prompt, and why it stopped where there is no
    /// closing.
    pub(super) fn cassette(&mut self) -> Value {
        self.heard.news = false;
        let mut cassette = self.heard.run.cassette();
        self.heard.complete_servers(&mut cassette["trace"]);
        if !self.heard.tools.is_empty() {
            cassette["tools"] = self.heard.tools_with_server();
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

    /// What does not fit together, a line each.
    pub(super) fn loose_ends(&self) -> Vec<String> {
        self.messages.loose_ends()
    }

    /// Takes in what went by.
    pub(super) fn add_frame(&mut self, side: Speaker, frame: Frame) {
        self.messages.take(side, frame, &mut self.heard);
    }
}

impl Listener for HeardRun {
    type Call = HeardCall;

    fn on_call(&mut self, tool: &str, args: Value) -> HeardCall {
        (self.news, self.used) = (true, true);
        let place = self.run.tool_calls();
        if self.server.is_none() {
            self.unnamed = place + 1;
        }
        let server = self.server.as_deref().unwrap_or_default();
        (self.run.tool_called(server, tool, args), place)
    }

    fn on_return(&mut self, (call, place): HeardCall, answer: Answer) {
        self.news = true;
        let result = answer.to_tool_result();
        match answer {
            Answer::Error(_) | Answer::Unread { failed: true, .. } => {
                self.run.tool_failed(call, result);
            }
            Answer::Unread { .. } => {
                self.run.tool_returned(call, result);
                self.unknown.insert(place);
            }
            Answer::Result(_) => {
                self.run.tool_returned(call, result);
            }
        }
    }

    fn on_give_up(&mut self, (call, _): HeardCall) {
        self.news = true;
        let result = failed_result("the client stopped waiting for this call");
        self.run.tool_failed(call, result);
    }

    fn on_answer(&mut self, method: &str, _: Value, answer: Answer) {
        self.used |= !matches!(method, "initialize" | "ping");
        let Answer::Result(result) = answer else {
            return;
        };
        match method {
            "initialize" if self.server.is_none() => {
                let name = result["serverInfo"]["name"].as_str();
                self.server = name.map(str::to_owned);
                self.news |= self.unnamed > 0;
            }
            "tools/list" => self.add_offered_tools(&result),
            _ => {}
        }
    }
}

impl HeardRun {
    /// Says the name of the server also in calls that went by before it, and leaves out what nobody knows.
    fn complete_servers(&self, trace: &mut Value) {
        for result in list_mut(trace, "tool_results") {
            let place = result["call_index"].as_u64();
            let place = place.and_then(|place| usize::try_from(place).ok());
            if place.is_some_and(|place| self.unknown.contains(&place))
                && let Some(result) = result.as_object_mut()
            {
                result.remove("is_error");
            }
        }
        let Some(server) = self.server.as_deref().filter(|_| self.unnamed > 0) else {
            return;
        };
        for kind in ["tool_calls", "tool_results"] {
            for one in list_mut(trace, kind).filter(|one| one["server"] == "") {
                one["server"] = server.into();
            }
        }
        // The agent's first turns are its calls.
        let turns = list_mut(&mut trace["conversation"], "turns");
        let own = turns.filter(|turn| turn["role"] == "assistant");
        for turn in own.take(self.unnamed) {
            let called = turn["content"].as_str();
            if let Some(called) = called.and_then(|text| text.strip_prefix("tool_use ")) {
                turn["content"] = format!("tool_use {server}::{called}").into();
            }
        }
    }

    /// The tools, each with the name of the server.
    fn tools_with_server(&self) -> Value {
        let server = self.server.as_deref().unwrap_or_default();
        let tools = self.tools.iter().map(|tool| {
            let mut tool = tool.clone();
            tool["server"] = server.into();
            tool
        });
        tools.collect()
    }

    /// The tools that the server offers, with all that it says of them; of several pages each adds its own. A list that
    /// comes again takes the place of what was known.
    fn add_offered_tools(&mut self, result: &Value) {
        let listed = result["tools"].as_array().into_iter().flatten();
        for tool in listed.filter(|tool| tool["name"].is_string()) {
            let hint = &tool["annotations"]["readOnlyHint"];
            // That a server says nothing more of a tool is known here.
            let annotations = tool["annotations"].as_object().cloned();
            let mut written =
                json!({ "name": tool["name"], "annotations": annotations.unwrap_or_default() });
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

/// The items of a list, to change them.
fn list_mut<'v>(value: &'v mut Value, key: &str) -> impl Iterator<Item = &'v mut Value> {
    let list = value.get_mut(key).and_then(Value::as_array_mut);
    list.into_iter().flatten()
}

#[cfg(test)]
mod tests;
