//! The reader of closings, from outside: verdicts, closings that it was not tuned on, any text.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests"
)]

mod claims;
mod closings;
mod details;
mod held_out;
mod lists;
mod looked_up;
mod near_misses;
mod no_claims;
mod pairs;
mod parts;
mod properties;
mod support;
mod tool_names;
mod twins;
mod verdicts;
