//! Which call at the door of own tools is which call of the model.
//!
//! It is the call of its identifier. Else it is one that the model asked for and was told no result of yet: with the same
//! name and arguments, the newest answer first; else another attempt at such a call; else one of the same name. What is
//! none of these is a call of the run where the agent acts in text, and else the code's own.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use mcptest_trace::trace::json_eq;
use serde_json::{Map, Value};

use super::conversation::{Conversation, ModelCall};
use super::mcp_calls::{McpCalls, Place};
use crate::door::OwnCall;
use crate::door::matching::{is_coerced, is_same_tool};
use crate::exchange::{Call, Item};

/// The calls at the door, and what they are.
#[derive(Debug, Default)]
pub(super) struct OwnCalls {
    /// By the calls of the model: the attempts, in their order.
    pub(super) of_model: HashMap<Place, Vec<usize>>,
    /// Calls of the run that no model asked for in a call, by the model call of the main conversation before them.
    pub(super) of_run: HashMap<usize, Vec<usize>>,
    /// The call inside of which each was made, where that is known.
    pub(super) inside: Vec<Option<usize>>,
    /// The calls that were open when each began, where several were and it is not known which one is meant.
    pub(super) open: Vec<Vec<usize>>,
    /// Calls of the model's that the code made after the model was asked again.
    pub(super) late: HashSet<usize>,
}

/// A call that the model asked for.
struct RequestedCall<'c> {
    place: Place,
    call: &'c Call,
    /// When the model was asked.
    from: u64,
    /// When its result was told.
    told: u64,
    /// When the answer after it was asked for.
    next: u64,
    /// The calls at the door that it is.
    attempts: Vec<usize>,
}

/// How well a call at the door fits one of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    Exact,
    Coerced,
    Name,
}

impl OwnCalls {
    /// Finds which are which. `main`: the main conversation.
    pub(super) fn pair(
        conversations: &[Conversation],
        main: usize,
        mcp: &McpCalls,
        own: &[OwnCall],
    ) -> Self {
        let mut all = Self {
            inside: vec![None; own.len()],
            open: vec![Vec::new(); own.len()],
            ..Self::default()
        };
        if own.is_empty() {
            return all;
        }
        let mut asked = requested_calls(conversations, mcp);
        let mut order: Vec<usize> = (0..own.len()).collect();
        order.sort_by_key(|place| own[*place].began);
        let mut alone = Vec::new();
        for place in order {
            let call = &own[place];
            all.inside[place] = call.inside.filter(|inside| *inside < own.len());
            // What is asked for inside of a call was asked for after it began.
            let since = all.inside[place].map_or(0, |inside| own[inside].began);
            match find_model_call(&asked, call, since) {
                Some(found) => {
                    asked[found].attempts.push(place);
                    if asked[found].next < call.began {
                        all.late.insert(place);
                    }
                    // A call is inside of one that was open when the model was asked that asked for it. The agent itself
                    // is in none.
                    let from = asked[found].from;
                    let open = open_at(own, from);
                    if let ([outer], None) = (open.as_slice(), all.inside[place])
                        && asked[found].place.0 != main
                        && own[*outer].ended.is_none_or(|ended| ended > call.began)
                    {
                        all.inside[place] = Some(*outer);
                    }
                }
                None => alone.push(place),
            }
        }
        for place in &alone {
            all.find_outer(*place, own);
        }
        let unpaired: HashSet<Place> = asked
            .iter()
            .filter(|asked| asked.attempts.is_empty())
            .map(|asked| asked.place)
            .collect();
        let acts = TextActions::new(&conversations[main], main, &unpaired);
        for place in alone {
            if all.inside[place].is_none()
                && let Some(step) = acts.step(own[place].began)
            {
                all.of_run.entry(step).or_default().push(place);
            }
        }
        let paired = asked.into_iter().filter(|asked| !asked.attempts.is_empty());
        all.of_model = paired.map(|asked| (asked.place, asked.attempts)).collect();
        all
    }

