//! An agent in a few lines, which speaks each format.

use mcptest_session::session::Session;
use serde_json::{Value, json};

/// A format, as a client of it asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Chat,
    Responses,
    Messages,
    Gemini,
}

pub(crate) const ALL: [Format; 4] = [
    Format::Chat,
    Format::Responses,
    Format::Messages,
    Format::Gemini,
];

/// What a tool answers, and whether it failed.
fn cancel(args: &Value) -> (&'static str, bool) {
    match args["order"].as_u64() {
        Some(7) => ("cancelled", false),
        _ => ("order 8 has shipped", true),
    }
}

pub(crate) struct Agent<'s> {
    pub(crate) session: &'s Session,
    pub(crate) format: Format,
    pub(crate) streamed: bool,
    pub(crate) encoding: &'static str,
    /// How often a request that fails is sent again.
    pub(crate) retries: usize,
}

/// An answer, as far as the agent looks at it.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) bytes: Vec<u8>,
    /// The body came to its end.
    pub(crate) whole: bool,
}

pub(crate) async fn send(url: &str, body: &Value, encoding: &str) -> Answer {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = client
        .post(url)
        .header("authorization", "Bearer sk-planted-0123456789")
        .header("x-api-key", "sk-planted-0123456789")
        .header("x-goog-api-key", "sk-planted-0123456789")
        .header("anthropic-version", "2023-06-01")
        .header("content-type", "application/json")
        .header("accept-encoding", encoding)
        .body(body.to_string());
    let mut answer = request.send().await.unwrap();
    let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
    let (mut bytes, mut whole) = (Vec::new(), true);
    loop {
        match answer.chunk().await {
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) => break,
            Err(_) => {
                whole = false;
                break;
            }
        }
    }
    Answer {
        status,
        headers,
        bytes,
        whole,
    }
}

impl Agent<'_> {
    pub(crate) fn url(&self) -> String {
        let session = self.session;
        match self.format {
            Format::Chat => format!("{}/chat/completions", session.openai_url()),
            Format::Responses => format!("{}/responses", session.openai_url()),
            Format::Messages => format!("{}/v1/messages", session.anthropic_url()),
            Format::Gemini if self.streamed => format!(
                "{}/v1beta/models/m:streamGenerateContent?alt=sse",
                session.gemini_url()
            ),
            Format::Gemini => format!("{}/v1beta/models/m:generateContent", session.gemini_url()),
        }
    }

    pub(crate) fn request(&self, talk: &[Value]) -> Value {
        let parameters =
            json!({ "type": "object", "properties": { "order": { "type": "integer" } } });
        let mut request = match self.format {
            Format::Chat => json!({ "model": "m", "messages": talk, "tools": [
                { "type": "function", "function": { "name": "cancel", "description": "Cancels.", "parameters": parameters } }] }),
            Format::Responses => {
                json!({ "model": "m", "instructions": "Help.", "input": talk, "tools": [
                { "type": "function", "name": "cancel", "description": "Cancels.", "parameters": parameters }] })
            }
            Format::Messages => {
                json!({ "model": "m", "max_tokens": 500, "system": "Help.", "messages": talk, "tools": [
                { "name": "cancel", "description": "Cancels.", "input_schema": parameters }] })
            }
            Format::Gemini => {
                return json!({ "contents": talk, "systemInstruction": { "parts": [{ "text": "Help." }] }, "tools": [
                    { "functionDeclarations": [{ "name": "cancel", "description": "Cancels.", "parameters": parameters }] }] });
            }
        };
        if self.streamed {
            request["stream"] = true.into();
        }
        request
    }

    pub(crate) fn opening(&self) -> Vec<Value> {
        let prompt = self.session.prompt();
        match self.format {
            Format::Chat => vec![
                json!({ "role": "system", "content": "Help." }),
                json!({ "role": "user", "content": prompt }),
            ],
            Format::Gemini => vec![json!({ "role": "user", "parts": [{ "text": prompt }] })],
            _ => vec![json!({ "role": "user", "content": prompt })],
        }
    }

    /// Asks until the model calls nothing more.
    pub(crate) async fn run(&self) {
        let mut talk = self.opening();
        for _ in 0..9 {
            let Some(body) = self.ask(&talk).await else {
                return;
            };
            let before = talk.len();
            self.go_on(&body, &mut talk);
            if talk.len() == before {
                return;
            }
        }
        panic!("the agent does not end");
    }

    /// The answer to a talk, whole or put together; `None` where it broke off.
    async fn ask(&self, talk: &[Value]) -> Option<Value> {
        for _ in 0..=self.retries {
            let answer = send(&self.url(), &self.request(talk), self.encoding).await;
            if answer.status >= 400 || !answer.whole {
                continue;
            }
            let bytes = match answer.headers.get("content-encoding") {
                Some(_) => unpacked(&answer.bytes),
                None => answer.bytes,
            };
            return Some(if self.streamed {
                put_together(self.format, &String::from_utf8(bytes).unwrap())
            } else {
                serde_json::from_slice(&bytes).unwrap()
            });
        }
        None
    }

    /// Adds the answer and the results of its calls to the talk, where it has calls.
    fn go_on(&self, body: &Value, talk: &mut Vec<Value>) {
        match self.format {
            Format::Chat => {
                let message = &body["choices"][0]["message"];
                let Some(calls) = message["tool_calls"].as_array() else {
                    return;
                };
                talk.push(message.clone());
                for call in calls {
                    let args = call["function"]["arguments"].as_str().unwrap();
                    let (text, _) = cancel(&serde_json::from_str(args).unwrap());
                    talk.push(
                        json!({ "role": "tool", "tool_call_id": call["id"], "content": text }),
                    );
                }
            }
            Format::Responses => {
                let output = body["output"].as_array().unwrap();
                let is_call = |item: &&Value| item["type"] == "function_call";
                if output.iter().filter(is_call).count() == 0 {
                    return;
                }
                talk.extend(output.iter().cloned());
                for call in output.iter().filter(is_call) {
                    let args = call["arguments"].as_str().unwrap();
                    let (text, _) = cancel(&serde_json::from_str(args).unwrap());
                    talk.push(json!({ "type": "function_call_output", "call_id": call["call_id"], "output": text }));
                }
            }
            Format::Messages => {
                let content = body["content"].as_array().unwrap();
                let calls = content.iter().filter(|block| block["type"] == "tool_use");
                let results: Vec<Value> = calls
                    .map(|call| {
                        let (text, failed) = cancel(&call["input"]);
                        json!({ "type": "tool_result", "tool_use_id": call["id"], "content": text, "is_error": failed })
                    })
                    .collect();
                if !results.is_empty() {
                    talk.push(json!({ "role": "assistant", "content": content }));
                    talk.push(json!({ "role": "user", "content": results }));
                }
            }
            Format::Gemini => {
                let content = &body["candidates"][0]["content"];
                let parts = content["parts"].as_array().unwrap();
                let calls = parts.iter().filter_map(|part| part.get("functionCall"));
                let results: Vec<Value> = calls
                    .map(|call| {
                        let (text, _) = cancel(&call["args"]);
                        json!({ "functionResponse": { "id": call["id"], "name": call["name"], "response": { "result": text } } })
                    })
                    .collect();
                if !results.is_empty() {
                    talk.push(content.clone());
                    talk.push(json!({ "role": "user", "parts": results }));
                }
            }
        }
    }
}

