//! What names no run rests on no order: not of the runs, the agents, the files, the keys of a recording, or of calls
//! that were made in parallel.
//!
//! Each test judges a package as it is and in another order, with the real gates, and compares what its cases come to.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod asked;
mod files;
mod gates;
mod package;
mod parallel;
mod regression;
mod runs;
