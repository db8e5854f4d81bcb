//! One reader for envelopes: conservative values out, problems noted on the way.

use std::fmt;

use serde_json::{Map, Value};

use super::keys::{self, Keys};
use super::place::is_object;
use super::{
    Conversation, Outcome, PerTurn, Signals, StepTokens, StopReason, Synthesized, Tokens, ToolCall,
    ToolResult, Trace, Turn,
};

/// Something malformed in a recorded value: where, and what is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Dot path from the root of the value that was read, e.g. `tool_calls[3].name`.
    pub path: String,
    /// What is wrong, e.g. `expected a string, found 7`.
    pub message: String,
    /// Whether the key itself is wrong, and not its value.
    pub(super) of_key: bool,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.path, self.message)
    }
}

/// A place in the value being read, with the list every problem goes to.
pub(super) struct Reader<'p> {
    path: String,
    problems: &'p mut Vec<Problem>,
}

impl<'p> Reader<'p> {
    pub(super) fn new(path: &str, problems: &'p mut Vec<Problem>) -> Self {
        Self {
            path: path.to_owned(),
            problems,
        }
    }

    fn at(&mut self, step: impl fmt::Display) -> Reader<'_> {
        let path = if self.path.is_empty() {
            step.to_string()
        } else {
            format!("{}.{step}", self.path)
        };
        Reader {
            path,
            problems: self.problems,
        }
    }

    fn item(&mut self, index: usize) -> Reader<'_> {
        Reader {
            path: format!("{}[{index}]", self.path),
            problems: self.problems,
        }
    }

    pub(super) fn problem(&mut self, message: impl Into<String>) {
        self.problems.push(Problem {
            path: self.path.clone(),
            message: message.into(),
            of_key: false,
        });
    }

    /// Notes the keys that were meant to be a known one.
    pub(super) fn keys(&mut self, map: &Map<String, Value>, keys: &'static Keys) {
        for (key, known) in keys.meant(map) {
            let at = self.at(key);
            at.problems.push(Problem {
                path: at.path,
                message: format!("not a known key; did you mean `{known}`?"),
                of_key: true,
            });
        }
    }

    fn expected(&mut self, what: &str, found: &Value) {
        self.problem(format!("expected {what}, found {}", kind(found)));
    }

    /// Reads an optional field: absent and `null` are `None`.
    fn field<T>(
        &mut self,
        map: &Map<String, Value>,
        name: &str,
        read: impl FnOnce(&Value, &mut Reader<'_>) -> Option<T>,
    ) -> Option<T> {
        match map.get(name) {
            None | Some(Value::Null) => None,
            Some(value) => read(value, &mut self.at(name)),
        }
    }

    pub(super) fn text(&mut self, map: &Map<String, Value>, name: &str) -> Option<String> {
        self.field(map, name, |value, at| match value {
            Value::String(text) => Some(text.clone()),
            other => {
                at.expected("a string", other);
                None
            }
        })
    }

    pub(super) fn required_text(&mut self, map: &Map<String, Value>, name: &str) -> String {
        self.require(map, name);
        self.text(map, name).unwrap_or_default()
    }

    /// Notes a field that is not there.
    pub(super) fn require(&mut self, map: &Map<String, Value>, name: &str) {
        if map.get(name).is_none_or(Value::is_null) {
            self.at(name).problem("missing");
        }
    }

    fn count(&mut self, map: &Map<String, Value>, name: &str) -> Option<u64> {
        self.field(map, name, |value, at| {
            let count = whole(value);
            if count.is_none() {
                at.expected("a whole number, 0 or more", value);
            }
            count
        })
    }

    pub(super) fn flag(&mut self, map: &Map<String, Value>, name: &str) -> Option<bool> {
        self.field(map, name, |value, at| match value {
            Value::Bool(flag) => Some(*flag),
            other => {
                at.expected("true or false", other);
                None
            }
        })
    }

    fn list<T>(
        &mut self,
        map: &Map<String, Value>,
        name: &str,
        mut read: impl FnMut(&Map<String, Value>, usize, &mut Reader<'_>) -> T,
    ) -> Vec<T> {
        let empty = Map::new();
        let items = self.field(map, name, |value, at| match value {
            Value::Array(items) => Some(
                items
                    .iter()
                    .enumerate()
                    .map(|(index, item)| {
                        let mut at = at.item(index);
                        let map = item.as_object().unwrap_or_else(|| {
                            at.expected("an object", item);
                            &empty
                        });
                        read(map, index, &mut at)
                    })
                    .collect(),
            ),
            other => {
                at.expected("a list", other);
                None
            }
        });
        items.unwrap_or_default()
    }

    /// Reads an optional list of values of any kind; what cannot be read is left out.
    pub(super) fn values<T>(
        &mut self,
        map: &Map<String, Value>,
        name: &str,
        mut read: impl FnMut(&Value, &mut Reader<'_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        self.field(map, name, |value, at| {
            let Value::Array(items) = value else {
                at.expected("a list", value);
                return None;
            };
            let items = items.iter().enumerate();
            Some(
                items
                    .filter_map(|(index, item)| read(item, &mut at.item(index)))
                    .collect(),
            )
        })
    }

    pub(super) fn object<T>(
        &mut self,
        map: &Map<String, Value>,
        name: &str,
        read: impl FnOnce(&Map<String, Value>, &mut Reader<'_>) -> T,
    ) -> Option<T> {
        self.field(map, name, |value, at| match value {
            Value::Object(map) => Some(read(map, at)),
            other => {
                at.expected("an object", other);
                None
            }
        })
    }
}

/// How a value is named in a message: short scalars verbatim, the rest by kind.
pub(super) fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// A whole number, also when it is spelt `3000.0`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "range and fraction are checked first"
)]
fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let float = value.as_f64()?;
        let fits = float >= 0.0 && float.fract() == 0.0 && float < 9e18;
        fits.then_some(float as u64)
    })
}

