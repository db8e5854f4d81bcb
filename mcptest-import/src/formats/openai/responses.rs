//! Items of the Responses API.

use mcptest_session::exchange;
use mcptest_session::protocol::parts;
use serde_json::Value;

use super::chat::report_message;
use super::tokens;
use crate::content::text_of;
use crate::event::{Call, Event, ForeignRun, Stop, SystemPreamble};
use crate::json::{identifier, list, member, non_null, nonempty_text, role, text};
use crate::loss::LossReason;

/// Whether an item is a part of what both sides tell: clients may leave out what the model thought.
pub(super) fn is_shared_item(item: &Value) -> bool {
    text(item, "type") != Some("reasoning")
}

/// What follows the first items that are told.
fn skip_shared(items: &[Value], told: usize) -> &[Value] {
    let mut places = items
        .iter()
        .enumerate()
        .filter(|(_, item)| is_shared_item(item));
    let from = match told.checked_sub(1) {
        Some(before) => places
            .nth(before)
            .map_or(items.len(), |(place, _)| place + 1),
        None => 0,
    };
    &items[from..]
}

/// Reads a call: what is new of its input, and its output. `seen` is how many told items of the input are
/// known; what the next call knows is returned.
pub(super) fn read_call(
    request: &Value,
    response: &Value,
    seen: usize,
    run: &mut ForeignRun,
) -> usize {
    let instructions = [request, response]
        .iter()
        .find_map(|it| non_null(it, "instructions"));
    let instructions = text_of(instructions);
    if run.system_prompt.is_none() && !instructions.is_empty() {
        run.system_prompt = Some(instructions);
    }
    let continues = non_null(request, "previous_response_id").is_some();
    let known = match request.get("input") {
        Some(Value::Array(items)) => {
            let new = if continues {
                items.as_slice()
            } else {
                skip_shared(items, seen)
            };
            read_items(new, run);
            items.iter().filter(|item| is_shared_item(item)).count()
        }
        Some(input) => {
            run.push_user(text_of(Some(input)));
            1
        }
        None => 0,
    };
    run.push_step(tokens(response.get("usage")));
    let output = list(response, "output");
    for item in output {
        read_item(item, run);
    }
    run.stop = match text(response, "status") {
        Some("incomplete") => {
            let why = nonempty_text(&response["incomplete_details"], "reason");
            Some(Stop::Spelt(why.unwrap_or("incomplete").to_owned()))
        }
        Some("failed" | "cancelled") => Some(Stop::Known("error")),
        Some(status) => {
            let last = output.last().and_then(|item| text(item, "type"));
            let asks = matches!(last, Some("function_call" | "custom_tool_call"));
            let status = if asks { "tool_calls" } else { status };
            Some(Stop::Spelt(status.to_owned()))
        }
        None => None,
    };
    known + output.iter().filter(|item| is_shared_item(item)).count()
}

/// Reads items that were sent. Those of the model that follow one another are one model call.
pub(super) fn read_items(items: &[Value], run: &mut ForeignRun) {
    let mut in_answer = false;
    let is_first = run.events.is_empty();
    let mut system = SystemPreamble::new(run, is_first);
    for item in items {
        let kind = text(item, "type").unwrap_or("message");
        let role = role(item).unwrap_or_default();
        if kind == "message" && role != "assistant" {
            in_answer = false;
            let said = text_of(item.get("content"));
            match role.as_str() {
                role if system.try_take(matches!(role, "system" | "developer"), &said) => {}
                "user" => run.push_user(said),
                "system" | "developer" => run.push_turn(&role, said),
                _ => report_message(item, run),
            }
            continue;
        }
        system.try_take(false, "");
        if kind.ends_with("_output") || kind == "mcp_approval_response" {
            in_answer = false;
        } else if !in_answer && kind != "item_reference" {
            in_answer = true;
            run.push_step(None);
        }
        read_item(item, run);
    }
    system.apply_to(run);
}

fn read_item(item: &Value, run: &mut ForeignRun) {
    let kind = text(item, "type").unwrap_or("message");
    match kind {
        "message" => {
            let refuses = |part: &Value| text(part, "type") == Some("refusal");
            run.refused |= list(item, "content").iter().any(refuses);
            run.push_assistant(text_of(item.get("content")));
        }
        "function_call" | "custom_tool_call" => run.push_call(parse_function_call(item, kind)),
        "mcp_call" => push_provider_call(parts::mcp_call(item), run),
        "mcp_list_tools" => run.note("lists of tools left out"),
        "mcp_approval_request" | "mcp_approval_response" => run.note("approvals left out"),
        "reasoning" => run.note("reasoning left out"),
        "compaction" => run.note("compaction left out"),
        "item_reference" => {
            let id = text(item, "id").unwrap_or_default();
            run.report_lost(
                LossReason::ItemElsewhere,
                format!("the log refers to the item `{id}`, but does not contain it"),
            );
        }
        "tool_search_call" => {
            let id = identifier(item, "call_id").or_else(|| identifier(item, "id"));
            let args = member(item, "arguments");
            run.push_call(Call::new(id, Some(TOOL_SEARCH), args));
        }
        // Of a search that the provider runs, the call has no identifier that the result names.
        "tool_search_output" => {
            let id = identifier(item, "call_id").or_else(|| pending_search(run));
            run.push_answer(id, member(item, "tools"), None);
        }
        other if other.ends_with("_output") => {
            run.push_answer(identifier(item, "call_id"), member(item, "output"), None);
        }
        other => match other.strip_suffix("_call") {
            Some(tool) => push_provider_call(parts::built_in(tool, item), run),
            None => run.report_lost(
                LossReason::UnknownItem,
                mcptest_trace::trace::canonical_json(item),
            ),
        },
    }
}

/// What a search for tools is called.
const TOOL_SEARCH: &str = "tool_search";

/// The identifier of the last search for tools, if nothing answers it.
fn pending_search(run: &ForeignRun) -> Option<String> {
    let mut last = run.events.iter().rev();
    let id = last.find_map(|event| match event {
        Event::Call(call) if call.name == TOOL_SEARCH => call.id.clone(),
        _ => None,
    })?;
    let answers =
        |event: &Event| matches!(event, Event::Answer(answer) if answer.id.as_ref() == Some(&id));
    (!run.events.iter().any(answers)).then_some(id)
}

pub(crate) fn parse_function_call(item: &Value, kind: &str) -> Call {
    parts::item_call(item, kind).into()
}

/// A call that the provider ran, and its result.
fn push_provider_call(
    (call, result): (exchange::Call, Option<exchange::ToolResult>),
    run: &mut ForeignRun,
) {
    run.push_call(call.into());
    if let Some(result) = result {
        run.push(Event::Answer(result.into()));
    }
}
