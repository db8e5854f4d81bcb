//! Spans are joined as a look at all events, for each of them, joins them.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Stamped, join_spans};
use crate::event::{Answer, Call, CallTokens, Event};
use crate::formats::otel::span::{self, OtelSpan};

/// A plain second implementation: each span looks at all events, and what it adds is inserted at once.
mod naive {
    use std::cmp::Reverse;
    use std::collections::HashSet;

    use super::super::{result_event, span_call_id};
    use super::*;
    use crate::formats::otel::call_span::{arguments, call_outcome, span_id};
    use crate::json::unwrap_json_text;

    pub(super) struct Talk {
        pub(super) events: Vec<Stamped>,
        /// The places of calls and results of which a span told.
        met: HashSet<usize>,
    }

    pub(super) fn joined(events: Vec<Stamped>, mut spans: Vec<OtelSpan>) -> Vec<Stamped> {
        let met = HashSet::new();
        let mut talk = Talk { events, met };
        for by_name in [false, true] {
            spans.retain(|span| match talk.call_of(span, by_name) {
                Some(index) => {
                    talk.met.insert(index);
                    talk.result_of(index, span);
                    false
                }
                None => true,
            });
        }
        for span in &spans {
            talk.own_call(span);
        }
        talk.events
    }

    /// Whether what a span shows as arguments may be those of a call: in another language, or with more around
    /// or among them.
    fn may_be_of(shown: &Value, own: &Value) -> bool {
        !shown.is_object() || own.is_null() || own == "" || holds(shown, own)
    }

    fn holds(shown: &Value, own: &Value) -> bool {
        let shown = unwrap_json_text(shown);
        let among = |own: &Map<String, Value>| {
            let mut members = own.iter();
            !own.is_empty() && members.all(|(key, value)| shown.get(key) == Some(value))
        };
        shown == *own
            || own.as_object().is_some_and(among)
            || match &shown {
                Value::Array(items) => items.iter().any(|item| holds(item, own)),
                Value::Object(map) => map.values().any(|item| holds(item, own)),
                _ => false,
            }
    }

    impl Talk {
        fn call_of(&self, span: &OtelSpan, by_name: bool) -> Option<usize> {
            let events = self.events.iter().enumerate();
            let mut calls = events.filter_map(|(index, (at, event))| match event {
                Event::Call(call) if !self.met.contains(&index) => Some((index, *at, call)),
                _ => None,
            });
            let id = span_id(span);
            if id.is_some() {
                // Identifiers repeat: the latest call before the tool ran, of several at that time the first.
                let of_id = calls.clone().filter(|(.., call)| call.id.as_deref() == id);
                let best = of_id
                    .min_by_key(|(_, at, _)| Reverse(Some(*at).filter(|at| *at <= span.start)));
                if let Some((index, ..)) = best {
                    return Some(index);
                }
            }
            let args = arguments(span);
            let same = |call: &Call| {
                let own = unwrap_json_text(&call.args);
                (id.is_none() || call.id.is_none())
                    && Some(call.name.as_str()) == span.tool_name()
                    && if by_name {
                        args.as_ref().is_none_or(|args| may_be_of(args, &own))
                    } else {
                        args.as_ref() == Some(&own)
                    }
            };
            let found = calls.find(|(.., call)| same(call));
            found.map(|(index, ..)| index)
        }

