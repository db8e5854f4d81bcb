//! Definitions: langsmith-sdk `python/langsmith/wrappers/_openai.py` and `schemas.py`; Inspect's
//! `scorer/_metric.py`; Harbor's `result.json`.

use serde_json::{Value, json};

use super::super::{Desk, lines};
use super::{call, calls, closing, stop, tokens};

fn node(number: u32, kind: &str, name: &str, inputs: &Value, outputs: &Value) -> Value {
    json!({ "id": format!("r{number}"), "trace_id": "t1", "parent_run_id": if number == 0 { Value::Null } else { json!("r0") }, "run_type": kind, "name": name,
        "dotted_order": if number == 0 { "A".to_owned() } else { format!("A.{number}") }, "start_time": format!("2026-08-01T10:00:0{number}"), "end_time": format!("2026-08-01T10:00:0{number}"),
        "inputs": inputs, "outputs": outputs, "error": null, "extra": { "metadata": { "ls_model_name": "gpt-5", "ls_provider": "openai" } } })
}

/// What `wrap_openai` traces: requests and completions as the API has them, and tools of one's own.
#[test]
fn traces_of_wrapped_clients_are_read() {
    let desk = Desk::new();
    let user = json!({ "role": "user", "content": "find it" });
    let asks = json!({ "role": "assistant", "content": null, "tool_calls": [
        { "id": "c1", "type": "function", "function": { "name": "find", "arguments": "{\"q\":1}" } },
        { "id": "c2", "type": "function", "function": { "name": "find", "arguments": "{\"q\":2}" } }] });
    let completion = |message: &Value, finish: &str, prompt: u64| {
        json!({ "id": "x", "object": "chat.completion", "choices": [{ "index": 0, "finish_reason": finish, "message": message }],
            "usage_metadata": { "input_tokens": prompt, "output_tokens": 5, "total_tokens": prompt + 5, "input_token_details": { "cache_read": 4 } } })
    };
    let answers = [
        json!({ "role": "tool", "tool_call_id": "c1", "content": "{\"at\": 1}" }),
        json!({ "role": "tool", "tool_call_id": "c2", "content": "Error: gone" }),
    ];
    let history = json!({ "messages": [user, asks, answers[0], answers[1]], "model": "gpt-5" });
    let tool = |number, q| {
        let mut run = node(
            number,
            "tool",
            "find",
            &json!({ "q": q }),
            &json!({ "output": { "at": 1 } }),
        );
        run["extra"]["metadata"]["tool_call_id"] = format!("c{q}").into();
        run
    };
    let mut failed = tool(3, 2);
    failed["outputs"] = Value::Null;
    failed["error"] = "KeyError: gone".into();
    let done = json!({ "role": "assistant", "content": "One of two." });
    let runs = [
        node(
            0,
            "chain",
            "desk",
            &json!({ "q": "find it" }),
            &json!({ "output": "One of two." }),
        ),
        node(
            1,
            "llm",
            "ChatOpenAI",
            &json!({ "messages": [user], "model": "gpt-5" }),
            &completion(&asks, "tool_calls", 10),
        ),
        tool(2, 1),
        failed,
        node(
            4,
            "llm",
            "ChatOpenAI",
            &history,
            &completion(&done, "stop", 30),
        ),
    ];
    desk.write("runs.jsonl", lines(&runs));
    let said = desk.import(&["runs.jsonl"]);
    let run = desk.recording();
    let found = calls(&run);
    assert_eq!(
        found[0],
        call("find", r#"{"q":1}"#, r#"{"at":1}"#, Some(false)),
        "{said:?}"
    );
    assert_eq!(
        (found.len(), found[1].1.as_str(), found[1].3),
        (2, r#"{"q":2}"#, Some(true))
    );
    assert_eq!(
        (closing(&run), stop(&run), tokens(&run)),
        ("One of two.", "completed", (40, 10))
    );
    // What the model was told of the failure is the same result in other words.
    assert_eq!(
        (said.status, found[1].2.as_str()),
        (0, "KeyError: gone"),
        "{said:?}"
    );
    assert!(
        said.out
            .contains("note: what the model was told of errors of tools left out"),
        "{said:?}"
    );
}

/// What the wrapper of Anthropic's client keeps: blocks, results in user messages, and usage without the cache.
#[test]
fn traces_of_the_other_wrapped_client_are_read() {
    let desk = Desk::new();
    let user = json!({ "role": "user", "content": "find it" });
    let asks = json!({ "role": "assistant", "content": [{ "type": "text", "text": "Looking." }, { "type": "tool_use", "id": "t1", "name": "find", "input": { "q": 1 } }] });
    let result = json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": "gone" }] });
    let mut first = asks.clone();
    first["type"] = "message".into();
    first["stop_reason"] = "tool_use".into();
    first["usage"] = json!({ "input_tokens": 3, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 100, "output_tokens": 5 });
    let second = json!({ "type": "message", "role": "assistant", "content": [{ "type": "text", "text": "Gone." }], "stop_reason": "end_turn",
        "usage_metadata": { "input_tokens": 130, "output_tokens": 4, "total_tokens": 134 } });
    let runs = [
        node(0, "chain", "desk", &json!({}), &json!({})),
        node(
            1,
            "llm",
            "ChatAnthropic",
            &json!({ "messages": [user], "system": "be kind" }),
            &first,
        ),
        node(
            2,
            "llm",
            "ChatAnthropic",
            &json!({ "messages": [user, asks, result], "system": "be kind" }),
            &second,
        ),
    ];
    desk.write("runs.jsonl", lines(&runs));
    let said = desk.import(&["runs.jsonl"]);
    assert_eq!(said.status, 0, "{said:?}");
    let run = desk.recording();
    assert_eq!(
        calls(&run),
        [call("find", r#"{"q":1}"#, "gone", Some(true))]
    );
    assert_eq!(
        (closing(&run), stop(&run), tokens(&run)),
        ("Gone.", "completed", (243, 9))
    );
    assert_eq!(run["system_prompt"], "be kind");
}

/// Tools run in parallel end, and may begin, in any order; their runs name no call.
#[test]
fn runs_of_tools_meet_the_calls_with_their_arguments() {
    let desk = Desk::new();
    let asks = json!({ "type": "ai", "content": "", "tool_calls": [{ "id": "c1", "name": "find", "args": { "q": 1 } }, { "id": "c2", "name": "find", "args": { "q": 2 } }] });
    let user = json!({ "type": "human", "content": "find both" });
    let generation = |message: &Value| json!({ "generations": [[{ "message": message }]] });
    let mut failed = node(2, "tool", "find", &json!({ "q": 2 }), &Value::Null);
    failed["status"] = "error".into();
    failed["error"] = "gone".into();
    let runs = [
        node(0, "chain", "desk", &json!({}), &json!({})),
        node(
            1,
            "llm",
            "ChatOpenAI",
            &json!({ "messages": [[user]] }),
            &generation(&asks),
        ),
        failed,
        node(
            3,
            "tool",
            "find",
            &json!({ "q": 1 }),
            &json!({ "output": "here" }),
        ),
        node(
            4,
            "llm",
            "ChatOpenAI",
            &json!({ "messages": [[user, asks]] }),
            &generation(&json!({ "type": "ai", "content": "One." })),
        ),
    ];
    desk.write("runs.jsonl", lines(&runs));
    let said = desk.import(&["runs.jsonl"]);
    let expected = [
        call("find", r#"{"q":1}"#, "here", Some(false)),
        call("find", r#"{"q":2}"#, "gone", Some(true)),
    ];
    assert_eq!(calls(&desk.recording()), expected, "{said:?}");
}

fn sample(score: &Value) -> Value {
    json!({ "status": "success", "eval": { "task": "desk", "model": "openai/gpt-5" }, "samples": [{ "id": 1, "epoch": 1, "uuid": "u", "input": "p",
        "messages": [{ "role": "user", "content": "p" }, { "role": "assistant", "content": "a" }],
        "output": { "choices": [{ "stop_reason": "stop" }] }, "scores": { "s": { "value": score } } }] })
}

/// A grade that is no verdict is told, and no run passes by it.
#[test]
fn a_score_of_inspect_that_is_no_verdict_makes_no_outcome() {
    for (score, passed) in [
        (json!("C"), json!(true)),
        (json!("I"), json!(false)),
        (json!("N"), json!(false)),
        (json!("P"), Value::Null),
        (json!(0), json!(false)),
        (json!(1.0), json!(true)),
        (json!(true), json!(true)),
        (json!(false), json!(false)),
        (json!("fair"), Value::Null),
        (json!({ "a": 1 }), Value::Null),
        (Value::Null, Value::Null),
    ] {
        let desk = Desk::new();
        desk.write("log.json", sample(&score).to_string());
        let said = desk.import(&["log.json"]);
        let run = desk.recording();
        assert_eq!(run["outcome"]["passed"], passed, "{score}");
        let told = said.out.contains("score `s` is no verdict");
        assert_eq!(
            told,
            score == "fair" || score.is_object(),
            "{score}: {}",
            said.out
        );
    }
}

/// Each half of a file that broke off: told, and never taken for the whole.
#[test]
fn a_document_that_is_cut_is_told_wherever_it_is_cut() {
    let whole = sample(&json!("C")).to_string();
    let pretty = serde_json::to_string_pretty(&sample(&json!("C"))).unwrap();
    let list = json!([{ "id": "1", "model": "m", "messages": [{ "role": "user", "content": "p" }, { "role": "assistant", "content": "a" }] }]).to_string();
    for text in [whole, pretty, list] {
        for tenth in 1..10 {
            let desk = Desk::new();
            desk.write("log.json", &text[..text.len() * tenth / 10]);
            let said = desk.import(&["log.json"]);
            assert_ne!(said.status, 0, "{tenth}: {said:?}");
            assert!(said.err.contains("log.json"), "{tenth}: {said:?}");
        }
    }
}
