//! The recorded calls: how each ended, and what stands in its arguments and result.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::trace::{ToolCall, ToolResult, Trace};
use serde_json::Value;

use super::identifier;
use super::lexicon::{Lexicon, Words, lower};
use super::marks::Mark;
use super::tools::ToolBox;

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Succeeded,
    Failed,
    Unanswered,
}

/// The calls of a run, with what claims are compared by. What stands in arguments and results is
/// read when a claim first asks for it.
#[derive(Debug)]
pub(super) struct Calls<'t> {
    trace: &'t Trace,
    tools: &'t ToolBox<'t>,
    results: Vec<Option<&'t ToolResult>>,
    pub(super) endings: Vec<Ending>,
    /// Indices of calls by tool.
    by_tool: BTreeMap<&'t str, Vec<usize>>,
    /// The identifiers in arguments and result of each call.
    identifiers: Vec<OnceCell<BTreeSet<Cow<'t, str>>>>,
    /// Every identifier of the run, the user's among them.
    known: OnceCell<BTreeSet<Cow<'t, str>>>,
    /// Verbs whose participles stand in results of calls that only read, with those calls.
    read: OnceCell<Words<&'static str, Vec<usize>>>,
}

impl<'t> Calls<'t> {
    pub(super) fn of(trace: &'t Trace, tools: &'t ToolBox<'t>) -> Self {
        let results = trace.results_by_call();
        let ending = |result: Option<&ToolResult>| match result {
            None => Ending::Unanswered,
            Some(result) if result.is_error || says_error(&result.result) => Ending::Failed,
            Some(_) => Ending::Succeeded,
        };
        let mut by_tool: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, call) in trace.tool_calls.iter().enumerate() {
            by_tool.entry(&call.name).or_default().push(index);
        }
        Self {
            trace,
            tools,
            endings: results.iter().copied().map(ending).collect(),
            by_tool,
            identifiers: vec![OnceCell::new(); results.len()],
            known: OnceCell::new(),
            read: OnceCell::new(),
            results,
        }
    }

    /// The recorded calls.
    pub(super) fn recorded(&self) -> &'t [ToolCall] {
        &self.trace.tool_calls
    }

    /// The participles in what calls read: `cancelled`, `confirmed`.
    fn read(&self) -> &Words<&'static str, Vec<usize>> {
        self.read.get_or_init(|| {
            let mut read: Words<_, Vec<usize>> = Words::default();
            let calls = self.recorded().iter().zip(&self.results).enumerate();
            for (index, (call, result)) in calls {
                let reads = self.succeeded(index) && !self.tools.writes(&call.name);
                let Some(result) = result.filter(|_| reads) else {
                    continue;
                };
                texts(&result.result, &mut |text, is_key| {
                    let words = text.split(|c: char| !c.is_ascii_alphabetic()).map(lower);
                    let state = |word: Cow<'_, str>| {
                        let word = Lexicon::get().word(&word)?;
                        word.verb.filter(|_| word.marks.has(Mark::Participle))
                    };
                    for verb in words.filter_map(state).filter(|_| !is_key) {
                        read.entry(verb).or_default().push(index);
                    }
                });
            }
            read
        })
    }

    /// The identifiers of a call.
    fn identifiers(&self, call: usize) -> Option<&BTreeSet<Cow<'t, str>>> {
        let read = || {
            let mut found = BTreeSet::new();
            let arguments = self.recorded().get(call).map(|call| &call.args);
            let result = self.results.get(call).copied().flatten();
            let values = arguments
                .into_iter()
                .chain(result.map(|result| &result.result));
            let mut note = |text, _| identifier::collect(text, &mut found);
            values.for_each(|value| texts(value, &mut note));
            found
        };
        Some(self.identifiers.get(call)?.get_or_init(read))
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

    /// Whether an identifier stands in any call, or the user named it.
    pub(super) fn knows(&self, identifier: &str) -> bool {
        let known = self.known.get_or_init(|| {
            let calls = 0..self.identifiers.len();
            let of_calls = calls.filter_map(|call| self.identifiers(call));
            let mut known: BTreeSet<Cow<'_, str>> = of_calls.flatten().cloned().collect();
            let turns = self.trace.conversation.turns.iter();
            turns
                .filter(|turn| turn.role == "user")
                .for_each(|turn| identifier::collect(&turn.content, &mut known));
            known
        });
        known.contains(identifier)
    }

    pub(super) fn carries(&self, call: usize, identifier: &str) -> bool {
        self.identifiers(call)
            .is_some_and(|identifiers| identifiers.contains(identifier))
    }

    /// Other identifiers of the same kind in a call.
    pub(super) fn of_kind<'c>(
        &'c self,
        call: usize,
        identifier: &'c str,
    ) -> impl Iterator<Item = &'c str> {
        let identifiers = self.identifiers(call).into_iter().flatten();
        identifiers
            .map(AsRef::as_ref)
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
        let argument = |call: usize, key: &str| self.recorded().get(call)?.args.get(key);
        failed
            .filter_map(|call| self.recorded().get(*call)?.args.as_object())
            .flatten()
            .any(|(key, value)| {
                let named = value.as_str().is_some_and(says);
                let other = |call: &usize| argument(*call, key).is_some_and(|other| other != value);
                named && !done.is_empty() && done.iter().all(other)
            })
    }

    /// Whether a call that only reads returned a state, of one of these identifiers if there are any.
    pub(super) fn was_read(&self, verb: &str, identifiers: &[String]) -> bool {
        let calls = self.read().get(verb).map(Vec::as_slice).unwrap_or_default();
        let of = |call: &usize| identifiers.iter().any(|id| self.carries(*call, id));
        calls.iter().any(|call| identifiers.is_empty() || of(call))
    }
}

/// Whether an MCP result says of itself that it is an error.
fn says_error(result: &Value) -> bool {
    result.get("isError").and_then(Value::as_bool) == Some(true)
}

/// Gives every text of a value, and whether it is a key.
fn texts<'t>(value: &'t Value, give: &mut impl FnMut(&'t str, bool)) {
    match value {
        Value::String(text) => give(text, false),
        Value::Array(items) => items.iter().for_each(|item| texts(item, give)),
        Value::Object(fields) => {
            for (key, field) in fields {
                give(key, true);
                texts(field, give);
            }
        }
        _ => {}
    }
}
