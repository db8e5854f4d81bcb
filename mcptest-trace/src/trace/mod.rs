//! What an agent did: the trace envelope, its typed form, and how recorded runs are read.
//!
//! A recorded run holds a *trace envelope*: the tool calls with their arguments, one result each,
//! the closing message, and the conversation around them. The metrics in [`crate::eval`] take
//! either the raw envelope (a [`serde_json::Value`], read conservatively) or the typed [`Trace`];
//! [`AsTrace`] is what lets them.
//!
//! A run is read in `cassette`, files in `files`; `layout` says how several runs lie in files. Nothing in this
//! module knows about suites, gates or test cases.

mod build;
mod canonical;
mod cassette;
mod conversation;
mod digest;
mod envelope;
mod error;
mod faithful;
pub(crate) mod fields;
mod files;
mod foreign_file;
mod json;
mod layout;
mod lazy;
pub(crate) mod leaves;
mod location;
mod number;
mod origin;
mod own;
mod own_name;
mod parse;
mod read;
mod read_only;
mod reader;
pub(crate) mod responses;
mod score;
mod settings;
mod sub_agent;
#[cfg(test)]
mod tests;
mod text_calls;
mod tool_name;
mod tool_words;
mod tools;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[doc(hidden)]
pub use canonical::value_json;
#[cfg(feature = "store")]
pub(crate) use canonical::without_null;
pub use canonical::{canonical_json, json_eq, pretty_json};
pub(crate) use canonical::{for_each_scalar, for_each_text};
pub use cassette::{Run, SCHEMA_VERSION, parse_run};
pub use conversation::{
    Conversation, Outcome, PerTurn, Signals, StepTokens, StopReason, Tokens, Turn,
};
pub use digest::group_alike;
pub(crate) use envelope::Make;
#[doc(hidden)]
pub use envelope::PathKeys;
pub use error::{CassetteError, Flaw};
pub use files::{MAX_BYTES, group_equal_but_for_time, read_file, read_runs};
use json::Json;
pub use layout::Layout;
pub use lazy::LazyValue;
pub use location::Location;
#[doc(hidden)]
pub use location::without_rounding;
pub use origin::Origin;
pub use own::{Attempt, GivenAnswers, OwnSide, OwnToolCall, OwnTools};
pub(crate) use own_name::own_names;
pub use read_only::ReadOnlyTools;
pub(crate) use read_only::read_only_hints;
pub use reader::Problem;
pub use score::Score;
#[doc(hidden)]
pub use settings::RequestSettings;
#[doc(hidden)]
pub use text_calls::{runs_blocks, text_call_form};
pub use tool_name::reads_by_name;
pub(crate) use tool_name::{reads_by_words, split_server, to_snake_case, tool_name_words};
pub use tools::OfferedTool;

/// The JSON Schema of cassettes, for editors and recorders.
pub const CASSETTE_SCHEMA: &str = include_str!("../../schemas/cassette.schema.json");

/// The recorded behaviour of one agent run.
///
/// ```
/// use mcptest_trace::trace::Trace;
/// use serde_json::json;
///
/// let trace = Trace::from_envelope(&json!({
///     "tool_calls": [{ "name": "search", "server": "docs", "args": { "q": "a" } }],
///     "conversation": { "tokens": { "total": 3000 } },
/// }));
/// assert_eq!(trace.tool_calls[0].name, "search");
/// assert_eq!(trace.conversation.tokens.total, Some(3000));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Trace {
    /// The calls in the order the agent made them.
    pub tool_calls: Vec<ToolCall>,
    /// The results in the order of the calls; each names the call it answers.
    pub tool_results: Vec<ToolResult>,
    /// The closing message, when the run had one.
    pub final_response: Option<String>,
    /// Turns, tokens and how the run stopped.
    pub conversation: Conversation,
    /// What judges, people and rubrics scored elsewhere, in the order of the recording.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scores: Vec<Score>,
    /// Whether the recording says that a result without a flag may be an error, also where others have one.
    #[serde(skip)]
    pub flags_are_partial: bool,
}

/// One tool call.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolCall {
    /// The tool's name without any `<server>__` wire prefix.
    pub name: String,
    /// The server that offers the tool; empty when it was not recorded.
    pub server: String,
    /// The arguments; `null` when they were not recorded.
    pub args: LazyValue,
    /// Position of the call in the agent's loop, as recorded.
    pub hop_index: Option<u64>,
    /// Index into [`Conversation::steps`] of the model response that made the call. Calls with the
    /// same step were made in parallel.
    pub step: Option<u64>,
    /// Who called, for calls made by model-written code; a direct call has none.
    pub caller: Option<Value>,
    /// The sub-agent that called, as recorded.
    pub agent_id: Option<String>,
    /// Digest of what the call depended on, as recorded.
    pub inputs_digest: Option<String>,
    /// What the agent's own code says of the call, where that is not what the model asked or was told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own: Option<Box<OwnSide>>,
}

