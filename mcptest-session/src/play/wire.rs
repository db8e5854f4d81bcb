//! Answers as a client of a wire format takes them.

use std::io;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use futures_util::{StreamExt as _, stream};
use serde_json::Value;

use crate::exchange::ModelResponse;
use crate::protocol::sse::Event;
use crate::protocol::{self, Framing, Protocol};
use crate::record::ENDED_EARLY;

/// A whole answer, also as a stream.
pub(super) fn whole_response(
    protocol: &dyn Protocol,
    said: &ModelResponse,
    framing: Option<Framing>,
) -> Response {
    if let Some(framing) = framing {
        return streamed(&protocol.events(said), framing);
    }
    let body = protocol::written(&protocol.answer(said));
    response(200, "application/json", Body::from(body))
}

fn streamed(events: &[Event], framing: Framing) -> Response {
    let bytes = framing.pieces(events).concat();
    response(200, framing.media_type(), Body::from(bytes))
}

/// A stream that ends with an error which the provider tells, as the recorded one did.
pub(super) fn failed_stream(
    protocol: &dyn Protocol,
    said: &ModelResponse,
    error: &Value,
    framing: Framing,
) -> Response {
    let mut events = begin_events(protocol, said);
    events.push(protocol.failure(error));
    streamed(&events, framing)
}

/// The events of an answer that is not whole.
fn begin_events(protocol: &dyn Protocol, said: &ModelResponse) -> Vec<Event> {
    let partial = ModelResponse {
        stop: None,
        tokens: None,
        ..said.clone()
    };
    let mut events = protocol.events(&partial);
    let ends = protocol.closing_events();
    events.truncate(events.len().saturating_sub(ends));
    events
}

/// How long what came before a break has to get to the client.
const BEFORE_THE_BREAK: Duration = Duration::from_millis(20);

/// A stream that breaks off, as the recorded one did.
pub(super) fn broken_stream(
    protocol: &dyn Protocol,
    said: &ModelResponse,
    why: &str,
    framing: Framing,
) -> Response {
    let pieces = framing.begun(&begin_events(protocol, said));
    if why == ENDED_EARLY {
        return response(200, framing.media_type(), Body::from(pieces.concat()));
    }
    let pieces = pieces.into_iter().map(Ok::<Bytes, io::Error>);
    let broken = io::Error::other(why.to_owned());
    let breaks = async {
        // What came before the break has to get to the client, its status first.
        tokio::time::sleep(BEFORE_THE_BREAK).await;
        Err(broken)
    };
    let bytes = stream::iter(pieces.collect::<Vec<_>>()).chain(stream::once(breaks));
    response(200, framing.media_type(), Body::from_stream(bytes))
}

pub(super) fn response(status: u16, media_type: &str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    let media = HeaderValue::from_str(media_type);
    let media = media.unwrap_or(HeaderValue::from_static("application/octet-stream"));
    response.headers_mut().insert(CONTENT_TYPE, media);
    response
}
