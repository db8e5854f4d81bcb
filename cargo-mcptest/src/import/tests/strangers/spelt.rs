//! What some write otherwise than the definition: flags, and who speaks.

use serde_json::{Value, json};

use super::spans::{import as import_spans, span};
use super::{call, calls};
use crate::import::tests::{Desk, inspect, lines, tau};

fn import(name: &str, text: String) -> (Desk, u8, String) {
    let desk = Desk::new();
    desk.write(name, text);
    let said = desk.import(&[name]);
    (desk, said.status, format!("{}{}", said.out, said.err))
}

/// Who speaks to whom, with a call between; `narrator` is nobody's role.
fn talk(call: &Value, result: Value) -> [Value; 5] {
    [
        json!({ "role": "user", "content": "find it" }),
        json!({ "role": "assistant", "content": "", "tool_calls": [call] }),
        result,
        json!({ "role": "narrator", "content": "Meanwhile." }),
        json!({ "role": "assistant", "content": "Gone." }),
    ]
}

#[test]
fn a_message_of_an_unknown_role_is_reported_and_costs_no_call() {
    let simulated = talk(
        &json!({ "id": "c", "name": "find", "arguments": { "q": 1 }, "requestor": "assistant" }),
        json!({ "role": "tool", "id": "c", "content": "gone", "requestor": "assistant" }),
    );
    let simulation = json!({ "id": "s", "task_id": "t1", "trial": 0, "messages": simulated });
    let sampled = talk(
        &json!({ "id": "c", "function": "find", "arguments": { "q": 1 }, "type": "function" }),
        json!({ "role": "tool", "tool_call_id": "c", "function": "find", "content": "gone" }),
    );
    let sample = json!({ "id": "s", "epoch": 1, "input": "find it", "messages": sampled, "output": {}, "scores": {} });
    let graph = lines(&[json!({ "id": "g", "model": "m", "messages": [
        { "type": "human", "content": "find it" },
        { "type": "chat", "role": "assistant", "content": "", "tool_calls": [{ "id": "c", "name": "find", "args": { "q": 1 } }] },
        { "type": "tool", "tool_call_id": "c", "content": "gone", "status": "success" },
        { "type": "chat", "role": "narrator", "content": "Meanwhile." },
        { "type": "ai", "content": "Gone." },
    ] })]);
    for (name, text) in [
        (
            "results.json",
            tau::results(&[simulation], None).to_string(),
        ),
        ("log.json", inspect::log(&[sample]).to_string()),
        ("graph.jsonl", graph),
    ] {
        let (desk, status, said) = import(name, text);
        assert_eq!(status, 1, "{name}: {said}");
        assert!(said.contains("message of an unknown role"), "{said}");
        let found = [call("find", r#"{"q":1}"#, "gone", Some(false))];
        assert_eq!(calls(&desk.recording()), found, "{name}: {said}");
    }
}

#[test]
fn a_failure_is_read_however_it_is_spelt() {
    let trajectory = json!({ "schema_version": "ATIF-v1.8", "session_id": "s", "agent": { "name": "a", "version": "2", "model_name": "m" }, "steps": [
        { "source": "user", "message": "find it" },
        { "source": "agent", "message": "", "tool_calls": [{ "tool_call_id": "c", "function_name": "find", "arguments": { "q": 1 } }],
          "observation": { "results": [{ "source_call_id": "c", "content": "gone", "extra": { "tool_result_is_error": "True" } }] } },
        { "source": "agent", "message": "Gone." },
    ] });
    let graph = lines(&[json!({ "id": "g", "model": "m", "messages": [
        { "type": "human", "content": "find it" },
        { "type": "ai", "content": "", "tool_calls": [{ "id": "c", "name": "find", "args": { "q": 1 } }] },
        { "type": "tool", "tool_call_id": "c", "content": "gone", "status": "ERROR" },
        { "type": "ai", "content": "Gone." },
    ] })]);
    let wrapped = json!({ "content": [{ "type": "text", "text": "gone" }], "isError": "true" });
    let chat = lines(&[json!({ "id": "1", "model": "m", "messages": [
        { "role": "user", "content": "find it" },
        { "role": "assistant", "content": "", "tool_calls": [{ "id": "c", "type": "function", "function": { "name": "find", "arguments": "{\"q\":1}" } }] },
        { "role": "tool", "tool_call_id": "c", "content": wrapped.to_string() },
        { "role": "assistant", "content": "Gone." },
    ] })]);
    for (name, text) in [
        ("trajectory.json", trajectory.to_string()),
        ("graph.jsonl", graph),
        ("chat.jsonl", chat),
    ] {
        let (desk, status, said) = import(name, text);
        assert_eq!(status, 0, "{name}: {said}");
        let found = calls(&desk.recording());
        assert_eq!(found.len(), 1, "{name}: {said}");
        assert_eq!(found[0].3, Some(true), "{name}: {said}");
    }
}

#[test]
fn a_span_fails_by_a_status_in_words() {
    let asked = json!([{ "role": "user", "parts": [{ "type": "text", "content": "find it" }] }]);
    let chat = json!({ "gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.input.messages": asked.to_string() });
    let tool = json!({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find", "gen_ai.tool.call.id": "c",
        "gen_ai.tool.call.arguments": "{\"q\":1}", "gen_ai.tool.call.result": "gone" });
    for code in [json!("ERROR"), json!("STATUS_CODE_ERROR"), json!(2)] {
        let mut failed = span(2, 0, "execute_tool find", &tool);
        failed["status"] = json!({ "code": code });
        let (_, said, runs) = import_spans(&[span(1, 0, "chat m", &chat), failed]);
        let found = calls(&runs[0]);
        assert_eq!(found[0].3, Some(true), "{code}: {said}");
    }
}
