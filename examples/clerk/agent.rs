//! A clerk at the order desk: an agent in its own code. It asks a model in `OpenAI`'s format and calls the tools of an MCP
//! server, both over plain HTTP. It knows nothing of tests: it is given two addresses and a question.

use serde_json::{Value, json};

/// What the clerk is told.
const SYSTEM: &str =
    "You work at the order desk. Look an order up before you say anything of it. Be brief.";

/// The tools of the desk that the clerk may use.
const TOOLS: [&str; 2] = ["find_order", "add_note"];

/// The most model calls for one question.
const MOST: usize = 8;

type Failure = Box<dyn std::error::Error>;

/// Answers a question.
pub(crate) fn answer(model: &str, desk: &str, question: &str) -> Result<String, Failure> {
    let desk = Desk::at(desk)?;
    let tools = desk.tools()?;
    let mut messages = vec![
        json!({ "role": "system", "content": SYSTEM }),
        json!({ "role": "user", "content": question }),
    ];
    for _ in 0..MOST {
        let asked = json!({ "model": "gpt-5", "messages": messages, "tools": tools });
        let said = post(&format!("{model}/chat/completions"), &asked)?;
        let message = said["choices"][0]["message"].clone();
        messages.push(message.clone());
        let calls = message["tool_calls"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        if calls.is_empty() {
            return Ok(message["content"].as_str().unwrap_or_default().to_owned());
        }
        for call in calls {
            let function = &call["function"];
            let args: Value = serde_json::from_str(function["arguments"].as_str().unwrap_or("{}"))?;
            let content = desk.call(function["name"].as_str().unwrap_or_default(), &args)?;
            messages
                .push(json!({ "role": "tool", "tool_call_id": call["id"], "content": content }));
        }
    }
    Err("the model asked for tools without an end".into())
}

/// The desk, over MCP.
struct Desk<'u> {
    url: &'u str,
}

impl<'u> Desk<'u> {
    fn at(url: &'u str) -> Result<Self, Failure> {
        let desk = Self { url };
        let client = json!({ "name": "clerk", "version": "1" });
        desk.ask(
            "initialize",
            &json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client }),
        )?;
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        request(url, &ready)?;
        Ok(desk)
    }

    /// The tools, as `OpenAI`'s format has them.
    fn tools(&self) -> Result<Vec<Value>, Failure> {
        let listed = self.ask("tools/list", &json!({}))?;
        let listed = listed["tools"].as_array().cloned().unwrap_or_default();
        let known = listed
            .into_iter()
            .filter(|tool| TOOLS.iter().any(|name| tool["name"] == *name));
        let offered = known.map(|tool| {
            let function = json!({ "name": tool["name"], "description": tool["description"], "parameters": tool["inputSchema"] });
            json!({ "type": "function", "function": function })
        });
        Ok(offered.collect())
    }

    /// What a tool says, also where it says that it failed.
    fn call(&self, name: &str, args: &Value) -> Result<String, Failure> {
        let result = self.ask("tools/call", &json!({ "name": name, "arguments": args }))?;
        Ok(result["content"][0]["text"]
            .as_str()
            .unwrap_or_default()
            .to_owned())
    }

    fn ask(&self, method: &str, params: &Value) -> Result<Value, Failure> {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let answer = post(self.url, &message)?;
        match answer.get("error") {
            Some(error) => Err(error.to_string().into()),
            None => Ok(answer["result"].clone()),
        }
    }
}

fn post(url: &str, body: &Value) -> Result<Value, Failure> {
    let text = request(url, body)?;
    // A server may answer in a stream of events; the last one holds the answer.
    let event = text
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("data:"));
    Ok(serde_json::from_str(event.unwrap_or(&text))?)
}

fn request(url: &str, body: &Value) -> Result<String, Failure> {
    let key = std::env::var("OPENAI_API_KEY").unwrap_or_default();
    let mut answer = ureq::post(url)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("authorization", format!("Bearer {key}"))
        .send(body.to_string())?;
    Ok(answer.body_mut().read_to_string()?)
}