    /// The only call that was open when another began is the one inside of which that was made, if it ended later.
    fn find_outer(&mut self, place: usize, own: &[OwnCall]) {
        if self.inside[place].is_some() {
            return;
        }
        let open = open_at(own, own[place].began);
        match open.as_slice() {
            [] => {}
            [only] => {
                let ended = |place: usize| own[place].ended.unwrap_or(u64::MAX);
                if ended(place) <= ended(*only) {
                    self.inside[place] = Some(*only);
                }
            }
            _ => self.open[place] = open,
        }
    }
}

/// The calls that were open at a time.
pub(super) fn open_at(own: &[OwnCall], at: u64) -> Vec<usize> {
    let is_open = |call: &OwnCall| call.began < at && call.ended.is_none_or(|ended| ended > at);
    let open = own.iter().enumerate().filter(|(_, call)| is_open(call));
    open.map(|(place, _)| place).collect()
}

/// The calls that the models asked for, but those of MCP servers and those that a provider ran.
fn requested_calls<'c>(
    conversations: &'c [Conversation],
    mcp: &McpCalls,
) -> Vec<RequestedCall<'c>> {
    let mut asked = Vec::new();
    for (index, conversation) in conversations.iter().enumerate() {
        for (answer, model) in conversation.calls.iter().enumerate() {
            let mut later = conversation.calls[answer + 1..].iter();
            let next = later.find(|model| model.answered);
            let next = next.map_or(u64::MAX, |model| model.tick);
            for (number, call) in model.said.calls().enumerate() {
                let place = (index, answer, number);
                if mcp.of_model.contains_key(&place) {
                    continue;
                }
                asked.push(RequestedCall {
                    place,
                    call,
                    from: model.tick,
                    told: told_at(&conversation.calls[answer + 1..], call),
                    next,
                    attempts: Vec::new(),
                });
            }
        }
    }
    asked
}

/// When a call's result was told: with the next request, where nothing says which result is of which call.
fn told_at(later: &[ModelCall], call: &Call) -> u64 {
    let has_result = |model: &&ModelCall| {
        let new = model.asked.items.get(model.known..).unwrap_or_default();
        let mut results = new.iter().filter_map(|item| match &**item {
            Item::Result(result) => result.id.as_deref(),
            _ => None,
        });
        results.any(|id| call.id.as_deref() == Some(id))
    };
    let by_id = later.iter().find(has_result);
    let told = by_id.or(later.first());
    told.map_or(u64::MAX, |model| model.tick)
}

