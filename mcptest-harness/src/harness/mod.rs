//! From suites to test cases: discovery, loading, the runner, and what the macro calls.

mod arguments;
mod case;
mod discovery;
mod entry;
mod loaded;
mod runner;
mod runs;

pub use entry::{MacroCase, Shown, run_case};
pub use runner::Harness;
