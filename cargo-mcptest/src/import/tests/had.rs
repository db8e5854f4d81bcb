//! What each format has of time, tokens and scores: a file of it has all that it can, and the guide shows what came of it.
#![allow(
    clippy::needless_pass_by_value,
    reason = "values are written where they are passed"
)]

use serde_json::{Value, json};

use super::{Desk, lines};
use clap::ValueEnum as _;
use mcptest_import::FormatKind;

/// What is looked for, and where it stands in a recording.
const KEPT: [(&str, &str); 5] = [
    ("time of calls", "/trace/tool_results/0/duration_ms"),
    (
        "time of model calls",
        "/trace/conversation/steps/0/duration_ms",
    ),
    ("cached tokens", "/trace/conversation/steps/0/cached"),
    ("reasoning tokens", "/trace/conversation/steps/0/reasoning"),
    ("scores", "/trace/scores/0/value"),
];

fn attribute(key: &str, value: Value) -> Value {
    let kind = match &value {
        Value::Number(number) if number.is_f64() => "doubleValue",
        Value::Number(_) => "intValue",
        _ => "stringValue",
    };
    json!({ "key": key, "value": { kind: value } })
}

/// A log of one model call in the format of `OpenAI`, with a call that an earlier answer made.
fn chat() -> Value {
    let call = json!({ "id": "c1", "type": "function", "function": { "name": "refund", "arguments": "{\"order\":7}" } });
    let usage = json!({ "prompt_tokens": 20, "completion_tokens": 9, "total_tokens": 29,
        "prompt_tokens_details": { "cached_tokens": 12 }, "completion_tokens_details": { "reasoning_tokens": 4 } });
    json!({ "model": "m", "messages": [
        { "role": "user", "content": "Refund order 7." },
        { "role": "assistant", "content": null, "tool_calls": [call], "usage": usage },
        { "role": "tool", "tool_call_id": "c1", "content": "done" },
        { "role": "assistant", "content": "Done.", "usage": usage },
    ] })
}

fn anthropic() -> Value {
    let usage = json!({ "input_tokens": 3, "cache_read_input_tokens": 12, "cache_creation_input_tokens": 5, "output_tokens": 9 });
    json!({ "model": "m", "messages": [
        { "role": "user", "content": "Refund order 7." },
        { "role": "assistant", "content": [{ "type": "tool_use", "id": "c1", "name": "refund", "input": { "order": 7 } }], "usage": usage },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c1", "content": "done" }] },
        { "role": "assistant", "content": [{ "type": "text", "text": "Done." }], "usage": usage },
    ] })
}

fn otel() -> Value {
    let text = |role: &str, text: &str| {
        json!([{ "role": role, "parts": [{ "type": "text", "content": text }] }]).to_string()
    };
    let called = json!([{ "role": "assistant", "parts": [{ "type": "tool_call", "id": "c1", "name": "refund", "arguments": { "order": 7 } }] }]);
    let evaluated = json!({ "name": "gen_ai.evaluation.result", "attributes": [
        attribute("gen_ai.evaluation.name", json!("helpful")), attribute("gen_ai.evaluation.score.value", json!(0.75)),
        attribute("gen_ai.evaluation.score.label", json!("pass")), attribute("gen_ai.evaluation.explanation", json!("to the point")),
    ] });
    let span = |id: &str, from: u64, to: u64, attributes: Vec<Value>, events: Vec<Value>| {
        json!({ "traceId": "5b8efff798038103d269b633813fc60c", "spanId": id, "name": "s", "kind": 3,
            "startTimeUnixNano": (from * 1_000_000).to_string(), "endTimeUnixNano": (to * 1_000_000).to_string(),
            "attributes": attributes, "events": events })
    };
    let model = |input: String, output: String| {
        vec![
            attribute("gen_ai.operation.name", json!("chat")),
            attribute("gen_ai.request.model", json!("m")),
            attribute("gen_ai.input.messages", input.into()),
            attribute("gen_ai.output.messages", output.into()),
            attribute("gen_ai.usage.input_tokens", json!(20)),
            attribute("gen_ai.usage.output_tokens", json!(9)),
            attribute("gen_ai.usage.cache_read.input_tokens", json!(12)),
            attribute("gen_ai.usage.reasoning.output_tokens", json!(4)),
        ]
    };
    let tool = vec![
        attribute("gen_ai.operation.name", json!("execute_tool")),
        attribute("gen_ai.tool.name", json!("refund")),
        attribute("gen_ai.tool.call.id", json!("c1")),
        attribute("gen_ai.tool.call.result", json!("done")),
    ];
    let asked = text("user", "Refund order 7.");
    let answered = json!([{ "role": "tool", "parts": [{ "type": "tool_call_response", "id": "c1", "response": "done" }] }]);
    let whole = [asked.as_str(), &called.to_string(), &answered.to_string()];
    let whole = whole
        .iter()
        .flat_map(|part| serde_json::from_str::<Vec<Value>>(part).unwrap());
    let whole = whole.collect::<Value>().to_string();
    json!({ "resourceSpans": [{ "resource": { "attributes": [] }, "scopeSpans": [{ "scope": { "name": "desk" }, "spans": [
        span("000000000000000a", 1_767_225_600_000, 1_767_225_600_900, model(asked, called.to_string()), vec![]),
        span("000000000000000b", 1_767_225_601_000, 1_767_225_601_250, tool, vec![]),
        span("000000000000000c", 1_767_225_602_000, 1_767_225_602_800, model(whole, text("assistant", "Done.")), vec![evaluated]),
    ] }] }] })
}

