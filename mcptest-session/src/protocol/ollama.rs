//! Ollama's own `/api/chat`.

mod stream;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::content::text_of;
use super::numbered::{call_id, is_numbered, pair};
use super::provider::Version;
use super::request::{ends_with, parameters, tool};
use super::sse::Event;
use super::{Assembled, Framing, Protocol, Provider, Route, arguments, blob, error_message};
use crate::exchange::{
    Call, CallTokens, Item, ModelRequest, ModelResponse, Opaque, Part, Stop, ToolResult,
};
use crate::json::{count, list, member, non_null, nonempty_string, nonempty_text, role, text};
use crate::lossless::parse;

/// The format.
#[derive(Debug)]
pub struct Ollama;

/// The name of the format.
const NAME: &str = "ollama";

const PROVIDERS: [Provider; 1] = [Provider {
    name: "ollama",
    aliases: &[],
    suffix: "",
    variables: &["OLLAMA_HOST"],
    keys: &[],
    default: Some("http://127.0.0.1:11434"),
    port: Some(11434),
    openai_at: Some("/v1"),
    version: Version::None,
}];

/// Fields of a request that are read into fields of their own, or say nothing of the answer.
const READ: [&str; 5] = ["keep_alive", "messages", "model", "stream", "tools"];

/// Fields of a message that are read.
const OF_MESSAGE: [&str; 3] = ["role", "content", "tool_calls"];

/// When answers that are made here were made.
const CREATED: &str = "2025-06-15T15:06:40Z";

/// How long each part of such an answer took, in nanoseconds.
const TOOK: u64 = 1_000_000;

impl Protocol for Ollama {
    fn name(&self) -> &'static str {
        NAME
    }

    fn providers(&self) -> &'static [Provider] {
        &PROVIDERS
    }

    fn title(&self) -> &'static str {
        "Ollama's `/api/chat`"
    }

    fn unread(&self, path: &str, body: &[u8]) -> Option<&'static str> {
        // Without a prompt it loads a model.
        let asks = || {
            let body = parse(body).map(|it| it.value).unwrap_or_default();
            nonempty_text(&body, "prompt").is_some() || non_null(&body, "images").is_some()
        };
        (ends_with(path, "api/generate") && asks())
            .then_some("Ollama's completions (`/api/generate`)")
    }

    fn route(&self, path: &str) -> Option<Route> {
        ends_with(path, "api/chat").then(Route::default)
    }

    fn parse_request(&self, route: &Route, body: &Value) -> ModelRequest {
        let (system, items) = talk(list(body, "messages"));
        ModelRequest {
            model: nonempty_string(body, "model").or_else(|| route.model.clone()),
            system,
            items,
            tools: list(body, "tools").iter().filter_map(tool).collect(),
            previous: None,
            streamed: body["stream"] != false,
            parameters: parameters(body, &READ),
        }
    }

    fn keeps_request(&self) -> bool {
        false
    }

    fn wraps_results(&self) -> bool {
        false
    }

    fn items(&self, messages: &[Value]) -> Vec<Item> {
        talk(messages).1
    }

    fn parse_response(&self, body: &Value) -> Option<ModelResponse> {
        let message = non_null(body, "message").filter(|it| it.is_object())?;
        let parts = parts(message);
        let stop = nonempty_text(body, "done_reason").map(|reason| stop(reason, &parts));
        Some(ModelResponse {
            id: None,
            model: nonempty_string(body, "model"),
            parts,
            items: Vec::new(),
            stop,
            tokens: tokens(body),
            others: 0,
            error: None,
        })
    }

    fn assembled(&self, events: &[Event]) -> Assembled {
        stream::assembled(events)
    }

    fn with_texts(&self, mut body: Value, bytes: &[u8]) -> Value {
        let texts = serde_json::from_slice::<Answer<'_>>(bytes);
        let texts = texts.ok().and_then(|answer| answer.message);
        let texts = texts.map(|message| message.tool_calls).unwrap_or_default();
        let calls = body.pointer_mut("/message/tool_calls");
        let calls = calls.and_then(Value::as_array_mut).into_iter().flatten();
        for (call, text) in calls.zip(texts) {
            let args = text.function.and_then(|function| function.arguments);
            if let (Some(args), true) = (args, call["function"]["arguments"].is_object()) {
                call["function"][ARGUMENTS_TEXT] = args.get().into();
            }
        }
        body
    }

    fn answer(&self, said: &ModelResponse) -> Value {
        let mut body = head(said);
        body["message"] = message(&said.parts);
        end(&mut body, said);
        body
    }

    fn events(&self, said: &ModelResponse) -> Vec<Event> {
        stream::events(said)
    }

    fn framing(&self, _query: Option<&str>) -> Framing {
        Framing::Lines
    }

    fn closing_events(&self) -> usize {
        1
    }

    fn failure(&self, error: &Value) -> Event {
        let message = error_message(error);
        let message = message.map_or_else(|| error.to_string(), str::to_owned);
        Event::data(json!({ "error": message }).to_string())
    }

    fn tells_tokens(&self, _request: &Value) -> bool {
        true
    }

    #[cfg(feature = "record")]
    fn asking_for_tokens(&self, _request: &[u8]) -> Option<Vec<u8>> {
        None
    }

    #[cfg(feature = "record")]
    fn is_tokens_alone(&self, _event: &Event) -> bool {
        false
    }

    fn error(&self, _status: u16, message: &str) -> Value {
        json!({ "error": message })
    }
}

