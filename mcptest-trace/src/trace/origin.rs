//! Where a run was read from.

use std::fmt;

/// Where a run was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origin {
    /// The path as it is shown: relative to the crate, `/` between segments.
    pub shown: String,
    /// The line, from 1, in a file that holds one run a line.
    pub line: Option<usize>,
}

impl Origin {
    /// A file that holds one run.
    pub fn file(shown: impl Into<String>) -> Self {
        Self {
            shown: shown.into(),
            line: None,
        }
    }

    /// A line, from 1, of a file that holds one run a line.
    pub fn line(shown: impl Into<String>, line: usize) -> Self {
        Self {
            shown: shown.into(),
            line: Some(line),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)?;
        self.line.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}
