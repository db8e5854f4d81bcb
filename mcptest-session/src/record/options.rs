//! What a run is made with, besides what went by at the model.

use serde_json::Value;

use crate::door::OwnCall;
use crate::json::count;
use crate::mcp::McpTraffic;

/// What is known of a run besides what went by.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RunOptions {
    /// The agent's name in its suite.
    pub agent: String,
    /// The model as the suite has it; without one, the model that was asked.
    pub model: Option<String>,
    /// What the user asks, all turns in order.
    pub turns: Vec<String>,
    /// The servers whose tools are offered as `<server>__<tool>`.
    pub servers: Vec<String>,
    /// When the run began, as RFC 3339 has it.
    pub recorded_at: Option<String>,
    /// The machine that records, as [`recorded_on`](mcptest_trace::record::recorded_on) tells it.
    pub recorded_on: Option<String>,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<u64>,
    /// What the agent's program printed, where that is what the user reads.
    pub closing: Option<String>,
    /// What the program said to each turn of the user, where it was asked in JSON lines.
    pub said: Vec<String>,
    /// What went by at MCP servers.
    pub mcp: McpTraffic,
    /// What tools of the agent's own told.
    pub own_calls: Vec<OwnCall>,
    /// The most calls of tools; what was asked of MCP servers beyond that was refused, and is no part of the run.
    pub max_tool_calls: Option<u64>,
    /// Why the run stopped, where its conversation does not tell: a time limit, a program that failed.
    pub stopped: Option<String>,
}

/// The most tokens that an answer may have, in the spellings of all formats.
pub(super) fn most_tokens(parameters: &Value) -> Option<u64> {
    let keys = ["max_completion_tokens", "max_output_tokens", "max_tokens"];
    let most = keys.iter().find_map(|key| count(parameters, key));
    let inside = [
        ("generationConfig", "maxOutputTokens"),
        ("inferenceConfig", "maxTokens"),
        // Ollama has numbers below zero for no limit.
        ("options", "num_predict"),
    ];
    let mut inside = inside.iter();
    most.or_else(|| inside.find_map(|(key, most)| count(parameters.get(key)?, most)))
}

/// What a conversation is in its run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Role {
    Main,
    /// A title, a summary: kept for playing, and no part of the run.
    Side,
    /// A sub-agent, with its name.
    Agent(String),
}
