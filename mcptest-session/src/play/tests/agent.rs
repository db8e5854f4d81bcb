//! An agent: it asks in a wire format, runs the tools that it is asked for, and stops when there is none.

use axum::body;
use serde_json::{Value, json};

use super::super::{PlayOptions, Player, Recording};
use crate::endpoint::{Answerer as _, Incoming};
use crate::exchange::{Call, ModelResponse, Part};
use crate::protocol;

/// What an agent's code says and does.
pub(super) struct Agent {
    pub(super) protocol: &'static str,
    pub(super) streamed: bool,
    pub(super) model: &'static str,
    pub(super) system: Option<&'static str>,
    pub(super) prompt: &'static str,
    pub(super) tools: Vec<(&'static str, &'static str)>,
    pub(super) temperature: f64,
    /// What a tool answers.
    pub(super) run: fn(&Call) -> String,
    /// Most model calls.
    pub(super) most: usize,
    /// Each question is asked so often.
    pub(super) times: usize,
    /// Whether its tools are strict.
    pub(super) strict: Option<bool>,
    /// What it makes of its talk for each request.
    pub(super) edit: fn(&mut Vec<Value>),
}

impl Default for Agent {
    fn default() -> Self {
        Self {
            protocol: "openai_chat",
            streamed: false,
            model: "gpt-5",
            system: Some("Help."),
            prompt: "Cancel 7 and 8.",
            tools: vec![("shop__cancel", "Cancels.")],
            temperature: 0.5,
            run: |call| format!("{{\"cancelled\":{}}}", call.args["order"]),
            most: 10,
            times: 1,
            strict: None,
            edit: |_| {},
        }
    }
}

/// What the agent ended with.
#[derive(Debug, PartialEq)]
pub(super) struct Ended {
    pub(super) said: Vec<ModelResponse>,
    /// The error that ended it.
    pub(super) error: Option<String>,
}

impl Agent {
    pub(super) fn path(&self) -> (String, Option<String>) {
        match self.protocol {
            "openai_chat" => ("/openai/v1/chat/completions".to_owned(), None),
            "openai_responses" => ("/openai/v1/responses".to_owned(), None),
            "anthropic_messages" => ("/anthropic/v1/messages".to_owned(), None),
            "ollama" => ("/ollama/api/chat".to_owned(), None),
            "bedrock_converse" => {
                let operation = if self.streamed {
                    "converse-stream"
                } else {
                    "converse"
                };
                (format!("/bedrock/model/{}/{operation}", self.model), None)
            }
            "gemini" if self.streamed => (
                format!("/gemini/v1beta/models/{}:streamGenerateContent", self.model),
                Some("alt=sse".to_owned()),
            ),
            "gemini" => (
                format!("/gemini/v1beta/models/{}:generateContent", self.model),
                None,
            ),
            other => unknown(other),
        }
    }

    /// The messages that it begins with.
    pub(super) fn begin(&self) -> Vec<Value> {
        let in_messages = ["openai_chat", "ollama"].contains(&self.protocol);
        let system = self.system.filter(|_| in_messages);
        let system = system.map(|text| json!({ "role": "system", "content": text }));
        let user = match self.protocol {
            "gemini" => json!({ "role": "user", "parts": [{ "text": self.prompt }] }),
            "bedrock_converse" => {
                json!({ "role": "user", "content": [{ "text": self.prompt }] })
            }
            "openai_chat" | "openai_responses" | "anthropic_messages" | "ollama" => {
                json!({ "role": "user", "content": self.prompt })
            }
            other => unknown(other),
        };
        system.into_iter().chain([user]).collect()
    }

    pub(super) fn request(&self, messages: &[Value]) -> Value {
        let schema = json!({ "type": "object" });
        let tools = self.tools.iter().map(|(name, says)| match self.protocol {
            "openai_chat" | "ollama" => json!({ "type": "function", "function": { "name": name, "description": says, "parameters": schema } }),
            "openai_responses" => json!({ "type": "function", "name": name, "description": says, "parameters": schema }),
            "anthropic_messages" => json!({ "name": name, "description": says, "input_schema": schema }),
            "bedrock_converse" => json!({ "toolSpec": {
                "name": name, "description": says, "inputSchema": { "json": schema },
            } }),
            "gemini" => json!({ "name": name, "description": says, "parameters": schema }),
            other => unknown(other),
        });
        let mut tools: Vec<Value> = tools.collect();
        if let Some(strict) = self.strict {
            for tool in &mut tools {
                match self.protocol {
                    "openai_chat" | "ollama" => tool["function"]["strict"] = strict.into(),
                    "bedrock_converse" => tool["toolSpec"]["strict"] = strict.into(),
                    _ => tool["strict"] = strict.into(),
                }
            }
        }
        let mut request = match self.protocol {
            "gemini" => json!({
                "contents": messages, "generationConfig": { "temperature": self.temperature },
                "tools": [{ "functionDeclarations": tools }],
            }),
            "bedrock_converse" => json!({
                "messages": messages, "inferenceConfig": { "temperature": self.temperature },
                "toolConfig": { "tools": tools },
            }),
            "openai_responses" => {
                json!({ "input": messages, "temperature": self.temperature, "tools": tools })
            }
            "ollama" => {
                let options = json!({ "temperature": self.temperature });
                json!({ "messages": messages, "options": options, "tools": tools })
            }
            "openai_chat" | "anthropic_messages" => {
                json!({ "messages": messages, "temperature": self.temperature, "tools": tools })
            }
            other => unknown(other),
        };
        if !["gemini", "bedrock_converse"].contains(&self.protocol) {
            request["model"] = self.model.into();
            request["stream"] = self.streamed.into();
        }
        let key = match self.protocol {
            "openai_responses" => "instructions",
            "anthropic_messages" | "bedrock_converse" => "system",
            "gemini" => "systemInstruction",
            // It stands in the messages.
            "openai_chat" | "ollama" => return request,
            other => unknown(other),
        };
        if let Some(system) = self.system {
            request[key] = match self.protocol {
                "gemini" => json!({ "parts": [{ "text": system }] }),
                "bedrock_converse" => json!([{ "text": system }]),
                _ => system.into(),
            };
        }
        request
    }

