//! The text of a recorded run: the same bytes for the same run, whatever order its keys came in.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::trace::fields::{self, Fields};

/// A value whose fields come in the order in which they are declared; other keys follow, sorted. The elements of an
/// array have the fields that are given for the array.
#[derive(Clone, Copy)]
struct Ordered<'a>(&'a Value, Option<&'static Fields>);

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(value, fields) = *self;
        match value {
            Value::Array(items) => {
                serializer.collect_seq(items.iter().map(|item| Ordered(item, fields)))
            }
            Value::Object(map) => serializer.collect_map(entries(map, fields)),
            other => other.serialize(serializer),
        }
    }
}

/// An object's entries in their order.
fn entries<'a>(
    map: &'a Map<String, Value>,
    fields: Option<&'static Fields>,
) -> impl Iterator<Item = (&'a String, Ordered<'a>)> {
    let placed = map.iter().map(|(key, value)| {
        let rank = fields.and_then(|fields| fields.rank(key));
        let field = fields.and_then(|fields| fields.get(key));
        let inner = field.and_then(|field| field.takes.inner());
        (rank.unwrap_or(usize::MAX), key, Ordered(value, inner))
    });
    let mut placed: Vec<_> = placed.collect();
    placed.sort_by_key(|(rank, key, _)| (*rank, *key));
    placed.into_iter().map(|(_, key, value)| (key, value))
}

/// A run as a file of its own: indented by two spaces, with a final newline.
#[must_use]
pub fn render(run: &Value) -> String {
    serde_json::to_string_pretty(&Ordered(run, Some(&fields::RUN))).unwrap_or_default() + "\n"
}

/// A run as a line, without the newline.
#[must_use]
pub fn render_line(run: &Value) -> String {
    serde_json::to_string(&Ordered(run, Some(&fields::RUN))).unwrap_or_default()
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
