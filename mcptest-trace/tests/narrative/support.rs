//! Runs in a few words.

use mcptest_trace::eval::{KnownTools, NarrativeOptions, narrative_divergence_with};
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
    let tools = tools
        .iter()
        .map(|line| OfferedTool::from_line(line.as_ref()));
    KnownTools::offered(&tools.collect::<Vec<_>>())
}

/// A call; a result that is a text says that it failed.
pub(crate) fn call(tool: &str, id: &str, result: &Value) -> Call {
    let ok = !result.is_string();
    let text = json!({ "content": [{ "type": "text", "text": result.to_string() }] });
    (tool.to_owned(), json!({ "id": id }), ok, text)
}

pub(crate) fn done(tool: &str, id: &str) -> Call {
    call(tool, id, &json!({ "ok": true }))
}

/// Whether a closing is refused after some calls of an agent with these tools.
pub(crate) fn refused(tools: &str, calls: &[Call], user: &str, closing: &str) -> bool {
    let trace = trace(calls, &[user.to_owned()], closing);
    let known = offered(&tools.split(' ').collect::<Vec<_>>());
    !narrative_divergence_with(&trace, &NarrativeOptions::default(), &known).gate_passed()
}

/// A call with these arguments.
pub(crate) fn call_with(tool: &str, args: Value, ok: bool) -> Call {
    (tool.to_owned(), args, ok, json!("done"))
}
