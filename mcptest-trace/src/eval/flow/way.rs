//! One entry and a run: which calls are meant, and which of their arguments.

use std::borrow::Cow;

use serde_json::Value;

use super::super::tool_pattern::{Fit, ToolPattern};
use super::{FlowEntry, Told};
use crate::trace::Trace;
use crate::trace::leaves::{leaves, shown};

/// One entry, and a run.
pub(super) struct Way<'a> {
    pub(super) entry: &'a FlowEntry,
    pub(super) trace: &'a Trace,
    told: &'a Told<'a>,
}

/// A text of an argument that is looked at.
pub(super) struct LookedAt<'a> {
    pub(super) call: usize,
    pub(super) arg: String,
    pub(super) text: Cow<'a, str>,
}

impl LookedAt<'_> {
    /// The keys that lead to it, without places in lists.
    pub(super) fn steps(&self) -> impl Iterator<Item = &str> {
        let keys = self.arg.split('.').map(|step| step.split('[').next());
        keys.flatten().filter(|step| !step.is_empty())
    }
}

/// A text or a number, as text.
pub(super) fn text_of(scalar: &Value) -> Option<Cow<'_, str>> {
    match scalar {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Number(number) => Some(Cow::Owned(number.to_string())),
        _ => None,
    }
}

/// A text that is an object or a list in JSON: arguments of another program.
fn document(text: &str) -> Option<Value> {
    let trimmed = text.trim();
    let is_one = trimmed.starts_with(['{', '[']);
    serde_json::from_str(trimmed).ok().filter(|_| is_one)
}

/// Whether two calls were made together, before the result of either was there.
pub(super) fn together(trace: &Trace, one: usize, other: usize) -> bool {
    let [one, other] =
        [one, other].map(|call| trace.tool_calls.get(call).and_then(|call| call.step));
    one.is_some() && one == other
}

/// Whether the agent knew the result of a call when it made another.
pub(super) fn knew(trace: &Trace, earlier: usize, later: usize) -> bool {
    earlier < later && !together(trace, earlier, later)
}

/// Whether an argument, by its path, is one of those that are looked at; places in lists are left out on both sides.
/// Arguments that are one text are each of them.
fn is_named(wanted: &[String], path: &str) -> bool {
    let path = without_places(path);
    let begins = |name: &String| {
        let rest = path.strip_prefix(without_places(name).as_ref());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    wanted.is_empty() || path.is_empty() || wanted.iter().any(begins)
}

/// A path without `[0]`, `[]` and `[*]`.
fn without_places(path: &str) -> Cow<'_, str> {
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

impl<'a> Way<'a> {
    pub(super) fn new(entry: &'a FlowEntry, trace: &'a Trace, told: &'a Told<'a>) -> Self {
        Self { entry, trace, told }
    }

    /// Whether a call is of some tools; where nothing says of which server it is, it may be.
    pub(super) fn is_of(&self, call: usize, tools: &[ToolPattern], unknown: bool) -> bool {
        let call = &self.trace.tool_calls[call];
        let mut fits = tools.iter().map(|tool| tool.fit(call, &self.told.servers));
        fits.any(|fit| fit == Fit::Yes || unknown && fit == Fit::ServerUnknown)
    }

    /// The texts of arguments of sinks that a result of a source came before.
    pub(super) fn looked_at(&self) -> Vec<LookedAt<'a>> {
        let known = self.trace.tool_calls.len();
        let calls = self
            .trace
            .tool_results
            .iter()
            .map(|result| result.call_index);
        let sources =
            calls.filter(|call| *call < known && self.is_of(*call, &self.entry.from, true));
        let Some(first) = sources.min() else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for (index, call) in self.trace.tool_calls.iter().enumerate() {
            if !knew(self.trace, first, index) || !self.is_of(index, &self.entry.to, true) {
                continue;
            }
            for (path, scalar) in leaves(&call.args) {
                let arg = shown(&path).trim_start_matches('.').to_owned();
                let looked_at = is_named(&self.entry.args, &arg);
                let text = text_of(scalar).filter(|_| looked_at);
                let Some(text) = text else { continue };
                let inner = document(&text);
                let leaves_of = inner.as_ref().map(leaves).unwrap_or_default();
                let inner = leaves_of.iter().filter_map(|(path, scalar)| {
                    let text = text_of(scalar)?.into_owned();
                    Some((format!("{arg}{}", shown(path)), Cow::Owned(text)))
                });
                let mut texts: Vec<(String, Cow<'a, str>)> = inner.collect();
                if texts.is_empty() {
                    texts.push((arg, text));
                }
                found.extend(texts.into_iter().map(|(arg, text)| LookedAt {
                    call: index,
                    arg,
                    text,
                }));
            }
        }
        found
    }

    /// Whether some call of the sinks has one of the arguments; nothing where there is no such call.
    pub(super) fn has_arguments(&self) -> Option<bool> {
        let calls = 0..self.trace.tool_calls.len();
        let calls = calls.filter(|call| self.is_of(*call, &self.entry.to, true));
        let has = calls.map(|call| {
            let paths = leaves(&self.trace.tool_calls[call].args);
            let mut paths = paths.iter().map(|(path, _)| shown(path));
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
