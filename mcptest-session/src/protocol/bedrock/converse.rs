//! Bedrock's `Converse` and `ConverseStream`: one format for the models of all vendors.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::super::numbered::{call_id, pair};
use super::super::request::parameters;
use super::super::sse::Event;
use super::super::{Assembled, Framing, Protocol, Provider, Route, arguments};
use super::blocks::{self, FIELDS, INPUT_TEXT, kind_of};
use super::{PROVIDERS, stream};
use crate::exchange::{
    Call, CallTokens, Item, ModelRequest, ModelResponse, Opaque, Part, Stop, Tool, ToolResult,
};
use crate::json::{count, list, member, non_null, nonempty_string, nonempty_text, role, text};

/// The format.
#[derive(Debug)]
pub struct Converse;

/// The name of the format.
pub(super) const NAME: &str = "bedrock_converse";

/// Fields of a request that are read into fields of their own, or say nothing of the answer.
const READ: [&str; 4] = ["messages", "system", "toolConfig", "requestMetadata"];

/// Fields of an answer that are read, or are different each time.
const OF_ANSWER: [&str; 4] = ["output", "stopReason", "usage", "metrics"];

/// What the reason is called when a guardrail took the model's words away.
const GUARDRAIL: &str = "guardrail_intervened";

impl Protocol for Converse {
    fn name(&self) -> &'static str {
        NAME
    }

    fn providers(&self) -> &'static [Provider] {
        &PROVIDERS
    }

    fn title(&self) -> &'static str {
        "Bedrock's Converse (`/converse`)"
    }

    /// [`Invoke`](super::Invoke) says it for both.
    fn unread(&self, _path: &str, _body: &[u8]) -> Option<&'static str> {
        None
    }

    fn route(&self, path: &str) -> Option<Route> {
        super::route(path, "converse", "converse-stream")
    }

    fn parse_request(&self, route: &Route, body: &Value) -> ModelRequest {
        let system = list(body, "system").iter();
        let system = system.map(|block| blocks::words(std::slice::from_ref(block)));
        let system: Vec<String> = system.filter(|text| !text.is_empty()).collect();
        let config = member(body, "toolConfig");
        let mut parameters = parameters(body, &READ);
        // Which tool the model has to call stands beside the tools.
        parameters.extend(self::parameters(&config, &["tools"]));
        ModelRequest {
            model: route.model.clone(),
            system: (!system.is_empty()).then(|| system.join("\n\n")),
            items: self.items(list(body, "messages")),
            tools: list(&config, "tools").iter().filter_map(tool).collect(),
            previous: None,
            streamed: route.streamed == Some(true),
            parameters,
        }
    }

    fn keeps_request(&self) -> bool {
        false
    }

    fn wraps_results(&self) -> bool {
        false
    }

    fn items(&self, messages: &[Value]) -> Vec<Item> {
        let mut items = Vec::new();
        for message in messages {
            let content = list(message, "content");
            match role(message).as_deref().unwrap_or_default() {
                "assistant" => items.push(Item::Answer(parts(content))),
                "user" => user(content, &mut items),
                role => items.push(Item::Turn {
                    role: role.to_owned(),
                    text: blocks::words(content),
                }),
            }
        }
        pair(&mut items);
        items
    }

    fn parse_response(&self, body: &Value) -> Option<ModelResponse> {
        let message = body.pointer("/output/message");
        let reason = nonempty_text(body, "stopReason");
        if message.is_none() && reason.is_none() {
            return None;
        }
        let mut parts = parts(message.map_or(&[], |it| list(it, "content")));
        let mut beside = parameters(body, &OF_ANSWER);
        let stop = reason.map(|reason| stop(reason, body));
        // What the reason says already.
        if stop.as_ref().and_then(told_sequence).as_ref() == beside.get(FIELDS) {
            beside.remove(FIELDS);
        }
        if reason == Some(GUARDRAIL) {
            beside.insert("stopReason".to_owned(), GUARDRAIL.into());
        }
        if !beside.is_empty() {
            parts.push(opaque(json!({ "beside": beside })));
        }
        Some(ModelResponse {
            parts,
            stop,
            tokens: tokens(body),
            ..ModelResponse::default()
        })
    }

    fn assembled(&self, events: &[Event]) -> Assembled {
        stream::assembled(events)
    }

    fn with_texts(&self, mut body: Value, bytes: &[u8]) -> Value {
        let texts = serde_json::from_slice::<Answer<'_>>(bytes);
        let texts = texts.map(|answer| answer.output.message.content);
        let content = body.pointer_mut("/output/message/content");
        let content = content.and_then(Value::as_array_mut);
        for (block, text) in content.into_iter().flatten().zip(texts.unwrap_or_default()) {
            let call = block.get_mut("toolUse").filter(|call| call.is_object());
            if let (Some(call), Some(input)) = (call, text.call.and_then(|call| call.input)) {
                call[INPUT_TEXT] = input.get().into();
            }
        }
        body
    }

    fn answer(&self, said: &ModelResponse) -> Value {
        let content = written(&said.parts);
        let mut body = json!({
            "output": { "message": { "role": "assistant", "content": content } },
            // Clients expect both, also where nobody counted.
            "usage": usage(said.tokens.unwrap_or_default()),
            "metrics": { "latencyMs": 0 },
        });
        if let Some(reason) = stop_reason(said) {
            body["stopReason"] = reason.into();
        }
        if let Some(fields) = said.stop.as_ref().and_then(told_sequence) {
            body[FIELDS] = fields;
        }
        for (key, value) in beside(&said.parts).into_iter().flatten() {
            body[key] = value.clone();
        }
        body
    }

    fn events(&self, said: &ModelResponse) -> Vec<Event> {
        stream::events(&self.answer(said))
    }

    fn framing(&self, _query: Option<&str>) -> Framing {
        Framing::Messages
    }

    fn closing_events(&self) -> usize {
        2
    }

    fn failure(&self, error: &Value) -> Event {
        super::exception(error)
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
        super::error(status, message)
    }
}

