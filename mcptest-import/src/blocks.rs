//! The blocks of Anthropic's messages, which others keep too.

use mcptest_session::protocol::parts;
use serde_json::Value;

use crate::content::text_of;
use crate::dialect::MessagePart;
use crate::event::{Event, ForeignRun};
use crate::json::text;
use crate::loss::LossReason;

/// The blocks that no other format has.
pub(crate) const BLOCKS: [&str; 7] = [
    "mcp_tool_result",
    "mcp_tool_use",
    "redacted_thinking",
    "server_tool_use",
    "thinking",
    "tool_result",
    "tool_use",
];

/// Results first; the remaining text is a user turn.
pub(crate) fn read_user(content: Option<&Value>, run: &mut ForeignRun) {
    let Some(Value::Array(blocks)) = content else {
        run.push_user(text_of(content));
        return;
    };
    let is_result = |block: &&Value| text(block, "type") == Some("tool_result");
    for block in blocks.iter().filter(is_result) {
        run.push(Event::Answer(parts::block_result(block).into()));
    }
    let rest = blocks.iter().filter(|block| !is_result(block));
    let said = read_parts(rest, run);
    run.push_user(said);
}

/// Reads a message that holds results of tools alone.
pub(crate) fn read_results(content: Option<&Value>, run: &mut ForeignRun) {
    let parts = content.and_then(Value::as_array).into_iter().flatten();
    let said = read_parts(parts, run);
    if !said.is_empty() {
        run.report_lost(LossReason::TextAmongResults, said);
    }
}

/// Reads the parts that are calls or results in another form. The text of the others is returned.
fn read_parts<'v>(parts: impl Iterator<Item = &'v Value>, run: &mut ForeignRun) -> String {
    let mut said = String::new();
    for part in parts {
        match MessagePart::from_value(part) {
            Some(known) => known.read(part, run),
            None => said.push_str(&text_of(Some(part))),
        }
    }
    said
}

/// Reads what a model wrote, block by block.
pub(crate) fn read_blocks(content: Option<&Value>, run: &mut ForeignRun) {
    let Some(Value::Array(blocks)) = content else {
        run.push_assistant(text_of(content));
        return;
    };
    for block in blocks {
        read_block(block, run);
    }
}

pub(crate) fn read_block(block: &Value, run: &mut ForeignRun) {
    if let Some(part) = MessagePart::from_value(block) {
        part.read(block, run);
        return;
    }
    let kind = text(block, "type").unwrap_or("text");
    match kind {
        "text" => run.push_assistant(text_of(Some(block))),
        "thinking" | "redacted_thinking" => run.note("reasoning left out"),
        "tool_use" | "mcp_tool_use" | "server_tool_use" => {
            run.push_call(parts::block_call(block).into());
        }
        "tool_result" => run.push(Event::Answer(parts::block_result(block).into())),
        other if other.ends_with("_tool_result") => {
            run.push(Event::Answer(parts::block_of_provider(block).into()));
        }
        "refusal" => {
            run.refused = true;
            run.push_assistant(text_of(Some(block)));
        }
        "compaction" | "fallback" => run.note("compaction left out"),
        _ => run.push_assistant(text_of(Some(block))),
    }
}