/// Where an answer that is read keeps the text of a call's arguments, beside the arguments.
const ARGUMENTS_TEXT: &str = "mcptest_args_text";

/// An answer, as far as the arguments of its calls are texts.
#[derive(Deserialize)]
struct Answer<'b> {
    #[serde(borrow, default)]
    message: Option<Message<'b>>,
}

#[derive(Deserialize)]
struct Message<'b> {
    #[serde(borrow, default)]
    tool_calls: Vec<ToolCall<'b>>,
}

#[derive(Deserialize)]
struct ToolCall<'b> {
    #[serde(borrow, default)]
    function: Option<Function<'b>>,
}

#[derive(Deserialize)]
struct Function<'b> {
    #[serde(borrow, default)]
    arguments: Option<&'b RawValue>,
}

/// The system prompt of messages, and the talk after it.
fn talk(messages: &[Value]) -> (Option<String>, Vec<Item>) {
    let (mut system, mut items) = (Vec::new(), Vec::new());
    for message in messages {
        let role = role(message).unwrap_or_default();
        match role.as_str() {
            "system" if items.is_empty() => system.push(words(message)),
            "user" => items.push(Item::User(words(message))),
            "assistant" => items.push(Item::Answer(parts(message))),
            "tool" => items.push(Item::Result(result(message))),
            _ => items.push(Item::Turn {
                role,
                text: words(message),
            }),
        }
    }
    pair(&mut items);
    system.retain(|text| !text.is_empty());
    ((!system.is_empty()).then(|| system.join("\n\n")), items)
}

/// The text of a message, and its pictures.
fn words(message: &Value) -> String {
    let mut words = text_of(message.get("content"));
    for image in list(message, "images") {
        let image = json!({ "type": "image", "mime_type": "image/*", "data": image });
        words += &blob::words(&image);
    }
    words
}

/// The format has no flag for errors: nothing is known of them. Many results have no identifier, and some no name.
fn result(message: &Value) -> ToolResult {
    let value = match non_null(message, "images") {
        None => member(message, "content"),
        Some(_) => words(message).into(),
    };
    ToolResult {
        id: call_id(message, "tool_call_id"),
        name: nonempty_string(message, "tool_name").or_else(|| nonempty_string(message, "name")),
        value,
        ..ToolResult::default()
    }
}

