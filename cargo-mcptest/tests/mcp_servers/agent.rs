//! The agent of these tests, in a few lines: its tools are those of the MCP servers that it is told of, and it may ask a
//! clerk, who is a model too. It is this executable, started as a program once more.

use std::collections::BTreeMap;
use std::io::Write as _;

use serde_json::{Value, json};
use ureq::Agent;

use crate::formats;

/// A client of one MCP server.
struct Mcp {
    http: Agent,
    url: String,
    session: Option<String>,
    next: u64,
}

impl Mcp {
    fn open(http: &Agent, url: &str) -> Self {
        let mut mcp = Self {
            http: http.clone(),
            url: url.to_owned(),
            session: None,
            next: 0,
        };
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "agent", "version": "1" } });
        mcp.ask("initialize", &hello);
        let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        mcp.send(&told);
        mcp
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let message =
            json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        let text = self.send(&message);
        let data = text
            .lines()
            .filter_map(|line| line.strip_prefix("data:"))
            .map(str::trim);
        let mut messages: Vec<Value> = data
            .filter_map(|data| serde_json::from_str(data).ok())
            .collect();
        messages.extend(serde_json::from_str::<Value>(&text).ok());
        let answer = messages
            .into_iter()
            .find(|message| message["id"] == self.next);
        answer.unwrap_or_else(|| panic!("no answer to {method}: {text}"))
    }

    fn send(&mut self, message: &Value) -> String {
        let mut request = self
            .http
            .post(&self.url)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("authorization", "Bearer planted-mcp-login-11")
            .header("x-desk-token", "planted-mcp-token-12");
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        let mut answer = request.send(message.to_string()).unwrap();
        if let Some(session) = answer.headers().get("mcp-session-id") {
            self.session = Some(session.to_str().unwrap().to_owned());
        }
        answer.body_mut().read_to_string().unwrap()
    }
}

/// A model at the address that this program is given.
struct Model {
    http: Agent,
    tools: Vec<Value>,
}

impl Model {
    fn answer(&self, messages: &[Value]) -> Value {
        let format = std::env::var("AGENT_FORMAT").unwrap_or_default();
        if formats::OTHERS.contains(&&*format) {
            return formats::ask(&self.http, &format, messages, &self.tools);
        }
        let base = std::env::var("OPENAI_BASE_URL").unwrap();
        let key = std::env::var("OPENAI_API_KEY").unwrap_or_default();
        let body = json!({ "model": "gpt-5", "messages": messages, "tools": self.tools });
        let mut answer = self
            .http
            .post(format!("{base}/chat/completions?session=planted-query-13"))
            .header("content-type", "application/json")
            .header("x-api-key", "planted-header-14")
            .header("cookie", "planted-cookie-15")
            .header("x-request-signature", "planted-signature-16")
            .header("authorization", format!("Bearer {key}"))
            .send(body.to_string())
            .unwrap();
        let status = answer.status().as_u16();
        let text = answer.body_mut().read_to_string().unwrap();
        assert_eq!(status, 200, "{text}");
        serde_json::from_str::<Value>(&text).unwrap()["choices"][0]["message"].clone()
    }

    /// Asks until nothing more is called; the last words.
    fn talk(
        &self,
        system: &str,
        user: &str,
        call: &mut dyn FnMut(&str, &Value) -> String,
    ) -> String {
        let mut messages = vec![
            json!({ "role": "system", "content": system }),
            json!({ "role": "user", "content": user }),
        ];
        loop {
            let message = self.answer(&messages);
            messages.push(message.clone());
            let calls = message["tool_calls"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            if calls.is_empty() {
                return message["content"].as_str().unwrap_or_default().to_owned();
            }
            for made in calls {
                let args = made["function"]["arguments"].as_str().unwrap();
                let name = made["function"]["name"].as_str().unwrap();
                let text = call(name, &serde_json::from_str(args).unwrap());
                messages
                    .push(json!({ "role": "tool", "tool_call_id": made["id"], "content": text }));
            }
        }
    }
}

/// Runs where it is started as an agent, and nowhere else.
pub(crate) fn run() {
    let Ok(config) = std::env::var("MCPTEST_MCP_CONFIG") else {
        return;
    };
    log("begin");
    let http: Agent = Agent::config_builder()
        .http_status_as_error(false)
        .build()
        .into();
    let config: Value = serde_json::from_slice(&std::fs::read(config).unwrap()).unwrap();
    let servers = config["mcpServers"].as_object().unwrap();
    let mut open = BTreeMap::new();
    let mut tools = vec![json!({ "type": "function", "function": { "name": "ask_clerk" } })];
    for (name, server) in servers {
        let mut mcp = Mcp::open(&http, server["url"].as_str().unwrap());
        let listed = mcp.ask("tools/list", &json!({}));
        for tool in listed["result"]["tools"].as_array().unwrap() {
            let own = tool["name"].as_str().unwrap();
            tools.push(json!({ "type": "function", "function": {
                "name": format!("{name}__{own}"), "description": tool["description"], "parameters": tool["inputSchema"],
            } }));
        }
        open.insert(name.clone(), mcp);
    }
    let model = Model { http, tools };
    let mut at_server = |name: &str, args: &Value| {
        let (server, tool) = name.split_once("__").unwrap();
        let mcp = open.get_mut(server).unwrap();
        let answer = mcp.ask("tools/call", &json!({ "name": tool, "arguments": args }));
        let text = answer["result"]["content"][0]["text"].as_str();
        text.or(answer["error"]["message"].as_str())
            .unwrap_or_default()
            .to_owned()
    };
    let prompt = std::env::var("MCPTEST_PROMPT").unwrap();
    let said = model.talk("You are the order desk.", &prompt, &mut |name, args| {
        if name == "ask_clerk" {
            let task = args["task"].as_str().unwrap();
            return model.talk("You are a clerk.", task, &mut at_server);
        }
        at_server(name, args)
    });
    println!("{said}");
    log("end");
}

/// Adds a word to a file, where one is named.
fn log(word: &str) {
    if let Ok(file) = std::env::var("AGENT_LOG") {
        let mut file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(file)
            .unwrap();
        writeln!(file, "{word}").unwrap();
    }
}
