//! A server over standard streams, offered as one over HTTP. It is one process for all sessions that a client begins,
//! so that what it keeps in mind holds for the whole run.

mod state;

use std::io;
use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::{Body, Bytes};
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::Response;
use serde_json::Value;
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::UnboundedReceiverStream;

use super::child::{self, Child, OutputHandler};
use super::frames::Frame;
use super::messages::{Speaker, is_same_id};
use super::server::McpTransport;
use super::traffic_log::ServerObserver;
use super::{bytes, rpc};
use crate::endpoint::{Answering, Incoming};
use crate::protocol::blob::hex;
use state::{InitializeState, PendingRequest, State, client_id, with_value};

/// Which session a request is of.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// A server over standard streams.
#[derive(Debug)]
pub(super) struct Bridge {
    talk: Arc<StdioLink>,
    /// Until it is ended.
    child: Mutex<Option<Child>>,
}

/// The connection of all clients to the one process: what is written to it, and who waits for its answers.
#[derive(Debug)]
struct StdioLink {
    input: UnboundedSender<Vec<u8>>,
    state: Mutex<State>,
    /// Woken when the server has answered its first `initialize`, and when it has ended.
    greeted: Notify,
}

impl Bridge {
    /// Starts the server.
    pub(super) fn start(
        place: &McpTransport,
        file: Option<&Path>,
        ear: ServerObserver,
    ) -> io::Result<Self> {
        let McpTransport::Command {
            command,
            folder,
            environment,
        } = place
        else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let (input, told) = unbounded_channel();
        let talk = Arc::new(StdioLink {
            input,
            state: Mutex::new(State::new(ear)),
            greeted: Notify::new(),
        });
        let hears = Arc::clone(&talk) as Arc<dyn OutputHandler>;
        let child = child::start(command, folder, environment, file, told, hears)?;
        let child = Mutex::new(Some(child));
        Ok(Self { talk, child })
    }

    /// Answers a request.
    pub(super) fn answer(&self, incoming: Incoming) -> Answering {
        let talk = Arc::clone(&self.talk);
        Box::pin(async move { talk.answer(incoming).await })
    }

    /// What the server said till now that is no message.
    pub(super) fn other_output(&self) -> Option<String> {
        let child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        child.as_ref().and_then(Child::other_output)
    }

    /// Ends the server.
    pub(super) async fn end(&self) {
        let child = self
            .child
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(child) = child {
            child.end().await;
        }
    }
}

impl StdioLink {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn answer(&self, incoming: Incoming) -> Response {
        let session = session_id(&incoming.headers);
        self.lock().ear.watch.keep_credentials(&incoming.headers);
        if let Some(session) = &session
            && !self.lock().sessions.contains(session)
        {
            let text = "this session has ended, or never began";
            return rpc::error_response(StatusCode::NOT_FOUND, &Value::Null, text);
        }
        match incoming.method {
            Method::POST => self.post(&incoming).await,
            Method::GET => self.open_stream(&incoming.headers),
            Method::DELETE => {
                if let Some(session) = session {
                    self.lock().sessions.remove(&session);
                }
                rpc::empty_response(StatusCode::NO_CONTENT)
            }
            _ => rpc::empty_response(StatusCode::METHOD_NOT_ALLOWED),
        }
    }

    /// A client listens for what is no answer.
    fn open_stream(&self, headers: &HeaderMap) -> Response {
        if !accepts_events(headers) {
            return rpc::empty_response(StatusCode::NOT_ACCEPTABLE);
        }
        let (to, from) = unbounded_channel();
        let mut state = self.lock();
        for held in std::mem::take(&mut state.held) {
            // It is there: it was made just now.
            let _ = to.send(held);
        }
        if state.ended.is_none() {
            state.streams.push(to);
        }
        event_stream(from)
    }

