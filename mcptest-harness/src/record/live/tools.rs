//! The tools as they are offered to a model, and what of them is written down.

use mcptest_suite::cassette_slug;
use mcptest_suite::model::Agent;
use rmcp::model::Tool;
use serde_json::Value;

use mcptest_trace::record::{Recorder, fingerprint};

use crate::record::LiveError;
use crate::trace::{OfferedTool, canonical_json};

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
    pub(super) wire_name: String,
    pub(super) description: Option<String>,
    pub(super) schema: Value,
    /// Whether it only reads, where its server says so.
    read_only: Option<bool>,
}

impl Offered {
    /// The tools of some servers. A schema that is none, or two tools of one name, end the
    /// recording: what a model makes of those is no test of the agent.
    pub(super) fn new<'a>(
        tools: impl Iterator<Item = (&'a str, &'a Tool)>,
        agent: &Agent,
    ) -> Result<Self, LiveError> {
        let mut offered = Self { tools: Vec::new() };
        for (server, tool) in tools {
            let span = agent
                .servers
                .iter()
                .find(|name| name.value == server)
                .map_or(agent.name.span, |name| name.span);
            let schema = Value::Object((*tool.input_schema).clone());
            let built = jsonschema::options().offline().build(&schema);
            if let Err(error) = built {
                return Err(LiveError::new(format!(
                    "the server `{server}` has a tool `{}` whose `inputSchema` is no JSON Schema",
                    tool.name
                ))
                .at(span)
                .show(format!("{error}\n{}", crate::trace::pretty_json(&schema)))
                .help("correct the tool's `inputSchema`: a model needs it to write arguments"));
            }
            let wire_name = wire_name(server, &tool.name);
            if let Some(other) = offered.find(&wire_name) {
                let problem = if (other.server.as_str(), other.name.as_str())
                    == (server, &*tool.name)
                {
                    format!("the server `{server}` lists the tool `{}` twice", tool.name)
                } else {
                    format!(
                        "`{}` of `{}` and `{}` of `{server}` would have the same name for the model: `{wire_name}`",
                        other.name, other.server, tool.name
                    )
                };
                return Err(LiveError::new(problem)
                    .at(span)
                    .help("rename one of the tools: a model calls tools by their names, so each tool needs its own name"));
            }
            offered.tools.push(LiveTool {
                server: server.to_owned(),
                name: tool.name.to_string(),
                wire_name,
                description: tool.description.as_ref().map(ToString::to_string),
                schema,
                read_only: tool
                    .annotations
                    .as_ref()
                    .and_then(|said| said.read_only_hint),
            });
        }
        Ok(offered)
    }

    pub(super) fn tools(&self) -> &[LiveTool] {
        &self.tools
    }

    /// The tool that a model means.
    pub(super) fn find(&self, wire_name: &str) -> Option<&LiveTool> {
        self.tools.iter().find(|tool| tool.wire_name == wire_name)
    }

    /// The server and name of a tool that a model made up: the part before `__`, where that is a
    /// server.
    pub(super) fn invented<'a>(&'a self, wire_name: &'a str) -> (&'a str, &'a str) {
        let split = wire_name.split_once("__").and_then(|(prefix, rest)| {
            let known = |tool: &&LiveTool| cassette_slug(&tool.server) == prefix;
            Some((self.tools.iter().find(known)?.server.as_str(), rest))
        });
        split.unwrap_or(("", wire_name))
    }

    /// Writes down which tools were offered, and what tells them from others: what a model sees of
    /// them, so not what their servers say of them besides.
    pub(super) fn write_down(&self, recorder: &mut Recorder) {
        let lines = self.tools.iter().map(|tool| (tool.line(), tool.read_only));
        let mut tools: Vec<_> = lines.collect();
        tools.sort();
        let lines: Vec<&str> = tools.iter().map(|(line, _)| line.as_str()).collect();
        recorder.tools_fingerprint(fingerprint(&lines.join("\n")));
        let offered = tools
            .iter()
            .map(|(line, read_only)| OfferedTool::in_line(line).with_read_only(*read_only));
        recorder.tools_offered(offered);
    }
}

impl LiveTool {
    /// The tool in a line that people can compare: its arguments, the optional ones marked, and a
    /// fingerprint of all the rest.
    fn line(&self) -> String {
        let empty = serde_json::Map::new();
        let properties = self.schema["properties"].as_object().unwrap_or(&empty);
        let required = |name: &str| {
            let names = self.schema["required"].as_array();
            names.is_some_and(|names| names.iter().any(|required| required == name))
        };
        let mut arguments: Vec<String> = properties
            .iter()
            .map(|(name, schema)| {
                let mark = if required(name) { "" } else { "?" };
                match schema["type"].as_str() {
                    Some(kind) => format!("{name}{mark}: {kind}"),
                    None => format!("{name}{mark}"),
                }
            })
            .collect();
        arguments.sort();
        let description = self.description.as_deref().unwrap_or_default();
        let rest = fingerprint(&format!("{description}\n{}", canonical_json(&self.schema)));
        format!(
            "{}::{}({}) #{}",
            self.server,
            self.name,
            arguments.join(", "),
            &rest[..8]
        )
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

    #[test]
    fn a_tool_is_written_down_with_its_arguments() {
        let tool = LiveTool {
            server: "desk".to_owned(),
            name: "refund".to_owned(),
            wire_name: "desk__refund".to_owned(),
            description: Some("Pays back.".to_owned()),
            schema: serde_json::json!({
                "type": "object",
                "properties": { "order": { "type": "string" }, "cents": { "type": "integer" }, "why": {} },
                "required": ["order", "cents"],
            }),
            read_only: None,
        };
        insta::assert_snapshot!(tool.line(), @"desk::refund(cents: integer, order: string, why?) #a3c31e1c");
    }
}
