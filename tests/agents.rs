//! The harness over this repository's own suites.

mcptest::main!();
