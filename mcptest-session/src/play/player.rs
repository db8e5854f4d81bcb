//! Answers the requests of an endpoint from a recording.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::http::Method;
use axum::response::Response;
use mcptest_trace::eval::{Divergence, DivergenceKind};
use serde_json::Value;

use super::compare::Comparison;
use super::held::HeldRequests;
use super::options::PlayOptions;
use super::place::{self, Place};
use super::recording::Recording;
use super::servers::{self, ServersState};
use super::wire::{cut, is_array, response, wants_usage, whole};
use crate::endpoint::{Answerer, Answering, Incoming, Provider, error};
use crate::exchange::{Asked, Part, Said, Tool};
use crate::protocol::{self, Protocol, Route};
use crate::record::{Observed, Outcome, RecordedRun, RunError, RunOptions, digest, without_keys};

/// Plays a recording: it is what an endpoint asks.
#[derive(Debug, Clone)]
pub struct Player(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    recording: Recording,
    options: PlayOptions,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// How often each answer was given.
    given: HashMap<(usize, usize), usize>,
    /// How often each request of another kind was answered.
    others: HashMap<String, usize>,
    /// By the order of the recorded answers, so that the order of parallel requests tells nothing.
    divergences: BTreeMap<(usize, usize), Divergence>,
    seen: HashSet<(DivergenceKind, Option<String>, String)>,
    observed: Vec<Observed>,
    held: HeldRequests,
    /// How many model calls were made.
    asked: usize,
    /// Requests beyond the recording.
    beyond: usize,
    servers: ServersState,
}

/// What came of playing.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Played {
    /// What the agent's code does differently, first what was seen in the first request.
    pub divergences: Vec<Divergence>,
    /// The recorded answers that nobody asked for.
    pub unasked: Vec<Divergence>,
    /// How many model calls were made.
    pub model_calls: usize,
    /// How many model calls the recording holds.
    pub recorded_calls: usize,
}

/// The most requests beyond a recording of which each is told.
const MOST_BEYOND: usize = 20;

/// The order of what stands at no recorded answer.
const BEYOND: usize = usize::MAX / 4;

impl Player {
    /// A player of a recording.
    #[must_use]
    pub fn new(mut recording: Recording, options: PlayOptions) -> Self {
        recording.servers.extend(options.servers.iter().cloned());
        recording.servers.sort_unstable();
        recording.servers.dedup();
        Self(Arc::new(Inner {
            recording,
            options,
            state: Mutex::default(),
        }))
    }

    /// What came of it till now.
    #[must_use]
    pub fn played(&self) -> Played {
        let state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut unasked = Vec::new();
        for (number, conversation) in self.0.recording.conversations.iter().enumerate() {
            for place in 0..conversation.moves.len() {
                if state.given.contains_key(&(number, place)) {
                    continue;
                }
                let message = "the recorded answer was never asked for";
                let path = format!("model_calls[{place}]");
                unasked.push(conversation.divergence(
                    place,
                    DivergenceKind::Unasked,
                    path,
                    message,
                ));
            }
        }
        let mut divergences: Vec<Divergence> = state.divergences.values().cloned().collect();
        let unmade = state.servers.unmade(&self.0.recording.mcp);
        // Where the model asked for it and the code goes on, the code has made its result up.
        let goes_on = |index: usize| {
            let conversations = self.0.recording.conversations.iter().enumerate();
            conversations.into_iter().any(|(number, own)| {
                let place = own.moves.iter().position(|one| one.calls.contains(&index));
                place.is_some_and(|place| state.given.contains_key(&(number, place + 1)))
            })
        };
        for (server, call) in unmade.filter(|(_, call)| call.of_trace().is_none_or(goes_on)) {
            let message = format!(
                "the recorded call of `{}` of the server `{}` is not made",
                call.tool, server.name
            );
            let path = format!("servers[{}].{}", server.name, call.tool);
            let of = (self.0.recording.answers(), self.0.recording.answers());
            let found = Divergence::new(DivergenceKind::ToolCall, of, path, message);
            divergences.push(found.with_values(Some(call.args.clone()), None));
        }
        Played {
            divergences,
            unasked,
            model_calls: state.asked,
            recorded_calls: self.0.recording.answers(),
        }
    }

    /// The run that the agent's code made: a run like a recorded one, the same bytes whenever it is played.
    ///
    /// # Errors
    ///
    /// The code asked no model, or nothing that was recorded.
    pub fn run(&self, options: &RunOptions) -> Result<Value, RunError> {
        let mut observed = {
            let state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.observed.clone()
        };
        observed.sort_by_key(|one| one.asked_at);
        let mut cassette = RecordedRun::of(&observed, options)?.cassette;
        // How long a recording takes to answer tells nothing of the agent.
        let conversation = &mut cassette["trace"]["conversation"];
        without_time(&mut conversation["steps"]);
        without_time(&mut cassette["trace"]["tool_results"]);
        Ok(cassette)
    }

