//! An entry held against a run: which calls are meant, and which of their arguments.

use std::borrow::Cow;

use serde_json::Value;

use super::super::tool_pattern::{PatternMatch, ToolPattern};
use super::{FlowContext, FlowEntry};
use crate::trace::Trace;
use crate::trace::leaves::{keys, leaves, path_text};

/// An entry of the gate, held against a run.
pub(super) struct EntryScope<'a> {
    pub(super) entry: &'a FlowEntry,
    pub(super) trace: &'a Trace,
    told: &'a FlowContext<'a>,
}

/// A text of an argument that is looked at.
pub(super) struct CheckedArgument<'a> {
    pub(super) call: usize,
    pub(super) arg: String,
    pub(super) text: Cow<'a, str>,
    /// Whether it is a key, and no value under one.
    pub(super) is_key: bool,
}

impl CheckedArgument<'_> {
    /// The keys that lead to it, without places in lists.
    pub(super) fn object_keys(&self) -> impl Iterator<Item = &str> {
        let keys = self.arg.split('.').map(|step| step.split('[').next());
        keys.flatten().filter(|step| !step.is_empty())
    }
}

/// A text or a number, as text.
pub(super) fn scalar_text(scalar: &Value) -> Option<Cow<'_, str>> {
    match scalar {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Number(number) => Some(Cow::Owned(number.to_string())),
        _ => None,
    }
}

/// A text in the arguments of a call: a scalar, or a key that is data.
struct ArgumentText<'a> {
    arg: String,
    text: Cow<'a, str>,
    is_key: bool,
}

fn argument_texts(value: &Value) -> Vec<ArgumentText<'_>> {
    fn walk<'a>(value: &'a Value, path: &str, found: &mut Vec<ArgumentText<'a>>) {
        match value {
            Value::Object(map) => {
                for key in keys(value) {
                    let arg = join_paths(path, key);
                    if is_data_key(key) {
                        found.push(ArgumentText {
                            arg: arg.clone(),
                            text: key.into(),
                            is_key: true,
                        });
                    }
                    if let Some(item) = map.get(key) {
                        walk(item, &arg, found);
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    walk(item, &format!("{path}[{index}]"), found);
                }
            }
            scalar => found.extend(scalar_text(scalar).map(|text| ArgumentText {
                arg: path.to_owned(),
                text,
                is_key: false,
            })),
        }
    }
    let mut found = Vec::new();
    walk(value, "", &mut found);
    found
}

/// Whether a key is data: the name of a field begins with a small letter and has no signs.
fn is_data_key(key: &str) -> bool {
    let is_word = |sign: char| sign.is_alphanumeric() || sign == '_' || sign == '-';
    !(key.starts_with(|sign: char| sign.is_lowercase() || sign == '_') && key.chars().all(is_word))
}

/// A path within a text that stands at another path.
fn join_paths(above: &str, below: &str) -> String {
    let point = if below.is_empty() || below.starts_with('[') || above.is_empty() {
        ""
    } else {
        "."
    };
    format!("{above}{point}{below}")
}

/// A text that is an object or a list in JSON: arguments of another program.
fn parse_document(text: &str) -> Option<Value> {
    let trimmed = text.trim();
    let is_one = trimmed.starts_with(['{', '[']);
    serde_json::from_str(trimmed).ok().filter(|_| is_one)
}

/// Whether two calls were made together, before the result of either was there.
pub(super) fn in_same_step(trace: &Trace, one: usize, other: usize) -> bool {
    let [one, other] =
        [one, other].map(|call| trace.tool_calls.get(call).and_then(|call| call.step));
    one.is_some() && one == other
}

/// Whether the agent knew the result of a call when it made another.
pub(super) fn knew_result(trace: &Trace, earlier: usize, later: usize) -> bool {
    earlier < later && !in_same_step(trace, earlier, later)
}

