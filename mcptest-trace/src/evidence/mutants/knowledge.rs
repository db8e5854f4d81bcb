//! What a run knew when, and which reads mattered.

use std::collections::{BTreeSet, HashMap};

use crate::trace::{Run, canonical_json};

use super::Tools;
use super::words::identifiers;

/// What is to be known of a call.
pub(super) struct CallFacts {
    /// Whether its tool only reads.
    pub(super) reads: bool,
    /// Whether it has a result that is no error.
    pub(super) succeeded: bool,
    /// Where an identifier of its result that was not known before is used.
    pub(super) needed: Needed,
    /// Whether another call of the run is equal, with an equal result.
    pub(super) has_twin: bool,
}

/// Where a result is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needed {
    /// Nowhere.
    Nowhere,
    /// By the next call, and perhaps by others.
    ByTheNextCall,
    /// By a later call or the closing.
    Later,
}

impl CallFacts {
    /// The facts about each call of a run.
    pub(super) fn for_run(run: &Run, tools: &Tools<'_>) -> Vec<Self> {
        let trace = &run.trace;
        let arguments: Vec<String> = trace
            .tool_calls
            .iter()
            .map(|call| canonical_json(&call.args))
            .collect();
        let mut results = vec![String::new(); trace.tool_calls.len()];
        for result in &trace.tool_results {
            if let Some(text) = results.get_mut(result.call_index) {
                text.push_str(&canonical_json(&result.result));
                text.push(if result.is_error { '!' } else { ' ' });
            }
        }
        let used: Vec<BTreeSet<&str>> = arguments.iter().map(|text| identifiers(text)).collect();
        // The last call that uses each identifier.
        let mut last_use: HashMap<&str, usize> = HashMap::new();
        for (place, words) in used.iter().enumerate() {
            last_use.extend(words.iter().map(|word| (*word, place)));
        }
        let what_of = |place: usize| {
            let call = &trace.tool_calls[place];
            (&call.name, &call.server, &arguments[place], &results[place])
        };
        let mut equal = HashMap::new();
        for place in 0..arguments.len() {
            *equal.entry(what_of(place)).or_insert(0) += 1;
        }
        let closing = trace.closing().map(identifiers).unwrap_or_default();
        let mut known = identifiers(&run.user_prompt);
        known.extend(identifiers(&run.system_prompt));
        let turns = trace.conversation.turns.iter();
        for turn in turns.filter(|turn| turn.role == "user") {
            known.extend(identifiers(&turn.content));
        }
        let succeeded = trace.results_by_call();
        let mut calls = Vec::with_capacity(arguments.len());
        for (place, call) in trace.tool_calls.iter().enumerate() {
            known.extend(&used[place]);
            let told = identifiers(&results[place]);
            let new: Vec<&str> = told.difference(&known).copied().collect();
            let later = |word: &&str| {
                closing.contains(word) || last_use.get(word).is_some_and(|last| *last > place)
            };
            let next = used.get(place + 1);
            calls.push(Self {
                reads: tools.read_only.is_read_only_call(call),
                succeeded: succeeded[place].is_some_and(|result| !result.is_error),
                needed: if next.is_some_and(|next| new.iter().any(|word| next.contains(word))) {
                    Needed::ByTheNextCall
                } else if new.iter().any(later) {
                    Needed::Later
                } else {
                    Needed::Nowhere
                },
                has_twin: equal[&what_of(place)] > 1,
            });
            known.extend(told);
        }
        calls
    }
}