/// What an answer says: what only this format has first, then its text, its calls.
fn parts(message: &Value) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = parameters(message, &OF_MESSAGE);
    rest.retain(|_, value| crate::json::truthy(value));
    if !rest.is_empty() {
        parts.push(opaque(Value::Object(rest)));
    }
    let said = text_of(message.get("content"));
    if !said.is_empty() {
        parts.push(Part::Text(said));
    }
    for call in list(message, "tool_calls") {
        let function = non_null(call, "function").unwrap_or(call);
        parts.push(Part::Call(arguments::of_call(Call {
            id: call_id(call, "id"),
            name: text(function, "name").unwrap_or_default().to_owned(),
            args: member(function, "arguments"),
            text: nonempty_string(function, ARGUMENTS_TEXT),
            ..Call::default()
        })));
    }
    parts
}

fn opaque(value: Value) -> Part {
    Part::Opaque(Opaque {
        protocol: NAME.to_owned(),
        value,
    })
}

fn stop(reason: &str, parts: &[Part]) -> Stop {
    let calls = parts.iter().any(|part| matches!(part, Part::Call(_)));
    match reason {
        "stop" if calls => Stop::Calls,
        "stop" => Stop::End,
        "length" => Stop::Length,
        other => Stop::Other(other.to_owned()),
    }
}

/// The format has no word for a refusal.
fn done_reason(stop: &Stop) -> &str {
    match stop {
        Stop::End | Stop::Calls | Stop::Sequence(_) | Stop::Refused => "stop",
        Stop::Length => "length",
        Stop::Failed => "error",
        Stop::Other(other) => other,
    }
}

/// A count of nothing is left out; of an answer that tells no prompt nothing is known.
fn tokens(body: &Value) -> Option<CallTokens> {
    Some(CallTokens {
        prompt: count(body, "prompt_eval_count")?,
        completion: count(body, "eval_count").unwrap_or_default(),
        ..CallTokens::default()
    })
}

/// The fields that an answer and each line of one share.
fn head(said: &ModelResponse) -> Value {
    let model = said.model.as_deref().unwrap_or_default();
    json!({ "model": model, "created_at": CREATED })
}

/// What the last line of an answer says.
fn end(body: &mut Value, said: &ModelResponse) {
    body["done"] = true.into();
    if let Some(stop) = &said.stop {
        body["done_reason"] = done_reason(stop).into();
    }
    if let Some(tokens) = said.tokens {
        body["total_duration"] = (3 * TOOK).into();
        body["load_duration"] = TOOK.into();
        body["prompt_eval_count"] = tokens.prompt.into();
        body["prompt_eval_duration"] = TOOK.into();
        body["eval_count"] = tokens.completion.into();
        body["eval_duration"] = TOOK.into();
    }
}

/// The message of an answer. What another provider made is left out; a refusal is text.
fn message(parts: &[Part]) -> Value {
    let mut message = json!({ "role": "assistant" });
    let mut said = String::new();
    let mut calls: Vec<Value> = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) | Part::Refusal(text) => said += text,
            Part::Call(call) if call.native.is_none() => calls.push(tool_call(call)),
            Part::Opaque(opaque) if opaque.protocol == NAME => {
                for (key, value) in opaque.value.as_object().into_iter().flatten() {
                    if !OF_MESSAGE.contains(&key.as_str()) {
                        message[key] = value.clone();
                    }
                }
            }
            _ => {}
        }
    }
    message["content"] = said.into();
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    message
}

fn tool_call(call: &Call) -> Value {
    let function = json!({ "name": call.name, "arguments": arguments::object(call) });
    let mut written = json!({ "function": function });
    // An identifier that stands for none is none.
    if let Some(id) = call.id.as_ref().filter(|id| !is_numbered(id)) {
        written["id"] = id.as_str().into();
    }
    written
}
