//! The address on loopback that an agent is given in place of its model's API.
//!
//! It listens on 127.0.0.1 alone, under a path that nobody can guess, and answers no request that names
//! another host, so that a page in a browser cannot reach it. What is too large is an error in the shape of
//! the provider. What is answered is not decided here: an [`Answerer`] does.

#[cfg(feature = "record")]
mod headers;
mod upstream;

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use axum::Router;
use axum::body::{self, Body, Bytes};
use axum::extract::{Request, State};
#[cfg(any(feature = "play", feature = "record"))]
use axum::http::header::UPGRADE;
use axum::http::header::{CONTENT_TYPE, HOST};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::Response;
use axum::serve::ListenerExt as _;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::door::is_door;
use crate::protocol;

pub use crate::protocol::Provider;
#[cfg(feature = "record")]
pub(crate) use headers::SHORTEST_LOGIN;
#[cfg(feature = "record")]
#[doc(hidden)]
pub use headers::{credentials, end_to_end_headers, query_credentials};
#[cfg(any(feature = "play", feature = "record"))]
pub(crate) use upstream::provider_names;
pub use upstream::{Upstream, UpstreamError};

/// The most bytes that a request may have.
pub const MAX_BODY: usize = 64 << 20;

/// The status of an upgrade that is refused: the same may be asked by HTTP.
#[cfg(any(feature = "play", feature = "record"))]
pub(crate) const UPGRADE_REQUIRED: u16 = 426;

/// The most requests that one session may make.
pub const MAX_REQUESTS: usize = 20_000;

/// The most requests that may be open at once.
pub const MAX_OPEN: usize = 256;

/// The header by which an error says whether clients should ask again.
pub const SHOULD_RETRY: &str = "x-should-retry";

/// The bytes of chance in a path.
const SECRET: usize = 16;

/// A request that reached the endpoint.
#[derive(Debug)]
#[non_exhaustive]
pub struct Incoming {
    /// Its number in the session, from 0.
    pub number: usize,
    /// The method.
    pub method: Method,
    /// The path, without what nobody can guess: `/openai/v1/chat/completions`.
    pub path: String,
    /// The query, as it came.
    pub query: Option<String>,
    /// The headers, as they came.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
}

impl Incoming {
    /// A `POST`, to ask an [`Answerer`] without an address. The path may end with a query.
    #[must_use]
    pub fn post(number: usize, path: &str, body: impl Into<Bytes>) -> Self {
        let (path, query) = match path.split_once('?') {
            Some((path, query)) => (path, Some(query.to_owned())),
            None => (path, None),
        };
        Self {
            number,
            method: Method::POST,
            path: path.to_owned(),
            query,
            headers: HeaderMap::new(),
            body: body.into(),
        }
    }
}

/// Why a request is not answered, and with which status, where it asks a model in a form that is not read. `path` is
/// that below its provider.
#[cfg(any(feature = "play", feature = "record"))]
pub(crate) fn refusal(incoming: &Incoming, path: &str) -> Option<(u16, String)> {
    let unread = protocol::unread(path, &incoming.body);
    let upgrade = incoming
        .headers
        .get(UPGRADE)
        .and_then(|it| it.to_str().ok());
    if !upgrade.is_some_and(|it| it.eq_ignore_ascii_case("websocket")) {
        return unread.map(|text| (400, text));
    }
    // Clients that can ask in both ways ask by HTTP after this status.
    let is_format = protocol::of_request(path, &incoming.body).is_some();
    let what = if is_format {
        "this format"
    } else {
        "this path"
    };
    let text = format!("nothing is read over a WebSocket; ask {what} by HTTP");
    Some(unread.map_or((UPGRADE_REQUIRED, text), |text| (400, text)))
}

/// An answer that is being made.
pub type Answering = Pin<Box<dyn Future<Output = Response> + Send>>;

/// What answers the requests of an endpoint.
pub trait Answerer: Send + Sync + 'static {
    /// Answers a request.
    fn answer(&self, incoming: Incoming) -> Answering;
}

/// An endpoint that listens. It stops when it is dropped.
#[derive(Debug)]
pub struct Endpoint {
    address: SocketAddr,
    secret: String,
    door: Arc<RequestCounts>,
    serving: JoinHandle<()>,
}

