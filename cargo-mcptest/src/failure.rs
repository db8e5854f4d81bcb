//! Why a command could not run, or cannot tell, and what to do about it.

use std::fmt;
use std::io;

use mcptest_suite::escape;
use mcptest_trace::record::store::StoreError;

use crate::status::ExitStatus;

/// A command that came to no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) status: ExitStatus,
    message: String,
    help: Option<String>,
}

impl Failure {
    /// A command that could not run.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            status: ExitStatus::CouldNotRun,
            message: message.into(),
            help: None,
        }
    }

    /// A command that found nothing, or too little, to judge.
    pub(crate) fn inconclusive(message: impl Into<String>) -> Self {
        Self {
            status: ExitStatus::CannotTell,
            ..Self::new(message)
        }
    }

    /// Adds what the user can do next.
    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl Failure {
    /// The message without its help.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", escape(&self.message))?;
        match &self.help {
            Some(help) => write!(f, "\n\nhelp: {}", escape(help)),
            None => Ok(()),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::new(error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::new(error.to_string())
    }
}
