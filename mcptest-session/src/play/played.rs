//! What came of playing a recording.

use std::collections::HashSet;
use std::sync::PoisonError;

use mcptest_trace::eval::{Divergence, DivergenceKind};
use serde_json::Value;

use super::own_inside::NestedParts;
use super::player::Player;
use super::state::State;
use crate::record::{RecordedRun, RunError, RunOptions};

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

impl Player {
    /// What came of it till now.
    #[must_use]
    pub fn played(&self) -> Played {
        let state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        let inside = self.nested_parts();
        let mut unasked = Vec::new();
        for (number, conversation) in self.0.recording.conversations.iter().enumerate() {
            for place in 0..conversation.moves.len() {
                if state.given.contains_key(&(number, place)) || inside.has_answer(number, place) {
                    continue;
                }
                let message = "the code never asks for the recorded answer";
                let path = format!("model_calls[{place}]");
                unasked.push(conversation.divergence(
                    place,
                    DivergenceKind::Unasked,
                    path,
                    message,
                ));
            }
        }
        unasked.extend(self.unmade_others(&state, &inside));
        let mut divergences: Vec<Divergence> = state.divergences.values().cloned().collect();
        let unmade = state.servers.missing_calls(&self.0.recording.mcp);
        // If the model asked for a call and the code goes on, the code has made the result up.
        let mut went_on: HashSet<usize> = HashSet::new();
        for (number, own) in self.0.recording.conversations.iter().enumerate() {
            for (place, one) in own.moves.iter().enumerate() {
                if state.given.contains_key(&(number, place + 1)) {
                    went_on.extend(&one.calls);
                }
            }
        }
        let answers = self.0.recording.answers();
        let goes_on = |index| went_on.contains(&index);
        let unmade = unmade.filter(|(server, place, call)| {
            call.trace_index().is_none_or(goes_on) && !inside.has_server_call(&server.name, *place)
        });
        for (server, _, call) in unmade {
            let message = format!(
                "the code does not make the recorded call of `{}` of the server `{}`",
                call.tool, server.name
            );
            let path = format!("servers[{}].{}", server.name, call.tool);
            let of = (answers, answers);
            let found = Divergence::new(DivergenceKind::ToolCall, of, path, message);
            divergences.push(found.with_values(Some(call.args.clone()), None));
        }
        Played {
            divergences,
            unasked,
            model_calls: state.asked,
            recorded_calls: answers,
        }
    }

    /// The recorded requests that ask no model and are not made. Clients keep what they only read, such as a list of
    /// models: once is enough then.
    fn unmade_others(&self, state: &State, inside: &NestedParts<'_>) -> Vec<Divergence> {
        let recording = &self.0.recording;
        let unmade = recording.others.iter().flat_map(|(digest, known)| {
            let made = state.others.get(digest).copied().unwrap_or_default();
            let left = known.get(made..).unwrap_or_default();
            left.iter().filter(move |one| made == 0 || !one.reads)
        });
        let mut unmade: Vec<_> = unmade.filter(|one| !inside.has_other(one.number)).collect();
        unmade.sort_unstable_by_key(|one| one.number);
        // Each that only reads is told once.
        let mut read = HashSet::new();
        unmade.retain(|one| !one.reads || read.insert(&one.request));
        let answers = recording.answers();
        let unmade = unmade.into_iter().map(|one| {
            let message = format!(
                "the code does not make the recorded request `{}`",
                one.request
            );
            let path = format!("others[{}]", one.number);
            let of = (answers, answers);
            Divergence::new(DivergenceKind::Unasked, of, path, message)
        });
        unmade.collect()
    }

    /// What the program says to the user otherwise than it did.
    pub(super) fn closing_divergences(&self, run: &RunOptions) -> Vec<Divergence> {
        let inner = &*self.0;
        let kind = DivergenceKind::FinalResponse;
        if inner.options.compared.ignore.contains(&kind) {
            return Vec::new();
        }
        let calls = inner.recording.answers();
        let closing = &inner.recording.closing;
        closing.differences(run, &inner.options.masks, calls)
    }

    /// The run that the agent's code made: a run like a recorded one, the same bytes whenever it is played.
    ///
    /// # Errors
    ///
    /// The code asked no model, or nothing that was recorded.
    pub fn run(&self, options: &RunOptions) -> Result<Value, RunError> {
        let mut options = options.clone();
        let mut observed = {
            let state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
            let mut observed = state.observed.clone();
            options.own_calls = self.add_nested(&state, &mut observed);
            observed
        };
        observed.sort_by_key(|one| one.asked_at);
        let mut cassette = RecordedRun::from_observed(&observed, &options)?.cassette;
        // How long a recording takes to answer tells nothing of the agent.
        for place in [
            "/trace/conversation/steps",
            "/trace/tool_results",
            "/session/tools",
        ] {
            remove_durations(cassette.pointer_mut(place));
        }
        Ok(cassette)
    }
}

fn remove_durations(all: Option<&mut Value>) {
    for one in all.and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(one) = one.as_object_mut() {
            one.remove("duration_ms");
            one.remove("ms");
        }
    }
}
