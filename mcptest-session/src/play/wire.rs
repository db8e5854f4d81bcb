//! Answers as a client of a wire format takes them.

use std::io;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};

use crate::endpoint::Incoming;
use crate::exchange::Said;
use crate::protocol::sse::Event;
use crate::protocol::{self, Protocol};
use crate::record::ENDED_EARLY;

pub(super) fn wants_usage(body: &Value) -> bool {
    body["stream_options"]["include_usage"] == true
}

/// Whether a stream of Gemini is a list, and no events.
pub(super) fn is_array(protocol: &dyn Protocol, incoming: &Incoming) -> bool {
    let query = incoming.query.as_deref().unwrap_or_default();
    protocol.name() == "gemini" && !query.split('&').any(|part| part == "alt=sse")
}

pub(super) fn whole(
    protocol: &dyn Protocol,
    said: &Said,
    streamed: bool,
    as_events: bool,
) -> Response {
    if !streamed {
        let body = protocol::written(&protocol.answer(said));
        return response(200, "application/json", Body::from(body));
    }
    streamed_as(protocol.events(said), as_events)
}

/// A stream as a client asks for it: events, or a list.
fn streamed_as(events: Vec<Event>, as_events: bool) -> Response {
    if as_events {
        let bytes: Vec<u8> = events
            .iter()
            .flat_map(|event| event.bytes().to_vec())
            .collect();
        return response(200, "text/event-stream", Body::from(bytes));
    }
    let parts: Vec<String> = events.into_iter().map(|event| event.data).collect();
    let body = format!("[{}]", parts.join(",\n"));
    response(200, "application/json", Body::from(body))
}

/// A stream that ends with an error which the provider tells, as the recorded one did.
pub(super) fn failed(
    protocol: &dyn Protocol,
    said: &Said,
    error: &Value,
    as_events: bool,
) -> Response {
    let mut events = begun(protocol, said);
    let is_whole = error["type"] == "error";
    let data = match protocol.name() {
        "openai_responses" if is_whole => error.clone(),
        "anthropic_messages" | "openai_responses" => json!({ "type": "error", "error": error }),
        _ => json!({ "error": error }),
    };
    events.push(match protocol.name() {
        "anthropic_messages" | "openai_responses" => Event::named("error", data.to_string()),
        _ => Event::data(data.to_string()),
    });
    streamed_as(events, as_events)
}

/// The events of an answer that is not whole.
fn begun(protocol: &dyn Protocol, said: &Said) -> Vec<Event> {
    let partial = Said {
        stop: None,
        tokens: None,
        ..said.clone()
    };
    let mut events = protocol.events(&partial);
    // The last ones say that the answer is whole.
    let ends = if protocol.name() == "gemini" { 1 } else { 2 };
    events.truncate(events.len().saturating_sub(ends));
    events
}

/// How long what came before a break has to get to the client.
const BEFORE_THE_BREAK: Duration = Duration::from_millis(20);

/// A stream that breaks off, as the recorded one did.
pub(super) fn cut(protocol: &dyn Protocol, said: &Said, why: &str) -> Response {
    let events = begun(protocol, said);
    let events = events.iter();
    if why == ENDED_EARLY {
        let bytes: Vec<u8> = events.flat_map(|event| event.bytes().to_vec()).collect();
        return response(200, "text/event-stream", Body::from(bytes));
    }
    let bytes: Vec<Result<Bytes, io::Error>> = events.map(|event| Ok(event.bytes())).collect();
    let broken = io::Error::other(why.to_owned());
    let breaks = async {
        // What came before the break has to get to the client, its status first.
        tokio::time::sleep(BEFORE_THE_BREAK).await;
        Err(broken)
    };
    let bytes = stream::iter(bytes).chain(stream::once(breaks));
    response(200, "text/event-stream", Body::from_stream(bytes))
}

pub(super) fn response(status: u16, media_type: &str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    let media = HeaderValue::from_str(media_type);
    let media = media.unwrap_or(HeaderValue::from_static("application/octet-stream"));
    response.headers_mut().insert(CONTENT_TYPE, media);
    response
}
