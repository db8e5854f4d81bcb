//! Where a command writes to, and in which format.

use std::io::{self, Write};

use mcptest_trace::trace::pretty_json;
use serde_json::Value;

/// Standard output and standard error of a command.
pub(crate) struct Output<'a> {
    pub(crate) out: &'a mut dyn Write,
    pub(crate) err: &'a mut dyn Write,
}

impl Output<'_> {
    /// Writes a value with a line end.
    pub(crate) fn json(&mut self, value: &Value) -> io::Result<()> {
        writeln!(self.out, "{}", pretty_json(value))
    }
}

/// How an answer is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs: an object whose `format` says its version.
    Json,
}
