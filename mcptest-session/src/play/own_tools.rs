//! Own tools, played: what the recording has of them, and what the code does otherwise.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use mcptest_trace::eval::Divergence;

use super::options::PlayOptions;
use super::player::Player;
use super::recording::Recording;
use super::state::State;
use crate::door::{Door, Playing, RecordedOwn};

impl Recording {
    /// The door behind which its tools are played.
    pub(super) fn door(&self, options: &PlayOptions, state: &State) -> Door {
        let mut recorded = self.own_tools.clone();
        for (id, places) in &self.call_ids {
            let calls = places.iter().map(|place| place.call);
            recorded.ids.insert(id.clone(), calls.collect());
        }
        let mut playing = Playing::new(recorded, options.compared.clone(), options.masks.clone());
        playing.runs_in(&state.folders);
        Door::plays(
            playing.with_stop(Arc::clone(&state.stop)),
            state.ticks.clone(),
        )
    }
}

impl Player {
    /// The door of the session.
    pub(crate) fn door(&self) -> &Door {
        &self.0.door
    }

    /// What the code does otherwise with its own tools.
    pub(super) fn own_tools(&self) -> Vec<Divergence> {
        let recording = &self.0.recording;
        let mut answer_of: HashMap<usize, (usize, usize)> = HashMap::new();
        for (number, own) in recording.conversations.iter().enumerate() {
            for (place, one) in own.moves.iter().enumerate() {
                let calls = one.calls.iter();
                answer_of.extend(calls.map(|call| (*call, (number, place))));
            }
        }
        let state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        let goes_on = |call: &RecordedOwn| {
            let answer = match call.step.filter(|_| call.in_text) {
                Some(step) => Some((0, step)),
                None => call.call.and_then(|call| answer_of.get(&call)).copied(),
            };
            let Some((number, place)) = answer else {
                return true;
            };
            let is_given = |place: usize| state.given.contains_key(&(number, place));
            let moves = &recording.conversations[number].moves;
            // The run ended after it, or the next answer was asked for.
            is_given(place) && (place + 1 >= moves.len() || is_given(place + 1))
        };
        let answers = recording.answers();
        let made = |tick: u64| {
            let before = state.observed.partition_point(|one| one.tick < tick);
            before.min(answers)
        };
        self.door().told(answers, &made, &goes_on)
    }
}

/// Puts what the code does otherwise with its own tools where it does it: after the model calls that were made before.
pub(super) fn insert(found: Vec<Divergence>, all: &mut Vec<Divergence>) {
    for one in found {
        let is_later = |other: &Divergence| other.conversation.is_none() && other.call > one.call;
        let place = all.iter().position(is_later).unwrap_or(all.len());
        all.insert(place, one);
    }
}
