//! Calls of sub-agents among the events of a run.

use crate::event::Event;

/// A sub-agent that ran: what makes it one of several of its name, its name, and what happened in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Invoked<'e, T> {
    pub(crate) id: &'e str,
    pub(crate) name: &'e str,
    pub(crate) events: &'e [(T, Event)],
}

/// Puts the calls of sub-agents among events, by the time that each has: before the first event that is later, and
/// after what was put there before.
pub(crate) fn merge_subagent_calls<'e, T: Ord + Copy + 'e>(
    events: &mut Vec<(T, Event)>,
    subagents: impl IntoIterator<Item = Invoked<'e, T>>,
) {
    let calls = subagents.into_iter().flat_map(|agent| {
        let calls = agent.events.iter();
        calls.filter_map(move |(at, event)| {
            Some((*at, event.as_invocation_event(agent.id, agent.name)?))
        })
    });
    let mut calls: Vec<(T, Event)> = calls.collect();
    calls.sort_by_key(|(at, _)| *at);
    let mut calls = calls.into_iter().peekable();
    let mut all = Vec::with_capacity(events.len() + calls.len());
    for event in std::mem::take(events) {
        while let Some(call) = calls.next_if(|(at, _)| event.0 > *at) {
            all.push(call);
        }
        all.push(event);
    }
    all.extend(calls);
    *events = all;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::event::Call;

    fn call(number: usize) -> Event {
        Event::Call(Call {
            id: Some(number.to_string()),
            ..Call::default()
        })
    }

    proptest! {
        #[test]
        fn each_call_comes_before_the_first_event_that_is_later(
            times in proptest::collection::vec(0_u8..6, 0..8),
            subagents in proptest::collection::vec(proptest::collection::vec(0_u8..6, 0..4), 0..4),
        ) {
            let numbered = |times: &[u8]| -> Vec<(u8, Event)> {
                times.iter().enumerate().map(|(number, at)| (*at, call(number))).collect()
            };
            let mut events = numbered(&times);
            let mut plain = events.clone();
            let subagents = subagents.iter().enumerate();
            let subagents: Vec<(String, Vec<(u8, Event)>)> =
                subagents.map(|(agent, times)| (format!("a{agent}"), numbered(times))).collect();
            merge_subagent_calls(&mut events, subagents.iter().map(|(agent, own)| Invoked { id: agent, name: agent, events: own }));
            for (agent, own) in &subagents {
                for (at, event) in own {
                    let before = plain.iter().position(|(own, _)| own > at);
                    let event = event.as_subagent_event(agent).unwrap();
                    plain.insert(before.unwrap_or(plain.len()), (*at, event));
                }
            }
            prop_assert_eq!(events, plain);
        }
    }
}
