//! Why a server does not say which tools it has.

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind};
use std::time::Duration;

use mcptest_suite::escape_line;
use mcptest_trace::text::truncate;
use rmcp::service::{ClientInitializeError, ServiceError};
use serde_json::Value;

/// How much is shown of an answer that is no list of tools, in characters.
const SHOWN: usize = 300;

/// What a server does that ends at once, whether it was written to or read from first.
const CLOSED: &str = "the connection closed before it answered `initialize`";

/// What a server does in place of an answer.
#[derive(Debug)]
pub(super) enum ServerError {
    /// It does not begin to speak MCP.
    Initialize(Box<ClientInitializeError>),
    /// It does not answer in time.
    NoAnswer { limit: Duration },
    /// It does not list its tools.
    List(ListError),
    /// It does not end to list its tools in time.
    Endless { limit: Duration },
    /// It answers with a message that is nested too deep.
    TooDeep,
}

/// Why a server does not list its tools.
#[derive(Debug)]
pub(super) enum ListError {
    /// The connection closed.
    Closed,
    /// It cannot be asked, or answers with an error.
    Service(ServiceError),
    /// Its answer is no list.
    NotAList { answer: Value },
    /// A tool is not one of MCP.
    InvalidTool(InvalidTool),
    /// Two tools have one name.
    Twice { name: String },
    /// A page leads to one that was read.
    Circle,
}

/// What is wrong with a tool that is not one of MCP.
#[derive(Debug)]
pub(super) enum InvalidTool {
    /// It has no name; its place in the list, from 1.
    NoName {
        place: usize,
    },
    NoSchema {
        name: String,
    },
    SchemaNotAnObject {
        name: String,
    },
}

impl InvalidTool {
    /// The first tool of a list that is not one of MCP.
    pub(super) fn find(answer: &Value) -> Option<Self> {
        let mut tools = (1..).zip(answer["tools"].as_array()?);
        tools.find_map(|(place, tool)| {
            let Some(name) = tool["name"].as_str() else {
                return Some(Self::NoName { place });
            };
            let name = name.to_owned();
            match tool.get("inputSchema") {
                None => Some(Self::NoSchema { name }),
                Some(schema) if !schema.is_object() => Some(Self::SchemaNotAnObject { name }),
                Some(_) => None,
            }
        })
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Initialize(error) => {
                write!(f, "does not speak MCP: {}", initialize_problem(error))
            }
            Self::NoAnswer { limit } => {
                let seconds = limit.as_secs_f64();
                write!(f, "gave no answer to `initialize` within {seconds} s")
            }
            Self::List(error) => write!(f, "does not list its tools: {error}"),
            Self::Endless { limit } => {
                let seconds = limit.as_secs_f64();
                write!(
                    f,
                    "did not list all its tools within {seconds} s: `tools/list` has no end"
                )
            }
            Self::TooDeep => f.write_str(
                "answered with a message that is nested too deep to be read (perhaps the schema of one of its tools): at most 127 \
                 levels can be read",
            ),
        }
    }
}

impl Error for ServerError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Initialize(error) => Some(error),
            Self::List(error) => Some(error),
            Self::NoAnswer { .. } | Self::Endless { .. } | Self::TooDeep => None,
        }
    }
}

impl fmt::Display for ListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the connection closed before it answered `tools/list`"),
            Self::Service(error) => write!(f, "{error}"),
            Self::NotAList { answer } => {
                let answer = answer.to_string();
                let shown = truncate(&answer, SHOWN);
                write!(f, "its answer to `tools/list` is no list of tools: {shown}")
            }
            Self::InvalidTool(invalid) => write!(f, "{invalid}"),
            Self::Twice { name } => {
                let name = escape_line(name);
                write!(
                    f,
                    "it lists two tools named `{name}`, so nobody can tell which of the two a call means"
                )
            }
            Self::Circle => f.write_str("a page of `tools/list` leads back to itself"),
        }
    }
}

impl Error for ListError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Service(error) => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for InvalidTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoName { place } => write!(f, "tool {place} of its list has no `name`"),
            Self::NoSchema { name } => {
                write!(f, "its tool `{}` has no `inputSchema`", escape_line(name))
            }
            Self::SchemaNotAnObject { name } => write!(
                f,
                "the `inputSchema` of its tool `{}` is no object",
                escape_line(name)
            ),
        }
    }
}

fn initialize_problem(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) => CLOSED.to_owned(),
        ClientInitializeError::TransportError { error, .. } => {
            let error = error.error.as_ref();
            let io = error.downcast_ref::<io::Error>();
            match io.map(io::Error::kind) {
                Some(ErrorKind::BrokenPipe) => CLOSED.to_owned(),
                _ => with_causes(error),
            }
        }
        ClientInitializeError::JsonRpcError(error) => {
            format!("it answered `initialize` with an error: {}", error.message)
        }
        other => truncate(&other.to_string(), SHOWN).into_owned(),
    }
}

/// An error with those that it came of, each once.
fn with_causes(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let said = next.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = next.source();
    }
    text
}
