//! Gemini `generateContent` and `streamGenerateContent`.

mod request;
mod stream;

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::content::text_of;
use super::numbered::numbered;
use super::provider::{VERTEX, Version};
use super::request::{ends_with, parameters};
use super::sse::Event;
use super::{Assembled, Framing, Protocol, Provider, Route, arguments};
use crate::exchange::{
    Call, CallTokens, Item, ModelRequest, ModelResponse, Opaque, Part, Stop, Tool, ToolResult,
};
use crate::json::{
    count, identifier, list, member, non_null, nonempty_string, nonempty_text, role, text,
};

/// The format.
#[derive(Debug)]
pub struct Gemini;

/// The name of the format.
const NAME: &str = "gemini";

const PROVIDERS: [Provider; 2] = [
    Provider {
        name: "gemini",
        aliases: &["google"],
        suffix: "",
        variables: &["GOOGLE_GEMINI_BASE_URL"],
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        default: Some("https://generativelanguage.googleapis.com"),
        port: None,
        openai_at: Some("/openai"),
        version: Version::InPath("/v1beta"),
    },
    Provider {
        name: "vertex",
        aliases: &[],
        suffix: "",
        variables: &["GOOGLE_VERTEX_BASE_URL"],
        keys: &[],
        default: Some(VERTEX),
        port: None,
        openai_at: Some("/endpoints/openapi"),
        version: Version::InPath("/v1beta1"),
    },
];

/// Fields of a request that are read into fields of their own.
const READ: [&str; 5] = [
    "contents",
    "model",
    "systemInstruction",
    "system_instruction",
    "tools",
];

/// Fields of a part that are read.
const OF_PART: [&str; 4] = ["text", "functionCall", "functionResponse", "thought"];

