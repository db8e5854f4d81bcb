//! Between clients and a server over HTTP: streamable HTTP, and the older pair of a stream and posts.
//!
//! Requests and answers keep their method, path, headers and bytes. What is of one connection alone, and
//! which encodings a client takes, does not go further: what is compressed could not be read.

mod door;
mod sessions;

use std::io::{Write as _, stdout};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::thread;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::serve::ListenerExt as _;
use mcptest::command::command_line;
use mcptest_session::endpoint::{credentials, end_to_end_headers, query_credentials};
use mcptest_session::mcp::messages::Speaker;
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use tokio::net::TcpListener;
use tokio_stream::{Stream, StreamExt as _};

use self::door::{AnnouncedEndpoint, Door};
use self::sessions::{ExchangeEvent, Head, Sessions};
use super::{Proxy, RecordedSession};
use crate::address::redact;
use crate::failure::Failure;

/// Which session a request is of.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Relays until the process is told to stop; the exit code.
pub(super) fn run(
    proxy: &Proxy,
    url: &str,
    begin: &(impl Fn() -> Result<RecordedSession, Failure> + Sync),
) -> Result<u8, Failure> {
    let url = Url::parse(url)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(|| {
            Failure::new(format!("`{}` is no HTTP address", redact(url))).with_help(
                "write the address of the server, for example `--url https://example.com/mcp`",
            )
        })?;
    // The first in a process wins, and there is no other.
    rustls::crypto::ring::default_provider()
        .install_default()
        .ok();
    let client = Client::builder()
        .redirect(Policy::none())
        .build()
        .map_err(|error| Failure::new(format!("no connection can be made: {error}")))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    thread::scope(|scope| {
        let (seen, passing) = mpsc::channel();
        let known = url_credentials(&url);
        let recorder = scope.spawn(move || Sessions::new(begin, known).record(&passing));
        let served = runtime.block_on(serve(proxy, url, client, seen));
        // Streams that are still open hold the other end.
        runtime.shutdown_background();
        let sessions = recorder
            .join()
            .map_err(|_| Failure::new("the recording of these sessions broke off"))??;
        served?;
        let used = sessions.into_iter().filter(|(run, _)| run.is_used());
        let sessions: Vec<RecordedSession> = used.collect();
        let (last, mut whole) = (sessions.len(), true);
        for (number, run) in (1..).zip(sessions) {
            whole &= proxy.finish(run, number == last)?.is_whole();
        }
        Ok(u8::from(!whole))
    })
}

/// The query of a request: that of the server's address, which may hold a key, and that of the client.
fn join_queries(own: Option<&str>, of_client: Option<&str>) -> Option<String> {
    let name = |pair: &str| pair.split('=').next().unwrap_or_default().to_owned();
    let pairs = |query: Option<&'_ str>| -> Vec<String> {
        let pairs = query.into_iter().flat_map(|query| query.split('&'));
        let pairs = pairs.filter(|pair| !pair.is_empty());
        pairs.map(str::to_owned).collect()
    };
    let of_client = pairs(of_client);
    let is_new = |own: &String| !of_client.iter().any(|pair| name(pair) == name(own));
    let mut all = pairs(own);
    all.retain(is_new);
    all.extend(of_client);
    (!all.is_empty()).then(|| all.join("&"))
}

/// What an address logs in with.
fn url_credentials(url: &Url) -> Vec<String> {
    let password = url.password().map(str::to_owned);
    let query = url.query().map(query_credentials);
    password
        .into_iter()
        .chain(query.into_iter().flatten())
        .collect()
}

async fn serve(
    proxy: &Proxy,
    url: Url,
    client: Client,
    seen: Sender<ExchangeEvent>,
) -> Result<(), Failure> {
    let cannot = |error| {
        Failure::new(format!(
            "the address `{}` cannot be opened: {error}",
            proxy.listen
        ))
        .with_help("give a free address of this machine, for example `--listen 127.0.0.1:0`")
    };
    let listener = TcpListener::bind(&proxy.listen).await.map_err(cannot)?;
    let here = listener.local_addr()?;
    // A message is small, and is waited for.
    let listener = listener.tap_io(|connection| _ = connection.set_nodelay(true));
    let door = Door::new(here, &proxy.listen)?;
    writeln!(stdout(), "listening on {}", door.address(here, url.path()))?;
    stdout().flush()?;
    let relay = Relay {
        door: door.into(),
        client,
        url,
        seen: Arc::new(Mutex::new(Some(seen))),
        exchanges: Arc::default(),
    };
    let told = relay.seen.clone();
    let router = Router::new().fallback(handle_exchange).with_state(relay);
    tokio::select! {
        served = async { axum::serve(listener, router).await } => served.map_err(cannot)?,
        () = wait_for_stop() => {}
    }
    // Nothing more is looked at, though streams may still be open.
    if let Ok(mut seen) = told.lock() {
        seen.take();
    }
    Ok(())
}