    fn respond(&self, incoming: &Incoming) -> Response {
        if incoming.path.starts_with("/mcp/") {
            return self.server(incoming);
        }
        let Some((_, path)) = Provider::of_path(&incoming.path) else {
            let names = crate::endpoint::names();
            let text = format!("the address ends with no provider; there are {names}");
            self.other_request(&incoming.path, &text);
            return error(&incoming.path, 404, &text);
        };
        let known = protocol::at(path).filter(|_| incoming.method == Method::POST);
        match known {
            Some((protocol, route)) => self.model_call(incoming, protocol, &route),
            None => self.other(incoming),
        }
    }

    fn model_call(
        &self,
        incoming: &Incoming,
        protocol: &'static dyn Protocol,
        route: &Route,
    ) -> Response {
        let Ok(body @ Value::Object(_)) = serde_json::from_slice(&incoming.body) else {
            let text = "the request is no JSON object";
            self.other_request(&incoming.path, text);
            return error(&incoming.path, 400, text);
        };
        let mut asked = protocol.asked(route, &body);
        asked.streamed |= route.streamed == Some(true);
        let inner = &*self.0;
        let mut state = inner.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.held.complete(protocol, &inner.recording, &mut asked);
        let is_first = state.asked == 0;
        state.asked += 1;
        let found = place::of(&inner.recording, &asked, is_first);
        let Place::At {
            conversation,
            answer,
            is_new,
        } = found
        else {
            let opening: String = asked
                .opening()
                .unwrap_or_default()
                .chars()
                .take(80)
                .collect();
            let text = format!("no recorded conversation begins so: `{opening}`");
            return state.beyond(self, incoming, protocol, asked, None, &text);
        };
        let own = &inner.recording.conversations[conversation];
        let Some(recorded) = own.moves.get(answer) else {
            if let (Some(failed), true) = (&own.failed, answer == own.moves.len()) {
                // It came to nothing when it was recorded too.
                let text = failed.clone();
                state.observe_failed(
                    incoming,
                    protocol,
                    asked,
                    own.moves.last().map_or(0, |it| it.rank),
                    &text,
                );
                return error(&incoming.path, 400, &text);
            }
            let calls = mcptest_trace::text::counted(own.moves.len(), "model call");
            let text = format!("the recording ends here after {calls}");
            return state.beyond(
                self,
                incoming,
                protocol,
                asked,
                Some((conversation, answer)),
                &text,
            );
        };
        state.held.keep((conversation, answer), &asked);
        let times = state.given.entry((conversation, answer)).or_default();
        *times += 1;
        let again = *times > 1;
        let comparison = Comparison {
            recording: &inner.recording,
            options: &inner.options,
            conversation,
            answer,
            is_new,
            protocol: protocol.name(),
            asked: &asked,
        };
        let mut found = comparison.differences();
        let flagged = comparison.with_flags();
        if again {
            let message = "it was asked again, though it had been answered";
            let path = format!("model_calls[{answer}]");
            found.push(own.divergence(answer, DivergenceKind::AskedAgain, path, message));
        }
        state.add(recorded.rank, found);
        let said = inner.said(&recorded.said, &asked.tools);
        // The same question again adds nothing to what the code did.
        if !again {
            state.observe(
                incoming,
                protocol,
                flagged,
                recorded.rank,
                &said,
                recorded.broken.as_deref(),
            );
        }
        drop(state);
        // A stream of chats tells its tokens to whoever asks for them.
        let tells_tokens =
            protocol.name() != "openai_chat" || !asked.streamed || wants_usage(&body);
        let tokens = said.tokens.filter(|_| tells_tokens);
        let said = Said { tokens, ..said };
        let as_events = asked.streamed && !is_array(protocol, incoming);
        match &recorded.broken {
            None => whole(protocol, &said, asked.streamed, as_events),
            Some(broken) if asked.streamed => cut(protocol, &said, broken),
            Some(broken) => error(&incoming.path, 400, broken),
        }
    }

    /// A request that asks no model: answered as it was, in the order in which it was.
    fn other(&self, incoming: &Incoming) -> Response {
        let (query, _) = without_keys(incoming.query.as_deref().unwrap_or_default());
        let query = Some(query).filter(|query| !query.is_empty());
        let digest = digest(
            incoming.method.as_str(),
            &incoming.path,
            query.as_deref(),
            &incoming.body,
        );
        let Some(known) = self.0.recording.others.get(&digest) else {
            let text = format!("`{} {}` was not recorded", incoming.method, incoming.path);
            self.other_request(&incoming.path, &text);
            return error(&incoming.path, 404, &text);
        };
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        let times = state.others.entry(digest).or_default();
        let other = known
            .get(*times)
            .or(known.last())
            .cloned()
            .unwrap_or_default();
        *times += 1;
        drop(state);
        let media = other.media_type.as_deref().unwrap_or("application/json");
        response(other.status, media, Body::from(other.body))
    }

