//! Runs that are there already, as recordings: `cargo mcptest import`.
//!
//! One way through: **files → records → runs → recordings → files**.
//!
//! - `input`: where the records of a file lie, and a record at a time;
//! - `format`: which format a file has; one file a format reads its records into an `event::ForeignRun`;
//! - `joining`, `essence`: which records are one run; `reading`: the runs of some records, mapped, in both passes;
//! - `shared`: records that are of several runs;
//! - `blocks`, `dialect`: the parts of messages, which several formats share;
//! - `nesting`, `waiting`, `distinct`: what several formats look things up in;
//! - `cassette`: the one place that makes a recording of a run; `scores`: what judges thought of it;
//! - `plan`, `names`, `entries`, `neighbours`, `recorded`: the first pass, which finds the runs, their agents and their order;
//! - `writing`, `redact`, `store`: the second pass, which takes secrets out and writes;
//! - `starter`: a suite for runs that have none;
//! - `report`, `summary`: what could not be imported, and what was.

mod actions;
mod anthropic;
mod atif;
mod blocks;
mod cassette;
mod claude_code;
mod codex;
mod command;
mod dialect;
mod digest;
mod distinct;
mod entries;
mod essence;
mod event;
mod forks;
mod format;
mod input;
mod inspect;
mod joining;
mod json;
mod kind;
mod langsmith;
mod mapping;
mod mcptest;
mod names;
mod neighbours;
mod nesting;
mod openai;
mod opening;
mod otel;
mod plan;
mod promptfoo;
mod reading;
mod recorded;
mod redact;
mod report;
mod reread;
mod rig;
mod scores;
mod shared;
mod starter;
mod store;
mod subagent_calls;
mod summary;
mod tau;
#[cfg(test)]
mod tests;
mod time;
mod undo;
mod verdict;
mod waiting;
mod wire;
mod writing;

use mcptest_session::protocol::{blob, content};

pub(crate) use command::Import;
pub(crate) use starter::is_first_suite;
