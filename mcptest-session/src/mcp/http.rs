//! A server over HTTP: requests go on to it and answers come back, byte for byte; a copy is read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::{Body, Bytes};
use axum::http::header::{ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use futures_util::StreamExt as _;
use reqwest::Client;
use serde_json::{Value, json};

use super::frames::{EventStream, Frame, WholeBody};
use super::messages::{Messages, Speaker};
use super::rpc;
use super::stdio::session_id;
use super::traffic_log::ServerObserver;
use crate::endpoint::{Answering, Incoming, end_to_end_headers};

/// A server over HTTP.
#[derive(Debug, Clone)]
pub(super) struct HttpProxy(Arc<ProxyState>);

#[derive(Debug)]
struct ProxyState {
    client: Client,
    url: String,
    bearer: Option<String>,
    /// The messages of each session; of a server that has none, those of each request.
    scopes: Mutex<HashMap<String, Scope>>,
}

#[derive(Debug)]
struct Scope {
    ear: ServerObserver,
    messages: Messages<usize>,
}

impl HttpProxy {
    pub(super) fn new(client: Client, url: &str, bearer: Option<&str>) -> Self {
        Self(Arc::new(ProxyState {
            client,
            url: url.to_owned(),
            bearer: bearer.map(str::to_owned),
            scopes: Mutex::default(),
        }))
    }

    /// Answers a request.
    pub(super) fn answer(&self, ear: ServerObserver, incoming: Incoming) -> Answering {
        let own = self.clone();
        Box::pin(async move { own.forward(ear, incoming).await })
    }

    fn scopes(&self) -> MutexGuard<'_, HashMap<String, Scope>> {
        self.0.scopes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads what goes by in a scope.
    fn read_frame(&self, scope: &str, ear: &ServerObserver, speaker: Speaker, frame: Frame) {
        let mut scopes = self.scopes();
        let scope = scopes.entry(scope.to_owned()).or_insert_with(|| Scope {
            ear: ear.clone(),
            messages: Messages::default(),
        });
        scope.messages.take(speaker, frame, &mut scope.ear);
    }

    async fn forward(self, ear: ServerObserver, incoming: Incoming) -> Response {
        let frame = Frame::parse(&incoming.body);
        let message = match &frame {
            Some(Frame::Message(message, _)) => message.clone(),
            _ => Value::Null,
        };
        if message["method"] == "tools/call"
            && let Some(answer) = ear.answer_in_place(&message).await
        {
            return answer;
        }
        let session = session_id(&incoming.headers);
        let hearing = AnswerReader {
            passage: self.clone(),
            ear,
            is_alone: session.is_none(),
            scope: session.unwrap_or_else(|| format!("#{}", incoming.number)),
            id: message["id"].clone(),
            asked: describe_request(&message),
            answer: BodyReader::Nothing,
            status: StatusCode::OK,
            broken: None,
        };
        if let Some(frame) = frame {
            self.read_frame(&hearing.scope, &hearing.ear, Speaker::Client, frame);
        }
        hearing.ear.watch.keep_credentials(&incoming.headers);
        let mut headers = end_to_end_headers(&incoming.headers);
        // What is compressed could not be read.
        headers.remove(ACCEPT_ENCODING);
        if let Some(bearer) = &self.0.bearer
            && let Ok(mut value) = HeaderValue::from_str(&format!("Bearer {bearer}"))
        {
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let request = self.0.client.request(incoming.method, &self.0.url);
        let mut request = request.headers(headers);
        if !incoming.body.is_empty() {
            request = request.body(incoming.body);
        }
        match request.send().await {
            Ok(answer) => hearing.send_back(answer),
            Err(error) => {
                let words = crate::record::error_text(&error.without_url());
                hearing.ear.note_failure(hearing.ear.unanswered_failure(
                    &hearing.asked,
                    &words,
                    None,
                ));
                let text = format!(
                    "the server `{}` cannot be reached: {words}",
                    hearing.ear.server
                );
                rpc::error_response(StatusCode::BAD_GATEWAY, &message["id"], &text)
            }
        }
    }
}

/// The tool that a message calls, else its method.
fn describe_request(message: &Value) -> String {
    let method = message["method"].as_str().unwrap_or("a request");
    let tool = message["params"]["name"].as_str();
    tool.filter(|_| method == "tools/call")
        .unwrap_or(method)
        .to_owned()
}

/// Passes an answer of the server back, and reads its messages while it comes.
struct AnswerReader {
    passage: HttpProxy,
    ear: ServerObserver,
    scope: String,
    /// The scope is of this request alone.
    is_alone: bool,
    id: Value,
    asked: String,
    answer: BodyReader,
    status: StatusCode,
    /// Why the answer broke off.
    broken: Option<String>,
}

enum BodyReader {
    Nothing,
    Whole(WholeBody),
    Events(EventStream),
}

impl AnswerReader {
    /// Passes an answer back while it comes.
    fn send_back(mut self, answer: reqwest::Response) -> Response {
        let kind = answer.headers().get(CONTENT_TYPE);
        let is_events = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        self.status = answer.status();
        self.answer = if answer.headers().contains_key(CONTENT_ENCODING) {
            self.broken =
                Some("it is compressed, although the client did not ask for it".to_owned());
            BodyReader::Nothing
        } else if is_events {
            BodyReader::Events(EventStream::default())
        } else {
            BodyReader::Whole(WholeBody::default())
        };
        let (status, headers) = (answer.status(), end_to_end_headers(answer.headers()));
        let body = answer.bytes_stream().map(move |part| {
            match &part {
                Ok(bytes) => self.take(bytes),
                Err(error) => self.broken = Some(crate::record::error_text(error)),
            }
            part
        });
        let mut back = Response::new(Body::from_stream(body));
        *back.status_mut() = status;
        *back.headers_mut() = headers;
        back
    }

    fn take(&mut self, bytes: &Bytes) {
        let mut frames = Vec::new();
        match &mut self.answer {
            BodyReader::Nothing => {}
            BodyReader::Whole(whole) => whole.take(bytes),
            BodyReader::Events(events) => events.take(bytes, |frame| frames.push(frame)),
        }
        for frame in frames {
            self.read_frame(frame);
        }
    }

    fn read_frame(&self, frame: Frame) {
        if let Frame::Unreadable(text) = &frame {
            self.ear
                .note_failure(self.ear.unreadable_failure(&self.asked, text));
        }
        self.passage
            .read_frame(&self.scope, &self.ear, Speaker::Server, frame);
    }

    /// The call of this request, where it waits for its answer still.
    fn open_call(&self) -> Option<usize> {
        let scopes = self.passage.scopes();
        scopes.get(&self.scope)?.messages.waiting(&self.id).copied()
    }
}

impl Drop for AnswerReader {
    /// The answer has ended, or its client has gone.
    fn drop(&mut self) {
        if let BodyReader::Whole(whole) = std::mem::replace(&mut self.answer, BodyReader::Nothing)
            && let Some(frame) = whole.end()
        {
            self.read_frame(frame);
        }
        if let Some(call) = self.open_call() {
            if self.status.as_u16() >= 400 {
                let text = format!("the server answered {}", self.status);
                let error = json!({ "id": self.id, "error": { "message": text } });
                self.read_frame(Frame::Message(error, Vec::new()));
            } else if let Some(broken) = &self.broken {
                // A client may ask for the rest of a stream, so it is not told yet that none came.
                let failure = self.ear.unanswered_failure(&self.asked, broken, None);
                self.ear.watch.note_broken_call(call, failure);
            }
        }
        if self.is_alone {
            self.passage.scopes().remove(&self.scope);
        }
    }
}
