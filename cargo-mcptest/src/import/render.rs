//! The text of a recording, key order included: the same bytes for the same run.
//!
//! This is the form in which `mcptest`'s own recorder writes, and stands for it until that can be
//! called from here.

use serde_json::{Map, Value};

/// The keys of an object that come first; the others follow, sorted.
struct Keys(&'static [(&'static str, &'static Keys)]);

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
    fn entries<'v>(
        &self,
        map: &'v Map<String, Value>,
    ) -> Vec<(usize, &'v String, &'v Value, &'static Keys)> {
        let place = |key: &String| self.0.iter().position(|(known, _)| known == key);
        let mut entries: Vec<_> = map
            .iter()
            .map(|(key, value)| {
                let at = place(key);
                let keys = at.map_or(&FREE, |at| self.0[at].1);
                (at.unwrap_or(usize::MAX), key, value, keys)
            })
            .collect();
        entries.sort_by_key(|(at, key, ..)| (*at, *key));
        entries
    }
}

/// A recording over several lines, indented by two spaces, with a line break at its end.
pub(super) fn pretty(run: &Value) -> String {
    let mut text = String::new();
    write(&mut text, run, &RUN, Some(0));
    text.push('\n');
    text
}

/// A recording on one line, without a line break.
pub(super) fn line(run: &Value) -> String {
    let mut text = String::new();
    write(&mut text, run, &RUN, None);
    text
}

fn write(text: &mut String, value: &Value, keys: &'static Keys, indent: Option<usize>) {
    let inner = indent.map(|depth| depth + 1);
    match value {
        Value::Array(items) if !items.is_empty() => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                next(text, index, inner);
                write(text, item, keys, inner);
            }
            new_line(text, indent);
            text.push(']');
        }
        Value::Object(map) if !map.is_empty() => {
            text.push('{');
            for (index, (_, key, value, keys)) in keys.entries(map).into_iter().enumerate() {
                next(text, index, inner);
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push_str(if indent.is_some() { ": " } else { ":" });
                write(text, value, keys, inner);
            }
            new_line(text, indent);
            text.push('}');
        }
        other => text.push_str(&other.to_string()),
    }
}

fn next(text: &mut String, index: usize, indent: Option<usize>) {
    if index > 0 {
        text.push(',');
    }
    new_line(text, indent);
}

fn new_line(text: &mut String, indent: Option<usize>) {
    if let Some(depth) = indent {
        text.push('\n');
        for _ in 0..depth {
            text.push_str("  ");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn known_keys_come_first_and_others_sorted() {
        let run = json!({ "z": 1, "imported": {}, "trace": { "tool_calls": [{ "args": { "b": 1, "a": 2 }, "name": "x" }] },
            "schema_version": "v1" });
        assert_eq!(
            line(&run),
            r#"{"schema_version":"v1","trace":{"tool_calls":[{"name":"x","args":{"a":2,"b":1}}]},"imported":{},"z":1}"#
        );
        assert_eq!(serde_json::from_str::<Value>(&pretty(&run)).unwrap(), run);
    }
}
