//! The tools as they are offered to a model.

use mcptest_session::exchange::Tool;
use mcptest_suite::cassette_slug;
use mcptest_suite::model::Agent;
use mcptest_trace::record::fingerprint;
use serde_json::Value;

use crate::record::{LiveError, tool_line};

/// The longest name that every provider takes.
const MAX_NAME: usize = 64;

/// The tools of a run.
#[derive(Debug)]
pub(super) struct Offered {
    tools: Vec<LiveTool>,
}

/// A tool of a server.
#[derive(Debug)]
pub(super) struct LiveTool {
    pub(super) server: String,
    pub(super) name: String,
    /// The name the model sees: `<server>__<tool>`.
    wire_name: String,
    description: Option<String>,
    schema: Value,
}

impl Offered {
    /// The tools of some servers. A schema that is none, or two tools of one name, end the
    /// recording: what a model makes of those is no test of the agent.
    pub(super) fn new<'a>(
        tools: impl Iterator<Item = (&'a str, &'a Value)>,
        agent: &Agent,
    ) -> Result<Self, LiveError> {
        let mut offered = Self { tools: Vec::new() };
        for (server, tool) in tools {
            let span = agent
                .servers
                .iter()
                .find(|name| name.value == server)
                .map_or(agent.name.span, |name| name.span);
            let name = tool["name"].as_str().unwrap_or_default();
            let schema = tool["inputSchema"].clone();
            let built = jsonschema::options().offline().build(&schema);
            if let Err(error) = built {
                return Err(LiveError::new(format!(
                    "the server `{server}` has a tool `{name}` whose `inputSchema` is no JSON Schema"
                ))
                .at(span)
                .show(format!("{error}\n{}", crate::trace::pretty_json(&schema)))
                .help("correct the tool's `inputSchema`: a model needs it to write arguments"));
            }
            let wire_name = wire_name(server, name);
            if let Some(other) = offered.find(&wire_name) {
                let is_one = (other.server.as_str(), other.name.as_str()) == (server, name);
                let problem = if is_one {
                    format!("the server `{server}` lists the tool `{name}` twice")
                } else {
                    format!(
                        "`{}` of `{}` and `{name}` of `{server}` would have the same name for the model: `{wire_name}`",
                        other.name, other.server
                    )
                };
                return Err(LiveError::new(problem)
                    .at(span)
                    .help("rename one of the tools: a model calls tools by their names, so each tool needs its own name"));
            }
            offered.tools.push(LiveTool {
                server: server.to_owned(),
                name: name.to_owned(),
                wire_name,
                description: tool["description"].as_str().map(str::to_owned),
                schema,
            });
        }
        Ok(offered)
    }

    /// The tools as a request offers them.
    pub(super) fn tools(&self) -> Vec<Tool> {
        let offered = |tool: &LiveTool| Tool {
            name: tool.wire_name.clone(),
            description: tool.description.clone(),
            schema: Some(tool.schema.clone()),
            strict: None,
        };
        self.tools.iter().map(offered).collect()
    }

    /// The tool that a model means.
    pub(super) fn find(&self, wire_name: &str) -> Option<&LiveTool> {
        self.tools.iter().find(|tool| tool.wire_name == wire_name)
    }

    /// What tells these tools from others: what a model sees of them, so not what their servers say of them besides.
    pub(super) fn fingerprint(&self) -> String {
        let lines = self.tools.iter().map(|tool| {
            let description = tool.description.as_deref().unwrap_or_default();
            tool_line(&tool.server, &tool.name, description, &tool.schema)
        });
        let mut lines: Vec<String> = lines.collect();
        lines.sort();
        fingerprint(&lines.join("\n"))
    }
}

/// The name a model sees. Providers take ASCII letters, digits, `_` and `-`; a name that is too
/// long keeps its beginning and gets a fingerprint.
fn wire_name(server: &str, tool: &str) -> String {
    let name = format!("{}__{}", cassette_slug(server), cassette_slug(tool));
    if name.len() <= MAX_NAME {
        return name;
    }
    let mark = fingerprint(&name);
    format!("{}_{}", &name[..MAX_NAME - 9], &mark[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_sees_the_server_before_the_tool() {
        assert_eq!(wire_name("desk", "find_order"), "desk__find_order");
        assert_eq!(
            wire_name("my desk 🚀", "find.order"),
            "my_desk____find_order"
        );
    }

    #[test]
    fn a_long_name_is_cut_and_stays_its_own() {
        let long = "a".repeat(80);
        let names = [
            wire_name("s", &format!("{long}1")),
            wire_name("s", &format!("{long}2")),
        ];
        assert!(names.iter().all(|name| name.len() == MAX_NAME));
        assert_ne!(names[0], names[1]);
    }
}
