#![forbid(unsafe_code)]
//! What an agent did, and what can be measured of it.
//!
//! - [`mod@trace`]: the tool calls, results, turns and tokens of a run, and how recorded runs are read;
//! - [`eval`]: the metrics, pure functions from runs to numbers;
//! - [`text`]: words in messages;
//! - [`energy`]: a live guard against runs that grow out of hand, and its analysis afterwards.
//!
//! Nothing here knows of test cases or of gates, so a program can measure its own agent with it.

pub mod energy;
pub mod eval;
pub mod text;
pub mod trace;
