//! Lists of chat messages.

use std::collections::{HashMap, HashSet};

use mcptest_session::protocol::parts;
use mcptest_trace::trace::{OfferedTool, canonical_json};
use serde_json::Value;

use super::tokens;
use crate::blocks;
use crate::content::text_of;
use crate::dialect::{self, MessagePart};
use crate::event::{Answer, Call, Event, ForeignRun, SystemPreamble};
use crate::format::has_block;
use crate::json::{
    identifier, list, member, non_null, nonempty_string, nonempty_text, parse_flag, role, text,
    truthy,
};
use crate::loss::LossReason;

/// What differs between those who keep such lists.
#[derive(Default)]
pub(crate) struct ChatOptions {
    /// Texts that begin so are errors, and others are none.
    pub(crate) error_prefixes: &'static [&'static str],
    /// A user's text that holds one of these ends the talk and says nothing.
    pub(crate) endings: &'static [&'static str],
}

/// Reads messages into a run. Leading system messages are its system prompt.
pub(crate) fn read(messages: &[Value], run: &mut ForeignRun, options: &ChatOptions) {
    let mut system = SystemPreamble::new(run, true);
    let mut of_user = UserToolCalls::default();
    for message in messages {
        let message = &*dialect::normalize_keys(message);
        let role = role(message);
        let role = role.as_deref().unwrap_or_default();
        let said = text_of(message.get("content"));
        dialect::report_unknown(message, run);
        if of_user.try_take(message) {
            continue;
        }
        if system.try_take(matches!(role, "system" | "developer"), &said) {
            continue;
        }
        match role {
            "user" if options.endings.iter().any(|ending| said.contains(ending)) => {
                run.push_turn("user", said);
            }
            "user" if has_block(message, &["tool_result"]) || dialect::has_part(message) => {
                blocks::read_user(message.get("content"), run);
            }
            "user" | "human" => run.push_user(said),
            "assistant" | "agent" | "ai" | "model" => read_assistant(message, said, run),
            // Whatever the one who calls is named.
            _ if asks(message) => read_assistant(message, said, run),
            "tool" | "function" if dialect::holds_results(message) => {
                blocks::read_results(message.get("content"), run);
            }
            "tool" | "function" => {
                let mut answer = parse_answer(message, options);
                // Some give the call's identifier to the result.
                let own = identifier(message, "id").filter(|_| answer.id.is_none());
                answer.id = answer.id.or(own.filter(|own| run.has_call(own)));
                run.push(Event::Answer(answer));
            }
            "system" | "developer" => run.push_turn(role, said),
            _ => report_message(message, run),
        }
    }
    system.apply_to(run);
    of_user.add_note(run);
}

/// Whoever speaks in a message, it is not known.
pub(crate) fn report_message(message: &Value, run: &mut ForeignRun) {
    let reason = match nonempty_text(message, "role") {
        Some(_) => LossReason::UnknownRole,
        None => LossReason::NoRole,
    };
    run.report_lost(reason, canonical_json(message));
}

/// What a simulated user does with tools of its own: no call of the agent.
#[derive(Default)]
pub(crate) struct UserToolCalls {
    count: usize,
    /// The identifiers of calls that have no result yet, each with how many.
    open: HashMap<String, usize>,
}

impl UserToolCalls {
    /// Notes the calls of a message that are the user's. Whether the message is a result of such a call.
    pub(crate) fn try_take(&mut self, message: &Value) -> bool {
        let role = role(message);
        let by_user = matches!(role.as_deref(), Some("user" | "human"));
        let calls = list(message, "tool_calls").iter();
        let (own, of_agent): (Vec<&Value>, Vec<&Value>) =
            calls.partition(|call| by_user || is_of_user(call));
        self.count += own.len();
        // Identifiers may start again: a result is that of the latest call.
        for call in of_agent {
            identifier(call, "id").and_then(|id| self.open.remove(&id));
        }
        for id in own.iter().filter_map(|call| identifier(call, "id")) {
            *self.open.entry(id).or_default() += 1;
        }
        if by_user || role.as_deref() == Some("assistant") {
            return false;
        }
        let mut ids = ["tool_call_id", "id"].into_iter();
        let id = ids.find_map(|key| identifier(message, key));
        let open = id.and_then(|id| self.open.get_mut(&id));
        let open = open.filter(|open| **open > 0);
        let is_taken = open.is_some() || is_of_user(message);
        if let Some(open) = open {
            *open -= 1;
        }
        self.count += usize::from(is_taken);
        is_taken
    }

    pub(crate) fn add_note(self, run: &mut ForeignRun) {
        if self.count > 0 {
            let count = self.count;
            run.note(format!(
                "calls and results of the simulated user left out: {count}"
            ));
        }
    }
}

/// Whether a call or a result says that it is the simulated user's.
pub(crate) fn is_of_user(of: &Value) -> bool {
    text(of, "requestor") == Some("user")
}

/// An answer of the model. What it says before the first user is a greeting and no model call.
pub(super) fn read_assistant(message: &Value, said: String, run: &mut ForeignRun) {
    let is_other = has_block(message, &blocks::BLOCKS) || dialect::has_part(message);
    if asks(message) || is_other || run.has_user {
        run.push_step(tokens(message.get("usage")));
    }
    if is_other {
        blocks::read_blocks(message.get("content"), run);
    } else {
        read_text(message, said, run);
    }
    read_calls(message, run);
}

