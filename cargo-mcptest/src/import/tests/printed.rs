//! What `claude -p --output-format stream-json` prints; the form is that of
//! charlieyou/claude-agent-sdk-gleam@79c7629f:test/fixtures.

use serde_json::{Value, json};

use super::{Desk, lines};

fn line(kind: &str, parent: Option<&str>, message: Value) -> Value {
    let mut line =
        json!({ "type": kind, "parent_tool_use_id": parent, "session_id": "s", "message": {} });
    line["message"] = message;
    line
}

fn answer(id: &str, parent: Option<&str>, block: &Value, completion: u64) -> Value {
    let usage = json!({ "input_tokens": 4, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 96, "output_tokens": completion });
    let message = json!({ "id": id, "type": "message", "role": "assistant", "model": "claude-opus-4-1", "content": [block],
        "stop_reason": null, "usage": usage });
    line("assistant", parent, message)
}

fn call(id: &str, name: &str) -> Value {
    json!({ "type": "tool_use", "id": id, "name": name, "input": { "order": 7 } })
}

fn result(id: &str, parent: Option<&str>) -> Value {
    let block =
        json!({ "type": "tool_result", "tool_use_id": id, "content": "ok", "is_error": false });
    line(
        "user",
        parent,
        json!({ "role": "user", "content": [block] }),
    )
}

fn says(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn ends(subtype: &str, is_error: bool) -> Value {
    json!({ "type": "result", "subtype": subtype, "is_error": is_error, "num_turns": 3, "session_id": "s", "result": "Done.",
        "total_cost_usd": 0.09, "duration_ms": 9974, "usage": { "input_tokens": 12, "output_tokens": 99 } })
}

/// What is printed of a run whose agent has another agent look something up.
fn printed() -> Vec<Value> {
    vec![
        json!({ "type": "system", "subtype": "init", "cwd": "/x", "session_id": "s", "model": "claude-opus-4-1",
            "tools": ["Task", "Grep", "Write", "mcp__shop__get_order"], "mcp_servers": [{ "name": "shop", "status": "connected" }],
            "permissionMode": "default", "claude_code_version": "2.1.4" }),
        answer("m1", None, &says("I look."), 7),
        answer("m1", None, &call("t1", "Task"), 21),
        line(
            "user",
            Some("t1"),
            json!({ "role": "user", "content": [says("Look for it.")] }),
        ),
        answer("n1", Some("t1"), &call("t2", "Grep"), 5),
        result("t2", Some("t1")),
        result("t1", None),
        answer("m2", None, &call("t3", "mcp__shop__get_order"), 20),
        result("t3", None),
        answer("m3", None, &says("Done."), 9),
    ]
}

fn import(lines_of_run: &[Value]) -> Value {
    let desk = Desk::new();
    desk.write("out.jsonl", lines(lines_of_run));
    let said = desk.import(&["out.jsonl", "--prompt", "Look for order 7."]);
    assert_eq!(said.status, 0, "{said:?}");
    assert!(!said.out.contains("unknown type"), "{said:?}");
    desk.recording()
}

#[test]
fn what_claude_prints_is_a_run() {
    let mut all = printed();
    all.push(ends("success", false));
    let run = import(&all);
    assert_eq!(
        (&run["agent_name"], &run["model"]),
        (&json!("claude-code"), &json!("claude-opus-4-1"))
    );
    let calls = run["trace"]["tool_calls"].as_array().unwrap().iter();
    let calls: Vec<_> = calls
        .map(|it| (it["name"].as_str().unwrap(), it["agent_id"].as_str()))
        .collect();
    // The sub-agent's stand where they were made.
    assert_eq!(
        calls,
        [("Task", None), ("Grep", Some("t1")), ("get_order", None)]
    );
    assert_eq!(run["trace"]["tool_results"].as_array().unwrap().len(), 3);
    assert_eq!(run["trace"]["final_response"], "Done.");
    let talk = &run["trace"]["conversation"];
    assert_eq!(talk["stop_reason"], "completed");
    assert_eq!(
        talk["tokens"],
        json!({ "prompt": 300, "cached": 288, "completion": 50, "total": 350 })
    );
    assert_eq!(talk["turns"].as_array().unwrap().len(), 5, "{talk}");
    let tools = run["tools"].as_array().unwrap();
    let tools: Vec<&str> = tools.iter().map(|it| it.as_str().unwrap()).collect();
    assert_eq!(tools, ["Grep", "Task", "Write", "shop::get_order"]);
    assert_eq!(
        (&run["imported"]["id"], &run["imported"]["version"]),
        (&json!("s"), &json!("2.1.4"))
    );
}

#[test]
fn how_a_printed_run_ended_stands_in_its_last_line() {
    for (last, stop) in [
        (Some(ends("error_max_turns", true)), json!("turn_budget")),
        (Some(ends("error_during_execution", true)), json!("error")),
        (Some(ends("success", true)), json!("error")),
        (None, Value::Null),
    ] {
        let mut all = printed();
        all.extend(last);
        let talk = &import(&all)["trace"]["conversation"];
        assert_eq!(talk["stop_reason"], stop);
    }
}

/// Runs that do the same are no copies of one session: each was asked anew.
#[test]
fn printed_runs_that_do_the_same_are_runs_of_their_own() {
    let desk = Desk::new();
    for session in ["s", "t", "u"] {
        let mut all = printed();
        all.push(ends(
            if session == "u" {
                "error_max_turns"
            } else {
                "success"
            },
            session == "u",
        ));
        let text = lines(&all).replace(
            "\"session_id\":\"s\"",
            &format!("\"session_id\":\"{session}\""),
        );
        desk.write(&format!("logs/{session}.jsonl"), text);
    }
    let said = desk.import(&["logs", "--prompt", "Look for order 7."]);
    assert_eq!((said.status, desk.recordings().len()), (0, 3), "{said:?}");
    assert!(
        !said.out.contains("left out\n") && !said.out.contains("beginning"),
        "{said:?}"
    );
}

/// The prompt is no part of what is printed, and is said to be wanted.
#[test]
fn the_prompt_of_a_printed_run_is_given() {
    let desk = Desk::new();
    desk.write("out.jsonl", lines(&printed()));
    let said = desk.import(&["out.jsonl"]);
    assert_eq!(said.status, 2);
    assert!(
        said.err
            .contains("= help: give the prompt with `--prompt TEXT`"),
        "{said:?}"
    );
    // Other programs print other calls in a like form.
    let cursor = json!({ "type": "system", "subtype": "init", "cwd": "/x", "session_id": "s", "model": "m" });
    let call =
        json!({ "type": "tool_call", "subtype": "started", "call_id": "c", "session_id": "s" });
    desk.write("out.jsonl", lines(&[cursor, call]));
    let said = desk.import(&["out.jsonl", "--prompt", "p"]);
    assert!(said.err.contains("has no known format"), "{said:?}");
}