/// When the process is told to stop.
#[cfg(unix)]
async fn wait_for_stop() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminated) => tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminated.recv() => {}
        },
        Err(_) => {
            tokio::signal::ctrl_c().await.ok();
        }
    }
}

/// When the process is told to stop.
#[cfg(not(unix))]
async fn wait_for_stop() {
    tokio::signal::ctrl_c().await.ok();
}

#[derive(Clone)]
struct Relay {
    door: Arc<Door>,
    client: Client,
    url: Url,
    seen: Arc<Mutex<Option<Sender<ExchangeEvent>>>>,
    exchanges: Arc<AtomicU64>,
}

impl Relay {
    /// Tells of what has gone by. Who looks on has no say in what goes through.
    fn send_event(&self, what: ExchangeEvent) {
        if let Ok(seen) = self.seen.lock()
            && let Some(seen) = &*seen
        {
            seen.send(what).ok();
        }
    }

    /// The bytes of a body as they go by.
    fn tee_body<E, S: Stream<Item = Result<Bytes, E>>>(
        &self,
        exchange: u64,
        side: Speaker,
        body: S,
    ) -> impl Stream<Item = Result<Bytes, E>> + use<E, S> {
        let passing = TeedBody(self.clone(), exchange, side);
        body.map(move |part| {
            if let Ok(bytes) = &part {
                passing
                    .0
                    .send_event(ExchangeEvent::Bytes(exchange, side, bytes.clone()));
            }
            part
        })
    }
}

/// A body that goes by; tells at the end that its side has said all, or was cut off.
struct TeedBody(Relay, u64, Speaker);

impl Drop for TeedBody {
    fn drop(&mut self) {
        self.0.send_event(ExchangeEvent::Said(self.1, self.2));
    }
}

/// One request to the server, and its answer back.
async fn handle_exchange(State(relay): State<Relay>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let path = match relay.door.authorize(&head) {
        Ok(path) => path,
        Err((status, why)) => {
            return (status, command_line(&format!("proxy: {why}"))).into_response();
        }
    };
    let number = relay.exchanges.fetch_add(1, Ordering::Relaxed);
    let own = credentials(&head.headers).map(str::to_owned);
    let of_query = head.uri.query().map(query_credentials);
    relay.send_event(ExchangeEvent::Asked {
        number,
        session: session_id(&head.headers),
        logins: own.chain(of_query.into_iter().flatten()).collect(),
    });
    let mut url = relay.url.clone();
    url.set_path(&path);
    url.set_query(join_queries(relay.url.query(), head.uri.query()).as_deref());
    let mut headers = end_to_end_headers(&head.headers);
    headers.remove(ACCEPT_ENCODING);
    let request = relay.client.request(head.method, url).headers(headers);
    // Where there is no body, none is begun.
    let request = if body.is_end_stream() {
        request
    } else {
        let body = relay.tee_body(number, Speaker::Client, body.into_data_stream());
        request.body(reqwest::Body::wrap_stream(body))
    };
    let answer = match request.send().await {
        Ok(answer) => answer,
        Err(error) => {
            relay.send_event(ExchangeEvent::Said(number, Speaker::Server));
            let error = error.without_url();
            let said = command_line(&format!(
                "proxy: `{}` cannot be reached: {error}",
                redact(relay.url.as_str())
            ));
            return (StatusCode::BAD_GATEWAY, said).into_response();
        }
    };
    let media_type = answer.headers().get(CONTENT_TYPE);
    relay.send_event(ExchangeEvent::Answers(
        number,
        Head {
            session: session_id(answer.headers()),
            is_stream: media_type
                .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream")),
            is_compressed: answer.headers().contains_key(CONTENT_ENCODING),
        },
    ));
    let (status, headers) = (answer.status(), end_to_end_headers(answer.headers()));
    let announced = AnnouncedEndpoint::new(&relay.door);
    let body = relay.tee_body(number, Speaker::Server, answer.bytes_stream());
    let body = announced.watch(body);
    let mut back = Response::new(Body::from_stream(body));
    *back.status_mut() = status;
    *back.headers_mut() = headers;
    back
}

fn session_id(headers: &HeaderMap) -> Option<String> {
    let session = headers.get(SESSION)?.to_str().ok()?;
    Some(session.to_owned())
}
