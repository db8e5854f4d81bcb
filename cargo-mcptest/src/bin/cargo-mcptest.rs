//! `cargo mcptest …`: what cargo calls.

fn main() -> std::process::ExitCode {
    cargo_mcptest::main()
}
