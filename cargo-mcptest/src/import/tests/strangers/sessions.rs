//! Definitions: `openai/codex:codex-rs/core/src/rollout/policy.rs` and `codex-rs/protocol`; sessions of Claude Code
//! as skillsynchq/txcript@1907ec4c describes them.

use serde_json::{Value, json};

use super::super::{Desk, lines};
use super::{call, calls, closing, stop, tokens};

fn line(second: u32, kind: &str, payload: Value) -> Value {
    let at = format!("2026-08-01T10:00:{second:02}.000Z");
    let mut line = json!({ "timestamp": at, "type": kind });
    line["payload"] = payload;
    line
}

fn begin() -> Vec<Value> {
    vec![
        line(
            0,
            "session_meta",
            json!({ "id": "s1", "cli_version": "0.60.1", "cwd": "/x" }),
        ),
        line(
            0,
            "turn_context",
            json!({ "model": "gpt-5-codex", "cwd": "/x" }),
        ),
        line(
            1,
            "event_msg",
            json!({ "type": "user_message", "message": "fix it" }),
        ),
    ]
}

fn imported(records: &[Value]) -> Value {
    let desk = Desk::new();
    desk.write("rollout-1.jsonl", lines(records));
    let said = desk.import(&["rollout-1.jsonl"]);
    assert_eq!(said.status, 0, "{said:?}");
    desk.recording()
}