pub(super) fn trace(envelope: &Value, problems: &mut Vec<Problem>) -> Trace {
    let mut at = Reader::new("", problems);
    match envelope {
        Value::Object(map) => trace_of(map, &mut at),
        other => {
            at.expected("an object", other);
            Trace::default()
        }
    }
}

pub(super) fn trace_of(map: &Map<String, Value>, at: &mut Reader<'_>) -> Trace {
    at.keys(map, &keys::TRACE);
    let tool_calls = at.list(map, "tool_calls", |map, _, at| tool_call(map, at));
    let calls = tool_calls.len();
    Trace {
        tool_results: at.list(map, "tool_results", |map, index, at| {
            tool_result(map, index, calls, at)
        }),
        tool_calls,
        final_response: at.text(map, "final_response"),
        conversation: at
            .object(map, "conversation", |map, at| conversation(map, calls, at))
            .unwrap_or_default(),
    }
}

fn tool_call(map: &Map<String, Value>, at: &mut Reader<'_>) -> ToolCall {
    at.keys(map, &keys::CALL);
    if map
        .get("args")
        .and_then(Value::as_str)
        .is_some_and(is_object)
    {
        at.at("args")
            .problem("this is JSON in a string; write the object itself");
    }
    ToolCall {
        name: at.required_text(map, "name"),
        server: at.text(map, "server").unwrap_or_default(),
        args: map.get("args").cloned().unwrap_or_default(),
        hop_index: at.count(map, "hop_index"),
        step: at.count(map, "step"),
        caller: map
            .get("caller")
            .filter(|caller| !caller.is_null())
            .cloned(),
        agent_id: at.text(map, "agent_id"),
        inputs_digest: at.text(map, "inputs_digest"),
    }
}

fn tool_result(
    map: &Map<String, Value>,
    index: usize,
    calls: usize,
    at: &mut Reader<'_>,
) -> ToolResult {
    at.keys(map, &keys::RESULT);
    let recorded = at.count(map, "call_index");
    at.require(map, "call_index");
    let call_index = recorded.map_or(index, |recorded| {
        usize::try_from(recorded).unwrap_or(usize::MAX)
    });
    if recorded.is_some() && call_index >= calls {
        at.at("call_index").problem(format!(
            "there is no call {call_index}; {calls} were recorded"
        ));
    }
    let synthesized = at.object(map, "synthesized", |map, at| {
        at.keys(map, &keys::SYNTHESIZED);
        Synthesized {
            fault: at.required_text(map, "fault"),
            kind: at.text(map, "kind").unwrap_or_default(),
        }
    });
    let (is_error, error_known) = is_error(map, synthesized.is_some(), at);
    ToolResult {
        call_index,
        server: at.text(map, "server").unwrap_or_default(),
        is_error,
        error_known,
        result: map.get("result").cloned().unwrap_or_default(),
        synthesized,
    }
}

/// Whether a result is an error, and whether it says so or the contrary: by `is_error`, or by MCP's
/// own `isError` inside the result. What contradicts itself is a problem, and counts as an error.
fn is_error(map: &Map<String, Value>, synthesized: bool, at: &mut Reader<'_>) -> (bool, bool) {
    let stated = at.flag(map, "is_error");
    let result = map.get("result").and_then(|result| result.get("isError"));
    let told = result.and_then(Value::as_bool);
    let known = stated.is_some() || told.is_some();
    if stated == Some(false) && told == Some(true) {
        at.at("is_error")
            .problem("is false, but `result.isError` is true; a result is an error or it is none");
    } else if synthesized && !stated.or(told).unwrap_or_default() {
        let says = match stated.or(told) {
            Some(_) => "is false",
            None => "is missing",
        };
        at.at("is_error").problem(format!(
            "{says}, but an injected fault answered (`synthesized`); such a result is an error: write `\"is_error\": true`"
        ));
    }
    (
        stated == Some(true) || told == Some(true) || synthesized,
        known || synthesized,
    )
}