        fn result_of(&mut self, call: usize, span: &OtelSpan) {
            let Event::Call(made) = &self.events[call].1 else {
                return;
            };
            let id = made.id.clone();
            let is_call = |event: &Event| matches!(event, Event::Call(_));
            let answers = |event: &Event| matches!(event, Event::Answer(answer) if answer.id == id);
            let before = self.events[..call].iter().rev();
            let before = before.take_while(|(_, event)| is_call(event)).count();
            let mut later = self.events.iter().enumerate().skip(call);
            let answered = if id.is_some() {
                later.find(|(index, (_, event))| !self.met.contains(index) && answers(event))
            } else {
                // Without identifiers they stand in the order of the calls, before the next ones.
                let later = later.skip_while(|(_, (_, event))| is_call(event));
                let later = later.take_while(|(_, (_, event))| !is_call(event));
                later.filter(|(_, (_, event))| answers(event)).nth(before)
            };
            let answered = answered.map(|(index, _)| index);
            if let Some(index) = answered {
                self.met.insert(index);
                if let Event::Answer(answer) = &mut self.events[index].1 {
                    let flags = [answer.is_error, span.is_error()].into_iter().flatten();
                    answer.is_error = flags.reduce(|one, other| one || other);
                    answer.duration_ms = answer.duration_ms.or(span.duration_ms());
                }
                return;
            }
            let Some(value) = call_outcome(span) else {
                return;
            };
            // After the calls of the same answer.
            let rest = self.events[call + 1..].iter();
            let at = call + 1 + rest.take_while(|(_, event)| is_call(event)).count();
            // An identifier that another call of this answer has would not tell whose result it is.
            let block = &self.events[call - before..at];
            let has_id =
                |(_, event): &&Stamped| matches!(event, Event::Call(other) if other.id == id);
            let is_single = block.iter().filter(has_id).count() == 1;
            let id = id
                .filter(|_| is_single)
                .unwrap_or_else(|| span_call_id(span));
            if let Event::Call(made) = &mut self.events[call].1 {
                made.id = Some(id.clone());
            }
            self.insert(at, result_event(span, id, value));
            self.met.insert(at);
        }

        fn own_call(&mut self, span: &OtelSpan) {
            let Some(name) = span.tool_name() else {
                return;
            };
            let at = self.events.iter().position(|(at, _)| *at > span.start);
            let at = at.unwrap_or(self.events.len());
            let value = call_outcome(span);
            let of_step = self.events[..at].iter().rev();
            let mut of_step = of_step.take_while(|(_, event)| !matches!(event, Event::Step(_)));
            let id = span_id(span);
            let is_second = of_step
                .any(|(_, event)| matches!(event, Event::Call(other) if other.id.as_deref() == id));
            let id = id.filter(|_| !is_second || value.is_none());
            let id = id.map_or_else(|| span_call_id(span), str::to_owned);
            let args = arguments(span).unwrap_or_default();
            let call = Call::new(Some(id.clone()), Some(name), args);
            self.insert(at, (span.start, Event::Call(call)));
            self.met.insert(at);
            if let Some(value) = value {
                // A message may tell of it, too.
                let told = (at..self.events.len()).find(|index| {
                    let event = &self.events[*index].1;
                    !self.met.contains(index)
                        && matches!(event, Event::Answer(answer) if answer.id.is_none() && answer.value == value)
                });
                if let Some(told) = told {
                    self.events.remove(told);
                    let moved = self
                        .met
                        .iter()
                        .map(|index| index - usize::from(*index > told));
                    self.met = moved.collect();
                }
                self.insert(at + 1, result_event(span, id, value));
                self.met.insert(at + 1);
            }
        }

        fn insert(&mut self, at: usize, event: Stamped) {
            self.events.insert(at, event);
            let moved = self
                .met
                .iter()
                .map(|index| index + usize::from(*index >= at));
            self.met = moved.collect();
        }
    }
}

/// Arguments, of a few kinds.
fn args() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!("")),
        Just(json!({})),
        Just(json!("{}")),
        Just(json!([1])),
        Just(json!("plain")),
        (0..2).prop_map(|n| json!({ "n": n })),
        (0..2).prop_map(|n| json!({ "n": n, "m": 1 })),
        (0..2).prop_map(|n| json!({ "m": n })),
        (0..2).prop_map(|n| json!(json!({ "n": n }).to_string())),
        (0..2).prop_map(|n| json!({ "in": { "n": n } })),
    ]
}

