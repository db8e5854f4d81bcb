//! Why a session cannot begin.

use std::error::Error;
use std::fmt;
use std::io;

use crate::endpoint::UpstreamError;
use crate::record::RelayError;

/// Why a session cannot begin.
#[derive(Debug)]
#[non_exhaustive]
pub enum BeginError {
    /// An environment variable for the address of a provider is not UTF-8.
    AddressNotUnicode {
        /// The variable.
        variable: &'static str,
    },
    /// The address of a provider cannot be used.
    Upstream(UpstreamError),
    /// Providers cannot be reached.
    Relay(RelayError),
    /// The file for MCP clients cannot be written.
    ConfigFile(io::Error),
    /// No port can be opened.
    Port(io::Error),
}

impl fmt::Display for BeginError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AddressNotUnicode { variable } => write!(
                f,
                "the environment variable `{variable}` is not UTF-8, so it is no address; set it again, or unset it"
            ),
            Self::Upstream(error) => write!(f, "{error}"),
            Self::Relay(error) => write!(f, "{error}"),
            Self::ConfigFile(error) => {
                write!(f, "the file for MCP clients cannot be written: {error}")
            }
            Self::Port(error) => write!(f, "no port can be opened: {error}"),
        }
    }
}

impl Error for BeginError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::AddressNotUnicode { .. } => None,
            Self::Upstream(error) => Some(error),
            Self::Relay(error) => Some(error),
            Self::ConfigFile(error) | Self::Port(error) => Some(error),
        }
    }
}
