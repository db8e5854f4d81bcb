//! Messages of `LangChain`, in each of the forms in which they are kept.

use mcptest_trace::trace::canonical_json;
use serde_json::{Value, json};

use crate::blocks;
use crate::content::text_of;
use crate::event::{Answer, Call, CallTokens, Event, ForeignRun, Stop, SystemPreamble};
use crate::format::has_block;
use crate::formats::openai::report_message;
use crate::json::{
    count, identifier, list, member, non_null, nonempty_string, nonempty_text, text, truthy,
};
use crate::loss::LossReason;

/// A message in one form: its kind, and its fields.
pub(super) struct LangsmithMessage<'v> {
    pub(super) kind: &'static str,
    pub(super) fields: &'v Value,
}

impl<'v> LangsmithMessage<'v> {
    /// Reads `{type, data}`, `{lc, type: constructor, id, kwargs}` and plain dumps.
    pub(super) fn from_value(value: &'v Value) -> Option<Self> {
        if text(value, "type") == Some("constructor") {
            let name = list(value, "id").last()?.as_str()?;
            return Some(Self::from_fields(message_kind(name)?, value.get("kwargs")?));
        }
        let named = ["type", "role"].map(|key| text(value, key).and_then(message_kind));
        let kind = named.into_iter().flatten().next()?;
        Some(Self::from_fields(
            kind,
            non_null(value, "data").unwrap_or(value),
        ))
    }

    /// A message of no kind of its own says who speaks beside it.
    fn from_fields(named: &'static str, fields: &'v Value) -> Self {
        let role = text(fields, "role").filter(|_| named == "other");
        Self {
            kind: role.and_then(message_kind).unwrap_or(named),
            fields,
        }
    }
}

fn message_kind(name: &str) -> Option<&'static str> {
    let name = name.strip_suffix("Chunk").unwrap_or(name);
    let name = name.strip_suffix("Message").unwrap_or(name);
    Some(match name.to_ascii_lowercase().as_str() {
        "human" | "user" => "human",
        "ai" | "assistant" => "ai",
        "system" | "developer" => "system",
        "tool" | "function" => "tool",
        "chat" => "other",
        "remove" => "remove",
        _ => return None,
    })
}

/// Whether a value is a message of this kind, and not one with a role.
pub(super) fn is_message(value: &Value) -> bool {
    let typed = text(value, "type").is_some() && text(value, "role").is_none();
    let blocks = [
        "message",
        "function_call",
        "function_call_output",
        "reasoning",
        // LangChain says `human`.
        "user",
    ];
    typed
        && !text(value, "type").is_some_and(|kind| blocks.contains(&kind))
        && LangsmithMessage::from_value(value).is_some()
}

/// Reads messages into a run. Leading system messages are its system prompt.
pub(super) fn read(messages: &[Value], run: &mut ForeignRun) {
    let is_first = run.events.is_empty();
    let mut system = SystemPreamble::new(run, is_first);
    for value in messages {
        let Some(message) = LangsmithMessage::from_value(value) else {
            run.report_lost(LossReason::UnknownMessage, canonical_json(value));
            continue;
        };
        let said = text_of(message.fields.get("content"));
        if system.try_take(message.kind == "system", &said) {
            continue;
        }
        match message.kind {
            "human" => {
                run.stop = None;
                blocks::read_user(message.fields.get("content"), run);
            }
            "ai" => {
                let greets = !run.has_user && list(message.fields, "tool_calls").is_empty();
                if !greets {
                    run.push_step(tokens(message.fields));
                }
                read_assistant(message.fields, run);
                run.stop = stop_reason(&message.fields["response_metadata"]).map(Stop::Spelt);
            }
            "tool" => run.push(Event::Answer(parse_answer(message.fields))),
            "other" => report_message(message.fields, run),
            // `RemoveMessage` takes another one back, and says nothing.
            "remove" => {}
            system => run.push_turn(system, said),
        }
    }
    system.apply_to(run);
}

/// Why a model call ended.
pub(super) fn stop_reason(about: &Value) -> Option<String> {
    let keys = ["finish_reason", "stop_reason"];
    keys.iter().find_map(|key| nonempty_string(about, key))
}

