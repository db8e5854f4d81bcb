//! Recording: from a live agent to cassettes.
//!
//! - `mode`: whether to record, as the environment says it;
//! - `request`: what a run is asked for;
//! - `progress`: what a long recording says meanwhile;
//! - `live`, with the feature `record`: the agent itself: real MCP servers, a real model;
//! - `command` and `function`, with the feature `session`: an agent's own program or async function, whose model is
//!   asked through an address of ours.
//!
//! How a run is written down and gets into a file is `mcptest-trace`'s business, when to record and
//! what happens to the runs then the harness's; this module knows suites, and nothing of gates and
//! test cases. Without these features nothing
//! here can reach a network.

#[cfg(feature = "session")]
pub(crate) mod command;
#[cfg(feature = "record")]
pub(crate) mod environment;
#[cfg(feature = "session")]
pub(crate) mod function;
#[cfg(feature = "record")]
pub(crate) mod live;
mod mode;
mod progress;
mod request;

pub(crate) use mode::{Mode, RecordCommand, VARIABLE, asked, in_ci, rerun};

#[cfg(feature = "record")]
pub(crate) use progress::usd;
pub(crate) use progress::{Progress, Spent};
pub use request::RunRequest;
pub(crate) use request::{Live, LiveError, request_fingerprint};
