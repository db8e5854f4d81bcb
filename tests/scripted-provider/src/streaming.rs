//! How each API sends an answer as a stream.

use hyper::body::Bytes;
use serde_json::{Value, json};

use crate::{api::Api, bedrock, bedrock::Operation, gemini};

/// The characters of a piece of text.
const CHARACTERS: usize = 7;

/// A stream.
pub(crate) struct Stream {
    pub(crate) events: Vec<Bytes>,
    pub(crate) media_type: &'static str,
}

/// The stream that a request asks for, if it asks for one.
pub(crate) fn requested_stream(
    api: Api,
    path: &str,
    query: &str,
    asked: &Value,
    body: &Value,
) -> Option<Stream> {
    let messages = |events| Stream {
        events,
        media_type: "application/vnd.amazon.eventstream",
    };
    let events = match api {
        Api::Converse => {
            let (_, Operation::ConverseStream) = bedrock::operation(path)? else {
                return None;
            };
            return Some(messages(bedrock::of_converse(body)));
        }
        Api::Invoke if asked["stream"] == true => {
            let events = messages_events(body).into_iter();
            return Some(messages(
                events.map(|(_, data)| bedrock::chunk(&data)).collect(),
            ));
        }
        Api::Gemini => {
            let (_, true) = gemini::parse_model_path(path)? else {
                return None;
            };
            let chunks = gemini_chunks(body);
            if !query.split('&').any(|part| part == "alt=sse") {
                return Some(list(&chunks));
            }
            let event = |chunk: &Value| (None, chunk.to_string());
            chunks.iter().map(event).collect()
        }
        // A request that does not say so asks for one.
        Api::Ollama if asked["stream"] == false => return None,
        Api::Ollama => return Some(lines(&of_ollama(body))),
        _ if asked["stream"] != true => return None,
        Api::OpenAi => chat_events(asked, body),
        Api::Anthropic | Api::Invoke => messages_events(body),
        Api::Responses => responses_events(body),
    };
    let lines = events
        .into_iter()
        .map(|(name, data): (Option<String>, String)| {
            let name = name.map_or_else(String::new, |name| format!("event: {name}\n"));
            Bytes::from(format!("{name}data: {data}\n\n"))
        });
    Some(Stream {
        events: lines.collect(),
        media_type: "text/event-stream; charset=utf-8",
    })
}

/// A stream that is a JSON array.
fn list(chunks: &[Value]) -> Stream {
    let last = chunks.len().saturating_sub(1);
    let piece = |(index, chunk): (usize, &Value)| {
        let before = if index == 0 { "[" } else { ",\r\n" };
        let after = if index == last { "]" } else { "" };
        Bytes::from(format!("{before}{chunk}{after}"))
    };
    Stream {
        events: chunks.iter().enumerate().map(piece).collect(),
        media_type: "application/json; charset=UTF-8",
    }
}

/// A stream that is JSON, one value a line.
fn lines(chunks: &[Value]) -> Stream {
    let line = |chunk: &Value| Bytes::from(format!("{chunk}\n"));
    Stream {
        events: chunks.iter().map(line).collect(),
        media_type: "application/x-ndjson",
    }
}

/// A text in small pieces.
pub(crate) fn pieces(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters
        .chunks(CHARACTERS)
        .map(|piece| piece.iter().collect())
        .collect()
}

type Events = Vec<(Option<String>, String)>;

