//! The calls of own tools that a recording has: its notes; of tools without a note, as in a recording that is older than the
//! door in the code, what the model was told of each call.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use mcptest_trace::trace::{ToolCall, ToolResult, Trace};
use serde_json::Value;

use super::entry::{Ending, OwnCall, RaisedError};
use super::matching::is_same_tool;
use super::read::{read_names, without_args};
use crate::json::{list, parse_count};
use crate::play::call_index::CallIndex;

/// A recorded call.
#[derive(Debug, Clone, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and all go together"
)]
pub(crate) struct RecordedOwnCall {
    pub(crate) own: OwnCall,
    /// Arguments that the recording names and does not keep.
    pub(crate) omitted: Vec<String>,
    /// The call of the trace that it is.
    pub(crate) call: Option<usize>,
    /// The answer of the model before it, of a call that no model asked for in a call.
    pub(crate) step: Option<usize>,
    /// The call inside of which it was made.
    pub(crate) inside: Option<usize>,
    /// The calls that may have been that one.
    pub(crate) open: Vec<usize>,
    /// Only what the model was told of it is known.
    pub(crate) told: bool,
    /// No model asked for it in a call: the agent acts in text.
    pub(crate) in_text: bool,
    /// Whether it failed is known.
    pub(crate) knows_error: bool,
    /// The model was told what it gave, so that the code made it before it asked the model again.
    pub(crate) tells: bool,
}

/// The calls of a recording, and what finds them.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecordedCalls {
    pub(crate) calls: Vec<RecordedOwnCall>,
    pub(super) index: CallIndex,
    /// By the calls of the trace.
    pub(super) by_call: HashMap<usize, Vec<usize>>,
    /// By the tool.
    pub(super) by_name: HashMap<String, Vec<usize>>,
    /// What is omitted of the arguments of each tool.
    omitted: HashMap<String, BTreeSet<Vec<String>>>,
    /// The calls of the trace by the identifiers that the client is given.
    pub(crate) ids: HashMap<String, Vec<usize>>,
}

impl RecordedCalls {
    /// What a recording has: its notes, and its trace.
    pub(crate) fn from_notes(notes: &[Value], trace: &Trace) -> Self {
        let made = trace.tool_calls.iter().zip(trace.results_by_call());
        let tells: Vec<bool> = made
            .map(|(call, result)| tells_result(call, result))
            .collect();
        let own = notes.iter().filter_map(|note| {
            let call = parse_index(note.get("call"));
            let is_late = note["late"] == true;
            Some(RecordedOwnCall {
                tells: !is_late
                    && note["in_text"] != true
                    && call.is_some_and(|call| tells.get(call) == Some(&true)),
                own: OwnCall::from_json(note)?,
                omitted: read_names(note, "omitted"),
                call: call.filter(|call| *call < trace.tool_calls.len()),
                step: call
                    .and_then(|call| trace.tool_calls.get(call)?.step)
                    .and_then(|step| usize::try_from(step).ok()),
                inside: parse_index(note.get("inside")),
                open: list(note, "ids_open")
                    .iter()
                    .filter_map(|open| parse_index(Some(open)))
                    .collect(),
                told: false,
                in_text: note["in_text"] == true,
                knows_error: true,
            })
        });
        let mut calls: Vec<RecordedOwnCall> = own.collect();
        let known = calls.iter().map(|call| call.own.name.as_str());
        let known: BTreeSet<&str> = known.collect();
        let is_noted = |tool: &str| known.iter().any(|name| is_same_tool(name, tool));
        let made = trace.tool_calls.iter().zip(trace.results_by_call());
        let told = made.enumerate();
        let told = told.filter(|(_, (call, _))| !is_noted(&call.name));
        let told = told.map(|(place, (call, result))| {
            let mut own = OwnCall::new(&call.name, Value::clone(&call.args));
            if let Some(result) = result {
                own.ending = ending_from_told(result_text(&result.result), result.is_error);
            }
            RecordedOwnCall {
                own,
                omitted: Vec::new(),
                call: Some(place),
                step: None,
                inside: None,
                open: Vec::new(),
                told: true,
                tells: false,
                in_text: false,
                knows_error: result.is_some_and(|result| result.error_known),
            }
        });
        let told: Vec<RecordedOwnCall> = told.collect();
        calls.extend(told);
        let mut all = Self::default();
        for (place, call) in calls.iter().enumerate() {
            let name = &call.own.name;
            if let Some(of) = call.call {
                all.by_call.entry(of).or_default().push(place);
            }
            all.by_name.entry(name.clone()).or_default().push(place);
            let omitted = all.omitted.entry(name.clone()).or_default();
            omitted.insert(call.omitted.clone());
        }
        let asked = calls.iter();
        let asked = asked.map(|call| (call.own.name.as_str(), Cow::Borrowed(&call.own.args)));
        all.index = CallIndex::from_calls(asked);
        all.calls = calls;
        all
    }

    /// The calls of the trace that no model asked for in a call.
    pub(crate) fn calls_in_text(&self) -> HashSet<usize> {
        let in_text = self.calls.iter().filter(|call| call.in_text);
        in_text.filter_map(|call| call.call).collect()
    }

    /// The names that the recording has for a tool, each with the arguments of a call as the recording may have them.
    pub(super) fn recorded_forms<'r>(
        &'r self,
        tool: &'r str,
        args: &'r Value,
    ) -> impl Iterator<Item = (&'r str, Value)> {
        self.names(tool).flat_map(move |name| {
            let omitted = self.omitted.get(name).into_iter().flatten();
            omitted.map(move |omitted| (name, without_args(args, omitted)))
        })
    }

    /// The names that the recording has for a tool: that of the code, else those that its model has for it.
    pub(super) fn names<'r>(&'r self, tool: &'r str) -> impl Iterator<Item = &'r str> {
        let own = self.by_name.get_key_value(tool).map(|(name, _)| name);
        let others = self
            .by_name
            .keys()
            .filter(move |name| own.is_none() && is_same_tool(name, tool));
        own.into_iter().chain(others).map(String::as_str)
    }
}

/// A place in a list.
fn parse_index(written: Option<&Value>) -> Option<usize> {
    usize::try_from(parse_count(written?)?).ok()
}

/// Whether the model was told what the tool of a call gave. Where it was told something else, such as that the tool works in
/// the background, nothing says when the tool was called.
fn tells_result(call: &ToolCall, result: Option<&ToolResult>) -> bool {
    let is_other = call.own.as_ref().is_some_and(|own| own.result.is_some());
    result.is_some_and(|result| result.error_known && !result.is_error) && !is_other
}

/// How a call ended of which is known what the model was told.
fn ending_from_told(words: Value, is_error: bool) -> Ending {
    if !is_error {
        return Ending::Result(words);
    }
    let text = words
        .as_str()
        .map_or_else(|| words.to_string(), str::to_owned);
    Ending::Error(RaisedError::new("ToolError", text))
}

/// The text of a result, where it is one of MCP's form.
fn result_text(result: &Value) -> Value {
    let Some(blocks) = result["content"].as_array() else {
        return result.clone();
    };
    let texts = blocks.iter().map(|block| block["text"].as_str());
    match texts.collect::<Option<Vec<&str>>>() {
        Some(texts) => texts.join("\n").into(),
        None => result.clone(),
    }
}
