//! The recorded calls: how each ended, and what stands in its arguments and result.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::trace::{LazyValue, ToolCall, ToolResult, Trace};
use serde_json::Value;

use super::identifier;
use super::lexicon::{Lexicon, Words, lower};
use super::marks::{Mark, Marks, of};
use super::tools::ToolBox;

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Succeeded,
    Failed,
    Unanswered,
}

/// A recorded call. What stands in it is read when a claim first asks for it.
#[derive(Debug)]
pub(super) struct Call<'t> {
    pub(super) recorded: &'t ToolCall,
    pub(super) ending: Ending,
    result: Option<&'t LazyValue>,
    identifiers: OnceCell<BTreeSet<Cow<'t, str>>>,
}

impl<'t> Call<'t> {
    fn of(recorded: &'t ToolCall, result: Option<&'t ToolResult>) -> Self {
        let ending = match result {
            None => Ending::Unanswered,
            Some(result) if result.is_error => Ending::Failed,
            Some(_) => Ending::Succeeded,
        };
        let result = result.map(|result| &result.result);
        let identifiers = OnceCell::new();
        Self {
            recorded,
            ending,
            result,
            identifiers,
        }
    }

    pub(super) fn succeeded(&self) -> bool {
        self.ending == Ending::Succeeded
    }

    /// The identifiers in its arguments and its result.
    fn identifiers(&self) -> &BTreeSet<Cow<'t, str>> {
        self.identifiers.get_or_init(|| {
            let mut found = BTreeSet::new();
            for value in [&self.recorded.args].into_iter().chain(self.result) {
                texts(value, &mut |text, _| identifier::collect(text, &mut found));
            }
            found
        })
    }

    pub(super) fn carries(&self, identifier: &str) -> bool {
        self.identifiers().contains(identifier)
    }

    /// Its other identifiers of the same kind.
    pub(super) fn of_kind<'c>(&'c self, identifier: &'c str) -> impl Iterator<Item = &'c str> {
        let all = self.identifiers().iter().map(AsRef::as_ref);
        all.filter(move |other| *other != identifier && identifier::same_kind(other, identifier))
    }
}

/// The calls of a run, with what claims are compared by.
#[derive(Debug)]
pub(super) struct Calls<'t> {
    trace: &'t Trace,
    tools: &'t ToolBox<'t>,
    pub(super) all: Vec<Call<'t>>,
    /// Indices of calls by tool.
    by_tool: BTreeMap<&'t str, Vec<usize>>,
    /// Every identifier of the run, the user's among them.
    known: OnceCell<BTreeSet<Cow<'t, str>>>,
    /// Verbs whose participles stand in results of calls that only read, with those calls.
    read: OnceCell<Words<&'static str, Vec<usize>>>,
}

