//! Items of an answer.

use serde_json::{Value, json};

use super::super::arguments;
use super::super::content::text_of;
use super::super::numbered::call_id;
use super::NAME;
use crate::exchange::{Call, Opaque, Part, ToolResult};
use crate::json::{
    identifier, member, non_null, nonempty_string, nonempty_text, text, without_members,
};

/// Keys of an item that are neither arguments nor results.
const ABOUT: [&str; 8] = [
    "call_id",
    "caller",
    "created_by",
    "id",
    "namespace",
    "status",
    "type",
    "environment",
];

/// Keys of an item under which a tool of the provider puts what it found.
const FOUND: [&str; 4] = ["output", "outputs", "result", "results"];

/// What a search for tools is called.
const TOOL_SEARCH: &str = "tool_search";

/// Reads an item of an answer.
pub(super) fn read_item(item: &Value, parts: &mut Vec<Part>) {
    let native = || Opaque {
        protocol: NAME.to_owned(),
        value: item.clone(),
    };
    match text(item, "type").unwrap_or("message") {
        "message" => read_message(item, parts),
        kind @ ("function_call" | "custom_tool_call") => {
            parts.push(Part::Call(arguments::of_call(call(item, kind))));
        }
        "mcp_call" => provided(mcp_call(item), native(), parts),
        // What the provider found itself: its item names no call.
        "tool_search_output" if non_null(item, "call_id").is_none() => {
            let found = found_tools(item, parts);
            parts.extend(found.map(Part::Result));
            parts.push(Part::Opaque(native()));
        }
        other => match other.strip_suffix("_call") {
            Some(tool) => provided(built_in(tool, item), native(), parts),
            // Reasoning, compaction, lists of tools, approvals, and what is not known.
            None => parts.push(Part::Opaque(native())),
        },
    }
}

fn read_message(item: &Value, parts: &mut Vec<Part>) {
    let Some(Value::Array(content)) = item.get("content") else {
        let said = text_of(item.get("content"));
        if !said.is_empty() {
            parts.push(Part::Text(said));
        }
        return;
    };
    for part in content {
        let said = text_of(Some(part));
        match text(part, "type") {
            Some("refusal") => parts.push(Part::Refusal(said)),
            _ => parts.push(Part::Text(said)),
        }
    }
}

/// A call that the client has to run, with its arguments as they stand there.
#[must_use]
pub fn call(item: &Value, kind: &str) -> Call {
    let namespace = nonempty_text(item, "namespace");
    let caller = non_null(item, "caller").filter(|caller| text(caller, "type") == Some("program"));
    Call {
        id: call_id(item, "call_id"),
        name: text(item, "name").unwrap_or_default().to_owned(),
        server: namespace.map(server_of).map(str::to_owned),
        args: match kind {
            "custom_tool_call" => json!({ "input": item.get("input") }),
            _ => member(item, "arguments"),
        },
        caller: caller
            .map(|caller| json!({ "kind": "code_execution", "tool_id": caller.get("caller_id") })),
        text: None,
        native: None,
    }
}

/// The server of a namespace: `mcp__weather`, and `mcp__weather__`, which stands before the name of the tool.
fn server_of(namespace: &str) -> &str {
    let server = namespace.strip_prefix("mcp__").unwrap_or(namespace);
    let server = server.strip_suffix("__").unwrap_or(server);
    if server.is_empty() { namespace } else { server }
}

/// A call that the provider ran itself, and its result.
fn provided((call, result): (Call, Option<ToolResult>), native: Opaque, parts: &mut Vec<Part>) {
    parts.push(Part::Call(Call {
        native: Some(native),
        ..arguments::of_call(call)
    }));
    parts.extend(result.map(Part::Result));
}

/// Call and result in one: a tool of an MCP server that the provider asks itself.
#[must_use]
pub fn mcp_call(item: &Value) -> (Call, Option<ToolResult>) {
    let id = identifier(item, "id");
    let call = Call {
        id: id.clone(),
        name: text(item, "name").unwrap_or_default().to_owned(),
        server: nonempty_string(item, "server_label"),
        args: member(item, "arguments"),
        ..Call::default()
    };
    let error = non_null(item, "error");
    let output = non_null(item, "output");
    let failed = error.is_some() || failed(item);
    let result = (failed || output.is_some()).then(|| ToolResult {
        id,
        value: output.or(error).cloned().unwrap_or_default(),
        is_error: Some(failed),
        ..ToolResult::default()
    });
    (call, result)
}

/// A tool that the provider runs itself.
#[must_use]
pub fn built_in(tool: &str, item: &Value) -> (Call, Option<ToolResult>) {
    let id = call_id(item, "call_id").or_else(|| identifier(item, "id"));
    let call = Call {
        id: id.clone(),
        name: tool.to_owned(),
        args: match tool {
            TOOL_SEARCH => member(item, "arguments"),
            _ => without_members(item, &[&ABOUT[..], &FOUND].concat()),
        },
        ..Call::default()
    };
    let found = FOUND.iter().find_map(|key| non_null(item, key));
    let result = (found.is_some() || failed(item)).then(|| ToolResult {
        id,
        value: found.cloned().unwrap_or_default(),
        is_error: failed(item).then_some(true),
        ..ToolResult::default()
    });
    (call, result)
}

/// What came of the last search for tools, if nothing answers it yet.
fn found_tools(item: &Value, parts: &[Part]) -> Option<ToolResult> {
    let mut last = parts.iter().rev();
    let call = last.find_map(|part| match part {
        Part::Call(call) if call.name == TOOL_SEARCH => Some(call),
        _ => None,
    })?;
    let answers = |part: &Part| matches!(part, Part::Result(result) if result.id == call.id);
    (!parts.iter().any(answers)).then(|| ToolResult {
        id: call.id.clone(),
        value: member(item, "tools"),
        ..ToolResult::default()
    })
}

/// Whether a call failed, with or without anything that came back.
fn failed(item: &Value) -> bool {
    text(item, "status").is_some_and(|status| status.eq_ignore_ascii_case("failed"))
}
