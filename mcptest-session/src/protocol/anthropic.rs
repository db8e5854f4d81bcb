//! Anthropic Messages.

mod request;
mod stream;

use mcptest_trace::record::redact::percent_decoded;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::content::text_of;
use super::numbered::{call_id, pair};
use super::provider::{VERTEX, Version};
use super::request::{ends_with, parameters};
use super::sse::Event;
use super::{Assembled, Framing, Protocol, Provider, Route, arguments};
use crate::exchange::{
    Call, CallTokens, Item, ModelRequest, ModelResponse, Opaque, Part, Stop, Tool, ToolResult,
};
use crate::json::{
    count, identifier, list, member, non_null, nonempty_string, nonempty_text, parse_flag, role,
    text,
};

/// The format.
#[derive(Debug)]
pub struct Anthropic;

/// The name of the format.
const NAME: &str = "anthropic_messages";

const PROVIDERS: [Provider; 2] = [
    Provider {
        name: "anthropic",
        aliases: &[],
        suffix: "",
        variables: &["ANTHROPIC_BASE_URL"],
        keys: &["ANTHROPIC_API_KEY"],
        default: Some("https://api.anthropic.com"),
        port: None,
        openai_at: None,
        version: Version::InPath("/v1"),
    },
    Provider {
        name: "vertex_anthropic",
        aliases: &[],
        suffix: "",
        variables: &["ANTHROPIC_VERTEX_BASE_URL"],
        keys: &[],
        default: Some(VERTEX),
        port: None,
        openai_at: None,
        version: Version::InPath("/v1"),
    },
];

/// Where an answer that is read keeps the text of a call's input, beside the input.
const INPUT_TEXT: &str = "mcptest_input_text";

/// Fields of a request that are read into fields of their own, or say nothing of the answer.
const READ: [&str; 8] = [
    "anthropic_version",
    "messages",
    "model",
    "stream",
    "system",
    "tools",
    "metadata",
    "thread",
];

impl Protocol for Anthropic {
    fn name(&self) -> &'static str {
        NAME
    }

    fn providers(&self) -> &'static [Provider] {
        &PROVIDERS
    }

    fn title(&self) -> &'static str {
        "Anthropic's Messages (`/messages`, `:rawPredict` of Vertex AI)"
    }

    fn unread(&self, path: &str, _body: &[u8]) -> Option<&'static str> {
        if ends_with(path, "v1/complete") {
            return Some("Anthropic's Text Completions (`/v1/complete`)");
        }
        let is_counted = path.ends_with("/count-tokens:rawPredict");
        let is_raw = path.ends_with(":rawPredict") || path.ends_with(":streamRawPredict");
        (is_raw && !is_counted).then_some("models of other makers (`:rawPredict`)")
    }

    fn route(&self, path: &str) -> Option<Route> {
        if ends_with(path, "messages") {
            return Some(Route::default());
        }
        let (before, method) = path.rsplit_once(':')?;
        let streamed = match method {
            "rawPredict" => false,
            "streamRawPredict" => true,
            _ => return None,
        };
        let (_, model) = before.rsplit_once("/publishers/anthropic/models/")?;
        // Under this name tokens are counted.
        (model != "count-tokens").then(|| Route {
            model: Some(percent_decoded(model)),
            streamed: Some(streamed),
        })
    }

    fn parse_request(&self, route: &Route, body: &Value) -> ModelRequest {
        // Blocks of a system prompt are texts of their own, as several messages are.
        let system = match body.get("system") {
            Some(Value::Array(blocks)) => {
                let texts = blocks.iter().map(|block| text_of(Some(block)));
                texts.collect::<Vec<_>>().join("\n\n")
            }
            other => text_of(other),
        };
        ModelRequest {
            model: nonempty_string(body, "model").or_else(|| route.model.clone()),
            system: (!system.is_empty()).then_some(system),
            items: self.items(list(body, "messages")),
            tools: list(body, "tools").iter().filter_map(tool).collect(),
            // The provider holds the talk of a thread: a request that goes on with it has the new messages alone.
            previous: non_null(body, "thread")
                .and_then(|thread| nonempty_string(thread, "previous_message_id")),
            streamed: body["stream"] == true || route.streamed == Some(true),
            parameters: parameters(body, &READ),
        }
    }

    fn keeps_request(&self) -> bool {
        true
    }

    fn wraps_results(&self) -> bool {
        false
    }

    fn items(&self, messages: &[Value]) -> Vec<Item> {
        let mut items = Vec::new();
        for message in messages {
            match role(message).as_deref().unwrap_or_default() {
                "assistant" => items.push(Item::Answer(parts(message.get("content")))),
                "user" => user(message.get("content"), &mut items),
                role => items.push(Item::Turn {
                    role: role.to_owned(),
                    text: text_of(message.get("content")),
                }),
            }
        }
        pair(&mut items);
        items
    }

    fn parse_response(&self, body: &Value) -> Option<ModelResponse> {
        if text(body, "type") == Some("error") || body.get("content")?.is_null() {
            return None;
        }
        Some(ModelResponse {
            id: identifier(body, "id"),
            model: nonempty_string(body, "model"),
            parts: parts(body.get("content")),
            items: Vec::new(),
            stop: nonempty_text(body, "stop_reason").map(|reason| stop(reason, body)),
            tokens: tokens(body),
            others: 0,
            error: None,
        })
    }

    fn assembled(&self, events: &[Event]) -> Assembled {
        stream::assembled(events)
    }

    fn with_texts(&self, mut body: Value, bytes: &[u8]) -> Value {
        let texts = serde_json::from_slice::<Message<'_>>(bytes);
        let texts = texts.map(|message| message.content).unwrap_or_default();
        let blocks = body.get_mut("content").and_then(Value::as_array_mut);
        for (block, text) in blocks.into_iter().flatten().zip(texts) {
            if let (Some("tool_use"), Some(input)) = (crate::json::text(block, "type"), text.input)
            {
                block[INPUT_TEXT] = input.get().into();
            }
        }
        body
    }

    fn answer(&self, said: &ModelResponse) -> Value {
        let sequence = match &said.stop {
            Some(Stop::Sequence(text)) => Some(text),
            _ => None,
        };
        let mut body = json!({
            "type": "message",
            "role": "assistant",
            "content": blocks(&said.parts),
            "stop_reason": stop_reason(said),
            "stop_sequence": sequence,
        });
        if let Some(id) = &said.id {
            body["id"] = id.as_str().into();
        }
        if let Some(model) = &said.model {
            body["model"] = model.as_str().into();
        }
        if let Some(tokens) = said.tokens {
            body["usage"] = usage(tokens);
        }
        body
    }

    fn events(&self, said: &ModelResponse) -> Vec<Event> {
        stream::events(&self.answer(said))
    }

    fn framing(&self, _query: Option<&str>) -> Framing {
        Framing::Events
    }

    fn closing_events(&self) -> usize {
        2
    }

    fn failure(&self, error: &Value) -> Event {
        let data = json!({ "type": "error", "error": error });
        Event::named("error", data.to_string())
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

    fn error(&self, status: u16, message: &str) -> Value {
        let kind = match status {
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            500.. => "api_error",
            _ => "invalid_request_error",
        };
        json!({ "type": "error", "error": { "type": kind, "message": message } })
    }
}

