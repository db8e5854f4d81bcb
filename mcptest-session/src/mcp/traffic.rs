//! What went by at MCP servers.

use serde_json::{Map, Value};

/// What went by at the MCP servers of a session, in the order in which it was asked.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct McpTraffic {
    /// The servers, by the names that the suite has for them.
    pub servers: Vec<String>,
    /// The calls of tools.
    pub calls: Vec<McpCall>,
    /// What else was asked, and what it was answered.
    pub answers: Vec<McpAnswer>,
}

/// A call that reached a server.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct McpCall {
    /// The server.
    pub server: String,
    /// The tool, as the server has it.
    pub tool: String,
    /// The arguments.
    pub args: Value,
    /// When it came, in milliseconds since the session began.
    pub asked_at: u64,
    /// When it was answered.
    pub ended_at: Option<u64>,
    /// What it was answered, as MCP has results; `None` where no answer came.
    pub result: Option<Value>,
    /// The error of JSON-RPC, where the answer was one.
    pub error: Option<Value>,
    /// The mark of the fault that answered in the server's place.
    pub synthesized: Option<Value>,
    /// Its place among all that happened in the session.
    pub(crate) tick: u64,
}

impl McpCall {
    /// Whether the answer says that the tool failed; `None` where no answer came.
    #[must_use]
    pub fn is_error(&self) -> Option<bool> {
        let result = self.result.as_ref()?;
        Some(self.error.is_some() || result["isError"] == true)
    }

    /// How long it took, in milliseconds.
    #[must_use]
    pub fn duration_ms(&self) -> Option<u64> {
        Some(self.ended_at?.saturating_sub(self.asked_at))
    }
}

/// A request that calls no tool, with its answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct McpAnswer {
    /// The server.
    pub server: String,
    /// What was asked: `initialize`, `tools/list`, …
    pub method: String,
    /// With what.
    pub params: Value,
    /// The result; `None` where the answer was an error.
    pub result: Option<Value>,
    /// The error of JSON-RPC.
    pub error: Option<Value>,
}

impl McpTraffic {
    /// The tools that the servers listed from an answer on, each with its server.
    pub(super) fn tools(&self, from: usize) -> impl Iterator<Item = (&str, &str)> {
        let listed = Self::listed_tools(self.answers.get(from..).unwrap_or_default());
        listed.filter_map(|(server, tool)| Some((server, tool["name"].as_str()?)))
    }

    /// What the server says of a tool beside what a model sees: its title and its hints. It is empty where the server
    /// says nothing, and `None` where the server did not list the tool.
    #[must_use]
    pub fn annotations(&self, server: &str, tool: &str) -> Option<Map<String, Value>> {
        const KEPT: [&str; 5] = [
            "title",
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        ];
        let mut listed = Self::listed_tools(&self.answers);
        let (_, found) = listed.find(|(own, listed)| *own == server && listed["name"] == tool)?;
        let said = &found["annotations"];
        let kept = KEPT.into_iter().filter_map(|key| {
            let value = said.get(key).filter(|value| !value.is_null())?;
            Some((key.to_owned(), value.clone()))
        });
        Some(kept.collect())
    }

    /// The tools as the servers listed them.
    fn listed_tools(answers: &[McpAnswer]) -> impl Iterator<Item = (&str, &Value)> {
        let lists = answers.iter();
        let lists = lists.filter(|answer| answer.method == "tools/list");
        lists.flat_map(|answer| {
            let tools = answer.result.as_ref().map(|result| &result["tools"]);
            let tools = tools.and_then(Value::as_array).into_iter().flatten();
            tools.map(|tool| (answer.server.as_str(), tool))
        })
    }
}

/// Whether a client's name for a tool means this tool of this server. Clients write the server before the tool, with
/// signs of their own, and `_` for what their model does not take.
#[must_use]
pub fn names_tool(name: &str, server: &str, tool: &str) -> bool {
    if name == tool {
        return true;
    }
    let name = normalize_name(name);
    let (server, tool) = (normalize_name(server), normalize_name(tool));
    let both = format!("{server}_{tool}");
    name == tool || name == both || name.ends_with(&format!("_{both}"))
}

/// A name in lower case, with one `_` for each run of other signs.
pub(super) fn normalize_name(name: &str) -> String {
    let words = name.split(|character: char| !character.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join("_").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn clients_write_the_server_before_the_tool_in_their_own_ways() {
        for name in [
            "find_order",
            "find-order",
            "desk__find_order",
            "mcp__desk__find_order",
            "desk_find_order",
            "desk-find_order",
            "desk.find_order",
            "mcp__plugin_shop_desk__find_order",
        ] {
            assert!(names_tool(name, "desk", "find_order"), "{name}");
        }
        for name in [
            "order",
            "other__find_order",
            "find_orders",
            "desk",
            "mydesk__find_order",
        ] {
            assert!(!names_tool(name, "desk", "find_order"), "{name}");
        }
    }

    #[test]
    fn the_hints_and_the_title_of_a_listed_tool_are_kept() {
        let tools = json!({ "tools": [
            { "name": "find", "annotations": { "title": "Find", "readOnlyHint": true, "destructiveHint": false,
                "idempotentHint": true, "openWorldHint": null, "vendor": 7 } },
            { "name": "put" },
        ] });
        let answer = McpAnswer {
            server: "a".to_owned(),
            method: "tools/list".to_owned(),
            params: Value::Null,
            result: Some(tools),
            error: None,
        };
        let seen = McpTraffic {
            answers: vec![answer],
            ..McpTraffic::default()
        };
        let of = |server, tool| seen.annotations(server, tool).map(Value::Object);
        let kept = json!({ "title": "Find", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true });
        assert_eq!(of("a", "find"), Some(kept));
        assert_eq!((of("a", "put"), of("b", "find")), (Some(json!({})), None));
    }
}
