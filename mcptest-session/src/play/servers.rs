//! MCP servers, played: what they listed and answered when the run was recorded.

use axum::http::{Method, StatusCode};
use axum::response::Response;
use mcptest_trace::trace::{Trace, canonical_json, json_eq};
use serde_json::{Value, json};

use super::offered::OfferedTool;
use super::texts::same;
use crate::endpoint::Incoming;
use crate::json::{list, named};
use crate::mcp::path_of;
use crate::mcp::rpc;

/// A server as it was recorded.
#[derive(Debug, Clone, Default)]
pub(super) struct RecordedServer {
    pub(super) name: String,
    /// It stood at the address when the run was recorded, so that its calls are those that were made.
    seen: bool,
    /// What it was asked besides calls.
    pub(super) answers: Vec<RecordedAnswer>,
    /// Its calls, in their order.
    pub(super) calls: Vec<ServerCall>,
    /// The tools that it has, where no list of its own was recorded.
    pub(super) tools: Vec<Value>,
}

impl RecordedServer {
    /// A server that was not called.
    pub(super) fn without_calls(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }
}

/// A request that calls no tool, and its answer.
#[derive(Debug, Clone, Default)]
pub(super) struct RecordedAnswer {
    method: String,
    params: Value,
    result: Option<Value>,
    error: Option<Value>,
}

/// A call that a server answered.
#[derive(Debug, Clone, Default)]
pub(super) struct ServerCall {
    pub(super) tool: String,
    pub(super) args: Value,
    result: Option<Value>,
    error: Option<Value>,
    /// The call of the trace that it is.
    index: Option<usize>,
}

/// How far the servers are played: how often each answer and each call was given.
#[derive(Debug, Clone, Default)]
pub(super) struct ServersState {
    given: Vec<(usize, usize)>,
    answers: Vec<((usize, String, String), usize)>,
}

/// What a request to a server came to.
pub(super) struct Reply {
    pub(super) response: Response,
    /// What is told where it was not recorded: a path, and words.
    pub(super) divergence: Option<(String, String, Option<Value>, Option<Value>)>,
}

impl Reply {
    fn message(message: &Value) -> Self {
        Self {
            response: rpc::whole(StatusCode::OK, message.to_string()),
            divergence: None,
        }
    }
}

/// The servers of a recording.
pub(super) fn of(
    field: &Value,
    trace: &Trace,
    tools: Option<&[OfferedTool]>,
) -> Vec<RecordedServer> {
    let results = trace.results_by_call();
    let of_trace = |index: usize| {
        let call = &trace.tool_calls[index];
        ServerCall {
            tool: call.name.clone(),
            args: Value::clone(&call.args),
            result: results[index].map(|result| {
                let mut said = as_result(&result.result);
                // A recorder that keeps no results as MCP has them keeps the flag beside them.
                if result.is_error && said.get("isError").is_none() {
                    said["isError"] = true.into();
                }
                said
            }),
            error: None,
            index: Some(index),
        }
    };
    let mut servers: Vec<RecordedServer> = Vec::new();
    for one in list(field, "mcp") {
        let calls = list(one, "calls").iter().filter_map(|call| {
            let index = call["call_index"]
                .as_u64()
                .and_then(|index| usize::try_from(index).ok());
            let index = index.filter(|index| *index < trace.tool_calls.len());
            match named(call, "name") {
                Some(tool) => Some(ServerCall {
                    tool,
                    args: call["args"].clone(),
                    result: call.get("result").cloned(),
                    error: call.get("error").cloned(),
                    index,
                }),
                None => index.map(of_trace),
            }
        });
        let answers = list(one, "answers").iter().filter_map(|answer| {
            Some(RecordedAnswer {
                method: named(answer, "method")?,
                params: answer["params"].clone(),
                result: answer.get("result").cloned(),
                error: answer.get("error").cloned(),
            })
        });
        servers.push(RecordedServer {
            name: named(one, "server").unwrap_or_default(),
            seen: true,
            answers: answers.collect(),
            calls: calls.collect(),
            tools: Vec::new(),
        });
    }
    // Another recorder wrote down the calls alone, each with its server.
    for (index, call) in trace.tool_calls.iter().enumerate() {
        let known = list(field, "mcp")
            .iter()
            .any(|one| one["server"] == call.server.as_str());
        if call.server.is_empty() || known {
            continue;
        }
        let place = servers.iter().position(|server| server.name == call.server);
        let place = place.unwrap_or_else(|| {
            servers.push(RecordedServer {
                name: call.server.clone(),
                ..RecordedServer::default()
            });
            servers.len() - 1
        });
        servers[place].calls.push(of_trace(index));
    }
    for server in &mut servers {
        server.tools = listed(server, tools);
    }
    servers
}

