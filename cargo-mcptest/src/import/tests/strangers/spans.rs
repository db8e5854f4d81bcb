//! Definitions: vercel/ai `content/docs/03-ai-sdk-core/60-telemetry.mdx` and ai@6.0.77 `docs/03-ai-sdk-core/60-telemetry.mdx`;
//! semantic-conventions v1.41.1 `docs/gen-ai`; `openinference@1fe497f1:spec/semantic_conventions.md`.

use serde_json::{Value, json};

use super::super::Desk;
use super::{call, calls, closing, stop, tokens};

/// A span that has this many milliseconds before it.
pub(in super::super) fn span(at: u64, parent: u64, name: &str, attributes: &Value) -> Value {
    let attributes = attributes.as_object().unwrap().iter().map(|(key, value)| {
        let value = match value {
            Value::String(text) => json!({ "stringValue": text }),
            Value::Number(number) => json!({ "intValue": number }),
            Value::Array(items) => {
                let items: Vec<Value> = items
                    .iter()
                    .map(|it| json!({ "stringValue": it }))
                    .collect();
                json!({ "arrayValue": { "values": items } })
            }
            other => json!({ "stringValue": other.to_string() }),
        };
        json!({ "key": key, "value": value })
    });
    let begin = 1_767_225_600_000_000_000 + at * 1_000_000;
    json!({ "traceId": "5b8efff798038103d269b633813fc60c", "spanId": format!("{at:016x}"), "parentSpanId": format!("{parent:016x}"),
        "name": name, "startTimeUnixNano": begin.to_string(), "endTimeUnixNano": (begin + 500_000).to_string(),
        "attributes": attributes.collect::<Vec<_>>() })
}

fn failed(mut span: Value, message: &str) -> Value {
    span["status"] = json!({ "code": 2, "message": message });
    span["events"] = json!([{ "name": "exception", "attributes": [
        { "key": "exception.type", "value": { "stringValue": "Error" } },
        { "key": "exception.message", "value": { "stringValue": message } }] }]);
    span
}

pub(in super::super) fn import(spans: &[Value]) -> (u8, String, Vec<Value>) {
    let desk = Desk::new();
    let export = json!({ "resourceSpans": [{ "resource": { "attributes": [] }, "scopeSpans": [{ "spans": spans }] }] });
    desk.write("traces.json", export.to_string());
    let said = desk.import(&["traces.json"]);
    let runs = desk.recordings().into_iter().map(|(_, run)| run).collect();
    (said.status, format!("{}{}", said.out, said.err), runs)
}

/// What a tool of the AI SDK answers is in its span only where it succeeded.
fn of_the_ai_sdk(is_new: bool) -> Vec<Value> {
    let key = |old: &'static str, new: &'static str| if is_new { new } else { old };
    let ask = json!([{ "role": "user", "content": [{ "type": "text", "text": "find both" }] }]);
    let one = |id: &str, q: u32| json!({ "toolCallType": "function", "toolCallId": id, "toolName": "find", key("args", "input"): json!({ "q": q }).to_string() });
    let part = |id: &str, q: u32| json!({ "type": "tool-call", "toolCallId": id, "toolName": "find", key("args", "input"): { "q": q } });
    let result = |id: &str, value: Value| {
        let value = if is_new {
            json!({ "type": "text", "value": value })
        } else {
            value
        };
        json!({ "type": "tool-result", "toolCallId": id, "toolName": "find", key("result", "output"): value })
    };
    let mut history = ask.as_array().unwrap().clone();
    history.push(json!({ "role": "assistant", "content": [part("a", 1), part("b", 2)] }));
    let failure = if is_new {
        json!({ "type": "tool-result", "toolCallId": "b", "toolName": "find", "output": { "type": "error-text", "value": "no such thing" } })
    } else {
        result("b", json!("no such thing"))
    };
    history.push(json!({ "role": "tool", "content": [result("a", json!("here")), failure] }));
    let usage = |prompt: u64, completion: u64| (prompt, completion);
    let about = |messages: &Value, (prompt, completion): (u64, u64)| {
        json!({ "operation.name": "ai.generateText.doGenerate", "ai.operationId": "ai.generateText.doGenerate", "ai.model.id": "gpt-5",
            "ai.prompt.messages": messages.to_string(), key("gen_ai.usage.prompt_tokens", "gen_ai.usage.input_tokens"): prompt,
            key("gen_ai.usage.completion_tokens", "gen_ai.usage.output_tokens"): completion, "gen_ai.request.model": "gpt-5" })
    };
    let mut first = about(&ask, usage(10, 5));
    first[key("ai.result.toolCalls", "ai.response.toolCalls")] =
        json!([one("a", 1), one("b", 2)]).to_string().into();
    first[key("ai.finishReason", "ai.response.finishReason")] = "tool-calls".into();
    let mut second = about(&json!(history), usage(30, 4));
    second[key("ai.result.text", "ai.response.text")] = "One of two.".into();
    second[key("ai.finishReason", "ai.response.finishReason")] = "stop".into();
    let tool = |id: &str, q: u32| json!({ "operation.name": "ai.toolCall", "ai.operationId": "ai.toolCall", "ai.toolCall.name": "find", "ai.toolCall.id": id, "ai.toolCall.args": json!({ "q": q }).to_string() });
    let mut good = tool("a", 1);
    good["ai.toolCall.result"] = "\"here\"".into();
    vec![
        span(
            1,
            0,
            "ai.generateText",
            &json!({ "operation.name": "ai.generateText", "ai.operationId": "ai.generateText", "ai.model.id": "gpt-5",
            "ai.usage.promptTokens": 40, "ai.usage.completionTokens": 9, "ai.prompt": json!({ "prompt": "find both" }).to_string() }),
        ),
        span(2, 1, "ai.generateText.doGenerate", &first),
        span(3, 1, "ai.toolCall", &good),
        failed(span(4, 1, "ai.toolCall", &tool("b", 2)), "no such thing"),
        span(5, 1, "ai.generateText.doGenerate", &second),
    ]
}

