//! Items of the Responses API.

use serde_json::{Map, Value, json};

use super::{chat, tokens};
use crate::import::event::{Answer, Call, Event, ForeignRun, Stop};
use crate::import::json::{given, identifier, list, text, word};

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

/// Reads a call: what is new of its input, and its output. `seen` is how many items of the input are
/// known; what the next call knows is returned.
pub(super) fn read_call(
    request: &Value,
    response: &Value,
    seen: usize,
    run: &mut ForeignRun,
) -> usize {
    let instructions = ["instructions"].iter().find_map(|key| {
        let own = given(request, key).or_else(|| given(response, key))?;
        Some(chat::text_of(Some(own)))
    });
    if run.system_prompt.is_none() {
        run.system_prompt = instructions.filter(|text| !text.is_empty());
    }
    let continues = given(request, "previous_response_id").is_some();
    let known = match request.get("input") {
        Some(Value::Array(items)) => {
            let new = if continues {
                items.as_slice()
            } else {
                items.get(seen..).unwrap_or_default()
            };
            read_items(new, run);
            items.len()
        }
        Some(input) => {
            run.user(chat::text_of(Some(input)));
            1
        }
        None => 0,
    };
    run.step(tokens(response.get("usage")));
    let output = list(response, "output");
    for item in output {
        read_item(item, run);
    }
    run.stop = match text(response, "status") {
        Some("incomplete") => {
            let why = given(response, "incomplete_details");
            let why = why
                .and_then(|why| word(why, "reason"))
                .unwrap_or("incomplete");
            Some(Stop::Spelt(why.to_owned()))
        }
        Some("failed" | "cancelled") => Some(Stop::Known("error")),
        Some(status) => {
            let asks = output.last().and_then(|item| text(item, "type"));
            let asks =
                asks.is_some_and(|kind| kind == "function_call" || kind == "custom_tool_call");
            Some(Stop::Spelt(
                if asks { "tool_calls" } else { status }.to_owned(),
            ))
        }
        None => None,
    };
    known + output.len()
}

/// Reads items that were sent. Those of the model that follow one another are one model call.
pub(super) fn read_items(items: &[Value], run: &mut ForeignRun) {
    let mut in_answer = false;
    let mut leading = run.events.is_empty();
    let mut system = Vec::from_iter(run.system_prompt.take());
    for item in items {
        let kind = text(item, "type").unwrap_or("message");
        let role = text(item, "role").unwrap_or("user");
        if kind == "message" && role != "assistant" {
            in_answer = false;
            let said = chat::text_of(item.get("content"));
            match role {
                "system" | "developer" if leading => system.push(said),
                "user" => run.user(said),
                other => run.turn(other, said),
            }
            leading &= role != "user";
            continue;
        }
        leading = false;
        if kind.ends_with("_output") {
            in_answer = false;
        } else if !in_answer && kind != "item_reference" {
            in_answer = true;
            run.step(None);
        }
        read_item(item, run);
    }
    if !system.is_empty() {
        run.system_prompt = Some(system.join("\n\n"));
    }
}

fn read_item(item: &Value, run: &mut ForeignRun) {
    let kind = text(item, "type").unwrap_or("message");
    match kind {
        "message" => {
            let refuses = |part: &Value| text(part, "type") == Some("refusal");
            run.refused |= list(item, "content").iter().any(refuses);
            run.said(chat::text_of(item.get("content")));
        }
        "function_call" | "custom_tool_call" => run.push(Event::Call(function_call(item, kind))),
        "mcp_call" => mcp_call(item, run),
        "mcp_list_tools" => run.note("lists of tools left out"),
        "mcp_approval_request" | "mcp_approval_response" => run.note("approvals left out"),
        "reasoning" => run.note("reasoning left out"),
        "compaction" => run.note("compaction left out"),
        "item_reference" => {
            let id = text(item, "id").unwrap_or_default();
            run.lose(
                "item that is elsewhere",
                format!("the item `{id}` is only referred to"),
            );
        }
        other if other.ends_with("_output") => run.push(Event::Answer(Answer {
            id: identifier(item, "call_id"),
            value: item.get("output").cloned().unwrap_or_default(),
            is_error: None,
        })),
        other => match other.strip_suffix("_call") {
            Some(tool) => built_in(tool, item, run),
            None => run.lose(
                "item of an unknown type",
                mcptest_trace::trace::canonical_json(item),
            ),
        },
    }
}

fn function_call(item: &Value, kind: &str) -> Call {
    let namespace = word(item, "namespace");
    let caller = given(item, "caller").filter(|caller| text(caller, "type") == Some("program"));
    Call {
        id: identifier(item, "call_id"),
        name: text(item, "name").unwrap_or_default().to_owned(),
        server: namespace.map(|it| it.strip_prefix("mcp__").unwrap_or(it).to_owned()),
        args: if kind == "custom_tool_call" {
            json!({ "input": item.get("input") })
        } else {
            item.get("arguments").cloned().unwrap_or_default()
        },
        caller: caller
            .map(|caller| json!({ "kind": "code_execution", "tool_id": caller.get("caller_id") })),
        ..Call::default()
    }
}

/// Call and result in one.
fn mcp_call(item: &Value, run: &mut ForeignRun) {
    let id = identifier(item, "id");
    run.push(Event::Call(Call {
        id: id.clone(),
        name: text(item, "name").unwrap_or_default().to_owned(),
        server: word(item, "server_label").map(str::to_owned),
        args: item.get("arguments").cloned().unwrap_or_default(),
        ..Call::default()
    }));
    let error = given(item, "error");
    let output = given(item, "output");
    let failed = error.is_some() || failed(item);
    if failed || output.is_some() {
        run.push(Event::Answer(Answer {
            id,
            value: output.or(error).cloned().unwrap_or_default(),
            is_error: Some(failed),
        }));
    }
}

/// A tool that the provider runs itself.
fn built_in(tool: &str, item: &Value, run: &mut ForeignRun) {
    let empty = Map::new();
    let fields = item.as_object().unwrap_or(&empty);
    let own_id = identifier(item, "call_id");
    let id = own_id.clone().or_else(|| identifier(item, "id"));
    let is_about = |key: &str| ABOUT.contains(&key) || FOUND.contains(&key);
    let args: Map<String, Value> = fields
        .iter()
        .filter(|(key, value)| !is_about(key) && !value.is_null())
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    run.push(Event::Call(Call {
        id: id.clone(),
        name: tool.to_owned(),
        args: Value::Object(args),
        ..Call::default()
    }));
    let found = FOUND.iter().find_map(|key| given(item, key));
    if found.is_some() || failed(item) {
        run.push(Event::Answer(Answer {
            id,
            value: found.cloned().unwrap_or_default(),
            is_error: failed(item).then_some(true),
        }));
    }
}

/// Whether a call failed, with or without anything that came back.
fn failed(item: &Value) -> bool {
    text(item, "status") == Some("failed")
}
