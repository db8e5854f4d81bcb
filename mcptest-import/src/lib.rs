#![forbid(unsafe_code)]
//! Runs that other tools have written, as recordings: what `cargo mcptest import` reads.
//!
//! One way through: **files → records → runs → recordings**. Nothing here writes a file, and nothing knows suites.
//!
//! - `input`: where the records of a file lie, and a record at a time;
//! - `kind`, `format`: which format a file has; `formats`: one module a format reads its records into an `event::ForeignRun`;
//! - `joining`, `comparable`: which records are one run; `reading`: the runs of some records, mapped, in both passes;
//! - `shared`: records that are of several runs;
//! - `blocks`, `dialect`, `actions`: the parts of messages, which several formats share;
//! - `nesting`, `waiting`, `distinct`: what several formats look things up in;
//! - `loss`: what is not imported, and why;
//! - `cassette`: the one place that makes a recording of a run; `scores`: what judges thought of it.

mod actions;
mod blocks;
mod cassette;
mod comparable;
mod dialect;
mod digest;
mod distinct;
mod event;
mod format;
mod formats;
mod input;
mod joining;
mod json;
mod kind;
mod loss;
mod mapping;
mod nesting;
mod reading;
mod scores;
mod shared;
mod subagent_calls;
mod time;
mod verdict;
mod waiting;
mod wire;

use mcptest_session::protocol::{blob, content};

pub use cassette::Imported;
pub use digest::{Digest, content_id};
pub use format::logged_exchange;
pub use formats::claude_code::is_about_subagent;
pub use input::{
    Change, Input, NamedFile, NamedFiles, Record, RecordPlace, Split, Unreadable, find_files,
};
pub use joining::{Joined, Joiner};
pub use json::unwrap_json_text;
pub use kind::FormatKind;
pub use loss::{LossReason, Lost};
pub use mapping::{Mapping, RunUnit, Subagents};
pub use reading::{AgentProfile, GroupBy, Mapped, Read, Reading, stem};
