//! Gemini `generateContent` and `streamGenerateContent`.

mod parts;
mod request;
mod stream;
mod texts;

use serde_json::{Value, json};

use super::content::text_of;
use super::provider::{VERTEX, Version};
use super::request::{ends_with, parameters};
use super::sse::Event;
use super::{Assembled, Framing, Protocol, Provider, Route};
use crate::exchange::{CallTokens, Item, ModelRequest, ModelResponse, Part, Stop, Tool};
use crate::json::{count, identifier, list, non_null, nonempty_string, nonempty_text, role, text};
use parts::{Names, parts, response_of, result, written};
use texts::with_texts;

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
