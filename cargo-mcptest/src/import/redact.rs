//! What an import takes out of the runs of others: what a recording takes out, and what foreign logs
//! bring besides, secrets that are known by their shape or by the key they stand at.

use std::error::Error;
use std::fmt;

use mcptest_trace::record::environment::{provider_secrets, secrets};
use mcptest_trace::record::redact::{Redactor, TooLarge};
use regex::Regex;

/// Below this length a value of the environment is a word.
const SHORTEST: usize = 6;

/// Why secrets cannot be taken out.
#[derive(Debug)]
pub(super) enum RedactorError {
    /// A pattern is none.
    Pattern(regex::Error),
    /// Values are too long to be looked for.
    TooLarge(TooLarge),
}

impl fmt::Display for RedactorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pattern(error) => {
                write!(f, "`--redact` has an invalid regular expression: {error}")
            }
            Self::TooLarge(error) => write!(f, "{error}"),
        }
    }
}

impl Error for RedactorError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(match self {
            Self::Pattern(error) => error,
            Self::TooLarge(error) => error,
        })
    }
}

/// `variables` are environment variables that hold secrets, `own` patterns of the suite and the
/// command. `keep_named` leaves what only the key it stands at makes a secret.
///
/// # Errors
///
/// A pattern that is none, or values that are too long to be looked for.
pub(super) fn redactor<'a>(
    variables: impl Iterator<Item = &'a str>,
    own: impl Iterator<Item = &'a str>,
    keep_named: bool,
) -> Result<Redactor, RedactorError> {
    let values = provider_secrets().chain(secrets(variables));
    let values = values.filter(|(_, value)| value.trim().len() >= SHORTEST);
    let patterns: Result<Vec<Regex>, regex::Error> = own.map(Regex::new).collect();
    let patterns = patterns.map_err(RedactorError::Pattern)?;
    let redactor = Redactor::new(values, patterns).map_err(RedactorError::TooLarge)?;
    let redactor = redactor.with_shapes();
    Ok(if keep_named {
        redactor
    } else {
        redactor.with_secret_keys()
    })
}
