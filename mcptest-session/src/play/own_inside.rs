//! What a recording has inside of a call of an own tool: when that is given back, nobody asks for it. It is put into the
//! played run from the recording.

use std::collections::{HashMap, HashSet};

use super::conversation::Role;
use super::player::Player;
use super::recording::Recording;
use super::state::State;
use crate::door::OwnCall;
use crate::exchange::{Item, ModelRequest, Part, ToolResult};
use crate::protocol;
use crate::record::{Observed, Outcome, Pool};

/// How far apart things stand that are put into a run.
const STEP: u64 = 64;

/// Whether something was asked for inside of calls that were given back.
fn is_inside(open: &[usize], gone: &HashSet<usize>) -> bool {
    !open.is_empty() && open.iter().all(|run| gone.contains(run))
}

/// What nobody asks for, as the call was given back inside of which it was asked for.
pub(super) struct NestedParts<'r> {
    recording: &'r Recording,
    /// The recorded calls that were given back, and those inside of them.
    gone: HashSet<usize>,
    /// The conversations that were held inside of calls alone.
    held: HashSet<usize>,
}

impl<'r> NestedParts<'r> {
    pub(super) fn new(recording: &'r Recording, gone: HashSet<usize>) -> Self {
        let all = recording.conversations.iter().enumerate();
        // What goes on outside was not asked for by the tool.
        let held = all.filter(|(_, own)| {
            own.role != Role::Main && own.moves.iter().all(|one| !one.during.is_empty())
        });
        Self {
            held: held.map(|(number, _)| number).collect(),
            recording,
            gone,
        }
    }

    pub(super) fn has_answer(&self, conversation: usize, place: usize) -> bool {
        let answer = &self.recording.conversations[conversation].moves[place];
        self.held.contains(&conversation) && is_inside(&answer.during, &self.gone)
    }

    pub(super) fn has_server_call(&self, server: &str, place: usize) -> bool {
        let calls = &self.recording.during.server_calls;
        let open = calls.get(&(server.to_owned(), place));
        open.is_some_and(|open| is_inside(open, &self.gone))
    }

    pub(super) fn has_other(&self, number: usize) -> bool {
        let open = self.recording.during.others.get(&number);
        open.is_some_and(|open| is_inside(open, &self.gone))
    }

    /// The answers that nobody asked for, in the order in which they were given.
    fn answers(&self, state: &State) -> Vec<(usize, usize)> {
        let all = self.recording.conversations.iter().enumerate();
        let places = all.flat_map(|(number, own)| (0..own.moves.len()).map(move |it| (number, it)));
        let places = places.filter(|(number, place)| {
            !state.given.contains_key(&(*number, *place)) && self.has_answer(*number, *place)
        });
        let mut places: Vec<(usize, usize)> = places.collect();
        let rank = |(number, place): &(usize, usize)| {
            self.recording.conversations[*number].moves[*place].rank
        };
        places.sort_by_key(rank);
        places
    }
}

impl Player {
    /// What was not asked for, as calls of own tools were given back.
    pub(super) fn nested_parts(&self) -> NestedParts<'_> {
        let gone = self.door().with_playing(|playing| playing.replayed_calls());
        NestedParts::new(&self.0.recording, gone.unwrap_or_default())
    }

    /// Adds to what went by what the recording has inside of calls that were given back.
    pub(super) fn add_nested(&self, state: &State, observed: &mut Vec<Observed>) -> Vec<OwnCall> {
        let mut own = self.door().calls();
        let inside = self.nested_parts();
        let recording = &self.0.recording;
        let recorded = &recording.own_tools.calls;
        // For each recorded call that was made, its place in the played run.
        let mut places: HashMap<usize, usize> = HashMap::new();
        for (place, call) in own.iter().enumerate() {
            places.extend(call.recorded.map(|recorded| (recorded, place)));
        }
        let nested = self.door().with_playing(|playing| playing.nested());
        let nested = nested.unwrap_or_default();
        let mut pool = Pool::default();
        let mut next: HashMap<usize, u64> = HashMap::new();
        let mut of_call: HashMap<usize, u64> = HashMap::new();
        for (conversation, place) in inside.answers(state) {
            let answer = &recording.conversations[conversation].moves[place];
            let mut open = answer.during.iter();
            let outer = open.find_map(|run| places.get(run));
            let Some(outer) = outer else { continue };
            let count = next.entry(*outer).or_default();
            *count += 1;
            let tick = own[*outer].began + *count * STEP;
            of_call.extend(answer.calls.iter().map(|call| (*call, tick)));
            observed.extend(observe_recorded(
                recording,
                (conversation, place),
                tick,
                &mut pool,
            ));
        }
        for number in nested {
            let known = &recorded[number];
            let within = known.inside.and_then(|outer| places.get(&outer)).copied();
            let outer = within.or_else(|| {
                let mut open = known.open.iter();
                open.find_map(|outer| places.get(outer)).copied()
            });
            let Some(outer) = outer else { continue };
            let after = known.call.and_then(|call| of_call.get_mut(&call));
            let began = match after {
                Some(tick) => {
                    *tick += 2;
                    *tick
                }
                None => own[outer].began + 1,
            };
            let mut call = known.own.clone();
            (call.began, call.ended) = (began, Some(began + 1));
            call.inside = within;
            call.recorded = Some(number);
            places.insert(number, own.len());
            own.push(call);
        }
        own
    }
}

/// A recorded request and its answer, as if the code had asked it.
fn observe_recorded(
    recording: &Recording,
    (conversation, place): (usize, usize),
    tick: u64,
    pool: &mut Pool,
) -> Option<Observed> {
    let own = &recording.conversations[conversation];
    let answer = &own.moves[place];
    let protocol = answer.protocol.as_deref().and_then(protocol::named)?;
    let mut items = Vec::new();
    for (number, one) in own.moves[..=place].iter().enumerate() {
        items.extend(one.heard.iter().map(|(role, text)| match role.as_str() {
            "user" => Item::User(text.clone()),
            _ => Item::Turn {
                role: role.clone(),
                text: text.clone(),
            },
        }));
        if number == place {
            break;
        }
        items.push(Item::Answer(one.said.parts.clone()));
        let calls = one.said.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        });
        for (call, index) in calls.zip(&one.calls) {
            let known = &recording.calls[*index];
            let value = known.told.value.as_ref().or(known.result.as_ref());
            items.extend(value.map(|value| {
                Item::Result(ToolResult {
                    id: call.id.clone(),
                    name: Some(call.name.clone()),
                    value: value.clone(),
                    is_error: known.is_error,
                    native: None,
                })
            }));
        }
    }
    let tools = own.tools.iter().flatten();
    let asked = ModelRequest {
        model: answer.asked_model.clone(),
        system: answer.system.clone().flatten(),
        items,
        tools: tools.map(|offered| offered.tool.clone()).collect(),
        parameters: answer.parameters.clone().unwrap_or_default(),
        ..ModelRequest::default()
    };
    let at = u64::try_from(answer.rank).unwrap_or_default() * 2;
    Some(Observed {
        protocol: Some(protocol),
        method: "POST".to_owned(),
        path: String::new(),
        query: None,
        digest: String::new(),
        asked: Some(pool.share(asked)),
        asked_at: at,
        ended_at: Some(at + 1),
        tick,
        outcome: Outcome::Answered {
            said: answer.said.clone(),
            broken: answer.broken.clone(),
        },
        gone: false,
        changes: std::collections::BTreeSet::new(),
    })
}
