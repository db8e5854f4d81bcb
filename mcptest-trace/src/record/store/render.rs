//! The text of a recorded run: the same bytes for the same run, whatever order its keys came in.

use serde_json::{Map, Value};

/// The keys of an object that come first, in their order; the others follow, sorted.
struct Keys(&'static [(&'static str, &'static Keys)]);

/// Sorted keys, at any depth.
static FREE: Keys = Keys(&[]);

static RUN: Keys = Keys(&[
    ("schema_version", &FREE),
    ("agent_name", &FREE),
    ("model", &FREE),
    ("recorded_at", &FREE),
    ("tools_fingerprint", &FREE),
    ("temperature", &FREE),
    ("max_tokens", &FREE),
    ("system_prompt", &FREE),
    ("user_prompt", &FREE),
    ("trace", &TRACE),
    ("signals", &FREE),
    ("outcome", &FREE),
]);

static TRACE: Keys = Keys(&[
    ("tool_calls", &CALL),
    ("tool_results", &RESULT),
    ("final_response", &FREE),
    ("conversation", &CONVERSATION),
]);

static CALL: Keys = Keys(&[
    ("name", &FREE),
    ("server", &FREE),
    ("args", &FREE),
    ("step", &FREE),
    ("hop_index", &FREE),
    ("caller", &FREE),
    ("agent_id", &FREE),
    ("inputs_digest", &FREE),
]);

static RESULT: Keys = Keys(&[
    ("call_index", &FREE),
    ("server", &FREE),
    ("is_error", &FREE),
    ("synthesized", &FREE),
    ("result", &FREE),
]);

static CONVERSATION: Keys = Keys(&[
    ("stop_reason", &FREE),
    ("tokens", &TOKENS),
    ("duration_ms", &FREE),
    ("message_count", &FREE),
    ("turns", &TURN),
    ("per_turn", &FREE),
    ("steps", &TOKENS),
]);

static TOKENS: Keys = Keys(&[("prompt", &FREE), ("completion", &FREE), ("total", &FREE)]);

static TURN: Keys = Keys(&[("role", &FREE), ("content", &FREE)]);

impl Keys {
    /// An object's entries in this order, each with the order of its own keys.
    fn entries<'a>(
        &self,
        map: &'a Map<String, Value>,
    ) -> Vec<(&'a String, &'a Value, &'static Self)> {
        let rank = |key: &str| self.0.iter().position(|(known, _)| *known == key);
        let mut entries: Vec<_> = map
            .iter()
            .map(|(key, value)| (rank(key), key, value))
            .collect();
        entries.sort_by_key(|(rank, key, _)| (rank.unwrap_or(usize::MAX), *key));
        entries
            .into_iter()
            .map(|(rank, key, value)| {
                let keys = rank
                    .and_then(|rank| self.0.get(rank))
                    .map_or(&FREE, |(_, keys)| *keys);
                (key, value, keys)
            })
            .collect()
    }
}

/// A run as a file of its own: indented by two spaces, with a final newline.
#[must_use]
pub fn render(run: &Value) -> String {
    let mut text = String::new();
    write(&mut text, run, &RUN, Some(0));
    text.push('\n');
    text
}

/// A run as a line, without the newline.
#[must_use]
pub fn render_line(run: &Value) -> String {
    let mut text = String::new();
    write(&mut text, run, &RUN, None);
    text
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

/// Writes a value; an array's elements have the keys that are given for the array.
fn write(text: &mut String, value: &Value, keys: &'static Keys, indent: Option<usize>) {
    let inner = indent.map(|depth| depth + 1);
    match value {
        Value::Array(items) if !items.is_empty() => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                separate(text, index, inner);
                write(text, item, keys, inner);
            }
            new_line(text, indent);
            text.push(']');
        }
        Value::Object(map) if !map.is_empty() => {
            text.push('{');
            for (index, (key, value, keys)) in keys.entries(map).into_iter().enumerate() {
                separate(text, index, inner);
                text.push_str(&quoted(key));
                text.push_str(if inner.is_some() { ": " } else { ":" });
                write(text, value, keys, inner);
            }
            new_line(text, indent);
            text.push('}');
        }
        Value::String(string) => text.push_str(&quoted(string)),
        // Numbers, words and what is empty.
        other => text.push_str(&other.to_string()),
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn separate(text: &mut String, index: usize, indent: Option<usize>) {
    if index > 0 {
        text.push(',');
    }
    new_line(text, indent);
}

fn new_line(text: &mut String, indent: Option<usize>) {
    if let Some(depth) = indent {
        text.push('\n');
        text.extend(std::iter::repeat_n("  ", depth));
    }
}
