//! Spans of adk-rust, brought into the form of the conventions.
//!
//! It keeps what is sent and said as JSON of its own in `call_llm`, what a model call took in a span within that, and what
//! a tool came to in events beside the tool's span.
//!
//! Source: adk-agent 2.3.0 `src/llm_agent.rs`, adk-runner 2.3.0 `src/runner.rs`, adk-core 2.3.0 `src/types.rs`,
//! adk-telemetry 2.3.0 `src/spans.rs`.

use std::collections::HashMap;

use mcptest_trace::spans::{self, Emitter, Meaning};
use serde_json::{Map, Value, json};

use super::span::OtelSpan;
use crate::json::{list, non_null, text, unwrap_json_text};
use crate::nesting::Nesting;

/// What tools came to, as events say it: by the tool and what it gave back, whether it ever succeeded with that, and
/// whether it ever failed with that.
type Outcomes<'s> = HashMap<&'s str, HashMap<Value, [bool; 2]>>;

/// Gives spans of adk-rust the attributes that the conventions have for what they say.
pub(super) fn add_conventions(spans: &mut [OtelSpan]) {
    let is_own = |span: &OtelSpan| spans::find_emitter(span.marked()).emitter == Emitter::AdkRust;
    if !spans.iter().any(is_own) {
        return;
    }
    let events = spans.iter().flat_map(|span| &span.events);
    let mut came = Outcomes::new();
    for outcome in events.filter_map(|event| parse_outcome(&event.name, &event.attributes)) {
        let (tool, failed, value) = outcome;
        came.entry(tool).or_default().entry(value).or_default()[usize::from(failed)] = true;
    }
    let taken = nested_usage(spans);
    let mut changes: Vec<(usize, Map<String, Value>)> = Vec::new();
    for (index, span) in spans.iter().enumerate().filter(|(_, span)| is_own(span)) {
        let mut more = Map::new();
        if let Some(request) = span.attribute(Meaning::Request).map(unwrap_json_text) {
            more.extend(taken.get(&span.id).cloned().unwrap_or_default());
            more.extend(exchange_attributes(&request, span, &came));
        } else if span.tool_name().is_some() {
            more.insert("gen_ai.operation.name".to_owned(), "execute_tool".into());
            let mut called = span.events.iter().filter(|event| event.name == "tool_call");
            if let Some(args) = called.find_map(|event| event.attributes.get("tool.args")) {
                more.insert("gen_ai.tool.call.arguments".to_owned(), args.clone());
            }
        } else if span
            .events
            .iter()
            .any(|event| event.name == "Agent execution complete")
        {
            // Said of an agent whose model calls no more tools.
            more.insert("gen_ai.completion".to_owned(), true.into());
        }
        changes.push((index, more));
    }
    for (index, more) in changes {
        for (key, value) in more {
            spans[index].attributes.entry(key).or_insert(value);
        }
    }
}

/// The model and the tokens of each model call, which stand in a span within its own.
fn nested_usage(spans: &[OtelSpan]) -> HashMap<String, Map<String, Value>> {
    let names = spans
        .iter()
        .map(|span| (span.id.as_str(), span.parent.as_deref()));
    let asks = |span: &usize| spans[*span].attribute(Meaning::Request).is_some();
    let around = Nesting::from_pairs(names).inherit(None, |asked: &Option<usize>, outer| {
        Some(outer).filter(asks).or(*asked)
    });
    let mut taken: HashMap<String, Map<String, Value>> = HashMap::new();
    for (span, asked) in spans.iter().zip(around) {
        let kept = [
            Meaning::AskedModel,
            Meaning::PromptTokens,
            Meaning::CompletionTokens,
        ];
        let names = kept.into_iter().flat_map(Meaning::names);
        let own =
            names.filter_map(|name| Some((name.to_owned(), span.attributes.get(name)?.clone())));
        let mut own = own.peekable();
        if let Some(asked) = asked.filter(|_| own.peek().is_some()) {
            let id = spans[asked].id.clone();
            taken.entry(id).or_default().extend(own);
        }
    }
    taken
}

