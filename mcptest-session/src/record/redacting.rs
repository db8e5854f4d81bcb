//! Secrets out of a cassette, also out of what is kept for playing.

use mcptest_trace::record::redact::{RedactionCounts, Redactor};
use serde_json::Value;

/// Keys of the field `session`, and of what it holds, under which only words of ours stand.
const OURS: [&str; 14] = [
    "version", "role", "protocol", "stop", "retries", "digest", "method", "status", "unknown",
    "streamed", "bare", "id", "name", "items",
];

/// Takes secrets out of a run, and says how often which one. What makes it a cassette stays.
pub fn redact(redactor: &Redactor, cassette: &mut Value) -> RedactionCounts {
    let mut counts = RedactionCounts::default();
    redactor.redact_run_counted(cassette, &mut counts);
    for tool in cassette["tools"].as_array_mut().into_iter().flatten() {
        for key in ["description", "input_schema"] {
            if let Some(value) = tool.get_mut(key) {
                redactor.redact_counted(value, &mut counts);
            }
        }
    }
    let field = cassette.get_mut("session");
    if let Some(Value::Object(field)) = field {
        for (key, value) in field.iter_mut().filter(|(key, _)| !is_ours(key)) {
            match (key.as_str(), value) {
                ("conversations" | "others", Value::Array(all)) => {
                    for one in all {
                        structure(redactor, one, &mut counts);
                    }
                }
                (_, value) => redactor.redact_counted(value, &mut counts),
            }
        }
    }
    counts
}

fn is_ours(key: &str) -> bool {
    OURS.contains(&key)
}

/// An object of ours: its keys stay, and what stands at them is looked at.
fn structure(redactor: &Redactor, value: &mut Value, counts: &mut RedactionCounts) {
    let Value::Object(map) = value else {
        return redactor.redact_counted(value, counts);
    };
    for (key, value) in map.iter_mut().filter(|(key, _)| !is_ours(key)) {
        match (key.as_str(), value) {
            ("answers" | "parts", Value::Array(all)) => {
                for one in all {
                    structure(redactor, one, counts);
                }
            }
            ("call" | "result" | "opaque" | "native", value) => structure(redactor, value, counts),
            (_, value) => redactor.redact_counted(value, counts),
        }
    }
}