/// The tools of a server, as its list would have them.
fn listed(server: &RecordedServer, tools: Option<&[OfferedTool]>) -> Vec<Value> {
    let own = tools.into_iter().flatten();
    let own = own.filter(|it| it.server.as_ref().is_none_or(|name| *name == server.name));
    let mut listed: Vec<Value> = own
        .map(|it| {
            let mut tool = json!({ "name": it.tool.name });
            if let Some(description) = &it.tool.description {
                tool["description"] = description.as_str().into();
            }
            tool["inputSchema"] = it
                .tool
                .schema
                .clone()
                .unwrap_or_else(|| json!({ "type": "object" }));
            tool
        })
        .collect();
    // What was called was there.
    for call in &server.calls {
        if !listed.iter().any(|tool| tool["name"] == call.tool.as_str()) {
            listed.push(json!({ "name": call.tool, "inputSchema": { "type": "object" } }));
        }
    }
    listed
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
            response: rpc::refused(StatusCode::NOT_FOUND, &Value::Null, text),
            divergence: Some((path.to_owned(), format!("`{path}`: {text}"), None, None)),
        };
    };
    let bare = |status| Reply {
        response: rpc::nothing(status),
        divergence: None,
    };
    if incoming.method == Method::DELETE {
        return bare(StatusCode::OK);
    }
    if incoming.method != Method::POST {
        return bare(StatusCode::METHOD_NOT_ALLOWED);
    }
    let Ok(message) = serde_json::from_slice::<Value>(&incoming.body) else {
        let text = "the request is no JSON";
        return Reply {
            response: rpc::refused(StatusCode::BAD_REQUEST, &Value::Null, text),
            divergence: Some((path.to_owned(), format!("`{path}`: {text}"), None, None)),
        };
    };
    if let Value::Array(messages) = &message {
        return batch(servers, state, place, messages);
    }
    one(servers, state, place, &message).map_or_else(
        || bare(StatusCode::ACCEPTED),
        |(answer, divergence)| Reply {
            divergence,
            ..Reply::message(&answer)
        },
    )
}

type Told = Option<(String, String, Option<Value>, Option<Value>)>;

/// Several messages in one request, as older clients send them.
fn batch(
    servers: &[RecordedServer],
    state: &mut ServersState,
    place: usize,
    messages: &[Value],
) -> Reply {
    let (mut answers, mut told) = (Vec::new(), None);
    for message in messages {
        if let Some((answer, divergence)) = one(servers, state, place, message) {
            answers.push(answer);
            told = told.or(divergence);
        }
    }
    if answers.is_empty() {
        return Reply {
            response: rpc::nothing(StatusCode::ACCEPTED),
            divergence: None,
        };
    }
    Reply {
        divergence: told,
        ..Reply::message(&Value::Array(answers))
    }
}

