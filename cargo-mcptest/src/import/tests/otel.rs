//! Definition: semantic-conventions v1.41.1 `docs/gen-ai`, v1.36.0 `gen-ai-events.md`,
//! opentelemetry-proto `docs/specification.md`, `OpenInference` and `OpenLLMetry` as named in the reader.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::talk::{Answer, FormatCapabilities, Talk, assert_kept, talk};
use super::{Desk, lines};

const START: u64 = 1_767_225_600_000_000_000;

/// How content is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Parts,
    Events,
    OpenLlmetry,
    OpenInference,
}

fn attribute(key: &str, value: &Value) -> Value {
    let wrapped = match value {
        Value::String(text) => json!({ "stringValue": text }),
        Value::Number(number) => json!({ "intValue": number.to_string() }),
        other => json!({ "stringValue": other.to_string() }),
    };
    json!({ "key": key, "value": wrapped })
}

fn span(
    id: u64,
    parent: u64,
    name: &str,
    attributes: &[(String, Value)],
    events: &[Value],
) -> Value {
    json!({ "traceId": "5b8efff798038103d269b633813fc60c", "spanId": format!("{id:016x}"),
        "parentSpanId": if parent == 0 { String::new() } else { format!("{parent:016x}") },
        "name": name, "kind": 3, "startTimeUnixNano": (START + id * 1_000_000).to_string(), "endTimeUnixNano": (START + id * 1_000_000 + 500_000).to_string(),
        "attributes": attributes.iter().map(|(key, value)| attribute(key, value)).collect::<Vec<_>>(), "events": events })
}

pub(super) fn export(spans: &[Value]) -> Value {
    json!({ "resourceSpans": [{ "resource": { "attributes": [attribute("service.name", &json!("desk"))] }, "scopeSpans": [{ "spans": spans }] }] })
}

fn owned(pairs: Vec<(&str, Value)>) -> Vec<(String, Value)> {
    pairs
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

/// A neutral message: role, text, calls, result.
#[derive(Debug, Clone)]
enum Sent {
    User(String),
    Assistant(Answer),
    Result(String, String),
}

fn parts(sent: &Sent) -> Value {
    match sent {
        Sent::User(text) => {
            json!({ "role": "user", "parts": [{ "type": "text", "content": text }] })
        }
        Sent::Assistant(answer) => {
            let mut parts = vec![json!({ "type": "text", "content": answer.said })];
            parts.extend(answer.calls.iter().map(|call| json!({ "type": "tool_call", "id": call.id, "name": call.name, "arguments": call.args })));
            json!({ "role": "assistant", "parts": parts, "finish_reason": "stop" })
        }
        Sent::Result(id, text) => {
            json!({ "role": "tool", "parts": [{ "type": "tool_call_response", "id": id, "response": text }] })
        }
    }
}

fn event(sent: &Sent, is_choice: bool) -> Value {
    let (name, body) = match sent {
        Sent::User(text) => ("gen_ai.user.message", json!({ "content": text })),
        Sent::Assistant(answer) => {
            let calls: Vec<Value> = answer
                .calls
                .iter()
                .map(|call| {
                    json!({ "id": call.id, "type": "function",
                "function": { "name": call.name, "arguments": call.args.to_string() } })
                })
                .collect();
            let message = json!({ "content": answer.said, "tool_calls": calls });
            if is_choice {
                (
                    "gen_ai.choice",
                    json!({ "index": 0, "finish_reason": "stop", "message": message }),
                )
            } else {
                ("gen_ai.assistant.message", message)
            }
        }
        Sent::Result(id, text) => ("gen_ai.tool.message", json!({ "id": id, "content": text })),
    };
    let body = body
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| attribute(key, value))
        .collect::<Vec<_>>();
    json!({ "name": name, "timeUnixNano": "0", "attributes": body })
}

