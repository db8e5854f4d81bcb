//! `OpenAI` Chat Completions, as `OpenAI`, Azure and many others serve them.

mod open_calls;
mod request;
mod stream;
#[cfg(feature = "record")]
mod tokens;

use serde_json::{Map, Value, json};

use super::content::text_of;
use super::numbered::{call_id, pair};
use super::provider::Version;
use super::request::{deployment, ends_with, parameters, tool};
use super::sse::Event;
use super::written::{CREATED, openai_error};
use super::{Assembled, Framing, Protocol, Provider, Route, arguments};
use crate::exchange::{
    Call, CallTokens, Item, ModelRequest, ModelResponse, Opaque, Part, Stop, ToolResult,
};
use crate::json::{
    count, identifier, list, member, non_null, nonempty_string, nonempty_text, role, text,
};

/// The format.
#[derive(Debug)]
pub struct Chat;

/// The name of the format.
const NAME: &str = "openai_chat";

const PROVIDERS: [Provider; 2] = [
    Provider {
        name: "openai",
        aliases: &[],
        suffix: "/v1",
        variables: &["OPENAI_BASE_URL", "OPENAI_API_BASE"],
        keys: &["OPENAI_API_KEY"],
        default: Some("https://api.openai.com/v1"),
        port: None,
        openai_at: None,
        version: Version::InAddress("/v1"),
    },
    Provider {
        name: "azure",
        aliases: &[],
        suffix: "",
        variables: &["AZURE_OPENAI_ENDPOINT"],
        keys: &["AZURE_OPENAI_API_KEY"],
        default: None,
        port: None,
        openai_at: None,
        version: Version::None,
    },
];

/// Fields of a request that are read into fields of their own, or say nothing of the answer.
const READ: [&str; 6] = [
    "messages",
    "model",
    "stream",
    "stream_options",
    "tools",
    "functions",
];

/// Fields of a message that are read.
const OF_MESSAGE: [&str; 6] = [
    "role",
    "content",
    "refusal",
    "tool_calls",
    "function_call",
    "name",
];

impl Protocol for Chat {
    fn name(&self) -> &'static str {
        NAME
    }

    fn providers(&self) -> &'static [Provider] {
        &PROVIDERS
    }

    fn title(&self) -> &'static str {
        "OpenAI's Chat Completions (`/chat/completions`)"
    }

    fn unread(&self, path: &str, _body: &[u8]) -> Option<&'static str> {
        if ends_with(path, "completions") {
            return Some("OpenAI's Completions (`/completions`)");
        }
        // A session that is made there leads the agent to the provider, past this address.
        let is_realtime = path.split('/').any(|part| part == "realtime");
        is_realtime.then_some("talks in real time (`/realtime`)")
    }

    fn route(&self, path: &str) -> Option<Route> {
        ends_with(path, "chat/completions").then(|| Route {
            model: deployment(path),
            streamed: None,
        })
    }

    fn parse_request(&self, route: &Route, body: &Value) -> ModelRequest {
        let (system, items) = talk(list(body, "messages"));
        let tools = [list(body, "tools"), list(body, "functions")].concat();
        ModelRequest {
            model: nonempty_string(body, "model").or_else(|| route.model.clone()),
            system,
            items,
            tools: tools.iter().filter_map(tool).collect(),
            previous: None,
            streamed: body["stream"] == true,
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
        let choices = body.get("choices")?.as_array()?;
        let choice = choices.first();
        let message = choice.and_then(|choice| non_null(choice, "message"));
        let parts = message.map(parts).unwrap_or_default();
        let stop =
            choice.and_then(|choice| Some(stop(nonempty_text(choice, "finish_reason")?, &parts)));
        Some(ModelResponse {
            id: identifier(body, "id"),
            model: nonempty_string(body, "model"),
            parts,
            items: Vec::new(),
            stop,
            tokens: tokens(body),
            others: choices.len().saturating_sub(1),
            error: None,
        })
    }

    fn assembled(&self, events: &[Event]) -> Assembled {
        stream::assembled(events)
    }

    fn with_texts(&self, body: Value, _bytes: &[u8]) -> Value {
        body
    }

    fn answer(&self, said: &ModelResponse) -> Value {
        let mut body = head(said, "chat.completion");
        body["choices"] = json!([{
            "index": 0,
            "message": message(&said.parts),
            "logprobs": null,
            "finish_reason": finish_reason(said),
        }]);
        if let Some(usage) = said.tokens.map(usage) {
            body["usage"] = usage;
        }
        body
    }

    fn events(&self, said: &ModelResponse) -> Vec<Event> {
        stream::events(said)
    }

    fn framing(&self, _query: Option<&str>) -> Framing {
        Framing::Events
    }

    fn closing_events(&self) -> usize {
        2
    }

    fn failure(&self, error: &Value) -> Event {
        Event::data(json!({ "error": error }).to_string())
    }

    fn tells_tokens(&self, request: &Value) -> bool {
        request["stream_options"]["include_usage"] == true
    }

    #[cfg(feature = "record")]
    fn asking_for_tokens(&self, request: &[u8]) -> Option<Vec<u8>> {
        tokens::with_usage_option(request)
    }

    #[cfg(feature = "record")]
    fn is_tokens_alone(&self, event: &Event) -> bool {
        tokens::is_usage_event(event)
    }

    fn error(&self, status: u16, message: &str) -> Value {
        openai_error(status, message)
    }
}

