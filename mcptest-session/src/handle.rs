//! What an agent that is an async function is given of its session.

use std::fmt::Display;
use std::future::Future;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::door::Door;
pub use crate::door::ToolFailure;
use crate::endpoint::Provider;
use crate::mode::Mode;
#[cfg(feature = "play")]
use crate::play::PlaySession;
#[cfg(feature = "record")]
use crate::session::Session;

/// The session of an agent that is an async function: what the user asks, and where the model is.
#[derive(Debug, Clone)]
pub struct AgentSession {
    mode: Mode,
    turns: Vec<String>,
    urls: Vec<(&'static str, String)>,
    servers: Vec<(String, String)>,
    tools: Door,
    tools_url: String,
}

impl AgentSession {
    /// What of a session concerns its agent.
    #[cfg(feature = "record")]
    #[must_use]
    pub fn from_session(session: &Session) -> Self {
        let urls = Provider::all().map(|provider| (provider.name, session.url(provider)));
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
            tools: session.door().clone(),
            tools_url: session.tools_url(),
        }
    }

    /// The session of an agent that is played: what of it concerns the agent.
    #[cfg(feature = "play")]
    #[must_use]
    pub fn from_play_session(session: &PlaySession) -> Self {
        let urls = Provider::all().map(|provider| (provider.name, session.url(provider)));
        Self {
            mode: Mode::Play,
            turns: session.turns().to_vec(),
            urls: urls.collect(),
            servers: session.mcp_servers().to_vec(),
            tools: session.door().clone(),
            tools_url: session.tools_url(),
        }
    }

    /// Whether the real model is asked.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Runs a tool that must not run while a recording is played: one that sends, pays or deletes. What it gives is
    /// written down when the run is recorded. When that is played, an equal call is given it back, and `run` is dropped.
    ///
    /// ```no_run
    /// # async fn pay(order: u32) -> Result<String, std::io::Error> { Ok(String::new()) }
    /// # async fn example(session: mcptest_session::handle::AgentSession) -> Result<(), Box<dyn std::error::Error>> {
    /// let args = serde_json::json!({ "order": 7 });
    /// let receipt: String = session.tool("pay", args, async { pay(7).await }).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The tool failed, or failed when the run was recorded, with its words. A call that was not recorded fails, and is a
    /// divergence.
    pub async fn tool<T, E>(
        &self,
        name: &str,
        args: Value,
        run: impl Future<Output = Result<T, E>>,
    ) -> Result<T, ToolFailure>
    where
        T: Serialize + DeserializeOwned,
        E: Display,
    {
        self.tools.run_tool(name, args, run).await
    }

    /// The address at which tools of the agent's own tell the session what they do, also those of other programs:
    /// `MCPTEST_TOOLS` of a command.
    #[must_use]
    pub fn tools_url(&self) -> &str {
        &self.tools_url
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
