//! What played MCP servers answer.

use axum::http::{Method, StatusCode};
use axum::response::Response;
use mcptest_trace::trace::canonical_json;
use serde_json::{Value, json};

use super::call_index;
use super::servers::{RecordedServer, ServerCall, ServersState, to_tool_result, without_meta};
use crate::endpoint::Incoming;
use crate::lossless::{Parsed, parse};
use crate::mcp::path_of;
use crate::mcp::rpc;

/// For so many calls that were not recorded, the nearest recorded call is looked for among all.
const MOST_NEAREST: usize = 100;

/// What a request to a server came to.
pub(super) struct Reply {
    pub(super) response: Response,
    /// What is told where it was not recorded: a path, and words.
    pub(super) divergence: Option<(String, String, Option<Value>, Option<Value>)>,
}

impl Reply {
    fn message(message: &Value) -> Self {
        Self {
            response: rpc::message_response(StatusCode::OK, message.to_string()),
            divergence: None,
        }
    }
}

/// Answers a request to a server.
pub(super) fn reply(
    servers: &[RecordedServer],
    state: &mut ServersState,
    incoming: &Incoming,
) -> Reply {
    let path = incoming.path.strip_suffix('/').unwrap_or(&incoming.path);
    let found = servers
        .iter()
        .position(|server| path_of(&server.name) == path);
    let Some(place) = found else {
        let text = "the recording has no such server";
        return Reply {
            response: rpc::error_response(StatusCode::NOT_FOUND, &Value::Null, text),
            divergence: Some((path.to_owned(), format!("`{path}`: {text}"), None, None)),
        };
    };
    let bare = |status| Reply {
        response: rpc::empty_response(status),
        divergence: None,
    };
    if incoming.method == Method::DELETE {
        return bare(StatusCode::OK);
    }
    if incoming.method != Method::POST {
        return bare(StatusCode::METHOD_NOT_ALLOWED);
    }
    let Ok(Parsed { value: message, .. }) = parse(&incoming.body) else {
        let text = "the request is no JSON";
        return Reply {
            response: rpc::error_response(StatusCode::BAD_REQUEST, &Value::Null, text),
            divergence: Some((path.to_owned(), format!("`{path}`: {text}"), None, None)),
        };
    };
    if let Value::Array(messages) = &message {
        return reply_to_batch(servers, state, place, messages);
    }
    reply_to_message(servers, state, place, &message).map_or_else(
        || bare(StatusCode::ACCEPTED),
        |(answer, divergence)| Reply {
            divergence,
            ..Reply::message(&answer)
        },
    )
}

type Told = Option<(String, String, Option<Value>, Option<Value>)>;

/// Several messages in one request, as older clients send them.
fn reply_to_batch(
    servers: &[RecordedServer],
    state: &mut ServersState,
    place: usize,
    messages: &[Value],
) -> Reply {
    let (mut answers, mut told) = (Vec::new(), None);
    for message in messages {
        if let Some((answer, divergence)) = reply_to_message(servers, state, place, message) {
            answers.push(answer);
            told = told.or(divergence);
        }
    }
    if answers.is_empty() {
        return Reply {
            response: rpc::empty_response(StatusCode::ACCEPTED),
            divergence: None,
        };
    }
    Reply {
        divergence: told,
        ..Reply::message(&Value::Array(answers))
    }
}

/// The answer to one message; nothing for one that wants none.
pub(super) fn reply_to_message(
    servers: &[RecordedServer],
    state: &mut ServersState,
    place: usize,
    message: &Value,
) -> Option<(Value, Told)> {
    let id = message.get("id").filter(|id| !id.is_null())?;
    let method = message["method"].as_str()?;
    let server = &servers[place];
    if method == "tools/call" {
        return Some(reply_to_call(server, state, place, id, &message["params"]));
    }
    let params = without_meta(&message["params"]);
    let key = call_index::call_key(method, &params);
    let exact = server.answer_index.get(&key);
    // Who a client says that it is, is no matter of the server's answer.
    let fitting = match (exact, method) {
        (None, "initialize" | "tools/list") if params.get("cursor").is_none() => {
            server.by_method.get(method)
        }
        _ => exact,
    };
    if let Some(fitting) = fitting
        && let Some(last) = fitting.last()
    {
        let times = state.answers.entry((place, key)).or_default();
        let answer = &server.answers[*fitting.get(*times).unwrap_or(last)];
        *times += 1;
        return Some((
            response_json(id, answer.result.as_ref(), answer.error.as_ref()),
            None,
        ));
    }
    let result = match method {
        "initialize" => json!({
            "protocolVersion": message["params"].get("protocolVersion").cloned().unwrap_or("2025-06-18".into()),
            "capabilities": { "tools": {} },
            "serverInfo": { "name": server.name, "version": "recorded" },
        }),
        "tools/list" => json!({ "tools": server.tools }),
        "ping" | "logging/setLevel" => json!({}),
        _ => {
            let text = format!(
                "the recording has no request `{method}` to the server `{}`",
                server.name
            );
            let path = format!("servers[{}].{method}", server.name);
            return Some((
                rpc::error(id, &text),
                Some((path, text, None, Some(params))),
            ));
        }
    };
    Some((rpc::result(id, &result), None))
}

