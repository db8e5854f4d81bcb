//! The door of a session: tools of the agent's own code tell it what they do, so that they run only where they may.
//!
//! - `request`: the two requests, read; `http`: their answers;
//! - `matching`: when names and values are the same;
//! - `entry`: a call at the door, and how it ended; `write`, `read`: that call in a cassette;
//! - `state`: the calls of a session, for all that come by;
//! - `verdict`: what becomes of a call; `divergences`: what the code does otherwise than the recording;
//! - `play`: what a recording gives back; `recorded`: the calls that it has;
//! - `answering`: what a suite answers in the place of tools;
//! - `values`: what can be kept of what tools give;
//! - `in_process`: calls of an agent that is a function of this process.
//!
//! While a run is recorded, nothing is decided here but what a suite answers in a tool's place: which call of the model a
//! call is, is found when the run is over.

#[cfg(any(feature = "play", feature = "record"))]
mod answering;
#[cfg(feature = "play")]
mod divergences;
mod entry;
#[cfg(any(feature = "play", feature = "record"))]
mod http;
#[cfg(any(feature = "play", feature = "record"))]
mod in_process;
pub(crate) mod matching;
#[cfg(feature = "play")]
mod play;
#[cfg(feature = "play")]
mod read;
#[cfg(feature = "play")]
mod recorded;
pub mod request;
#[cfg(any(feature = "play", feature = "record"))]
mod state;
#[cfg(all(test, feature = "play", feature = "record"))]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test")]
mod tests;
#[cfg(any(feature = "play", feature = "record"))]
mod ticks;
#[cfg(any(feature = "play", feature = "record", feature = "tools"))]
pub(crate) mod values;
#[cfg(any(feature = "play", feature = "record"))]
mod verdict;
mod write;

#[cfg(feature = "record")]
pub(crate) use answering::Strike;
pub use entry::{AnsweredBy, Ending, OwnCall, RaisedError};
#[cfg(feature = "play")]
pub(crate) use play::CallPlayer;
#[cfg(feature = "play")]
pub(crate) use recorded::{RecordedCalls, RecordedOwnCall};
#[cfg(any(feature = "play", feature = "record"))]
pub use state::Door;
#[cfg(any(feature = "play", feature = "record"))]
pub(crate) use ticks::Ticks;
#[cfg(any(feature = "play", feature = "record", feature = "tools"))]
pub use values::ToolFailure;
#[cfg(any(feature = "play", feature = "record"))]
pub use verdict::{Refusal, Verdict};

/// The path of the door below the address of a session.
pub const PATH: &str = "/tools";

/// The most calls of one session.
pub const MAX_CALLS: usize = 200_000;

/// Whether a path is of the door.
pub(crate) fn is_door(path: &str) -> bool {
    path.strip_prefix(PATH)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
