//! Own tools, played: what the recording has of them, and what the code does otherwise.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use mcptest_trace::eval::{Divergence, DivergenceKind};
use mcptest_trace::trace::canonical_json;

use super::options::PlayOptions;
use super::player::Player;
use super::recording::Recording;
use super::state::State;
use crate::door::{CallPlayer, Door, RecordedOwnCall};

/// The conversation of a call, and when the answer after the call was asked for.
type NextAnswer = (usize, Option<u64>);

impl Recording {
    /// The door behind which its tools are played.
    pub(super) fn door(&self, options: &PlayOptions, state: &State) -> Door {
        let mut recorded = self.own_tools.clone();
        for (id, places) in &self.call_ids {
            let calls = places.iter().map(|place| place.call);
            recorded.ids.insert(id.clone(), calls.collect());
        }
        let mut playing =
            CallPlayer::new(recorded, options.compared.clone(), options.masks.clone());
        playing.set_folders(&state.folders);
        Door::playing(
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
    pub(super) fn own_tool_divergences(&self) -> Vec<Divergence> {
        let recording = &self.0.recording;
        let mut answer_of: HashMap<usize, (usize, usize)> = HashMap::new();
        for (number, own) in recording.conversations.iter().enumerate() {
            for (place, one) in own.moves.iter().enumerate() {
                let calls = one.calls.iter();
                answer_of.extend(calls.map(|call| (*call, (number, place))));
            }
        }
        let state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = |call: &RecordedOwnCall| match call.step.filter(|_| call.in_text) {
            Some(step) => Some((0, step)),
            None => call.call.and_then(|call| answer_of.get(&call)).copied(),
        };
        let goes_on = |call: &RecordedOwnCall| {
            let Some((number, place)) = answer(call) else {
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
        let mut all = self.door().divergences_with(answers, &made, &goes_on);
        // When an answer was given first.
        let first = |(number, place): (usize, usize)| {
            let rank = recording.conversations[number].moves.get(place)?.rank;
            let at = u64::try_from(rank).ok()?.checked_mul(2)?;
            let given = state.observed.iter().find(|one| one.asked_at == at)?;
            Some(given.tick)
        };
        let given_at = |call: &RecordedOwnCall| first(answer(call)?);
        all.extend(self.early_calls(answers, &made, &given_at));
        let next = |call: &RecordedOwnCall| {
            let (number, place) = answer(call)?;
            Some((number, first((number, place + 1))))
        };
        all.extend(self.late_calls(answers, &made, &next));
        all
    }

    /// Recorded calls that the code makes after it asked the model again, though the model was told what they gave. `next`:
    /// the conversation of a call, and when the answer after it was asked for. Calls that may be one of another
    /// conversation, as they are equal, are left out.
    fn late_calls(
        &self,
        answers: usize,
        made: &dyn Fn(u64) -> usize,
        next: &dyn Fn(&RecordedOwnCall) -> Option<NextAnswer>,
    ) -> Vec<Divergence> {
        if !self.0.options.masks.is_empty() {
            return Vec::new();
        }
        let recorded = &self.0.recording.own_tools.calls;
        let conversation =
            |call: &RecordedOwnCall| next(call).filter(|_| call.tells).map(|(own, _)| own);
        // Of equal calls: the conversation that all are of, if all tell the model what they gave.
        let mut of: HashMap<(String, String), Option<usize>> = HashMap::new();
        for call in recorded {
            let own = conversation(call);
            let known = of.entry(call_key(call)).or_insert(own);
            *known = known.filter(|known| own == Some(*known));
        }
        let mut told = Vec::new();
        for call in self.door().calls() {
            let known = call.recorded.and_then(|place| recorded.get(place));
            let Some(known) = known.filter(|known| of[&call_key(known)].is_some()) else {
                continue;
            };
            let asked = next(known).and_then(|(_, asked)| asked);
            if asked.is_none_or(|asked| call.began < asked) {
                continue;
            }
            let name = &call.name;
            let words =
                format!("the code calls the tool `{name}` after the model was told its result");
            let of = (made(call.began), answers);
            let path = format!("tools[{name}]");
            let found = Divergence::new(DivergenceKind::ToolCall, of, path, words);
            told.push(found.with_values(None, Some(call.args)));
        }
        told
    }

    /// Recorded calls that the code makes before the model asked for them. Calls that may be one another, as they are equal,
    /// are left out.
    fn early_calls(
        &self,
        answers: usize,
        made: &dyn Fn(u64) -> usize,
        given_at: &dyn Fn(&RecordedOwnCall) -> Option<u64>,
    ) -> Vec<Divergence> {
        if !self.0.options.masks.is_empty() {
            return Vec::new();
        }
        let recorded = &self.0.recording.own_tools.calls;
        let mut equal: HashMap<(String, String), usize> = HashMap::new();
        for call in recorded {
            *equal.entry(call_key(call)).or_default() += 1;
        }
        let mut told = Vec::new();
        for call in self.door().calls() {
            let Some(known) = call.recorded.and_then(|place| recorded.get(place)) else {
                continue;
            };
            let is_one_of = !known.told && equal[&call_key(known)] == 1;
            if !is_one_of || given_at(known).is_none_or(|given| given < call.began) {
                continue;
            }
            let name = &call.name;
            let words = format!("the code calls the tool `{name}` before the model asks for it");
            let of = (made(call.began), answers);
            let path = format!("tools[{name}]");
            let found = Divergence::new(DivergenceKind::ToolCall, of, path, words);
            told.push(found.with_values(None, Some(call.args)));
        }
        told
    }
}

/// What equal calls have in common.
fn call_key(call: &RecordedOwnCall) -> (String, String) {
    (call.own.name.clone(), canonical_json(&call.own.args))
}

/// Puts what the code does otherwise with its own tools where it does it: after the model calls that were made before.
pub(super) fn insert_own_tools(found: Vec<Divergence>, all: &mut Vec<Divergence>) {
    for one in found {
        let is_later = |other: &Divergence| other.conversation.is_none() && other.call > one.call;
        let place = all.iter().position(is_later).unwrap_or(all.len());
        all.insert(place, one);
    }
}
