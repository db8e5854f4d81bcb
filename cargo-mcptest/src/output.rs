//! Where a command writes to, and in which format.

use mcptest_trace::text::pluralize;
use std::io::{self, ErrorKind, Write};

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

/// A stream whose reader may leave before the end, as `… | head` does: what nobody reads is dropped, and
/// the command goes on to its exit status, which is the same whoever reads. A stream that is full is an error, which names
/// the stream.
pub(crate) struct Unread<W>(pub(crate) &'static str, pub(crate) W);

impl<W> Unread<W> {
    fn write_error(&self, error: &io::Error) -> io::Error {
        io::Error::new(
            error.kind(),
            format!("{} cannot be written: {error}", self.0),
        )
    }
}

impl<W: Write> Write for Unread<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.1.write(bytes) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(bytes.len()),
            written => written.map_err(|error| self.write_error(&error)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.1.flush() {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            flushed => flushed.map_err(|error| self.write_error(&error)),
        }
    }
}

/// How an answer is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum OutputFormat {
    /// For people.
    #[default]
    Text,
    /// For programs: a JSON object. Its key `format` is the version of the format.
    Json,
}

/// How many of a thing there are, before what they are, e.g. `1 case is`, `2 cases are`.
pub(crate) fn counted_are(count: usize, what: &str) -> String {
    let are = if count == 1 { "is" } else { "are" };
    format!("{} {are}", pluralize(count, what))
}

/// How many runs passed, of those that say so, and how many do not.
pub(crate) fn describe_passed(passed: usize, failed: usize, unknown: usize) -> String {
    match (passed + failed, unknown) {
        (0, _) => String::new(),
        (judged, 0) => format!("{passed} of {judged}"),
        (judged, unknown) => format!("{passed} of {judged}, {unknown} unknown"),
    }
}

/// At most four decimals.
pub(crate) fn format_short(number: f64) -> String {
    let text = format!("{number:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0" } else { text }.to_owned()
}

/// Lines, each two columns further right.
pub(crate) fn indent(text: &str) -> String {
    let line = |line: &str| {
        if line.is_empty() {
            "\n".to_owned()
        } else {
            format!("  {line}\n")
        }
    };
    text.trim_end().lines().map(line).collect()
}
