//! Runs in a few words.

use mcptest_trace::eval::KnownTools;
use mcptest_trace::trace::{OfferedTool, Trace};
use serde_json::{Value, json};

/// A call: its tool, arguments, whether it succeeded, and its result.
pub(crate) type Call = (String, Value, bool, Value);

/// A run of calls, what the user said, and the closing.
pub(crate) fn trace(calls: &[Call], users: &[String], closing: &str) -> Trace {
    let made = calls
        .iter()
        .map(|(name, args, ..)| json!({ "name": name, "args": args }));
    let results = calls.iter().enumerate().map(
        |(index, (.., ok, result))| json!({ "call_index": index, "is_error": !ok, "result": result }),
    );
    let turns = users
        .iter()
        .map(|text| json!({ "role": "user", "content": text }));
    Trace::from_envelope(&json!({
        "tool_calls": made.collect::<Vec<_>>(),
        "tool_results": results.collect::<Vec<_>>(),
        "conversation": { "turns": turns.collect::<Vec<_>>() },
        "final_response": closing,
    }))
}

/// The tools that a recording lists.
pub(crate) fn offered<T: AsRef<str>>(tools: &[T]) -> KnownTools {
    let tools = tools.iter().map(|line| OfferedTool::in_line(line.as_ref()));
    KnownTools::offered(&tools.collect::<Vec<_>>())
}
