//! Mode `record`: the real model answers, and what was asked and said becomes a run.
//!
//! - `relay`: passes requests on, and answers back, byte for byte;
//! - `aws`: signs requests to AWS again, which are signed for the address of the session;
//! - `observed`: what went by, decoded; `stored_request`: a request as it is kept; `items`: its messages;
//! - `conversation`: which requests belong together; `placing` finds that, `repeated` finds questions that were
//!   asked often; `history`, `events`, `prefix_index`: the message histories by which they find it;
//! - `messages`: a past that the agent wrote itself, message by message; `scratchpad`: a past that is a text;
//! - `limits`: what a run may take;
//! - `run`: conversations become a cassette; `mcp_calls`, `mcp_field`: with what went by at MCP servers;
//!   `own_calls`, `own_field`: with what tools of the agent's own told.

mod agent_names;
#[cfg(feature = "record")]
mod aws;
mod beginnings;
#[cfg(feature = "record")]
mod compression;
mod conversation;
mod equal;
mod essence;
mod fragments;
mod items;
#[cfg(feature = "record")]
mod limits;
#[cfg(feature = "record")]
mod log;
mod mcp_calls;
mod mcp_field;
mod observed;
mod options;
mod own_calls;
mod own_field;
#[doc(hidden)]
pub mod pairing;
#[cfg(feature = "record")]
mod passing;
mod placing;
#[cfg(any(feature = "play", feature = "record"))]
mod query;
mod question;
mod redacting;
#[cfg(feature = "record")]
mod relay;
mod run;
mod scratchpad;
mod session_field;
mod talks;
#[cfg(test)]
mod tests;
mod told;
#[cfg(feature = "record")]
mod writing;

#[cfg(feature = "play")]
pub(crate) use conversation::held_talk;
#[cfg(feature = "play")]
pub(crate) use essence::{digest as talk_digest, digest_by_value};
pub use items::Items;
#[cfg(feature = "record")]
pub use limits::{Limits, ModelCallSize, Spending};
#[cfg(feature = "record")]
pub use log::Log;
#[cfg(feature = "play")]
pub(crate) use mcp_calls::is_said;
#[doc(hidden)]
pub use mcptest_trace::record::payload;
#[cfg(feature = "play")]
pub(crate) use observed::{BROKE_OFF, ENDED_EARLY};
pub use observed::{Observed, Outcome, digest};
pub use options::RunOptions;
#[cfg(feature = "record")]
pub(crate) use own_calls::{Fit, fit};
#[cfg(feature = "play")]
pub(crate) use query::without_keys;
#[cfg(feature = "play")]
pub(crate) use question::Pool;
pub use question::Question;
pub use redacting::redact;
#[cfg(feature = "record")]
pub use relay::Relay;
#[cfg(feature = "record")]
pub(crate) use relay::words_of;
pub use run::{RecordedRun, RunError};
#[cfg(feature = "play")]
pub(crate) use scratchpad::{
    goes_on as scratchpad_goes_on, put_in, since, told_last, without_label,
};
#[cfg(feature = "play")]
pub(crate) use told::{Told, read as read_told, told, told_flag};
#[cfg(feature = "play")]
pub(crate) use writing::split_name;
