//! Anthropic messages, requests and responses.
//!
//! Source: anthropic-sdk-python 0.121.0 (anthropics/anthropic-sdk-python@009b0353:src/anthropic/types;
//! `beta/` for MCP blocks).

use mcptest_trace::trace::value_json;
use serde_json::{Value, json};

use crate::blocks::{BLOCKS, read_blocks, read_results, read_user};
use crate::comparable::{comparable_args, comparable_calls, comparable_result};
use crate::content::text_of;
use crate::dialect;
use crate::event::{Event, ForeignRun, Stop, SystemPreamble};
use crate::format::{self, Format, Gathered, Joins, Runs, has_block};
use crate::formats::openai::{
    ChatOptions, calls_of, offered_tools, read_record, report_message, tokens, tool_answer,
};
use crate::input::{Input, Record, RecordPlace};
use crate::joining::{ChainLink, Joiner, prefix_digests};
use crate::json::{
    count, identifier, list, non_null, nonempty_string, nonempty_text, number, role, text,
    without_members,
};
use crate::mapping::Mapping;
use crate::verdict;

/// The format `anthropic`.
pub(crate) struct Anthropic;

impl Format for Anthropic {
    fn signature(&self) -> &'static str {
        "messages with blocks such as `tool_use` and `tool_result`, or a response of type `message`"
    }

    fn recognizes(&self, _: &Input, value: &Value) -> bool {
        let is_response = |value: &Value| {
            text(value, "type") == Some("message")
                && value.get("content").is_some_and(Value::is_array)
                && value.get("usage").is_some()
        };
        let messages = format::messages(value).unwrap_or_default();
        messages.iter().any(|message| has_block(message, &BLOCKS))
            || is_plain_chat(value, messages)
            || logged_exchange(value).is_some_and(|(_, response)| is_response(response))
            || is_response(value)
    }

    fn join(&self, record: &Record<'_>, joiner: &mut Joiner, _: &Mapping) -> Joins {
        if let Some((request, response)) = logged_exchange(&record.value) {
            join(request, response, record.part, joiner);
        } else {
            joiner.add_single(record.part);
        }
        Ok(())
    }

    fn read(&self, gathered: &Gathered<'_, '_>, mapping: &Mapping) -> Runs {
        let mut run = ForeignRun::default();
        let mut seen = 0;
        for record in gathered.records {
            let value = &record.value;
            if let Some((request, response)) = logged_exchange(value) {
                seen = read_call(request, response, seen, &mut run);
            } else if let Some(messages) = format::full_conversation(value, &mut run) {
                read_settings(value, &mut run);
                read_record(value, &mut run);
                for message in messages.iter() {
                    read_message(message, &mut run);
                }
            } else {
                return Err(format::missing_request());
            }
        }
        gathered.set_branch_id(&mut run);
        if let Some(last) = gathered.records.last() {
            verdict::read(&last.value, mapping, &mut run);
        }
        Ok(vec![run])
    }
}

/// A talk without tools, whose system prompt stands beside its messages, or whose answers say why they stop.
fn is_plain_chat(record: &Value, messages: &[Value]) -> bool {
    let is_plain = |message: &Value| {
        matches!(text(message, "role"), Some("user" | "assistant"))
            && non_null(message, "tool_calls").is_none()
    };
    let stops = |message: &Value| nonempty_text(message, "stop_reason").is_some();
    messages.iter().all(is_plain)
        && messages
            .iter()
            .any(|message| non_null(record, "system").is_some() || stops(message))
}

fn logged_exchange(record: &Value) -> Option<(&Value, &Value)> {
    format::logged_exchange(record).filter(|(request, _)| request["messages"].is_array())
}