/// What a model wrote: text, then calls.
pub(super) fn read_assistant(fields: &Value, run: &mut ForeignRun) {
    if let Some(model) = nonempty_text(&fields["response_metadata"], "model_name") {
        run.add_model(model);
    }
    let said = read_content_text(fields.get("content"), run);
    run.push_assistant(said);
    let kept = ["tool_calls", "invalid_tool_calls"]
        .map(|key| list(fields, key))
        .concat();
    // The list wins over what older releases keep beside it.
    let beside = list(&fields["additional_kwargs"], "tool_calls").iter();
    let blocks = list(fields, "content").iter();
    let blocks = blocks.filter(|block| text(block, "type") == Some("tool_use"));
    let calls: Vec<&Value> = if kept.is_empty() {
        beside.chain(blocks).collect()
    } else {
        kept.iter().collect()
    };
    for call in calls {
        run.push_call(parse_tool_call(call));
    }
}

/// A call as `LangChain` has it, or as the provider's API does.
fn parse_tool_call(call: &Value) -> Call {
    let inner = non_null(call, "function").unwrap_or(call);
    let args = ["args", "arguments", "input"];
    let args = args.iter().find_map(|key| non_null(inner, key));
    Call::new(
        identifier(call, "id"),
        text(inner, "name"),
        args.cloned().unwrap_or_default(),
    )
}

/// The text of a content without its calls and its reasoning.
fn read_content_text(content: Option<&Value>, run: &mut ForeignRun) -> String {
    let Some(Value::Array(blocks)) = content else {
        return text_of(content);
    };
    let mut said = String::new();
    for block in blocks {
        match text(block, "type").unwrap_or("text") {
            "tool_use" | "tool_call" | "tool_call_chunk" | "invalid_tool_call"
            | "input_json_delta" | "function_call" => {}
            "thinking" | "reasoning" | "redacted_thinking" => run.note("reasoning left out"),
            _ => said.push_str(&text_of(Some(block))),
        }
    }
    said
}

pub(super) fn parse_answer(fields: &Value) -> Answer {
    let status = nonempty_text(fields, "status");
    Answer {
        id: identifier(fields, "tool_call_id"),
        name: nonempty_string(fields, "name"),
        value: member(fields, "content"),
        is_error: match status.map(str::to_lowercase).as_deref() {
            Some("error") => Some(true),
            Some("success") => Some(false),
            _ => None,
        },
        duration_ms: None,
    }
}

/// The tokens of a model call: sums of all kinds.
pub(super) fn tokens(fields: &Value) -> Option<CallTokens> {
    let usage = non_null(fields, "usage_metadata")?;
    let mut taken = CallTokens::new(
        count(usage, "input_tokens")?,
        count(usage, "output_tokens")?,
    );
    taken.cached = count(&usage["input_token_details"], "cache_read");
    taken.reasoning = count(&usage["output_token_details"], "reasoning");
    Some(taken)
}

/// What makes a message the same message.
pub(super) fn message_key(value: &Value) -> Option<String> {
    let message = LangsmithMessage::from_value(value)?;
    let essence = match message.kind {
        "ai" => {
            let mut run = ForeignRun::default();
            read_assistant(message.fields, &mut run);
            run.events.iter().map(event_key).collect()
        }
        "tool" => {
            let answer = parse_answer(message.fields);
            json!([answer.id, answer.value])
        }
        _ if has_block(message.fields, &["tool_result"]) => json!(message.fields.get("content")),
        _ => json!(text_of(message.fields.get("content"))),
    };
    Some(canonical_json(&json!([message.kind, essence])))
}

fn event_key(event: &Event) -> Value {
    match event {
        Event::Call(call) => json!([call.id, call.name, call.args]),
        Event::Said(text) => json!(text),
        _ => Value::Null,
    }
}

/// Whether a run says that it failed.
pub(super) fn is_failed_run(run: &Value) -> bool {
    let failed = |status: &str| status.eq_ignore_ascii_case("error");
    non_null(run, "error").is_some_and(truthy) || text(run, "status").is_some_and(failed)
}
