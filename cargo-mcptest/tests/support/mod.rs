//! What the tests of the command as it is run stand on.

use std::path::Path;

use e2e_support::process::{Finished, command, run};

/// Runs the command in a folder, in a scrubbed environment.
pub(crate) fn mcptest(folder: &Path, arguments: &[&str]) -> Finished {
    let mut line = command(env!("CARGO_BIN_EXE_cargo-mcptest"), folder);
    run(line.args(arguments))
}
