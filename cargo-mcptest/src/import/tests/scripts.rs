//! Codex since 0.147: the model calls tools from scripts.

use serde_json::{Value, json};

use super::strangers::{call, calls};
use super::{Desk, lines};

fn item(payload: &Value) -> Value {
    json!({ "type": "response_item", "payload": payload })
}

fn script(id: &str, input: &str) -> Value {
    item(&json!({ "type": "custom_tool_call", "call_id": id, "name": "exec", "input": input }))
}

fn output(id: &str, text: &str) -> Value {
    item(
        &json!({ "type": "custom_tool_call_output", "call_id": id, "output": [{ "type": "input_text", "text": text }] }),
    )
}

fn ran(code: i64, shown: &str) -> Value {
    let item = json!({ "type": "CommandExecution", "id": "e", "exit_code": code, "aggregated_output": shown });
    json!({ "type": "event_msg", "payload": { "type": "item_completed", "item": item } })
}

fn import(rows: &[Value]) -> Value {
    let mut all = vec![
        json!({ "type": "session_meta", "payload": { "id": "r", "cli_version": "0.150.0" } }),
        json!({ "type": "turn_context", "payload": { "model": "m" } }),
        item(
            &json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "go" }] }),
        ),
    ];
    all.extend_from_slice(rows);
    for (at, line) in all.iter_mut().enumerate() {
        line["timestamp"] = format!("2026-08-01T10:00:00.{at:03}Z").into();
    }
    let desk = Desk::new();
    desk.write("rollout.jsonl", lines(&all));
    let said = desk.import(&["rollout.jsonl"]);
    assert_eq!(said.status, 0, "{said:?}");
    desk.recording()
}

#[test]
fn a_script_with_one_call_is_that_call() {
    let run = |header: &str, events: &[Value]| {
        let asked = script("c", "const r = await tools.exec_command({ cmd: 'ls' }); r");
        let run = import(&[&[asked], events, &[output("c", header)]].concat());
        let calls = calls(&run);
        assert_eq!(
            (calls[0].0.as_str(), calls[0].1.as_str()),
            ("exec_command", r#"{"cmd":"ls"}"#),
            "{run:#}"
        );
        calls[0].3
    };
    let completed = "Script completed\nWall time 1 seconds\nOutput:\n(nothing)";
    assert_eq!(run(completed, &[]), None);
    assert_eq!(run(completed, &[ran(0, "")]), Some(false));
    assert_eq!(run(completed, &[ran(2, "")]), Some(true));
    let printed = |code: u32| {
        format!(
            "Script completed\nWall time 1 s\nOutput:\n{{\"exit_code\":{code},\"output\":\"x\"}}"
        )
    };
    assert_eq!(run(&printed(0), &[]), Some(false));
    assert_eq!(run(&printed(1), &[]), Some(true));
    assert_eq!(
        run("Script failed\nWall time 1 seconds", &[ran(0, "")]),
        Some(true)
    );
    assert_eq!(
        run("Script terminated\nWall time 1 seconds", &[]),
        Some(true)
    );
    assert_eq!(
        run("Script running with cell ID 3\nWall time 1 seconds", &[]),
        None
    );
}

#[test]
fn a_script_with_several_calls_holds_them() {
    let both = script(
        "c",
        "await tools.exec_command({ cmd: 'a' }); await tools.exec_command({ cmd: 'b' });",
    );
    let done = output("c", "Script completed\nOutput:\nx");
    let shown = |flags: [Option<bool>; 2], texts: [&str; 2]| {
        [
            call("exec_command", r#"{"cmd":"a"}"#, texts[0], flags[0]),
            call("exec_command", r#"{"cmd":"b"}"#, texts[1], flags[1]),
        ]
    };
    let run = import(&[both.clone(), ran(0, "of a"), ran(1, "of b"), done.clone()]);
    assert_eq!(calls(&run)[0].0, "exec");
    assert_eq!(
        calls(&run)[1..],
        shown([Some(false), Some(true)], ["of a", "of b"]),
        "{run:#}"
    );
    assert_eq!(run["trace"]["tool_calls"][1]["caller"]["tool_id"], "c");
    // Which of them ran is not known.
    let run = import(&[both, ran(1, "of b"), done]);
    assert_eq!(
        calls(&run)[1..],
        shown([None, None], ["none", "none"]),
        "{run:#}"
    );
}
