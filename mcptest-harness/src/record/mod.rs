//! Recording: from a live agent to cassettes.
//!
//! - `mode`: whether to record, as the environment says it;
//! - [`Recorder`]: one run, written down as it goes;
//! - `store`, `redact`: how runs get into files without losing any, and what never gets there;
//! - `progress`: what a long recording says meanwhile;
//! - `live`, with the feature `record`: the agent itself: real MCP servers, a real model.
//!
//! When to record, and what happens to the runs then, is the harness's business; this module knows
//! suites and cassettes, and nothing of gates and test cases. Without the feature `record` nothing
//! here can reach a network.

pub(crate) mod environment;
mod fingerprint;
mod keep;
#[cfg(feature = "record")]
pub(crate) mod live;
mod mode;
mod progress;
mod recorder;
#[cfg(test)]
mod recorder_tests;
pub(crate) mod redact;
mod request;
pub(crate) mod store;
mod time;

pub(crate) use fingerprint::fingerprint;
pub use keep::RecordError;
pub(crate) use mode::{Command, Mode, VARIABLE, asked, in_ci};

#[cfg(feature = "record")]
pub(crate) use progress::usd;
pub(crate) use progress::{Progress, Spent, say};
pub use recorder::{CallId, Recorder};
pub use request::RunRequest;
pub(crate) use request::{Live, Trouble, request_fingerprint};

/// The environment variables that hold keys of model providers by convention.
const USUAL_KEYS: [&str; 5] = [
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "MISTRAL_API_KEY",
];

/// The usual keys that the environment has, each with its variable.
pub(crate) fn usual_secrets() -> impl Iterator<Item = (String, String)> {
    secrets(USUAL_KEYS)
}

/// The values of some environment variables, each with its variable.
pub(crate) fn secrets<'a>(
    variables: impl IntoIterator<Item = &'a str>,
) -> impl Iterator<Item = (String, String)> {
    let value = |name: &str| Some((name.to_owned(), std::env::var(name).ok()?));
    variables.into_iter().filter_map(value)
}