impl Protocol for Gemini {
    fn name(&self) -> &'static str {
        NAME
    }

    fn providers(&self) -> &'static [Provider] {
        &PROVIDERS
    }

    fn title(&self) -> &'static str {
        "Gemini's `generateContent`"
    }

    fn unread(&self, path: &str, _body: &[u8]) -> Option<&'static str> {
        if ends_with(path, "interactions") {
            return Some("Gemini's Interactions (`/interactions`)");
        }
        let is_live = path.to_ascii_lowercase().contains("bidigeneratecontent");
        is_live.then_some("talks in real time (`BidiGenerateContent`)")
    }

    fn route(&self, path: &str) -> Option<Route> {
        let (before, method) = path.rsplit_once(':')?;
        let streamed = match method {
            "generateContent" => false,
            "streamGenerateContent" => true,
            _ => return None,
        };
        let model = before.rsplit('/').next()?;
        Some(Route {
            model: Some(mcptest_trace::record::redact::percent_decoded(model)),
            streamed: Some(streamed),
        })
    }

    fn parse_request(&self, route: &Route, body: &Value) -> ModelRequest {
        let system = ["systemInstruction", "system_instruction"];
        let system = system.iter().find_map(|key| non_null(body, key));
        let system = system.map(|content| match content.get("parts") {
            Some(parts) => text_of(Some(parts)),
            None => text_of(Some(content)),
        });
        let declared = list(body, "tools").iter().flat_map(|tool| {
            let own = list(tool, "functionDeclarations").iter();
            own.chain(list(tool, "function_declarations"))
        });
        ModelRequest {
            model: route
                .model
                .clone()
                .or_else(|| nonempty_string(body, "model")),
            system: system.filter(|text| !text.is_empty()),
            items: self.items(list(body, "contents")),
            tools: declared.filter_map(tool).collect(),
            previous: None,
            streamed: route.streamed == Some(true),
            parameters: parameters(body, &READ),
        }
    }

    fn keeps_request(&self) -> bool {
        false
    }

    fn wraps_results(&self) -> bool {
        true
    }

    fn items(&self, messages: &[Value]) -> Vec<Item> {
        let mut items = Vec::new();
        let mut names = Names::default();
        for message in messages {
            let own = list(message, "parts");
            if role(message).as_deref() == Some("model") {
                let mut parts = parts(own);
                names.call(&mut parts);
                items.push(Item::Answer(parts));
                continue;
            }
            let is_result = |part: &&Value| response_of(part).is_some();
            let (results, rest): (Vec<&Value>, Vec<&Value>) = own.iter().partition(is_result);
            for part in &results {
                let mut result = response_of(part).map(result).unwrap_or_default();
                names.answer(&mut result);
                items.push(Item::Result(result));
            }
            if !rest.is_empty() || results.is_empty() {
                let said = rest.iter().map(|part| text_of(Some(part))).collect();
                items.push(Item::User(said));
            }
        }
        items
    }

    fn parse_response(&self, body: &Value) -> Option<ModelResponse> {
        let candidates = body.get("candidates").and_then(Value::as_array);
        let blocked = body
            .get("promptFeedback")
            .and_then(|it| nonempty_text(it, "blockReason"));
        if candidates.is_none() && blocked.is_none() {
            return None;
        }
        let candidates = candidates.map_or(&[][..], Vec::as_slice);
        let first = candidates.first();
        let own = first.and_then(|it| it.get("content"));
        let mut parts = parts(own.map_or(&[], |content| list(content, "parts")));
        // Calls without an identifier are counted within their answer.
        Names::default().call(&mut parts);
        let reason = first.and_then(|it| nonempty_text(it, "finishReason"));
        let stop = reason.map(|reason| stop(reason, &parts));
        Some(ModelResponse {
            id: identifier(body, "responseId"),
            model: nonempty_string(body, "modelVersion"),
            parts,
            items: Vec::new(),
            stop: stop.or_else(|| blocked.map(|_| Stop::Refused)),
            tokens: tokens(body),
            others: candidates.len().saturating_sub(1),
            error: None,
        })
    }

    fn assembled(&self, events: &[Event]) -> Assembled {
        stream::assembled(events)
    }

    fn with_texts(&self, body: Value, bytes: &[u8]) -> Value {
        with_texts(body, bytes)
    }

    fn answer(&self, said: &ModelResponse) -> Value {
        let mut candidate = json!({
            "content": { "role": "model", "parts": written(&said.parts) },
            "index": 0,
        });
        if let Some(reason) = finish_reason(said) {
            candidate["finishReason"] = reason.into();
        }
        let mut body = json!({ "candidates": [candidate] });
        if let Some(id) = &said.id {
            body["responseId"] = id.as_str().into();
        }
        if let Some(model) = &said.model {
            body["modelVersion"] = model.as_str().into();
        }
        if let Some(tokens) = said.tokens {
            body["usageMetadata"] = usage(tokens);
        }
        body
    }

    fn events(&self, said: &ModelResponse) -> Vec<Event> {
        stream::events(&self.answer(said))
    }

    fn framing(&self, query: Option<&str>) -> Framing {
        let query = query.unwrap_or_default();
        if query.split('&').any(|part| part == "alt=sse") {
            Framing::Events
        } else {
            Framing::List
        }
    }

    fn closing_events(&self) -> usize {
        1
    }

    fn failure(&self, error: &Value) -> Event {
        Event::data(json!({ "error": error }).to_string())
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
        let word = match status {
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            404 => "NOT_FOUND",
            429 => "RESOURCE_EXHAUSTED",
            503 => "UNAVAILABLE",
            500.. => "INTERNAL",
            _ => "INVALID_ARGUMENT",
        };
        json!({ "error": { "code": status, "message": message, "status": word } })
    }
}

/// Identifiers of calls. Many calls have none: a result is then that of the call of its name whose turn it
/// is, so that such calls are told apart by name and number.
#[derive(Default)]
struct Names {
    called: HashMap<String, usize>,
    answered: HashMap<String, usize>,
}

impl Names {
    fn call(&mut self, parts: &mut [Part]) {
        for part in parts {
            if let Part::Call(call) = part
                && call.id.is_none()
            {
                let number = self.called.entry(call.name.clone()).or_default();
                call.id = Some(numbered(&call.name, *number));
                *number += 1;
            }
        }
    }