/// An answer, as far as the inputs of its calls are texts.
#[derive(Deserialize)]
struct Message<'b> {
    #[serde(borrow)]
    content: Vec<Block<'b>>,
}

#[derive(Deserialize)]
struct Block<'b> {
    #[serde(borrow, default)]
    input: Option<&'b RawValue>,
}

/// What stands in a message of the user: results first, then what is left as one text.
fn user(content: Option<&Value>, items: &mut Vec<Item>) {
    let Some(Value::Array(blocks)) = content else {
        items.push(Item::User(text_of(content)));
        return;
    };
    let is_result = |block: &&Value| text(block, "type") == Some("tool_result");
    let (results, rest): (Vec<&Value>, Vec<&Value>) = blocks.iter().partition(is_result);
    items.extend(results.iter().map(|block| Item::Result(result(block))));
    let said: String = rest.iter().map(|block| text_of(Some(block))).collect();
    if !said.is_empty() || results.is_empty() {
        items.push(Item::User(said));
    }
}

/// A result. The format has a flag for errors: one that is not set says that it is none.
#[must_use]
pub fn result(block: &Value) -> ToolResult {
    ToolResult {
        id: call_id(block, "tool_use_id"),
        value: member(block, "content"),
        is_error: non_null(block, "is_error").map_or(Some(false), parse_flag),
        ..ToolResult::default()
    }
}

/// The result of a tool that the provider runs itself: one whose content is an error is one.
#[must_use]
pub fn result_of_provider(block: &Value) -> ToolResult {
    let content = member(block, "content");
    let failed = text(&content, "type").is_some_and(|kind| kind.ends_with("_error"));
    let result = result(block);
    ToolResult {
        is_error: if failed { Some(true) } else { result.is_error },
        ..result
    }
}

/// What an answer says, block by block.
fn parts(content: Option<&Value>) -> Vec<Part> {
    let Some(Value::Array(blocks)) = content else {
        let said = text_of(content);
        return if said.is_empty() {
            Vec::new()
        } else {
            vec![Part::Text(said)]
        };
    };
    blocks.iter().map(part).collect()
}

