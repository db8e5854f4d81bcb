//! Amazon Bedrock: what a request must be, how an answer looks, whole and as messages of its event stream.

use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use hyper::body::Bytes;
use serde_json::{Value, json};

use crate::{
    api::ApiError,
    exchange::{Answer, Arguments, Exchange, PastCall, Turn},
    script::Stop,
    streaming::pieces,
};

/// What is asked of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Converse,
    ConverseStream,
    Invoke,
    InvokeStream,
}

/// The model that a path asks, and how.
pub(crate) fn operation(path: &str) -> Option<(String, Operation)> {
    let (model, operation) = path.strip_prefix("/model/")?.split_once('/')?;
    let operation = match operation {
        "converse" => Operation::Converse,
        "converse-stream" => Operation::ConverseStream,
        "invoke" => Operation::Invoke,
        "invoke-with-response-stream" => Operation::InvokeStream,
        _ => return None,
    };
    Some((model.replace("%3A", ":").replace("%2F", "/"), operation))
}

/// The exception of a status.
pub(crate) fn exception(status: u16) -> &'static str {
    match status {
        403 => "AccessDeniedException",
        404 => "ResourceNotFoundException",
        429 => "ThrottlingException",
        503 => "ServiceUnavailableException",
        500.. => "InternalServerException",
        _ => "ValidationException",
    }
}

/// A request of `InvokeModel` as Anthropic's own API has it.
pub(crate) fn as_messages(path: &str, mut body: Value) -> Result<Value, ApiError> {
    let (model, operation) = operation(path).unwrap_or((String::new(), Operation::Invoke));
    // Each release of the client may name another one.
    if !body["anthropic_version"].is_string() {
        return Err(ApiError::invalid("anthropic_version: Field required"));
    }
    if let Some(body) = body.as_object_mut() {
        body.remove("anthropic_version");
        body.remove("anthropic_beta");
    }
    for key in ["model", "stream"] {
        if body.get(key).is_some() {
            return Err(ApiError::invalid(format!(
                "{key}: Extra inputs are not permitted"
            )));
        }
    }
    body["model"] = model.into();
    body["stream"] = (operation == Operation::InvokeStream).into();
    Ok(body)
}

/// Checks a request of `Converse`.
pub(crate) fn read(path: &str, body: &Value) -> Result<Exchange, ApiError> {
    let (model, _) =
        operation(path).ok_or_else(|| ApiError::new(404, format!("Not found: {path}")))?;
    let mut exchange = Exchange {
        model,
        system: words(&body["system"]),
        ..Exchange::default()
    };
    let messages = body["messages"].as_array().filter(|all| !all.is_empty());
    let messages = messages.ok_or_else(|| {
        ApiError::invalid(
            "The messages field is required: a conversation must start with a user message.",
        )
    })?;
    let has_tools = body["toolConfig"]["tools"]
        .as_array()
        .is_some_and(|all| !all.is_empty());
    let mut open: Vec<String> = Vec::new();
    let mut last = "assistant";
    for message in messages {
        let role = message["role"].as_str().unwrap_or_default();
        if role == last {
            return Err(ApiError::invalid(
                "A conversation must alternate between user and assistant roles.",
            ));
        }
        last = if role == "user" { "user" } else { "assistant" };
        let content = message["content"].as_array().map_or(&[][..], Vec::as_slice);
        if content.is_empty() {
            return Err(ApiError::invalid(
                "The content field in the Message object is empty.",
            ));
        }
        if role == "assistant" {
            let calls = content.iter().filter(|block| block["toolUse"].is_object());
            let calls: Vec<PastCall> = calls.map(|block| call(&block["toolUse"])).collect();
            if !calls.is_empty() && !has_tools {
                return Err(ApiError::invalid(
                    "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
                ));
            }
            open.extend(calls.iter().map(|call| call.id.clone()));
            let text = words(&message["content"]);
            exchange.turns.push(Turn::Assistant { text, calls });
            continue;
        }
        for block in content {
            let result = &block["toolResult"];
            if let Some(text) = block["text"].as_str() {
                exchange.turns.push(Turn::User(text.to_owned()));
            } else if result.is_object() {
                let id = result["toolUseId"].as_str().unwrap_or_default();
                let Some(place) = open.iter().position(|open| open == id) else {
                    return Err(ApiError::invalid(format!(
                        "The toolResult block for {id} has no toolUse block in the previous turn."
                    )));
                };
                let call_id = open.remove(place);
                let text = result_text(&result["content"]);
                exchange.turns.push(Turn::Result { call_id, text });
            }
        }
        if !open.is_empty() {
            return Err(ApiError::invalid(format!(
                "Expected toolResult blocks for the following Ids: {}",
                open.join(", ")
            )));
        }
    }
    Ok(exchange)
}

