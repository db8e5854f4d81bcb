//! The harness over the example suites of the README.

use std::process::ExitCode;

fn main() -> ExitCode {
    mcptest::harness!().root("examples").run()
}