/// A turn that broke off is completed too, in the words of the program: it is over, without a message.
#[test]
fn a_turn_of_codex_that_failed_is_not_completed() {
    let mut records = begin();
    records.extend([
        line(2, "response_item", json!({ "type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{\"command\":[\"ls\"]}" })),
        line(2, "event_msg", json!({ "type": "token_count", "info": { "last_token_usage": { "input_tokens": 100, "cached_input_tokens": 90, "output_tokens": 5, "reasoning_output_tokens": 3, "total_tokens": 105 } } })),
        line(3, "response_item", json!({ "type": "function_call_output", "call_id": "c1", "output": "{\"output\":\"no\",\"metadata\":{\"exit_code\":2}}" })),
        line(4, "event_msg", json!({ "type": "error", "message": "usage limit reached" })),
        line(4, "event_msg", json!({ "type": "task_complete", "last_agent_message": null })),
    ]);
    let run = imported(&records);
    assert_eq!((stop(&run), tokens(&run)), ("error", (100, 5)));
    assert_eq!(calls(&run)[0].3, Some(true));
    // The user goes on, and it ends well.
    records.extend([
        line(5, "event_msg", json!({ "type": "user_message", "message": "again" })),
        line(6, "response_item", json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Done." }] })),
        line(7, "event_msg", json!({ "type": "task_complete", "last_agent_message": "Done." })),
    ]);
    let run = imported(&records);
    assert_eq!((stop(&run), closing(&run)), ("completed", "Done."));
}

/// Rate limits are told again with the numbers of the last model call: they count once.
#[test]
fn tokens_of_codex_that_are_told_twice_count_once() {
    let usage = json!({ "type": "token_count", "info": { "last_token_usage": { "input_tokens": 100, "output_tokens": 5 }, "total_token_usage": { "input_tokens": 900, "output_tokens": 50 } } });
    let mut records = begin();
    records.extend([
        line(2, "event_msg", json!({ "type": "token_count", "info": null, "rate_limits": {} })),
        line(3, "response_item", json!({ "type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{}" })),
        line(3, "response_item", json!({ "type": "function_call", "call_id": "c2", "name": "shell", "arguments": "{}" })),
        line(3, "event_msg", usage.clone()),
        line(4, "response_item", json!({ "type": "function_call_output", "call_id": "c2", "output": "two" })),
        line(4, "response_item", json!({ "type": "function_call_output", "call_id": "c1", "output": "one" })),
        line(4, "event_msg", usage.clone()),
        line(5, "response_item", json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Done." }] })),
        line(5, "event_msg", usage),
    ]);
    let run = imported(&records);
    assert_eq!(tokens(&run), (200, 10));
    assert_eq!(
        calls(&run),
        [
            call("shell", "{}", "one", None),
            call("shell", "{}", "two", None)
        ]
    );
}

fn entry(uuid: &str, parent: Option<&str>, kind: &str, message: Value) -> Value {
    let mut line = json!({ "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s1", "isSidechain": false, "version": "2.1.0",
        "timestamp": "2026-08-01T10:00:00.000Z" });
    line["message"] = message;
    line
}

fn model(id: &str, content: &Value, stop: &Value) -> Value {
    json!({ "id": id, "role": "assistant", "model": "claude", "content": content, "stop_reason": stop,
        "usage": { "input_tokens": 1, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 100, "output_tokens": 5 } })
}

/// A session that was compacted goes on behind a summary, and the summary is nothing that a user said.
#[test]
fn a_compacted_session_of_claude_code_is_whole() {
    let call_block =
        json!([{ "type": "tool_use", "id": "t1", "name": "Bash", "input": { "command": "ls" } }]);
    let mut boundary = entry("b1", None, "system", json!(null));
    boundary.as_object_mut().unwrap().remove("message");
    boundary["subtype"] = "compact_boundary".into();
    boundary["logicalParentUuid"] = "u2".into();
    let mut summary = entry(
        "u3",
        Some("b1"),
        "user",
        json!({ "role": "user", "content": "This session is being continued…" }),
    );
    summary["isCompactSummary"] = true.into();
    let records = [
        json!({ "type": "summary", "summary": "Fixing", "leafUuid": "a9" }),
        entry(
            "u1",
            None,
            "user",
            json!({ "role": "user", "content": "fix it" }),
        ),
        entry(
            "a1",
            Some("u1"),
            "assistant",
            model("m1", &call_block, &json!("tool_use")),
        ),
        entry(
            "u2",
            Some("a1"),
            "user",
            json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": "ls: no" }] }),
        ),
        boundary,
        summary,
        entry(
            "a2",
            Some("u3"),
            "assistant",
            model(
                "m2",
                &json!([{ "type": "text", "text": "It broke." }]),
                &json!("end_turn"),
            ),
        ),
    ];
    let run = imported(&records);
    assert_eq!(
        calls(&run),
        [call("Bash", r#"{"command":"ls"}"#, "ls: no", Some(true))]
    );
    assert_eq!(
        (closing(&run), stop(&run), tokens(&run)),
        ("It broke.", "completed", (222, 10))
    );
    assert!(!run.to_string().contains("being continued"));
}

/// Two sessions in a folder are two runs; one whose last line is cut is told, and imported to there.
#[test]
fn a_folder_of_sessions_of_which_one_is_cut() {
    let desk = Desk::new();
    let one = [
        entry(
            "u1",
            None,
            "user",
            json!({ "role": "user", "content": "fix it" }),
        ),
        entry(
            "a1",
            Some("u1"),
            "assistant",
            model(
                "m1",
                &json!([{ "type": "text", "text": "Fixed." }]),
                &json!("end_turn"),
            ),
        ),
    ];
    let mut other: Vec<Value> = one.to_vec();
    for (record, uuid) in other.iter_mut().zip(["x1", "x2"]) {
        record["sessionId"] = "s2".into();
        record["uuid"] = uuid.into();
    }
    other[1]["parentUuid"] = "x1".into();
    other[1]["message"]["content"][0]["text"] = "Not fixed.".into();
    desk.write("logs/s1.jsonl", lines(&one));
    let cut = lines(&other);
    desk.write("logs/s2.jsonl", format!("{cut}{}", &cut[..40]));
    let said = desk.import(&["logs"]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(
        said.err.contains("is cut\n --> logs/s2.jsonl:3"),
        "{}",
        said.err
    );
    let closings: Vec<String> = desk
        .recordings()
        .iter()
        .map(|(_, run)| closing(run).to_owned())
        .collect();
    assert_eq!(closings, ["Fixed.", "Not fixed."]);
}

/// The payload of an output was an object with its success before it was the text alone.
#[test]
fn an_output_of_codex_that_says_it_failed_is_an_error() {
    let output = |success: bool| json!({ "content": "no", "success": success });
    for (success, flag) in [(true, false), (false, true)] {
        let mut records = begin();
        records.extend([
            line(2, "response_item", json!({ "type": "function_call", "call_id": "c1", "name": "apply", "arguments": "{}" })),
            line(3, "response_item", json!({ "type": "function_call_output", "call_id": "c1", "output": output(success) })),
        ]);
        assert_eq!(calls(&imported(&records))[0].3, Some(flag));
    }
}
