//! What a session is told of its run.

use mcptest_trace::eval::{Decisions, OwnAnswers};
use regex::Regex;

use crate::endpoint::Upstream;
use crate::mcp::McpServer;
use crate::record::Limits;

/// What a session is told of its run.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SessionOptions {
    /// The agent's name in its suite.
    pub agent: String,
    /// The model as the suite has it; without one, the model that is asked.
    pub model: Option<String>,
    /// What the user asks, all turns in order.
    pub turns: Vec<String>,
    /// The servers whose tools are offered as `<server>__<tool>`.
    pub servers: Vec<String>,
    /// Where the providers are, besides what the environment says of them.
    pub upstreams: Vec<Upstream>,
    /// Streamed chats are left as they are, so that their tokens are unknown.
    pub untouched: bool,
    /// Names and values that must not get into a file.
    pub secrets: Vec<(String, String)>,
    /// What must not get into a file either.
    pub patterns: Vec<Regex>,
    /// What only its key makes a secret (`password`, `token`) is kept.
    pub keep_named: bool,
    /// What a program prints is what the user reads.
    pub closing_is_stdout: bool,
    /// What the run may take; what is asked beyond that is refused, and the run says `turn_budget`,
    /// `tool_call_budget` or `token_budget`.
    pub limits: Limits,
    /// The MCP servers that the agent reaches through the session.
    pub mcp_servers: Vec<McpServer>,
    /// What answers calls of the agent's own tools in their place.
    pub answers: OwnAnswers,
    /// The faults that answer calls in the place of those servers, and of own tools.
    pub faults: Option<Decisions>,
}

impl SessionOptions {
    /// An agent that is asked one prompt.
    pub fn new(agent: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self {
            agent: agent.into(),
            turns: vec![prompt.into()],
            ..Self::default()
        }
    }
}