    /// What an answer adds to the talk: itself, and the results of its calls.
    pub(super) fn goes_on(&self, body: &Value, said: &ModelResponse) -> Vec<Value> {
        let results = said.calls().map(|call| {
            let (id, text) = (&call.id, (self.run)(call));
            match self.protocol {
                "openai_chat" => json!({ "role": "tool", "tool_call_id": id, "content": text }),
                "ollama" => json!({ "role": "tool", "tool_name": call.name, "content": text }),
                "openai_responses" => {
                    json!({ "type": "function_call_output", "call_id": id, "output": text })
                }
                "anthropic_messages" => json!({ "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": id, "content": text },
                ] }),
                "bedrock_converse" => json!({ "role": "user", "content": [
                    { "toolResult": { "toolUseId": id, "content": [{ "text": text }] } },
                ] }),
                "gemini" => json!({ "role": "user", "parts": [
                    { "functionResponse": { "name": call.name, "response": { "output": text } } },
                ] }),
                other => unknown(other),
            }
        });
        let results: Vec<Value> = results.collect();
        let own = match self.protocol {
            "openai_chat" => vec![body["choices"][0]["message"].clone()],
            "ollama" => vec![body["message"].clone()],
            "openai_responses" => body["output"].as_array().cloned().unwrap_or_default(),
            "anthropic_messages" => {
                vec![json!({ "role": "assistant", "content": body["content"] })]
            }
            "bedrock_converse" => vec![body["output"]["message"].clone()],
            "gemini" => vec![body["candidates"][0]["content"].clone()],
            other => unknown(other),
        };
        own.into_iter().chain(results).collect()
    }

    /// Runs against a recording.
    pub(super) async fn plays(&self, player: &Player) -> Ended {
        self.plays_from(player, self.begin()).await
    }

    /// Plays the agent, whose first request has these messages.
    pub(super) async fn plays_from(&self, player: &Player, mut messages: Vec<Value>) -> Ended {
        let mut ended = Ended {
            said: Vec::new(),
            error: None,
        };
        let (path, query) = self.path();
        for number in 0..self.most {
            let mut talk = messages.clone();
            (self.edit)(&mut talk);
            let request = self.request(&talk);
            let mut last = None;
            for _ in 0..self.times {
                last = Some(ask(player, number, &path, query.as_deref(), &request).await);
            }
            let (status, bytes) = last.unwrap();
            let (protocol, _) = protocol::at(&path).unwrap();
            if status != 200 {
                let body: Value = serde_json::from_slice(&bytes).unwrap();
                ended.error = protocol::error_message(&body).map(str::to_owned);
                return ended;
            }
            let framing = protocol.framing(query.as_deref());
            let framing = self.streamed.then_some(framing);
            let assembled = protocol::assembled(protocol, framing, &bytes, true);
            assert!(assembled.ended, "{}", String::from_utf8_lossy(&bytes));
            let body = assembled.body.unwrap();
            let said = protocol.parse_response(&body).unwrap();
            let stops = said.calls().next().is_none();
            messages.extend(self.goes_on(&body, &said));
            ended.said.push(said);
            if stops {
                return ended;
            }
        }
        ended
    }
}

/// A format that the agent does not know yet.
fn unknown(format: &str) -> ! {
    panic!(
        "say in `play/tests/agent.rs` how the agent of these tests asks in the format `{format}`"
    )
}

/// Asks a player as an endpoint does.
pub(super) async fn ask(
    player: &Player,
    number: usize,
    path: &str,
    query: Option<&str>,
    request: &Value,
) -> (u16, Vec<u8>) {
    let query = query.map(|query| format!("?{query}"));
    let path = format!("{path}{}", query.unwrap_or_default());
    let incoming = Incoming::post(number, &path, request.to_string());
    let response = player.answer(incoming).await;
    let status = response.status().as_u16();
    let bytes = body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
    (status, bytes.to_vec())
}

/// A player of a cassette.
pub(super) fn player(cassette: &Value, options: PlayOptions) -> Player {
    Player::new(Recording::from_cassette(cassette).unwrap(), options)
}

/// The texts of answers.
pub(super) fn texts(said: &ModelResponse) -> String {
    said.parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect()
}