fn flat(sent: &Sent, prefix: &str, inference: bool) -> Vec<(String, Value)> {
    let prefix = if inference {
        format!("{prefix}.message")
    } else {
        prefix.to_owned()
    };
    let own = |key: &str, value: Value| (format!("{prefix}.{key}"), value);
    match sent {
        Sent::User(text) => vec![own("role", json!("user")), own("content", json!(text))],
        Sent::Assistant(answer) => {
            let mut all = vec![
                own("role", json!("assistant")),
                own("content", json!(answer.said)),
            ];
            for (index, call) in answer.calls.iter().enumerate() {
                let inner = if inference {
                    format!("tool_calls.{index}.tool_call")
                } else {
                    format!("tool_calls.{index}")
                };
                let function = if inference {
                    format!("{inner}.function")
                } else {
                    inner.clone()
                };
                all.push(own(&format!("{inner}.id"), json!(call.id)));
                all.push(own(&format!("{function}.name"), json!(call.name)));
                all.push(own(
                    &format!("{function}.arguments"),
                    json!(call.args.to_string()),
                ));
            }
            all
        }
        Sent::Result(id, text) => vec![
            own("role", json!("tool")),
            own("content", json!(text)),
            own("tool_call_id", json!(id)),
        ],
    }
}

pub(super) fn spans(talk: &Talk, form: Form) -> Vec<Value> {
    let mut sent = Vec::new();
    let mut spans = vec![span(
        1,
        0,
        "invoke_agent desk",
        &owned(vec![
            ("gen_ai.operation.name", json!("invoke_agent")),
            ("gen_ai.agent.name", json!("desk")),
        ]),
        &[],
    )];
    for exchange in &talk.exchanges {
        sent.push(Sent::User(exchange.user.clone()));
        for answer in &exchange.answers {
            let id = spans.len() as u64 + 1;
            let (prompt, completion) = answer.tokens;
            let mut attributes = owned(vec![
                ("gen_ai.operation.name", json!("chat")),
                ("gen_ai.request.model", json!("m")),
                ("gen_ai.usage.input_tokens", json!(prompt)),
                ("gen_ai.usage.output_tokens", json!(completion)),
            ]);
            let said = Sent::Assistant(answer.clone());
            let mut events = Vec::new();
            match form {
                Form::Parts => {
                    let input: Vec<Value> = sent.iter().map(parts).collect();
                    attributes.push(("gen_ai.input.messages".to_owned(), input.into()));
                    attributes.push(("gen_ai.output.messages".to_owned(), json!([parts(&said)])));
                    attributes.push((
                        "gen_ai.system_instructions".to_owned(),
                        json!([{ "type": "text", "content": talk.system }]),
                    ));
                }
                Form::Events => {
                    events.push(json!({ "name": "gen_ai.system.message", "attributes": [attribute("content", &json!(talk.system))] }));
                    events.extend(sent.iter().map(|sent| event(sent, false)));
                    events.push(event(&said, true));
                }
                Form::OpenLlmetry | Form::OpenInference => {
                    let inference = form == Form::OpenInference;
                    let (input, output) = if inference {
                        ("llm.input_messages", "llm.output_messages")
                    } else {
                        ("gen_ai.prompt", "gen_ai.completion")
                    };
                    let system = if inference { "0.message" } else { "0" };
                    attributes.push((format!("{input}.{system}.role"), json!("system")));
                    attributes.push((format!("{input}.{system}.content"), json!(talk.system)));
                    for (index, sent) in sent.iter().enumerate() {
                        attributes.extend(flat(sent, &format!("{input}.{}", index + 1), inference));
                    }
                    attributes.extend(flat(&said, &format!("{output}.0"), inference));
                }
            }
            spans.push(span(id, 1, "chat m", &attributes, &events));
            sent.push(said);
            for call in &answer.calls {
                let Some(result) = &call.result else { continue };
                let id = spans.len() as u64 + 1;
                let mut attributes = owned(vec![
                    ("gen_ai.operation.name", json!("execute_tool")),
                    ("gen_ai.tool.name", json!(call.name)),
                    ("gen_ai.tool.call.id", json!(call.id)),
                    ("gen_ai.tool.call.result", json!(result)),
                ]);
                if call.is_error {
                    attributes.push(("error.type".to_owned(), json!("tool_error")));
                }
                let mut span = span(id, 1, "execute_tool", &attributes, &[]);
                if !call.is_error {
                    span["status"] = json!({ "code": 1 });
                }
                spans.push(span);
                sent.push(Sent::Result(call.id.clone(), result.clone()));
            }
        }
    }
    spans
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn nothing_of_a_trace_is_lost(talk in talk(FormatCapabilities::ALL)) {
        for form in [Form::Parts, Form::Events, Form::OpenLlmetry, Form::OpenInference] {
            let mut spans = spans(&talk, form);
            // Spans lie in any order, and in any batch.
            spans.reverse();
            let (one, other) = spans.split_at(spans.len() / 2);
            let text = lines(&[export(one), export(other)]);
            assert_kept(&talk, FormatCapabilities::ALL, "a.jsonl", text.as_bytes(), &[]);
            assert_kept(&talk, FormatCapabilities::ALL, "a.json", format!("{:#}", export(&spans)).as_bytes(), &[]);
        }
    }
}