    async fn post(&self, incoming: &Incoming) -> Response {
        let bad = |text: &str| rpc::error_response(StatusCode::BAD_REQUEST, &Value::Null, text);
        let message = match Frame::parse(&incoming.body) {
            Some(Frame::Message(message, _)) if message.is_object() => message,
            Some(Frame::Message(..)) => return bad("send one message at a time"),
            Some(Frame::Unreadable(_)) | None => {
                return bad("the request is no message of JSON-RPC");
            }
        };
        let is_request = message["method"].is_string() && !message["id"].is_null();
        if !is_request {
            self.forward_notification(&message, incoming);
            return rpc::empty_response(StatusCode::ACCEPTED);
        }
        if message["method"] == "tools/call" {
            let ear = self.lock().ear.clone();
            if let Some(answer) = ear.answer_in_place(&message).await {
                return answer;
            }
        }
        if message["method"] == "initialize" {
            return self.initialize(&message, incoming).await;
        }
        self.forward_request(&message, incoming).await
    }

    /// Begins a session of a client. The server is greeted once: it is one process.
    async fn initialize(&self, message: &Value, incoming: &Incoming) -> Response {
        loop {
            let mut greeted = pin!(self.greeted.notified());
            greeted.as_mut().enable();
            let greeting = {
                let mut state = self.lock();
                let before = state.greeting.clone();
                if before == InitializeState::None {
                    state.greeting = InitializeState::Pending;
                }
                before
            };
            let mut response = match greeting {
                InitializeState::None => self.forward_request(message, incoming).await,
                InitializeState::Pending => {
                    greeted.await;
                    continue;
                }
                InitializeState::Known(answer) => rpc::message_response(
                    StatusCode::OK,
                    with_value(&answer, &["id"], &client_id(&incoming.body))
                        .unwrap_or_else(|| answer.into()),
                ),
            };
            let mut random = [0; 16];
            // Without chance the sessions of clients are not told apart.
            if getrandom::fill(&mut random).is_ok()
                && let Ok(name) = HeaderValue::from_str(&hex(&random))
            {
                self.lock().sessions.insert(hex(&random));
                response.headers_mut().insert(SESSION, name);
            }
            return response;
        }
    }

    /// Passes a request on, and its answer back.
    async fn forward_request(&self, message: &Value, incoming: &Incoming) -> Response {
        let takes_events = accepts_events(&incoming.headers);
        let (to, mut from) = unbounded_channel();
        {
            let mut state = self.lock();
            let state = &mut *state;
            let method = message["method"].as_str().unwrap_or_default();
            let tool = message["params"]["name"]
                .as_str()
                .filter(|_| method == "tools/call");
            let mut waiting = PendingRequest {
                id: message["id"].clone(),
                own: None,
                session: session_id(&incoming.headers),
                method: method.to_owned(),
                asked: tool.unwrap_or(method).to_owned(),
                progress: message["params"]["_meta"]["progressToken"].clone(),
                takes_events,
                to,
            };
            if let Some(shown) = state.ended.clone() {
                waiting.fail(&state.ear, shown);
            } else {
                let mut line = bytes::to_one_line(&incoming.body);
                let is_taken = state.waiting.iter().any(|other| other.id == waiting.id);
                let mut message = message.clone();
                if is_taken {
                    state.renamed += 1;
                    let id = format!("mcptest-{}", state.renamed);
                    let renamed = with_value(&line, &["id"], format!("\"{id}\"").as_bytes());
                    if let Some(renamed) = renamed {
                        waiting.own = Some(client_id(&incoming.body));
                        waiting.id = id.into();
                        message["id"] = waiting.id.clone();
                        line = renamed;
                    }
                }
                // Told before it goes on: no answer may be heard before what it answers.
                state.read_message(Speaker::Client, message);
                state.waiting.push(waiting);
                let _ = self.input.send(line);
            }
        }
        if takes_events {
            return event_stream(from);
        }
        match from.recv().await {
            Some(answer) => rpc::message_response(StatusCode::OK, answer),
            None => rpc::error_response(StatusCode::BAD_GATEWAY, &message["id"], "no answer came"),
        }
    }