fn part(block: &Value) -> Part {
    let native = || Opaque {
        protocol: NAME.to_owned(),
        value: block.clone(),
    };
    match text(block, "type").unwrap_or("text") {
        "text" if non_null(block, "citations").is_none() => Part::Text(text_of(Some(block))),
        "tool_use" => Part::Call(arguments::of_call(call(block))),
        "mcp_tool_use" | "server_tool_use" => Part::Call(Call {
            native: Some(native()),
            ..arguments::of_call(call(block))
        }),
        "tool_result" => Part::Result(result(block)),
        other if other.ends_with("_tool_result") => Part::Result(ToolResult {
            native: Some(native()),
            ..result_of_provider(block)
        }),
        // Thinking, compaction, text with its sources, and what is not known.
        _ => Part::Opaque(native()),
    }
}

/// A call, with its arguments as they stand there.
#[must_use]
pub fn call(block: &Value) -> Call {
    let caller = non_null(block, "caller").filter(|it| text(it, "type") != Some("direct"));
    Call {
        id: call_id(block, "id"),
        name: text(block, "name").unwrap_or_default().to_owned(),
        server: nonempty_string(block, "server_name"),
        args: member(block, "input"),
        text: nonempty_string(block, INPUT_TEXT),
        caller: caller
            .map(|caller| json!({ "kind": "code_execution", "tool_id": caller.get("tool_id") })),
        native: None,
    }
}

fn tool(tool: &Value) -> Option<Tool> {
    let name = text(tool, "name").or_else(|| text(tool, "type"))?;
    Some(Tool {
        name: name.to_owned(),
        description: nonempty_string(tool, "description"),
        schema: non_null(tool, "input_schema").cloned(),
        strict: tool.get("strict").and_then(Value::as_bool),
    })
}

fn stop(reason: &str, body: &Value) -> Stop {
    match reason {
        "end_turn" => Stop::End,
        "tool_use" => Stop::Calls,
        "max_tokens" => Stop::Length,
        "stop_sequence" => {
            Stop::Sequence(text(body, "stop_sequence").unwrap_or_default().to_owned())
        }
        "refusal" => Stop::Refused,
        other => Stop::Other(other.to_owned()),
    }
}

fn stop_reason(said: &ModelResponse) -> Option<&str> {
    Some(match said.stop.as_ref()? {
        Stop::End | Stop::Failed => "end_turn",
        Stop::Calls => "tool_use",
        Stop::Length => "max_tokens",
        Stop::Sequence(_) => "stop_sequence",
        Stop::Refused => "refusal",
        Stop::Other(other) => other,
    })
}

/// What was read from a cache and written to it is not in `input_tokens`.
fn tokens(body: &Value) -> Option<CallTokens> {
    let usage = non_null(body, "usage")?;
    let cached = count(usage, "cache_read_input_tokens");
    let written = count(usage, "cache_creation_input_tokens");
    let more = cached
        .unwrap_or_default()
        .saturating_add(written.unwrap_or_default());
    Some(CallTokens {
        prompt: count(usage, "input_tokens")?.saturating_add(more),
        cached,
        written,
        completion: count(usage, "output_tokens")?,
        reasoning: usage
            .get("output_tokens_details")
            .and_then(|details| count(details, "thinking_tokens")),
    })
}

fn usage(tokens: CallTokens) -> Value {
    let more = tokens
        .cached
        .unwrap_or_default()
        .saturating_add(tokens.written.unwrap_or_default());
    let mut usage = json!({
        "input_tokens": tokens.prompt.saturating_sub(more),
        "output_tokens": tokens.completion,
    });
    let optional = [
        ("cache_read_input_tokens", tokens.cached),
        ("cache_creation_input_tokens", tokens.written),
    ];
    for (key, count) in optional {
        if let Some(count) = count {
            usage[key] = count.into();
        }
    }
    if let Some(reasoning) = tokens.reasoning {
        usage["output_tokens_details"] = json!({ "thinking_tokens": reasoning });
    }
    usage
}

/// The blocks of an answer. What another provider made is left out; a refusal is text.
fn blocks(parts: &[Part]) -> Vec<Value> {
    let own = |opaque: &Opaque| {
        (opaque.protocol == NAME && opaque.value.is_object()).then(|| opaque.value.clone())
    };
    let block = |part: &Part| match part {
        Part::Text(text) | Part::Refusal(text) => Some(json!({ "type": "text", "text": text })),
        Part::Call(Call {
            native: Some(native),
            ..
        })
        | Part::Result(ToolResult {
            native: Some(native),
            ..
        })
        | Part::Opaque(native) => own(native),
        Part::Call(call) => Some(json!({
            "type": "tool_use",
            "id": call.id,
            "name": call.name,
            "input": arguments::object(call),
        })),
        Part::Result(_) => None,
    };
    parts.iter().filter_map(block).collect()
}
