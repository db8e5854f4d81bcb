//! The spans of tools, joined with the calls and the results that the messages of models tell of.
//!
//! Everything is looked up: a span that joins takes log n, however many calls, results and spans there are.

mod calls;
mod message_events;
mod span_events;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use serde_json::Value;

use self::calls::UnmatchedCalls;
use self::message_events::MessageEvents;
use super::span::OtelSpan;
use crate::event::{Answer, Event};

/// Something that happened, and when.
pub(super) type Stamped = (u64, Event);

/// Joins the spans of tools, which stand in the order of their beginnings, with what models said: what a span says of a
/// call and of its result is taken into the events.
pub(super) fn join_spans(events: Vec<Stamped>, mut spans: Vec<OtelSpan>) -> Vec<Stamped> {
    let mut calls = UnmatchedCalls::from_events(&events);
    let mut told = MessageEvents::from_events(events);
    // What names its call or its arguments first, then what may be of a call by its name.
    for by_name in [false, true] {
        spans.retain(|span| match calls.take(span, by_name) {
            Some(call) => {
                told.apply_span(call, span);
                false
            }
            None => true,
        });
    }
    let (events, met) = told.into_events();
    span_events::add_span_calls(events, &met, &spans)
}

/// The result that the span of a call has, when it ended.
fn result_event(span: &OtelSpan, id: String, value: Value) -> Stamped {
    let answer = Answer {
        id: Some(id),
        value,
        is_error: span.is_error(),
        duration_ms: span.duration_ms(),
        ..Answer::default()
    };
    (span.end, Event::Answer(answer))
}

/// An identifier that no other call has.
fn span_call_id(span: &OtelSpan) -> String {
    format!("span:{}", span.id)
}

/// The places of events of which a span told.
type Met = HashSet<usize>;