    /// A request to an MCP server.
    fn server(&self, incoming: &Incoming) -> Response {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        let reply = servers::reply(&self.0.recording.mcp, &mut state.servers, incoming);
        if let Some((path, message, recorded, played)) = reply.divergence {
            // It is told beside the model call that was made last.
            let call = state.observed.len();
            let rank = state.observed.iter().map(|one| one.asked_at / 2).max();
            let rank = rank
                .and_then(|rank| usize::try_from(rank).ok())
                .unwrap_or_default();
            let of = (call, self.0.recording.answers());
            let found = Divergence::new(DivergenceKind::ToolCall, of, path, message);
            state.add(rank, vec![found.with_values(recorded, played)]);
        }
        reply.response
    }

    fn other_request(&self, path: &str, message: &str) {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        let of = (0, self.0.recording.answers());
        let found = Divergence::new(DivergenceKind::OtherRequest, of, path, message);
        state.add(BEYOND, vec![found]);
    }
}

impl Answerer for Player {
    fn answer(&self, incoming: Incoming) -> Answering {
        let player = self.clone();
        Box::pin(async move { player.respond(&incoming) })
    }
}

impl Inner {
    /// An answer as the client that asks can take it: calls have the names under which it offers the tools.
    fn said(&self, said: &Said, offered: &[Tool]) -> Said {
        let mut said = said.clone();
        for part in &mut said.parts {
            if let Part::Call(call) = part
                && call.native.is_none()
            {
                let own = (call.server.take(), call.name.clone());
                let named: Vec<_> = offered
                    .iter()
                    .map(|tool| (self.recording.tool_name(&tool.name), &tool.name))
                    .filter(|((_, name), _)| *name == own.1)
                    .collect();
                let exact = named.iter().find(|((server, _), _)| *server == own.0);
                if let Some((_, wire)) = exact.or(named.first()) {
                    call.name.clone_from(wire);
                }
            }
        }
        said
    }
}

impl State {
    fn add(&mut self, rank: usize, found: Vec<Divergence>) {
        for one in found {
            let is_new = self
                .seen
                .insert((one.kind, one.conversation.clone(), one.path.clone()));
            if is_new {
                let number = self.divergences.len();
                self.divergences.insert((rank, number), one);
            }
        }
    }

    /// A model call that was not recorded.
    fn beyond(
        &mut self,
        player: &Player,
        incoming: &Incoming,
        protocol: &'static dyn Protocol,
        asked: Asked,
        place: Option<(usize, usize)>,
        text: &str,
    ) -> Response {
        let recording = &player.0.recording;
        let own = place.map(|(conversation, _)| &recording.conversations[conversation]);
        let number = self.beyond;
        self.beyond += 1;
        let call = place.map_or(self.observed.len(), |(_, answer)| answer) + 1;
        let of = own.map_or(recording.answers(), |own| own.moves.len());
        // A loop without an end is told by its first calls.
        if number >= MOST_BEYOND {
            return error(&incoming.path, 400, text);
        }
        let path = format!("model_calls[+{number}]");
        let found = Divergence::new(DivergenceKind::AnotherCall, (call, of), path, text)
            .of(own.and_then(|own| own.name.clone()))
            .with_values(None, asked.opening().map(Value::from));
        self.add(BEYOND, vec![found]);
        self.observe_failed(incoming, protocol, asked, BEYOND + number, text);
        error(&incoming.path, 400, text)
    }

    fn observe_failed(
        &mut self,
        incoming: &Incoming,
        protocol: &'static dyn Protocol,
        asked: Asked,
        rank: usize,
        text: &str,
    ) {
        let outcome = Outcome::Failed {
            status: 400,
            message: text.to_owned(),
        };
        self.observed
            .push(observed(incoming, protocol, asked, rank, outcome));
    }

    fn observe(
        &mut self,
        incoming: &Incoming,
        protocol: &'static dyn Protocol,
        asked: Asked,
        rank: usize,
        said: &Said,
        broken: Option<&str>,
    ) {
        let outcome = Outcome::Said {
            said: said.clone(),
            broken: broken.map(str::to_owned),
        };
        self.observed
            .push(observed(incoming, protocol, asked, rank, outcome));
    }
}

fn observed(
    incoming: &Incoming,
    protocol: &'static dyn Protocol,
    asked: Asked,
    rank: usize,
    outcome: Outcome,
) -> Observed {
    // Not the clock says when, but the place in the recording: so parallel requests make the same run each time.
    let at = u64::try_from(rank)
        .unwrap_or(u64::MAX / 4)
        .saturating_mul(2);
    Observed {
        protocol: Some(protocol),
        method: incoming.method.to_string(),
        path: incoming.path.clone(),
        query: None,
        digest: String::new(),
        asked: Some(asked.into()),
        asked_at: at,
        ended_at: Some(at + 1),
        outcome,
        gone: false,
    }
}

fn without_time(all: &mut Value) {
    for one in all.as_array_mut().into_iter().flatten() {
        if let Some(one) = one.as_object_mut() {
            one.remove("duration_ms");
        }
    }
}
