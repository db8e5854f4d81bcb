//! The calls that messages tell of, and their results: told as well, or put after the calls of the same answer.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use super::{Met, Stamped, result_event, span_call_id};
use crate::event::Event;
use crate::formats::otel::call_span::call_outcome;
use crate::formats::otel::span::OtelSpan;

/// The events that messages tell of, while spans are joined with them.
#[derive(Debug)]
pub(super) struct MessageEvents {
    events: Vec<Stamped>,
    /// The places of results that no span told of yet, by their identifiers.
    results: HashMap<String, BTreeSet<usize>>,
    blocks: Vec<CallBlock>,
    met: Met,
}

/// Calls that follow one another.
#[derive(Debug, Default)]
struct CallBlock {
    calls: Range<usize>,
    /// The results without an identifier up to the next calls.
    answers: Vec<usize>,
    /// How many of the calls have an identifier.
    ids: HashMap<String, usize>,
    /// Results that only spans tell of, the last one first.
    added: Vec<Stamped>,
}

impl CallBlock {
    /// Whether a call alone has its identifier. Of several it would not tell whose result it is, so that one of them
    /// gets another.
    fn is_single(&mut self, id: &str) -> bool {
        match self.ids.get_mut(id) {
            Some(count @ 2..) => {
                *count -= 1;
                false
            }
            _ => true,
        }
    }
}

impl MessageEvents {
    pub(super) fn from_events(events: Vec<Stamped>) -> Self {
        let mut results: HashMap<String, BTreeSet<usize>> = HashMap::new();
        let mut blocks: Vec<CallBlock> = Vec::new();
        for (place, (_, event)) in events.iter().enumerate() {
            match event {
                Event::Call(call) => {
                    let goes_on = blocks.last().is_some_and(|last| last.calls.end == place);
                    if !goes_on {
                        blocks.push(CallBlock {
                            calls: place..place,
                            ..CallBlock::default()
                        });
                    }
                    if let Some(block) = blocks.last_mut() {
                        block.calls.end = place + 1;
                        if let Some(id) = &call.id {
                            *block.ids.entry(id.clone()).or_default() += 1;
                        }
                    }
                }
                Event::Answer(answer) => match (&answer.id, blocks.last_mut()) {
                    (Some(id), _) => _ = results.entry(id.clone()).or_default().insert(place),
                    (None, Some(block)) => block.answers.push(place),
                    (None, None) => {}
                },
                _ => {}
            }
        }
        Self {
            events,
            results,
            blocks,
            met: Met::new(),
        }
    }

    /// A span is the execution of the call at a place. The result of a message stays, with what the span says of errors;
    /// else the span's result is put after the calls of the same answer.
    pub(super) fn apply_span(&mut self, place: usize, span: &OtelSpan) {
        let number = self.blocks.partition_point(|it| it.calls.end <= place);
        let (Some((_, Event::Call(call))), Some(block)) =
            (self.events.get_mut(place), self.blocks.get_mut(number))
        else {
            return;
        };
        let told = match &call.id {
            Some(id) => self.results.get_mut(id).and_then(|places| {
                let later = places.range(place..).next().copied()?;
                places.remove(&later);
                Some(later)
            }),
            // Without identifiers they stand in the order of the calls, before the next ones.
            None => block.answers.get(place - block.calls.start).copied(),
        };
        if told.is_none() {
            if let Some(value) = call_outcome(span) {
                let id = call.id.take().filter(|id| block.is_single(id));
                let id = id.unwrap_or_else(|| span_call_id(span));
                call.id = Some(id.clone());
                block.added.push(result_event(span, id, value));
            }
            return;
        }
        let told = told.and_then(|told| Some((told, self.events.get_mut(told)?)));
        if let Some((told, (_, Event::Answer(answer)))) = told {
            self.met.insert(told);
            let flags = [answer.is_error, span.is_error()].into_iter().flatten();
            answer.is_error = flags.reduce(|one, other| one || other);
            answer.duration_ms = answer.duration_ms.or(span.duration_ms());
        }
    }

    /// The events with the results that were put among them, and the places of those results that a span told of.
    pub(super) fn into_events(self) -> (Vec<Stamped>, Met) {
        let added: usize = self.blocks.iter().map(|block| block.added.len()).sum();
        let mut events = Vec::with_capacity(self.events.len() + added);
        let mut met = Met::new();
        let mut blocks = self.blocks.into_iter().peekable();
        for (place, event) in self.events.into_iter().enumerate() {
            if let Some(block) = blocks.next_if(|block| block.calls.end <= place) {
                events.extend(block.added.into_iter().rev());
            }
            if self.met.contains(&place) {
                met.insert(events.len());
            }
            events.push(event);
        }
        events.extend(blocks.flat_map(|block| block.added.into_iter().rev()));
        (events, met)
    }
}
