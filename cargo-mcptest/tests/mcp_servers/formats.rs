//! The formats in which the agent asks its model: `AGENT_FORMAT` names one. What it says and hears stands in the form of
//! Chat Completions elsewhere.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use ureq::Agent;

/// Formats besides Chat Completions.
pub(crate) const OTHERS: [&str; 4] = ["ollama", "ollama stream", "converse", "converse stream"];

pub(crate) const KEY_ID: &str = "AKIDTEST";

/// The message that a model answers.
pub(crate) fn ask(http: &Agent, format: &str, messages: &[Value], tools: &[Value]) -> Value {
    let streamed = format.ends_with(" stream");
    if format.starts_with("ollama") {
        let body = json!({
            "model": "gpt-5", "messages": of_ollama(messages), "tools": tools, "stream": streamed,
            "options": { "num_predict": 10 },
        });
        let base = std::env::var("OLLAMA_HOST").unwrap();
        let bytes = send(http, &format!("{base}/api/chat"), None, &body);
        let lines = bytes.split(|byte| *byte == b'\n');
        let lines = lines.filter(|line| !line.is_empty());
        return from_ollama(lines.map(|line| serde_json::from_slice(line).unwrap()));
    }
    let body = json!({
        "messages": of_converse(messages),
        "system": [{ "text": messages[0]["content"] }],
        "toolConfig": { "tools": tools.iter().map(tool_of_converse).collect::<Value>() },
        "inferenceConfig": { "maxTokens": 10 },
    });
    let base = std::env::var("AWS_ENDPOINT_URL_BEDROCK_RUNTIME").unwrap();
    let operation = if streamed {
        "converse-stream"
    } else {
        "converse"
    };
    let signature = format!(
        "AWS4-HMAC-SHA256 Credential={KEY_ID}/20261128/eu-central-1/bedrock/aws4_request, SignedHeaders=host, Signature=00"
    );
    let url = format!("{base}/model/gpt-5/{operation}");
    let bytes = send(http, &url, Some(&signature), &body);
    let content = if streamed {
        put_together(&bytes)
    } else {
        let body: Value = serde_json::from_slice(&bytes).unwrap();
        body["output"]["message"]["content"].clone()
    };
    from_converse(&content)
}

fn send(http: &Agent, url: &str, login: Option<&str>, body: &Value) -> Vec<u8> {
    let mut request = http.post(url).header("content-type", "application/json");
    if let Some(login) = login {
        request = request.header("authorization", login);
    }
    let mut answer = request.send(body.to_string()).unwrap();
    let status = answer.status().as_u16();
    let bytes = answer.body_mut().read_to_vec().unwrap();
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&bytes));
    bytes
}

/// A call in the form of Chat Completions.
fn call(id: &Value, name: &Value, args: &Value) -> Value {
    json!({ "id": id, "type": "function", "function": { "name": name, "arguments": args.to_string() } })
}

/// A message with calls, or without them.
fn message(text: &str, calls: Vec<Value>) -> Value {
    let mut message = json!({ "role": "assistant", "content": text });
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    message
}

fn calls(message: &Value) -> impl Iterator<Item = (&Value, &Value, Value)> {
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    calls.map(|call| {
        let args = call["function"]["arguments"].as_str().unwrap();
        let args = serde_json::from_str(args).unwrap();
        (&call["id"], &call["function"]["name"], args)
    })
}

/// Ollama takes arguments as objects, and knows results by their order.
fn of_ollama(messages: &[Value]) -> Value {
    let each = messages.iter().map(|one| {
        let mut one = one.clone();
        let own = one.clone();
        let called = calls(&own)
            .map(|(_, name, args)| json!({ "function": { "name": name, "arguments": args } }));
        let called: Vec<Value> = called.collect();
        if !called.is_empty() {
            one["tool_calls"] = called.into();
        }
        one.as_object_mut().unwrap().remove("tool_call_id");
        one
    });
    each.collect()
}