#[test]
fn traces_of_one_conversation_are_one_run_unless_told_otherwise() {
    let turn = |trace: &str, at: u64, says: &str| {
        let messages = |role: &str, text: &str| json!([{ "role": role, "parts": [{ "type": "text", "content": text }] }]);
        let mut span = span(
            at,
            0,
            "chat",
            &owned(vec![
                ("gen_ai.operation.name", json!("chat")),
                ("gen_ai.request.model", json!("m")),
                ("gen_ai.conversation.id", json!("c1")),
                ("gen_ai.input.messages", messages("user", says)),
                ("gen_ai.output.messages", messages("assistant", "ok")),
            ]),
            &[],
        );
        span["traceId"] = trace.into();
        export(&[span])
    };
    let text = lines(&[
        turn("5b8efff798038103d269b633813fc60d", 9, "second"),
        turn("5b8efff798038103d269b633813fc60c", 3, "first"),
    ]);
    let desk = Desk::new();
    desk.write("a.jsonl", &text);
    let said = desk.import(&["a.jsonl"]);
    assert_eq!(said.status, 0, "{said:?}");
    let run = desk.recording();
    assert_eq!(run["user_prompt"], "first");
    assert_eq!(
        run["trace"]["conversation"]["per_turn"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_eq!(run["imported"]["id"], "c1");
    assert_eq!(run["agent_name"], "desk");
    let desk = Desk::new();
    desk.write("a.jsonl", &text);
    assert_eq!(desk.import(&["a.jsonl", "--run", "trace"]).status, 0);
    assert_eq!(desk.recordings().len(), 2);
}

#[test]
fn an_agent_within_its_own_shell_is_the_main_agent_and_a_call_seen_twice_is_one() {
    let text = |role: &str, text: &str| json!([{ "role": role, "parts": [{ "type": "text", "content": text }] }]);
    let agent = |name: &str| {
        owned(vec![
            ("gen_ai.operation.name", json!("invoke_agent")),
            ("gen_ai.agent.name", json!(name)),
        ])
    };
    let bare = owned(vec![
        ("gen_ai.operation.name", json!("generate_content")),
        ("gen_ai.request.model", json!("m")),
    ]);
    let whole = owned(vec![
        ("llm.request.type", json!("chat")),
        ("gen_ai.request.model", json!("m")),
        ("gen_ai.input.messages", text("user", "go")),
        ("gen_ai.output.messages", text("assistant", "done")),
    ]);
    let spans = [
        span(1, 0, "invoke_agent", &agent("helm-agent"), &[]),
        span(2, 1, "invoke_agent", &agent("helm_agent"), &[]),
        span(3, 2, "generate_content", &bare, &[]),
        span(4, 3, "openai.chat", &whole, &[]),
    ];
    let desk = Desk::new();
    desk.write("a.json", export(&spans).to_string());
    let said = desk.import(&["a.json"]);
    assert_eq!(said.status, 0, "{said:?}");
    let run = desk.recording();
    assert_eq!(run["agent_name"], "helm_agent");
    assert_eq!(run["trace"]["final_response"], "done");
    assert_eq!(run["trace"]["conversation"]["message_count"], 2);
}

#[test]
fn relatives_of_the_format_are_refused_by_name() {
    for (value, name) in [
        (
            json!({ "data": [{ "traceID": "1", "spans": [] }] }),
            "Jaeger",
        ),
        (
            json!({ "trace": {}, "observations": [{ "id": "1", "traceId": "2" }] }),
            "Langfuse",
        ),
        (
            json!({ "sessionId": "s", "projectHash": "p", "messages": [
                { "id": "1", "type": "user", "content": "hi" }, { "id": "2", "type": "gemini", "content": "hi" } ] }),
            "Gemini CLI",
        ),
    ] {
        let desk = Desk::new();
        desk.write("a.json", value.to_string());
        let said = desk.import(&["a.json"]);
        assert_eq!(said.status, 2);
        assert!(said.err.contains(name), "{said:?}");
    }
}

#[test]
fn a_trace_without_content_is_reported_with_the_switch_to_set() {
    let desk = Desk::new();
    let bare = span(
        1,
        0,
        "chat",
        &owned(vec![("gen_ai.operation.name", json!("chat"))]),
        &[],
    );
    desk.write("a.json", export(&[bare]).to_string());
    let said = desk.import(&["a.json"]);
    assert_eq!(said.status, 2);
    assert!(
        said.err.contains("content was not captured")
            && said.err.contains("CAPTURE_MESSAGE_CONTENT"),
        "{said:?}"
    );
}

/// A main agent and a helper, each with a model call and a tool, one of them seen from two sides.
fn two_agents() -> [Value; 7] {
    let text = |role: &str, text: &str| json!([{ "role": role, "parts": [{ "type": "text", "content": text }] }]);
    [
        span(
            1,
            0,
            "invoke_agent main",
            &owned(vec![
                ("gen_ai.operation.name", json!("invoke_agent")),
                ("gen_ai.agent.name", json!("main")),
            ]),
            &[],
        ),
        span(
            2,
            1,
            "chat",
            &owned(vec![
                ("gen_ai.operation.name", json!("chat")),
                ("gen_ai.request.model", json!("m")),
                ("gen_ai.input.messages", text("user", "go")),
                ("gen_ai.output.messages", text("assistant", "done")),
            ]),
            &[],
        ),
        span(
            3,
            1,
            "execute_tool find",
            &owned(vec![
                ("gen_ai.operation.name", json!("execute_tool")),
                ("gen_ai.tool.name", json!("find")),
                ("gen_ai.tool.call.arguments", json!("{\"q\":1}")),
                ("gen_ai.tool.call.result", json!("found")),
            ]),
            &[],
        ),
        span(
            4,
            3,
            "tools/call find",
            &owned(vec![
                ("mcp.method.name", json!("tools/call")),
                ("gen_ai.tool.name", json!("find")),
            ]),
            &[],
        ),
        span(
            5,
            1,
            "invoke_agent helper",
            &owned(vec![
                ("gen_ai.operation.name", json!("invoke_agent")),
                ("gen_ai.agent.name", json!("helper")),
            ]),
            &[],
        ),
        span(
            6,
            5,
            "chat",
            &owned(vec![
                ("gen_ai.operation.name", json!("chat")),
                ("gen_ai.request.model", json!("m")),
                ("gen_ai.input.messages", text("user", "help")),
                ("gen_ai.output.messages", text("assistant", "helped")),
            ]),
            &[],
        ),
        span(
            7,
            5,
            "execute_tool dig",
            &owned(vec![
                ("gen_ai.operation.name", json!("execute_tool")),
                ("gen_ai.tool.name", json!("dig")),
            ]),
            &[],
        ),
    ]
}

#[test]
fn subagents_and_calls_seen_twice() {
    let spans = two_agents();
    let import = |arguments: &[&str]| {
        let desk = Desk::new();
        desk.write("a.json", export(&spans).to_string());
        let mut line = vec!["a.json"];
        line.extend(arguments);
        let said = desk.import(&line);
        assert_eq!(said.status, 0, "{said:?}");
        desk.recordings()
    };
    let inline = import(&[]);
    let calls = inline[0].1["trace"]["tool_calls"].as_array().unwrap();
    assert_eq!(calls.len(), 2, "{calls:#?}");
    assert_eq!(
        (&calls[0]["name"], &calls[0]["args"]),
        (&json!("find"), &json!({ "q": 1 }))
    );
    assert_eq!(calls[1]["agent_id"], "helper");
    assert!(calls[1].get("step").is_none());
    assert_eq!(
        import(&["--subagents", "omit"])[0].1["trace"]["tool_calls"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let separate = import(&["--subagents", "separate"]);
    let agents: Vec<&Value> = separate.iter().map(|(_, run)| &run["agent_name"]).collect();
    assert_eq!(agents, [&json!("main"), &json!("main/helper")]);
}
