//! Which mutants of a run are the same run: told from what a change makes of it, without making it. A change of a call
//! is told in the time of the change, however many calls there are: the number of a list of calls is put together from
//! numbers of its ranges, that of arguments from one number for each of their places.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use crate::trace::leaves::{PathPart, pointer};
use crate::trace::{Run, canonical_json};
use serde_json::Value;

use super::change::{ArgsEdit, Change, arguments_object};

/// The original and the mutants seen so far.
pub(super) struct Fingerprints<'a> {
    run: &'a Run,
    calls: Vec<CallNumbers>,
    /// The number of the first calls, for each number of calls.
    first: Vec<u64>,
    /// The powers of [`BASE`].
    powers: Vec<u64>,
    known: BTreeSet<u64>,
}

/// The numbers of a call.
struct CallNumbers {
    args: u64,
    /// Of what was recorded beside its name and its arguments.
    others: u64,
    /// Of its results.
    results: u64,
}

/// The parts of a call that a change replaces, each as a number.
#[derive(Default)]
struct CallChange<'c> {
    name: Option<&'c str>,
    args: Option<u64>,
    results: Option<u64>,
}

impl CallChange<'_> {
    fn results(results: u64) -> Self {
        Self {
            results: Some(results),
            ..Self::default()
        }
    }
}

/// A list of calls: its number and its length.
type List = (u64, usize);

impl<'a> Fingerprints<'a> {
    pub(super) fn new(run: &'a Run) -> Self {
        let trace = &run.trace;
        let mut results: Vec<Vec<(bool, String)>> = vec![Vec::new(); trace.tool_calls.len()];
        for result in &trace.tool_results {
            if let Some(own) = results.get_mut(result.call_index) {
                own.push((result.is_error, canonical_json(&result.result)));
            }
        }
        let calls = trace.tool_calls.iter().zip(&results).enumerate();
        let calls = calls.map(|(place, (call, results))| CallNumbers {
            args: number_of_places(&arguments_object(call), ""),
            others: number(&recorded_beside(run, place)),
            results: number(results),
        });
        let mut seen = Self {
            run,
            calls: calls.collect(),
            first: vec![0],
            powers: vec![1],
            known: BTreeSet::new(),
        };
        for place in 0..seen.calls.len() {
            let unit = seen.unit(place, &CallChange::default());
            seen.first.push(add(times(seen.first[place], BASE), unit));
            seen.powers.push(times(seen.powers[place], BASE));
        }
        seen.is_new(&Change::Order(
            std::iter::once(0..trace.tool_calls.len()).collect(),
        ));
        seen
    }

    /// Whether no mutant so far, and not the original, is the same run.
    pub(super) fn is_new(&mut self, change: &Change) -> bool {
        let number = self.number(change);
        self.known.insert(number)
    }

    fn number(&self, change: &Change) -> u64 {
        let calls = match change {
            Change::Order(ranges) => {
                let ranges = ranges.iter().map(|range| self.range(range.clone()));
                ranges.fold((0, 0), |list, range| self.joined(list, range))
            }
            Change::Tool { call, name } => self.with(
                *call,
                &CallChange {
                    name: Some(name),
                    ..CallChange::default()
                },
            ),
            Change::Args { call, edit } => self.with(
                *call,
                &CallChange {
                    args: Some(self.number_of_edited(*call, edit)),
                    ..CallChange::default()
                },
            ),
            Change::FailResult(call) => self.with(*call, &CallChange::results(number(&"failed"))),
            Change::DropResult(call) => {
                let none = number::<[(bool, String)]>(&[]);
                self.with(*call, &CallChange::results(none))
            }
            Change::Truncate(kept) => self.range(0..*kept),
            Change::Claim(_) | Change::DropClosing | Change::GrowTokens(_) | Change::StopReason => {
                self.range(0..self.calls.len())
            }
        };
        // What else a change touches: the closing, and what it says of the whole run.
        let whole = match change {
            Change::Claim(claim) => claim.as_str(),
            Change::DropClosing => "no closing",
            Change::Truncate(_) => "truncated",
            Change::GrowTokens(_) => "tokens",
            Change::StopReason => "stopped",
            _ => "",
        };
        number(&(calls, whole))
    }

