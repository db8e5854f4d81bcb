//! Mode `play`: the agent's own code runs, and its model is a recording.
//!
//! - `recording`, `kept`, `offered`: what a cassette holds for playing, whoever wrote it;
//! - `moves`: the model calls of a trace, one answer each;
//! - `place`: which answer a request asks for;
//! - `compare`: what a request says otherwise than the recorded one;
//! - `held`: what a request has of the one before it;
//! - `session`: one run of the agent's code against a recording;
//! - `servers`: MCP servers, played; `server_player`: one of them, to whoever asks it;
//! - `keys`: placeholders for keys of providers;
//! - `player`, `wire`: answers the requests of an endpoint.
//!
//! Nothing here reaches a network. Every answer is found from its request alone, so that a request that comes again
//! gets the same answer again.

mod compare;
mod held;
mod kept;
mod keys;
mod moves;
mod offered;
mod options;
mod place;
mod player;
mod recording;
mod server_player;
mod servers;
mod session;
#[cfg(test)]
mod tests;
mod texts;
mod wire;

pub use options::PlayOptions;
pub use player::{Played, Player};
pub use recording::{Recording, RecordingError};
pub use server_player::{ServerAnswer, ServerPlayer, ServerPlayerError};
pub use session::{PlaySession, PlayedRun};