fn response_json(id: &Value, result: Option<&Value>, error: Option<&Value>) -> Value {
    match (result, error) {
        (_, Some(error)) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
        (Some(result), None) => rpc::result(id, result),
        (None, None) => rpc::error(id, "the server gave no answer when the run was recorded"),
    }
}

/// A call: the answer to an equal one, in their order.
fn reply_to_call(
    server: &RecordedServer,
    state: &mut ServersState,
    place: usize,
    id: &Value,
    params: &Value,
) -> (Value, Told) {
    let tool = params["name"].as_str().unwrap_or_default();
    let args = match &params["arguments"] {
        Value::Null => json!({}),
        args => args.clone(),
    };
    let given = state.next.entry(place).or_default();
    let equal = match server.index.give_next(given, tool, &args) {
        Ok(number) => {
            state.given.insert((place, number));
            let call = &server.calls[number];
            let result = call.result.as_ref().map(to_tool_result);
            return (
                response_json(id, result.as_ref(), call.error.as_ref()),
                None,
            );
        }
        Err(equal) => equal,
    };
    let (words, recorded) = if equal > 0 {
        let times = mcptest_trace::text::pluralize(equal, "time");
        (
            format!(
                "`{tool}` was called {times} with these arguments when the run was recorded, and the code calls it once more"
            ),
            None,
        )
    } else {
        state.unknown += 1;
        unrecorded_call(server, tool, &args, state.unknown <= MOST_NEAREST)
    };
    let text = format!("mcptest: {words}");
    let result = json!({ "content": [{ "type": "text", "text": text }], "isError": true });
    let path = format!("servers[{}].{tool}", server.name);
    let message = format!("{words} (server `{}`)", server.name);
    (
        rpc::result(id, &result),
        Some((path, message, recorded, Some(args))),
    )
}

/// What is said of a call that was not recorded, and the arguments of the nearest recorded one, if that is looked for.
fn unrecorded_call(
    server: &RecordedServer,
    tool: &str,
    args: &Value,
    looks: bool,
) -> (String, Option<Value>) {
    if !looks {
        let words = format!("the recording has no call of `{tool}` with these arguments");
        return (words, None);
    }
    let Some(near) = nearest_call(server, tool, args) else {
        let words = format!(
            "the recording has no call of `{tool}`, and no call of another tool of this server"
        );
        return (words, None);
    };
    let recorded = near.arguments().into_owned();
    let shown = canonical_json(&recorded);
    let words = if near.tool == tool {
        format!(
            "the recording has no call of `{tool}` with these arguments; the nearest recorded call has {shown}"
        )
    } else {
        format!(
            "the recording has no call of `{tool}`; the nearest recorded call is `{}` with {shown}",
            near.tool
        )
    };
    (words, Some(recorded))
}

/// The recorded call that is most like one: of the same tool, with the fewest members that differ.
fn nearest_call<'s>(
    server: &'s RecordedServer,
    tool: &str,
    args: &Value,
) -> Option<&'s ServerCall> {
    let differing = |call: &&ServerCall| {
        let empty = serde_json::Map::new();
        let recorded = call.arguments();
        let old = recorded.as_object().unwrap_or(&empty);
        let new = args.as_object().unwrap_or(&empty);
        let changed = old
            .iter()
            .filter(|(key, value)| new.get(*key) != Some(value))
            .count();
        let added = new.keys().filter(|key| !old.contains_key(*key)).count();
        (call.tool != tool, changed + added)
    };
    server.calls.iter().min_by_key(differing)
}
