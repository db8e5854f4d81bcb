//! What `claude -p --output-format stream-json` prints: the lines of a session in another form, with the tools that
//! there are first and how it ended last.
//!
//! Observed: charlieyou/claude-agent-sdk-gleam@79c7629f:test/fixtures.

use mcptest_trace::trace::OfferedTool;
use serde_json::Value;

use crate::event::{ForeignRun, Stop};
use crate::formats::openai::tokens;
use crate::input::Record;
use crate::json::{is_set, list, nonempty_string, text};

/// Whether it is a line of it that no other program prints.
pub(super) fn recognizes(value: &Value) -> bool {
    let begins = text(value, "subtype") == Some("init") && value["tools"].is_array();
    let speaks = value.get("parent_tool_use_id").is_some() && value.get("message").is_some();
    text(value, "session_id").is_some() && (begins || speaks)
}

/// Takes what the first line says of the run, and the last.
pub(super) fn read(records: &[Record<'_>], run: &mut ForeignRun) {
    let last = |key: &str, name: &str| {
        let mut lines = records.iter().rev().map(|record| &record.value);
        lines.find(|line| text(line, key) == Some(name) && text(line, "session_id").is_some())
    };
    if let Some(first) = last("subtype", "init") {
        run.asked = nonempty_string(first, "model");
        run.version = nonempty_string(first, "claude_code_version");
        let tools = list(first, "tools").iter().filter_map(Value::as_str);
        run.tools = tools.map(OfferedTool::from_line).collect();
    }
    if let Some(end) = last("type", "result") {
        let reason = nonempty_string(end, "stop_reason").unwrap_or_else(|| "end_turn".to_owned());
        run.totals = tokens(end.get("usage"));
        run.stop = Some(match text(end, "subtype") {
            Some("error_max_turns") => Stop::Known("turn_budget"),
            Some("error_max_budget_usd") => Stop::Known("cost_budget"),
            Some("success") if !is_set(end, "is_error") => Stop::Spelt(reason),
            _ => Stop::Known("error"),
        });
    }
}
