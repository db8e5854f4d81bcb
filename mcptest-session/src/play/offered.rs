//! The tools that were offered, and what clients call them.

use std::collections::BTreeSet;

use mcptest_trace::trace::Trace;
use serde_json::Value;

use crate::exchange::Tool;
use crate::json::named;
use crate::record::split_name;

/// The name of a tool: its server, where that is known, and its name there.
pub(super) type ToolName = (Option<String>, String);

/// A tool as it was offered.
#[derive(Debug, Clone, Default)]
pub(super) struct OfferedTool {
    pub(super) server: Option<String>,
    pub(super) tool: Tool,
}

pub(super) fn offered(tools: &Value) -> Vec<OfferedTool> {
    let tools = tools.as_array().into_iter().flatten();
    tools
        .filter_map(|tool| {
            let (server, name) = match tool {
                Value::String(line) => {
                    let tool = mcptest_trace::trace::OfferedTool::in_line(line);
                    (tool.server, tool.name)
                }
                tool => (named(tool, "server"), named(tool, "name")?),
            };
            Some(OfferedTool {
                server,
                tool: Tool {
                    name,
                    description: named(tool, "description"),
                    schema: tool.get("input_schema").cloned(),
                },
            })
        })
        .collect()
}

pub(super) fn tool_names(tools: &[OfferedTool]) -> BTreeSet<ToolName> {
    let names = tools
        .iter()
        .map(|it| (it.server.clone(), it.tool.name.clone()));
    names.collect()
}

/// The tools of which the server is known.
pub(super) fn known_tools(
    trace: &Trace,
    tools: Option<&[OfferedTool]>,
) -> BTreeSet<(String, String)> {
    let of_calls = trace.tool_calls.iter();
    let of_calls = of_calls.map(|call| (call.server.clone(), call.name.clone()));
    let of_tools = tools.into_iter().flatten();
    let of_tools = of_tools.filter_map(|it| Some((it.server.clone()?, it.tool.name.clone())));
    let all = of_calls.chain(of_tools);
    all.filter(|(server, _)| !server.is_empty()).collect()
}

pub(super) fn server_names(trace: &Trace, tools: Option<&[OfferedTool]>) -> Vec<String> {
    let of_calls = trace.tool_calls.iter().map(|call| call.server.clone());
    let of_tools = tools
        .into_iter()
        .flatten()
        .filter_map(|it| it.server.clone());
    let mut servers: Vec<String> = of_calls.chain(of_tools).collect();
    servers.retain(|server| !server.is_empty());
    servers.sort_unstable();
    servers.dedup();
    servers
}

/// The tool that a name on the wire is of, as far as the name says it.
pub(super) fn tool_name(wire: &str, servers: &[String]) -> ToolName {
    let (server, name) = split_name(wire, servers);
    (server.map(str::to_owned), name.to_owned())
}