/// The system prompt of messages, and the talk after it.
fn talk(messages: &[Value]) -> (Option<String>, Vec<Item>) {
    let (mut system, mut items) = (Vec::new(), Vec::new());
    for message in messages {
        let role = role(message).unwrap_or_default();
        let said = text_of(message.get("content"));
        match role.as_str() {
            "system" | "developer" if items.is_empty() => system.push(said),
            "user" => items.push(Item::User(said)),
            "assistant" => items.push(Item::Answer(parts(message))),
            "tool" | "function" => items.push(Item::Result(result(message))),
            _ => items.push(Item::Turn { role, text: said }),
        }
    }
    pair(&mut items);
    system.retain(|text| !text.is_empty());
    ((!system.is_empty()).then(|| system.join("\n\n")), items)
}

/// What an answer says: what only its provider understands first, then its text, its refusal, its calls.
fn parts(message: &Value) -> Vec<Part> {
    let mut parts = Vec::new();
    // `null` and an empty list say nothing.
    let rest = parameters(message, &OF_MESSAGE);
    let says = |(_, value): &(String, Value)| crate::json::truthy(value);
    let rest: Map<String, Value> = rest.into_iter().filter(says).collect();
    if !rest.is_empty() {
        parts.push(opaque(Value::Object(rest)));
    }
    let refuses = |part: &&Value| text(part, "type") == Some("refusal");
    let (refusals, texts): (Vec<&Value>, Vec<&Value>) =
        list(message, "content").iter().partition(refuses);
    let said = match message.get("content") {
        Some(Value::Array(_)) => texts.iter().map(|part| text_of(Some(part))).collect(),
        content => text_of(content),
    };
    if !said.is_empty() {
        parts.push(Part::Text(said));
    }
    let mut refusal: String = refusals.iter().map(|part| text_of(Some(part))).collect();
    refusal += text(message, "refusal").unwrap_or_default();
    if !refusal.is_empty() {
        parts.push(Part::Refusal(refusal));
    }
    for call in list(message, "tool_calls") {
        let known = ["id", "type", "function", "custom", "index"];
        let more = parameters(call, &known);
        if !more.is_empty() {
            parts.push(opaque(json!({ "tool_call": more })));
        }
        parts.push(Part::Call(arguments::of_call(tool_call(call))));
    }
    if let Some(call) = non_null(message, "function_call") {
        parts.push(Part::Call(arguments::of_call(function_call(call))));
    }
    parts
}

fn opaque(value: Value) -> Part {
    Part::Opaque(Opaque {
        protocol: NAME.to_owned(),
        value,
    })
}

/// A call of a message, with its arguments as they stand there.
#[must_use]
pub fn tool_call(call: &Value) -> Call {
    let id = call_id(call, "id");
    if let Some(custom) = non_null(call, "custom") {
        return Call {
            id,
            name: text(custom, "name").unwrap_or_default().to_owned(),
            args: json!({ "input": custom.get("input") }),
            ..Call::default()
        };
    }
    // Some keep the function's fields beside the identifier, and some name it there alone.
    let name = text(call, "function");
    let function = non_null(call, "function").filter(|_| name.is_none());
    let function = function.unwrap_or(call);
    let args = ["arguments", "args", "input"];
    let args = args.iter().find_map(|key| function.get(*key));
    let name = name.or_else(|| text(function, "name"));
    Call {
        id,
        name: name.unwrap_or_default().to_owned(),
        args: args.cloned().unwrap_or_default(),
        ..Call::default()
    }
}

/// A call as messages had it before there were several, with its arguments as they stand there.
#[must_use]
pub fn function_call(call: &Value) -> Call {
    let name = text(call, "name").unwrap_or_default();
    Call {
        id: Some(format!("function:{name}")),
        name: name.to_owned(),
        args: member(call, "arguments"),
        ..Call::default()
    }
}

