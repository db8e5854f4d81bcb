#![forbid(unsafe_code)]
//! The command beside `mcptest-harness`: `cargo mcptest …`.
//!
//! - [`mod@import`]: runs that are there already become recordings.
//!
//! What is here never reaches the build of a test.

mod import;

use std::io::{stderr, stdout};
use std::process::ExitCode;

use clap::Parser;

/// What cargo calls: `cargo mcptest …`.
#[derive(Debug, Parser)]
#[command(name = "cargo", bin_name = "cargo")]
enum Cargo {
    Mcptest(Arguments),
}

/// Agent tests as ordinary `cargo test` cases: what is needed beside the tests.
#[derive(Debug, clap::Args)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Import(Box<import::Import>),
}

fn main() -> ExitCode {
    let mut arguments: Vec<_> = std::env::args_os().collect();
    // Called by its own name, without cargo.
    if arguments.get(1).is_none_or(|first| first != "mcptest") {
        arguments.insert(1.min(arguments.len()), "mcptest".into());
    }
    let Cargo::Mcptest(arguments) = Cargo::parse_from(arguments);
    let status = match arguments.command {
        Command::Import(import) => import.run(&mut stdout().lock(), &mut stderr().lock()),
    };
    ExitCode::from(status)
}
