//! Recording: from a live agent to cassettes.
//!
//! - `mode`: whether to record, and how, as the environment says it;
//! - `command_line`: what a person types for it;
//! - `request`: what a run is asked for;
//! - `progress`: what a long recording says meanwhile;
//! - `declared`, `environment`: the MCP servers of an agent, and what they get of the environment;
//! - `budget`, `prices`: what it may cost;
//! - `own_code`, `tool_line`: what recordings say of the agent's code, and of its tools;
//! - `built_in`, with the feature `session`: the agent that is only a prompt, a model and MCP servers;
//! - `playing`, with the feature `session`: recorded runs played to an agent's own code;
//! - `command` and `function`, with the feature `session`: an agent's own program or async function, whose model is
//!   asked through an address of ours; `spending`: what that may cost;
//!   `no_model_call`: what is said of code that asked no model.
//!
//! How a run is written down and gets into a file is `mcptest-trace`'s business, when to record and
//! what happens to the runs then the harness's; this module knows suites, and nothing of gates and
//! test cases. Without the feature nothing
//! here can reach a network.

#[cfg(feature = "session")]
mod budget;
#[cfg(feature = "session")]
pub(crate) mod built_in;
#[cfg(feature = "session")]
pub(crate) mod command;
mod command_line;
#[cfg(feature = "session")]
mod declared;
#[cfg(feature = "session")]
pub(crate) mod environment;
#[cfg(feature = "session")]
pub(crate) mod function;
mod mode;
#[cfg(feature = "session")]
mod no_model_call;
pub(crate) mod own_code;
#[cfg(feature = "session")]
mod playing;
#[cfg(feature = "session")]
mod playing_command;
mod prices;
mod progress;
mod request;
#[cfg(feature = "session")]
mod spending;
mod tool_line;

#[cfg(feature = "session")]
pub(crate) use budget::{micro_usd_to_spend, share_budgets};
pub(crate) use command_line::{RecordCommand, RecordLine, RunsAgent, rerun_command, shell_words};
#[cfg(not(feature = "session"))]
pub(crate) use mode::VARIABLE;
#[cfg(feature = "session")]
pub(crate) use mode::allows_over_budget;
pub(crate) use mode::{Mode, RecordRequest, RecordRequestError, in_ci, read_record_request};
pub(crate) use prices::rates;
pub(crate) use progress::format_usd;
pub(crate) use progress::{Progress, Spent};
pub(crate) use request::Playable;
pub use request::RunRequest;
pub(crate) use request::{
    Live, LiveError, PlayRequest, PlayedRun, answers_fingerprint, faults_fingerprint,
    request_fingerprint,
};
pub(crate) use tool_line::tool_line;