fn claude_code() -> Value {
    let usage = json!({ "input_tokens": 3, "cache_read_input_tokens": 12, "cache_creation_input_tokens": 5, "output_tokens": 9 });
    let line = |kind: &str, id: &str, parent: Option<&str>, message: Value| {
        json!({ "type": kind, "uuid": id, "parentUuid": parent, "sessionId": "s", "isSidechain": false, "version": "2.1.230",
            "timestamp": "2026-08-01T10:00:00.000Z", "message": message })
    };
    let model = |id: &str, content: Value| json!({ "id": id, "role": "assistant", "model": "m", "content": content, "usage": usage });
    let mut result = line(
        "user",
        "u2",
        Some("a1"),
        json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c1", "content": "done" }] }),
    );
    result["toolUseResult"] = json!({ "durationMs": 250, "result": "done" });
    json!([
        line(
            "user",
            "u1",
            None,
            json!({ "role": "user", "content": "Refund order 7." })
        ),
        line(
            "assistant",
            "a1",
            Some("u1"),
            model(
                "m1",
                json!([{ "type": "tool_use", "id": "c1", "name": "WebFetch", "input": {} }])
            )
        ),
        result,
        line(
            "assistant",
            "a2",
            Some("u2"),
            model("m2", json!([{ "type": "text", "text": "Done." }]))
        ),
    ])
}

fn codex() -> Value {
    let line = |kind: &str, payload: Value| json!({ "timestamp": "2026-08-01T10:00:00.000Z", "type": kind, "payload": payload });
    let item = |payload| line("response_item", payload);
    let event = |payload| line("event_msg", payload);
    let usage = json!({ "type": "token_count", "info": { "last_token_usage": { "input_tokens": 20, "cached_input_tokens": 12,
        "output_tokens": 9, "reasoning_output_tokens": 4 } } });
    let mut all = json!([
        line(
            "session_meta",
            json!({ "id": "r1", "cli_version": "0.99.0" })
        ),
        line("turn_context", json!({ "model": "m" })),
        event(json!({ "type": "user_message", "message": "Refund order 7." })),
        item(
            json!({ "type": "function_call", "call_id": "c1", "name": "mcp__shop__refund", "arguments": "{\"order\":7}" })
        ),
        event(usage.clone()),
        event(
            json!({ "type": "mcp_tool_call_end", "call_id": "c1", "invocation": { "server": "shop", "tool": "refund" },
            "duration": { "secs": 0, "nanos": 250_000_000 }, "result": { "Ok": { "content": [{ "type": "text", "text": "done" }], "isError": false } } })
        ),
        item(json!({ "type": "function_call_output", "call_id": "c1", "output": "done" })),
        item(
            json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Done." }] })
        ),
        event(usage),
        event(json!({ "type": "task_complete" })),
    ]);
    for (at, line) in (0..).zip(all.as_array_mut().unwrap()) {
        line["timestamp"] = format!("2026-08-01T10:00:00.{at:03}Z").into();
    }
    all
}

