//! What an agent that is an async function is given of its session.

use crate::endpoint::Provider;
use crate::session::{Mode, Session};

/// The session of an agent that is an async function: what the user asks, and where the model is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSession {
    mode: Mode,
    turns: Vec<String>,
    urls: Vec<(&'static str, String)>,
    servers: Vec<(String, String)>,
}

impl AgentSession {
    /// What of a session concerns its agent.
    #[must_use]
    pub fn of(session: &Session) -> Self {
        let urls = Provider::ALL.iter();
        let urls = urls.map(|provider| (provider.name, session.url(provider)));
        let servers = session.mcp_servers().iter();
        let servers = servers.map(|server| {
            let url = session.mcp_url(&server.name).unwrap_or_default();
            (server.name.clone(), url)
        });
        Self {
            mode: session.mode(),
            turns: session.turns().to_vec(),
            urls: urls.collect(),
            servers: servers.collect(),
        }
    }

    /// Whether the real model is asked.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// What the user asks first.
    #[must_use]
    pub fn prompt(&self) -> &str {
        self.turns.first().map_or("", String::as_str)
    }

    /// What the user asks, all turns in order.
    #[must_use]
    pub fn turns(&self) -> &[String] {
        &self.turns
    }

    /// The base URL of a provider, by its name: `openai`, `anthropic`, `gemini`, …; `None` of a name that is not
    /// known.
    #[must_use]
    pub fn url(&self, provider: &str) -> Option<&str> {
        let found = self.urls.iter().find(|(name, _)| *name == provider);
        found.map(|(_, url)| url.as_str())
    }

    /// The address of an MCP server over streamable HTTP, by the name that the suite has for it; `None` of one that the
    /// agent does not have.
    #[must_use]
    pub fn mcp_url(&self, server: &str) -> Option<&str> {
        let found = self.servers.iter().find(|(name, _)| name == server);
        found.map(|(_, url)| url.as_str())
    }

    /// The base URL for clients of `OpenAI` and of all that speak its format, with `/v1`.
    #[must_use]
    pub fn openai_url(&self) -> &str {
        self.url("openai").unwrap_or_default()
    }

    /// The base URL for clients of Anthropic.
    #[must_use]
    pub fn anthropic_url(&self) -> &str {
        self.url("anthropic").unwrap_or_default()
    }

    /// The base URL for clients of Gemini.
    #[must_use]
    pub fn gemini_url(&self) -> &str {
        self.url("gemini").unwrap_or_default()
    }
}
