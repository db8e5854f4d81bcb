//! What tools of the agent's own told, in a cassette: the calls at the door in the field `session`, and in the calls of the
//! trace what differs from them.

use mcptest_trace::eval::changed_by_code;
use mcptest_trace::text::pluralize;
use mcptest_trace::trace::{ToolCall, Trace, json_eq};
use serde_json::{Value, json};

use super::conversation::ModelCalls;
use super::mcp_calls::is_as_sent;
use super::observed::{Observed, Outcome};
use super::own_calls::{OwnCalls, kept_args, open_at};
use crate::door::{Ending, OwnCall};
use crate::json::list;
use crate::mcp::McpTraffic;
use crate::protocol::blob;

/// The calls of the trace that own tools made.
#[derive(Debug, Default)]
pub(super) struct OwnCallsInTrace {
    /// For each call of the trace, the calls at the door that it is: the attempts in their order.
    pub(super) attempts: Vec<Vec<usize>>,
    /// The calls of the trace that no model asked for in a call.
    pub(super) in_text: Vec<usize>,
}

/// What whoever records should know: the code called tools with something else than the model asked, or more than once.
pub(super) fn notes(trace: &Value) -> Vec<String> {
    let calls = Trace::from_envelope(trace).tool_calls;
    let mut notes = Vec::new();
    let differs = |call: &ToolCall| changed_by_code(call).into_iter().next();
    let mut differing = calls
        .iter()
        .filter_map(|call| Some((&call.name, differs(call)?.path)));
    if let Some((tool, path)) = differing.next() {
        let count = pluralize(differing.count() + 1, "call");
        notes.push(format!(
            "in {count} the code called its tool with something else than the model asked (`{path}` of `{tool}`); gates judge what \
             the model asked"
        ));
    }
    let tried = |call: &&ToolCall| {
        let own = call.own.as_ref();
        own.is_some_and(|own| own.attempts.len() > 1)
    };
    let mut repeated = calls.iter().filter(tried);
    if let Some(first) = repeated.next() {
        let count = pluralize(repeated.count() + 1, "call");
        notes.push(format!(
            "the code ran its tool more than once for {count} of the model (`{}`); each counts as one call, with its last result",
            first.name
        ));
    }
    notes
}

/// Writes what the code did otherwise than the model asked, and than the model was told, into the calls of a trace.
pub(super) fn mark_differences(trace: &mut Value, known: &OwnCallsInTrace, own: &[OwnCall]) {
    for (call, attempts) in known.attempts.iter().enumerate() {
        let Some(last) = attempts.last().map(|last| &own[*last]) else {
            continue;
        };
        let results = list(trace, "tool_results").iter();
        let mut told = results.filter(|result| result["call_index"] == call);
        let told = told.next().map(|result| result["result"].clone());
        let Some(written) = trace["tool_calls"].get_mut(call) else {
            continue;
        };
        let mut differing = json!({});
        let args = differing_args(&written["args"], &last.args);
        if let Some(args) = &args {
            differing["args"] = args.clone();
        }
        if let (Ending::Result(value), Some(told)) = (&last.ending, &told)
            && !is_same_result(told, value)
        {
            differing["result"] = value.clone();
        }
        if attempts.len() > 1 {
            let each = attempts.iter().map(|attempt| {
                let own = &own[*attempt];
                let mut written_attempt = json!({});
                if let Some(args) = differing_args(&written["args"], &own.args) {
                    written_attempt["args"] = args;
                }
                own.ending.write_end(&mut written_attempt);
                if let Some(mark) = own.fault() {
                    written_attempt["synthesized"] = mark.clone();
                }
                written_attempt
            });
            differing["attempts"] = each.collect();
        }
        if last.ending == Ending::Left {
            differing["left"] = true.into();
        }
        if last.by.is_some() {
            differing["by"] = "suite".into();
        }
        if differing.as_object().is_some_and(|all| !all.is_empty()) {
            written["own"] = differing;
        }
    }
}

/// The arguments of the code, where they are not the model's.
fn differing_args(model: &Value, own: &Value) -> Option<Value> {
    let (mut args, _) = kept_args(model, own);
    blob::condense_arguments(&mut args);
    (!json_eq(&args, model)).then_some(args)
}

/// Whether the model was told what a tool gave, and nothing else.
fn is_same_result(told: &Value, value: &Value) -> bool {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let said = json!({ "content": [{ "type": "text", "text": text }], "structuredContent": value });
    is_as_sent(told, &said)
}

/// The calls at the door, in their order.
pub(super) fn to_json(
    trace: &Value,
    known: &OwnCallsInTrace,
    found: &OwnCalls,
    own: &[OwnCall],
) -> Vec<Value> {
    let mut call_of: Vec<Option<usize>> = vec![None; own.len()];
    for (call, attempts) in known.attempts.iter().enumerate() {
        for attempt in attempts {
            call_of[*attempt] = Some(call);
        }
    }
    let all = own.iter().enumerate().map(|(place, one)| {
        let mut written = one.to_json();
        if let Some(call) = call_of[place] {
            written["call"] = call.into();
            if known.in_text.contains(&call) {
                written["in_text"] = true.into();
            } else {
                let (args, omitted) = kept_args(&trace["tool_calls"][call]["args"], &one.args);
                written["args"] = args;
                if !omitted.is_empty() {
                    written["omitted"] = omitted.into();
                }
            }
        }
        if found.late.contains(&place) {
            written["late"] = true.into();
        }
        if let Some(inside) = found.inside[place] {
            written["inside"] = inside.into();
        }
        if !found.open[place].is_empty() {
            written["ids_open"] = json!(found.open[place]);
        }
        written
    });
    all.collect()
}

/// Writes into what went by which runs of own tools were open when it began.
pub(super) fn mark_open_runs(
    session: &mut Value,
    calls: &ModelCalls,
    observed: &[Observed],
    mcp: &McpTraffic,
    own: &[OwnCall],
) {
    if own.is_empty() {
        return;
    }
    let put = |written: Option<&mut Value>, at: u64| {
        let open = open_at(own, at);
        if let Some(written) = written.filter(|_| !open.is_empty()) {
            written["during"] = json!(open);
        }
    };
    for (index, conversation) in calls.conversations.iter().enumerate() {
        let answers = &mut session["conversations"][index]["answers"];
        for (place, model) in conversation.answered_calls().enumerate() {
            put(answers.get_mut(place), model.tick);
        }
    }
    let others = observed.iter();
    let others = others.filter(|one| matches!(one.outcome, Outcome::Other { .. }));
    for (place, one) in others.enumerate() {
        put(session.pointer_mut(&format!("/others/{place}")), one.tick);
    }
    for (index, server) in mcp.servers.iter().enumerate() {
        let made = mcp.calls.iter().filter(|call| call.server == *server);
        for (place, call) in made.enumerate() {
            let at = format!("/mcp/{index}/calls/{place}");
            put(session.pointer_mut(&at), call.tick);
        }
    }
}
