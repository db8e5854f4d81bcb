//! What some write otherwise than the definition: flags, and who speaks.

use serde_json::{Value, json};

use super::spans::{import as import_spans, span};
use super::{call, calls, closing};
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

/// Anthropic's results are the user's, and the identifier of a call is only where it is sent again.
#[test]
fn calls_of_open_inference_for_anthropic_are_made_once() {
    let asked = json!({ "llm.model_name": "m", "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "find it" });
    let with = |more: Value| {
        let mut all = asked.clone();
        let more = more.as_object().unwrap().clone();
        all.as_object_mut().unwrap().extend(more);
        all
    };
    let tool = "message.tool_calls.0.tool_call";
    let made = |of: &str| {
        json!({ format!("{of}.message.role"): "assistant", format!("{of}.{tool}.function.name"): "find",
            format!("{of}.{tool}.function.arguments"): "{\"q\":1}" })
    };
    let first = with(made("llm.output_messages.0"));
    let mut second = with(made("llm.input_messages.1"));
    for (key, value) in [
        (format!("llm.input_messages.1.{tool}.id"), "toolu_1"),
        ("llm.input_messages.2.message.role".to_owned(), "user"),
        (
            "llm.input_messages.2.message.tool_call_id".to_owned(),
            "toolu_1",
        ),
        ("llm.input_messages.2.message.content".to_owned(), "gone"),
        ("llm.output_messages.0.message.role".to_owned(), "assistant"),
        ("llm.output_messages.0.message.content".to_owned(), "Gone."),
    ] {
        second[key] = value.into();
    }
    let span_of = json!({ "openinference.span.kind": "TOOL", "tool.name": "find" });
    let (status, said, runs) = import_spans(&[
        span(1, 0, "messages.create", &first),
        span(2, 0, "find", &span_of),
        span(3, 0, "messages.create", &second),
    ]);
    assert_eq!(status, 0, "{said}");
    let found = [call("find", r#"{"q":1}"#, "gone", None)];
    assert_eq!(calls(&runs[0]), found, "{said}");
    let turns = runs[0]["trace"]["conversation"]["turns"]
        .as_array()
        .unwrap();
    let users = turns.iter().filter(|turn| turn["role"] == "user").count();
    assert_eq!(users, 1, "{turns:?}");
}

/// Whether the cache is in the number of tokens that were sent is told by the total.
#[test]
fn cached_tokens_of_inspect_are_counted_once() {
    let tokens = |usage: Value| {
        let message = json!({ "id": "m1", "role": "assistant", "content": "Found." });
        let event = json!({ "event": "model", "model": "m", "output": { "choices": [{ "message": message }], "usage": usage } });
        let messages = [
            json!({ "role": "user", "content": "find it" }),
            message.clone(),
        ];
        let sample = json!({ "id": "s", "epoch": 1, "input": "find it", "messages": messages, "events": [event], "output": {}, "scores": {} });
        let (desk, _, said) = import("log.json", inspect::log(&[sample]).to_string());
        let tokens = desk.recording()["trace"]["conversation"]["tokens"]["prompt"].clone();
        (tokens, said)
    };
    let usage = |total: u64| json!({ "input_tokens": 1731, "output_tokens": 28, "total_tokens": total, "input_tokens_cache_read": 1664 });
    for (total, prompt) in [(1759, 1731), (3423, 3395)] {
        let (found, said) = tokens(usage(total));
        assert_eq!(found, prompt, "{said}");
    }
}

#[test]
fn the_text_of_an_error_is_kept_and_what_may_be_a_verdict_is_named() {
    let chat = lines(&[
        json!({ "id": "1", "model": "m", "pass": false, "messages": [
        { "role": "user", "content": "find it" },
        { "role": "assistant", "content": "", "tool_calls": [{ "id": "c", "type": "function", "function": { "name": "find", "arguments": "{\"q\":1}" } }] },
        { "role": "tool", "tool_call_id": "c", "content": [{ "type": "text", "text": "" }], "error": "no such place" },
        { "role": "assistant", "content": "Gone." },
    ] }),
    ]);
    let (desk, status, said) = import("chat.jsonl", chat);
    assert_eq!(status, 0, "{said}");
    let found = calls(&desk.recording());
    assert!(found[0].2.contains("no such place"), "{found:?}");
    assert!(
        said.contains("`pass` is not read: `--score pass` reads it"),
        "{said}"
    );
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

fn rollout(items: &[Value]) -> String {
    let meta = json!({ "type": "session_meta", "payload": { "id": "r", "cli_version": "0.99.0" } });
    let asked = json!({ "type": "turn_context", "payload": { "model": "m" } });
    let kind = |item: &Value| {
        if item["type"] == "patch_apply_end" {
            "event_msg"
        } else {
            "response_item"
        }
    };
    let items = items
        .iter()
        .map(|item| json!({ "type": kind(item), "payload": item }));
    lines(&[meta, asked].into_iter().chain(items).collect::<Vec<_>>())
}

fn trajectory(steps: &[Value]) -> String {
    json!({ "schema_version": "ATIF-v1.8", "session_id": "s", "agent": { "name": "a", "version": "2", "model_name": "m" }, "steps": steps }).to_string()
}

#[test]
fn what_an_unknown_speaker_says_is_reported_and_no_words_of_the_agent() {
    let said = |role: &str, said: &str| json!({ "type": "message", "role": role, "content": [{ "type": "text", "text": said }] });
    let items = [
        said("user", "find it"),
        json!({ "type": "function_call", "call_id": "c", "name": "find", "arguments": "{\"q\":1}" }),
        json!({ "type": "function_call_output", "call_id": "c", "output": "gone" }),
        json!({ "type": "patch_apply_end", "call_id": "c", "success": "False" }),
        said("developer", "Be brief."),
        said("Assistant", "Gone."),
        said("narrator", "Meanwhile."),
    ];
    let steps = [
        json!({ "source": "user", "message": "find it" }),
        json!({ "source": "agent", "message": "", "tool_calls": [{ "tool_call_id": "c", "function_name": "find", "arguments": { "q": 1 } }],
          "observation": { "results": [{ "source_call_id": "c", "content": "gone", "extra": { "is_error": 1 } }] } }),
        json!({ "source": "Agent", "message": "Gone." }),
        json!({ "source": "narrator", "message": "Meanwhile." }),
    ];
    for (name, text, reason) in [
        (
            "rollout.jsonl",
            rollout(&items),
            "message of an unknown role",
        ),
        (
            "trajectory.json",
            trajectory(&steps),
            "step of an unknown source",
        ),
    ] {
        let (desk, status, said) = import(name, text);
        assert_eq!(status, 1, "{name}: {said}");
        let place = format!("{reason}\n --> {name}:1\n");
        assert!(said.contains(&place), "{said}");
        let run = desk.recording();
        let found = [call("find", r#"{"q":1}"#, "gone", Some(true))];
        assert_eq!(calls(&run), found, "{name}: {said}");
        assert_eq!(closing(&run), "Gone.", "{name}: {said}");
        assert!(!run.to_string().contains("Meanwhile"), "{run:#}");
    }
}

#[test]
fn a_message_of_a_kind_without_a_speaker_is_reported() {
    let graph = lines(&[json!({ "id": "g", "model": "m", "messages": [
        { "type": "human", "content": "find it" },
        { "type": "chat", "content": "Meanwhile." },
        { "type": "remove", "content": "", "id": "x" },
        { "type": "ai", "content": "Gone." },
    ] })]);
    let (desk, status, said) = import("graph.jsonl", graph);
    assert_eq!(status, 1, "{said}");
    assert!(said.contains("message without a role"), "{said}");
    assert!(!desk.recording().to_string().contains("Meanwhile"));
}

/// Neither the calls nor the results of a message are lost, whatever its speaker is named.
#[test]
fn what_spans_were_sent_by_an_unknown_speaker_is_reported() {
    let text = |role: &str, said: &str| json!({ "role": role, "parts": [{ "type": "text", "content": said }] });
    let sent = json!([
        text("User", "find it"),
        { "role": "Assistant", "parts": [{ "type": "tool_call", "id": "c", "name": "find", "arguments": { "q": 1 } }] },
        { "role": "tool", "parts": [{ "type": "tool_call_response", "id": "c", "response": "gone", "is_error": "True" }] },
        { "role": "finder", "parts": [{ "type": "tool_call", "id": "d", "name": "find", "arguments": { "q": 2 } }] },
        { "role": "tool", "parts": [{ "type": "tool_call_response", "id": "d", "response": "here" }] },
        text("narrator", "Meanwhile."),
    ]);
    let wrote = json!([text("assistant", "Gone.")]);
    let chat = json!({ "gen_ai.operation.name": "chat", "gen_ai.request.model": "m",
        "gen_ai.input.messages": sent.to_string(), "gen_ai.output.messages": wrote.to_string() });
    let (status, said, runs) = import_spans(&[span(1, 0, "chat m", &chat)]);
    assert_eq!(status, 1, "{said}");
    assert!(said.contains("message of an unknown role"), "{said}");
    let found = [
        call("find", r#"{"q":1}"#, "gone", Some(true)),
        call("find", r#"{"q":2}"#, "here", None),
    ];
    assert_eq!(calls(&runs[0]), found, "{said}");
    assert!(!runs[0].to_string().contains("Meanwhile"), "{said}");
}
