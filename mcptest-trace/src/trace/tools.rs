//! The tools that an agent was offered, as recordings list them.

use serde::Serialize;
use serde_json::{Value, json};

use super::canonical::without_null;
use super::fields;
use super::json::Json;
use super::reader::Reader;

/// A tool that an agent was offered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OfferedTool {
    /// Its name.
    pub name: String,
    /// The server that offers it, where that was recorded.
    pub server: Option<String>,
    /// The tool in a line, where that was recorded: what a change of it is shown by.
    pub line: Option<String>,
    /// Whether it only reads, where its server says so.
    pub read_only: Option<bool>,
}

impl OfferedTool {
    /// A tool in a line: `server::name(arguments) #fingerprint`, or its name alone.
    ///
    /// ```
    /// use mcptest_trace::trace::OfferedTool;
    ///
    /// let tool = OfferedTool::from_line("desk::find_order(order_id: string) #3a35a844");
    /// assert_eq!((tool.server.as_deref(), tool.name.as_str()), (Some("desk"), "find_order"));
    /// assert_eq!(OfferedTool::from_line("find_order").name, "find_order");
    /// ```
    #[must_use]
    pub fn from_line(line: &str) -> Self {
        let head = line.split(['(', ' ']).next().unwrap_or_default();
        let (server, name) = match head.split_once("::") {
            Some((server, name)) => (Some(server.to_owned()), name),
            None => (None, head.trim_end_matches(':')),
        };
        Self {
            name: name.to_owned(),
            server,
            line: Some(line.to_owned()),
            read_only: None,
        }
    }

    /// Sets what the tool's server says of it: MCP's `readOnlyHint`.
    #[must_use]
    pub fn with_read_only(self, read_only: Option<bool>) -> Self {
        Self { read_only, ..self }
    }
}

impl From<String> for OfferedTool {
    /// [`OfferedTool::from_line`].
    fn from(line: String) -> Self {
        Self::from_line(&line)
    }
}

impl From<OfferedTool> for Value {
    /// The tool as a recording lists it: its line, or an object where there is more to say.
    ///
    /// ```
    /// use mcptest_trace::trace::OfferedTool;
    /// use serde_json::{Value, json};
    ///
    /// let tool = OfferedTool::from_line("desk::find(id)");
    /// assert_eq!(Value::from(tool.clone()), json!("desk::find(id)"));
    /// assert_eq!(
    ///     Value::from(tool.with_read_only(Some(true))),
    ///     json!({ "name": "find", "server": "desk", "line": "desk::find(id)", "read_only": true })
    /// );
    /// ```
    fn from(tool: OfferedTool) -> Self {
        match tool.line {
            Some(line) if tool.read_only.is_none() => line.into(),
            _ => without_null(json!(tool)),
        }
    }
}

/// Reads an entry of a recording's `tools`: a line, or an object with `name`.
pub(super) fn read(value: Json<'_>, at: &mut Reader<'_>) -> Option<OfferedTool> {
    let tool = match value {
        Json::Text(line) => Some(OfferedTool::from_line(&line)),
        Json::Object(mut map) => {
            at.check_keys(&map, &fields::TOOL);
            let map = &mut map;
            Some(OfferedTool {
                name: at.required_text(map, "name"),
                server: at.text(map, "server"),
                line: at.text(map, "line"),
                read_only: at.flag(map, "read_only"),
            })
        }
        _ => None,
    };
    if tool.is_none() {
        at.problem("expected a line or an object with `name`");
    }
    tool.filter(|tool| !tool.name.is_empty())
}