/// An answer, as far as the inputs of its calls are texts.
#[derive(Deserialize)]
struct Answer<'b> {
    #[serde(borrow)]
    output: Output<'b>,
}

#[derive(Deserialize)]
struct Output<'b> {
    #[serde(borrow)]
    message: Message<'b>,
}

#[derive(Deserialize)]
struct Message<'b> {
    #[serde(borrow)]
    content: Vec<Block<'b>>,
}

#[derive(Deserialize)]
struct Block<'b> {
    #[serde(borrow, default, rename = "toolUse")]
    call: Option<ToolUse<'b>>,
}

#[derive(Deserialize)]
struct ToolUse<'b> {
    #[serde(borrow, default)]
    input: Option<&'b RawValue>,
}

/// What stands in a message of the user: results first, then what is left as one text.
fn user(content: &[Value], items: &mut Vec<Item>) {
    let of_block = |block: &Value| non_null(block, "toolResult").map(result);
    let results = content.iter().filter_map(of_block);
    let before = items.len();
    items.extend(results.map(Item::Result));
    let is_rest = |block: &&Value| non_null(block, "toolResult").is_none();
    let rest: Vec<Value> = content.iter().filter(is_rest).cloned().collect();
    let said = blocks::words(&rest);
    if !said.is_empty() || items.len() == before {
        items.push(Item::User(said));
    }
}

/// A result. The format has a flag for errors: one that is not set says that it is none.
fn result(block: &Value) -> ToolResult {
    ToolResult {
        id: call_id(block, "toolUseId"),
        value: blocks::result(list(block, "content")),
        is_error: Some(text(block, "status") == Some("error")),
        ..ToolResult::default()
    }
}

fn opaque(value: Value) -> Part {
    Part::Opaque(native(value))
}

fn native(value: Value) -> Opaque {
    Opaque {
        protocol: NAME.to_owned(),
        value,
    }
}

/// What an answer says, block by block. A mark for the cache says nothing.
fn parts(content: &[Value]) -> Vec<Part> {
    content.iter().filter_map(part).collect()
}

fn part(block: &Value) -> Option<Part> {
    let (kind, inner) = kind_of(block)?;
    Some(match kind {
        "text" => Part::Text(inner.as_str().unwrap_or_default().to_owned()),
        "toolUse" => {
            let call = arguments::of_call(Call {
                id: call_id(inner, "toolUseId"),
                name: text(inner, "name").unwrap_or_default().to_owned(),
                args: member(inner, "input"),
                text: nonempty_string(inner, INPUT_TEXT),
                ..Call::default()
            });
            // A tool that the provider runs itself.
            let native = non_null(inner, "type").map(|_| native(without_text(block)));
            Part::Call(Call { native, ..call })
        }
        "toolResult" => Part::Result(ToolResult {
            native: Some(native(block.clone())),
            ..result(inner)
        }),
        "cachePoint" => return None,
        // Thinking, text with its sources, pictures, and what is not known.
        _ => opaque(json!({ "block": block })),
    })
}

