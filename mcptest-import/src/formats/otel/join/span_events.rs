//! The calls that no message tells of, put among the events by their times.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::Value;

use super::{Met, Stamped, result_event, span_call_id};
use crate::event::{Call, Event};
use crate::formats::otel::call_span::{arguments, call_outcome, span_id};
use crate::formats::otel::span::OtelSpan;

/// The events with the calls of spans, which stand in the order of their beginnings: each before the first event that is
/// later, with its result right after it.
///
/// As spans begin one after another, the place of each is not before the place of the one before it: a single walk finds
/// all places. The results of calls that were put in may be later than the next call: these stand open.
pub(super) fn add_span_calls(events: Vec<Stamped>, met: &Met, spans: &[OtelSpan]) -> Vec<Stamped> {
    let mut results = AnonymousResults::from_events(&events, met);
    let mut added = MergedEvents::default();
    let mut open: Vec<Stamped> = Vec::new();
    let mut rest = events.into_iter().enumerate().peekable();
    for span in spans {
        let Some(name) = span.tool_name() else {
            continue;
        };
        while let Some(result) = open.pop_if(|(at, _)| *at <= span.start) {
            added.push(result);
        }
        while open.is_empty()
            && let Some((place, event)) =
                rest.next_if(|(place, (at, _))| *at <= span.start || results.has_taken(*place))
        {
            if !results.has_taken(place) {
                added.push(event);
            }
        }
        let value = call_outcome(span);
        // A second call of an identifier: it would not tell whose result it is.
        let id = span_id(span).filter(|id| value.is_none() || !added.has_call(id));
        let id = id.map_or_else(|| span_call_id(span), str::to_owned);
        let args = arguments(span).unwrap_or_default();
        let call = Call::new(Some(id.clone()), Some(name), args);
        added.push((span.start, Event::Call(call)));
        if let Some(value) = value {
            if let Some((next, _)) = rest.peek() {
                results.take(&value, *next);
            }
            open.push(result_event(span, id, value));
        }
    }
    let mut events = added.events;
    events.extend(open.into_iter().rev());
    let rest = rest.filter(|(place, _)| !results.has_taken(*place));
    events.extend(rest.map(|(_, event)| event));
    events
}

/// The events so far, with the calls among them.
#[derive(Debug, Default)]
struct MergedEvents {
    events: Vec<Stamped>,
    steps: usize,
    /// The model call that made the last call of each identifier.
    calls: HashMap<String, usize>,
}

impl MergedEvents {
    fn push(&mut self, event: Stamped) {
        match &event.1 {
            Event::Step(_) => self.steps += 1,
            Event::Call(Call { id: Some(id), .. }) => _ = self.calls.insert(id.clone(), self.steps),
            _ => {}
        }
        self.events.push(event);
    }

    /// Whether the last model call made a call of an identifier.
    fn has_call(&self, id: &str) -> bool {
        self.calls.get(id) == Some(&self.steps)
    }
}

/// Results of messages without an identifier, of which a span may tell as well.
#[derive(Debug, Default)]
struct AnonymousResults {
    /// The places of those that no span told of yet, by what they are.
    places: HashMap<Value, VecDeque<usize>>,
    taken: HashSet<usize>,
}

impl AnonymousResults {
    fn from_events(events: &[Stamped], met: &Met) -> Self {
        let mut results = Self::default();
        for (place, (_, event)) in events.iter().enumerate() {
            if let Event::Answer(answer) = event
                && answer.id.is_none()
                && !met.contains(&place)
            {
                let alike = results.places.entry(answer.value.clone());
                alike.or_default().push_back(place);
            }
        }
        results
    }

    /// Takes the first result of a value at a place or after it. The places that are asked for never fall.
    fn take(&mut self, value: &Value, from: usize) {
        let Some(places) = self.places.get_mut(value) else {
            return;
        };
        while places.pop_front_if(|place| *place < from).is_some() {}
        self.taken.extend(places.pop_front());
    }

    fn has_taken(&self, place: usize) -> bool {
        self.taken.contains(&place)
    }
}