/// Whether an argument, by its path, is one of those that are looked at; places in lists are left out on both sides.
/// Arguments that are one text are each of them.
fn is_named(wanted: &[String], path: &str) -> bool {
    let path = without_indices(path);
    let begins = |name: &String| {
        let rest = path.strip_prefix(without_indices(name).as_ref());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    wanted.is_empty() || path.is_empty() || wanted.iter().any(begins)
}

/// A path without `[0]`, `[]` and `[*]`.
fn without_indices(path: &str) -> Cow<'_, str> {
    if !path.contains('[') {
        return Cow::Borrowed(path);
    }
    let mut plain = String::with_capacity(path.len());
    for (at, part) in path.split('[').enumerate() {
        let rest = part.split_once(']').filter(|(place, _)| {
            at > 0 && (*place == "*" || place.bytes().all(|byte| byte.is_ascii_digit()))
        });
        match rest {
            Some((_, rest)) => plain.push_str(rest),
            None if at > 0 => {
                plain.push('[');
                plain.push_str(part);
            }
            None => plain.push_str(part),
        }
    }
    Cow::Owned(plain)
}

impl<'a> EntryScope<'a> {
    pub(super) fn new(entry: &'a FlowEntry, trace: &'a Trace, told: &'a FlowContext<'a>) -> Self {
        Self { entry, trace, told }
    }

    /// Whether a call is of some tools; where nothing says of which server it is, it may be.
    pub(super) fn matches_tools(&self, call: usize, tools: &[ToolPattern], unknown: bool) -> bool {
        let call = &self.trace.tool_calls[call];
        let mut fits = tools
            .iter()
            .map(|tool| tool.match_call(call, &self.told.servers));
        fits.any(|fit| fit == PatternMatch::Yes || unknown && fit == PatternMatch::ServerUnknown)
    }

    /// The texts of arguments of sinks that a result of a source came before.
    pub(super) fn checked_arguments(&self) -> Vec<CheckedArgument<'a>> {
        let known = self.trace.tool_calls.len();
        let calls = self
            .trace
            .tool_results
            .iter()
            .map(|result| result.call_index);
        let sources =
            calls.filter(|call| *call < known && self.matches_tools(*call, &self.entry.from, true));
        let Some(first) = sources.min() else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for (index, call) in self.trace.tool_calls.iter().enumerate() {
            if !knew_result(self.trace, first, index)
                || !self.matches_tools(index, &self.entry.to, true)
            {
                continue;
            }
            for said in argument_texts(&call.args) {
                if !is_named(&self.entry.args, &said.arg) {
                    continue;
                }
                let inner = parse_document(&said.text);
                let inner: Vec<ArgumentText<'_>> =
                    inner.iter().flat_map(self::argument_texts).collect();
                let below = |inner: ArgumentText<'_>| CheckedArgument {
                    call: index,
                    arg: join_paths(&said.arg, &inner.arg),
                    text: inner.text.into_owned().into(),
                    is_key: inner.is_key,
                };
                if inner.is_empty() {
                    found.push(CheckedArgument {
                        call: index,
                        arg: said.arg,
                        text: said.text,
                        is_key: said.is_key,
                    });
                } else {
                    found.extend(inner.into_iter().map(below));
                }
            }
        }
        found
    }

    /// Whether some call of the sinks has one of the arguments; nothing where there is no such call.
    pub(super) fn has_arguments(&self) -> Option<bool> {
        let calls = 0..self.trace.tool_calls.len();
        let calls = calls.filter(|call| self.matches_tools(*call, &self.entry.to, true));
        let has = calls.map(|call| {
            let paths = leaves(&self.trace.tool_calls[call].args);
            let mut paths = paths.iter().map(|(path, _)| path_text(path));
            paths.any(|path| is_named(&self.entry.args, path.trim_start_matches('.')))
        });
        has.reduce(|one, other| one || other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_lists_do_not_tell_arguments_apart() {
        for (wanted, path, is) in [
            ("to", "to", true),
            ("to", "to[0]", true),
            ("to", "too", false),
            ("mails.to", "mails[3].to[0]", true),
            ("mails[].to", "mails[3].to", true),
            ("mails[*]", "mails[3].to", true),
            ("mails.cc", "mails[3].to", false),
            ("to", "message.to", false),
            ("a[x", "a[x", true),
        ] {
            assert_eq!(
                is_named(&[wanted.to_owned()], path),
                is,
                "{wanted} | {path}"
            );
        }
    }
}
