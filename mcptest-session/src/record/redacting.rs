//! Secrets out of a cassette, also out of what is kept for playing.

use mcptest_trace::record::redact::{RedactionCounts, Redactor};
use serde_json::Value;

/// Takes secrets out of a run, and says how often which one. What makes it a cassette stays.
pub fn redact(redactor: &Redactor, cassette: &mut Value) -> RedactionCounts {
    let mut counts = RedactionCounts::default();
    redactor.redact_run_counted(cassette, &mut counts);
    if let Value::Object(run) = cassette {
        // A run whose model was offered no tools says so.
        run.entry("tools").or_insert(Value::Null);
    }
    counts
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
