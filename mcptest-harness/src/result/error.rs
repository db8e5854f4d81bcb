//! Why a result cannot be read.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

use mcptest_suite::{escape_line, portable_path};

use super::SCHEMA_VERSION;

/// Why a text is no result that can be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum ResultError {
    /// It is no JSON.
    NotJson(serde_json::Error),
    /// It does not say which version of the format it has.
    NoVersion,
    /// It has a version of the format that is not read.
    OtherVersion {
        /// The version.
        found: String,
    },
    /// It has not the fields of a result.
    NotAResult(serde_json::Error),
}

impl fmt::Display for ResultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson(error) => write!(f, "not JSON: {error}"),
            Self::NoVersion => f.write_str("no result of a case: it has no `schema_version`"),
            Self::OtherVersion { found } => write!(
                f,
                "the result has format {}, and this harness reads {SCHEMA_VERSION}: write the result again with `MCPTEST_RESULTS`",
                escape_line(found)
            ),
            Self::NotAResult(error) => write!(f, "no result of a case: {error}"),
        }
    }
}

impl Error for ResultError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NotJson(error) | Self::NotAResult(error) => Some(error),
            Self::NoVersion | Self::OtherVersion { .. } => None,
        }
    }
}

/// A file that is no result that can be read.
#[derive(Debug)]
pub(crate) struct ResultFileError {
    /// The file, below the folder of the results.
    pub(crate) file: PathBuf,
    pub(crate) cause: ResultFileCause,
}

/// Why a file is no result that can be read.
#[derive(Debug)]
pub(crate) enum ResultFileCause {
    Io(io::Error),
    Result(ResultError),
}

impl From<io::Error> for ResultFileCause {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<ResultError> for ResultFileCause {
    fn from(error: ResultError) -> Self {
        Self::Result(error)
    }
}

impl fmt::Display for ResultFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", portable_path(&self.file), self.cause)
    }
}

impl Error for ResultFileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.cause {
            ResultFileCause::Io(error) => Some(error),
            ResultFileCause::Result(error) => Some(error),
        }
    }
}

impl fmt::Display for ResultFileCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "{error}"),
            Self::Result(error) => write!(f, "{error}"),
        }
    }
}