    fn answer(&mut self, result: &mut ToolResult) {
        if result.id.is_none()
            && let Some(name) = &result.name
        {
            let number = self.answered.entry(name.clone()).or_default();
            result.id = Some(numbered(name, *number));
            *number += 1;
        }
    }
}

/// Where an answer that is read keeps the text of a call's arguments, beside the arguments.
const ARGS_TEXT: &str = "mcptest_args_text";

/// An answer, as far as the arguments of its calls are texts.
#[derive(Deserialize)]
struct Answer<'b> {
    #[serde(borrow, default)]
    candidates: Vec<Candidate<'b>>,
}

#[derive(Deserialize)]
struct Candidate<'b> {
    #[serde(borrow, default)]
    content: Option<Content<'b>>,
}

#[derive(Deserialize)]
struct Content<'b> {
    #[serde(borrow, default)]
    parts: Vec<CallPart<'b>>,
}

#[derive(Deserialize)]
struct CallPart<'b> {
    #[serde(borrow, default, rename = "functionCall", alias = "function_call")]
    call: Option<FunctionCall<'b>>,
}

#[derive(Deserialize)]
struct FunctionCall<'b> {
    #[serde(borrow, default)]
    args: Option<&'b RawValue>,
}

/// An answer, or a piece of one, that keeps the texts of its arguments.
fn with_texts(mut body: Value, bytes: &[u8]) -> Value {
    let texts = serde_json::from_slice::<Answer<'_>>(bytes);
    let texts = texts.map(|answer| answer.candidates).unwrap_or_default();
    let candidates = body.get_mut("candidates").and_then(Value::as_array_mut);
    for (candidate, texts) in candidates.into_iter().flatten().zip(texts) {
        let parts = candidate.pointer_mut("/content/parts");
        let parts = parts.and_then(Value::as_array_mut);
        let texts = texts.content.map(|content| content.parts);
        for (part, text) in parts.into_iter().flatten().zip(texts.unwrap_or_default()) {
            let args = text.call.and_then(|call| call.args);
            let keys = ["functionCall", "function_call"];
            let key = keys.into_iter().find(|key| part.get(key).is_some());
            // A part that is kept as it is stays as it is.
            let is_kept = part["thought"] == true;
            if let (Some(key), Some(args), false) = (key, args, is_kept) {
                part[key][ARGS_TEXT] = args.get().into();
            }
        }
    }
    body
}

fn response_of(part: &Value) -> Option<&Value> {
    non_null(part, "functionResponse").or_else(|| non_null(part, "function_response"))
}

/// The format has no flag for errors: nothing is known of them.
fn result(response: &Value) -> ToolResult {
    ToolResult {
        id: identifier(response, "id"),
        name: nonempty_string(response, "name"),
        value: member(response, "response"),
        ..ToolResult::default()
    }
}

fn opaque(value: Value) -> Part {
    Part::Opaque(Opaque {
        protocol: NAME.to_owned(),
        value,
    })
}

/// What an answer says. What stands beside a part, such as a signature, goes before it as a part of its own.
fn parts(own: &[Value]) -> Vec<Part> {
    let mut parts = Vec::new();
    for part in own {
        let call = non_null(part, "functionCall").or_else(|| non_null(part, "function_call"));
        let said = text(part, "text");
        if part["thought"] == true || call.is_none() && said.is_none() {
            parts.push(opaque(json!({ "part": part })));
            continue;
        }
        let beside = parameters(part, &[&OF_PART[..], &["function_call"]].concat());
        if !beside.is_empty() {
            parts.push(opaque(json!({ "beside": beside })));
        }
        if let Some(call) = call {
            parts.push(Part::Call(arguments::of_call(Call {
                id: identifier(call, "id"),
                name: text(call, "name").unwrap_or_default().to_owned(),
                args: member(call, "args"),
                text: nonempty_string(call, ARGS_TEXT),
                ..Call::default()
            })));
        } else if let Some(said) = said {
            parts.push(Part::Text(said.to_owned()));
        }
    }
    parts
}

