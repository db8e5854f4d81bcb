//! A played run as data: what the agent's own code did, and what of it was not recorded.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::eval::{Divergence, PlaybackReport};
use crate::record::PlayedRun;
use crate::trace::Run;
use mcptest_trace::text::short_json;

/// The longest value that stands in a result as it is, in bytes of JSON.
const LONG: usize = 20_000;

/// What the agent's own code did when a recorded run was played to it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlayedFacts {
    /// The number of the run, from 1. A run that could not be played has none of these facts.
    pub run: usize,
    /// How many model calls the code made.
    pub model_calls: u64,
    /// How the code ended: 0 where it ended well.
    pub exit_status: i64,
    /// How the code ended, in words, where it did not end well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// What differs from the recording, first what was seen first; then the recorded answers that nobody asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub divergences: Vec<DivergenceFacts>,
    /// The gates that hold for the recording and not for the played run, each with what it breaks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turned: Vec<String>,
    /// The calls of the played run, where it is not as recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<PlayedCall>,
    /// The closing of the played run, where it is not as recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closing: Option<String>,
    /// The last lines of the program's standard error, where the run is not as recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stderr: Vec<String>,
}

/// One difference between what the code does and what was recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DivergenceFacts {
    /// What differs: `system_prompt`, `tools`, `tool_results`, …
    pub kind: String,
    /// The model call that shows it, from 1; 0 before the first one.
    pub call: usize,
    /// How many model calls the recording holds in this conversation.
    pub of: usize,
    /// The sub-agent or side conversation that it is in; absent for the agent's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// What differs, as a path: `tool_results[3]`.
    pub path: String,
    /// Where the recorded value stands in the recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// What happened, in a few words.
    pub message: String,
    /// The recorded value; of a very long one its beginning, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Value>,
    /// The value now; of a very long one its beginning, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub played: Option<Value>,
}

/// A tool call of a played run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlayedCall {
    /// The tool.
    pub name: String,
    /// Its server; empty where there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub server: String,
    /// The arguments; of very long ones the beginning, as text.
    pub args: Value,
    /// The result; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Whether the result is an error.
    #[serde(default)]
    pub is_error: bool,
}

impl PlayedFacts {
    /// What became of a played run, with what the gate found of it.
    pub(super) fn new(run: usize, played: &PlayedRun, report: &PlaybackReport) -> Self {
        let all = report.divergences.iter().chain(&report.unasked);
        let facts = Self {
            run: run + 1,
            model_calls: super::to_u64(report.model_calls),
            exit_status: report.exit_status,
            ended: played.ended.clone(),
            divergences: all.map(DivergenceFacts::from_divergence).collect(),
            turned: report.turned.clone(),
            ..Self::default()
        };
        if report.passed() {
            return facts;
        }
        Self {
            calls: played.run.as_ref().map(played_calls).unwrap_or_default(),
            closing: played.run.as_ref().and_then(closing_text),
            stderr: played.stderr.clone(),
            ..facts
        }
    }
}

impl DivergenceFacts {
    fn from_divergence(one: &Divergence) -> Self {
        Self {
            kind: one.kind.as_str().to_owned(),
            call: one.call,
            of: one.of,
            conversation: one.conversation.clone(),
            path: one.path.clone(),
            place: one.place.clone(),
            message: one.message.clone(),
            recorded: one.recorded.as_ref().map(shorten),
            played: one.played.as_ref().map(shorten),
        }
    }
}

fn played_calls(run: &Run) -> Vec<PlayedCall> {
    let trace = &run.trace;
    let calls = trace.tool_calls.iter().zip(trace.results_by_call());
    let of = calls.map(|(call, result)| PlayedCall {
        name: call.name.clone(),
        server: call.server.clone(),
        args: shorten(&call.args),
        result: result.map(|result| shorten(&result.result)),
        is_error: result.is_some_and(|result| result.is_error),
    });
    of.collect()
}

fn closing_text(run: &Run) -> Option<String> {
    let closing = run.trace.final_response.as_deref()?;
    Some(closing.to_owned()).filter(|text| !text.is_empty())
}

fn shorten(value: &Value) -> Value {
    let is_long = match value {
        Value::String(text) => text.len() > LONG,
        Value::Array(_) | Value::Object(_) => value.to_string().len() > LONG,
        _ => false,
    };
    match value {
        value if !is_long => value.clone(),
        Value::String(text) => {
            let end = text.floor_char_boundary(LONG);
            format!("{}… {} bytes more", &text[..end], text.len() - end).into()
        }
        value => short_json(value).into(),
    }
}
