//! Scripts that cannot be played.

use scripted_provider::Script;
use serde_json::{Value, json};

fn error(script: &Value) -> String {
    Script::from_json(&script.to_string())
        .unwrap_err()
        .to_string()
}

fn with_reply(reply: &Value) -> Value {
    json!({ "conversations": [{ "user": "go", "runs": [[{ "text": "a" }, reply]] }] })
}

#[test]
fn wrong_replies_are_named() {
    for (reply, message) in [
        (json!({ "txt": "a" }), "unknown field `txt`"),
        (
            json!({ "stop": "length" }),
            "unknown variant `length`, expected `max_tokens` or `refusal`",
        ),
        (
            json!({ "calls": [{ "name": "f" }] }),
            "the call of f needs either args or raw_arguments",
        ),
        (
            json!({ "calls": [{ "name": "f", "args": {}, "raw_arguments": "" }] }),
            "the call of f needs either args or raw_arguments",
        ),
        (
            json!({ "calls": [{ "name": "f", "args": null }] }),
            "args of the call of f are no object",
        ),
        (
            json!({ "calls": [{ "name": "f", "args": { "a": ["{{result:f}}"] } }] }),
            "the placeholder {{result:f}} is not of the form {{result:TOOL_NAME:/json/pointer}}",
        ),
        (
            json!({ "text": "{{result:f:/a" }),
            "conversations[0].runs[0][1]: the placeholder {{result:f:/a has no }}",
        ),
        (
            json!({ "stop": "refusal", "calls": [{ "name": "f", "args": {} }] }),
            "conversations[0].runs[0][1]: a refusal has no calls",
        ),
        (
            json!({ "text": "b", "usage": { "prompt": 9, "completion": 4, "cached": 10 } }),
            "conversations[0].runs[0][1]: cached is a part of prompt, and reasoning of completion",
        ),
        (
            json!({ "text_from_env": "NO_SUCH_VARIABLE_HERE" }),
            "conversations[0].runs[0][1]: the environment variable NO_SUCH_VARIABLE_HERE is not set",
        ),
        (
            json!({ "before": [{}] }),
            "a failure is one of status, wait_ms, cut, close and body",
        ),
        (
            json!({ "before": [{ "cut": true, "close": true }] }),
            "a failure is one of status, wait_ms, cut, close and body",
        ),
        (
            json!({ "before": [{ "status": 200 }] }),
            "200 is no status of an error",
        ),
        (
            json!({ "before": [{ "cut": false }] }),
            "cut and close can only be true",
        ),
        (
            json!({ "before": [{ "wait_ms": 1, "retry_after": 1 }] }),
            "retry_after and message go with status only",
        ),
    ] {
        let error = error(&with_reply(&reply));
        assert!(error.starts_with("the script is wrong: "), "{error}");
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn wrong_conversations_are_named() {
    let reply = json!({ "text": "a" });
    for (script, message) in [
        (json!({}), "missing field `conversations`"),
        (
            json!({ "conversations": [], "model": "m" }),
            "unknown field `model`",
        ),
        (
            json!({ "conversations": [{ "user": "go", "runs": [] }] }),
            "conversations[0]: runs is empty",
        ),
        (
            json!({ "conversations": [{ "user": "go", "runs": [[]] }] }),
            "conversations[0].runs[0]: there is no reply",
        ),
        (
            json!({ "conversations": [{ "user": "", "runs": [[reply]] }] }),
            "conversations[0]: user is empty",
        ),
        (
            json!({ "models": ["a"], "conversations": [{ "user": "go", "model": "b", "runs": [[reply]] }] }),
            "conversations[0]: models does not list b",
        ),
        (
            json!({ "conversations": [{ "user": "go", "runs": [[reply]] }, { "user": "go", "runs": [[reply]] }] }),
            "conversations[1]: an earlier conversation has the same user and model",
        ),
    ] {
        let error = error(&script);
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn an_error_of_the_form_has_its_line() {
    let error = Script::from_json("{\n  \"conversations\": 7\n}").unwrap_err();
    assert!(error.to_string().ends_with("line 2 column 20"), "{error}");
}
