//! Why providers cannot be reached.

use std::error::Error;
use std::fmt;

/// No connection to providers can be made.
#[derive(Debug)]
pub struct RelayError(reqwest::Error);

impl RelayError {
    pub(super) const fn new(error: reqwest::Error) -> Self {
        Self(error)
    }
}

impl fmt::Display for RelayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no connection can be made: {}", self.0)
    }
}

impl Error for RelayError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}
