//! The recorded calls of a server by what they ask, so that a call finds its answer without a look at all others.

use std::borrow::Cow;
use std::collections::HashMap;

use mcptest_trace::trace::value_json;
use serde_json::Value;

use super::texts::MARKER;

/// The places of calls by what they ask.
#[derive(Debug, Clone, Default)]
pub(super) struct CallIndex {
    equal: HashMap<String, Vec<usize>>,
    /// Calls whose arguments may be the same as others that are written otherwise.
    loose: Vec<usize>,
    /// How many calls there are.
    count: usize,
}

impl CallIndex {
    /// Of calls in their order: the [`key`] of each, and whether its arguments are [loose](is_loose).
    pub(super) fn of(calls: impl IntoIterator<Item = (String, bool)>) -> Self {
        let mut index = Self::default();
        for (key, is_loose) in calls {
            if is_loose {
                index.loose.push(index.count);
            } else {
                index.equal.entry(key).or_default().push(index.count);
            }
            index.count += 1;
        }
        index
    }

    /// The calls that a call with this key may be, in their order. If they are borrowed, each of them is the same call.
    pub(super) fn like(&self, key: &str, args: &Value) -> Cow<'_, [usize]> {
        if is_loose(args) {
            return (0..self.count).collect();
        }
        let equal = self.equal.get(key).map_or(&[][..], Vec::as_slice);
        if self.loose.is_empty() {
            return equal.into();
        }
        let mut all = [equal, &self.loose].concat();
        all.sort_unstable();
        all.into()
    }
}

/// The same for calls of one tool with equal arguments.
pub(super) fn key(tool: &str, args: &Value) -> String {
    format!("{tool} {}", value_json(args))
}

/// Whether arguments may be the same as others that are written otherwise: a secret was taken out of them.
pub(super) fn is_loose(args: &Value) -> bool {
    match args {
        Value::String(text) => text.contains(MARKER),
        Value::Array(items) => items.iter().any(is_loose),
        Value::Object(map) => map
            .iter()
            .any(|(key, value)| key.contains(MARKER) || is_loose(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
