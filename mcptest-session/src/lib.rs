#![forbid(unsafe_code)]
//! Sessions: an agent's own code runs, and an address on loopback stands in place of its model's API.
//!
//! - [`exchange`]: what was asked and what was said, in the words of no provider;
//! - [`protocol`]: the wire formats of the providers, to and from an exchange;
//! - `endpoint`, with the feature `endpoint`: the address, and who may ask;
//! - [`door`]: what tools of the agent's own code do, so that they run only where they may;
//! - `driver`, with the feature `endpoint`: an agent that is a command is started, asked and ended;
//! - `process`, with the feature `process`: a program whose process group ends with this process;
//! - [`mcp`]: the MCP servers behind the address, and what is called there;
//! - [`record`]: what went by becomes a run; with the feature `record` it also passes requests on to the real model.
//! - `play`, with the feature `play`: a recording answers in the model's place, and what the agent does otherwise is told;
//! - `tools`, with the feature `tools`: what tools of a program tell a session that is another process;
//! - `session`, with the feature `record`: one run of an agent, from its address to its cassette.
//!
//! The crate knows recorded runs (`mcptest-trace`) and nothing of suites or gates.

pub mod door;
#[cfg(feature = "endpoint")]
pub mod driver;
#[cfg(feature = "endpoint")]
pub mod endpoint;
#[cfg(any(feature = "play", feature = "record"))]
mod environment;
pub mod exchange;
#[cfg(any(feature = "play", feature = "record"))]
mod folders;
#[cfg(any(feature = "play", feature = "record"))]
pub mod handle;
#[doc(hidden)]
pub mod json;
pub mod mcp;
#[cfg(any(feature = "play", feature = "record"))]
pub mod mode;
#[cfg(feature = "play")]
pub mod play;
#[cfg(feature = "process")]
#[doc(hidden)]
pub mod process;
pub mod protocol;
pub mod record;
#[cfg(feature = "record")]
pub mod session;
#[cfg(feature = "tools")]
pub mod tools;

#[doc(hidden)]
pub use mcptest_trace::record::lossless;
