//! Mode `record`: the real model answers, and what was asked and said becomes a run.
//!
//! - `relay`: passes requests on, and answers back, byte for byte;
//! - `observed`: what went by, decoded;
//! - `conversation`: which requests belong together;
//! - `run`: conversations become a cassette.

#[cfg(feature = "record")]
mod compression;
mod conversation;
mod essence;
#[cfg(feature = "record")]
mod log;
mod observed;
mod options;
#[doc(hidden)]
pub mod pairing;
#[cfg(feature = "record")]
mod passing;
#[doc(hidden)]
pub mod payload;
mod redacting;
#[cfg(feature = "record")]
mod relay;
mod run;
mod session_field;
#[cfg(test)]
mod tests;
#[cfg(feature = "record")]
mod usage;
mod writing;

#[cfg(feature = "record")]
pub use log::Log;
pub use observed::{Observed, Outcome, digest};
pub use options::RunOptions;
pub use redacting::redact;
#[cfg(feature = "record")]
pub use relay::Relay;
pub use run::{RecordedRun, RunError};
