//! MCP servers behind the address of a session: the agent reaches them as before, and a copy of what goes by is read.
//!
//! - `server`: a server, and where it stands at the address; `servers`: those of a session;
//! - `stdio`, `child`: one that is a program; `http`: one over HTTP;
//! - `frames`: where a message ends; `messages`: what it says; `bytes`: a message as bytes; `rpc`: answers to requests;
//! - `traffic_log`, `traffic`: what went by, and why the run is not one; `names`: what clients call the tools;
//! - `call_order`: in which order the model asked for calls, which faults and caps count by;
//! - `config`: the file that clients read.

#[cfg(feature = "record")]
pub(crate) mod bytes;
#[cfg(feature = "record")]
mod call_order;
#[cfg(feature = "record")]
mod child;
#[cfg(any(feature = "play", feature = "record"))]
mod config;
#[cfg(feature = "record")]
#[doc(hidden)]
pub mod frames;
#[cfg(feature = "record")]
mod http;
#[cfg(feature = "record")]
#[doc(hidden)]
pub mod messages;
mod names;
#[cfg(any(feature = "play", feature = "record"))]
pub(crate) mod rpc;
mod server;
#[cfg(feature = "record")]
mod servers;
#[cfg(feature = "record")]
mod stdio;
mod traffic;
#[cfg(feature = "record")]
mod traffic_log;

#[cfg(feature = "record")]
pub(crate) use call_order::CallOrder;
#[cfg(any(feature = "play", feature = "record"))]
pub(crate) use config::ConfigFile;
pub(crate) use names::NameIndex;
#[cfg(feature = "play")]
pub(crate) use server::path_of;
pub(crate) use server::variable_of;
pub use server::{McpServer, McpTransport};
#[cfg(feature = "record")]
pub(crate) use servers::Servers;
pub use traffic::{McpAnswer, McpCall, McpTraffic, names_tool};
#[cfg(feature = "record")]
pub use traffic_log::ServerFailure;
#[cfg(feature = "record")]
pub(crate) use traffic_log::TrafficLog;