/// The call of the model that a call at the door is. `since`: when the call began inside of which it is made.
fn find_model_call(asked: &[RequestedCall<'_>], call: &OwnCall, since: u64) -> Option<usize> {
    let all = || asked.iter().enumerate();
    let was_asked = |one: &RequestedCall<'_>| one.from < call.began;
    if let Some(id) = call.call_id.as_deref() {
        let of_id = all().filter(|(_, one)| was_asked(one) && one.call.id.as_deref() == Some(id));
        let named = of_id.clone();
        let named = named.filter(|(_, one)| is_same_tool(&one.call.name, &call.name));
        // What a model calls a tool may be no name of the code. A tool that another one calls may have its identifier too.
        let unnamed = of_id.filter(|(_, one)| call.inside.is_none() && one.attempts.is_empty());
        // Some providers give identifiers again: the last one that is open is meant, else the last one.
        let best = |(_, one): &(usize, &RequestedCall<'_>)| (one.told > call.began, one.from);
        let found = named.max_by_key(best).or_else(|| unnamed.max_by_key(best));
        if let Some((found, _)) = found {
            return Some(found);
        }
    }
    let open = all().filter_map(|(place, one)| {
        let is_open = was_asked(one) && one.from > since && one.told > call.began;
        let fit = is_open.then(|| fit(one.call, call))??;
        Some((place, one, fit))
    });
    let open: Vec<(usize, &RequestedCall<'_>, Fit)> = open.collect();
    let best = |tried: bool, fits: &dyn Fn(Fit) -> bool| {
        let fitting = open.iter();
        let fitting =
            fitting.filter(|(_, one, fit)| one.attempts.is_empty() != tried && fits(*fit));
        let best = fitting.min_by_key(|(place, one, fit)| (*fit, Reverse(one.from), *place));
        best.map(|(place, ..)| *place)
    };
    let is_equal = |fit: Fit| fit < Fit::Name;
    let found = best(false, &is_equal).or_else(|| best(true, &is_equal));
    found.or_else(|| best(false, &|_| true))
}

/// How well a call at the door fits one of the model.
pub(crate) fn fit(model: &Call, call: &OwnCall) -> Option<Fit> {
    if !is_same_tool(&model.name, &call.name) {
        return None;
    }
    let (Some(wanted), Some(found)) = (model.args.as_object(), call.args.as_object()) else {
        return Some(Fit::Name);
    };
    let all = |fits: &dyn Fn(&Value, &Value) -> bool| {
        let mut wanted = wanted.iter();
        wanted.all(|(key, value)| found.get(key).is_some_and(|found| fits(value, found)))
    };
    let alike = |one: &Value, other: &Value| json_eq(one, other) || is_coerced(one, other);
    Some(if all(&json_eq) {
        Fit::Exact
    } else if all(&alike) {
        Fit::Coerced
    } else {
        Fit::Name
    })
}

/// The arguments of a call of the model's that are compared and kept, and the names of the others. Where the code has none
/// of the model's names, all are kept.
pub(super) fn kept_args(model: &Value, own: &Value) -> (Value, Vec<String>) {
    let (Some(named), Some(all)) = (model.as_object(), own.as_object()) else {
        return (own.clone(), Vec::new());
    };
    if !named.is_empty() && !all.keys().any(|key| named.contains_key(key)) {
        return (own.clone(), Vec::new());
    }
    let is_named = |key: &String| named.contains_key(key);
    let kept = all.iter().filter(|(key, _)| is_named(key));
    let kept: Map<String, Value> = kept
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let omitted = all.keys().filter(|key| !is_named(key)).cloned();
    (Value::Object(kept), omitted.collect())
}

/// When an agent acts in text: its main conversation has offered no tools till then.
struct TextActions {
    /// The requests of the main conversation: when, and whether it is answered.
    requests: Vec<(u64, bool)>,
    /// When tools were offered first.
    until: u64,
}

impl TextActions {
    /// `unpaired`: the calls of the models that no tool is.
    fn new(main: &Conversation, index: usize, unpaired: &HashSet<Place>) -> Self {
        // The call of an output tool ends the run, and nothing runs for it.
        let last = main.calls.len().saturating_sub(1);
        let calls = main.calls.last().into_iter();
        let calls = calls.flat_map(|last| last.said.calls().enumerate());
        let output = calls.filter(|(number, _)| unpaired.contains(&(index, last, *number)));
        let output: HashSet<&str> = output.map(|(_, call)| call.name.as_str()).collect();
        let offers = |model: &&ModelCall| {
            let mut tools = model.asked.tools.iter();
            tools.any(|tool| !output.contains(tool.name.as_str()))
        };
        let first = main.calls.iter().find(offers);
        Self {
            requests: main
                .calls
                .iter()
                .map(|model| (model.tick, model.answered))
                .collect(),
            until: first.map_or(u64::MAX, |model| model.tick),
        }
    }

    /// The model call of the main conversation whose answer is the newest one at a time, if the agent acts in text then.
    fn step(&self, at: u64) -> Option<usize> {
        let before = self.requests.iter().enumerate();
        let mut before = before.filter(|(_, (tick, answered))| *answered && *tick < at);
        let (step, _) = before.next_back()?;
        (self.until > at).then_some(step)
    }
}
