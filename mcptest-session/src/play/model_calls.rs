//! The model calls of a trace: what each answer said and called, and what the user had said before it.

use std::collections::{HashSet, VecDeque};

use mcptest_trace::trace::Trace;
use serde_json::Value;

use crate::exchange::{Call, Part};

/// One model call.
#[derive(Debug, Clone, Default)]
pub(super) struct ModelCall {
    /// What was said before it by others than the agent, since the answer before: who, and what.
    pub(super) heard: Vec<(String, String)>,
    /// What the answer said, in order. Calls have the names of the trace.
    pub(super) parts: Vec<Part>,
    /// The calls of the trace that are of this answer.
    pub(super) calls: Vec<usize>,
}

/// What happened in the agent's own conversation, in order.
#[derive(Debug, Clone, Copy)]
enum Event<'t> {
    OtherMessage(&'t str, &'t str),
    ModelText(&'t str),
    Call(usize),
}

/// What the recording says of one answer besides the trace.
#[derive(Debug, Clone, Default)]
pub(super) struct Shape {
    pub(super) texts: usize,
    pub(super) calls: usize,
    pub(super) parts: Option<Vec<Part>>,
}

/// The model calls of the agent itself. `shapes` says what each answer held, where a session recorded them.
///
/// `examples`: how many texts of the trace no model said. `in_text`: the calls that no model asked for in a call.
pub(super) fn from_trace(
    trace: &Trace,
    prompt: &str,
    (own_closing, examples): (bool, usize),
    shapes: &[Shape],
    in_text: &HashSet<usize>,
) -> Vec<ModelCall> {
    // A session says which calls are the agent's own, also where all are of sub-agents.
    let written = agent_calls(trace, !shapes.is_empty());
    let mut events = conversation_events(trace, prompt, &written, in_text);
    for _ in 0..examples {
        let first = events
            .iter()
            .position(|event| matches!(event, Event::ModelText(_)));
        first.map(|first| events.remove(first));
    }
    if own_closing {
        let last = events
            .iter()
            .rposition(|event| matches!(event, Event::ModelText(_)));
        last.map(|last| events.remove(last));
    }
    split_by_shapes(trace, &events, shapes).unwrap_or_else(|| split_by_order(trace, &events))
}

/// The calls of the agent itself, in their order: those of no sub-agent, unless all are of one.
fn agent_calls(trace: &Trace, of_session: bool) -> Vec<usize> {
    let first = trace
        .tool_calls
        .first()
        .and_then(|call| call.agent_id.as_deref());
    let has_own = trace.tool_calls.iter().any(|call| call.agent_id.is_none());
    let own = if has_own || of_session { None } else { first };
    let calls = trace.tool_calls.iter().enumerate();
    let calls = calls.filter(|(_, call)| call.agent_id.as_deref() == own);
    calls.map(|(index, _)| index).collect()
}

/// The events of the agent's own conversation. `written`: the calls that stand among the turns.
fn conversation_events<'t>(
    trace: &'t Trace,
    prompt: &'t str,
    written: &[usize],
    in_text: &HashSet<usize>,
) -> Vec<Event<'t>> {
    let own = written.iter().copied();
    let own: Vec<usize> = own.filter(|call| !in_text.contains(call)).collect();
    let turns = &trace.conversation.turns;
    let tool_turns = turns.iter().filter(|turn| turn.is_tool_use()).count();
    let mut events = Vec::new();
    if tool_turns == written.len() || tool_turns == trace.tool_calls.len() {
        let every: Vec<usize> = (0..trace.tool_calls.len()).collect();
        let mut calls = if tool_turns == written.len() {
            written.iter()
        } else {
            every.iter()
        };
        for turn in turns {
            if turn.is_tool_use() {
                let call = calls.next().filter(|call| own.binary_search(call).is_ok());
                events.extend(call.map(|call| Event::Call(*call)));
            } else {
                events.push(turn_event(&turn.role, &turn.content));
            }
        }
    } else {
        // Nothing says where the calls stand among the turns but the user turn that they are of.
        let ranges = &trace.conversation.per_turn;
        let mut users = 0;
        for turn in turns.iter().filter(|turn| !turn.is_tool_use()) {
            events.push(turn_event(&turn.role, &turn.content));
            if turn.role == "user" {
                let range = ranges.get(users).and_then(|turn| turn.calls);
                let range = range.or((users == 0 && ranges.is_empty()).then_some((0, usize::MAX)));
                let (from, to) = range.unwrap_or_default();
                let at = |bound: usize| own.partition_point(|call| *call < bound);
                let calls = own[at(from)..at(to).max(at(from))].iter();
                events.extend(calls.map(|call| Event::Call(*call)));
                users += 1;
            }
        }
        if users == 0 {
            let calls = own.iter().map(|call| Event::Call(*call));
            events.splice(0..0, calls);
        }
    }
    events.retain(|event| !matches!(event, Event::OtherMessage("tool", _)));
    if !events
        .iter()
        .any(|event| matches!(event, Event::OtherMessage("user", _)))
    {
        events.insert(0, Event::OtherMessage("user", prompt));
    }
    let closing = trace.final_response.as_deref();
    if let Some(closing) = closing.filter(|text| !text.trim().is_empty()) {
        let last = events.iter().rev().find_map(|event| match event {
            Event::ModelText(text) => Some(*text),
            _ => None,
        });
        if last.map(str::trim) != Some(closing.trim()) {
            events.push(Event::ModelText(closing));
        }
    }
    events
}