fn atif() -> Value {
    let metrics = json!({ "prompt_tokens": 20, "completion_tokens": 9, "cached_tokens": 12 });
    json!({ "schema_version": "ATIF-v1.8", "trajectory_id": "t", "agent": { "name": "a", "version": "1", "model_name": "m" }, "steps": [
        { "source": "user", "message": "Refund order 7." },
        { "source": "agent", "message": "", "metrics": metrics,
            "tool_calls": [{ "tool_call_id": "c1", "function_name": "refund", "arguments": { "order": 7 } }],
            "observation": { "results": [{ "source_call_id": "c1", "content": "done" }] } },
        { "source": "agent", "message": "Done.", "metrics": metrics },
    ] })
}

fn langsmith() -> Value {
    let usage = json!({ "input_tokens": 20, "output_tokens": 9, "total_tokens": 29,
        "input_token_details": { "cache_read": 12 }, "output_token_details": { "reasoning": 4 } });
    let run = |id: &str, kind: &str, order: &str, fields: Value| {
        let mut run = json!({ "id": id, "trace_id": "t", "run_type": kind, "name": "refund", "dotted_order": order,
            "parent_run_id": if id == "root" { Value::Null } else { "root".into() },
            "start_time": "2026-08-01T10:00:00.000", "end_time": "2026-08-01T10:00:00.250",
            "extra": { "metadata": { "ls_model_name": "m" } } });
        run.as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        run
    };
    let human = json!({ "type": "human", "content": "Refund order 7." });
    let called = json!({ "type": "ai", "content": "", "usage_metadata": usage,
        "tool_calls": [{ "id": "c1", "name": "refund", "args": { "order": 7 } }] });
    let answered = json!({ "type": "tool", "tool_call_id": "c1", "content": "done" });
    let done = json!({ "type": "ai", "content": "Done.", "usage_metadata": usage });
    json!([
        run(
            "root",
            "chain",
            "1",
            json!({ "inputs": {}, "outputs": {}, "feedback_stats": { "helpful": { "n": 1, "avg": 0.75 } } })
        ),
        run(
            "a",
            "llm",
            "1.1",
            json!({ "inputs": { "messages": [[human]] }, "outputs": { "generations": [[{ "message": called }]] } })
        ),
        run(
            "b",
            "tool",
            "1.2",
            json!({ "inputs": { "input": "{\"order\":7}" }, "outputs": { "output": answered } })
        ),
        run(
            "c",
            "llm",
            "1.3",
            json!({ "inputs": { "messages": [[human, called, answered]] }, "outputs": { "generations": [[{ "message": done }]] } })
        ),
    ])
}

fn tau() -> Value {
    let usage = json!({ "prompt_tokens": 20, "completion_tokens": 9 });
    let said = |text: &str, calls: Value| json!({ "role": "assistant", "content": text, "tool_calls": calls, "usage": usage, "generation_time_seconds": 0.75 });
    json!({ "info": { "agent_info": { "implementation": "llm_agent", "llm": "m" }, "environment_info": { "domain_name": "retail", "policy": "Be kind." } },
        "tasks": [{ "id": "t1", "user_scenario": "Refund order 7." }],
        "simulations": [{ "id": "s1", "task_id": "t1", "trial": 0, "termination_reason": "user_stop", "reward_info": { "reward": 1.0 }, "messages": [
            { "role": "user", "content": "Refund order 7." },
            said("", json!([{ "id": "c1", "name": "refund", "arguments": { "order": 7 }, "requestor": "assistant" }])),
            { "role": "tool", "id": "c1", "content": "done", "error": false, "requestor": "assistant" },
            said("Done.", json!(null)),
        ] }] })
}

fn inspect() -> Value {
    let usage = json!({ "input_tokens": 8, "input_tokens_cache_read": 12, "output_tokens": 9, "reasoning_tokens": 4, "total_tokens": 29 });
    let called = json!({ "id": "m1", "role": "assistant", "content": "", "tool_calls": [{ "id": "c1", "function": "refund", "arguments": { "order": 7 } }] });
    let done = json!({ "id": "m2", "role": "assistant", "content": "Done." });
    let model = |message: &Value| json!({ "event": "model", "model": "m", "output": { "choices": [{ "message": message }], "usage": usage, "time": 0.75 } });
    json!({ "version": 2, "status": "success", "eval": { "task": "orders", "model": "m", "created": "2026-01-01T00:00:00+00:00" },
        "samples": [{ "id": "s", "epoch": 1, "uuid": "u", "input": "Refund order 7.", "attachments": {},
            "messages": [{ "role": "user", "content": "Refund order 7." }, called, { "role": "tool", "tool_call_id": "c1", "function": "refund", "content": "done" }, done],
            "events": [model(&called), { "event": "tool", "id": "c1", "function": "refund", "timestamp": "2026-01-01T00:00:01.000+00:00", "completed": "2026-01-01T00:00:01.250+00:00" }, model(&done)],
            "output": { "choices": [{ "stop_reason": "stop" }] },
            "scores": { "match": { "value": "C", "explanation": "it is there" } } }] })
}