/// The answer to one message; nothing for one that wants none.
pub(super) fn one(
    servers: &[RecordedServer],
    state: &mut ServersState,
    place: usize,
    message: &Value,
) -> Option<(Value, Told)> {
    let id = message.get("id").filter(|id| !id.is_null())?;
    let method = message["method"].as_str()?;
    let server = &servers[place];
    if method == "tools/call" {
        return Some(call(server, state, place, id, &message["params"]));
    }
    let params = without_meta(&message["params"]);
    let fitting: Vec<&RecordedAnswer> = server
        .answers
        .iter()
        .filter(|answer| answer.method == method)
        .collect();
    let exact: Vec<&RecordedAnswer> = fitting
        .iter()
        .copied()
        .filter(|answer| json_eq(&without_meta(&answer.params), &params))
        .collect();
    // Who a client says that it is, is no matter of the server's answer.
    let fitting = match (exact.is_empty(), method) {
        (true, "initialize" | "tools/list") if params.get("cursor").is_none() => fitting,
        _ => exact,
    };
    if !fitting.is_empty() {
        let key = (place, method.to_owned(), canonical_json(&params));
        let known = state.answers.iter().position(|(own, _)| *own == key);
        let known = known.unwrap_or_else(|| {
            state.answers.push((key, 0));
            state.answers.len() - 1
        });
        let times = &mut state.answers[known].1;
        let answer = fitting.get(*times).or(fitting.last())?;
        *times += 1;
        return Some((
            answered(id, answer.result.as_ref(), answer.error.as_ref()),
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
                "`{method}` was not asked of the server `{}` when the run was recorded",
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

fn without_meta(params: &Value) -> Value {
    let mut params = params.clone();
    if let Some(params) = params.as_object_mut() {
        params.remove("_meta");
    }
    params
}

fn answered(id: &Value, result: Option<&Value>, error: Option<&Value>) -> Value {
    match (result, error) {
        (_, Some(error)) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
        (Some(result), None) => rpc::result(id, result),
        (None, None) => rpc::error(id, "the server gave no answer when the run was recorded"),
    }
}

/// A call: the answer to an equal one, in their order.
fn call(
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
    let mut equal = 0;
    for (number, call) in server.calls.iter().enumerate() {
        if call.tool != tool || !same(&arguments(call), &args, &[]) {
            continue;
        }
        equal += 1;
        if !state.given.contains(&(place, number)) {
            state.given.push((place, number));
            let result = call.result.as_ref().map(as_result);
            return (answered(id, result.as_ref(), call.error.as_ref()), None);
        }
    }
    let (words, recorded) = if equal > 0 {
        let times = mcptest_trace::text::counted(equal, "time");
        (
            format!(
                "`{tool}` was called so {times} when the run was recorded, and is called once more"
            ),
            None,
        )
    } else {
        match nearest(server, tool, &args) {
            Some(near) => {
                let recorded = arguments(near);
                let words = if near.tool == tool {
                    format!(
                        "`{tool}` was not called with these arguments; the nearest recorded call has {}",
                        canonical_json(&recorded)
                    )
                } else {
                    format!(
                        "`{tool}` was not called; the nearest recorded call is `{}` with {}",
                        near.tool,
                        canonical_json(&recorded)
                    )
                };
                (words, Some(recorded))
            }
            None => (
                format!("`{tool}` was not called, nor any other tool of this server"),
                None,
            ),
        }
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

fn arguments(call: &ServerCall) -> Value {
    match &call.args {
        Value::Null => json!({}),
        args => args.clone(),
    }
}

/// A result as MCP has results.
fn as_result(result: &Value) -> Value {
    if result.get("content").is_some_and(Value::is_array) {
        return result.clone();
    }
    let text = match result {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// The recorded call that is most like one: of the same tool, with the fewest members that differ.
fn nearest<'s>(server: &'s RecordedServer, tool: &str, args: &Value) -> Option<&'s ServerCall> {
    let differing = |call: &&ServerCall| {
        let empty = serde_json::Map::new();
        let recorded = arguments(call);
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

impl ServersState {
    /// The recorded calls that nobody made: the server, the call, and the call of the trace that it is.
    pub(super) fn unmade<'s>(
        &self,
        servers: &'s [RecordedServer],
    ) -> impl Iterator<Item = (&'s RecordedServer, &'s ServerCall)> {
        let given = self.given.clone();
        let servers = servers.iter().enumerate();
        let seen = servers.filter(|(_, server)| server.seen);
        seen.flat_map(move |(place, server)| {
            let given = given.clone();
            let calls = server.calls.iter().enumerate();
            let calls = calls.filter(move |(number, _)| !given.contains(&(place, *number)));
            calls.map(move |(_, call)| (server, call))
        })
    }
}

impl ServerCall {
    /// The call of the trace that it is, where the model asked for it.
    pub(super) fn of_trace(&self) -> Option<usize> {
        self.index
    }
}
