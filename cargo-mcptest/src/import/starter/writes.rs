//! The calls of a run that change something.

use std::collections::HashMap;

use mcptest::trace::{Run, ToolCall, canonical_json};

use super::arguments::{Known, Stays, staying};

/// A call that changes something.
pub(super) struct Write<'a> {
    pub(super) call: &'a ToolCall,
    /// Whether its result is an error.
    pub(super) failed: Option<bool>,
    /// Whether its arguments stay as they are.
    pub(super) stays: HashMap<String, Stays>,
    /// What it has in common with the same call of another run.
    pub(super) key: String,
}

/// The name of a call with the arguments that stay.
fn key(call: &ToolCall, stays: &HashMap<String, Stays>) -> String {
    let mut args = call.args.clone().into_value();
    if let Some(args) = args.as_object_mut() {
        args.retain(|key, _| stays[key] == Stays::Yes);
    }
    format!("{} {}", call.name, canonical_json(&args))
}

/// The calls of a run that change something; `day` is that of the recording.
pub(super) fn writes<'a>(run: &'a Run, day: Option<&str>) -> Vec<Write<'a>> {
    let reads = run.read_only_tools();
    let mut known = Known::new(run, day);
    let mut writes = Vec::new();
    for (call, result) in run.trace.tool_calls.iter().zip(run.trace.results_by_call()) {
        let is_change = !reads.reads(&call.name);
        if is_change {
            let told = result.filter(|result| result.error_known);
            let stays = staying(&known, &call.args);
            writes.push(Write {
                call,
                failed: told.map(|result| result.is_error),
                key: key(call, &stays),
                stays,
            });
        }
        if let Some(result) = result {
            known.add(&result.result, is_change);
        }
    }
    writes
}