/// Whether a message is one that no list of items has: it calls, or answers a call.
pub(super) fn is_of_chat(message: &Value) -> bool {
    asks(message) || matches!(role(message).as_deref(), Some("tool" | "function"))
}

fn asks(message: &Value) -> bool {
    !list(message, "tool_calls").is_empty() || non_null(message, "function_call").is_some()
}

/// The calls of an answer, besides those that its content told of.
pub(crate) fn read_calls(message: &Value, run: &mut ForeignRun) {
    let told = list(message, "content").iter();
    let id = |block: &Value| match MessagePart::from_value(block) {
        Some(MessagePart::Call(call) | MessagePart::Both(call, _)) => call.id,
        _ => identifier(block, "id"),
    };
    let told: HashSet<String> = told.filter_map(id).collect();
    let own = list(message, "tool_calls").iter();
    for call in own.filter(|call| !is_of_user(call)) {
        let call = Call::from(parts::tool_call(call));
        if !call.id.as_ref().is_some_and(|id| told.contains(id)) {
            run.push_call(call);
        }
    }
    if let Some(call) = non_null(message, "function_call") {
        run.push_call(parts::function_call(call).into());
    }
}

/// What an answer says: its text, and a refusal.
fn read_text(message: &Value, said: String, run: &mut ForeignRun) {
    let refuses = |part: &Value| text(part, "type") == Some("refusal");
    if list(message, "content").iter().any(refuses) {
        run.refused = true;
    }
    for key in ["reasoning_content", "reasoning"] {
        if non_null(message, key).is_some_and(truthy) {
            run.note("reasoning left out");
        }
    }
    run.push_assistant(said);
    if let Some(refusal) = nonempty_text(message, "refusal") {
        run.refused = true;
        run.push_assistant(refusal.to_owned());
    }
}

pub(crate) fn parse_answer(message: &Value, options: &ChatOptions) -> Answer {
    let id = if role(message).as_deref() == Some("function") {
        text(message, "name").map(|name| format!("function:{name}"))
    } else {
        identifier(message, "tool_call_id")
    };
    let value = member(message, "content");
    // Of a failure that brought nothing, its message.
    let value = match non_null(message, "error") {
        Some(error) if truthy(error) && text_of(Some(&value)).is_empty() => error.clone(),
        _ => value,
    };
    let is_error = if options.error_prefixes.is_empty() {
        error_flag(message)
    } else {
        let text = text_of(Some(&value));
        let mut prefixes = options.error_prefixes.iter();
        Some(prefixes.any(|prefix| text.starts_with(prefix)))
    };
    let name = ["name", "tool_name"]
        .iter()
        .find_map(|key| nonempty_string(message, key));
    Answer {
        id,
        name,
        value,
        is_error,
        duration_ms: None,
    }
}

/// Whether a result is an error, in the spellings of those who keep that beside it.
pub(crate) fn error_flag(message: &Value) -> Option<bool> {
    let status = nonempty_text(message, "status").map(str::to_lowercase);
    let status = match status.as_deref() {
        Some("error" | "failed" | "failure") => Some(true),
        Some("success" | "ok") => Some(false),
        _ => None,
    };
    let flags = [
        message.get("error").map(truthy),
        message.get("is_error").and_then(parse_flag),
        message.get("isError").and_then(parse_flag),
        status,
    ];
    let flags = flags.into_iter().flatten();
    flags.reduce(|one, other| one || other)
}

/// The tools of a request, a line each: name and arguments.
pub(crate) fn parse_tools(tools: &[Value]) -> Vec<OfferedTool> {
    let offered = |tool: &Value| {
        let function = non_null(tool, "function").unwrap_or(tool);
        let name = text(function, "name").or_else(|| text(tool, "type"))?;
        let schema = ["parameters", "input_schema", "inputSchema"];
        let schema = schema.iter().find_map(|key| non_null(function, key));
        // MCP's own hint, where the definition is what a server said.
        let hint = [function, tool].map(|it| it.pointer("/annotations/readOnlyHint"));
        let hint = hint.into_iter().flatten().find_map(Value::as_bool);
        Some(OfferedTool::from_line(&tool_line(name, schema)).with_read_only(hint))
    };
    tools.iter().filter_map(offered).collect()
}

/// A tool in the line form of recordings: `name(argument: type, optional?: type)`.
pub(crate) fn tool_line(name: &str, schema: Option<&Value>) -> String {
    let properties = schema.and_then(|schema| schema.get("properties")?.as_object());
    let required = schema.map_or(&[][..], |schema| list(schema, "required"));
    let required: HashSet<&str> = required.iter().filter_map(Value::as_str).collect();
    let mut arguments: Vec<String> = properties
        .into_iter()
        .flatten()
        .map(|(name, schema)| {
            let mark = if required.contains(name.as_str()) {
                ""
            } else {
                "?"
            };
            match text(schema, "type") {
                Some(kind) => format!("{name}{mark}: {kind}"),
                None => format!("{name}{mark}"),
            }
        })
        .collect();
    arguments.sort();
    format!("{name}({})", arguments.join(", "))
}
