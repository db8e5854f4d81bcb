//! The built-in agent: a prompt, a model and MCP servers, at a session's address like any other agent.
//!
//! - `provider`: which model API a suite means, with which key; `format`: how that API is asked;
//! - `model`: one model call, with its retries; `model_error`: why it failed;
//! - `mcp`: a client of an MCP server at the session's address; `message`: its messages;
//! - `server_error`: what is said of a server that cannot be used;
//! - `tools`: the tools as they are offered to the model;
//! - `agent`: the loop between them; `told`: what it tells the model of a result;
//! - `recording`: the loop is recorded; `playing`: a recording is played to it;
//! - `timeouts`: how long something outside may take.

mod agent;
mod format;
mod mcp;
mod message;
mod model;
mod model_error;
mod playing;
mod provider;
mod recording;
mod server_error;
mod timeouts;
mod told;
mod tools;

/// The agent that is only a prompt, a model and MCP servers.
#[derive(Debug, Default)]
pub(crate) struct BuiltIn;