/// The parts of an answer. What another provider made is left out; a refusal is text.
fn written(parts: &[Part]) -> Vec<Value> {
    let mut written = Vec::new();
    let mut beside = Map::new();
    let mut names = Names::default();
    for part in parts {
        let mut value = match part {
            Part::Text(text) | Part::Refusal(text) => json!({ "text": text }),
            Part::Call(call) if call.native.is_none() => {
                let mut value = json!({
                    "name": call.name,
                    "args": arguments::object(call),
                });
                // An identifier that stands for none is none.
                let number = names.called.entry(call.name.clone()).or_default();
                let stands_for_none = numbered(&call.name, *number);
                match &call.id {
                    Some(id) if *id == stands_for_none => *number += 1,
                    Some(id) => value["id"] = id.as_str().into(),
                    None => {}
                }
                json!({ "functionCall": value })
            }
            Part::Opaque(opaque) if opaque.protocol == NAME => {
                if let Some(part) = opaque.value.get("part") {
                    written.push(part.clone());
                } else if let Some(more) = opaque.value.get("beside").and_then(Value::as_object) {
                    beside.clone_from(more);
                }
                continue;
            }
            _ => continue,
        };
        for (key, more) in std::mem::take(&mut beside) {
            value[key] = more;
        }
        written.push(value);
    }
    written
}

fn tool(declared: &Value) -> Option<Tool> {
    let schemas = [
        "parametersJsonSchema",
        "parameters_json_schema",
        "parameters",
    ];
    Some(Tool {
        name: text(declared, "name")?.to_owned(),
        description: nonempty_string(declared, "description"),
        schema: schemas
            .iter()
            .find_map(|key| non_null(declared, key))
            .cloned(),
        strict: None,
    })
}

fn stop(reason: &str, parts: &[Part]) -> Stop {
    let calls = parts.iter().any(|part| matches!(part, Part::Call(_)));
    match reason {
        "STOP" if calls => Stop::Calls,
        "STOP" => Stop::End,
        "MAX_TOKENS" => Stop::Length,
        "SAFETY" => Stop::Refused,
        other => Stop::Other(other.to_owned()),
    }
}

fn finish_reason(said: &ModelResponse) -> Option<&str> {
    Some(match said.stop.as_ref()? {
        Stop::End | Stop::Calls | Stop::Sequence(_) => "STOP",
        Stop::Length => "MAX_TOKENS",
        Stop::Refused => "SAFETY",
        Stop::Failed => "OTHER",
        Stop::Other(other) => other,
    })
}

/// Thinking is not in `candidatesTokenCount`; what is cached is in `promptTokenCount`, and what tools of the
/// provider brought is not.
fn tokens(body: &Value) -> Option<CallTokens> {
    let usage = non_null(body, "usageMetadata")?;
    let reasoning = count(usage, "thoughtsTokenCount");
    let of_tools = count(usage, "toolUsePromptTokenCount").unwrap_or_default();
    Some(CallTokens {
        prompt: count(usage, "promptTokenCount")?.saturating_add(of_tools),
        cached: count(usage, "cachedContentTokenCount"),
        written: None,
        completion: count(usage, "candidatesTokenCount")
            .unwrap_or_default()
            .saturating_add(reasoning.unwrap_or_default()),
        reasoning,
    })
}

fn usage(tokens: CallTokens) -> Value {
    let thought = tokens.reasoning.unwrap_or_default();
    let mut usage = json!({
        "promptTokenCount": tokens.prompt,
        "candidatesTokenCount": tokens.completion.saturating_sub(thought),
        "totalTokenCount": tokens.prompt.saturating_add(tokens.completion),
    });
    if let Some(cached) = tokens.cached {
        usage["cachedContentTokenCount"] = cached.into();
    }
    if let Some(reasoning) = tokens.reasoning {
        usage["thoughtsTokenCount"] = reasoning.into();
    }
    usage
}
