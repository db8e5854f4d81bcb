#![forbid(unsafe_code)]
//! The suite language of `mcptest-harness`: a YAML file of agent
//! tests in, a [`model::Suite`] or every problem of the file out.
//!
//! - [`model`] is the suite after loading; nothing in it can be in a bad state.
//! - [`matcher`] has the matchers: how each is read, what it asks, and how it judges a value.
//! - [`gates`] is the table of gates; what is in their blocks is read by who brings a
//!   [`read::GateReader`].
//! - [`Diagnostic`] and [`LoadError`] say what is wrong and where, drawn as rustc draws.
//! - [`segment`], [`SuitePath`] and [`Case`] make the names that the runner prints and that
//!   `#[mcptest::suite]` makes functions of. [`Shard`] is a part of them.
//!
//! Nothing here judges a run, and no file is read but the suite. The crate is compiled into a
//! procedural macro, so it stays light: JSON Schemas and regular expressions are compiled elsewhere.

mod cases;
mod diagnostic;
mod excerpt;
mod fast_parse;
pub mod gates;
mod limits;
mod load;
mod mapping;
pub mod matcher;
pub mod model;
mod names;
mod node;
mod number;
mod parse;
pub mod read;
mod shard;
mod source;
mod unreadable;

pub use cases::{Case, CaseKind, Subject};
pub use diagnostic::{Diagnostic, Label, LoadError, Style};
pub use mcptest_trace::text::{escape, escape_line, nearest, quoted_list};
pub use names::{
    LOAD, REGRESSION, SuitePath, SuitePathError, UNSUPPORTED, cassette_slug, is_reserved, segment,
};
pub use node::{Entry, Node, NodeValue};
pub use shard::{Shard, ShardError};
pub use source::{Source, Span, Spanned, portable_path};

/// The JSON Schema of suite files, for editors. The loader is stricter and says more.
pub const SUITE_SCHEMA: &str = include_str!("../schemas/suite.schema.json");
