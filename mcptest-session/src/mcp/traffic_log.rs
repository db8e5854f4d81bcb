//! What is kept of all servers of a session: what went by, and why the run is not one.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::Value;

use super::call_order::{CallFate, CallOrder};
use super::messages::{Answer, Listener, failed_result};
use super::rpc;
use super::traffic::{McpAnswer, McpCall, McpTraffic};
use crate::door::{OwnCall, Strike, Ticks};
use crate::endpoint::credentials;

/// How long an answer of the model may take to be read that a client has already.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// How much is shown of what is no message, in characters.
const SHOWN: usize = 2_000;

/// A server that gave no answer: no run is known then.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerFailure {
    /// The server.
    pub server: String,
    /// What is wrong, as a sentence that names the server.
    pub problem: String,
    /// How it ended, and the last it said.
    pub shown: Option<String>,
}

/// Keeps what goes by at all servers of a session.
#[derive(Debug, Clone)]
pub(crate) struct TrafficLog(Arc<TrafficState>);

#[derive(Debug)]
struct TrafficState {
    began: Instant,
    ticks: Ticks,
    seen: Mutex<McpTraffic>,
    /// The answers that went by, by their signs.
    known: Mutex<HashMap<u64, Vec<usize>>>,
    failure: Mutex<Option<ServerFailure>>,
    /// Why calls may stay without an answer.
    broken: Mutex<Vec<(usize, ServerFailure)>>,
    order: Option<Mutex<CallOrder>>,
    logins: Mutex<Vec<String>>,
    /// A call was refused, as the run may make no more.
    refused: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl TrafficLog {
    pub(super) fn new(
        (began, ticks): (Instant, Ticks),
        servers: Vec<String>,
        order: Option<CallOrder>,
    ) -> Self {
        let seen = McpTraffic {
            servers,
            ..McpTraffic::default()
        };
        Self(Arc::new(TrafficState {
            began,
            ticks,
            seen: Mutex::new(seen),
            known: Mutex::default(),
            failure: Mutex::default(),
            broken: Mutex::default(),
            order: order.map(Mutex::new),
            logins: Mutex::default(),
            refused: AtomicBool::default(),
        }))
    }

    fn now(&self) -> u64 {
        u64::try_from(self.0.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// What went by till now.
    pub(super) fn traffic(&self) -> McpTraffic {
        lock(&self.0.seen).clone()
    }

    /// Notes that a server gave no answer. The first one counts: others follow from it.
    pub(super) fn note_failure(&self, failure: ServerFailure) {
        lock(&self.0.failure).get_or_insert(failure);
    }

    /// Notes why a call may stay without an answer.
    pub(super) fn note_broken_call(&self, call: usize, failure: ServerFailure) {
        lock(&self.0.broken).push((call, failure));
    }

    /// Why what went by makes no run.
    pub(super) fn failure(&self) -> Option<ServerFailure> {
        let noted = lock(&self.0.failure).clone();
        let seen = lock(&self.0.seen);
        let unanswered = |call: &usize| {
            seen.calls
                .get(*call)
                .is_some_and(|call| call.ended_at.is_none())
        };
        let broken = || {
            let broken = lock(&self.0.broken);
            let mut left = broken.iter().filter(|(call, _)| unanswered(call));
            left.next().map(|(_, failure)| failure.clone())
        };
        noted.or_else(broken)
    }

    /// A fault that was for a call which reached no server: the name of the fault, and of the tool.
    pub(super) fn missed_fault(&self) -> Option<(String, String)> {
        let order = self.0.order.as_ref()?;
        let seen = lock(&self.0.seen);
        lock(order).missed_fault(&seen)
    }

    /// Waits until it is known whether the model asked for a call of an own tool: a client may call a tool before
    /// the end of the stream that asks for it.
    pub(crate) async fn wait_until_requested(&self, call: &OwnCall) {
        let Some(order) = self.0.order.as_ref() else {
            return;
        };
        let is_known = {
            let seen = lock(&self.0.seen);
            lock(order).is_requested(&seen, call)
        };
        if !is_known {
            let log = lock(order).log();
            log.wait_until_idle(LAST_WORDS).await;
        }
    }

    /// The fault that strikes a call of an own tool. `is_outer`: it is made inside of no other.
    pub(crate) fn fault_for(&self, call: &OwnCall, is_outer: bool) -> Option<Strike> {
        let order = self.0.order.as_ref()?;
        let seen = lock(&self.0.seen);
        lock(order).own_tool_fault(&seen, call, is_outer)
    }

    /// Whether a call was refused, as the run may make no more.
    pub(super) fn has_refused(&self) -> bool {
        self.0.refused.load(Ordering::Relaxed)
    }

    /// Keeps what a client logs in with.
    pub(super) fn keep_credentials(&self, headers: &HeaderMap) {
        let mut known = lock(&self.0.logins);
        for login in credentials(headers) {
            if !known.iter().any(|known| known == login) {
                known.push(login.to_owned());
            }
        }
    }

    /// What clients logged in with.
    pub(super) fn credentials(&self) -> Vec<String> {
        lock(&self.0.logins).clone()
    }

    /// The answer to a call that reaches no server: a fault strikes it, or the run may make no more calls.
    async fn answer_in_place(&self, server: &str, message: &Value) -> Option<Response> {
        let order = self.0.order.as_ref()?;
        let (tool, args) = super::messages::tool_call(message)?;
        let decide = || {
            let seen = lock(&self.0.seen);
            lock(order).decide(&seen, server, tool, &args)
        };
        let mut fate = decide();
        if fate == CallFate::Unasked {
            // A client may call a tool before the end of the stream that asks for it.
            let log = lock(order).log();
            log.wait_until_idle(LAST_WORDS).await;
            fate = decide();
        }
        let id = &message["id"];
        match fate {
            CallFate::Passes | CallFate::Unasked => None,
            CallFate::Refused => {
                self.0.refused.store(true, Ordering::Relaxed);
                let text = "no more tool calls may be made in this run: its cap is reached";
                Some(rpc::error_response(StatusCode::OK, id, text))
            }
            CallFate::Struck { result, mark } => {
                let now = self.now();
                lock(&self.0.seen).calls.push(McpCall {
                    server: server.to_owned(),
                    tool: tool.to_owned(),
                    args,
                    asked_at: now,
                    ended_at: Some(now),
                    result: Some(result.clone()),
                    synthesized: Some(mark),
                    tick: self.0.ticks.next(),
                    ..McpCall::default()
                });
                let answer = rpc::result(id, &result).to_string();
                Some(rpc::message_response(StatusCode::OK, answer))
            }
        }
    }
}

/// Hears what goes by at one server, and notes it.
#[derive(Debug, Clone)]
pub(super) struct ServerObserver {
    pub(super) watch: TrafficLog,
    pub(super) server: String,
}

impl ServerObserver {
    /// The answer to a call that does not reach the server.
    pub(super) async fn answer_in_place(&self, message: &Value) -> Option<Response> {
        self.watch.answer_in_place(&self.server, message).await
    }

    /// Notes that this server gave no answer.
    pub(super) fn note_failure(&self, failure: ServerFailure) {
        self.watch.note_failure(failure);
    }

    /// What is said where this server gave no answer.
    pub(super) fn unanswered_failure(
        &self,
        asked: &str,
        how: &str,
        shown: Option<String>,
    ) -> ServerFailure {
        let server = &self.server;
        ServerFailure {
            server: server.clone(),
            problem: format!("the server `{server}` gave no answer to `{asked}`: {how}"),
            shown,
        }
    }

    /// What is said where this server answered with what nobody can read.
    pub(super) fn unreadable_failure(&self, asked: &str, said: &str) -> ServerFailure {
        let server = &self.server;
        ServerFailure {
            server: server.clone(),
            problem: format!("the answer of the server `{server}` to `{asked}` is no JSON"),
            shown: Some(said.chars().take(SHOWN).collect()),
        }
    }

    fn end_call(&self, call: usize, result: Value, error: Option<Value>) {
        let now = self.watch.now();
        if let Some(call) = lock(&self.watch.0.seen).calls.get_mut(call) {
            call.ended_at = Some(now);
            call.result = Some(result);
            call.error = error;
        }
    }
}

/// A hash of an answer. Equal answers have equal hashes; others rarely share one.
fn hash_answer(answer: &McpAnswer) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&answer.server, &answer.method, &answer.params).hash(&mut hasher);
    (&answer.result, &answer.error).hash(&mut hasher);
    hasher.finish()
}

impl Listener for ServerObserver {
    type Call = usize;