fn chat_events(asked: &Value, body: &Value) -> Events {
    let with_usage = asked["stream_options"]["include_usage"] == true;
    let mut events = Vec::new();
    let mut chunk = |choices: Value, usage: Value| {
        let mut chunk = json!({
            "id": body["id"],
            "object": "chat.completion.chunk",
            "created": body["created"],
            "model": body["model"],
            "service_tier": "default",
            "system_fingerprint": null,
            "choices": choices,
        });
        if with_usage {
            chunk["usage"] = usage;
        }
        events.push((None, chunk.to_string()));
    };
    let choice = |delta: Value, reason: &Value| json!([{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": reason }]);
    let message = &body["choices"][0]["message"];
    let begin = json!({ "role": "assistant", "content": "", "refusal": null });
    chunk(choice(begin, &Value::Null), Value::Null);
    for key in ["content", "refusal"] {
        for piece in pieces(message[key].as_str().unwrap_or_default()) {
            chunk(choice(json!({ key: piece }), &Value::Null), Value::Null);
        }
    }
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    for (index, call) in calls.enumerate() {
        let function = &call["function"];
        let begin = json!({ "tool_calls": [{ "index": index, "id": call["id"], "type": "function",
            "function": { "name": function["name"], "arguments": "" } }] });
        chunk(choice(begin, &Value::Null), Value::Null);
        for piece in pieces(function["arguments"].as_str().unwrap_or_default()) {
            let more =
                json!({ "tool_calls": [{ "index": index, "function": { "arguments": piece } }] });
            chunk(choice(more, &Value::Null), Value::Null);
        }
    }
    let reason = &body["choices"][0]["finish_reason"];
    chunk(choice(json!({}), reason), Value::Null);
    if with_usage {
        chunk(json!([]), body["usage"].clone());
    }
    events.push((None, "[DONE]".to_owned()));
    events
}

fn messages_events(body: &Value) -> Events {
    let mut events = Vec::new();
    let mut event = |kind: &str, mut data: Value| {
        data["type"] = kind.into();
        events.push((Some(kind.to_owned()), data.to_string()));
    };
    let mut begin = body.clone();
    begin["content"] = json!([]);
    begin["stop_reason"] = Value::Null;
    begin["usage"]["output_tokens"] = 1.into();
    event("message_start", json!({ "message": begin }));
    let blocks = body["content"].as_array().into_iter().flatten();
    for (index, block) in blocks.enumerate() {
        let mut empty = block.clone();
        let deltas: Vec<Value> = if block["type"] == "text" {
            empty["text"] = "".into();
            let text = block["text"].as_str().unwrap_or_default();
            let delta = |piece| json!({ "type": "text_delta", "text": piece });
            pieces(text).into_iter().map(delta).collect()
        } else {
            empty["input"] = json!({});
            let delta = |piece| json!({ "type": "input_json_delta", "partial_json": piece });
            let input = pieces(&block["input"].to_string());
            let begin = [delta(String::new())];
            begin
                .into_iter()
                .chain(input.into_iter().map(delta))
                .collect()
        };
        event(
            "content_block_start",
            json!({ "index": index, "content_block": empty }),
        );
        if index == 0 {
            event("ping", json!({}));
        }
        for delta in deltas {
            event(
                "content_block_delta",
                json!({ "index": index, "delta": delta }),
            );
        }
        event("content_block_stop", json!({ "index": index }));
    }
    let mut usage = json!({ "output_tokens": body["usage"]["output_tokens"] });
    if let Some(details) = body["usage"].get("output_tokens_details") {
        usage["output_tokens_details"] = details.clone();
    }
    event(
        "message_delta",
        json!({
            "delta": { "stop_reason": body["stop_reason"], "stop_sequence": null },
            "usage": usage,
        }),
    );
    event("message_stop", json!({}));
    events
}

fn responses_events(body: &Value) -> Events {
    let mut events: Events = Vec::new();
    let mut event = |kind: &str, mut data: Value| {
        data["type"] = kind.into();
        data["sequence_number"] = events.len().into();
        events.push((Some(kind.to_owned()), data.to_string()));
    };
    let mut begin = body.clone();
    begin["status"] = "in_progress".into();
    begin["output"] = json!([]);
    begin["usage"] = Value::Null;
    event("response.created", json!({ "response": begin }));
    event("response.in_progress", json!({ "response": begin }));
    let items = body["output"].as_array().into_iter().flatten();
    for (index, item) in items.enumerate() {
        let at = |mut data: Value| {
            data["item_id"] = item["id"].clone();
            data["output_index"] = index.into();
            data
        };
        let mut added = item.clone();
        added["status"] = "in_progress".into();
        if item["type"] == "function_call" {
            added["arguments"] = "".into();
            event(
                "response.output_item.added",
                json!({ "output_index": index, "item": added }),
            );
            let arguments = item["arguments"].as_str().unwrap_or_default();
            for piece in pieces(arguments) {
                event(
                    "response.function_call_arguments.delta",
                    at(json!({ "delta": piece })),
                );
            }
            event(
                "response.function_call_arguments.done",
                at(json!({ "arguments": arguments, "name": item["name"] })),
            );
        } else {
            added["content"] = json!([]);
            event(
                "response.output_item.added",
                json!({ "output_index": index, "item": added }),
            );
            let part = &item["content"][0];
            let refuses = part["type"] == "refusal";
            let (key, kind) = if refuses {
                ("refusal", "response.refusal")
            } else {
                ("text", "response.output_text")
            };
            let mut empty = part.clone();
            empty[key] = "".into();
            event(
                "response.content_part.added",
                at(json!({ "content_index": 0, "part": empty })),
            );
            let text = part[key].as_str().unwrap_or_default();
            for piece in pieces(text) {
                let delta = json!({ "content_index": 0, "delta": piece, "logprobs": [] });
                event(&format!("{kind}.delta"), at(delta));
            }
            let done = json!({ "content_index": 0, key: text, "logprobs": [] });
            event(&format!("{kind}.done"), at(done));
            event(
                "response.content_part.done",
                at(json!({ "content_index": 0, "part": part })),
            );
        }
        event(
            "response.output_item.done",
            json!({ "output_index": index, "item": item }),
        );
    }
    let last = if body["status"] == "incomplete" {
        "response.incomplete"
    } else {
        "response.completed"
    };
    event(last, json!({ "response": body }));
    events
}

fn gemini_chunks(body: &Value) -> Vec<Value> {
    let candidate = &body["candidates"][0];
    let mut parts = Vec::new();
    for part in candidate["content"]["parts"]
        .as_array()
        .into_iter()
        .flatten()
    {
        match part["text"].as_str() {
            Some(text) => parts.extend(pieces(text).iter().map(|piece| json!({ "text": piece }))),
            None => parts.push(part.clone()),
        }
    }
    let last = parts.len().saturating_sub(1);
    let chunk = |(index, part): (usize, &Value)| {
        let mut chunk = body.clone();
        let mut own = json!({ "content": { "role": "model", "parts": [part] }, "index": 0 });
        if index == last {
            own["finishReason"] = candidate["finishReason"].clone();
        }
        chunk["candidates"] = json!([own]);
        chunk
    };
    parts.iter().enumerate().map(chunk).collect()
}

fn of_ollama(body: &Value) -> Vec<Value> {
    let message = &body["message"];
    let line = |message: Value| json!({ "model": body["model"], "created_at": body["created_at"], "message": message, "done": false });
    let mut lines: Vec<Value> = pieces(message["content"].as_str().unwrap_or_default())
        .into_iter()
        .map(|piece| line(json!({ "role": "assistant", "content": piece })))
        .collect();
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        lines.push(line(
            json!({ "role": "assistant", "content": "", "tool_calls": [call] }),
        ));
    }
    let mut last = body.clone();
    last["message"] = json!({ "role": "assistant", "content": "" });
    lines.push(last);
    lines
}
