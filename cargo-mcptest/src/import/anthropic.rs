//! Anthropic messages, requests and responses.
//!
//! Source: anthropic-sdk-python 0.121.0 (anthropics/anthropic-sdk-python@009b0353:src/anthropic/types;
//! `beta/` for MCP blocks).

use mcptest_trace::trace::canonical_json;
use serde_json::{Value, json};

use super::blocks::{BLOCKS, read_blocks, read_user};
use super::content::text_of;
use super::event::{Event, ForeignRun, Leading, Stop};
use super::format::{self, Format, Gathered, Joins, Runs, has_block};
use super::input::{Input, Record, RecordPlace};
use super::joining::{Joiner, states};
use super::json::{count, given, identifier, list, named, number, role, text, word};
use super::mapping::Mapping;
use super::openai::{
    ChatOptions, calls_of, lose_message, offered_tools, read_record, tokens, tool_answer,
};
use super::verdict;

/// The format `anthropic`.
pub(super) struct Anthropic;

impl Format for Anthropic {
    fn signature(&self) -> &'static str {
        "messages with blocks such as `tool_use` and `tool_result`, or a response of type `message`"
    }

    fn fits(&self, _: &Input, value: &Value) -> bool {
        let is_response = |value: &Value| {
            text(value, "type") == Some("message")
                && value.get("content").is_some_and(Value::is_array)
                && value.get("usage").is_some()
        };
        let messages = format::messages(value).unwrap_or_default();
        messages.iter().any(|message| has_block(message, &BLOCKS))
            || is_plain_talk(value, messages)
            || logged(value).is_some_and(|(_, response)| is_response(response))
            || is_response(value)
    }

    fn join(&self, record: &Record<'_>, joiner: &mut Joiner, _: &Mapping) -> Joins {
        if let Some((request, response)) = logged(&record.value) {
            join(request, response, record.part, joiner);
        } else {
            joiner.alone(record.part);
        }
        Ok(())
    }

    fn read(&self, Gathered { records, .. }: &Gathered<'_, '_>, mapping: &Mapping) -> Runs {
        let mut run = ForeignRun::default();
        let mut seen = 0;
        for record in *records {
            let value = &record.value;
            if let Some((request, response)) = logged(value) {
                seen = read_call(request, response, seen, &mut run);
            } else if let Some(messages) = format::talk(value, &mut run) {
                about(value, &mut run);
                read_record(value, &mut run);
                for message in messages.iter() {
                    read_message(message, &mut run);
                }
            } else {
                return Err(format::lacks_request());
            }
        }
        if let Some(last) = records.last() {
            verdict::read(&last.value, mapping, &mut run);
        }
        Ok(vec![run])
    }
}

/// A talk without tools, whose system prompt stands beside its messages, or whose answers say why they stop.
fn is_plain_talk(record: &Value, messages: &[Value]) -> bool {
    let is_plain = |message: &Value| {
        matches!(text(message, "role"), Some("user" | "assistant"))
            && given(message, "tool_calls").is_none()
    };
    let stops = |message: &Value| word(message, "stop_reason").is_some();
    messages.iter().all(is_plain)
        && messages
            .iter()
            .any(|message| given(record, "system").is_some() || stops(message))
}

fn logged(record: &Value) -> Option<(&Value, &Value)> {
    format::logged(record).filter(|(request, _)| request["messages"].is_array())
}

/// What makes a message the same message: its role, its text, its calls and its results. Clients send an
/// answer back without the rest of it.
fn essence(message: &Value) -> String {
    let kind = |block: &Value| text(block, "type").unwrap_or("text").to_owned();
    let is_thought = |block: &&Value| !kind(block).ends_with("thinking");
    let block = |block: &Value| {
        let keys = ["text", "id", "name", "input", "tool_use_id", "content"];
        let members = keys.map(|key| given(block, key));
        match members {
            [Some(text), None, ..] => json!(text),
            members if members.iter().all(Option::is_none) => {
                let mut block = block.clone();
                if let Some(map) = block.as_object_mut() {
                    let marks = ["cache_control", "citations"];
                    map.retain(|key, value| !marks.contains(&key.as_str()) && !value.is_null());
                }
                block
            }
            members => json!([kind(block), members]),
        }
    };
    let content = match message.get("content") {
        Some(Value::String(text)) => json!([text]),
        Some(Value::Array(blocks)) => blocks.iter().filter(is_thought).map(block).collect(),
        other => json!(other),
    };
    canonical_json(&json!([text(message, "role"), content]))
}

/// A request that begins with another one and its response continues it.
fn join(request: &Value, response: &Value, part: RecordPlace, joiner: &mut Joiner) {
    let messages = list(request, "messages").iter();
    let (mut before, state) = states("anthropic", messages.map(essence));
    before.reverse();
    joiner.chained(part, &before, &[state.then(&essence(response))]);
}

/// System prompt, model and tools of a request or of a record.
fn about(request: &Value, run: &mut ForeignRun) {
    run.asked = run.asked.take().or_else(|| named(request, "model"));
    if run.system_prompt.is_none() {
        run.system_prompt = given(request, "system").map(|system| match system {
            Value::Array(blocks) => {
                let texts = blocks.iter().map(|block| text_of(Some(block)));
                texts.collect::<Vec<_>>().join("\n\n")
            }
            other => text_of(Some(other)),
        });
    }
    if run.tools.is_empty() {
        run.tools = offered_tools(list(request, "tools"));
    }
    let temperature = run.temperature.take();
    run.temperature = temperature.or_else(|| number(request, "temperature"));
    run.max_tokens = run.max_tokens.or_else(|| count(request, "max_tokens"));
}

fn read_call(request: &Value, response: &Value, seen: usize, run: &mut ForeignRun) -> usize {
    about(request, run);
    let messages = list(request, "messages");
    for message in messages.get(seen..).unwrap_or_default() {
        read_message(message, run);
    }
    run.id = run.id.take().or_else(|| identifier(response, "id"));
    if text(response, "type") == Some("error") || given(response, "error").is_some() {
        run.stop = Some(Stop::Known("error"));
        return messages.len();
    }
    read_message(response, run);
    messages.len() + 1
}

/// Reads a message; that of a model is a model call.
pub(super) fn read_message(message: &Value, run: &mut ForeignRun) {
    if let Some(model) = word(message, "model") {
        run.answered_by(model);
    }
    let role = role(message);
    match role.as_deref() {
        Some("assistant") => {
            run.step(tokens(message.get("usage")));
            read_blocks(message.get("content"), run);
            calls_of(message, run);
            run.stop = named(message, "stop_reason")
                .map(Stop::Spelt)
                .or(run.stop.take());
        }
        Some("user") => read_user(message.get("content"), run),
        Some("tool" | "function") => {
            run.push(Event::Answer(tool_answer(message, &ChatOptions::default())));
        }
        Some("system" | "developer") if run.events.is_empty() => {
            let mut system = Leading::of(run, true);
            system.takes(true, &text_of(message.get("content")));
            system.give_to(run);
        }
        Some(role @ ("system" | "developer")) => run.turn(role, text_of(message.get("content"))),
        _ => lose_message(message, run),
    }
}
