//! MCP servers, played: what they listed and answered when the run was recorded.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use mcptest_trace::trace::Trace;
use serde_json::{Value, json};

use super::call_index::{CallIndex, GivenCalls, call_key};
use super::offered_tools::OfferedTool;
use crate::json::{list, nonempty_string};

/// A server as it was recorded.
#[derive(Debug, Clone, Default)]
pub(super) struct RecordedServer {
    pub(super) name: String,
    /// It stood at the address when the run was recorded, so that its calls are those that were made.
    pub(super) seen: bool,
    /// What it was asked besides calls.
    pub(super) answers: Vec<RecordedAnswer>,
    /// The answers by what they were asked, and by the method alone.
    pub(super) answer_index: HashMap<String, Vec<usize>>,
    pub(super) by_method: HashMap<String, Vec<usize>>,
    /// Its calls, in their order.
    pub(super) calls: Vec<ServerCall>,
    /// The calls by what they ask.
    pub(super) index: CallIndex,
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
    pub(super) method: String,
    pub(super) params: Value,
    pub(super) result: Option<Value>,
    pub(super) error: Option<Value>,
}

/// A call that a server answered.
#[derive(Debug, Clone, Default)]
pub(super) struct ServerCall {
    pub(super) tool: String,
    pub(super) args: Value,
    pub(super) result: Option<Value>,
    pub(super) error: Option<Value>,
    /// The call of the trace that it is.
    pub(super) index: Option<usize>,
}

/// How far the servers are played: how often each answer and each call was given.
#[derive(Debug, Clone, Default)]
pub(super) struct ServersState {
    pub(super) given: HashSet<(usize, usize)>,
    /// How often calls were given, by what they ask, for each server.
    pub(super) next: HashMap<usize, GivenCalls>,
    /// How many calls were made that no call of a server is.
    pub(super) unknown: usize,
    pub(super) answers: HashMap<(usize, String), usize>,
}

/// The servers of a recording.
pub(super) fn read_servers(
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
                let mut said = to_tool_result(&result.result);
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
            match nonempty_string(call, "name") {
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
                method: nonempty_string(answer, "method")?,
                params: answer["params"].clone(),
                result: answer.get("result").cloned(),
                error: answer.get("error").cloned(),
            })
        });
        servers.push(RecordedServer {
            name: nonempty_string(one, "server").unwrap_or_default(),
            seen: true,
            answers: answers.collect(),
            calls: calls.collect(),
            ..RecordedServer::default()
        });
    }
    // Another recorder wrote down the calls alone, each with its server.
    let of_session = list(field, "mcp").iter();
    let of_session: HashSet<&str> = of_session
        .filter_map(|one| one["server"].as_str())
        .collect();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (index, call) in trace.tool_calls.iter().enumerate() {
        let name = call.server.as_str();
        if name.is_empty() || of_session.contains(name) {
            continue;
        }
        let place = *places.entry(name).or_insert_with(|| {
            servers.push(RecordedServer::without_calls(name));
            servers.len() - 1
        });
        servers[place].calls.push(of_trace(index));
    }
    for server in &mut servers {
        server.tools = listed_tools(server, tools);
        let calls = server.calls.iter();
        server.index =
            CallIndex::from_calls(calls.map(|call| (call.tool.as_str(), call.arguments())));
        for (place, answer) in server.answers.iter().enumerate() {
            let params = without_meta(&answer.params);
            let same = server.answer_index.entry(call_key(&answer.method, &params));
            same.or_default().push(place);
            let same = server.by_method.entry(answer.method.clone()).or_default();
            same.push(place);
        }
    }
    servers
}

/// The tools of a server, as its list would have them.
fn listed_tools(server: &RecordedServer, tools: Option<&[OfferedTool]>) -> Vec<Value> {
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
    let names = listed.iter().filter_map(|tool| tool["name"].as_str());
    let mut names: HashSet<String> = names.map(str::to_owned).collect();
    for call in &server.calls {
        if names.insert(call.tool.clone()) {
            listed.push(json!({ "name": call.tool, "inputSchema": { "type": "object" } }));
        }
    }
    listed
}

impl ServersState {
    /// The recorded calls that nobody made: the server, the place, and the call.
    pub(super) fn missing_calls<'s>(
        &'s self,
        servers: &'s [RecordedServer],
    ) -> impl Iterator<Item = (&'s RecordedServer, usize, &'s ServerCall)> {
        let servers = servers.iter().enumerate();
        let seen = servers.filter(|(_, server)| server.seen);
        seen.flat_map(move |(place, server)| {
            let calls = server.calls.iter().enumerate();
            let calls = calls.filter(move |(number, _)| !self.given.contains(&(place, *number)));
            calls.map(move |(number, call)| (server, number, call))
        })
    }
}

impl ServerCall {
    /// The call of the trace that it is, where the model asked for it.
    pub(super) fn trace_index(&self) -> Option<usize> {
        self.index
    }

    /// Its arguments; none are an empty object.
    pub(super) fn arguments(&self) -> Cow<'_, Value> {
        match &self.args {
            Value::Null => Cow::Owned(json!({})),
            args => Cow::Borrowed(args),
        }
    }
}

/// A result as MCP has results.
pub(super) fn to_tool_result(result: &Value) -> Value {
    if result.get("content").is_some_and(Value::is_array) {
        return result.clone();
    }
    let text = match result {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// The parameters of a request without what says nothing to the server.
pub(super) fn without_meta(params: &Value) -> Value {
    let mut params = params.clone();
    if let Some(params) = params.as_object_mut() {
        params.remove("_meta");
    }
    params
}
