//! Logs of HTTP keep bodies as texts: the JSON of a request or of an answer, or the events of a streamed answer.

use std::error::Error;
use std::fmt;

use mcptest_session::json::{non_null, text};
use mcptest_session::lossless::parse;
use mcptest_session::protocol::{Anthropic, Chat, Gemini, Protocol, Responses, sse};
use serde_json::{Value, json};

/// A stream of events that hold no answer of a known provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StreamWithoutAnswer;

impl fmt::Display for StreamWithoutAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "its response is a stream of events that hold no answer of a known provider; put the events together to one answer",
        )
    }
}

impl Error for StreamWithoutAnswer {}

/// Reads the bodies of a record that are texts. `{"string": …}` is a body as VCR keeps it.
///
/// # Errors
///
/// Why the events of a stream cannot be put together.
pub(crate) fn read(record: &mut Value) -> Result<(), StreamWithoutAnswer> {
    for side in ["request", "response", "body"] {
        let held = record.get_mut(side);
        let body = held.map(|held| match non_null(held, "body") {
            Some(_) => &mut held["body"],
            None => held,
        });
        let Some(body) = body else {
            continue;
        };
        let text = body.as_str().or_else(|| text(body, "string"));
        if let Some(read) = text.map(parse_body).transpose()?.flatten() {
            *body = read;
        }
    }
    Ok(())
}

/// What a text is, if it is the body of a request or of an answer.
fn parse_body(text: &str) -> Result<Option<Value>, StreamWithoutAnswer> {
    const KNOWN: [&str; 5] = ["model", "messages", "choices", "candidates", "contents"];
    let begin = text.trim_start();
    if ["data:", "event:"].iter().any(|it| begin.starts_with(it)) {
        return parse_stream(text).map(Some);
    }
    let read = Some(begin).filter(|begin| begin.starts_with('{'));
    let read = read.and_then(|text| parse(text.as_bytes()).ok());
    let read = read.map(|parsed| parsed.value);
    Ok(read.filter(|read| KNOWN.iter().any(|key| non_null(read, key).is_some())))
}

fn parse_stream(text: &str) -> Result<Value, StreamWithoutAnswer> {
    let events = sse::events(text.as_bytes(), true);
    let mut read = events.iter();
    let protocol = read.find_map(|event| find_protocol(&parse(event.data.as_bytes()).ok()?.value));
    let assembled = protocol.map(|protocol| protocol.assembled(&events));
    let answer = assembled.and_then(|it| it.body.or_else(|| Some(json!({ "error": it.error? }))));
    answer.ok_or(StreamWithoutAnswer)
}

/// The provider that writes an event like this.
fn find_protocol(event: &Value) -> Option<&'static dyn Protocol> {
    let kind = text(event, "type").unwrap_or_default();
    let has = |key| non_null(event, key).is_some();
    if kind.starts_with("response.") {
        Some(&Responses)
    } else if kind.starts_with("message_") || kind.starts_with("content_block_") {
        Some(&Anthropic)
    } else if has("candidates") {
        Some(&Gemini)
    } else if has("choices") {
        Some(&Chat)
    } else {
        None
    }
}
