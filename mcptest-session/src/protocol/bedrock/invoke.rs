//! Bedrock's `InvokeModel` and `InvokeModelWithResponseStream`, for the models of Anthropic: a request and an answer are
//! those of Anthropic Messages, the model stands in the path, and a stream holds each event as base64.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::super::reading::Reading;
use super::super::sse::Event;
use super::super::{Anthropic, Assembled, Framing, Protocol, Provider, Route};
use super::{exception_error, is_exception};
use crate::exchange::{Item, ModelRequest, ModelResponse};
use crate::json::text;

/// The format.
#[derive(Debug)]
pub struct Invoke;

/// The name of the format.
pub(super) const NAME: &str = "bedrock_invoke";

/// What is in each request to a model of Anthropic, and in none to another.
#[derive(Deserialize)]
struct OfAnthropic {
    #[serde(rename = "anthropic_version")]
    _version: IgnoredAny,
}

/// What asks a model for text, where its name does not say that it gives any.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Question {
    messages: Option<IgnoredAny>,
    prompt: Option<IgnoredAny>,
    #[serde(rename = "textGenerationConfig")]
    config: Option<IgnoredAny>,
}

/// The kinds of ARNs that do not say which model they lead to.
const LEADS_ELSEWHERE: [&str; 2] = [":application-inference-profile/", ":provisioned-model/"];

/// What is in the names of models that give no text: those of vectors, orders and pictures. An agent asks them beside its
/// model.
const WITHOUT_WORDS: [&str; 5] = ["embed", "rerank", "image", "canvas", "stability."];

fn is_without_words(model: &str) -> bool {
    WITHOUT_WORDS.iter().any(|word| model.contains(word))
}

fn is_question(body: &[u8]) -> bool {
    let question: Question = serde_json::from_slice(body).unwrap_or_default();
    question.messages.is_some() || question.prompt.is_some() || question.config.is_some()
}

impl Protocol for Invoke {
    fn name(&self) -> &'static str {
        NAME
    }

    fn providers(&self) -> &'static [Provider] {
        &[]
    }

    fn title(&self) -> &'static str {
        "Bedrock's InvokeModel with a model of Anthropic (`/invoke`)"
    }

    fn unread(&self, path: &str, body: &[u8]) -> Option<&'static str> {
        let (model, operation) = super::operation(path)?;
        let model = model.to_ascii_lowercase();
        if operation == "invoke-with-bidirectional-stream" {
            return Some("talks in real time (`/invoke-with-bidirectional-stream`)");
        }
        let is_asked = ["invoke", "invoke-with-response-stream"].contains(&operation);
        let speaks = !is_without_words(&model)
            && (!LEADS_ELSEWHERE.iter().any(|kind| model.contains(kind)) || is_question(body));
        (is_asked && speaks).then_some("models of other makers (`/invoke`; `/converse` is read)")
    }

    fn route(&self, path: &str) -> Option<Route> {
        let route = super::route(path, "invoke", "invoke-with-response-stream")?;
        let model = route.model.as_deref()?.to_ascii_lowercase();
        (!is_without_words(&model)).then_some(route)
    }

    fn is_request(&self, body: &[u8]) -> bool {
        serde_json::from_slice::<OfAnthropic>(body).is_ok()
    }

    fn parse_request(&self, route: &Route, body: &Value) -> ModelRequest {
        ModelRequest {
            model: route.model.clone(),
            streamed: route.streamed == Some(true),
            ..Anthropic.parse_request(route, body)
        }
    }

    fn keeps_request(&self) -> bool {
        false
    }

    fn wraps_results(&self) -> bool {
        false
    }

    fn items(&self, messages: &[Value]) -> Vec<Item> {
        Anthropic.items(messages)
    }

    fn parse_response(&self, body: &Value) -> Option<ModelResponse> {
        Anthropic.parse_response(body)
    }

    fn assembled(&self, events: &[Event]) -> Assembled {
        let mut error = None;
        // What cannot be read of the events around those of Anthropic.
        let mut reading = Reading::default();
        let mut inner = Vec::new();
        for event in events {
            let data = reading.value(event);
            if is_exception(event) {
                error = Some(exception_error(event, data));
            } else if let Some(bytes) = data.as_ref().and_then(|data| text(data, "bytes")) {
                let bytes = STANDARD.decode(bytes).unwrap_or_default();
                inner.push(Event::data(String::from_utf8_lossy(&bytes)));
            }
        }
        let outer = reading.end(Assembled::default());
        let assembled = Anthropic.assembled(&inner);
        let changes: BTreeSet<_> = assembled.changes.into_iter().chain(outer.changes).collect();
        Assembled {
            error: error.or(assembled.error),
            unread: assembled.unread.or(outer.unread),
            changes: changes.into_iter().collect(),
            ..assembled
        }
    }

    fn with_texts(&self, body: Value, bytes: &[u8]) -> Value {
        Anthropic.with_texts(body, bytes)
    }

    fn answer(&self, said: &ModelResponse) -> Value {
        Anthropic.answer(said)
    }

    fn events(&self, said: &ModelResponse) -> Vec<Event> {
        let events = Anthropic.events(said).into_iter();
        let chunk = |event: Event| {
            let chunk = json!({ "bytes": STANDARD.encode(event.data) });
            Event::named("chunk", chunk.to_string())
        };
        events.map(chunk).collect()
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
