#![forbid(unsafe_code)]
//! What an agent did, and what can be measured of it.
//!
//! - [`mod@trace`]: the tool calls, results, turns and tokens of a run, and how recorded runs are read;
//! - [`eval`]: the metrics, pure functions from runs to numbers;
//! - `record`, with the feature `store`: writing a run down, keeping secrets out of it, and putting it
//!   into a file that is never lost;
//! - `capture`, with the feature `tracing`: runs written down from the spans of an agent's library;
//! - [`evidence`]: whether agents got worse, what a threshold means, runs broken on purpose;
//! - [`stats`]: the statistics behind it;
//! - [`energy`]: a live guard against runs that grow out of hand, and its analysis afterwards.
//!
//! Nothing here knows of test cases or of gates, so a program can measure its own agent with it.

#[cfg(feature = "tracing")]
mod capture;
pub mod energy;
pub mod eval;
pub mod evidence;
mod fnv;
mod number;
#[cfg(feature = "store")]
pub mod record;
mod setters;
#[cfg(feature = "store")]
#[doc(hidden)]
pub mod spans;
pub mod stats;
#[doc(hidden)]
pub mod text;
pub mod trace;
mod words;

#[cfg(feature = "tracing")]
pub use capture::{Capture, capture};
