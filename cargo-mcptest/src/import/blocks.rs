//! The blocks of Anthropic's messages, which others keep too.

use serde_json::{Value, json};

use super::content::text_of;
use super::event::{Answer, Call, Event, ForeignRun};
use super::json::{flag, given, identifier, member, named, text};

/// The blocks that no other format has.
pub(super) const BLOCKS: [&str; 7] = [
    "mcp_tool_result",
    "mcp_tool_use",
    "redacted_thinking",
    "server_tool_use",
    "thinking",
    "tool_result",
    "tool_use",
];

/// Results first; the remaining text is a user turn.
pub(super) fn read_user(content: Option<&Value>, run: &mut ForeignRun) {
    let Some(Value::Array(blocks)) = content else {
        run.user(text_of(content));
        return;
    };
    let is_result = |block: &&Value| text(block, "type") == Some("tool_result");
    for block in blocks.iter().filter(is_result) {
        run.push(Event::Answer(tool_result(block)));
    }
    let rest = blocks.iter().filter(|block| !is_result(block));
    run.user(rest.map(|block| text_of(Some(block))).collect());
}

fn tool_result(block: &Value) -> Answer {
    Answer {
        id: identifier(block, "tool_use_id"),
        name: None,
        value: member(block, "content"),
        is_error: flagged(block),
    }
}

/// Whether a result is an error: none that says nothing is, and what it says may not be readable.
fn flagged(block: &Value) -> Option<bool> {
    given(block, "is_error").map_or(Some(false), flag)
}

/// Reads what a model wrote, block by block.
pub(super) fn read_blocks(content: Option<&Value>, run: &mut ForeignRun) {
    let Some(Value::Array(blocks)) = content else {
        run.said(text_of(content));
        return;
    };
    for block in blocks {
        read_block(block, run);
    }
}

pub(super) fn read_block(block: &Value, run: &mut ForeignRun) {
    let kind = text(block, "type").unwrap_or("text");
    match kind {
        "text" => run.said(text_of(Some(block))),
        "thinking" | "redacted_thinking" => run.note("reasoning left out"),
        "tool_use" | "mcp_tool_use" | "server_tool_use" => run.call(tool_use(block)),
        "tool_result" => run.push(Event::Answer(tool_result(block))),
        other if other.ends_with("_tool_result") => {
            let content = member(block, "content");
            let failed = text(&content, "type").is_some_and(|kind| kind.ends_with("_error"));
            let is_error = if failed { Some(true) } else { flagged(block) };
            let id = identifier(block, "tool_use_id");
            run.answer(id, content, is_error);
        }
        "compaction" | "fallback" => run.note("compaction left out"),
        _ => run.said(text_of(Some(block))),
    }
}

fn tool_use(block: &Value) -> Call {
    let caller = given(block, "caller").filter(|it| text(it, "type") != Some("direct"));
    Call {
        server: named(block, "server_name"),
        caller: caller
            .map(|caller| json!({ "kind": "code_execution", "tool_id": caller.get("tool_id") })),
        ..Call::new(
            identifier(block, "id"),
            text(block, "name"),
            member(block, "input"),
        )
    }
}
