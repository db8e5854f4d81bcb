//! The tools that were offered, and what clients call them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use mcptest_trace::trace::Trace;
use serde_json::Value;

use crate::exchange::Tool;
use crate::json::{list, nonempty_string};
use crate::mcp::NameIndex;
use crate::record::split_name;

/// The name of a tool: its server, where that is known, and its name there.
pub(super) type ToolName = (Option<String>, String);

/// A tool as it was offered.
#[derive(Debug, Clone, Default)]
pub(super) struct OfferedTool {
    pub(super) server: Option<String>,
    pub(super) tool: Tool,
}

pub(super) fn read_tools(tools: &Value) -> Vec<OfferedTool> {
    let tools = tools.as_array().into_iter().flatten();
    tools
        .filter_map(|tool| {
            let (server, name) = match tool {
                Value::String(line) => {
                    let tool = mcptest_trace::trace::OfferedTool::from_line(line);
                    (tool.server, tool.name)
                }
                tool => (
                    nonempty_string(tool, "server"),
                    nonempty_string(tool, "name")?,
                ),
            };
            Some(OfferedTool {
                server,
                tool: Tool {
                    name,
                    description: nonempty_string(tool, "description"),
                    schema: tool.get("input_schema").cloned(),
                    strict: None,
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

/// What clients call the tools of a run.
#[derive(Debug, Clone, Default)]
pub(super) struct ToolNames {
    /// The servers whose tools were offered.
    servers: Vec<String>,
    /// The tools of servers that are known.
    known: NameIndex,
    /// What the model called tools of servers by names that do not say which they are: the server and the tool.
    wire: HashMap<String, (String, String)>,
}

impl ToolNames {
    /// The names of a run. `field`: what its session wrote down.
    pub(super) fn new(trace: &Trace, tools: Option<&[OfferedTool]>, field: &Value) -> Self {
        let of_calls = trace.tool_calls.iter();
        let of_calls = of_calls.map(|call| (call.server.clone(), call.name.clone()));
        let of_tools = tools.into_iter().flatten();
        let of_tools = of_tools.filter_map(|it| Some((it.server.clone()?, it.tool.name.clone())));
        let all = of_calls.chain(of_tools);
        let known: BTreeSet<(String, String)> =
            all.filter(|(server, _)| !server.is_empty()).collect();
        let mut wire = HashMap::new();
        for server in list(field, "mcp") {
            let name = nonempty_string(server, "server").unwrap_or_default();
            let names = server["names"].as_object().into_iter().flatten();
            for (own, tool) in names {
                let tool = tool.as_str().unwrap_or_default().to_owned();
                wire.insert(own.clone(), (name.clone(), tool));
            }
        }
        let mut names = Self {
            servers: Vec::new(),
            wire,
            known: NameIndex::default(),
        };
        names.add_servers(known.iter().map(|(server, _)| server.clone()));
        for (server, tool) in &known {
            names.known.add(server, tool);
        }
        names
    }

    /// Adds servers whose tools may be offered.
    pub(super) fn add_servers(&mut self, servers: impl IntoIterator<Item = String>) {
        self.servers.extend(servers);
        self.servers.sort_unstable();
        self.servers.dedup();
    }

    /// Which tools of a conversation say whether they are strict.
    pub(super) fn read_strict(&self, conversation: &Value) -> BTreeMap<ToolName, bool> {
        let tools = conversation["strict"].as_object().into_iter().flatten();
        let tools =
            tools.filter_map(|(name, strict)| Some((self.resolve(name), strict.as_bool()?)));
        tools.collect()
    }

    /// Tools that are written down under the names that clients have for them.
    pub(super) fn resolve_all(&self, mut tools: Vec<OfferedTool>) -> Vec<OfferedTool> {
        for one in tools.iter_mut().filter(|one| one.server.is_none()) {
            (one.server, one.tool.name) = self.resolve(&one.tool.name);
        }
        tools
    }

    /// The tool that a client's name for it means.
    pub(super) fn resolve(&self, wire: &str) -> ToolName {
        if let Some((server, tool)) = self.wire.get(wire) {
            return (Some(server.clone()), tool.clone());
        }
        if let Some((server, tool)) = self.known.resolve(wire) {
            return (Some(server.to_owned()), tool.to_owned());
        }
        let (server, name) = split_name(wire, &self.servers);
        (server.map(str::to_owned), name.to_owned())
    }
}
