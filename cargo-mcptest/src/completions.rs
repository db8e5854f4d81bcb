//! `cargo mcptest completions`: what a shell offers on the tab key.

use clap::{Command, CommandFactory as _};
use clap_complete::Shell;

use crate::failure::Failure;
use crate::output::Output;
use crate::status::ExitStatus;

/// Prints a script that completes this command in a shell.
///
/// Example: `cargo mcptest completions bash`
#[derive(Debug, clap::Args)]
pub(crate) struct Completions {
    /// The shell that reads them.
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(&self, output: &mut Output<'_>) -> Result<ExitStatus, Failure> {
        let mut cargo = crate::Cargo::command();
        let Some(command) = cargo.find_subcommand_mut("mcptest") else {
            return Err(Failure::new("there is nothing to complete"));
        };
        let mut command: Command = command
            .clone()
            .name("cargo-mcptest")
            .bin_name("cargo-mcptest");
        // Made first, so that what cannot be written is an error and no panic.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "cargo-mcptest", &mut script);
        output.out.write_all(&script)?;
        Ok(ExitStatus::Holds)
    }
}
