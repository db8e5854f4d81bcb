//! Mode `play`: the agent's own code runs, and its model is a recording.
//!
//! - `recording`, `conversation`, `index`, `cassette_fields`, `offered_tools`: what a cassette holds for playing,
//!   whoever wrote it;
//! - `joining`: what older recordings hold apart;
//! - `model_calls`: the model calls of a trace, one answer each;
//! - `position`: which answer a request asks for; `openings`, `similar`, `turn_key`: its conversation;
//! - `alignment`, `turns`, `model_turn`, `examples`: the turns of the model in a request, beside the recorded
//!   turns;
//! - `compare`: what a request says otherwise than the recorded one;
//! - `matching`, `frames`: when two values are the same;
//! - `closing`: what the program says to the user, beside what it said;
//! - `held_requests`: what a request has of the one before it; `scratchpads`: a changed text past, after the one
//!   before it;
//! - `own_tools`: tools of the agent's own code; `open_runs`, `own_inside`: what is inside of those that are given
//!   back;
//! - `session`: one run of the agent's code against a recording;
//! - `servers`: MCP servers, played; `call_index`: calls by what they ask; `server_player`: one of them, to whoever asks it;
//! - `keys`: placeholders for keys of providers;
//! - `player`, `state`, `wire`: answers the requests of an endpoint; `played`: what came of it.
//!
//! Nothing here reaches a network. Every answer to a recorded request is found from the request alone, so that a request
//! that comes again gets the same answer again.

mod alignment;
pub(crate) mod call_index;
mod cassette_fields;
mod closing;
mod compare;
mod conversation;
mod examples;
mod frames;
mod held_requests;
mod index;
mod joining;
mod keys;
pub(crate) mod matching;
mod model_calls;
mod model_turn;
mod offered_tools;
mod open_runs;
mod openings;
mod options;
mod own_inside;
mod own_tools;
mod played;
mod player;
mod position;
mod recording;
mod scratchpads;
mod server_player;
mod server_reply;
mod servers;
mod session;
mod similar;
mod state;
#[cfg(test)]
mod tests;
mod turn_key;
mod turns;
mod wire;

pub use options::{MaskError, PlayOptions};
pub use played::Played;
pub use player::Player;
pub use recording::{Recording, RecordingError};
pub use server_player::{ServerAnswer, ServerPlayer, ServerPlayerError};
pub use session::{PlaySession, PlayedRun};