    fn on_call(&mut self, tool: &str, args: Value) -> usize {
        let now = self.watch.now();
        let mut seen = lock(&self.watch.0.seen);
        seen.calls.push(McpCall {
            server: self.server.clone(),
            tool: tool.to_owned(),
            args,
            asked_at: now,
            tick: self.watch.0.ticks.next(),
            ..McpCall::default()
        });
        seen.calls.len() - 1
    }

    fn on_return(&mut self, call: usize, answer: Answer) {
        let result = answer.to_tool_result();
        let error = match answer {
            Answer::Result(_) | Answer::Unread { .. } => None,
            Answer::Error(error) => Some(error),
        };
        self.end_call(call, result, error);
    }

    fn on_give_up(&mut self, call: usize) {
        self.end_call(
            call,
            failed_result("the client stopped waiting for this call"),
            None,
        );
    }

    fn on_answer(&mut self, method: &str, params: Value, answer: Answer) {
        let (result, error) = match answer {
            Answer::Result(result) => (Some(result), None),
            Answer::Error(error) => (None, Some(error)),
            // Nothing of it is known.
            Answer::Unread { .. } => return,
        };
        let answer = McpAnswer {
            server: self.server.clone(),
            method: method.to_owned(),
            params,
            result,
            error,
        };
        let mut seen = lock(&self.watch.0.seen);
        let mut known = lock(&self.watch.0.known);
        let alike = known.entry(hash_answer(&answer)).or_default();
        // A client may ask for the same list before each call.
        if !alike.iter().any(|place| seen.answers[*place] == answer) {
            alike.push(seen.answers.len());
            seen.answers.push(answer);
        }
    }
}
