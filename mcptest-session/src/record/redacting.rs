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
                ("tools", Value::Array(all)) => {
                    for one in all {
                        own_call(redactor, one, &mut counts);
                    }
                }
                // How often each answer was given, and what tells the answers from others.
                ("answers", _) => {}
                (_, value) => redactor.redact_counted(value, &mut counts),
            }
        }
    }
    counts
}

/// A call of a tool of the agent's own: what it is called, and who answered it, are words of ours.
fn own_call(redactor: &Redactor, call: &mut Value, counts: &mut RedactionCounts) {
    let Value::Object(map) = call else {
        return redactor.redact_counted(call, counts);
    };
    for (_, value) in map
        .iter_mut()
        .filter(|(key, _)| !["name", "by"].contains(&key.as_str()))
    {
        redactor.redact_counted(value, counts);
    }
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nothing_that_an_own_tool_said_keeps_a_secret_and_its_name_stays() {
        let said = "the key is hush-hush-hush";
        let tools = |name: &str, said: &str| {
            json!([
                { "name": name, "args": { said: [said] }, "result": { "deep": [said] }, "call": 0, "by": "suite" },
                { "name": name, "args": {}, "error": { "type": said, "module": said, "text": said, "args": [said] }, "inside": 0, "ms": 3 },
                { "name": name, "args": { "n": said }, "error": said },
                { "name": name, "args": {}, "left": true, "ids_open": [said] },
            ])
        };
        let secrets = [("KEY".to_owned(), "hush-hush-hush".to_owned())];
        let redactor = Redactor::new(secrets, Vec::new()).unwrap();
        let mut cassette = json!({
            "session": { "tools": tools("refund", said), "answers": { "fingerprint": "f", "used": [1] } },
        });
        let mut right = cassette.clone();
        right["session"]["tools"] = tools("refund", "the key is [redacted KEY]");
        redact(&redactor, &mut cassette);
        assert_eq!(cassette["session"], right["session"]);
        // A name is what a played call is found by.
        let redactor = Redactor::new([("KEY".to_owned(), "refund".to_owned())], Vec::new());
        let mut cassette = json!({ "session": { "tools": tools("refund", "nothing") } });
        let before = cassette.clone();
        redact(&redactor.unwrap(), &mut cassette);
        assert_eq!(cassette["session"], before["session"]);
    }
}
