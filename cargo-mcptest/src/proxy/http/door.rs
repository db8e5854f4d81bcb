//! Who may come in: only who knows the address that was printed.
//!
//! The address has a part that nobody can guess. A request that names another host, or comes from a page of another
//! machine, is refused. The older transport tells its clients where to post; a server that does not know of the address
//! says a path without that part, and this path is open too, as the client got it through the address.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::body::Bytes;
use axum::http::header::{HOST, HeaderName, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use mcptest_session::protocol::{blob, sse};
use reqwest::Url;
use tokio_stream::{Stream, StreamExt as _};

use crate::failure::Failure;

/// The bytes of chance in an address.
const SECRET: usize = 16;

/// How much of a stream is looked at for where to post, in bytes.
const OPENING: usize = 16 << 10;

/// The names of this machine that no other machine has.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "[::1]", "localhost"];

/// The way in.
pub(super) struct Door {
    names: Option<Vec<String>>,
    secret: String,
    announced: Mutex<HashSet<String>>,
}

/// A request that is refused: with which status, and why.
type Refusal = (StatusCode, &'static str);

impl Door {
    pub(super) fn new(here: SocketAddr, listen: &str) -> Result<Self, Failure> {
        let mut random = [0; SECRET];
        getrandom::fill(&mut random)
            .map_err(|error| Failure::new(format!("the system gives no random bytes: {error}")))?;
        Ok(Self {
            names: accepted_hosts(here, listen),
            secret: format!("/{}", blob::hex(&random)),
            announced: Mutex::default(),
        })
    }

    /// The address that clients ask.
    pub(super) fn address(&self, here: SocketAddr, path: &str) -> String {
        format!("http://{here}{}{path}", self.secret)
    }

    /// The path of a request at the server.
    pub(super) fn authorize(&self, head: &Parts) -> Result<String, Refusal> {
        if !self.is_addressed(&head.headers) {
            let why = "the header `Host` names another address; ask at the address that the proxy printed";
            return Err((StatusCode::NOT_FOUND, why));
        }
        if !is_local_origin(&head.headers) {
            let why = "the header `Origin` names a page of another machine, and such a page may not come in";
            return Err((StatusCode::FORBIDDEN, why));
        }
        let path = head.uri.path();
        let inner = path.strip_prefix(&self.secret);
        if let Some(inner) = inner.filter(|inner| inner.is_empty() || inner.starts_with('/')) {
            return Ok(inner.to_owned());
        }
        let whole = head.uri.path_and_query().map(ToString::to_string);
        let announced = self.announced.lock();
        let is_announced = whole
            .zip(announced.ok())
            .is_some_and(|(whole, announced)| announced.contains(&whole));
        if is_announced {
            return Ok(path.to_owned());
        }
        let why = "nothing is at this path; ask at the whole address that the proxy printed";
        Err((StatusCode::NOT_FOUND, why))
    }

    /// Whether a request names this address.
    fn is_addressed(&self, headers: &HeaderMap) -> bool {
        let Some(names) = &self.names else {
            return true;
        };
        single_header(headers, HOST).is_some_and(|host| names.contains(&host))
    }
}

/// The value of a header that is there once.
fn single_header(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    let mut values = headers.get_all(name).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return None;
    };
    Some(String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase())
}

/// Whether no page asks, or one that this machine serves.
fn is_local_origin(headers: &HeaderMap) -> bool {
    if !headers.contains_key(ORIGIN) {
        return true;
    }
    let origin = single_header(headers, ORIGIN).and_then(|origin| Url::parse(&origin).ok());
    origin.is_some_and(|origin| {
        let host = origin.host_str().unwrap_or_default();
        let is_asked = || {
            single_header(headers, HOST).is_some_and(|asked| {
                origin
                    .port()
                    .map_or_else(|| asked == host, |port| asked == format!("{host}:{port}"))
            })
        };
        LOOPBACK.contains(&host) || is_asked()
    })
}

/// The names under which clients ask an address of this machine alone. A page in a browser that has another name for it
/// must not reach the server. An address that other machines reach has names that nobody knows here.
fn accepted_hosts(here: SocketAddr, listen: &str) -> Option<Vec<String>> {
    if !here.ip().is_loopback() {
        return None;
    }
    let port = here.port();
    let listen = listen.rsplit_once(':').map_or(listen, |(name, _)| name);
    let ip = here.ip().to_string();
    let names = LOOPBACK.into_iter().chain([&*ip, listen]);
    let names = names.map(str::to_ascii_lowercase);
    let each = names.flat_map(|name| {
        let alone = (port == 80).then(|| name.clone());
        [Some(format!("{name}:{port}")), alone]
    });
    Some(each.flatten().collect())
}

/// Where a server says in a stream that its client should post.
pub(super) struct AnnouncedEndpoint {
    door: Arc<Door>,
    opening: Vec<u8>,
}

impl AnnouncedEndpoint {
    pub(super) fn new(door: &Arc<Door>) -> Self {
        Self {
            door: door.clone(),
            opening: Vec::new(),
        }
    }

    /// A body, as it is.
    pub(super) fn watch<E, S: Stream<Item = Result<Bytes, E>>>(
        mut self,
        body: S,
    ) -> impl Stream<Item = Result<Bytes, E>> + use<E, S> {
        body.map(move |part| {
            if let Ok(bytes) = &part
                && self.opening.len() < OPENING
            {
                self.scan(bytes);
            }
            part
        })
    }

    fn scan(&mut self, bytes: &[u8]) {
        self.opening.extend_from_slice(bytes);
        let events = sse::events(&self.opening, false).into_iter();
        let mut endpoints = events.filter(|event| event.name.as_deref() == Some("endpoint"));
        let Some(endpoint) = endpoints.next() else {
            return;
        };
        if let (true, Ok(mut announced)) =
            (endpoint.data.starts_with('/'), self.door.announced.lock())
        {
            announced.insert(endpoint.data);
        }
        // There is no second one.
        self.opening.resize(OPENING, 0);
    }
}
