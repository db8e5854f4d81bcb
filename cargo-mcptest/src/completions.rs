//! `cargo mcptest completions`: what a shell offers on the tab key.

use clap_complete::Shell;
use mcptest::command::CommandName;

use crate::failure::Failure;
use crate::invocation;
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
        let mut command = invocation::build_command(CommandName::current());
        // The file's name, which a shell completes.
        let program = command.get_name().to_owned();
        command.set_bin_name(&program);
        // Made first, so that what cannot be written is an error and no panic.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, program, &mut script);
        output.out.write_all(&script)?;
        Ok(ExitStatus::Holds)
    }
}