#[test]
fn traces_of_the_ai_sdk_are_read_old_and_new() {
    for is_new in [false, true] {
        let (status, said, runs) = import(&of_the_ai_sdk(is_new));
        assert_eq!((status, runs.len()), (0, 1), "{said}");
        let run = &runs[0];
        assert_eq!(run["user_prompt"], "find both");
        assert_eq!(
            calls(run),
            [
                call("find", r#"{"q":1}"#, "here", Some(false)),
                call("find", r#"{"q":2}"#, "no such thing", Some(true))
            ],
            "{said}"
        );
        assert_eq!(
            (closing(run), stop(run), tokens(run)),
            ("One of two.", "completed", (40, 9))
        );
    }
}

/// `OpenLLMetry` up to 0.50: messages spread over attributes, arguments spelt in two ways, and the tool's own span with
/// its arguments as Python passes them.
#[test]
fn traces_of_openllmetry_tell_of_each_call_once() {
    let model = |completion: &Value, more: &Value, tokens: u64| {
        let mut all = json!({ "llm.request.type": "chat", "gen_ai.request.model": "gpt-4o", "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "p",
            "gen_ai.completion.0.role": "assistant", "gen_ai.usage.prompt_tokens": tokens, "gen_ai.usage.completion_tokens": 3 });
        for part in [completion, more] {
            all.as_object_mut()
                .unwrap()
                .extend(part.as_object().unwrap().clone());
        }
        all
    };
    let asks = json!({ "gen_ai.completion.0.finish_reason": "tool_calls", "gen_ai.completion.0.tool_calls.0.id": "c1",
        "gen_ai.completion.0.tool_calls.0.name": "find", "gen_ai.completion.0.tool_calls.0.arguments": "{\"q\": 1}" });
    let history = json!({ "gen_ai.prompt.1.role": "assistant", "gen_ai.prompt.1.tool_calls.0.id": "c1", "gen_ai.prompt.1.tool_calls.0.name": "find",
        "gen_ai.prompt.1.tool_calls.0.arguments": "{\"q\":1}", "gen_ai.prompt.2.role": "tool", "gen_ai.prompt.2.content": "here", "gen_ai.prompt.2.tool_call_id": "c1" });
    let says = json!({ "gen_ai.completion.0.finish_reason": "stop", "gen_ai.completion.0.content": "Found." });
    let tool = json!({ "traceloop.span.kind": "tool", "traceloop.entity.name": "find", "traceloop.entity.input": "{\"args\":[],\"kwargs\":{\"q\":1}}", "traceloop.entity.output": "\"here\"" });
    let first = span(1, 0, "openai.chat", &model(&asks, &json!({}), 10));
    let later = span(3, 0, "openai.chat", &model(&says, &history, 20));
    for with_history in [true, false] {
        let mut spans = vec![first.clone(), span(2, 0, "find.tool", &tool)];
        spans.extend(with_history.then(|| later.clone()));
        let (status, said, runs) = import(&spans);
        assert_eq!((status, runs.len()), (0, 1), "{said}");
        assert_eq!(calls(&runs[0]), [call("find", r#"{"q":1}"#, "here", None)]);
        assert_ne!(runs[0]["agent_name"], "find");
        if with_history {
            assert_eq!(
                (closing(&runs[0]), stop(&runs[0]), tokens(&runs[0])),
                ("Found.", "completed", (30, 6))
            );
        }
    }
}

fn chat(at: u64, input: &Value, output: &Value) -> Value {
    span(
        at,
        0,
        "chat gpt-5",
        &json!({ "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-5", "gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 2,
        "gen_ai.input.messages": input.to_string(), "gen_ai.output.messages": output.to_string() }),
    )
}

fn says(role: &str, text: &str) -> Value {
    json!({ "role": role, "parts": [{ "type": "text", "content": text }] })
}

/// A tool that fails has no result to put into its span; the error is all that came back.
#[test]
fn a_tool_that_failed_without_a_result_is_an_error() {
    let asks = json!([{ "role": "assistant", "parts": [{ "type": "tool_call", "id": "c1", "name": "find", "arguments": {} }], "finish_reason": "tool_call" }]);
    let tool = json!({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find", "gen_ai.tool.call.id": "c1", "error.type": "timeout" });
    let own = json!({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "put", "gen_ai.tool.call.id": "c9" });
    let (status, said, runs) = import(&[
        chat(1, &json!([says("user", "p")]), &asks),
        failed(span(2, 0, "execute_tool find", &tool), "it took too long"),
        failed(span(3, 0, "execute_tool put", &own), "no disk"),
    ]);
    assert_eq!((status, runs.len()), (0, 1), "{said}");
    assert_eq!(
        calls(&runs[0]),
        [
            call("find", "{}", "it took too long", Some(true)),
            call("put", "{}", "no disk", Some(true))
        ]
    );
}

#[test]
fn a_model_call_that_failed_last_ends_the_run_in_an_error() {
    let begun = json!([says("user", "p"), says("assistant", "a"), says("user", "q")]);
    let (status, said, runs) = import(&[
        chat(
            1,
            &json!([says("user", "p")]),
            &json!([says("assistant", "a")]),
        ),
        failed(chat(2, &begun, &json!([])), "429"),
    ]);
    assert_eq!((status, runs.len()), (0, 1), "{said}");
    assert_eq!((stop(&runs[0]), closing(&runs[0])), ("error", ""));
}

/// The instrumentation of Bedrock gives the text of an answer and its calls as two messages.
#[test]
fn an_answer_in_several_messages_loses_none() {
    let model = json!({ "openinference.span.kind": "LLM", "llm.model_name": "claude", "llm.token_count.prompt": 10, "llm.token_count.completion": 2,
        "llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "p",
        "llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": "Looking.",
        "llm.output_messages.1.message.role": "assistant", "llm.output_messages.1.message.tool_calls.0.tool_call.id": "t1",
        "llm.output_messages.1.message.tool_calls.0.tool_call.function.name": "find",
        "llm.output_messages.1.message.tool_calls.0.tool_call.function.arguments": "{\"q\":1}" });
    let (status, said, runs) = import(&[span(1, 0, "LLM", &model)]);
    assert_eq!((status, runs.len()), (0, 1), "{said}");
    assert_eq!(calls(&runs[0]), [call("find", r#"{"q":1}"#, "none", None)]);
    assert!(runs[0].to_string().contains("Looking."));
}

/// Traces of which nothing is a model call or a tool are no runs, and it is said that there is none.
#[test]
fn traces_without_agents_are_told() {
    let (status, said, runs) = import(&[span(
        1,
        0,
        "GET /",
        &json!({ "http.request.method": "GET" }),
    )]);
    assert_eq!((status, runs.len()), (2, 0));
    assert!(said.contains("traces.json"), "{said}");
}

/// What tools of `LangChain` are sent stands in their spans as Python shows it.
#[test]
fn a_tool_span_is_its_call_though_its_input_is_no_json() {
    let mut model = json!({ "openinference.span.kind": "LLM", "llm.model_name": "gpt-5", "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "p", "llm.output_messages.0.message.role": "assistant" });
    for (number, q) in [(0, 1), (1, 2)] {
        let key = |rest: &str| {
            format!("llm.output_messages.0.message.tool_calls.{number}.tool_call.{rest}")
        };
        model[key("id")] = format!("c{number}").into();
        model[key("function.name")] = "find".into();
        model[key("function.arguments")] = format!("{{\"q\": {q}}}").into();
    }
    let tool = |input: &str, output: &str| json!({ "openinference.span.kind": "TOOL", "tool.name": "find", "input.value": input, "output.value": output });
    for inputs in [["{'q': 1}", "{'q': 2}"], ["{\"q\":1}", "{\"q\":2}"]] {
        let (status, said, runs) = import(&[
            span(1, 0, "LLM", &model),
            span(2, 0, "find", &tool(inputs[0], "one")),
            failed(span(3, 0, "find", &tool(inputs[1], "two")), "bad"),
        ]);
        assert_eq!((status, runs.len()), (0, 1), "{said}");
        let expected = [
            call("find", r#"{"q":1}"#, "one", None),
            call("find", r#"{"q":2}"#, "two", Some(true)),
        ];
        assert_eq!(calls(&runs[0]), expected);
    }
}

/// Exporters cut what is too long.
#[test]
fn what_is_no_call_among_the_calls_of_the_ai_sdk_is_none() {
    for odd in [json!("cut"), json!(7), json!(["cut"]), json!(null)] {
        let good = json!({ "toolCallId": "a", "toolName": "find", "input": { "q": 1 } });
        let model = json!({ "ai.operationId": "ai.generateText.doGenerate", "ai.model.id": "gpt-5",
            "ai.prompt.messages": json!([{ "role": "user", "content": "hi" }]).to_string(),
            "ai.response.toolCalls": json!([good, odd]).to_string() });
        let (status, said, runs) = import(&[span(1, 0, "ai.generateText.doGenerate", &model)]);
        assert_eq!((status, runs.len()), (0, 1), "{said}");
        assert_eq!(calls(&runs[0]), [call("find", r#"{"q":1}"#, "none", None)]);
        assert!(
            said.contains("parts that are no tool call left out"),
            "{said}"
        );
    }
}

/// What a tool was asked for, as its span shows it, may be more than the model wrote, and never something else.
#[test]
fn a_result_belongs_to_no_call_with_other_arguments() {
    let asks = |args: Value| json!([{ "role": "assistant", "parts": [{ "type": "tool_call", "name": "refund", "arguments": args }] }]);
    let tool = |args: &str| {
        json!({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "refund", "gen_ai.tool.call.arguments": args,
        "gen_ai.tool.call.result": "refunded" })
    };
    let import = |asked: Value, ran: &str| {
        let (status, said, runs) = import(&[
            chat(1, &json!([says("user", "p")]), &asks(asked)),
            span(2, 0, "execute_tool refund", &tool(ran)),
        ]);
        assert_eq!((status, runs.len()), (0, 1), "{said}");
        calls(&runs[0])
    };
    for (asked, ran) in [
        (json!({ "order": 1 }), r#"{"order":2}"#),
        (json!({ "order": 1 }), r#"{"kwargs":{"order":2}}"#),
        (json!({ "order": 1 }), "{}"),
        (json!({}), r#"{"order":2}"#),
    ] {
        let expected = [
            call("refund", &asked.to_string(), "none", None),
            call("refund", ran, "refunded", None),
        ];
        assert_eq!(import(asked, ran), expected);
    }
    for (asked, ran) in [
        (json!({ "order": 1 }), r#"{"order":1,"reason":null}"#),
        (json!({ "order": 1 }), r#"{"input":"{\"order\": 1}"}"#),
        (json!({ "order": 1 }), "[1]"),
        (json!({}), r#"{"args":[],"kwargs":{}}"#),
    ] {
        let expected = [call("refund", &asked.to_string(), "refunded", None)];
        assert_eq!(import(asked, ran), expected);
    }
}

/// Only some write every result as JSON: digits are digits.
#[test]
fn a_result_that_is_a_number_keeps_its_digits() {
    for key in ["traceloop.entity.output", "ai.toolCall.result"] {
        for (written, read) in [
            ("12345678901234567890123", "12345678901234567890123"),
            ("1e5", "1e5"),
            ("\"1e5\"", "1e5"),
        ] {
            let mut tool =
                json!({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find" });
            tool[key] = written.into();
            let answer = json!([says("assistant", "done")]);
            let (status, said, runs) = import(&[
                span(1, 0, "execute_tool find", &tool),
                chat(2, &json!([says("user", "p")]), &answer),
            ]);
            assert_eq!((status, runs.len()), (0, 1), "{said}");
            assert_eq!(calls(&runs[0])[0].2, read, "{key}");
        }
    }
}
