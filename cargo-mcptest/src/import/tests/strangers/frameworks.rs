//! Spans as frameworks write them: Pydantic AI's instrumentation of the first version
//! (`pydantic_ai/models/instrumented.py`), and `OpenInference` for Google ADK and Agno, where messages
//! name no calls.

use serde_json::{Value, json};

use super::spans::{import, span};
use super::{call, calls, closing};

/// Events that are an attribute, and tools without an operation.
#[test]
fn traces_of_pydantic_ai_are_read() {
    let user =
        json!({ "event.name": "gen_ai.user.message", "role": "user", "content": "find both" });
    let asks = json!({ "role": "assistant", "tool_calls": [
        { "id": "c1", "type": "function", "function": { "name": "find", "arguments": "{\"q\":1}" } } ] });
    let mut asked = asks.clone();
    asked["event.name"] = "gen_ai.assistant.message".into();
    let found = json!({ "event.name": "gen_ai.tool.message", "role": "tool", "id": "c1", "content": "one" });
    let choice =
        |message: Value| json!({ "event.name": "gen_ai.choice", "index": 0, "message": message });
    let chat = |at: u64, events: Value| {
        let attributes = json!({ "gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "events": events.to_string() });
        span(at, 0, "chat m", &attributes)
    };
    let done = choice(json!({ "role": "assistant", "content": "found" }));
    let tool = |id: &str, response: &str| json!({ "gen_ai.tool.name": "find", "gen_ai.tool.call.id": id, "tool_arguments": "{\"q\":1}", "tool_response": response });
    let (status, said, runs) = import(&[
        chat(1, json!([user, choice(asks)])),
        span(2, 0, "running tool", &tool("c1", "one")),
        chat(3, json!([user, asked, found, done])),
        span(4, 0, "running tool", &tool("c2", "two")),
    ]);
    assert_eq!(status, 0, "{said}");
    let args = "{\"q\":1}";
    let expected = [
        call("find", args, "one", None),
        call("find", args, "two", None),
    ];
    assert_eq!(calls(&runs[0]), expected, "{said}");
    let turns = runs[0]["trace"]["conversation"]["turns"].to_string();
    assert!(turns.contains("found"), "{turns}");
}

fn llm(at: u64, messages: &[(&str, &str)]) -> Value {
    let mut attributes = json!({ "openinference.span.kind": "LLM", "llm.model_name": "m" });
    for (key, value) in messages {
        attributes[format!("llm.{key}")] = (*value).into();
    }
    span(at, 0, "call_llm", &attributes)
}

/// The identifier is in the span alone, and the result wrapped there.
#[test]
fn a_call_without_an_identifier_is_that_of_its_span() {
    let name = "message.tool_calls.0.tool_call.function.name";
    let asks = [
        ("input_messages.0.message.role", "user"),
        ("input_messages.0.message.content", "hi"),
        ("output_messages.0.message.role", "model"),
        (&format!("output_messages.0.{name}"), "greet"),
    ];
    let says = [
        ("input_messages.0.message.role", "user"),
        ("input_messages.0.message.content", "hi"),
        ("input_messages.1.message.role", "model"),
        (&format!("input_messages.1.{name}"), "greet"),
        ("input_messages.2.message.role", "tool"),
        ("input_messages.2.message.name", "greet"),
        ("input_messages.2.message.content", "hello"),
        ("output_messages.0.message.role", "model"),
        ("output_messages.0.message.content", "Hello."),
    ];
    let tool = json!({ "openinference.span.kind": "TOOL", "tool.name": "greet", "gen_ai.tool.call.id": "adk-1",
        "output.value": "{\"id\":\"adk-1\",\"response\":\"hello\"}" });
    let (status, said, runs) = import(&[
        llm(1, &asks),
        span(2, 0, "execute_tool greet", &tool),
        llm(3, &says),
    ]);
    assert_eq!(status, 0, "{said}");
    let expected = [call("greet", "{}", "hello", None)];
    assert_eq!(calls(&runs[0]), expected, "{said}");
    assert_eq!(closing(&runs[0]), "Hello.");
}

/// Each once, also where two results are equal.
#[test]
fn a_result_that_a_span_and_a_message_tell_of_is_one() {
    for names in [&["greet"][..], &["greet", "wave"]] {
        let user = [
            ("input_messages.0.message.role", "user"),
            ("input_messages.0.message.content", "hi"),
            ("output_messages.0.message.role", "assistant"),
        ];
        let keys = (2..).zip(names).map(|(place, _)| {
            ["role", "content"].map(|key| format!("input_messages.{place}.message.{key}"))
        });
        let keys: Vec<[String; 2]> = keys.collect();
        let told = keys
            .iter()
            .flat_map(|[role, content]| [(&**role, "tool"), (content, "hello")]);
        let says = [("output_messages.0.message.content", "Hello.")];
        let says: Vec<(&str, &str)> = user.into_iter().chain(told).chain(says).collect();
        let tool = |name: &str| json!({ "openinference.span.kind": "TOOL", "tool.name": name, "input.value": "{}", "output.value": "hello" });
        let tools = (2..)
            .zip(names)
            .map(|(at, name)| span(at, 0, name, &tool(name)));
        let spans: Vec<Value> = [llm(1, &user)]
            .into_iter()
            .chain(tools)
            .chain([llm(9, &says)])
            .collect();
        let (status, said, runs) = import(&spans);
        assert_eq!(status, 0, "{said}");
        let expected = names.iter().map(|name| call(name, "{}", "hello", None));
        assert_eq!(calls(&runs[0]), expected.collect::<Vec<_>>(), "{said}");
        assert_eq!(closing(&runs[0]), "Hello.");
    }
}
