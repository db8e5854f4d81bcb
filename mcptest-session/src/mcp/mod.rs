//! MCP servers behind the address of a session: the agent reaches them as before, and a copy of what goes by is read.
//!
//! - `frames`: where a message ends;
//! - `messages`: what messages say.

#[doc(hidden)]
pub mod frames;
#[cfg(feature = "record")]
#[doc(hidden)]
pub mod messages;