    /// Passes on what is not answered.
    fn forward_notification(&self, message: &Value, incoming: &Incoming) {
        let session = session_id(&incoming.headers);
        let mut state = self.lock();
        let mut line = bytes::to_one_line(&incoming.body);
        let mut message = message.clone();
        match message["method"].as_str() {
            Some("notifications/initialized") if std::mem::replace(&mut state.is_greeted, true) => {
                return;
            }
            Some("notifications/cancelled") => {
                let wanted = message["params"]["requestId"].clone();
                let own = wanted.to_string();
                let is_it = |waiting: &&PendingRequest| {
                    let is_own = waiting.own.as_deref() == Some(own.as_bytes());
                    is_own && waiting.session == session
                };
                let renamed = state.waiting.iter().find(is_it);
                if let Some(id) = renamed.map(|waiting| waiting.id.clone()) {
                    let path = ["params", "requestId"];
                    line =
                        self::with_value(&line, &path, id.to_string().as_bytes()).unwrap_or(line);
                    message["params"]["requestId"] = id;
                }
            }
            _ => {}
        }
        state.read_message(Speaker::Client, message);
        let _ = self.input.send(line);
    }
}

impl OutputHandler for StdioLink {
    fn on_line(&self, line: &[u8]) -> bool {
        let Some(frame) = Frame::parse(line) else {
            return false;
        };
        let mut state = self.lock();
        let state = &mut *state;
        let Frame::Message(message, _) = &frame else {
            // Whose answer it was is not known, so nobody waits for it in vain.
            let shown = String::from_utf8_lossy(line).into_owned();
            for waiting in std::mem::take(&mut state.waiting) {
                waiting.fail_unreadable(&state.ear, &shown);
            }
            return true;
        };
        if message["method"].is_string() {
            state.route(&message.clone(), Bytes::copy_from_slice(line));
            return true;
        }
        let waits = |same: fn(&Value, &Value) -> bool| {
            let mut waiting = state.waiting.iter();
            waiting.position(|it| same(&it.id, &message["id"]))
        };
        let place = waits(Value::eq).or_else(|| waits(is_same_id));
        let waiting = place.map(|place| state.waiting.remove(place));
        let is_error = message.get("error").is_some_and(|it| !it.is_null());
        state.messages.take(Speaker::Server, frame, &mut state.ear);
        let Some(waiting) = waiting else {
            return true;
        };
        let own = waiting
            .own
            .as_deref()
            .and_then(|own| with_value(line, &["id"], own));
        let answer = own.map_or_else(|| Bytes::copy_from_slice(line), Bytes::from);
        if waiting.method == "initialize" {
            state.greeting = if is_error {
                InitializeState::None
            } else {
                InitializeState::Known(answer.clone())
            };
            self.greeted.notify_waiters();
        }
        // A client that has gone needs no answer.
        let _ = waiting.to.send(answer);
        true
    }

    fn on_end(&self, shown: Option<String>) {
        let mut state = self.lock();
        for waiting in std::mem::take(&mut state.waiting) {
            waiting.fail(&state.ear, shown.clone());
        }
        state.streams.clear();
        state.greeting = InitializeState::None;
        state.ended = Some(shown);
        self.greeted.notify_waiters();
    }
}

/// The session that a request names.
pub(super) fn session_id(headers: &HeaderMap) -> Option<String> {
    let session = headers.get(SESSION)?.to_str().ok()?;
    Some(session.to_owned())
}

fn accepts_events(headers: &HeaderMap) -> bool {
    let mut accepted = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok());
    accepted.any(|value| value.contains("text/event-stream"))
}

/// Messages as they come, as server-sent events.
fn event_stream(from: UnboundedReceiver<Bytes>) -> Response {
    let events = UnboundedReceiverStream::new(from).map(|message| {
        let event = [b"event: message\ndata: ", &message[..], b"\n\n"].concat();
        Ok::<_, io::Error>(Bytes::from(event))
    });
    let mut response = Response::new(Body::from_stream(events));
    let kind = HeaderValue::from_static("text/event-stream");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
