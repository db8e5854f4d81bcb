//! The wire formats of model providers, to and from one neutral [`Exchange`](crate::exchange::Exchange).
//!
//! A format is one file and one line in [`ALL`]. It reads a request and an answer, whole and as a stream of
//! events, and writes an answer, whole and as a stream, and an error. Some also write a request ([`RequestWriter`]). A stream is read by putting its events
//! together to the answer that would have come whole, so each field is read in one place.
//!
//! Nothing here reaches a network, and nothing makes a request fail: what is not known is left out of the
//! neutral form, and whoever passes bytes on passes on all of them.

mod anthropic;
mod arguments;
mod bedrock;
#[doc(hidden)]
pub mod blob;
mod chat;
#[doc(hidden)]
pub mod content;
mod framing;
mod gemini;
mod numbered;
mod ollama;
pub(crate) mod provider;
mod reading;
mod request;
mod responses;
pub mod sse;
#[cfg(test)]
mod tests;
mod writer;
mod written;

use std::collections::BTreeSet;
use std::fmt::Debug;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::exchange::{Item, ModelRequest, ModelResponse};
use crate::lossless::{Change, describe_error, parse, parse_piece};
use sse::{Event, Stream};

/// Calls and results as messages hold them, for whoever reads messages that are kept elsewhere.
#[doc(hidden)]
pub mod parts {
    pub use super::anthropic::{
        call as block_call, result as block_result, result_of_provider as block_of_provider,
    };
    pub use super::chat::{function_call, tool_call};
    pub use super::responses::{built_in, call as item_call, mcp_call};
}

pub use anthropic::Anthropic;
#[cfg(feature = "play")]
pub(crate) use arguments::written;
#[cfg(feature = "play")]
pub(crate) use bedrock::is_of_bedrock;
pub use bedrock::{Converse as BedrockConverse, Invoke as BedrockInvoke};
pub use chat::Chat;
pub use framing::Framing;
pub use gemini::Gemini;
pub(crate) use numbered::is_numbered;
pub use ollama::Ollama;
pub use provider::Provider;
pub use responses::Responses;
#[cfg(feature = "play")]
pub(crate) use responses::{parts_of_item, written_item};
pub use writer::RequestWriter;

/// All wire formats that are known.
pub const ALL: &[&dyn Protocol] = &[
    &Chat,
    &Responses,
    &Anthropic,
    &Gemini,
    &Ollama,
    &BedrockConverse,
    &BedrockInvoke,
];

/// A wire format.
pub trait Protocol: Debug + Send + Sync {
    /// Its name, as recordings have it.
    fn name(&self) -> &'static str;

    /// The providers whose own clients ask in this format. Errors about their other paths have its shape. None where
    /// another format has the provider.
    fn providers(&self) -> &'static [Provider];

    /// Its name for people, with its path.
    fn title(&self) -> &'static str;

    /// What its providers call an API that asks a model in a form which is not read, where a request is one of it: an
    /// agent that asks so would leave an empty run.
    fn unread(&self, path: &str, body: &[u8]) -> Option<&'static str>;

    /// What a path says of a request, where requests for an answer go there. The path is without its query.
    fn route(&self, path: &str) -> Option<Route>;

    /// Whether a request that goes where an answer is asked for is one of this format: some paths lead to the models of
    /// several makers, each with a format of its own.
    fn is_request(&self, _body: &[u8]) -> bool {
        true
    }

    /// Reads a request.
    fn parse_request(&self, route: &Route, body: &Value) -> ModelRequest;

    /// Whether a request that goes on with an answer by its identifier has the system prompt and the tools of the
    /// request before it, and does not say them again.
    fn keeps_request(&self) -> bool;

    /// Whether results are objects, so that clients put any other value into one.
    fn wraps_results(&self) -> bool;

    /// Reads a list of messages, or of items, as requests hold them and teams keep them.
    fn items(&self, messages: &[Value]) -> Vec<Item>;

    /// Reads an answer; `None` where the value is none, such as an error.
    fn parse_response(&self, body: &Value) -> Option<ModelResponse>;

    /// Puts the events of a stream together.
    fn assembled(&self, events: &[Event]) -> Assembled;

