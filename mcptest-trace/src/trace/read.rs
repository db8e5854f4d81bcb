//! One reader for envelopes: conservative values out, problems noted on the way.

use std::fmt;

use serde_json::Number;

use super::json::{Json, Object};
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

/// The way from the root of the value to the place being read: a path that is written down only
/// where there is a problem to tell.
#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Key(&'a Step<'a>, &'a str),
    Item(&'a Step<'a>, usize),
}

impl Step<'_> {
    fn write(&self, path: &mut String) {
        match self {
            Self::Root => {}
            Self::Key(before, key) => {
                before.write(path);
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(key);
            }
            Self::Item(before, index) => {
                before.write(path);
                path.push_str(&format!("[{index}]"));
            }
        }
    }
}

/// A place in the value being read, with the list every problem goes to. What is read is moved out
/// of the value.
pub(super) struct Reader<'p> {
    step: Step<'p>,
    problems: &'p mut Vec<Problem>,
}

impl<'p> Reader<'p> {
    pub(super) fn new(problems: &'p mut Vec<Problem>) -> Self {
        Self {
            step: Step::Root,
            problems,
        }
    }

    fn at<'r>(&'r mut self, key: &'r str) -> Reader<'r> {
        Reader {
            step: Step::Key(&self.step, key),
            problems: self.problems,
        }
    }

    fn item(&mut self, index: usize) -> Reader<'_> {
        Reader {
            step: Step::Item(&self.step, index),
            problems: self.problems,
        }
    }

    pub(super) fn problem(&mut self, message: impl Into<String>) {
        self.note(message.into(), false);
    }

    fn note(&mut self, message: String, of_key: bool) {
        let mut path = String::new();
        self.step.write(&mut path);
        self.problems.push(Problem {
            path,
            message,
            of_key,
        });
    }

    /// Notes the keys that were meant to be a known one.
    pub(super) fn keys(&mut self, map: &Object<'_>, keys: &'static Keys) {
        for (key, known) in keys.meant(map) {
            let message = format!("not a known key; did you mean `{known}`?");
            self.at(key).note(message, true);
        }
    }

    fn expected(&mut self, what: &str, found: &Json<'_>) {
        self.problem(format!("expected {what}, found {}", kind(found)));
    }

    /// Reads an optional field: absent and `null` are `None`.
    fn field<T>(
        &mut self,
        map: &mut Object<'_>,
        name: &str,
        read: impl FnOnce(Json<'_>, &mut Reader<'_>) -> Option<T>,
    ) -> Option<T> {
        match map.take(name) {
            None | Some(Json::Null) => None,
            Some(value) => read(value, &mut self.at(name)),
        }
    }

    pub(super) fn text(&mut self, map: &mut Object<'_>, name: &str) -> Option<String> {
        self.field(map, name, |value, at| match value {
            Json::Text(text) => Some(text.into_owned()),
            other => {
                at.expected("a string", &other);
                None
            }
        })
    }

    pub(super) fn required_text(&mut self, map: &mut Object<'_>, name: &str) -> String {
        self.require(map, name);
        self.text(map, name).unwrap_or_default()
    }

    /// Notes a field that is not there; asked before the field is read.
    pub(super) fn require(&mut self, map: &Object<'_>, name: &str) {
        if map.get(name).is_none_or(Json::is_null) {
            self.at(name).problem("missing");
        }
    }

    fn count(&mut self, map: &mut Object<'_>, name: &str) -> Option<u64> {
        self.field(map, name, |value, at| {
            let count = whole(&value);
            if count.is_none() {
                at.expected("a whole number, 0 or more", &value);
            }
            count
        })
    }

    pub(super) fn flag(&mut self, map: &mut Object<'_>, name: &str) -> Option<bool> {
        self.field(map, name, |value, at| match value {
            Json::Bool(flag) => Some(flag),
            other => {
                at.expected("true or false", &other);
                None
            }
        })
    }

    fn list<T>(
        &mut self,
        map: &mut Object<'_>,
        name: &str,
        mut read: impl FnMut(Object<'_>, usize, &mut Reader<'_>) -> T,
    ) -> Vec<T> {
        let items = self.field(map, name, |value, at| match value {
            Json::List(items) => {
                let items = items.into_iter().enumerate().map(|(index, item)| {
                    let mut at = at.item(index);
                    let map = match item {
                        Json::Object(map) => map,
                        other => {
                            at.expected("an object", &other);
                            Object::default()
                        }
                    };
                    read(map, index, &mut at)
                });
                Some(items.collect())
            }
            other => {
                at.expected("a list", &other);
                None
            }
        });
        items.unwrap_or_default()
    }

    /// Reads an optional list of values of any kind; what cannot be read is left out.
    pub(super) fn values<T>(
        &mut self,
        map: &mut Object<'_>,
        name: &str,
        mut read: impl FnMut(Json<'_>, &mut Reader<'_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        self.field(map, name, |value, at| match value {
            Json::List(items) => {
                let items = items.into_iter().enumerate();
                let items = items.filter_map(|(index, item)| read(item, &mut at.item(index)));
                Some(items.collect())
            }
            other => {
                at.expected("a list", &other);
                None
            }
        })
    }

    pub(super) fn object<T>(
        &mut self,
        map: &mut Object<'_>,
        name: &str,
        read: impl FnOnce(Object<'_>, &mut Reader<'_>) -> T,
    ) -> Option<T> {
        self.field(map, name, |value, at| match value {
            Json::Object(map) => Some(read(map, at)),
            other => {
                at.expected("an object", &other);
                None
            }
        })
    }
}

