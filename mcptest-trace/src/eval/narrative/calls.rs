//! The recorded calls: how each ended, and what stands in its arguments and result.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::trace::{ToolCall, Trace};
use serde_json::Value;

use super::identifier;
use super::lexicon::Lexicon;
use super::marks::Mark;
use super::tools::ToolBox;

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Succeeded,
    Failed,
    Unanswered,
}

/// The calls of a run, with what claims are compared by.
#[derive(Debug)]
pub(super) struct Calls<'t> {
    pub(super) recorded: &'t [ToolCall],
    pub(super) endings: Vec<Ending>,
    /// Indices of calls by tool.
    by_tool: BTreeMap<&'t str, Vec<usize>>,
    /// The identifiers in arguments and result of each call.
    identifiers: Vec<BTreeSet<String>>,
    /// Every identifier of the run, the user's among them.
    known: BTreeSet<String>,
    /// Participles in results of calls that only read, with those calls.
    read: HashMap<String, Vec<usize>>,
}

impl<'t> Calls<'t> {
    pub(super) fn of(trace: &'t Trace, tools: &ToolBox) -> Self {
        let results = trace.results_by_call();
        let mut calls = Self {
            recorded: &trace.tool_calls,
            endings: Vec::with_capacity(results.len()),
            by_tool: BTreeMap::new(),
            identifiers: Vec::with_capacity(results.len()),
            known: BTreeSet::new(),
            read: HashMap::new(),
        };
        for (index, (call, result)) in trace.tool_calls.iter().zip(results).enumerate() {
            let ending = match result {
                None => Ending::Unanswered,
                Some(result) if result.is_error || says_error(&result.result) => Ending::Failed,
                Some(_) => Ending::Succeeded,
            };
            calls.endings.push(ending);
            calls.by_tool.entry(&call.name).or_default().push(index);
            let mut identifiers = BTreeSet::new();
            identifier::collect(&call.args, &mut identifiers);
            if let Some(result) = result {
                identifier::collect(&result.result, &mut identifiers);
                if ending == Ending::Succeeded && !tools.writes(&call.name) {
                    calls.note_read(&result.result, index);
                }
            }
            calls.known.extend(identifiers.iter().cloned());
            calls.identifiers.push(identifiers);
        }
        for turn in &trace.conversation.turns {
            if turn.role == "user" {
                identifier::collect_text(&turn.content, &mut calls.known);
            }
        }
        calls
    }

    /// Notes the participles in what a call read: `cancelled`, `confirmed`.
    fn note_read(&mut self, value: &Value, call: usize) {
        match value {
            Value::String(text) => {
                for word in text.split(|c: char| !c.is_ascii_alphabetic()) {
                    let word = word.to_lowercase();
                    if Lexicon::get().is(&word, Mark::Participle) {
                        let calls = self.read.entry(word).or_default();
                        if calls.last() != Some(&call) {
                            calls.push(call);
                        }
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.note_read(item, call)),
            Value::Object(fields) => fields.values().for_each(|item| self.note_read(item, call)),
            _ => {}
        }
    }

    /// The calls of a tool.
    pub(super) fn of_tool(&self, tool: &str) -> &[usize] {
        self.by_tool
            .get(tool)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    pub(super) fn succeeded(&self, call: usize) -> bool {
        self.endings.get(call) == Some(&Ending::Succeeded)
    }

    /// The tools with a successful call.
    pub(super) fn successful_tools(&self) -> impl Iterator<Item = &'t str> {
        let done = self
            .by_tool
            .iter()
            .filter(|(_, calls)| calls.iter().any(|call| self.succeeded(*call)));
        done.map(|(tool, _)| *tool)
    }

    pub(super) fn knows(&self, identifier: &str) -> bool {
        self.known.contains(identifier)
    }

    pub(super) fn carries(&self, call: usize, identifier: &str) -> bool {
        self.identifiers
            .get(call)
            .is_some_and(|identifiers| identifiers.contains(identifier))
    }

    /// Other identifiers of the same kind in a call.
    pub(super) fn of_kind<'c>(
        &'c self,
        call: usize,
        identifier: &'c str,
    ) -> impl Iterator<Item = &'c str> {
        let identifiers = self.identifiers.get(call).into_iter().flatten();
        identifiers
            .map(String::as_str)
            .filter(move |other| *other != identifier && identifier::same_kind(other, identifier))
    }

    /// Whether a clause names an argument that these calls have otherwise and only failed ones have so.
    pub(super) fn only_failed(&self, clause: &str, tools: &BTreeSet<&str>, done: &[usize]) -> bool {
        let failed = tools
            .iter()
            .flat_map(|tool| self.of_tool(tool))
            .filter(|call| self.endings.get(**call) == Some(&Ending::Failed));
        let says = |text: &str| {
            let mut words = clause.split(|c: char| !c.is_alphanumeric());
            !text.is_empty() && words.any(|word| word.eq_ignore_ascii_case(text))
        };
        let argument = |call: usize, key: &str| self.recorded.get(call)?.args.get(key);
        failed
            .filter_map(|call| self.recorded.get(*call)?.args.as_object())
            .flatten()
            .any(|(key, value)| {
                let named = value.as_str().is_some_and(says);
                let other = |call: &usize| argument(*call, key).is_some_and(|other| other != value);
                named && !done.is_empty() && done.iter().all(other)
            })
    }

    /// Whether a call that only reads returned a state, of one of these identifiers if there are any.
    pub(super) fn was_read(&self, word: &str, identifiers: &[String]) -> bool {
        let calls = self.read.get(word).map(Vec::as_slice).unwrap_or_default();
        let of = |call: &usize| identifiers.iter().any(|id| self.carries(*call, id));
        calls.iter().any(|call| identifiers.is_empty() || of(call))
    }
}

/// Whether an MCP result says of itself that it is an error.
fn says_error(result: &Value) -> bool {
    result.get("isError").and_then(Value::as_bool) == Some(true)
}