fn conversation(map: &Map<String, Value>, calls: usize, at: &mut Reader<'_>) -> Conversation {
    at.keys(map, &keys::CONVERSATION);
    let steps = at.list(map, "steps", |map, _, at| {
        at.keys(map, &keys::STEP);
        StepTokens {
            prompt: at.count(map, "prompt").unwrap_or_default(),
            completion: at.count(map, "completion").unwrap_or_default(),
        }
    });
    let tokens = at.object(map, "tokens", tokens).unwrap_or_default();
    Conversation {
        tokens: if tokens == Tokens::default() {
            Tokens::of_steps(&steps)
        } else {
            tokens
        },
        duration_ms: at.count(map, "duration_ms").unwrap_or_default(),
        message_count: at.count(map, "message_count").unwrap_or_default(),
        stop_reason: at
            .text(map, "stop_reason")
            .map(|text| StopReason::from_text(&text)),
        turns: at.list(map, "turns", |map, _, at| {
            at.keys(map, &keys::TURN);
            Turn {
                role: at.required_text(map, "role"),
                content: at.text(map, "content").unwrap_or_default(),
            }
        }),
        per_turn: at.list(map, "per_turn", |map, _, at| per_turn(map, calls, at)),
        steps,
    }
}

fn tokens(map: &Map<String, Value>, at: &mut Reader<'_>) -> Tokens {
    at.keys(map, &keys::TOKENS);
    let (prompt, completion) = (at.count(map, "prompt"), at.count(map, "completion"));
    let stated = at.count(map, "total");
    let sum = prompt
        .unwrap_or_default()
        .saturating_add(completion.unwrap_or_default());
    if let (Some(prompt), Some(completion), Some(total)) = (prompt, completion, stated)
        && total != sum
    {
        at.at("total").problem(format!(
            "is {total}, but `prompt` {prompt} and `completion` {completion} make {sum}"
        ));
    }
    Tokens {
        prompt: prompt.unwrap_or_default(),
        completion: completion.unwrap_or_default(),
        total: stated.unwrap_or(sum),
    }
}

fn per_turn(map: &Map<String, Value>, calls: usize, at: &mut Reader<'_>) -> PerTurn {
    at.keys(map, &keys::PER_TURN);
    PerTurn {
        calls: at.field(map, "calls", |value, at| {
            let bound = |index| {
                value
                    .get(index)
                    .and_then(whole)
                    .and_then(|n| usize::try_from(n).ok())
            };
            match (value.as_array().map(Vec::len), bound(0), bound(1)) {
                (Some(2), Some(from), Some(to)) if from <= to && to <= calls => Some((from, to)),
                _ => {
                    at.problem(format!(
                        "expected [from, to) within the {calls} recorded calls"
                    ));
                    None
                }
            }
        }),
        response: at.text(map, "response"),
        signals: at.object(map, "signals", signals),
    }
}

pub(super) fn signals(map: &Map<String, Value>, at: &mut Reader<'_>) -> Signals {
    const KNOWN: [&str; 4] = [
        "confidence",
        "loop_detection",
        "tool_correctness",
        "coherence",
    ];
    for name in map.keys().filter(|name| !KNOWN.contains(&name.as_str())) {
        at.problem(format!(
            "`{name}` is not a signal; there are {}",
            KNOWN.map(|s| format!("`{s}`")).join(", ")
        ));
    }
    let mut signal = |name: &str| {
        at.field(map, name, |value, at| {
            let share = value.as_f64().filter(|share| (0.0..=1.0).contains(share));
            if share.is_none() {
                at.expected("a number from 0 to 1", value);
            }
            share
        })
    };
    Signals {
        confidence: signal("confidence"),
        loop_detection: signal("loop_detection"),
        tool_correctness: signal("tool_correctness"),
        coherence: signal("coherence"),
    }
}

pub(super) fn outcome(map: &Map<String, Value>, at: &mut Reader<'_>) -> Outcome {
    at.keys(map, &keys::OUTCOME);
    Outcome {
        passed: at.flag(map, "passed"),
        reward: at.field(map, "reward", |value, at| {
            let reward = value.as_f64();
            if reward.is_none() {
                at.expected("a number", value);
            }
            reward
        }),
    }
}