/// What makes a message the same message: its role, its text, its calls and its results, all by value. Clients send an
/// answer back without the rest of it, and may join its texts.
fn message_key(message: &Value) -> String {
    let mut blocks: Vec<Value> = Vec::new();
    let mut text_so_far = String::new();
    let mut add = |block: Option<Value>, said: &str| {
        text_so_far.push_str(said);
        if let Some(block) = block {
            let said = std::mem::take(&mut text_so_far);
            let said = Some(said.trim_end()).filter(|said| !said.is_empty());
            blocks.extend(said.map(Value::from));
            blocks.push(block);
        }
    };
    match message.get("content") {
        Some(Value::Array(content)) => {
            for block in content {
                match text(block, "type").unwrap_or("text") {
                    "text" => add(None, &text_of(Some(block))),
                    kind if kind.ends_with("thinking") => {}
                    kind => add(Some(block_key(kind, block)), ""),
                }
            }
        }
        content => add(None, &text_of(content)),
    }
    add(Some(comparable_calls(message).into()), "");
    value_json(&json!([role(message), blocks]))
}

fn block_key(kind: &str, block: &Value) -> Value {
    let id = |key: &str| identifier(block, key);
    if kind.ends_with("tool_use") {
        let args = comparable_args(block.get("input"));
        return json!([kind, id("id"), block["name"], args]);
    }
    if kind.ends_with("tool_result") {
        return json!([
            kind,
            id("tool_use_id"),
            comparable_result(non_null(block, "content"))
        ]);
    }
    without_members(block, &["cache_control", "citations"])
}

/// A request that begins with another one and its response continues it.
fn join(request: &Value, response: &Value, part: RecordPlace, joiner: &mut Joiner) {
    let messages = list(request, "messages").iter();
    let (mut before, state) = prefix_digests("anthropic", messages.map(message_key));
    before.reverse();
    let link = ChainLink {
        before,
        after: vec![state.chain(&message_key(response))],
        asked: state.chain(&value_json(&json!(non_null(request, "system")))),
        is_failed: format::is_error_response(response),
    };
    joiner.add_chained(part, &link);
}

/// System prompt, model and tools of a request or of a record.
fn read_settings(request: &Value, run: &mut ForeignRun) {
    run.asked = run
        .asked
        .take()
        .or_else(|| nonempty_string(request, "model"));
    if run.system_prompt.is_none() {
        run.system_prompt = non_null(request, "system").map(|system| match system {
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
    read_settings(request, run);
    let messages = list(request, "messages");
    for message in messages.get(seen..).unwrap_or_default() {
        read_message(message, run);
    }
    run.id = run.id.take().or_else(|| identifier(response, "id"));
    if format::is_error_response(response) {
        run.stop = Some(Stop::Known("error"));
        return messages.len();
    }
    read_message(response, run);
    messages.len() + 1
}

/// Reads a message; that of a model is a model call.
pub(crate) fn read_message(message: &Value, run: &mut ForeignRun) {
    let message = &*dialect::normalize_keys(message);
    dialect::report_unknown(message, run);
    if let Some(model) = nonempty_text(message, "model") {
        run.add_model(model);
    }
    let role = role(message);
    match role.as_deref() {
        Some("assistant") => {
            run.push_step(tokens(message.get("usage")));
            read_blocks(message.get("content"), run);
            calls_of(message, run);
            run.stop = nonempty_string(message, "stop_reason")
                .map(Stop::Spelt)
                .or(run.stop.take());
        }
        Some("user") => read_user(message.get("content"), run),
        Some("tool" | "function") if dialect::holds_results(message) => {
            read_results(message.get("content"), run);
        }
        Some("tool" | "function") => {
            run.push(Event::Answer(tool_answer(message, &ChatOptions::default())));
        }
        Some("system" | "developer") if run.events.is_empty() => {
            let mut system = SystemPreamble::new(run, true);
            system.try_take(true, &text_of(message.get("content")));
            system.apply_to(run);
        }
        Some(role @ ("system" | "developer")) => {
            run.push_turn(role, text_of(message.get("content")));
        }
        _ => report_message(message, run),
    }
}
