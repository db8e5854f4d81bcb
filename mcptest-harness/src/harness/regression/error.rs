//! Why runs cannot be compared with those of a baseline.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::harness::runs_error::RunsError;
use crate::result::ResultFileError;

/// Why runs cannot be compared with those of a baseline. Several cases are told of one file.
#[derive(Debug, Clone)]
pub(super) enum BaselineError {
    /// A result of the baseline cannot be read.
    Result(Arc<ResultFileError>),
    /// The runs of an agent cannot be read.
    Runs(RunsError),
}

impl From<ResultFileError> for BaselineError {
    fn from(error: ResultFileError) -> Self {
        Self::Result(Arc::new(error))
    }
}

impl From<RunsError> for BaselineError {
    fn from(error: RunsError) -> Self {
        Self::Runs(error)
    }
}

impl fmt::Display for BaselineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Result(error) => write!(f, "{error}"),
            Self::Runs(error) => write!(f, "{error}"),
        }
    }
}

impl Error for BaselineError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Result(error) => Some(error),
            Self::Runs(error) => Some(error),
        }
    }
}
