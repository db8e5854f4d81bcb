//! What is known of a thread so far, by what the next run asks of it.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde_json::Value;

use crate::event::{Answer, Call, Event};
use crate::json::unwrap_json_text;
use crate::waiting::Waiting;

/// The messages that were seen so far.
#[derive(Debug, Default)]
pub(super) struct SeenMessages {
    messages: Vec<String>,
    /// The first messages, and how many they are.
    first: (HashSet<String>, usize),
}

impl SeenMessages {
    /// Of some messages, and nothing before.
    pub(super) fn from_messages(messages: Vec<String>) -> Self {
        Self {
            messages,
            ..Self::default()
        }
    }

    pub(super) fn messages(&self) -> &[String] {
        &self.messages
    }

    pub(super) fn extend(&mut self, messages: impl IntoIterator<Item = String>) {
        self.messages.extend(messages);
    }

    /// Whether a message was seen.
    pub(super) fn contains(&mut self, message: &str) -> bool {
        let (first, count) = &mut self.first;
        first.extend(self.messages[*count..].iter().cloned());
        *count = self.messages.len();
        first.contains(message)
    }
}

/// The calls and the results among the events of a run.
#[derive(Debug, Default)]
pub(super) struct EventIndex {
    /// The calls of which no tool of this trace ran yet.
    by_id: Waiting,
    by_name: Waiting,
    /// The calls of which a tool of this trace ran.
    met: Vec<usize>,
    /// What each call was given back.
    results: HashMap<String, HashSet<Value>>,
    /// The calls of which the tool's own run says the error. The model is told of it in other words.
    failed: HashSet<String>,
    /// Whether the model was told of such an error.
    pub(super) is_told: bool,
    /// How many events are known.
    known: usize,
}

impl EventIndex {
    /// Whether a result is among the events, or the error that it tells in other words.
    pub(super) fn has_result(&mut self, answer: &Answer, events: &[Event]) -> bool {
        self.index_new(events);
        let Some(id) = &answer.id else {
            return false;
        };
        let results = self.results.get(id);
        if results.is_some_and(|results| results.contains(&unwrap_json_text(&answer.value))) {
            return true;
        }
        let is_told = self.failed.remove(id);
        self.is_told |= is_told;
        is_told
    }

    /// The tool's own run says that a call failed.
    pub(super) fn mark_failed(&mut self, id: &str) {
        self.failed.insert(id.to_owned());
    }

    /// The call of an identifier, or of a tool, of which no tool of this trace ran yet. Of calls in parallel the one with
    /// these arguments, where they can be compared.
    pub(super) fn find_call(
        &mut self,
        id: Option<&str>,
        tool: &str,
        args: &Value,
        events: &[Event],
    ) -> Option<usize> {
        self.index_new(events);
        let (waiting, key) = match id {
            Some(id) => (&self.by_id, id),
            None => (&self.by_name, tool),
        };
        let same = waiting.first_with(key, &unwrap_json_text(args));
        same.or_else(|| waiting.first(key))
    }

    /// A tool ran for a call.
    pub(super) fn mark_executed(&mut self, place: usize, events: &[Event]) {
        self.index_new(events);
        if let Some(Event::Call(call)) = events.get(place) {
            let args = unwrap_json_text(&call.args);
            self.by_name.remove(&call.name, &args, place);
            if let Some(id) = &call.id {
                self.by_id.remove(id, &args, place);
            }
            self.met.push(place);
        }
    }

    /// In the next trace, tools may run for the calls of this one.
    pub(super) fn end_trace(&mut self, events: &[Event]) {
        for place in std::mem::take(&mut self.met) {
            self.add(place, &events[place]);
        }
    }

    fn index_new(&mut self, events: &[Event]) {
        for (place, event) in events.iter().enumerate().skip(self.known) {
            if let Event::Call(Call { id: Some(id), .. }) = event {
                // Identifiers may start again.
                self.failed.remove(id);
            }
            self.add(place, event);
        }
        self.known = events.len();
    }

    fn add(&mut self, place: usize, event: &Event) {
        match event {
            Event::Call(call) => {
                let args = Rc::new(unwrap_json_text(&call.args));
                self.by_name.add(&call.name, &args, place);
                if let Some(id) = &call.id {
                    self.by_id.add(id, &args, place);
                }
            }
            Event::Answer(answer) => {
                if let Some(id) = &answer.id {
                    let results = self.results.entry(id.clone()).or_default();
                    results.insert(unwrap_json_text(&answer.value));
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A plain second implementation of `call`, which looks at all events. `met` are the calls of which a
    /// tool of this trace ran.
    fn find_call_naive(
        events: &[Event],
        met: &HashSet<usize>,
        id: Option<&str>,
        tool: &str,
        args: &Value,
    ) -> Option<usize> {
        let calls = events.iter().enumerate();
        let calls = calls.filter_map(|(place, event)| match event {
            Event::Call(call) => Some((place, call)),
            _ => None,
        });
        let is_it = |(place, call): &(usize, &Call)| {
            let named = id.map_or(call.name == tool, |id| call.id.as_deref() == Some(id));
            named && !met.contains(place)
        };
        let calls: Vec<(usize, &Call)> = calls.filter(is_it).collect();
        let mut all = calls.iter();
        let same = all.find(|(_, call)| unwrap_json_text(&call.args) == unwrap_json_text(args));
        same.or(calls.first()).map(|(place, _)| *place)
    }

    proptest! {
        #[test]
        fn calls_and_results_are_what_a_look_at_all_events_finds(
            steps in proptest::collection::vec((0_u8..7, proptest::option::of("[xy]"), "[fg]", 0_u8..2), 0..40),
        ) {
            let (mut happened, mut met) = (EventIndex::default(), HashSet::new());
            let mut events: Vec<Event> = Vec::new();
            for (step, id, name, args) in steps {
                // Arguments may be JSON in a text.
                let args: Value = if step % 2 == 0 { args.into() } else { args.to_string().into() };
                let answer = Answer { id: id.clone(), value: args.clone(), ..Answer::default() };
                match step {
                    0..=2 => events.push(Event::Call(Call::new(id, Some(&name), args))),
                    3 => events.push(Event::Answer(answer)),
                    4 => {
                        let is_it = |event: &Event| match event {
                            Event::Answer(known) => known.id == answer.id && unwrap_json_text(&known.value) == unwrap_json_text(&answer.value),
                            _ => false,
                        };
                        let expected = id.is_some() && events.iter().any(is_it);
                        prop_assert_eq!(happened.has_result(&answer, &events), expected);
                    }
                    5 => {
                        happened.end_trace(&events);
                        met.clear();
                    }
                    _ => {
                        let found = happened.find_call(id.as_deref(), &name, &args, &events);
                        prop_assert_eq!(found, find_call_naive(&events, &met, id.as_deref(), &name, &args));
                        if let Some(place) = found {
                            happened.mark_executed(place, &events);
                            met.insert(place);
                            // The run of the tool gives a call without an identifier its own.
                            if let Event::Call(call) = &mut events[place] {
                                call.id.get_or_insert_with(|| "x".to_owned());
                            }
                        }
                    }
                }
            }
        }
    }
}