    /// A number for a call and its results, with what is another of it.
    fn unit(&self, call: usize, another: &CallChange<'_>) -> u64 {
        let own = &self.calls[call];
        let name = self.run.trace.tool_calls[call].name.as_str();
        let name = another.name.unwrap_or(name);
        let args = another.args.unwrap_or(own.args);
        let results = another.results.unwrap_or(own.results);
        number(&(name, args, own.others, results)) % PRIME
    }

    /// All calls, with what is another of one of them.
    fn with(&self, call: usize, another: &CallChange<'_>) -> List {
        let before = self.joined(self.range(0..call), (self.unit(call, another), 1));
        self.joined(before, self.range(call + 1..self.calls.len()))
    }

    fn range(&self, range: Range<usize>) -> List {
        let shifted = times(self.first[range.start], self.powers[range.len()]);
        let own = add(self.first[range.end], PRIME - shifted);
        (own, range.len())
    }

    fn joined(&self, (first, length): List, (then, more): List) -> List {
        // A mutant has a few calls more than the original, and each range has at most all of these.
        (add(times(first, self.powers[more]), then), length + more)
    }

    fn number_of_edited(&self, call: usize, edit: &ArgsEdit) -> u64 {
        let all = self.calls[call].args;
        let args = arguments_object(&self.run.trace.tool_calls[call]);
        let now = |at: &str, value: &Value| number_of_places(value, at);
        let before = |at: &str| args.pointer(at).map_or(0, |value| now(at, value));
        match edit {
            ArgsEdit::At(at, value) => all.wrapping_sub(before(at)).wrapping_add(now(at, value)),
            ArgsEdit::Without(key) => all.wrapping_sub(before(&pointer_to("", key))),
            ArgsEdit::With(key, value) => {
                let at = pointer_to("", key);
                let others = all.wrapping_sub(before(&at));
                others.wrapping_add(now(&at, value))
            }
        }
    }
}

/// A prime below 2^61, and a number below it: the number of a list is that of its first calls times this, and the last.
const PRIME: u64 = (1 << 61) - 1;
const BASE: u64 = 0x0123_4567_89ab_cdef;

fn add(a: u64, b: u64) -> u64 {
    (a + b) % PRIME
}

fn times(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b) % u128::from(PRIME);
    u64::try_from(product).unwrap_or_default()
}

/// What was recorded of a call beside its name and its arguments.
fn recorded_beside(run: &Run, call: usize) -> Vec<(&str, String)> {
    let recorded = run.envelope().get("tool_calls");
    let recorded = recorded.and_then(|calls| calls.get(call));
    let others = recorded.and_then(Value::as_object).into_iter().flatten();
    let mut others: Vec<(&str, String)> = others
        .filter(|(key, _)| !matches!(key.as_str(), "name" | "args"))
        .map(|(key, value)| (key.as_str(), canonical_json(value)))
        .collect();
    others.sort_unstable();
    others
}

fn pointer_to(parent: &str, key: &str) -> String {
    parent.to_owned() + &pointer(&[PathPart::Key(key)])
}

/// The sum of a number for each place in a value: each object, each list and each scalar.
fn number_of_places(value: &Value, at: &str) -> u64 {
    match value {
        Value::Object(map) => {
            let inner = map.iter();
            let inner = inner.map(|(key, value)| number_of_places(value, &pointer_to(at, key)));
            inner.fold(number(&(at, "{")), u64::wrapping_add)
        }
        Value::Array(items) => {
            let inner = items.iter().enumerate();
            let inner =
                inner.map(|(place, value)| number_of_places(value, &format!("{at}/{place}")));
            inner.fold(number(&(at, "[")), u64::wrapping_add)
        }
        scalar => number(&(at, canonical_json(scalar))),
    }
}

fn number<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
