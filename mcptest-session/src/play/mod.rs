//! Mode `play`: the agent's own code runs, and its model is a recording.
//!
//! - `recording`: what a cassette holds for playing, whoever wrote it;
//! - `moves`: the model calls of a trace, one answer each;
//! - `place`: which answer a request asks for;
//! - `compare`: what a request says otherwise than the recorded one;
//! - `divergence`: one such difference;
//! - `player`: answers the requests of an endpoint.
//!
//! Nothing here reaches a network. Every answer is found from its request alone, so that a request that comes again
//! gets the same answer again.

mod compare;
mod divergence;
mod moves;
mod options;
mod place;
mod player;
mod recording;
#[cfg(test)]
mod tests;
mod texts;

pub use divergence::{Divergence, Kind};
pub use options::{IgnoredPath, PlayOptions};
pub use player::{Played, Player};
pub use recording::{Recording, RecordingError};
