//! Which places of a name, a small number or a date are kept.
//!
//! A page may say a value a thousand times before it says what the value is for. Of the results of one tool, one place
//! tells as much as another where it is meant for the same arguments: the first of them is kept. So a value has few
//! places however often it is said, and none is left out that a verdict hangs on.

use std::collections::HashMap;

use super::super::values::ValueKind;
use super::super::values::argument::Argument;
use super::super::values::around::Around;
use super::super::values::names::{Name, is_date_meant_for};
use super::sink::Sink;
use crate::trace::Trace;

/// A value of an argument that a place in a result may be meant for.
struct ExpectedValue<'s> {
    /// The name or the small number; a date has none.
    name: Option<&'s Name>,
    argument: &'s Argument,
}

impl ExpectedValue<'_> {
    fn is_meant(&self, around: &Around) -> bool {
        match self.name {
            Some(name) => name.is_meant_for(around, self.argument),
            None => is_date_meant_for(around, self.argument),
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        let alike = match (self.name, other.name) {
            (Some(one), Some(other)) => one.is_like(other),
            (one, other) => one.is_none() && other.is_none(),
        };
        alike && self.argument == other.argument
    }
}

/// The results of one tool that an entry takes for the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Origin {
    pub(super) tool: usize,
    /// Whether the call was told the value.
    pub(super) was_told: bool,
}

/// For each result, the number of its tool: results of one number are of one tool, all errors or none.
pub(super) fn tool_numbers(trace: &Trace) -> Vec<usize> {
    let mut known = HashMap::new();
    let number = |result: &crate::trace::ToolResult| {
        let call = trace.tool_calls.get(result.call_index);
        let tool = call.map(|call| (call.name.as_str(), call.server.as_str(), result.is_error));
        let next = known.len();
        *known.entry(tool).or_insert(next)
    };
    trace.tool_results.iter().map(number).collect()
}

/// The places that were kept.
pub(super) struct Places<'s> {
    wants: HashMap<u64, Vec<ExpectedValue<'s>>>,
    /// Of a value and an origin, for no argument and for each: whether the place stands by itself.
    kept: HashMap<(u64, Origin, Option<usize>), bool>,
}

impl<'s> Places<'s> {
    pub(super) fn for_sinks(sinks: impl Iterator<Item = &'s Sink<'s>>) -> Self {
        let mut wants: HashMap<u64, Vec<ExpectedValue<'s>>> = HashMap::new();
        let mut add = |key: u64, name: Option<&'s Name>, sink: &'s Sink<'s>| {
            let argument = &sink.argument;
            let want = ExpectedValue { name, argument };
            let known = wants.entry(key).or_default();
            if !known.iter().any(|known| known.is_like(&want)) {
                known.push(want);
            }
        };
        for sink in sinks {
            for layer in &sink.layers {
                if let Some((name, _)) = &layer.name {
                    add(name.key, Some(name), sink);
                }
                let dates = layer.values.iter().map(|(value, _)| value);
                for date in dates.filter(|value| matches!(value.kind, ValueKind::Date { .. })) {
                    add(date.key, None, sink);
                }
            }
        }
        Self {
            wants,
            kept: HashMap::new(),
        }
    }

    /// Whether a place tells what no place before it told, in the order of the calls.
    pub(super) fn is_new(
        &mut self,
        key: u64,
        origin: Origin,
        around: &Around,
        by_itself: bool,
    ) -> bool {
        let wants = self.wants.get(&key).map_or(&[][..], Vec::as_slice);
        let mut is_new = false;
        let meant = wants
            .iter()
            .enumerate()
            .map(|(at, want)| (Some(at), Some(want)));
        for (at, want) in std::iter::once((None, None)).chain(meant) {
            let known = self.kept.get(&(key, origin, at)).copied();
            let more = known.is_none_or(|known| by_itself && !known);
            if more && want.is_none_or(|want| want.is_meant(around)) {
                self.kept.insert((key, origin, at), by_itself);
                is_new = true;
            }
        }
        is_new
    }
}