/// The tool, whether it failed, and what it gave back.
fn parse_outcome<'s>(
    name: &str,
    attributes: &'s Map<String, Value>,
) -> Option<(&'s str, bool, Value)> {
    let tool = attributes.get("tool.name")?.as_str()?;
    let (failed, value) = match name {
        "tool_result" => (false, unwrap_json_text(attributes.get("tool.result")?)),
        "tool_error" => (true, attributes.get("error")?.clone()),
        _ => return None,
    };
    Some((tool, failed, value))
}

/// The messages of a model call. What is no JSON was cut: it says nothing.
fn exchange_attributes(
    request: &Value,
    span: &OtelSpan,
    came: &Outcomes<'_>,
) -> Map<String, Value> {
    let mut more = Map::new();
    let contents = list(request, "contents");
    if contents.is_empty() {
        return more;
    }
    // What an agent is told stands before what the user says, as if the user had said it.
    let opening = contents
        .iter()
        .take_while(|content| text(content, "role") == Some("user"));
    let told = opening.count().saturating_sub(1);
    let messages = contents.iter().enumerate().map(|(index, content)| {
        let role = match text(content, "role").unwrap_or_default() {
            _ if index < told => "system",
            "model" => "assistant",
            "function" => "tool",
            other => other,
        };
        convert_message(role, content, came)
    });
    let mut insert = |key: &str, value: Value| drop(more.insert(key.to_owned(), value));
    insert("gen_ai.input.messages", messages.collect());
    if let Some(model) = non_null(request, "model") {
        insert("gen_ai.request.model", model.clone());
    }
    if let Some(answer) = span
        .attribute(Meaning::Response)
        .map(unwrap_json_text)
        .filter(Value::is_object)
    {
        insert(
            "gen_ai.output.messages",
            json!([convert_message("assistant", &answer, came)]),
        );
    }
    more
}

fn convert_message(role: &str, content: &Value, came: &Outcomes<'_>) -> Value {
    let mut parts: Vec<Value> = Vec::new();
    for part in list(content, "parts") {
        // Of a stream each piece of a text is a part.
        match (text(part, "text"), parts.last_mut()) {
            (Some(more), Some(last)) if last["type"] == "text" => match &mut last["content"] {
                Value::String(said) => said.push_str(more),
                other => *other = more.into(),
            },
            _ => parts.push(convert_part(part, came)),
        }
    }
    json!({ "role": role, "parts": parts })
}

fn convert_part(part: &Value, came: &Outcomes<'_>) -> Value {
    if let Some(said) = text(part, "text") {
        return json!({ "type": "text", "content": said });
    }
    if part.get("thinking").is_some() {
        return json!({ "type": "reasoning" });
    }
    if let (Some(name), Some(args)) = (text(part, "name"), part.get("args")) {
        return json!({ "type": "tool_call", "id": part["id"], "name": name, "arguments": args });
    }
    let Some(answer) = non_null(part, "functionResponse") else {
        return part.clone();
    };
    let value = answer.get("response").unwrap_or(&Value::Null);
    let tool = text(answer, "name").unwrap_or_default();
    // A failure is sent as `{"error": …}`, which a tool may also have given back itself: the events tell.
    let ever = |failed: bool| {
        let given = if failed { &value["error"] } else { value };
        let flags = came.get(tool).and_then(|of_tool| of_tool.get(given));
        flags.is_some_and(|flags| flags[usize::from(failed)])
    };
    let mut written =
        json!({ "type": "tool_call_response", "id": part["id"], "name": tool, "response": value });
    let (succeeded, failed) = (ever(false), ever(true));
    if succeeded != failed {
        written["is_error"] = failed.into();
    }
    written
}