fn rig() -> Value {
    let usage = json!({ "input_tokens": 20, "output_tokens": 9, "total_tokens": 29, "cached_input_tokens": 12, "reasoning_tokens": 4 });
    let user =
        json!({ "role": "user", "content": [{ "type": "text", "text": "Refund order 7." }] });
    let call = json!({ "type": "toolcall", "id": { "provider": "c1" }, "function": { "name": "refund", "arguments": { "order": 7 } } });
    let result = json!({ "role": "user", "content": [{ "type": "toolresult", "call": { "provider": "c1" }, "name": "refund", "content": [{ "type": "text", "text": "done" }] }] });
    let model = |history: Value, choice: Value| {
        json!({ "id": 1, "key": "a/model:default",
        "kind": { "effect": "completion", "request": { "model": null, "chat_history": history } },
        "outcome": { "Ok": { "outcome": "completion", "choice": choice, "usage": usage, "origin": { "model": "m" } } } })
    };
    let called = json!({ "role": "assistant", "content": [call] });
    json!({ "header": { "handlers": [], "signature": {} }, "records": [
        model(json!([user]), json!([call])),
        { "id": 2, "key": "a/tool:refund#0", "kind": { "effect": "tool_call", "name": "refund", "args": "{\"order\":7}" },
            "outcome": { "Ok": { "outcome": "tool_result", "result": { "status": "success", "value": [{ "type": "text", "text": "done" }] } } } },
        model(json!([user, called, result]), json!([{ "type": "text", "text": "Done." }])),
    ] })
}

fn promptfoo() -> Value {
    json!({ "evalId": "e", "results": { "version": 3, "results": [{ "id": "r1", "promptIdx": 0, "testIdx": 0, "provider": { "id": "m" },
        "prompt": { "raw": "Refund order 7.", "label": "p" }, "success": true, "score": 1, "latencyMs": 750, "namedScores": {},
        "response": { "output": "Done.", "tokenUsage": { "prompt": 20, "completion": 9, "total": 29, "completionDetails": { "reasoning": 4 } } },
        "gradingResult": { "pass": true, "score": 1, "reason": "All assertions passed" } }] } })
}

fn recording() -> Value {
    json!({ "schema_version": "v1", "agent_name": "a", "model": "m", "user_prompt": "Refund order 7.", "trace": {
        "tool_calls": [{ "name": "refund", "args": { "order": 7 }, "step": 0 }],
        "tool_results": [{ "call_index": 0, "result": "done", "duration_ms": 250 }], "final_response": "Done.",
        "scores": [{ "name": "helpful", "value": 0.75, "by": "ann" }],
        "conversation": { "steps": [{ "prompt": 20, "cached": 12, "completion": 9, "reasoning": 4, "duration_ms": 750 }] } } })
}

/// A file with all that a format has of what is looked for.
fn file(kind: FormatKind) -> (&'static str, String) {
    let all = |name, value: Value| (name, lines(value.as_array().unwrap()));
    let whole = |name, value: Value| (name, format!("{value:#}"));
    match kind {
        FormatKind::Inspect => whole("a.json", inspect()),
        FormatKind::Atif => whole("a.json", atif()),
        FormatKind::Mcptest => whole("a.json", recording()),
        FormatKind::Otel => whole("a.json", otel()),
        FormatKind::Promptfoo => whole("a.json", promptfoo()),
        FormatKind::Rig => whole("a.json", rig()),
        FormatKind::Tau => whole("a.json", tau()),
        FormatKind::Codex => all("a.jsonl", codex()),
        FormatKind::ClaudeCode => all("a.jsonl", claude_code()),
        FormatKind::Langsmith => all("a.jsonl", langsmith()),
        FormatKind::Anthropic => whole("a.json", anthropic()),
        FormatKind::OpenAi => whole("a.json", chat()),
    }
}