/// An address that can be answered at by one endpoint after the other: a program that took it when it started reaches
/// whichever is there.
#[derive(Debug)]
pub struct Place {
    listener: std::net::TcpListener,
    secret: String,
    file: String,
    connections: Arc<AtomicUsize>,
}

/// Gives the HTTP clients of this process what TLS is made with. Cargo builds the client of an agent in this process with
/// the features that recording needs, and then no client is made without. The first provider of a process stays.
#[cfg(feature = "record")]
pub(crate) fn provide_tls() {
    rustls::crypto::ring::default_provider()
        .install_default()
        .ok();
}

impl Place {
    /// An address on a port that is free. To call in a runtime of tokio with its drivers on.
    ///
    /// # Errors
    ///
    /// No port can be listened at, or the system gives no random bytes.
    pub async fn new() -> io::Result<Self> {
        #[cfg(feature = "record")]
        provide_tls();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        Ok(Self {
            listener: listener.into_std()?,
            secret: secret()?,
            file: secret()?,
            connections: Arc::default(),
        })
    }

    /// How many connections the newest endpoint was asked for.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// The name of the file that tells where its MCP servers are.
    #[cfg(feature = "play")]
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// The listener of a new endpoint. What waits there was meant for the one before.
    fn vacated(&self) -> io::Result<TcpListener> {
        while self.listener.accept().is_ok() {}
        self.connections.store(0, Ordering::Relaxed);
        TcpListener::from_std(self.listener.try_clone()?)
    }
}

/// What nobody can guess.
pub(crate) fn secret() -> io::Result<String> {
    let mut random = [0; SECRET];
    getrandom::fill(&mut random)
        .map_err(|error| io::Error::other(format!("the system gives no random bytes: {error}")))?;
    Ok(protocol::blob::hex(&random))
}

/// The counts of requests, which limits are held against.
#[derive(Debug, Default)]
struct RequestCounts {
    closed: AtomicBool,
    requests: AtomicUsize,
    open: AtomicUsize,
    /// How many open requests are of own tools. They are counted apart.
    open_tools: AtomicUsize,
    /// Requests that went to another path, or named another host.
    strangers: AtomicUsize,
}

#[derive(Clone)]
struct EndpointState {
    address: SocketAddr,
    secret: Arc<str>,
    door: Arc<RequestCounts>,
    answerer: Arc<dyn Answerer>,
}

impl Endpoint {
    /// Starts to listen, on a port that is free. To call in a runtime of tokio with its drivers on.
    ///
    /// # Errors
    ///
    /// No port can be listened at, or the system gives no random bytes.
    pub async fn start(answerer: Arc<dyn Answerer>) -> io::Result<Self> {
        Self::start_at(&Place::new().await?, answerer)
    }

    /// Starts to listen at an address at which no other endpoint does. To call in a runtime of tokio with its drivers
    /// on.
    ///
    /// # Errors
    ///
    /// The address cannot be listened at.
    pub fn start_at(place: &Place, answerer: Arc<dyn Answerer>) -> io::Result<Self> {
        let listener = place.vacated()?;
        let address = listener.local_addr()?;
        let secret = place.secret.clone();
        let door = Arc::<RequestCounts>::default();
        let state = EndpointState {
            address,
            secret: secret.as_str().into(),
            door: Arc::clone(&door),
            answerer,
        };
        let connections = Arc::clone(&place.connections);
        let listener = listener.tap_io(move |connection| {
            connections.fetch_add(1, Ordering::Relaxed);
            // A piece of a stream is small, and is waited for.
            _ = connection.set_nodelay(true);
        });
        let router = Router::new().fallback(serve).with_state(state);
        let serving = tokio::spawn(async move {
            // It never ends by itself.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self {
            address,
            secret,
            door,
            serving,
        })
    }

    /// The address below which requests are answered, without a slash at its end.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/{}", self.address, self.secret)
    }

    /// How many requests were let in.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.door.requests.load(Ordering::Relaxed)
    }

    /// How many requests went to another path of this port, or named another host.
    #[must_use]
    pub fn strangers(&self) -> usize {
        self.door.strangers.load(Ordering::Relaxed)
    }

    /// Lets no further request in.
    pub fn close(&self) {
        self.door.closed.store(true, Ordering::Relaxed);
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.close();
        self.serving.abort();
    }
}

/// A request that is open.
struct OpenRequest(Arc<RequestCounts>, bool);

