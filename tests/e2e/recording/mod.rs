//! Recording, as a stranger meets it: a real MCP server, a model API on loopback that plays a
//! script, and test executables that are built with and without the feature `session`.

use e2e_support::live::{desk, function_crate, recording_crate};

mod asking;
mod budget;
mod caps;
mod faults;
mod happy;
mod killed;
mod macros;
mod mock;
mod odd_servers;
mod own_loop;
mod places;
mod played;
mod provider;
mod resume;
mod secrets;
mod selection;
mod servers;
mod together;
mod untouched;
