//! Answers as a client of a wire format takes them.

use std::io;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use futures_util::{StreamExt as _, stream};
use serde_json::Value;

use crate::endpoint::Incoming;
use crate::exchange::Said;
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
    let events = protocol.events(said);
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

/// How long what came before a break has to get to the client.
const BEFORE_THE_BREAK: Duration = Duration::from_millis(20);

/// A stream that breaks off, as the recorded one did.
pub(super) fn cut(protocol: &dyn Protocol, said: &Said, why: &str) -> Response {
    let partial = Said {
        stop: None,
        tokens: None,
        ..said.clone()
    };
    let events = protocol.events(&partial);
    // The last one says that the answer is whole.
    let kept = events.len().saturating_sub(2);
    let events = events[..kept].iter();
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