fn without_text(block: &Value) -> Value {
    let mut block = block.clone();
    if let Some(call) = block.get_mut("toolUse").and_then(Value::as_object_mut) {
        call.remove(INPUT_TEXT);
    }
    block
}

/// The blocks of an answer. What another provider made is left out; a refusal is text.
fn written(parts: &[Part]) -> Vec<Value> {
    let block = |part: &Part| match part {
        Part::Text(text) | Part::Refusal(text) => Some(json!({ "text": text })),
        Part::Opaque(opaque) => own(opaque)?.get("block").cloned(),
        Part::Call(Call {
            native: Some(native),
            ..
        })
        | Part::Result(ToolResult {
            native: Some(native),
            ..
        }) => own(native).cloned(),
        Part::Call(call) => Some(json!({ "toolUse": {
            "toolUseId": call.id,
            "name": call.name,
            "input": arguments::object(call),
        } })),
        Part::Result(_) => None,
    };
    parts.iter().filter_map(block).collect()
}

fn own(opaque: &Opaque) -> Option<&Value> {
    (opaque.protocol == NAME && opaque.value.is_object()).then_some(&opaque.value)
}

/// What an answer says beside its message: what a guardrail found, fields of the model's vendor.
fn beside(parts: &[Part]) -> Option<&Map<String, Value>> {
    let mut found = parts.iter().filter_map(|part| match part {
        Part::Opaque(opaque) => own(opaque)?.get("beside")?.as_object(),
        _ => None,
    });
    found.next()
}

fn tool(tool: &Value) -> Option<Tool> {
    if let Some(own) = non_null(tool, "systemTool") {
        return Some(Tool {
            name: text(own, "name")?.to_owned(),
            ..Tool::default()
        });
    }
    let spec = non_null(tool, "toolSpec")?;
    Some(Tool {
        name: text(spec, "name")?.to_owned(),
        description: nonempty_string(spec, "description"),
        schema: non_null(spec, "inputSchema").and_then(|schema| non_null(schema, "json").cloned()),
        strict: spec.get("strict").and_then(Value::as_bool),
    })
}

fn stop(reason: &str, body: &Value) -> Stop {
    match reason {
        "end_turn" => Stop::End,
        "tool_use" => Stop::Calls,
        "max_tokens" => Stop::Length,
        "stop_sequence" => {
            let fields = non_null(body, FIELDS);
            let sequence = fields.and_then(|fields| nonempty_string(fields, "stop_sequence"));
            Stop::Sequence(sequence.unwrap_or_default())
        }
        "content_filtered" | GUARDRAIL => Stop::Refused,
        other => Stop::Other(other.to_owned()),
    }
}

fn stop_reason(said: &ModelResponse) -> Option<&str> {
    Some(match said.stop.as_ref()? {
        Stop::End | Stop::Failed => "end_turn",
        Stop::Calls => "tool_use",
        Stop::Length => "max_tokens",
        Stop::Sequence(_) => "stop_sequence",
        Stop::Refused => "content_filtered",
        Stop::Other(other) => other,
    })
}

/// How an answer says at which text it stopped: only where the request asks for that.
fn told_sequence(stop: &Stop) -> Option<Value> {
    match stop {
        Stop::Sequence(sequence) if !sequence.is_empty() => {
            Some(json!({ "stop_sequence": sequence }))
        }
        _ => None,
    }
}

/// What was read from a cache and written to it is not in `inputTokens`.
fn tokens(body: &Value) -> Option<CallTokens> {
    let usage = non_null(body, "usage")?;
    let cached = count(usage, "cacheReadInputTokens");
    let written = count(usage, "cacheWriteInputTokens");
    let more = cached
        .unwrap_or_default()
        .saturating_add(written.unwrap_or_default());
    Some(CallTokens {
        prompt: count(usage, "inputTokens")?.saturating_add(more),
        cached,
        written,
        completion: count(usage, "outputTokens")?,
        reasoning: None,
    })
}

fn usage(tokens: CallTokens) -> Value {
    let more = tokens
        .cached
        .unwrap_or_default()
        .saturating_add(tokens.written.unwrap_or_default());
    let mut usage = json!({
        "inputTokens": tokens.prompt.saturating_sub(more),
        "outputTokens": tokens.completion,
        "totalTokens": tokens.prompt.saturating_add(tokens.completion),
    });
    let optional = [
        ("cacheReadInputTokens", tokens.cached),
        ("cacheWriteInputTokens", tokens.written),
    ];
    for (key, count) in optional {
        if let Some(count) = count {
            usage[key] = count.into();
        }
    }
    usage
}
