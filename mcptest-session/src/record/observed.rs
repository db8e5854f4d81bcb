//! What went by: requests and what came of them, decoded.

use std::collections::BTreeSet;

use sha2::{Digest as _, Sha256};

use super::stored_request::StoredRequest;
use crate::exchange::ModelResponse;
use crate::lossless::{Change, parse};
use crate::protocol::{Protocol, blob};

/// Why an answer is not whole whose stream ended as if it were.
#[cfg(any(feature = "play", feature = "record"))]
pub(crate) const ENDED_EARLY: &str = "the stream ended before the answer was complete";

/// What the reason begins with where the provider told an error inside of a stream.
#[cfg(any(feature = "play", feature = "record"))]
pub(crate) const BROKE_OFF: &str = "the provider broke off: ";

/// A request, and what came of it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Observed {
    /// The wire format, where it is a request for an answer.
    pub protocol: Option<&'static dyn Protocol>,
    /// The method.
    pub method: String,
    /// The path at the endpoint: `/openai/v1/chat/completions`.
    pub path: String,
    /// The query, without the values that log in.
    pub query: Option<String>,
    /// The digest of method, path, query and body.
    pub digest: String,
    /// What was asked, where the body could be read.
    pub asked: Option<StoredRequest>,
    /// When it was asked, in milliseconds since the session began.
    pub asked_at: u64,
    /// When the answer had come, in milliseconds since the session began.
    pub ended_at: Option<u64>,
    /// Its place among all that happened in the session.
    pub(crate) tick: u64,
    /// What came of it.
    pub outcome: Outcome,
    /// The client went away before it had the whole answer.
    pub gone: bool,
    /// What of the request or the answer was read otherwise than it is written.
    pub(crate) changes: BTreeSet<Change>,
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// Nothing yet.
    Open,
    /// The model answered.
    Answered {
        /// What it said.
        said: ModelResponse,
        /// Why the answer is not whole, where it is not.
        broken: Option<String>,
    },
    /// The provider answered with an error.
    Failed {
        /// The status.
        status: u16,
        /// What the provider says of it.
        message: String,
    },
    /// The provider could not be reached, or the connection broke before anything was said.
    Lost(String),
    /// The answer came, but it cannot be read; or a model was asked in a form that is not read.
    Unreadable(String),
    /// The session did not take it, and the client may ask in another way: it asked for a WebSocket.
    Refused(String),
    /// No request for an answer of a model: kept as it is.
    Other {
        /// The status.
        status: u16,
        /// The media type.
        media_type: Option<String>,
        /// The body, no longer compressed.
        body: Vec<u8>,
    },
}

/// What tells one request from another. A body of JSON counts by its value, if its value loses nothing of it.
#[must_use]
pub fn digest(method: &str, path: &str, query: Option<&str>, body: &[u8]) -> String {
    let parsed = parse(body).ok();
    let lossless = parsed.filter(|it| it.changes.iter().all(|it| *it == Change::Twice));
    let canonical = lossless.map(|it| mcptest_trace::trace::canonical_json(&it.value).into_bytes());
    let body = canonical.as_deref().unwrap_or(body);
    let mut digest = Sha256::new();
    for part in [
        method.as_bytes(),
        path.as_bytes(),
        query.unwrap_or_default().as_bytes(),
        body,
    ] {
        digest.update(part.len().to_be_bytes());
        digest.update(part);
    }
    blob::hex(&digest.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_of_what_the_request_says() {
        let one = digest("POST", "/a", None, br#"{"b":1,"a":2}"#);
        assert_eq!(one, digest("POST", "/a", None, br#"{ "a": 2, "b": 1 }"#));
        let long = |end| format!("{{\"id\":12345678901234567890123{end}}}");
        assert_ne!(
            digest("POST", "/a", None, long(1).as_bytes()),
            digest("POST", "/a", None, long(2).as_bytes())
        );
        assert_ne!(
            digest("POST", "/a", None, br#"{"b":NaN}"#),
            digest("POST", "/a", None, br#"{"b":null}"#)
        );
        assert_ne!(one, digest("POST", "/a", Some("x"), br#"{"b":1,"a":2}"#));
        assert_ne!(
            digest("POST", "/a", None, b"x"),
            digest("POST", "/ax", None, b"")
        );
    }
}
