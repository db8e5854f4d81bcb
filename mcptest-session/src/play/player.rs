//! Answers the requests of an endpoint from a recording.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::http::Method;
use axum::response::Response;
use mcptest_trace::eval::{Divergence, DivergenceKind};
use serde_json::Value;
use tokio::sync::Notify;

use super::alignment::Alignment;
use super::compare::Comparison;
use super::options::PlayOptions;
use super::position::{self, Position};
use super::recording::Recording;
use super::server_reply;
use super::state::{BEYOND, Request, State};
use super::wire::{broken_stream, failed_stream, response, whole_response};
use crate::door::{Door, is_door};
use crate::endpoint::{
    Answerer, Answering, Incoming, Provider, UPGRADE_REQUIRED, error_response, refusal,
};
use crate::exchange::{ModelResponse, Part, Tool};
use crate::folders::{Folder, spellings};
use crate::lossless::{Parsed, parse};
use crate::protocol::{self, Protocol, Route};
use crate::record::{digest, without_keys};

/// Plays a recording: it is what an endpoint asks.
#[derive(Debug, Clone)]
pub struct Player(pub(super) Arc<Inner>);

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) recording: Recording,
    pub(super) options: PlayOptions,
    pub(super) state: Mutex<State>,
    pub(super) door: Door,
}

impl Player {
    /// A player of a recording.
    #[must_use]
    pub fn new(mut recording: Recording, options: PlayOptions) -> Self {
        recording.names.add_servers(options.servers.iter().cloned());
        if !options.masks.is_empty() {
            recording.group_openings(&options.masks);
        }
        let mut state = State::default();
        state.folders.clone_from(&recording.folders);
        state
            .folders
            .add(Folder::Current, &spellings(Path::new(".")));
        let door = recording.door(&options, &state);
        Self(Arc::new(Inner {
            recording,
            options,
            state: Mutex::new(state),
            door,
        }))
    }

    /// The folder in which the agent's command runs.
    pub(super) fn set_folder(&self, folder: &Path) {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.folders.add(Folder::Command, &spellings(folder));
        let folders = &state.folders;
        self.door()
            .with_playing(|playing| playing.set_folders(folders));
    }

    /// A text with the folders that the recording has in the place of this run's.
    pub(super) fn with_recorded_folders(&self, text: &str) -> String {
        let state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.folders.replace_in_text(text)
    }

