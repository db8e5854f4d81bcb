//! `mcptest-harness …`: what the packages for Python and TypeScript bring.

fn main() -> std::process::ExitCode {
    cargo_mcptest::main()
}