fn call(block: &Value) -> PastCall {
    PastCall {
        id: block["toolUseId"].as_str().unwrap_or_default().to_owned(),
        name: block["name"].as_str().unwrap_or_default().to_owned(),
        arguments: block["input"].to_string(),
    }
}

fn result_text(content: &Value) -> String {
    let blocks = content.as_array().into_iter().flatten();
    let text = |block: &Value| match block["text"].as_str() {
        Some(text) => text.to_owned(),
        None => block["json"].to_string(),
    };
    blocks.map(text).collect()
}

fn words(content: &Value) -> String {
    let blocks = content.as_array().into_iter().flatten();
    blocks.filter_map(|block| block["text"].as_str()).collect()
}

/// The body of an answer of `Converse`.
pub(crate) fn body(answer: &Answer) -> Value {
    let mut content = Vec::new();
    if !answer.text.is_empty() {
        content.push(json!({ "text": answer.text }));
    }
    for (index, call) in answer.calls.iter().enumerate() {
        let input = match &call.arguments {
            Arguments::Json(args) => args.clone(),
            Arguments::Raw(raw) => raw.as_str().into(),
        };
        let id = format!("tooluse_{}_{index}", answer.id);
        content.push(json!({ "toolUse": { "toolUseId": id, "name": call.name, "input": input } }));
    }
    let reason = match answer.stop {
        Some(Stop::MaxTokens) => "max_tokens",
        Some(Stop::Refusal) => "content_filtered",
        None if answer.calls.is_empty() => "end_turn",
        None => "tool_use",
    };
    json!({
        "metrics": { "latencyMs": 7 },
        "output": { "message": { "content": content, "role": "assistant" } },
        "stopReason": reason,
        "usage": {
            "inputTokens": answer.usage.prompt - answer.usage.cached,
            "outputTokens": answer.usage.completion,
            "totalTokens": answer.usage.prompt + answer.usage.completion,
            "cacheReadInputTokens": answer.usage.cached,
            "cacheWriteInputTokens": 0,
        },
    })
}

/// An answer of `Converse` as the messages of a stream. A text has no start, and each event is padded.
pub(crate) fn of_converse(body: &Value) -> Vec<Bytes> {
    let mut messages = Vec::new();
    let mut event = |name: &str, mut data: Value| {
        data["p"] = "abcdefgh".into();
        messages.push(message(name, &data));
    };
    event("messageStart", json!({ "role": "assistant" }));
    let blocks = body["output"]["message"]["content"].as_array();
    for (index, block) in blocks.into_iter().flatten().enumerate() {
        let call = &block["toolUse"];
        let deltas: Vec<Value> = if call.is_object() {
            let start =
                json!({ "toolUse": { "toolUseId": call["toolUseId"], "name": call["name"] } });
            event(
                "contentBlockStart",
                json!({ "contentBlockIndex": index, "start": start }),
            );
            let input = pieces(&call["input"].to_string()).into_iter();
            let delta = |piece| json!({ "toolUse": { "input": piece } });
            [delta(String::new())]
                .into_iter()
                .chain(input.map(delta))
                .collect()
        } else {
            let text = pieces(block["text"].as_str().unwrap_or_default()).into_iter();
            text.map(|piece| json!({ "text": piece })).collect()
        };
        for delta in deltas {
            event(
                "contentBlockDelta",
                json!({ "contentBlockIndex": index, "delta": delta }),
            );
        }
        event("contentBlockStop", json!({ "contentBlockIndex": index }));
    }
    event("messageStop", json!({ "stopReason": body["stopReason"] }));
    event(
        "metadata",
        json!({ "usage": body["usage"], "metrics": body["metrics"] }),
    );
    messages
}

/// An event of Anthropic's own stream, in a message.
pub(crate) fn chunk(data: &str) -> Bytes {
    message(
        "chunk",
        &json!({ "bytes": STANDARD.encode(data), "p": "abcdefgh" }),
    )
}

fn message(name: &str, data: &Value) -> Bytes {
    let header =
        |key: &'static str, value: String| Header::new(key, HeaderValue::String(value.into()));
    let message = Message::new(data.to_string())
        .add_header(header(":event-type", name.to_owned()))
        .add_header(header(":content-type", "application/json".to_owned()))
        .add_header(header(":message-type", "event".to_owned()));
    let mut bytes = Vec::new();
    // What a script holds is never too long.
    let _ = write_message_to(&message, &mut bytes);
    bytes.into()
}
