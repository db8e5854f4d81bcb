//! The text of a recorded run: the same bytes for the same run, whatever order its keys came in.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::trace::keys::{self, Keys};

/// Known keys that are younger than the order: they stand among those that are not known.
const LATER: [&str; 3] = ["refused", "request_fingerprint", "tools"];

/// A value whose known keys come in their order; the others follow, sorted. The elements of an array have
/// the keys that are given for the array.
#[derive(Clone, Copy)]
struct Ordered<'a>(&'a Value, Option<&'static Keys>);

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(value, keys) = *self;
        match value {
            Value::Array(items) => {
                serializer.collect_seq(items.iter().map(|item| Ordered(item, keys)))
            }
            Value::Object(map) => serializer.collect_map(entries(map, keys)),
            other => other.serialize(serializer),
        }
    }
}

/// An object's entries in their order.
fn entries<'a>(
    map: &'a Map<String, Value>,
    keys: Option<&Keys>,
) -> impl Iterator<Item = (&'a String, Ordered<'a>)> {
    let known = keys.map_or(&[][..], |keys| keys.known);
    let placed = map.iter().map(|(key, value)| {
        let rank = known.iter().position(|known| known == key);
        let rank = rank.filter(|_| !LATER.contains(&key.as_str()));
        let inner = rank.and_then(|_| inner(key));
        (rank.unwrap_or(usize::MAX), key, Ordered(value, inner))
    });
    let mut placed: Vec<_> = placed.collect();
    placed.sort_by_key(|(rank, key, _)| (*rank, *key));
    placed.into_iter().map(|(_, key, value)| (key, value))
}

/// The keys of what stands under a known key.
fn inner(key: &str) -> Option<&'static Keys> {
    Some(match key {
        "trace" => &keys::TRACE,
        "tool_calls" => &keys::CALL,
        "tool_results" => &keys::RESULT,
        "conversation" => &keys::CONVERSATION,
        "tokens" | "steps" => &keys::TOKENS,
        "turns" => &keys::TURN,
        _ => return None,
    })
}

/// A run as a file of its own: indented by two spaces, with a final newline.
#[must_use]
pub fn render(run: &Value) -> String {
    serde_json::to_string_pretty(&Ordered(run, Some(&keys::RUN))).unwrap_or_default() + "\n"
}

/// A run as a line, without the newline.
#[must_use]
pub fn render_line(run: &Value) -> String {
    serde_json::to_string(&Ordered(run, Some(&keys::RUN))).unwrap_or_default()
}

/// The line for a run whose file is given. No number is read, so none is rounded.
pub(super) fn compact(file: &str) -> String {
    let mut line = String::with_capacity(file.len());
    let (mut in_string, mut escaped) = (false, false);
    for character in file.chars() {
        if in_string || !matches!(character, ' ' | '\n' | '\r' | '\t') {
            line.push(character);
        }
        if character == '"' && !escaped {
            in_string = !in_string;
        }
        escaped = character == '\\' && !escaped;
    }
    line
}
