//! How far a recording is played, and what was told.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use axum::response::Response;
use mcptest_trace::eval::{Divergence, DivergenceKind};
use serde_json::Value;
use tokio::sync::Notify;

use super::held_requests::HeldRequests;
use super::recording::Recording;
use super::scratchpads::Scratchpads;
use super::servers::ServersState;
use crate::door::Ticks;
use crate::endpoint::{Incoming, error_response};
use crate::exchange::{ModelRequest, ModelResponse};
use crate::folders::FolderMap;
use crate::lossless::Change;
use crate::protocol::Protocol;
use crate::record::{Observed, Outcome, Pool};

/// The most requests beyond a recording of which each is told.
const MOST_BEYOND: usize = 20;

/// After so many requests that were not recorded, the run is ended.
const MOST_UNRECORDED: usize = 50;

/// The order of what stands at no recorded answer.
pub(super) const BEYOND: usize = usize::MAX / 4;

#[derive(Debug, Default)]
pub(super) struct State {
    /// How often each answer was given.
    pub(super) given: HashMap<(usize, usize), usize>,
    /// How many answers to a question that was answered several times are given, from the first one on.
    pub(super) begun: HashMap<usize, usize>,
    /// How often each request of another kind was answered.
    pub(super) others: HashMap<String, usize>,
    /// By the order of the recorded answers, so that the order of parallel requests tells nothing.
    pub(super) divergences: BTreeMap<(usize, usize), Divergence>,
    pub(super) seen: HashSet<(DivergenceKind, Option<String>, String)>,
    pub(super) observed: Vec<Observed>,
    /// Requests hold what earlier ones held.
    pool: Pool,
    /// The last place in the recording at which something was asked.
    pub(super) latest: usize,
    pub(super) held: HeldRequests,
    pub(super) pads: Scratchpads,
    /// How many model calls were made.
    pub(super) asked: usize,
    /// Requests beyond the recording.
    pub(super) beyond: usize,
    pub(super) servers: ServersState,
    /// What numbers all that happens.
    pub(super) ticks: Ticks,
    /// The folders of this run.
    pub(super) folders: FolderMap,
    /// Requests that were not recorded: beyond the recording, or once more.
    unrecorded: usize,
    /// Told when there are too many of these.
    pub(super) stop: Arc<Notify>,
}

impl State {
    pub(super) fn add(&mut self, rank: usize, found: Vec<Divergence>) {
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

    /// Counts a request that was not recorded. If there are too many of them, the run ends: what the request is answered.
    pub(super) fn count_unrecorded(&mut self, of: usize) -> Option<String> {
        self.unrecorded += 1;
        if self.unrecorded < MOST_UNRECORDED {
            return None;
        }
        let text =
            format!("the run was ended after {MOST_UNRECORDED} requests that were not recorded");
        if self.unrecorded == MOST_UNRECORDED {
            let call = (self.observed.len().max(1), of);
            let path = "model_calls[+]";
            let found = Divergence::new(DivergenceKind::AnotherCall, call, path, text.as_str());
            self.add(BEYOND, vec![found]);
            self.stop.notify_one();
        }
        Some(text)
    }

    /// A model call that was not recorded.
    pub(super) fn note_unrecorded(
        &mut self,
        recording: &Recording,
        Request {
            incoming,
            protocol,
            asked,
            changes,
        }: Request<'_>,
        place: Option<(usize, usize)>,
        text: &str,
    ) -> Response {
        let own = place.map(|(conversation, _)| &recording.conversations[conversation]);
        if let Some(text) = self.count_unrecorded(recording.answers()) {
            return error_response(&incoming.path, 400, &text);
        }
        let number = self.beyond;
        self.beyond += 1;
        let call = place.map_or(self.observed.len(), |(_, answer)| answer) + 1;
        let of = own.map_or(recording.answers(), |own| own.moves.len());
        // A loop without an end is told by its first calls.
        if number >= MOST_BEYOND {
            return error_response(&incoming.path, 400, text);
        }
        let path = format!("model_calls[+{number}]");
        let found = Divergence::new(DivergenceKind::AnotherCall, (call, of), path, text)
            .in_conversation(own.and_then(|own| own.name.clone()))
            .with_values(None, asked.opening().map(Value::from));
        self.add(BEYOND, vec![found]);
        let request = Request {
            incoming,
            protocol,
            asked,
            changes,
        };
        self.observe_failed(request, BEYOND + number, text);
        error_response(&incoming.path, 400, text)
    }

    pub(super) fn observe_failed(&mut self, request: Request<'_>, rank: usize, text: &str) {
        let outcome = Outcome::Failed {
            status: 400,
            message: text.to_owned(),
        };
        self.push_observed(request, rank, outcome);
    }

    pub(super) fn observe(
        &mut self,
        request: Request<'_>,
        rank: usize,
        said: &ModelResponse,
        broken: Option<&str>,
    ) {
        let outcome = Outcome::Answered {
            said: said.clone(),
            broken: broken.map(str::to_owned),
        };
        self.push_observed(request, rank, outcome);
    }

    fn push_observed(&mut self, request: Request<'_>, rank: usize, outcome: Outcome) {
        self.latest = self.latest.max(rank);
        let mut observed = request.into_observed(rank, outcome, &mut self.pool);
        observed.tick = self.ticks.next();
        self.observed.push(observed);
    }
}

/// A request for an answer of a model.
#[derive(Debug)]
pub(super) struct Request<'i> {
    pub(super) incoming: &'i Incoming,
    pub(super) protocol: &'static dyn Protocol,
    pub(super) asked: ModelRequest,
    /// What of it was read otherwise than it is written.
    pub(super) changes: BTreeSet<Change>,
}

impl Request<'_> {
    fn into_observed(self, rank: usize, outcome: Outcome, pool: &mut Pool) -> Observed {
        // Not the clock says when, but the place in the recording: so parallel requests make the same run each time.
        let at = u64::try_from(rank)
            .unwrap_or(u64::MAX / 4)
            .saturating_mul(2);
        Observed {
            protocol: Some(self.protocol),
            method: self.incoming.method.to_string(),
            path: self.incoming.path.clone(),
            query: None,
            digest: String::new(),
            asked: Some(pool.share(self.asked)),
            asked_at: at,
            ended_at: Some(at + 1),
            tick: 0,
            outcome,
            gone: false,
            changes: self.changes,
        }
    }
}
