//! A server, and where it stands at the address.

use std::ffi::OsString;
use std::path::PathBuf;

use mcptest_trace::text::variable_name;

/// An MCP server that an agent reaches through its session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpServer {
    /// The name that the suite has for it.
    pub name: String,
    /// The way to it.
    pub place: McpTransport,
}

/// The way to an MCP server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpTransport {
    /// A program that speaks over its standard streams. It is started once, when the session begins.
    Command {
        /// The program and its arguments.
        command: Vec<String>,
        /// Where it runs; a relative path to a program starts here too.
        folder: PathBuf,
        /// All that it has of an environment.
        environment: Vec<(OsString, OsString)>,
    },
    /// Streamable HTTP.
    Url {
        /// Where the server listens.
        url: String,
        /// The token that logs in there, whatever the agent sends.
        bearer: Option<String>,
    },
}

impl McpServer {
    /// A server of a name.
    pub fn new(name: impl Into<String>, place: McpTransport) -> Self {
        Self {
            name: name.into(),
            place,
        }
    }

    /// The environment variable that holds its address.
    ///
    /// ```
    /// use mcptest_session::mcp::{McpServer, McpTransport};
    ///
    /// let place = McpTransport::Url { url: "https://example.com/mcp".to_owned(), bearer: None };
    /// assert_eq!(McpServer::new("order-desk", place).variable(), "MCPTEST_MCP_ORDER_DESK");
    /// ```
    #[must_use]
    pub fn variable(&self) -> String {
        variable_of(&self.name)
    }

    /// Its path below the address of the session.
    #[must_use]
    pub fn path(&self) -> String {
        path_of(&self.name)
    }
}

/// The path of a server below the address of a session.
pub(crate) fn path_of(server: &str) -> String {
    let mut path = "/mcp/".to_owned();
    for byte in server.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_".contains(&byte) {
            path.push(char::from(byte));
        } else {
            path.push_str(&format!("%{byte:02X}"));
        }
    }
    path
}

/// The environment variable that holds the address of a server.
pub(crate) fn variable_of(server: &str) -> String {
    format!("MCPTEST_MCP_{}", variable_name(server))
}
