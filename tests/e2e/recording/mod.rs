//! Recording, as a stranger meets it: a real MCP server, a model API on loopback that plays a
//! script, and test executables that are built with and without the feature `record`.
//!
//! - `studio`: the executables, and a folder with a suite, a script and its provider;
//! - `desk`: the MCP server, and the suites and scripts about it that most tests use;
//! - `troupe`: a crate with a loop of its own, and a folder for it;
//! - the other modules are tests, one subject each.

mod asking;
mod budget;
mod caps;
mod desk;
mod disk;
mod faults;
mod happy;
mod killed;
mod macros;
mod npm;
mod odd_servers;
mod own_loop;
mod places;
mod provider;
mod resume;
mod secrets;
mod selection;
mod servers;
mod studio;
mod together;
mod troupe;
mod untouched;

pub(crate) use desk::order_desk;
pub(crate) use studio::{collect, studio};