pub(crate) fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut unpacked = Vec::new();
    let mut decoder = flate2::read::GzDecoder::new(bytes);
    std::io::Read::read_to_end(&mut decoder, &mut unpacked).unwrap();
    unpacked
}

/// Puts a stream together as a client does, by no code of the crate.
fn put_together(format: Format, stream: &str) -> Value {
    let datas = stream
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<Value> = datas
        .filter_map(|data| serde_json::from_str(data).ok())
        .collect();
    match format {
        Format::Responses => events.last().unwrap()["response"].clone(),
        Format::Chat => {
            let mut message = json!({ "role": "assistant", "content": "" });
            let mut calls: Vec<Value> = Vec::new();
            for delta in events.iter().map(|event| &event["choices"][0]["delta"]) {
                if let Some(text) = delta["content"].as_str() {
                    message["content"] =
                        format!("{}{text}", message["content"].as_str().unwrap()).into();
                }
                for call in delta["tool_calls"].as_array().into_iter().flatten() {
                    let index = usize::try_from(call["index"].as_u64().unwrap()).unwrap();
                    if index == calls.len() {
                        calls.push(call.clone());
                    } else {
                        let held = calls[index]["function"]["arguments"].as_str().unwrap();
                        let more = call["function"]["arguments"].as_str().unwrap();
                        calls[index]["function"]["arguments"] = format!("{held}{more}").into();
                    }
                }
            }
            for call in &mut calls {
                call.as_object_mut().unwrap().remove("index");
            }
            if !calls.is_empty() {
                message["tool_calls"] = calls.into();
            }
            json!({ "choices": [{ "message": message }] })
        }
        Format::Messages => {
            let mut content: Vec<Value> = Vec::new();
            let mut input = String::new();
            for event in &events {
                let delta = &event["delta"];
                match event["type"].as_str().unwrap() {
                    "content_block_start" => content.push(event["content_block"].clone()),
                    "content_block_delta" if delta["type"] == "text_delta" => {
                        let block = content.last_mut().unwrap();
                        block["text"] = format!(
                            "{}{}",
                            block["text"].as_str().unwrap(),
                            delta["text"].as_str().unwrap()
                        )
                        .into();
                    }
                    "content_block_delta" => input += delta["partial_json"].as_str().unwrap(),
                    "content_block_stop" if !input.is_empty() => {
                        content.last_mut().unwrap()["input"] =
                            serde_json::from_str(&input).unwrap();
                        input.clear();
                    }
                    _ => {}
                }
            }
            json!({ "content": content })
        }
        Format::Gemini => {
            let parts = events.iter().flat_map(|event| {
                event["candidates"][0]["content"]["parts"]
                    .as_array()
                    .unwrap()
                    .clone()
            });
            let mut joined: Vec<Value> = Vec::new();
            for part in parts {
                match (joined.last_mut(), part["text"].as_str()) {
                    (Some(last), Some(text)) if last["text"].is_string() => {
                        last["text"] = format!("{}{text}", last["text"].as_str().unwrap()).into();
                    }
                    _ => joined.push(part),
                }
            }
            json!({ "candidates": [{ "content": { "role": "model", "parts": joined } }] })
        }
    }
}