/// The format has no flag for errors: nothing is known of them.
fn result(message: &Value) -> ToolResult {
    let legacy = role(message).as_deref() == Some("function");
    let id = if legacy {
        text(message, "name").map(|name| format!("function:{name}"))
    } else {
        call_id(message, "tool_call_id")
    };
    ToolResult {
        id,
        name: nonempty_string(message, "name"),
        value: member(message, "content"),
        ..ToolResult::default()
    }
}

fn stop(reason: &str, parts: &[Part]) -> Stop {
    let refuses = parts.iter().any(|part| matches!(part, Part::Refusal(_)));
    match reason {
        "stop" if refuses => Stop::Refused,
        "stop" => Stop::End,
        "tool_calls" | "function_call" => Stop::Calls,
        "length" => Stop::Length,
        "content_filter" => Stop::Refused,
        "error" => Stop::Failed,
        other => Stop::Other(other.to_owned()),
    }
}

fn finish_reason(said: &ModelResponse) -> Option<&str> {
    let refuses = |part: &Part| matches!(part, Part::Refusal(_));
    Some(match said.stop.as_ref()? {
        Stop::End | Stop::Sequence(_) => "stop",
        Stop::Calls => "tool_calls",
        Stop::Length => "length",
        Stop::Refused if said.parts.iter().any(refuses) => "stop",
        Stop::Refused => "content_filter",
        Stop::Failed => "error",
        Stop::Other(other) => other,
    })
}

fn tokens(body: &Value) -> Option<CallTokens> {
    let usage = non_null(body, "usage")?;
    let part = |of: &str, key: &str| count(usage.get(of)?, key);
    Some(CallTokens {
        prompt: count(usage, "prompt_tokens")?,
        cached: part("prompt_tokens_details", "cached_tokens"),
        written: None,
        completion: count(usage, "completion_tokens").unwrap_or_default(),
        reasoning: part("completion_tokens_details", "reasoning_tokens"),
    })
}

fn usage(tokens: CallTokens) -> Value {
    let mut usage = json!({
        "prompt_tokens": tokens.prompt,
        "completion_tokens": tokens.completion,
        "total_tokens": tokens.prompt.saturating_add(tokens.completion),
    });
    if let Some(cached) = tokens.cached {
        usage["prompt_tokens_details"] = json!({ "cached_tokens": cached });
    }
    if let Some(reasoning) = tokens.reasoning {
        usage["completion_tokens_details"] = json!({ "reasoning_tokens": reasoning });
    }
    usage
}

/// The fields that an answer and each chunk of one share.
fn head(said: &ModelResponse, object: &str) -> Value {
    let mut head = json!({ "object": object, "created": CREATED });
    if let Some(id) = &said.id {
        head["id"] = id.as_str().into();
    }
    if let Some(model) = &said.model {
        head["model"] = model.as_str().into();
    }
    head
}

fn is_read(key: &str) -> bool {
    OF_MESSAGE.contains(&key)
}

/// The message of an answer. What another provider made is left out.
fn message(parts: &[Part]) -> Value {
    let mut message = json!({ "role": "assistant", "content": null, "refusal": null });
    let (mut said, mut refusal) = (String::new(), String::new());
    let mut calls: Vec<Value> = Vec::new();
    let mut of_call = Map::new();
    for part in parts {
        match part {
            Part::Text(text) => said += text,
            Part::Refusal(text) => refusal += text,
            Part::Call(call) if call.native.is_none() => {
                let mut written = json!({
                    "id": call.id,
                    "type": "function",
                    "function": { "name": call.name, "arguments": arguments::text(call) },
                });
                for (key, value) in std::mem::take(&mut of_call) {
                    if written.get(&key).is_none() {
                        written[key] = value;
                    }
                }
                calls.push(written);
            }
            Part::Opaque(opaque) if opaque.protocol == NAME => {
                if let Some(more) = opaque.value.get("tool_call").and_then(Value::as_object) {
                    of_call.clone_from(more);
                } else {
                    let more = opaque.value.as_object().into_iter().flatten();
                    for (key, value) in more.filter(|(key, _)| !is_read(key)) {
                        message[key] = value.clone();
                    }
                }
            }
            _ => {}
        }
    }
    if !said.is_empty() || (refusal.is_empty() && calls.is_empty()) {
        message["content"] = said.into();
    }
    if !refusal.is_empty() {
        message["refusal"] = refusal.into();
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    message
}