/// How a value is named in a message: short scalars verbatim, the rest by kind.
pub(super) fn kind(value: &Json<'_>) -> String {
    match value {
        Json::Null => "null".to_owned(),
        Json::Bool(flag) => flag.to_string(),
        Json::Number(number) => number.to_string(),
        Json::Text(_) => "a string".to_owned(),
        Json::List(_) => "a list".to_owned(),
        Json::Later(later) if !later.is_object => "a list".to_owned(),
        Json::Object(_) | Json::Later(_) => "an object".to_owned(),
    }
}

/// A whole number, also when it is spelt `3000.0`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "range and fraction are checked first"
)]
fn whole(value: &Json<'_>) -> Option<u64> {
    let number = value.as_number()?;
    number.as_u64().or_else(|| {
        let float = number.as_f64()?;
        let fits = float >= 0.0 && float.fract() == 0.0 && float < 9e18;
        fits.then_some(float as u64)
    })
}

pub(super) fn trace(envelope: Json<'_>, problems: &mut Vec<Problem>) -> Trace {
    let mut at = Reader::new(problems);
    match envelope {
        Json::Object(map) => trace_of(map, &mut at),
        other => {
            at.expected("an object", &other);
            Trace::default()
        }
    }
}

pub(super) fn trace_of(mut map: Object<'_>, at: &mut Reader<'_>) -> Trace {
    at.keys(&map, &keys::TRACE);
    let map = &mut map;
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

fn tool_call(mut map: Object<'_>, at: &mut Reader<'_>) -> ToolCall {
    at.keys(&map, &keys::CALL);
    let map = &mut map;
    let args = map.take("args").unwrap_or_default();
    if args.as_str().is_some_and(is_object) {
        at.at("args")
            .problem("this is JSON in a string; write the object itself");
    }
    ToolCall {
        name: at.required_text(map, "name"),
        server: at.text(map, "server").unwrap_or_default(),
        args: args.into(),
        hop_index: at.count(map, "hop_index"),
        step: at.count(map, "step"),
        caller: map
            .take("caller")
            .filter(|caller| !caller.is_null())
            .map(Json::into_value),
        agent_id: at.text(map, "agent_id"),
        inputs_digest: at.text(map, "inputs_digest"),
    }
}

fn tool_result(mut map: Object<'_>, index: usize, calls: usize, at: &mut Reader<'_>) -> ToolResult {
    at.keys(&map, &keys::RESULT);
    let map = &mut map;
    at.require(map, "call_index");
    let recorded = at.count(map, "call_index");
    let call_index = recorded.map_or(index, |recorded| {
        usize::try_from(recorded).unwrap_or(usize::MAX)
    });
    if recorded.is_some() && call_index >= calls {
        at.at("call_index").problem(format!(
            "there is no call {call_index}; {calls} were recorded"
        ));
    }
    let synthesized = at.object(map, "synthesized", |mut map, at| {
        at.keys(&map, &keys::SYNTHESIZED);
        Synthesized {
            fault: at.required_text(&mut map, "fault"),
            kind: at.text(&mut map, "kind").unwrap_or_default(),
        }
    });
    let (is_error, error_known) = is_error(map, synthesized.is_some(), at);
    ToolResult {
        call_index,
        server: at.text(map, "server").unwrap_or_default(),
        is_error,
        error_known,
        result: map.take("result").unwrap_or_default().into(),
        synthesized,
    }
}

/// Whether a result is an error, and whether it says so or the contrary: by `is_error`, or by MCP's
/// own `isError` inside the result. What contradicts itself is a problem, and counts as an error.
fn is_error(map: &mut Object<'_>, synthesized: bool, at: &mut Reader<'_>) -> (bool, bool) {
    let stated = at.flag(map, "is_error");
    let told = map.get("result").and_then(|result| match result {
        Json::Later(later) => later.is_error,
        result => result.as_object()?.get("isError")?.as_bool(),
    });
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

fn conversation(mut map: Object<'_>, calls: usize, at: &mut Reader<'_>) -> Conversation {
    at.keys(&map, &keys::CONVERSATION);
    let map = &mut map;
    let steps = at.list(map, "steps", |mut map, _, at| {
        at.keys(&map, &keys::STEP);
        StepTokens {
            prompt: at.count(&mut map, "prompt").unwrap_or_default(),
            completion: at.count(&mut map, "completion").unwrap_or_default(),
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
        turns: at.list(map, "turns", |mut map, _, at| {
            at.keys(&map, &keys::TURN);
            Turn {
                role: at.required_text(&mut map, "role"),
                content: at.text(&mut map, "content").unwrap_or_default(),
            }
        }),
        per_turn: at.list(map, "per_turn", |map, _, at| per_turn(map, calls, at)),
        steps,
    }
}

fn tokens(mut map: Object<'_>, at: &mut Reader<'_>) -> Tokens {
    at.keys(&map, &keys::TOKENS);
    let map = &mut map;
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

fn per_turn(mut map: Object<'_>, calls: usize, at: &mut Reader<'_>) -> PerTurn {
    at.keys(&map, &keys::PER_TURN);
    let map = &mut map;
    PerTurn {
        calls: at.field(map, "calls", |value, at| {
            let bounds = value.as_list().unwrap_or_default();
            let bound = |index| {
                let bound = bounds.get(index).and_then(whole);
                bound.and_then(|bound| usize::try_from(bound).ok())
            };
            match (bounds.len(), bound(0), bound(1)) {
                (2, Some(from), Some(to)) if from <= to && to <= calls => Some((from, to)),
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

pub(super) fn signals(mut map: Object<'_>, at: &mut Reader<'_>) -> Signals {
    const KNOWN: [&str; 4] = [
        "confidence",
        "loop_detection",
        "tool_correctness",
        "coherence",
    ];
    for (name, _) in map.iter().filter(|(name, _)| !KNOWN.contains(name)) {
        at.problem(format!(
            "`{name}` is not a signal; there are {}",
            KNOWN.map(|s| format!("`{s}`")).join(", ")
        ));
    }
    let mut signal = |name: &str| {
        at.field(&mut map, name, |value, at| {
            let share = value.as_number().and_then(Number::as_f64);
            let share = share.filter(|share| (0.0..=1.0).contains(share));
            if share.is_none() {
                at.expected("a number from 0 to 1", &value);
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

pub(super) fn outcome(mut map: Object<'_>, at: &mut Reader<'_>) -> Outcome {
    at.keys(&map, &keys::OUTCOME);
    let map = &mut map;
    Outcome {
        passed: at.flag(map, "passed"),
        reward: at.field(map, "reward", |value, at| {
            let reward = value.as_number().and_then(Number::as_f64);
            if reward.is_none() {
                at.expected("a number", &value);
            }
            reward
        }),
    }
}
