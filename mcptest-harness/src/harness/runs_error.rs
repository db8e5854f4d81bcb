//! Why the runs of an agent cannot be used.

use std::error::Error;
use std::fmt;

use crate::trace::CassetteError;

/// Why the runs of an agent cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunsError {
    /// They cannot be judged: the failure as `cargo test` prints it.
    NotJudged(String),
    /// They lie in several places.
    SeveralPlaces {
        /// The agent.
        agent: String,
        /// The places.
        places: Vec<String>,
    },
    /// The suite names a place that cannot be used, for this reason.
    Unusable(String),
    /// Recordings cannot be read.
    Unreadable(Vec<CassetteError>),
}

impl fmt::Display for RunsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJudged(text) | Self::Unusable(text) => f.write_str(text),
            Self::SeveralPlaces { agent, places } => {
                let places = places.join(" and ");
                write!(f, "the runs of `{agent}` are in several places: {places}")
            }
            Self::Unreadable(errors) => {
                let drawn = errors.iter();
                let drawn = drawn.map(|error| format!("{}: {}", error.origin, error.render()));
                f.write_str(&drawn.collect::<Vec<_>>().join("\n"))
            }
        }
    }
}

impl Error for RunsError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unreadable(errors) => errors.first().map(|error| error as _),
            Self::NotJudged(_) | Self::SeveralPlaces { .. } | Self::Unusable(_) => None,
        }
    }
}
