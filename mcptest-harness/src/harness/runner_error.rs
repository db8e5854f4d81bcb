//! Why a runner runs nothing of what was asked for.

use std::error::Error;
use std::fmt;

use super::arguments::ArgumentError;
use super::functions::FunctionError;
use super::tags::SelectionError;
use crate::record::RecordRequestError;

/// Why a runner runs nothing of what was asked for.
#[derive(Debug)]
pub(super) enum RunnerError {
    Arguments(ArgumentError),
    Selection(SelectionError),
    Recording(RecordRequestError),
    Functions(FunctionError),
    Checks(CheckNameError),
}

impl fmt::Display for RunnerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Arguments(error) => write!(f, "{error}"),
            Self::Selection(error) => write!(f, "{error}"),
            Self::Recording(error) => write!(f, "{error}"),
            Self::Functions(error) => write!(f, "{error}"),
            Self::Checks(error) => write!(f, "{error}"),
        }
    }
}

impl Error for RunnerError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(match self {
            Self::Arguments(error) => error,
            Self::Selection(error) => error,
            Self::Recording(error) => error,
            Self::Functions(error) => error,
            Self::Checks(error) => error,
        })
    }
}

impl From<ArgumentError> for RunnerError {
    fn from(error: ArgumentError) -> Self {
        Self::Arguments(error)
    }
}

impl From<SelectionError> for RunnerError {
    fn from(error: SelectionError) -> Self {
        Self::Selection(error)
    }
}

impl From<RecordRequestError> for RunnerError {
    fn from(error: RecordRequestError) -> Self {
        Self::Recording(error)
    }
}

impl From<FunctionError> for RunnerError {
    fn from(error: FunctionError) -> Self {
        Self::Functions(error)
    }
}

impl From<CheckNameError> for RunnerError {
    fn from(error: CheckNameError) -> Self {
        Self::Checks(error)
    }
}

/// Why a check in Rust cannot have its name.
#[derive(Debug)]
pub(super) enum CheckNameError {
    NoIdentifier { name: String, near: Option<String> },
    Reserved { name: String },
    Twice { name: String },
}

impl fmt::Display for CheckNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoIdentifier { name, near } => {
                write!(f, "`{name}` cannot name a check: it is no identifier")?;
                let near = near.as_ref();
                near.map_or(Ok(()), |near| write!(f, "; use `{near}`"))
            }
            Self::Reserved { name } => write!(
                f,
                "`{name}` cannot name a check: the harness uses this name for its own cases"
            ),
            Self::Twice { name } => write!(f, "two checks are named `{name}`"),
        }
    }
}

impl Error for CheckNameError {}