    /// An answer that was read from these bytes, with the texts of arguments that it holds as values: their keys are
    /// in order there, and may not be in the bytes. A format that writes arguments as texts gives the answer back.
    fn with_texts(&self, body: Value, bytes: &[u8]) -> Value;

    /// Writes an answer.
    fn answer(&self, said: &ModelResponse) -> Value;

    /// Writes an answer as the events of a stream.
    fn events(&self, said: &ModelResponse) -> Vec<Event>;

    /// How a stream is framed for a request with this query.
    fn framing(&self, query: Option<&str>) -> Framing;

    /// How many of the last events of a stream say that the answer is whole.
    fn closing_events(&self) -> usize;

    /// Writes an error that a provider told inside of a stream, and that ended it.
    fn failure(&self, error: &Value) -> Event;

    /// Whether the stream for a request tells its tokens.
    fn tells_tokens(&self, request: &Value) -> bool;

    /// The request so that its stream tells its tokens; `None` where it does already, or never does.
    #[cfg(feature = "record")]
    fn asking_for_tokens(&self, request: &[u8]) -> Option<Vec<u8>>;

    /// Whether an event came because of that question alone.
    #[cfg(feature = "record")]
    fn is_tokens_alone(&self, event: &Event) -> bool;

    /// Writes an error.
    fn error(&self, status: u16, message: &str) -> Value;
}

/// What the path of a request says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Route {
    /// The model, where the path names it (Azure's deployments, Gemini).
    pub model: Option<String>,
    /// Whether the answer is streamed, where the path says it (Gemini).
    pub streamed: Option<bool>,
}

/// The events of a stream, put together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Assembled {
    /// The answer as it would have come whole; `None` where the stream held none of it.
    pub body: Option<Value>,
    /// Whether the stream came to its end.
    pub ended: bool,
    /// The error that the stream told.
    pub error: Option<Value>,
    /// What was read otherwise than it is written.
    #[doc(hidden)]
    pub changes: Vec<Change>,
    /// Why something of it could not be read, where that is so.
    pub unread: Option<String>,
}

/// The format that a path belongs to, and what it says.
///
/// ```
/// use mcptest_session::protocol;
///
/// let (protocol, _) = protocol::at("/v1/chat/completions").unwrap();
/// assert_eq!(protocol.name(), "openai_chat");
/// let (protocol, route) = protocol::at("/v1beta/models/gemini-3:streamGenerateContent").unwrap();
/// assert_eq!((protocol.name(), route.model.as_deref()), ("gemini", Some("gemini-3")));
/// assert!(protocol::at("/v1/models").is_none());
/// ```
#[must_use]
pub fn at(path: &str) -> Option<(&'static dyn Protocol, Route)> {
    let mut all = ALL.iter();
    all.find_map(|protocol| Some((*protocol, protocol.route(path)?)))
}

/// The format of a request, and what its path says.
///
/// ```
/// use mcptest_session::protocol;
///
/// let path = "/model/arn:aws:bedrock:us-east-1:1:application-inference-profile%2Fabc/invoke";
/// let body = br#"{"anthropic_version": "bedrock-2023-05-31", "messages": []}"#;
/// assert!(protocol::of_request(path, body).is_some());
/// assert!(protocol::of_request(path, br#"{"prompt": "Hi"}"#).is_none());
/// ```
#[must_use]
pub fn of_request(path: &str, body: &[u8]) -> Option<(&'static dyn Protocol, Route)> {
    at(path).filter(|(protocol, _)| protocol.is_request(body))
}

/// Why a request asks a model in a form that is not read, and what is read; `None` where it is read, or asks no model.
///
/// ```
/// use mcptest_session::protocol;
///
/// let why = protocol::unread("/v1/completions", b"{}").unwrap();
/// assert!(why.starts_with("OpenAI's Completions (`/completions`) are not read; what is read: "), "{why}");
/// assert_eq!(protocol::unread("/v1/embeddings", b"{}"), None);
/// ```
#[must_use]
pub fn unread(path: &str, body: &[u8]) -> Option<String> {
    if of_request(path, body).is_some() {
        return None;
    }
    let what = ALL.iter().find_map(|it| it.unread(path, body))?;
    let titles: Vec<&str> = ALL.iter().map(|protocol| protocol.title()).collect();
    Some(format!(
        "{what} are not read; what is read: {}",
        titles.join(", ")
    ))
}

