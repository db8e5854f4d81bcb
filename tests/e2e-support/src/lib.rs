//! What the tests from outside stand on: processes in a scrubbed environment, folders made from
//! strings, recorded runs, and small crates that use the harness by path.
//!
//! - `sample`: the crate that most tests run, and the table of what each of its cases does;
//! - `live`: executables that record, a real MCP server, and folders to record in.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    reason = "helpers of tests: they fail by a panic, and a caller may leave what they return"
)]

pub mod clerk;
pub mod dice;
mod downloads;
pub mod folder;
pub mod git;
pub mod live;
pub mod outcome;
pub mod process;
pub mod real_runs;
pub mod recording;
pub mod sample;
pub mod snapshot;
pub mod transcript;
pub mod workshop;