/// The result of one tool call.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolResult {
    /// Index into [`Trace::tool_calls`].
    pub call_index: usize,
    /// The server that answered; empty when it was not recorded.
    pub server: String,
    /// Whether it is an error: `is_error` says so, or MCP's own `isError` inside the result does, or
    /// a fault answered.
    pub is_error: bool,
    /// Whether the recording says if it is an error or not; where no result of a run does, errors
    /// are unknown ([`Trace::errors_unknown`]).
    pub error_known: bool,
    /// The payload as the server returned it; `null` when it was not recorded.
    pub result: LazyValue,
    /// Set when a fault answered in the server's place.
    pub synthesized: Option<Synthesized>,
    /// How long the call took, in milliseconds; `None` when it was not recorded.
    pub duration_ms: Option<u64>,
}

/// The fault that answered a call in the server's place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Synthesized {
    /// The fault's name in the suite.
    pub fault: String,
    /// The fault's kind, e.g. `hang`.
    pub kind: String,
}

impl Trace {
    /// Reads an envelope, taking what is missing or malformed conservatively: absent lists are
    /// empty, absent counts 0, absent arguments `null`, an absent server the empty name.
    #[must_use]
    pub fn from_envelope(envelope: &Value) -> Self {
        read::trace(Json::from_value(envelope), &mut Vec::new())
    }

    /// Reads an envelope and also returns everything that was malformed in it, with its path.
    #[must_use]
    pub fn check_envelope(envelope: &Value) -> (Self, Vec<Problem>) {
        let mut problems = Vec::new();
        let trace = read::trace(Json::from_value(envelope), &mut problems);
        (trace, problems)
    }

    /// The result of every call, by the call's index. Where a call has several, the latest one,
    /// unless one of them is an error: then the latest error, and the call is an error.
    #[must_use]
    pub fn results_by_call(&self) -> Vec<Option<&ToolResult>> {
        let mut by_call: Vec<Option<&ToolResult>> = vec![None; self.tool_calls.len()];
        for result in &self.tool_results {
            if let Some(slot) = by_call.get_mut(result.call_index)
                && (result.is_error || !slot.is_some_and(|earlier| earlier.is_error))
            {
                *slot = Some(result);
            }
        }
        by_call
    }

    /// In how many results an error would not show: all of them where no result of the run says
    /// whether it is one (neither `is_error` nor MCP's `isError`), as in many imported runs; else
    /// none, as what is left out beside results that say so is a success, unless the recording says that its format could not
    /// tell (`session.unknown`).
    ///
    /// ```
    /// use mcptest_trace::trace::Trace;
    /// use serde_json::json;
    ///
    /// let calls = json!([{ "name": "search" }]);
    /// let run = |result| Trace::from_envelope(&json!({ "tool_calls": calls, "tool_results": [result] }));
    /// assert_eq!(run(json!({ "call_index": 0, "result": "Error: no such page" })).errors_unknown(), 1);
    /// assert_eq!(run(json!({ "call_index": 0, "result": { "isError": false } })).errors_unknown(), 0);
    /// ```
    #[must_use]
    pub fn errors_unknown(&self) -> usize {
        let unknown = self
            .tool_results
            .iter()
            .filter(|result| !result.error_known);
        let unknown = unknown.count();
        if unknown < self.tool_results.len() && !self.flags_are_partial {
            0
        } else {
            unknown
        }
    }

    /// The scores of a name; each judge has its own.
    pub fn scores_named(&self, name: &str) -> impl Iterator<Item = &Score> {
        self.scores.iter().filter(move |score| score.name == name)
    }

    /// The closing message: `final_response`, else the last assistant turn that is not a tool-use
    /// turn, else nothing. Blank text does not count.
    #[must_use]
    pub fn closing(&self) -> Option<&str> {
        let spoken = |text: &&str| !text.trim().is_empty();
        self.final_response.as_deref().filter(spoken).or_else(|| {
            let turns = self.conversation.turns.iter().rev();
            turns
                .filter(|turn| turn.is_assistant() && !turn.is_tool_use())
                .map(|turn| turn.content.as_str())
                .find(spoken)
        })
    }

    /// What the agent said before the [closing](Self::closing), each message with the index of its
    /// turn; turns that stand for tool calls are none.
    pub fn messages_before_closing(&self) -> impl Iterator<Item = (usize, &str)> {
        let closing = self.closing();
        let turns = self.conversation.turns.iter().enumerate();
        let said = turns.filter(|(_, turn)| turn.is_assistant() && !turn.is_tool_use());
        let said = said.map(|(index, turn)| (index, turn.content.as_str()));
        let mut said: Vec<_> = said.filter(|(_, text)| !text.trim().is_empty()).collect();
        if said.last().map(|(_, text)| text.trim()) == closing.map(str::trim) {
            said.pop();
        }
        said.into_iter()
    }

    /// How many times the model was called, as `max_turns` counts: the recorded `steps`; else as many
    /// as the last `step` of a tool call says and one for each answer after it, or the assistant
    /// turns, with a run of `tool_use` turns as one, whichever is more.
    #[must_use]
    pub fn model_calls(&self) -> u64 {
        responses::model_calls(self)
    }

