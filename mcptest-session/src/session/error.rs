//! Why a session gives no run.

use std::error::Error;
use std::fmt;

use mcptest_trace::record::redact::TooLarge;
use mcptest_trace::record::store::StoreError;

use super::begin_error::BeginError;
use crate::mcp::ServerFailure;
use crate::record::RunError;

/// Why a session gives no run.
#[derive(Debug)]
#[non_exhaustive]
pub enum SessionError {
    /// The session cannot begin.
    Begin(BeginError),
    /// What went by makes no run.
    Run {
        /// Why.
        error: RunError,
        /// How many requests came to the port and named another path or host.
        strangers: usize,
    },
    /// What went by makes no run, and a command was run for it.
    Command {
        /// Why.
        error: RunError,
        /// How many requests came to the port and named another path or host.
        strangers: usize,
        /// How the command ended.
        ended: String,
    },
    /// An MCP server cannot be started.
    ServerStart(ServerFailure),
    /// An MCP server gave no answer.
    Server(ServerFailure),
    /// A fault was for a call that reached no MCP server, and not the door of own tools.
    Fault {
        /// The name of the fault.
        fault: String,
        /// The tool that the model called.
        tool: String,
    },
    /// A tool of the agent's own gave a value that could not be given back.
    Unkept {
        /// The tool.
        tool: String,
        /// What its value is, and why it cannot be kept.
        why: String,
    },
    /// What the program prints is what the user reads, and it printed nothing.
    Silent,
    /// Secrets cannot be looked for.
    Secrets(TooLarge),
    /// The run cannot be written.
    Store(StoreError),
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (error, strangers, ended) = match self {
            Self::Begin(error) => return write!(f, "{error}"),
            Self::Secrets(error) => return write!(f, "{error}"),
            Self::Store(error) => return write!(f, "{}; {}", error.problem(), error.help()),
            Self::Silent => {
                return f.write_str(
                    "the program printed nothing, and with `closing: stdout` the output is the closing message; let \
                     it print its closing message, or leave `closing` out",
                );
            }
            Self::ServerStart(failure) | Self::Server(failure) => {
                f.write_str(&failure.problem)?;
                let shown = failure.shown.iter();
                return shown
                    .into_iter()
                    .try_for_each(|shown| write!(f, "; {shown}"));
            }
            Self::Fault { fault, tool } => {
                return write!(
                    f,
                    "the fault `{fault}` is for a call of `{tool}` that reached neither an MCP server nor the \
                     session: faults are injected at MCP servers, and into tools of the agent's own code that tell the session \
                     their calls (docs/own-tools.md)"
                );
            }
            Self::Unkept { tool, why } => {
                return write!(
                    f,
                    "the tool `{tool}` gave a value that cannot be kept, so that the run cannot be played: {why}; let the tool \
                     give a value that is JSON, or say how its value is kept (`encode=` and `decode=`)"
                );
            }
            Self::Run { error, strangers } => (error, strangers, None),
            Self::Command {
                error,
                strangers,
                ended,
            } => (error, strangers, Some(ended)),
        };
        write!(f, "{error}")?;
        if *strangers > 0 {
            let requests = if *strangers == 1 {
                "request"
            } else {
                "requests"
            };
            write!(
                f,
                "; {strangers} {requests} used the port of the session, but another path: the client must use the whole address"
            )?;
        }
        ended.map_or(Ok(()), |ended| write!(f, "; {ended}"))
    }
}

impl Error for SessionError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Begin(error) => Some(error),
            Self::Run { error, .. } | Self::Command { error, .. } => Some(error),
            Self::Secrets(error) => Some(error),
            Self::Store(error) => Some(error),
            Self::ServerStart(_)
            | Self::Server(_)
            | Self::Fault { .. }
            | Self::Unkept { .. }
            | Self::Silent => None,
        }
    }
}

impl From<BeginError> for SessionError {
    fn from(error: BeginError) -> Self {
        Self::Begin(error)
    }
}
