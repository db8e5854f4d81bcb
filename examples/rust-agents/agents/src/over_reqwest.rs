//! Over plain reqwest: Anthropic's Messages, whole and streamed, with nothing between the agent and the wire.

use futures_util::StreamExt as _;
use reqwest::{Client, RequestBuilder, Response};
use serde_json::{Value, json};

use crate::{Answers, Error, MOST_TRIES, MOST_TURNS, PAUSE, desk};

const MODEL: &str = "claude-sonnet-4-5";

/// Answers the user with the help of the model at an address. The key is `ANTHROPIC_API_KEY`.
pub async fn answer(base_url: &str, prompt: &str, answers: Answers) -> Result<String, Error> {
    let client = Client::new();
    let url = format!("{base_url}/v1/messages");
    let key = std::env::var("ANTHROPIC_API_KEY")?;
    let tools = desk::tools().iter().map(|tool| {
        json!({ "name": tool.name, "description": tool.description, "input_schema": tool.schema() })
    });
    let tools: Vec<Value> = tools.collect();
    let mut messages = vec![json!({ "role": "user", "content": prompt })];
    for _ in 0..MOST_TURNS {
        let body = json!({
            "model": MODEL,
            "max_tokens": 1024,
            "system": desk::system(),
            "tools": tools,
            "messages": messages,
            "stream": answers == Answers::Streamed,
        });
        let request = client
            .post(&url)
            .header("x-api-key", &key)
            .header("anthropic-version", "2023-06-01")
            .json(&body);
        let answer = ask(&request).await?;
        let blocks = match answers {
            Answers::Whole => blocks(&answer.json().await?)?,
            Answers::Streamed => streamed(answer).await?,
        };
        let results: Vec<Value> = blocks.iter().filter_map(result).collect();
        if results.is_empty() {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            return Ok(texts.collect());
        }
        messages.push(json!({ "role": "assistant", "content": blocks }));
        messages.push(json!({ "role": "user", "content": results }));
    }
    Err("the model calls tools without end".into())
}

/// Asks, and asks again after 429 and 5xx.
async fn ask(request: &RequestBuilder) -> Result<Response, Error> {
    let mut tries = 1;
    loop {
        let again = request
            .try_clone()
            .ok_or("the request cannot be made again")?;
        let answer = again.send().await?;
        let passes = answer.status() == 429 || answer.status().is_server_error();
        if !passes || tries == MOST_TRIES {
            return Ok(answer.error_for_status()?);
        }
        tokio::time::sleep(PAUSE * tries).await;
        tries += 1;
    }
}

/// What a call in an answer gave; nothing for what is no call.
fn result(block: &Value) -> Option<Value> {
    if block["type"] != "tool_use" {
        return None;
    }
    let tool = block["name"].as_str().unwrap_or_default();
    let (content, is_error) = match desk::call(tool, &block["input"]) {
        Ok(found) => (found.to_string(), false),
        Err(error) => (error.to_string(), true),
    };
    Some(json!({
        "type": "tool_result",
        "tool_use_id": block["id"],
        "content": content,
        "is_error": is_error,
    }))
}

/// The blocks of a whole answer.
fn blocks(answer: &Value) -> Result<Vec<Value>, Error> {
    let blocks = answer["content"].as_array();
    Ok(blocks.ok_or("the answer has no content")?.clone())
}

/// The blocks of an answer that comes as events.
async fn streamed(answer: Response) -> Result<Vec<Value>, Error> {
    let mut bytes = answer.bytes_stream();
    let (mut read, mut blocks, mut arguments) = (Vec::new(), Vec::new(), String::new());
    while let Some(chunk) = bytes.next().await {
        read.extend_from_slice(&chunk?);
        while let Some(end) = read.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = read.drain(..=end).collect();
            let Some(data) = line.strip_prefix(b"data: ") else {
                continue;
            };
            add(&serde_json::from_slice(data)?, &mut blocks, &mut arguments)?;
        }
    }
    Ok(blocks)
}

/// Adds what an event says to the blocks. The arguments of a call come as pieces of JSON.
fn add(event: &Value, blocks: &mut Vec<Value>, arguments: &mut String) -> Result<(), Error> {
    match event["type"].as_str() {
        Some("content_block_start") => {
            blocks.push(event["content_block"].clone());
            arguments.clear();
        }
        Some("content_block_delta") => {
            let last = blocks
                .last_mut()
                .ok_or("a piece of a block came before its block")?;
            if let Some(piece) = event["delta"]["text"].as_str() {
                let text = last["text"].as_str().unwrap_or_default();
                last["text"] = format!("{text}{piece}").into();
            }
            arguments.push_str(event["delta"]["partial_json"].as_str().unwrap_or_default());
        }
        Some("content_block_stop") if !arguments.is_empty() => {
            if let Some(last) = blocks.last_mut() {
                last["input"] = serde_json::from_str(arguments)?;
            }
        }
        Some("error") => return Err(event["error"]["message"].to_string().into()),
        _ => {}
    }
    Ok(())
}
