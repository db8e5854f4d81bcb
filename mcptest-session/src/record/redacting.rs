//! Secrets out of a cassette, also out of what is kept for playing.

use mcptest_trace::record::redact::Redactor;
use serde_json::Value;

/// Keys of the field `session`, and of what it holds, under which only words of ours stand.
const OURS: [&str; 14] = [
    "version", "role", "protocol", "stop", "retries", "digest", "method", "status", "unknown",
    "streamed", "bare", "id", "name", "items",
];

/// Takes secrets out of a run. What makes it a cassette stays.
pub fn redact(redactor: &Redactor, cassette: &mut Value) {
    redactor.redact_run(cassette);
    for tool in cassette["tools"].as_array_mut().into_iter().flatten() {
        for key in ["description", "input_schema"] {
            if let Some(value) = tool.get_mut(key) {
                redactor.redact(value);
            }
        }
    }
    let field = cassette.get_mut("session");
    if let Some(Value::Object(field)) = field {
        for (key, value) in field.iter_mut().filter(|(key, _)| !is_ours(key)) {
            match (key.as_str(), value) {
                ("conversations" | "others", Value::Array(all)) => {
                    for one in all {
                        structure(redactor, one);
                    }
                }
                (_, value) => redactor.redact(value),
            }
        }
    }
}

fn is_ours(key: &str) -> bool {
    OURS.contains(&key)
}

/// An object of ours: its keys stay, and what stands at them is looked at.
fn structure(redactor: &Redactor, value: &mut Value) {
    let Value::Object(map) = value else {
        return redactor.redact(value);
    };
    for (key, value) in map.iter_mut().filter(|(key, _)| !is_ours(key)) {
        match (key.as_str(), value) {
            ("answers" | "parts", Value::Array(all)) => {
                for one in all {
                    structure(redactor, one);
                }
            }
            ("call" | "result" | "opaque" | "native", value) => structure(redactor, value),
            (_, value) => redactor.redact(value),
        }
    }
}
