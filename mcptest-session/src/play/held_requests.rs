//! What a request has of the one before it, where the provider holds the talk and the client sends only what is new.

use std::collections::HashMap;

use super::recording::Recording;
use crate::exchange::{ModelRequest, Tool};
use crate::protocol::Protocol;

/// The system prompt and the tools of the requests that were answered, by the place of the answer.
#[derive(Debug, Default)]
pub(super) struct HeldRequests(HashMap<(usize, usize), (Option<String>, Vec<Tool>)>);

impl HeldRequests {
    /// Gives a request what it has of the answered one that it goes on with.
    pub(super) fn complete(
        &self,
        protocol: &'static dyn Protocol,
        recording: &Recording,
        asked: &mut ModelRequest,
    ) {
        let before = asked
            .previous
            .as_deref()
            .and_then(|id| recording.find_answer(id));
        let held = before.filter(|_| protocol.keeps_request());
        if let Some((system, tools)) = held.and_then(|place| self.0.get(&place)) {
            if asked.system.is_none() {
                asked.system.clone_from(system);
            }
            if asked.tools.is_empty() {
                asked.tools.clone_from(tools);
            }
        }
    }

    /// Keeps a request that is answered.
    pub(super) fn keep(&mut self, place: (usize, usize), asked: &ModelRequest) {
        self.0
            .insert(place, (asked.system.clone(), asked.tools.clone()));
    }
}