fn turn_event<'t>(role: &'t str, text: &'t str) -> Event<'t> {
    match role {
        "assistant" => Event::ModelText(text),
        _ => Event::OtherMessage(role, text),
    }
}

/// The model calls as the recording says how many texts and calls each has; `None` where that does not go
/// together.
fn split_by_shapes(trace: &Trace, events: &[Event], shapes: &[Shape]) -> Option<Vec<ModelCall>> {
    if shapes.is_empty() {
        return None;
    }
    let mut events: VecDeque<Event> = events.iter().copied().collect();
    let mut moves = Vec::new();
    for shape in shapes {
        let mut one = ModelCall::default();
        while let Some(Event::OtherMessage(role, text)) = events.front() {
            one.heard.push(((*role).to_owned(), (*text).to_owned()));
            events.pop_front();
        }
        for _ in 0..shape.texts + shape.calls {
            match events.pop_front()? {
                Event::ModelText(text) => one.parts.push(Part::Text(text.to_owned())),
                Event::Call(index) => {
                    one.parts.push(Part::Call(trace_call(trace, index)));
                    one.calls.push(index);
                }
                Event::OtherMessage(..) => return None,
            }
        }
        if one.calls.len() != shape.calls {
            return None;
        }
        if let Some(parts) = &shape.parts {
            one.parts.clone_from(parts);
        }
        moves.push(one);
    }
    events
        .iter()
        .all(|event| matches!(event, Event::OtherMessage(..)))
        .then_some(moves)
}

/// The model calls as calls and texts follow each other: a text goes with the calls after it, and calls of one
/// step are of one answer.
fn split_by_order(trace: &Trace, events: &[Event]) -> Vec<ModelCall> {
    let mut moves = vec![ModelCall::default()];
    let mut step = None;
    for event in events {
        let Some(last) = moves.last() else { continue };
        let closes = match event {
            Event::OtherMessage(..) => !last.parts.is_empty(),
            Event::ModelText(_) => !last.calls.is_empty(),
            Event::Call(index) => {
                let own = trace.tool_calls[*index].step;
                !last.calls.is_empty() && (own.is_none() || own != step)
            }
        };
        if closes {
            moves.push(ModelCall::default());
        }
        let Some(last) = moves.last_mut() else {
            continue;
        };
        match event {
            Event::OtherMessage(role, text) => {
                last.heard.push(((*role).to_owned(), (*text).to_owned()));
            }
            Event::ModelText(text) => last.parts.push(Part::Text((*text).to_owned())),
            Event::Call(index) => {
                step = trace.tool_calls[*index].step;
                last.parts.push(Part::Call(trace_call(trace, *index)));
                last.calls.push(*index);
            }
        }
    }
    moves.retain(|one| !one.parts.is_empty());
    moves
}

fn trace_call(trace: &Trace, index: usize) -> Call {
    let call = &trace.tool_calls[index];
    let args: &Value = &call.args;
    Call {
        id: None,
        name: call.name.clone(),
        server: (!call.server.is_empty()).then(|| call.server.clone()),
        args: args.clone(),
        caller: call.caller.clone(),
        text: None,
        native: None,
    }
}