    /// Told when the code asks again and again what was not recorded: the run is to be ended.
    pub(super) fn stop(&self) -> Arc<Notify> {
        let state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&state.stop)
    }

    fn respond(&self, incoming: &Incoming) -> Response {
        if incoming.path.starts_with("/mcp/") {
            return self.answer_mcp_server(incoming);
        }
        let Some((_, path)) = Provider::of_path(&incoming.path) else {
            let names = crate::endpoint::provider_names();
            let text =
                format!("the address does not end with a provider; known providers: {names}");
            self.note_other_request(&incoming.path, &text);
            return error_response(&incoming.path, 404, &text);
        };
        if let Some((status, text)) = refusal(incoming, path) {
            // After a refused upgrade a client may ask by HTTP, which is compared.
            if status != UPGRADE_REQUIRED {
                self.note_other_request(&incoming.path, &text);
            }
            return error_response(&incoming.path, status, &text);
        }
        let known =
            protocol::of_request(path, &incoming.body).filter(|_| incoming.method == Method::POST);
        match known {
            Some((protocol, route)) => self.model_call(incoming, protocol, &route),
            None => self.answer_other(incoming),
        }
    }

    fn model_call(
        &self,
        incoming: &Incoming,
        protocol: &'static dyn Protocol,
        route: &Route,
    ) -> Response {
        let Ok(Parsed {
            value: mut body @ Value::Object(_),
            changes,
        }) = parse(&incoming.body)
        else {
            let text = "the request is no JSON object";
            self.note_other_request(&incoming.path, text);
            return error_response(&incoming.path, 400, text);
        };
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.folders.replace_in(&mut body);
        let mut asked = protocol.parse_request(route, &body);
        asked.streamed |= route.streamed == Some(true);
        let recording = &self.0.recording;
        state.held.complete(protocol, recording, &mut asked);
        let is_first = state.asked == 0;
        state.asked += 1;
        let State {
            given, begun, pads, ..
        } = &mut *state;
        let is_given = |own, answer| given.contains_key(&(own, answer));
        let found = position::find(recording, &asked, is_first, &is_given);
        let found = pads.next_position(recording, found, &asked);
        let request = Request {
            incoming,
            protocol,
            asked,
            changes: changes.into_iter().collect(),
        };
        let Position::At {
            conversation,
            answer,
            is_new,
        } = found
        else {
            let opening = request.asked.opening().unwrap_or_default();
            let opening: String = opening.chars().take(80).collect();
            let text = format!("no recorded conversation begins with `{opening}`");
            return state.note_unrecorded(recording, request, None, &text);
        };
        let (conversation, answer) = position::next_repeated(
            recording,
            (conversation, answer),
            &request.asked,
            begun,
            &is_given,
        );
        let at = (conversation, answer);
        pads.keep(recording, at, &request.asked);
        let own = &recording.conversations[conversation];
        let Some(recorded) = own.moves.get(answer) else {
            if let (Some(failed), true) = (&own.failed, answer == own.moves.len()) {
                // It came to nothing when it was recorded too.
                let rank = own.moves.last().map_or(0, |it| it.rank);
                state.observe_failed(request, rank, failed);
                return error_response(&incoming.path, 400, failed);
            }
            let calls = mcptest_trace::text::pluralize(own.moves.len(), "model call");
            let text = format!("the recording ends here after {calls}");
            return state.note_unrecorded(recording, request, Some((conversation, answer)), &text);
        };
        if state.given.contains_key(&(conversation, answer))
            && let Some(text) = state.count_unrecorded(recording.answers())
        {
            return error_response(&incoming.path, 400, &text);
        }
        let streamed = request.asked.streamed;
        let said = self.compare(&mut state, &request, (conversation, answer), is_new);
        drop(state);
        let tells_tokens = !streamed || protocol.tells_tokens(&body);
        let tokens = said.tokens.filter(|_| tells_tokens);
        let said = ModelResponse { tokens, ..said };
        let framing = protocol.framing(incoming.query.as_deref());
        match &recorded.broken {
            None => whole_response(protocol, &said, streamed.then_some(framing)),
            Some(broken) if streamed => match &said.error {
                Some(error) => failed_stream(protocol, &said, error, framing),
                None => broken_stream(protocol, &said, broken, framing),
            },
            Some(broken) => error_response(&incoming.path, 400, broken),
        }
    }

    /// Holds a request against the recorded one, and keeps what was asked; what is answered.
    fn compare(
        &self,
        state: &mut State,
        request: &Request<'_>,
        (conversation, answer): (usize, usize),
        is_new: bool,
    ) -> ModelResponse {
        let inner = &*self.0;
        let own = &inner.recording.conversations[conversation];
        let recorded = &own.moves[answer];
        let asked = &request.asked;
        state.held.keep((conversation, answer), asked);
        let times = state.given.entry((conversation, answer)).or_default();
        *times += 1;
        let again = *times > 1;
        let reading = Alignment::new(
            &inner.recording,
            (conversation, answer),
            is_new,
            &asked.items,
        );
        let comparison = Comparison {
            recording: &inner.recording,
            options: &inner.options,
            conversation,
            answer,
            reading,
            protocol: request.protocol.name(),
            asked,
        };
        let mut found = comparison.differences();
        let flagged = comparison.with_flags();
        if again {
            let message = "the code sends this request again, although the request was answered";
            let path = format!("model_calls[{answer}]");
            found.push(own.divergence(answer, DivergenceKind::AskedAgain, path, message));
        }
        state.add(recorded.rank, found);
        let said = inner.with_offered_names(&recorded.said, &asked.tools);
        // The same question again adds nothing to what the code did.
        if !again {
            let request = Request {
                asked: flagged,
                changes: request.changes.clone(),
                ..*request
            };
            state.observe(request, recorded.rank, &said, recorded.broken.as_deref());
        }
        said
    }

    /// A request that asks no model: answered as it was, in the order in which it was.
    fn answer_other(&self, incoming: &Incoming) -> Response {
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
            self.note_other_request(&incoming.path, &text);
            return error_response(&incoming.path, 404, &text);
        };
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        let times = state.others.entry(digest).or_default();
        let next = known.get(*times);
        *times += 1;
        drop(state);
        let Some(other) = next.or(known.last()).cloned() else {
            return error_response(&incoming.path, 404, "the recording has no answer");
        };
        if next.is_none() && !other.reads {
            let times = mcptest_trace::text::pluralize(known.len(), "time");
            let text = format!(
                "`{}` was recorded {times}, and the code makes this request once more",
                other.request
            );
            self.note_other_request(&incoming.path, &text);
        }
        let media = other.media_type.as_deref().unwrap_or("application/json");
        response(other.status, media, Body::from(other.body))
    }

    /// A request to an MCP server.
    fn answer_mcp_server(&self, incoming: &Incoming) -> Response {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        let reply = server_reply::reply(&self.0.recording.mcp, &mut state.servers, incoming);
        if let Some((path, message, recorded, played)) = reply.divergence {
            // It is told beside the model call that was made last.
            let call = state.observed.len();
            let rank = state.latest;
            let of = (call, self.0.recording.answers());
            let found = Divergence::new(DivergenceKind::ToolCall, of, path, message);
            state.add(rank, vec![found.with_values(recorded, played)]);
        }
        reply.response
    }

    fn note_other_request(&self, path: &str, message: &str) {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        let of = (0, self.0.recording.answers());
        let found = Divergence::new(DivergenceKind::OtherRequest, of, path, message);
        state.add(BEYOND, vec![found]);
    }
}

impl Answerer for Player {
    fn answer(&self, incoming: Incoming) -> Answering {
        if is_door(&incoming.path) {
            return self.0.door.answer(incoming);
        }
        let player = self.clone();
        Box::pin(async move { player.respond(&incoming) })
    }
}

impl Inner {
    /// An answer as the client that asks can take it: calls have the names under which it offers the tools.
    fn with_offered_names(&self, said: &ModelResponse, offered: &[Tool]) -> ModelResponse {
        let mut said = said.clone();
        let mut named: HashMap<String, Vec<(Option<String>, &str)>> = HashMap::new();
        let has_calls = said.calls().next().is_some();
        for tool in offered.iter().filter(|_| has_calls) {
            let (server, name) = self.recording.tool_name(&tool.name);
            named.entry(name).or_default().push((server, &tool.name));
        }
        for part in &mut said.parts {
            if let Part::Call(call) = part
                && call.native.is_none()
            {
                let server = call.server.take();
                let same = named.get(&call.name).map_or(&[][..], Vec::as_slice);
                let exact = same.iter().find(|(own, _)| *own == server);
                if let Some((_, wire)) = exact.or(same.first()) {
                    (*wire).clone_into(&mut call.name);
                }
            }
        }
        said
    }
}