/// The format of a name.
#[must_use]
pub fn named(name: &str) -> Option<&'static dyn Protocol> {
    let mut all = ALL.iter().copied();
    all.find(|protocol| protocol.name() == name)
}

/// The format in whose shape an error about this path is told: that of the path, else that of the provider
/// whose address the path begins with.
pub(crate) fn for_error(path: &str) -> &'static dyn Protocol {
    if let Some((protocol, _)) = at(path) {
        return protocol;
    }
    let provider = Provider::of_path(path).map(|(provider, _)| provider);
    let mut all = ALL.iter().copied();
    let own = provider.and_then(|own| all.find(|it| it.providers().contains(own)));
    own.unwrap_or(ALL[0])
}

/// The message of an error, in the shapes that providers have for it.
#[must_use]
pub fn error_message(body: &Value) -> Option<&str> {
    let error = body.get("error").unwrap_or(body);
    let message = error.get("message").or_else(|| body.get("message"));
    // AWS, where it refuses whoever asks.
    let message = message.or_else(|| body.get("Message"));
    message.unwrap_or(error).as_str()
}

/// A stream whose media type says how it is framed, or one answer: the answer as it would have come whole. A stream
/// that is no list of events, as Gemini has one without `alt=sse`, is a JSON array of what the events would hold.
#[must_use]
pub fn assembled(
    protocol: &dyn Protocol,
    framing: Option<Framing>,
    bytes: &[u8],
    whole: bool,
) -> Assembled {
    // Lines say themselves whether they are all, so that one answer is read like them.
    let framing = framing.or_else(|| {
        let own = protocol.framing(None);
        (own == Framing::Lines && !bytes.trim_ascii().is_empty()).then_some(own)
    });
    if let Some(framing) = framing {
        let Stream {
            events,
            is_lossy,
            unread,
        } = framing.read(bytes, whole);
        let mut assembled = with_halves(protocol.assembled(&events), is_lossy);
        assembled.unread = assembled.unread.or(unread);
        return assembled;
    }
    let parsed = match parse(bytes) {
        Ok(parsed) => parsed,
        // What broke off is no JSON.
        Err(_) if !whole => return Assembled::default(),
        Err(_) if bytes.trim_ascii().is_empty() => {
            return unreadable("the answer is empty".to_owned());
        }
        Err(error) => return unreadable(format!("the answer {}", describe_error(&error))),
    };
    if parsed.value.is_array()
        && let Ok(pieces) = parse_piece(bytes)
        && let Value::Array(pieces) = pieces.value
    {
        // As they were written, where that can be told.
        let events: Vec<Event> = match serde_json::from_slice::<Vec<&RawValue>>(bytes) {
            Ok(pieces) => pieces
                .iter()
                .map(|piece| Event::data(piece.get()))
                .collect(),
            Err(_) => pieces
                .iter()
                .map(|piece| Event::data(piece.to_string()))
                .collect(),
        };
        let mut assembled = protocol.assembled(&events);
        // Halves that meet are no change, and were none of the other changes in the pieces.
        let others = parsed.changes.into_iter().filter(|it| *it != Change::Half);
        assembled.changes.extend(others);
        return with_halves(assembled, std::str::from_utf8(bytes).is_err());
    }
    let mut changes: BTreeSet<Change> = parsed.changes.into_iter().collect();
    arguments::changes(&parsed.value, &mut changes);
    let body = protocol.with_texts(parsed.value, bytes);
    Assembled {
        error: body.get("error").filter(|error| !error.is_null()).cloned(),
        body: Some(body),
        ended: true,
        changes: changes.into_iter().collect(),
        unread: None,
    }
}

fn unreadable(why: String) -> Assembled {
    Assembled {
        unread: Some(why),
        ..Assembled::default()
    }
}

/// An answer with what is known of its bytes.
fn with_halves(mut assembled: Assembled, is_lossy: bool) -> Assembled {
    assembled.changes.extend(is_lossy.then_some(Change::Half));
    assembled.changes.sort_unstable();
    assembled.changes.dedup();
    assembled
}