/// Arguments as spans show them: with something around or among them.
fn shown_arguments() -> impl Strategy<Value = Option<Value>> {
    let wrapped = (args(), 0_u8..7).prop_map(|(args, how)| match how {
        0 | 1 => args,
        2 => json!({ "input": args }),
        3 => json!({ "input": args.to_string(), "more": 2 }),
        4 => json!({ "in": [args, { "m": 0 }] }),
        5 => match args {
            Value::Object(mut map) => {
                map.insert("more".to_owned(), true.into());
                json!({ "of": map })
            }
            other => json!([other]),
        },
        _ => json!(json!({ "args": args }).to_string()),
    });
    proptest::option::weighted(0.8, wrapped)
}

fn id() -> impl Strategy<Value = Option<String>> {
    proptest::option::weighted(0.6, "[xyz]")
}

fn name() -> impl Strategy<Value = String> {
    "[fg]"
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!("one")),
        Just(json!("two")),
        Just(json!({ "n": 1 }))
    ]
}

fn event() -> impl Strategy<Value = Event> {
    let call = (id(), name(), args());
    let call = call.prop_map(|(id, name, args)| Event::Call(Call::new(id, Some(&name), args)));
    let answer = (
        id(),
        value(),
        proptest::option::of(any::<bool>()),
        proptest::option::of(0_u64..3),
    );
    let answer = answer.prop_map(|(id, value, is_error, duration_ms)| {
        Event::Answer(Answer {
            id,
            value,
            is_error,
            duration_ms,
            ..Answer::default()
        })
    });
    prop_oneof![
        5 => call,
        4 => answer,
        1 => Just(Event::Step(CallTokens::default())),
        1 => Just(Event::Said("yes".to_owned())),
    ]
}

/// What a span says.
#[derive(Debug, Clone)]
struct Says {
    id: Option<String>,
    name: Option<String>,
    args: Option<Value>,
    result: Option<Value>,
    start: u64,
    took: u64,
    status: u8,
}

fn says() -> impl Strategy<Value = Says> {
    let parts = (
        id(),
        proptest::option::weighted(0.9, name()),
        shown_arguments(),
        proptest::option::weighted(0.8, value()),
        0_u64..12,
        0_u64..6,
        0_u8..4,
    );
    parts.prop_map(|(id, name, args, result, start, took, status)| Says {
        id,
        name,
        args,
        result,
        start,
        took,
        status,
    })
}

/// Spans as they are read, in the order of their beginnings.
fn spans(says: &[Says]) -> Vec<OtelSpan> {
    let spans = says.iter().enumerate().map(|(number, says)| {
        let mut attributes = json!({ "gen_ai.operation.name": "execute_tool" });
        let members = [
            ("gen_ai.tool.call.id", says.id.clone().map(Value::from)),
            ("gen_ai.tool.name", says.name.clone().map(Value::from)),
            ("gen_ai.tool.call.arguments", says.args.clone()),
            ("gen_ai.tool.call.result", says.result.clone()),
        ];
        for (key, value) in members {
            if let Some(value) = value {
                attributes[key] = value;
            }
        }
        json!({
            "traceId": "t", "spanId": format!("s{number}"), "name": "tool", "attributes": attributes,
            "startTimeUnixNano": says.start, "endTimeUnixNano": says.start + says.took,
            "status": { "code": says.status, "message": "it broke" },
        })
    });
    let spans: Vec<Value> = spans.collect();
    let export = json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": spans }] }] });
    let (mut spans, _) = span::parse_export(&export);
    spans.sort_by(|left, right| left.sort_key().cmp(&right.sort_key()));
    spans
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn spans_are_joined_as_a_look_at_all_events_joins_them(
        events in proptest::collection::vec((0_u64..16, event()), 0..14),
        says in proptest::collection::vec(says(), 0..10),
    ) {
        let spans = spans(&says);
        prop_assert_eq!(spans.len(), says.len());
        let plain = naive::joined(events.clone(), spans.clone());
        prop_assert_eq!(join_spans(events, spans), plain);
    }
}
