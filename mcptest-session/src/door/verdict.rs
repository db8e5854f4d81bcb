//! What becomes of a call at the door.

use serde_json::Value;

use super::entry::RaisedError;
use super::request::RequestError;

/// What a call is to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It runs, under this number, and says how it ended.
    Run(usize),
    /// It does not run: this is its value.
    Result {
        /// The value.
        value: Value,
        /// Only what the model was told of the value is known.
        told: bool,
        /// Its JSON as the code wrote it, where that is more than the value.
        text: Option<String>,
        /// The number under which the code may say that it cannot use the value, where a recording has it.
        given: Option<usize>,
    },
    /// It does not run: this is what it raises.
    Error(RaisedError),
}

#[cfg(feature = "play")]
impl Verdict {
    /// Sets the number under which the code may refuse a recorded value. Other verdicts stay as they are.
    pub(super) fn with_run(mut self, run: usize) -> Self {
        if let Self::Result { given, .. } = &mut self {
            *given = Some(run);
        }
        self
    }
}

/// Why a request is not taken. Nothing changes then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The request cannot be read, for this reason.
    Bad(RequestError),
    /// No run has this number, or the run has ended.
    Run,
    /// The session has ended.
    Ended,
    /// There are too many calls.
    TooMany,
}
