//! Runs that are there already, as recordings: `cargo mcptest import`.
//!
//! One way through: **files → runs → recordings → files**. The crate `mcptest-import` reads the files; here the runs get
//! their agents and suites.
//!
//! - `plan`, `names`, `entries`, `neighbours`, `recorded`: the first pass, which finds the runs, their agents and their order;
//! - `writing`, `redact`, `store`: the second pass, which takes secrets out and writes;
//! - `starter`: a suite for runs that have none;
//! - `report`, `summary`: what could not be imported, and what was.

mod command;
mod entries;
mod forks;
mod names;
mod neighbours;
mod opening;
mod plan;
mod reason;
mod recorded;
mod redact;
mod report;
mod run_cache;
mod starter;
mod store;
mod summary;
#[cfg(test)]
mod tests;
mod undo;
mod writing;

pub(crate) use command::Import;
pub(crate) use starter::is_first_suite;
