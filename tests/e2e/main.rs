//! The harness as a stranger meets it: small crates that use it by path, built and run by the real
//! `cargo test` and `cargo nextest`, and the executables that these build, run directly.
//!
//! - `support`: processes, folders, recordings, crates;
//! - `sample`: the crate that most tests run, and the table of what each of its cases does;
//! - the other modules are tests, one subject each.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

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
mod hostile;
mod load_failures;
mod names;
mod newcomer;
mod nextest;
mod only;
mod own_suites;
mod readme_recording;
mod real_data;
mod rebuild;
mod recording;
mod sample;
mod snapshots;
mod stale;
mod support;
mod twins;