impl<'t> Calls<'t> {
    pub(super) fn of(trace: &'t Trace, tools: &'t ToolBox<'t>) -> Self {
        let calls = trace.tool_calls.iter().zip(trace.results_by_call());
        let mut by_tool: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, call) in trace.tool_calls.iter().enumerate() {
            by_tool.entry(&call.name).or_default().push(index);
        }
        Self {
            trace,
            tools,
            all: calls.map(|(call, result)| Call::of(call, result)).collect(),
            by_tool,
            known: OnceCell::new(),
            read: OnceCell::new(),
        }
    }

    /// The calls of a tool.
    pub(super) fn of_tool(&self, tool: &str) -> &[usize] {
        self.by_tool.get(tool).map_or(&[], Vec::as_slice)
    }

    /// The tools with a successful call.
    pub(super) fn successful_tools(&self) -> impl Iterator<Item = &'t str> {
        let done = |calls: &[usize]| calls.iter().any(|call| self.all[*call].succeeded());
        let tools = self.by_tool.iter().filter(move |(_, calls)| done(calls));
        tools.map(|(tool, _)| *tool)
    }

    /// Whether an identifier stands in any call, or the user named it.
    pub(super) fn knows(&self, identifier: &str) -> bool {
        let known = self.known.get_or_init(|| {
            let of_calls = self.all.iter().flat_map(Call::identifiers);
            let mut known: BTreeSet<Cow<'_, str>> = of_calls.cloned().collect();
            let turns = self.trace.conversation.turns.iter();
            for turn in turns.filter(|turn| turn.role == "user") {
                identifier::collect(&turn.content, &mut known);
            }
            known
        });
        known.contains(identifier)
    }

    /// Whether a clause names an argument that these calls have otherwise and only failed ones have so.
    pub(super) fn only_failed(&self, clause: &str, tools: &BTreeSet<&str>, done: &[usize]) -> bool {
        let says = |text: &str| {
            let mut words = clause.split(|c: char| !c.is_alphanumeric());
            !text.is_empty() && words.any(|word| word.eq_ignore_ascii_case(text))
        };
        let calls = tools.iter().flat_map(|tool| self.of_tool(tool));
        let failed = calls.filter(|call| self.all[**call].ending == Ending::Failed);
        let arguments = failed.filter_map(|call| self.all[*call].recorded.args.as_object());
        !done.is_empty()
            && arguments.flatten().any(|(key, value)| {
                let argument = |call: &usize| self.all[*call].recorded.args.get(key);
                let other = |call: &usize| argument(call).is_some_and(|other| other != value);
                value.as_str().is_some_and(says) && done.iter().all(other)
            })
    }

    /// Whether a call that only reads returned the state that a verb leads to, of one of these
    /// identifiers if there are any.
    pub(super) fn was_read(&self, verb: &str, identifiers: &[String]) -> bool {
        let calls = self.read().get(verb).map_or(&[][..], Vec::as_slice);
        let of = |call: &usize| identifiers.iter().any(|id| self.all[*call].carries(id));
        calls.iter().any(|call| identifiers.is_empty() || of(call))
    }

    fn read(&self) -> &Words<&'static str, Vec<usize>> {
        self.read.get_or_init(|| {
            let lexicon = Lexicon::get();
            let mut read = Words::default();
            for (index, call) in self.all.iter().enumerate() {
                let reads = call.succeeded() && !self.tools.writes(&call.recorded.name);
                let Some(result) = call.result.filter(|_| reads) else {
                    continue;
                };
                stated(result, &mut |text, is_key| {
                    let words = text.split(|c: char| !c.is_ascii_alphabetic());
                    let words = words.filter(|word| !word.is_empty()).map(lower);
                    // Every record has a `created_at` and an `updated_at`.
                    let kept = is_key && words.clone().count() <= 2;
                    // *can be cancelled* tells no state.
                    let mut before_be = false;
                    for word in words {
                        let after_be = std::mem::replace(&mut before_be, word == "be");
                        let known = lexicon.word(&word).filter(|_| !after_be);
                        let state = known.filter(|word| word.marks.has(Mark::Participle));
                        let Some(verb) = state.and_then(|word| word.verb) else {
                            continue;
                        };
                        if kept && lexicon.marks(verb).meets(of![Creating Generic]) {
                            continue;
                        }
                        let calls: &mut Vec<usize> = read.entry(verb).or_default();
                        if calls.last() != Some(&index) {
                            calls.push(index);
                        }
                    }
                });
            }
            read
        })
    }
}

/// Gives every text of a value that states something, and whether it is a key: a key does where its
/// value is neither nothing nor *no*. JSON in a text is read too.
fn stated(value: &Value, give: &mut impl FnMut(&str, bool)) {
    match value {
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
            match serde_json::from_str(text) {
                Ok(inner @ (Value::Object(_) | Value::Array(_))) => stated(&inner, give),
                _ => give(text, false),
            }
        }
        Value::String(text) => give(text, false),
        Value::Array(items) => items.iter().for_each(|item| stated(item, give)),
        Value::Object(fields) => {
            for (key, field) in fields {
                let nothing = match field {
                    Value::Null | Value::Bool(false) => true,
                    Value::String(text) => text.is_empty(),
                    Value::Array(items) => items.is_empty(),
                    Value::Number(number) => number.as_f64() == Some(0.0),
                    _ => false,
                };
                if !nothing {
                    give(key, true);
                }
                stated(field, give);
            }
        }
        _ => {}
    }
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
