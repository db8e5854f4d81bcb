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
#[cfg(feature = "record")]
mod compression;
mod conversation;
mod events;
mod fragments;
mod history;
mod items;
#[cfg(feature = "record")]
mod limits;
#[cfg(feature = "record")]
mod log;
mod mcp_calls;
mod mcp_field;
mod messages;
mod observed;
mod options;
mod own_calls;
mod own_field;
#[doc(hidden)]
pub mod pairing;
mod placing;
mod prefix_index;
#[cfg(any(feature = "play", feature = "record"))]
mod query;
mod redacting;
#[cfg(feature = "record")]
mod relay;
#[cfg(feature = "record")]
mod relay_error;
mod repeated;
mod run;
mod scratchpad;
mod session_field;
mod stored_request;
#[cfg(feature = "record")]
mod tee_body;
#[cfg(test)]
mod tests;
mod writing;

#[cfg(feature = "play")]
pub(crate) use conversation::provider_conversation;
#[cfg(feature = "play")]
pub(crate) use events::{digest as talk_digest, digest_by_value};
pub use items::Items;
#[cfg(feature = "record")]
pub use limits::{CallRefused, Cap, Limits, ModelCallSize, Spending};
#[cfg(feature = "record")]
pub use log::Log;
#[cfg(feature = "play")]
pub(crate) use mcp_calls::says_result;
#[doc(hidden)]
pub use mcptest_trace::record::payload;
#[cfg(feature = "play")]
pub(crate) use messages::{Message, delta_from_json as read_told, read_messages, told_is_error};
#[cfg(feature = "play")]
pub(crate) use observed::{BROKE_OFF, ENDED_EARLY};
pub use observed::{Observed, Outcome, digest};
pub use options::RunOptions;
#[cfg(feature = "record")]
pub(crate) use own_calls::{Fit, fit};
#[cfg(feature = "play")]
pub(crate) use query::without_keys;
pub use redacting::redact;
#[cfg(feature = "record")]
pub use relay::Relay;
#[cfg(feature = "record")]
pub(crate) use relay::error_text;
#[cfg(feature = "record")]
pub use relay_error::RelayError;
pub use run::{RecordedRun, RunError};
#[cfg(feature = "play")]
pub(crate) use scratchpad::{
    continues_message as scratchpad_goes_on, inserted_text, last_told_answer, text_since,
    without_label,
};
#[cfg(feature = "play")]
pub(crate) use stored_request::Pool;
pub use stored_request::StoredRequest;
#[cfg(feature = "play")]
pub(crate) use writing::split_name;
