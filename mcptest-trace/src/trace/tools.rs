//! The tools that an agent was offered, as recordings list them.

use serde::Serialize;
use serde_json::Value;

use super::read::Reader;

/// A tool that an agent was offered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OfferedTool {
    /// Its name.
    pub name: String,
    /// The server that offers it, where that was recorded.
    pub server: Option<String>,
    /// Whether it only reads, where its server says so.
    pub read_only: Option<bool>,
}

impl OfferedTool {
    /// A tool in a line: `server::name(arguments) #fingerprint`, or its name alone.
    ///
    /// ```
    /// use mcptest_trace::trace::OfferedTool;
    ///
    /// let tool = OfferedTool::in_line("desk::find_order(order_id: string) #3a35a844");
    /// assert_eq!((tool.server.as_deref(), tool.name.as_str()), (Some("desk"), "find_order"));
    /// assert_eq!(OfferedTool::in_line("find_order").name, "find_order");
    /// ```
    #[must_use]
    pub fn in_line(line: &str) -> Self {
        let head = line.split(['(', ' ']).next().unwrap_or_default();
        let (server, name) = match head.split_once("::") {
            Some((server, name)) => (Some(server.to_owned()), name),
            None => (None, head.trim_end_matches(':')),
        };
        Self {
            name: name.to_owned(),
            server,
            read_only: None,
        }
    }
}

/// Reads an entry of a recording's `tools`: a line, or an object with `name`.
pub(super) fn read(value: &Value, at: &mut Reader<'_>) -> Option<OfferedTool> {
    let tool = match value {
        Value::String(line) => Some(OfferedTool::in_line(line)),
        Value::Object(map) => Some(OfferedTool {
            name: at.required_text(map, "name"),
            server: at.text(map, "server"),
            read_only: at.flag(map, "read_only"),
        }),
        _ => None,
    };
    if tool.is_none() {
        at.problem("expected a line or an object with `name`");
    }
    tool.filter(|tool| !tool.name.is_empty())
}
