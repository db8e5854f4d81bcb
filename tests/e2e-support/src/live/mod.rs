//! Recording live: a real MCP server, a model API on loopback that plays a script, and test
//! executables that are built with and without the feature `session`.
//!
//! - `studio`: the executables, and a folder with a suite, a script and its provider;
//! - `desk`: the MCP server, and the suites and scripts about it that most tests use;
//! - `troupe`: a crate with a loop of its own, and a folder for it.

pub mod desk;
pub mod function_crate;
pub mod recording_crate;