    /// The tokens of the whole run, where they were recorded. A model call takes some, so a recording that states
    /// 0 of a run that called a model does not know them.
    ///
    /// ```
    /// use mcptest_trace::trace::Trace;
    /// use serde_json::json;
    ///
    /// let run = |said: &str| Trace::from_envelope(&json!({ "conversation": {
    ///     "tokens": { "prompt": 0, "completion": 0, "total": 0 },
    ///     "turns": [{ "role": said, "content": "Hello." }],
    /// } }));
    /// assert_eq!(run("user").tokens_taken(), Some(0));
    /// assert_eq!(run("assistant").tokens_taken(), None);
    /// ```
    #[must_use]
    pub fn tokens_taken(&self) -> Option<u64> {
        let total = self.conversation.tokens.total;
        let called =
            self.model_calls() > 0 || !self.tool_calls.is_empty() || self.final_response.is_some();
        total.filter(|total| *total > 0 || !called)
    }

    /// Whether a cap ended the run: a recorded stop reason other than `completed`.
    #[must_use]
    pub fn truncated(&self) -> bool {
        let reason = self.conversation.stop_reason.as_ref();
        reason.is_some_and(|reason| *reason != StopReason::Completed)
    }

    /// Number of calls that repeat an earlier call with the same name, server and arguments, where no
    /// other call in between changed anything: reading again after a change is no waste. What changes
    /// something is told by the tools' names ([`reads_by_name`]); a failed call changes nothing.
    ///
    /// ```
    /// use mcptest_trace::trace::Trace;
    /// use serde_json::json;
    ///
    /// let run = |names: &[&str]| {
    ///     let calls: Vec<_> = names.iter().map(|name| json!({ "name": name })).collect();
    ///     let results: Vec<_> = (0..calls.len())
    ///         .map(|call| json!({ "call_index": call, "is_error": false }))
    ///         .collect();
    ///     Trace::from_envelope(&json!({ "tool_calls": calls, "tool_results": results }))
    /// };
    /// assert_eq!(run(&["get_order", "get_user", "get_order"]).redundant_tool_calls(), 1);
    /// assert_eq!(run(&["get_order", "cancel_order", "get_order"]).redundant_tool_calls(), 0);
    /// assert_eq!(run(&["cancel_order", "cancel_order"]).redundant_tool_calls(), 1);
    /// ```
    #[must_use]
    pub fn redundant_tool_calls(&self) -> usize {
        self.redundant_among(&ReadOnlyTools::default())
    }

    /// [`Self::redundant_tool_calls`] where more than their names is known of the tools.
    pub(crate) fn redundant_among(&self, tools: &ReadOnlyTools) -> usize {
        let results = self.results_by_call();
        let mut latest = HashMap::new();
        let mut last_change = None;
        let mut redundant = 0;
        for (index, (call, result)) in self.tool_calls.iter().zip(results).enumerate() {
            let repeated = latest.insert(call.key(), index);
            if repeated.is_some_and(|earlier| last_change <= Some(earlier)) {
                redundant += 1;
            }
            if !tools.is_read_only_call(call) && result.is_some_and(|result| !result.is_error) {
                last_change = Some(index);
            }
        }
        redundant
    }

    /// Number of calls that repeat an earlier call with the same name, server and arguments, whatever
    /// happened in between.
    #[must_use]
    pub fn repeated_tool_calls(&self) -> usize {
        self.tool_calls.len() - self.distinct_tool_calls()
    }

    /// Number of calls that differ in name, server or arguments, by value.
    #[must_use]
    pub fn distinct_tool_calls(&self) -> usize {
        let keys = self.tool_calls.iter().map(ToolCall::key);
        keys.collect::<HashSet<_>>().len()
    }
}

impl ToolCall {
    /// The arguments as canonical JSON; `{}` where none are recorded.
    #[must_use]
    pub fn arguments_json(&self) -> String {
        if self.args.is_null() {
            "{}".to_owned()
        } else {
            canonical_json(&self.args)
        }
    }

    /// What makes two calls the same call: name, server, arguments by value (`1` is `1.0`).
    #[must_use]
    pub fn key(&self) -> (&str, &str, String) {
        let arguments = if self.args.is_null() {
            "{}".to_owned()
        } else {
            value_json(&self.args)
        };
        (&self.name, &self.server, arguments)
    }
}

/// Something a metric can read a [`Trace`] from.
///
/// Implemented for the typed trace (borrowed as it is) and for a raw envelope (read as
/// [`Trace::from_envelope`] does).
pub trait AsTrace {
    /// The typed trace.
    fn as_trace(&self) -> Cow<'_, Trace>;
}

impl AsTrace for Trace {
    fn as_trace(&self) -> Cow<'_, Trace> {
        Cow::Borrowed(self)
    }
}

impl AsTrace for Value {
    fn as_trace(&self) -> Cow<'_, Trace> {
        Cow::Owned(Trace::from_envelope(self))
    }
}

impl<T: AsTrace + ?Sized> AsTrace for &T {
    fn as_trace(&self) -> Cow<'_, Trace> {
        (**self).as_trace()
    }
}
