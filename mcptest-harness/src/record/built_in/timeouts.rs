//! How long something outside may take to answer.

use std::time::Duration;

use crate::record::LiveError;

/// How long something outside may take to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Timeouts {
    /// A server, to one request.
    pub(super) server: Duration,
    /// A model, to one request.
    pub(super) model: Duration,
}

/// The variable that says how many seconds servers and models may take.
const TIMEOUT: &str = "MCPTEST_RECORD_TIMEOUT";

impl Timeouts {
    pub(super) fn from_environment() -> Result<Self, LiveError> {
        match std::env::var_os(TIMEOUT) {
            Some(text) if !text.is_empty() => Self::read(&text.to_string_lossy()),
            _ => Ok(Self {
                server: Duration::from_mins(1),
                model: Duration::from_mins(5),
            }),
        }
    }

    fn read(text: &str) -> Result<Self, LiveError> {
        let seconds = text.parse::<f64>().ok();
        let seconds = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        match seconds.filter(|seconds| !seconds.is_zero()) {
            Some(seconds) => Ok(Self {
                server: seconds,
                model: seconds,
            }),
            None => Err(LiveError::new(format!("`{TIMEOUT}={text}` is no time"))
                .help("write a number of seconds above 0, e.g. 30")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_is_a_number_of_seconds_above_zero() {
        let read = |text| Timeouts::read(text).map(|timeouts| timeouts.server);
        assert_eq!(read("0.25"), Ok(Duration::from_millis(250)));
        for wrong in ["0", "-1", "soon", "inf", "NaN"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