/// The only recording of a file.
fn imported(kind: FormatKind) -> Value {
    let (name, text) = file(kind);
    let desk = Desk::new();
    desk.write(name, text);
    let from = format!("--from={}", kind.name());
    let said = desk.import(&[&from, name]);
    assert_eq!(said.status, 0, "{}: {said:?}", kind.name());
    // What tells the format is enough.
    let told = Desk::new();
    told.write(name, file(kind).1);
    assert_eq!(told.import(&[name]).status, 0, "{}", kind.name());
    assert_eq!(told.recordings(), desk.recordings(), "{}", kind.name());
    desk.recording()
}

#[test]
fn the_guide_shows_what_each_format_has() {
    let heads = KEPT.map(|(head, _)| head).join(" | ");
    let mut table = format!("| format | {heads} |\n|---|{}\n", "---|".repeat(KEPT.len()));
    for kind in FormatKind::value_variants() {
        let run = imported(*kind);
        let cells = KEPT.map(|(_, place)| {
            if run.pointer(place).is_some() {
                "yes"
            } else {
                ""
            }
        });
        table += &format!("| `{}` | {} |\n", kind.name(), cells.join(" | "));
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/importing.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (before, rest) = page
        .split_once("<!-- the table of what formats have -->\n")
        .unwrap();
    let (shown, after) = rest.split_once("<!-- the table ends -->\n").unwrap();
    if std::env::var("INSTA_UPDATE").is_ok_and(|it| it == "always") {
        let page = format!(
            "{before}<!-- the table of what formats have -->\n{table}<!-- the table ends -->\n{after}"
        );
        std::fs::write(path, page).unwrap();
        return;
    }
    assert_eq!(
        shown, table,
        "docs/importing.md is not what the formats have; `bash .ci/generate` writes it"
    );
}

#[test]
fn what_is_kept_is_what_the_source_says() {
    for kind in FormatKind::value_variants() {
        let run = imported(*kind);
        let step = &run["trace"]["conversation"]["steps"][0];
        let name = kind.name();
        let told = [
            ("duration_ms", [750, 900, 250].as_slice()),
            ("cached", &[12]),
            ("reasoning", &[4]),
        ];
        for (key, expected) in told {
            let value = step[key].as_u64();
            assert!(
                value.is_none_or(|value| expected.contains(&value)),
                "{name}: {step}"
            );
        }
        let took = run["trace"]["tool_results"][0]["duration_ms"].as_u64();
        assert!(took.is_none_or(|took| took == 250), "{name}: {took:?}");
        assert_eq!(
            (&step["prompt"], &step["completion"]),
            (&json!(20), &json!(9)),
            "{name}"
        );
    }
}

/// A source that does not count and does not time leaves nothing, and no zero.
#[test]
fn what_the_source_does_not_say_is_absent() {
    for kind in FormatKind::value_variants() {
        let (name, text) = file(*kind);
        let keys = [
            "cached_tokens",
            "cache_read_input_tokens",
            "gen_ai.usage.cache_read.input_tokens",
            "cached_input_tokens",
            "cache_read",
            "input_tokens_cache_read",
            "\"cached\"",
            "reasoning_tokens",
            "reasoning_output_tokens",
            "gen_ai.usage.reasoning.output_tokens",
            "\"reasoning\"",
            "durationMs",
            "\"duration\"",
            "duration_ms",
            "generation_time_seconds",
            "\"time\"",
            "\"completed\"",
            "end_time",
            "latencyMs",
            "endTimeUnixNano",
        ];
        let text = (0..).zip(&keys).fold(text, |text, (number, key)| {
            let name = format!("own{number}");
            let quoted = key.starts_with('"');
            let other = if quoted { format!("\"{name}\"") } else { name };
            text.replace(key, &other)
        });
        let desk = Desk::new();
        desk.write(name, text);
        let from = format!("--from={}", kind.name());
        let said = desk.import(&[&from, name]);
        assert!(said.status < 2, "{}: {said:?}", kind.name());
        let run = desk.recording();
        for (head, place) in &KEPT[..4] {
            assert_eq!(run.pointer(place), None, "{}: {head}: {run:#}", kind.name());
        }
    }
}
