//! What is known of the talk with a server: who waits for an answer, and who listens.

use std::collections::{HashSet, VecDeque};

use axum::body::Bytes;
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

use crate::mcp::frames::Frame;
use crate::mcp::messages::{Messages, Speaker};
use crate::mcp::traffic_log::ServerObserver;
use crate::mcp::{bytes, rpc};

/// The most messages that wait for a client to listen.
const MOST_HELD: usize = 1_000;

#[derive(Debug)]
pub(super) struct State {
    pub(super) ear: ServerObserver,
    pub(super) messages: Messages<usize>,
    pub(super) waiting: Vec<PendingRequest>,
    /// Streams that clients opened for what is no answer.
    pub(super) streams: Vec<UnboundedSender<Bytes>>,
    /// What no stream took yet.
    pub(super) held: VecDeque<Bytes>,
    pub(super) greeting: InitializeState,
    /// Whether the server was told that its greeting arrived.
    pub(super) is_greeted: bool,
    pub(super) sessions: HashSet<String>,
    pub(super) renamed: usize,
    /// How it ended, and the last it said.
    pub(super) ended: Option<Option<String>>,
}

/// What the server said to `initialize`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum InitializeState {
    None,
    Pending,
    Known(Bytes),
}

/// A request that waits for its answer.
#[derive(Debug)]
pub(super) struct PendingRequest {
    /// The identifier as the server has it, and as the client wrote it.
    pub(super) id: Value,
    pub(super) own: Option<Vec<u8>>,
    /// The session that it is of.
    pub(super) session: Option<String>,
    pub(super) method: String,
    /// The tool that is called, else the method.
    pub(super) asked: String,
    pub(super) progress: Value,
    pub(super) takes_events: bool,
    pub(super) to: UnboundedSender<Bytes>,
}

impl State {
    pub(super) fn new(ear: ServerObserver) -> Self {
        Self {
            ear,
            messages: Messages::default(),
            waiting: Vec::new(),
            streams: Vec::new(),
            held: VecDeque::new(),
            greeting: InitializeState::None,
            is_greeted: false,
            sessions: HashSet::new(),
            renamed: 0,
            ended: None,
        }
    }

    pub(super) fn read_message(&mut self, speaker: Speaker, message: Value) {
        let frame = Frame::Message(message, Vec::new());
        self.messages.take(speaker, frame, &mut self.ear);
    }

    /// Where a message goes that is no answer: to the call whose progress it tells, else to whoever listens.
    pub(super) fn route(&mut self, message: &Value, line: Bytes) {
        let token = &message["params"]["progressToken"];
        let tells = |waiting: &&PendingRequest| {
            waiting.takes_events && !token.is_null() && waiting.progress == *token
        };
        let of_call = self.waiting.iter().rev().find(tells);
        if of_call.is_some_and(|waiting| waiting.to.send(line.clone()).is_ok()) {
            return;
        }
        self.streams.retain(|stream| !stream.is_closed());
        let mut listening = self.streams.iter().rev();
        let mut waiting = self
            .waiting
            .iter()
            .rev()
            .filter(|waiting| waiting.takes_events);
        let is_taken = listening.any(|stream| stream.send(line.clone()).is_ok())
            || waiting.any(|waiting| waiting.to.send(line.clone()).is_ok());
        if !is_taken && self.held.len() < MOST_HELD {
            self.held.push_back(line);
        }
    }
}

impl PendingRequest {
    /// No answer comes any more.
    pub(super) fn fail(&self, ear: &ServerObserver, shown: Option<String>) {
        ear.note_failure(ear.unanswered_failure(&self.asked, "the connection is closed", shown));
        self.refuse(&format!("the server `{}` has ended", ear.server));
    }

    /// What the server said is no message.
    pub(super) fn fail_unreadable(&self, ear: &ServerObserver, line: &str) {
        ear.note_failure(ear.unreadable_failure(&self.asked, line));
        self.refuse(&format!(
            "a message of the server `{}` is no JSON",
            ear.server
        ));
    }

    pub(super) fn refuse(&self, text: &str) {
        let own = self.own.as_deref();
        let own = own.and_then(|own| serde_json::from_slice(own).ok());
        let answer = rpc::error(&own.unwrap_or_else(|| self.id.clone()), text);
        // A client that has gone needs no answer.
        let _ = self.to.send(answer.to_string().into());
    }
}

/// A message with another value at a place.
pub(super) fn with_value(message: &[u8], path: &[&str], value: &[u8]) -> Option<Vec<u8>> {
    let place = bytes::find_member(message, path)?;
    Some(bytes::replace(message, place, value))
}

/// The identifier of a request, as its client wrote it.
pub(super) fn client_id(body: &[u8]) -> Vec<u8> {
    let place = bytes::find_member(body, &["id"]);
    place.map_or_else(|| b"null".to_vec(), |place| body[place].to_vec())
}
