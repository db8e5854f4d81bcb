//! The harness as a stranger meets it: small crates that use it by path, built and run by the real
//! `cargo test` and `cargo nextest`, and the executables that these build, run directly.
//!
//! What they stand on is the crate `e2e-support`; the modules here are tests, one subject each. What
//! needs more than the Rust toolchain is in `tests/needs/`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use e2e_support::{self as support, sample};

mod arguments;
mod bad_recordings;
mod bad_suites;
mod bad_targets;
mod cargo_test;
mod checks;
mod compile_errors;
mod determinism;
mod discovery;
mod downloads;
mod formats;
mod function_macro;
mod guide;
mod guide_recording;
mod hostile;
mod load_failures;
mod names;
mod newcomer;
mod only;
mod output;
mod own_suites;
mod rebuild;
mod recording;
mod results;
mod snapshots;
mod stale;
mod tags;
mod twins;
