//! What the agent's own code said of its tools, beside what its model asked and was told.

use serde::Serialize;
use serde_json::Value;

use super::Synthesized;
use super::fields;
use super::json::{Json, Object};
use super::reader::Reader;

/// What the code says of a call of its own tool, where that is not what the model asked or was told.
///
/// ```
/// use mcptest_trace::trace::Trace;
/// use serde_json::json;
///
/// let trace = Trace::from_envelope(&json!({ "tool_calls": [
///     { "name": "charge", "args": { "amount": "7" }, "own": { "args": { "amount": 7 }, "by": "suite" } },
/// ] }));
/// let own = trace.tool_calls[0].own.as_ref().unwrap();
/// assert_eq!(own.args, Some(json!({ "amount": 7 })));
/// assert!(own.is_by_suite() && own.attempts.is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OwnSide {
    /// What the code called the tool with, of the arguments that the model named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    /// What the tool returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Each attempt in order, the last one among them, where the code made more than one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<Attempt>,
    /// Who answered in the place of the tool: `suite`, where its `answers:` or its faults did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Control flow ended the tool, which has not failed: the last attempt.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub left: bool,
}

impl OwnSide {
    /// Whether the suite answered, so that the tool did not run.
    #[must_use]
    pub fn is_by_suite(&self) -> bool {
        self.by.as_deref() == Some(BY_SUITE)
    }
}

/// Who answered where the suite did.
const BY_SUITE: &str = "suite";

/// One of several times that the code tried a call.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Attempt {
    /// What the code called the tool with, where that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    /// What the tool returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// How the tool failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Value>,
    /// The fault that answered in the place of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synthesized: Option<Synthesized>,
}

/// What a session noted of the tools of the agent's own code.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct OwnTools {
    /// Whether a session recorded the run; else nothing is known of own tools.
    pub is_known: bool,
    /// Each call that the code made, in order; a further attempt is a call of its own.
    pub calls: Vec<OwnToolCall>,
    /// The `answers:` that the run was recorded with; nothing where the suite had none.
    pub answers: Option<GivenAnswers>,
    /// What tells the faults from others that the run was recorded with; nothing where there were none, or nobody noted it.
    pub faults: Option<String>,
}

/// A call of a tool of the agent's own, as the code made it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OwnToolCall {
    /// The tool, as the code names it.
    pub name: String,
    /// Index into [`Trace::tool_calls`](super::Trace::tool_calls) of the call that it is; nothing where it is none of the run's.
    pub call: Option<usize>,
    /// Whether the suite answered, so that the tool did not run.
    pub by_suite: bool,
}

/// The `answers:` of a suite while a run was recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GivenAnswers {
    /// What tells them from others.
    pub fingerprint: String,
    /// How many calls each entry answered, in the order of the suite.
    pub used: Vec<u64>,
}

impl OwnTools {
    /// Reads what a session wrote. What is in another form says nothing.
    pub(super) fn from_session(session: &Value) -> Self {
        let index = |value: &Value| value.as_u64().and_then(|index| usize::try_from(index).ok());
        let noted = session.get("tools").and_then(Value::as_array);
        let calls = noted.into_iter().flatten().filter_map(|noted| {
            Some(OwnToolCall {
                name: noted.get("name")?.as_str()?.to_owned(),
                call: noted.get("call").and_then(index),
                by_suite: noted.get("by").and_then(Value::as_str) == Some(BY_SUITE),
            })
        });
        let answers = session.get("answers").and_then(|answers| {
            let used = answers.get("used").and_then(Value::as_array);
            let used = used.into_iter().flatten().filter_map(Value::as_u64);
            Some(GivenAnswers {
                fingerprint: answers.get("fingerprint")?.as_str()?.to_owned(),
                used: used.collect(),
            })
        });
        let faults = session.get("faults").and_then(Value::as_str);
        Self {
            is_known: true,
            calls: calls.collect(),
            answers,
            faults: faults.map(str::to_owned),
        }
    }
}

/// Reads what a call says of the code's side of it.
pub(super) fn read_side(mut map: Object<'_>, at: &mut Reader<'_>) -> OwnSide {
    at.check_keys(&map, &fields::OWN);
    let map = &mut map;
    OwnSide {
        args: map.take("args").map(Json::into_value),
        // A tool that returns nothing returned null.
        result: map.take("result").map(Json::into_value),
        attempts: at.list(map, "attempts", |map, _, at| read_attempt(map, at)),
        by: at.text(map, "by"),
        left: at.flag(map, "left").unwrap_or_default(),
    }
}

fn read_attempt(mut map: Object<'_>, at: &mut Reader<'_>) -> Attempt {
    at.check_keys(&map, &fields::ATTEMPT);
    Attempt {
        args: map.take("args").map(Json::into_value),
        result: map.take("result").map(Json::into_value),
        error: map.take("error").map(Json::into_value),
        synthesized: read_synthesized(&mut map, at),
    }
}

/// The mark of the fault that answered.
pub(super) fn read_synthesized(map: &mut Object<'_>, at: &mut Reader<'_>) -> Option<Synthesized> {
    at.object(map, "synthesized", |mut map, at| {
        at.check_keys(&map, &fields::SYNTHESIZED);
        Synthesized {
            fault: at.required_text(&mut map, "fault"),
            kind: at.text(&mut map, "kind").unwrap_or_default(),
        }
    })
}
