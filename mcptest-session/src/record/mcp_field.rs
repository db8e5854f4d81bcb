//! What went by at MCP servers, in the field `session`: what playing needs and the trace does not tell.

use std::collections::{BTreeMap, HashMap, HashSet};

use mcptest_trace::text::pluralize;
use serde_json::{Value, json};

use super::conversation::Conversation;
use super::mcp_calls::McpCalls;
use super::options::RunOptions;
use super::writing::split_name;
use crate::mcp::{McpCall, McpTraffic, NameIndex, variable_of};

/// The servers, each with what it was asked besides calls, and its calls in their order. A call that the trace has is
/// there by its index alone, unless its result is another than that which the model was told.
pub(super) fn to_json(
    seen: &McpTraffic,
    calls: &McpCalls,
    in_trace: &[(usize, usize, bool)],
    names: &WireNames,
) -> Option<Value> {
    if seen.servers.is_empty() {
        return None;
    }
    let mut of_trace: HashMap<usize, (usize, bool)> = HashMap::new();
    for (place, index, is_told) in in_trace {
        of_trace.entry(*place).or_insert((*index, *is_told));
    }
    let unasked: HashSet<usize> = calls.unasked.iter().copied().collect();
    let servers = seen.servers.iter().map(|server| {
        let answers = seen
            .answers
            .iter()
            .filter(|answer| answer.server == *server);
        let answers = answers.map(|answer| {
            let mut written = json!({ "method": answer.method });
            for (key, value) in [
                ("params", Some(&answer.params)),
                ("result", answer.result.as_ref()),
                ("error", answer.error.as_ref()),
            ] {
                if let Some(value) = value.filter(|value| !value.is_null()) {
                    written[key] = value.clone();
                }
            }
            written
        });
        let own = seen.calls.iter().enumerate();
        let own = own.filter(|(_, call)| call.server == *server);
        let own = own.map(|(place, call)| match of_trace.get(&place) {
            Some((index, true)) => json!({ "call_index": index }),
            Some((index, false)) => {
                let mut written = call_json(call);
                written["call_index"] = (*index).into();
                written
            }
            None => {
                let mut written = call_json(call);
                if unasked.contains(&place) {
                    written["unasked"] = true.into();
                }
                written
            }
        });
        let mut written = json!({
            "server": server,
            "answers": answers.collect::<Vec<_>>(),
            "calls": own.collect::<Vec<_>>(),
        });
        if let Some(names) = names.get(server) {
            written["names"] = json!(names);
        }
        written
    });
    Some(servers.collect())
}

/// For each server, the names that the model has for its tools, where the trace has others and the server's name does not
/// stand before the tool's as usual.
pub(super) type WireNames = BTreeMap<String, BTreeMap<String, String>>;

/// What the model calls the tools of the servers.
pub(super) fn wire_names(
    conversations: &[Conversation],
    options: &RunOptions,
    known: &NameIndex,
    calls: &McpCalls,
) -> WireNames {
    let mut names = WireNames::new();
    let is_other = |wire: &str, (server, tool): &(&str, &str)| {
        split_name(wire, &options.servers) != (Some(*server), *tool)
    };
    let mut add = |wire: &str, (server, tool): (&str, &str)| {
        let own = names.entry(server.to_owned()).or_default();
        own.insert(wire.to_owned(), tool.to_owned());
    };
    // Each request offers the tools again.
    let mut offered: HashMap<&str, Option<(&str, &str)>> = HashMap::new();
    for (index, conversation) in conversations.iter().enumerate() {
        for (place, call) in conversation.calls.iter().enumerate() {
            for tool in call.asked.tools.iter() {
                let wire = tool.name.as_str();
                let meant = || known.resolve(wire).filter(|meant| is_other(wire, meant));
                if let Some(meant) = *offered.entry(wire).or_insert_with(meant) {
                    add(wire, meant);
                }
            }
            for (number, made) in call.said.calls().enumerate() {
                let seen = calls.of_model.get(&(index, place, number));
                let seen = seen.and_then(|seen| options.mcp.calls.get(*seen));
                let meant = seen.map(|seen| (seen.server.as_str(), seen.tool.as_str()));
                if let Some(meant) = meant.filter(|meant| is_other(&made.name, meant)) {
                    add(&made.name, meant);
                }
            }
        }
    }
    names
}

/// What whoever records should know of the servers.
pub(super) fn notes(
    seen: &McpTraffic,
    calls: &McpCalls,
    in_trace: &[(usize, usize, bool)],
) -> Vec<String> {
    let mut notes = Vec::new();
    for server in &seen.servers {
        let is_asked = seen.answers.iter().any(|answer| answer.server == *server)
            || seen.calls.iter().any(|call| call.server == *server);
        if !is_asked {
            notes.push(format!(
                "the agent sent nothing to the server `{server}`: let the agent's client take the server's address from {}",
                variable_of(server)
            ));
        }
    }
    let unasked = calls
        .unasked
        .iter()
        .filter_map(|place| seen.calls.get(*place));
    let mut unasked: Vec<String> = unasked
        .map(|call| format!("`{}` of `{}`", call.tool, call.server))
        .collect();
    if !unasked.is_empty() {
        let count = pluralize(unasked.len(), "call");
        unasked.dedup();
        notes.push(format!(
            "{count} of MCP tools that the model did not ask for: {}",
            unasked.join(", ")
        ));
    }
    let other = in_trace.iter().filter(|(place, _, is_told)| {
        let call = seen.calls.get(*place);
        !is_told && call.is_some_and(|call| call.result.is_some())
    });
    let other = other.count();
    if other > 0 {
        let results = pluralize(other, "result");
        notes.push(format!(
            "in {results}, the model got something else than the MCP server sent"
        ));
    }
    notes
}

fn call_json(call: &McpCall) -> Value {
    let mut written = json!({ "name": call.tool, "args": call.args });
    for (key, value) in [
        ("result", call.result.clone()),
        ("error", call.error.clone()),
        ("synthesized", call.synthesized.clone()),
        ("duration_ms", call.duration_ms().map(Value::from)),
    ] {
        if let Some(value) = value {
            written[key] = value;
        }
    }
    written
}