impl Drop for OpenRequest {
    fn drop(&mut self) {
        let Self(door, of_tools) = self;
        let open = if *of_tools {
            &door.open_tools
        } else {
            &door.open
        };
        open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Lets a request in, or says why not.
async fn serve(State(serving): State<EndpointState>, request: Request) -> Response {
    let door = &serving.door;
    let (head, body) = request.into_parts();
    let path = head.uri.path();
    let inside = path
        .strip_prefix('/')
        .and_then(|path| path.strip_prefix(&*serving.secret))
        .filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let hosts = head.headers.get_all(HOST).iter();
    let is_here = |host: &HeaderValue| {
        let port = serving.address.port();
        let host = host.as_bytes();
        host == format!("127.0.0.1:{port}").as_bytes()
            || host == format!("localhost:{port}").as_bytes()
    };
    let mut hosts = hosts.map(is_here);
    let (Some(inside), (Some(true), None)) = (inside, (hosts.next(), hosts.next())) else {
        door.strangers.fetch_add(1, Ordering::Relaxed);
        return error_response(path, 404, "no session of mcptest has this address");
    };
    if has_parent_segment(inside) {
        door.strangers.fetch_add(1, Ordering::Relaxed);
        return error_response(path, 404, "the path of a request may not lead up (`..`)");
    }
    // Tools of the agent's own say what they do: the agent asks nothing then.
    let of_tools = is_door(inside);
    let (number, open) = if of_tools {
        (0, &door.open_tools)
    } else {
        (door.requests.fetch_add(1, Ordering::Relaxed), &door.open)
    };
    open.fetch_add(1, Ordering::Relaxed);
    let _open = OpenRequest(Arc::clone(door), of_tools);
    if door.closed.load(Ordering::Relaxed) {
        return error_response(inside, 410, "this session of mcptest has ended");
    }
    if number >= MAX_REQUESTS {
        let text = format!("a session of mcptest takes at most {MAX_REQUESTS} requests");
        return error_response(inside, 429, &text);
    }
    if open.load(Ordering::Relaxed) > MAX_OPEN {
        let text = format!("a session of mcptest takes at most {MAX_OPEN} requests at once");
        return error_response(inside, 429, &text);
    }
    let Ok(body) = body::to_bytes(body, MAX_BODY).await else {
        let most = MAX_BODY >> 20;
        let text =
            format!("the request is larger than the {most} MiB that mcptest reads, or broke off");
        return error_response(inside, 413, &text);
    };
    let incoming = Incoming {
        number,
        path: inside.to_owned(),
        query: head.uri.query().map(str::to_owned),
        method: head.method,
        headers: head.headers,
        body,
    };
    serving.answerer.answer(incoming).await
}

/// Whether a path has a part that leads up, in any of the ways in which clients of HTTP read one.
fn has_parent_segment(path: &str) -> bool {
    let plain = path.to_ascii_lowercase().replace("%2e", ".");
    let plain = plain.replace("%2f", "/").replace("%5c", "/");
    plain.split(['/', '\\']).any(|part| part == "..")
}

/// An error in the shape of the provider that a path belongs to, of JSON-RPC for the path of an MCP server, or of the door.
pub(crate) fn error_response(path: &str, status: u16, message: &str) -> Response {
    let message = format!("mcptest: {message}");
    let body = if is_door(path) {
        // Nobody can take it for the answer to a call.
        json!({ "message": message })
    } else if path.starts_with("/mcp/") {
        json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32000, "message": message } })
    } else {
        protocol::for_error(path).error(status, &message)
    };
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    // The clients of OpenAI and Anthropic do not ask again where this says so.
    let never = HeaderValue::from_static("false");
    response.headers_mut().insert(SHOULD_RETRY, never);
    response
}

#[cfg(test)]
mod tests {
    use super::has_parent_segment;

    #[test]
    fn a_path_that_leads_up_is_seen_however_it_is_written() {
        for path in [
            "/openai/../x",
            "/openai/v1/%2E%2e/x",
            "/a/.%2e",
            "/a/..\\b",
            "/a%2f..%2Fb",
        ] {
            assert!(has_parent_segment(path), "{path}");
        }
        for path in ["/openai/v1/files/a..b", "/a/...", "/a/./b", "/v1/x.y"] {
            assert!(!has_parent_segment(path), "{path}");
        }
    }
}
