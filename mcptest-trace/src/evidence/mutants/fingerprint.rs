//! Which mutants of a run are the same run: told from what a change makes of it, without making it.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::trace::{Run, canonical_json};
use serde_json::{Value, json};

use super::change::Change;

/// The original and the mutants seen so far.
pub(super) struct Fingerprints<'a> {
    run: &'a Run,
    /// A number for each call and for its results.
    calls: Vec<u64>,
    results: Vec<u64>,
    known: BTreeSet<u64>,
}

impl<'a> Fingerprints<'a> {
    pub(super) fn new(run: &'a Run) -> Self {
        let trace = &run.trace;
        let calls = trace.tool_calls.iter().enumerate();
        let calls = calls.map(|(place, call)| number_of_call(run, place, &call.name, &call.args));
        let mut results: Vec<Vec<(bool, String)>> = vec![Vec::new(); trace.tool_calls.len()];
        for result in &trace.tool_results {
            if let Some(own) = results.get_mut(result.call_index) {
                own.push((result.is_error, canonical_json(&result.result)));
            }
        }
        let mut seen = Self {
            run,
            calls: calls.collect(),
            results: results.iter().map(number).collect(),
            known: BTreeSet::new(),
        };
        let original: Vec<usize> = (0..seen.calls.len()).collect();
        seen.is_new(&Change::Order(original));
        seen
    }

    /// Whether no mutant so far, and not the original, is the same run.
    pub(super) fn is_new(&mut self, change: &Change) -> bool {
        let number = self.number(change);
        self.known.insert(number)
    }

    fn number(&self, change: &Change) -> u64 {
        let closing = self.run.trace.closing().unwrap_or_default();
        let mut units: Vec<(u64, u64)> = self
            .calls
            .iter()
            .copied()
            .zip(self.results.iter().copied())
            .collect();
        // What else a change touches: the closing, and what it says of the whole run.
        let mut said = closing;
        let mut whole = String::new();
        match change {
            Change::Order(order) => units = order.iter().map(|call| units[*call]).collect(),
            Change::Call { call, name, args } => {
                units[*call].0 = number_of_call(self.run, *call, name, args);
            }
            Change::FailResult(call) => units[*call].1 = number(&"failed"),
            Change::DropResult(call) => units[*call].1 = number::<[(bool, String)]>(&[]),
            Change::Closing(text) => said = text,
            Change::DropClosing => "no closing".clone_into(&mut whole),
            Change::Truncate(kept) => {
                units.truncate(*kept);
                "truncated".clone_into(&mut whole);
            }
            Change::GrowTokens(from) => whole = format!("tokens from {from}"),
            Change::StopReason => "stopped".clone_into(&mut whole),
        }
        number(&(units, said, whole))
    }
}

/// A number for a recorded call with this name and these arguments.
fn number_of_call(run: &Run, call: usize, name: &str, args: &Value) -> u64 {
    let recorded = run.envelope().get("tool_calls");
    let recorded = recorded.and_then(|calls| calls.get(call));
    let empty = json!({});
    let args = if args.is_null() { &empty } else { args };
    let others = recorded.and_then(Value::as_object).into_iter().flatten();
    let mut others: Vec<(&str, String)> = others
        .filter(|(key, _)| !matches!(key.as_str(), "name" | "args"))
        .map(|(key, value)| (key.as_str(), canonical_json(value)))
        .collect();
    others.sort_unstable();
    number(&(name, canonical_json(args), others))
}

fn number<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
