//! The calls that models made, and the spans that are their execution.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use serde_json::Value;

use super::Stamped;
use crate::event::{Call, Event};
use crate::formats::otel::call_span::{arguments, span_id};
use crate::formats::otel::span::OtelSpan;
use crate::formats::otel::wrapped::ArgumentShapes;
use crate::json::unwrap_json_text;
use crate::waiting::Waiting;

/// The calls that no span was found for yet, by their places among the events.
#[derive(Debug)]
pub(super) struct UnmatchedCalls {
    made: HashMap<usize, UnmatchedCall>,
    by_id: HashMap<String, CallsOfId>,
    /// By their names: all of them, and those without an identifier.
    all: Waiting,
    nameless: Waiting,
    shapes: ArgumentShapes,
}

/// A call: when, of what identifier, of which tool, and with which arguments.
#[derive(Debug)]
struct UnmatchedCall {
    at: u64,
    id: Option<String>,
    tool: String,
    args: Rc<Value>,
}

/// The calls of one identifier.
#[derive(Debug, Default)]
struct CallsOfId {
    /// Of several at one time, the first counts as the latest.
    by_time: BTreeSet<(u64, Reverse<usize>)>,
    places: BTreeSet<usize>,
}

impl CallsOfId {
    /// The latest call before a time, of several at that time the first; else the first call of all.
    fn call_at(&self, time: u64) -> Option<usize> {
        let mut before = self.by_time.range(..=(time, Reverse(0)));
        let latest = before.next_back().map(|(_, Reverse(place))| *place);
        latest.or_else(|| self.places.first().copied())
    }
}

impl UnmatchedCalls {
    pub(super) fn from_events(events: &[Stamped]) -> Self {
        let mut made = HashMap::new();
        for (place, (at, event)) in events.iter().enumerate() {
            if let Event::Call(call) = event {
                made.insert(place, UnmatchedCall::new(*at, call));
            }
        }
        let shapes =
            ArgumentShapes::from_calls(made.values().map(|it| (it.tool.as_str(), &*it.args)));
        let (mut all, mut nameless) = (Waiting::default(), Waiting::default());
        let mut by_id: HashMap<String, CallsOfId> = HashMap::new();
        for (place, call) in &made {
            all.add(&call.tool, &call.args, *place);
            if let Some(id) = &call.id {
                let of_id = by_id.entry(id.clone()).or_default();
                of_id.by_time.insert((call.at, Reverse(*place)));
                of_id.places.insert(*place);
            } else {
                nameless.add(&call.tool, &call.args, *place);
            }
        }
        Self {
            made,
            by_id,
            all,
            nameless,
            shapes,
        }
    }

    /// The call that a tool's span is the execution of: the one of its identifier, else the first one of the tool, if
    /// not both have an identifier, that has the arguments of the span, or, by the tool's name, may have them.
    pub(super) fn take(&mut self, span: &OtelSpan, by_name: bool) -> Option<usize> {
        let id = span_id(span);
        let of_id = id.and_then(|id| self.by_id.get(id)?.call_at(span.start));
        let found = of_id.or_else(|| {
            let waiting = if id.is_some() {
                &self.nameless
            } else {
                &self.all
            };
            let (tool, args) = (span.tool_name()?, arguments(span));
            match args {
                Some(args) if !by_name => waiting.first_with(tool, &args),
                // What is no object may be arguments in another language.
                Some(args) if args.is_object() => self.shapes.first_match(tool, &args, waiting),
                _ if by_name => waiting.first(tool),
                _ => None,
            }
        })?;
        self.remove(found);
        Some(found)
    }

    fn remove(&mut self, place: usize) {
        let Some(call) = self.made.remove(&place) else {
            return;
        };
        self.all.remove(&call.tool, &call.args, place);
        self.nameless.remove(&call.tool, &call.args, place);
        if let Some(of_id) = call.id.and_then(|id| self.by_id.get_mut(&id)) {
            of_id.by_time.remove(&(call.at, Reverse(place)));
            of_id.places.remove(&place);
        }
    }
}

impl UnmatchedCall {
    fn new(at: u64, call: &Call) -> Self {
        Self {
            at,
            id: call.id.clone(),
            tool: call.name.clone(),
            args: Rc::new(unwrap_json_text(&call.args)),
        }
    }
}