fn from_ollama(chunks: impl Iterator<Item = Value>) -> Value {
    let (mut text, mut called) = (String::new(), Vec::new());
    for chunk in chunks {
        text += chunk["message"]["content"].as_str().unwrap_or_default();
        for made in chunk["message"]["tool_calls"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let function = &made["function"];
            called.push(call(&made["id"], &function["name"], &function["arguments"]));
        }
    }
    message(&text, called)
}

fn tool_of_converse(tool: &Value) -> Value {
    let function = &tool["function"];
    let schema = match &function["parameters"] {
        Value::Null => json!({ "type": "object" }),
        schema => schema.clone(),
    };
    let mut spec = json!({ "name": function["name"], "inputSchema": { "json": schema } });
    if let Some(description) = function["description"].as_str() {
        spec["description"] = description.into();
    }
    json!({ "toolSpec": spec })
}

/// The messages without the system prompt. All results of an answer are one message.
fn of_converse(messages: &[Value]) -> Value {
    let mut all: Vec<Value> = Vec::new();
    for one in &messages[1..] {
        if one["role"] == "tool" {
            let result = json!({ "toolResult": { "toolUseId": one["tool_call_id"], "content": [{ "text": one["content"] }] } });
            match all.last_mut().filter(|last| last["role"] == "user") {
                Some(last) => last["content"].as_array_mut().unwrap().push(result),
                None => all.push(json!({ "role": "user", "content": [result] })),
            }
            continue;
        }
        let text = one["content"].as_str().unwrap_or_default();
        let text = (!text.is_empty()).then(|| json!({ "text": text }));
        let called = calls(one).map(|(id, name, args)| json!({ "toolUse": { "toolUseId": id, "name": name, "input": args } }));
        let content: Vec<Value> = text.into_iter().chain(called).collect();
        all.push(json!({ "role": one["role"], "content": content }));
    }
    all.into()
}

fn from_converse(content: &Value) -> Value {
    let blocks = content.as_array().unwrap();
    let texts = blocks.iter().filter_map(|block| block["text"].as_str());
    let called = blocks.iter().filter_map(|block| block.get("toolUse"));
    let called = called.map(|made| call(&made["toolUseId"], &made["name"], &made["input"]));
    message(&texts.collect::<String>(), called.collect())
}

/// The blocks of a stream, read by no code that the session has.
fn put_together(stream: &[u8]) -> Value {
    let number = |bytes: &[u8]| u32::from_be_bytes(bytes[..4].try_into().unwrap()) as usize;
    let (mut rest, mut blocks) = (stream, BTreeMap::<u64, Value>::new());
    while !rest.is_empty() {
        let (whole, headers) = (number(rest), number(&rest[4..]));
        let event: Value = serde_json::from_slice(&rest[12 + headers..whole - 4]).unwrap();
        rest = &rest[whole..];
        let Some(index) = event["contentBlockIndex"].as_u64() else {
            continue;
        };
        let block = blocks.entry(index).or_insert_with(|| json!({}));
        if let Some(begun) = event["start"].get("toolUse") {
            block["toolUse"] = begun.clone();
            block["toolUse"]["input"] = "".into();
        }
        let add = |field: &mut Value, piece: &str| {
            *field = format!("{}{piece}", field.as_str().unwrap_or_default()).into();
        };
        if let Some(piece) = event["delta"]["text"].as_str() {
            add(&mut block["text"], piece);
        }
        if let Some(piece) = event["delta"]["toolUse"]["input"].as_str() {
            add(&mut block["toolUse"]["input"], piece);
        }
    }
    let blocks = blocks.into_values().map(|mut block| {
        if let Some(input) = block["toolUse"]["input"].as_str() {
            let input: Value = serde_json::from_str(input).unwrap();
            block["toolUse"]["input"] = input;
        }
        if block["toolUse"].is_null() {
            block.as_object_mut().unwrap().remove("toolUse");
        }
        block
    });
    blocks.collect()
}
