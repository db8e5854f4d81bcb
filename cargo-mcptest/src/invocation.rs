//! The arguments and the help, by the name by which the command was called: cargo calls it `cargo mcptest`, and the
//! packages for Python and TypeScript bring it as `mcptest-harness`.

use std::ffi::OsString;

use clap::{Args as _, FromArgMatches as _};
use mcptest::command::CommandName;

use crate::Arguments;

/// The subcommand of cargo.
const OF_CARGO: &str = "mcptest";

/// How npx says to what it starts that it started it.
const NPX: (&str, &str) = ("npm_lifecycle_event", "npx");

/// What was asked. From here on all texts have the name by which the command was called.
pub(crate) fn parse_arguments(
    line: impl Iterator<Item = OsString>,
) -> Result<Arguments, clap::Error> {
    let mut line: Vec<_> = line.collect();
    let by_npx = std::env::var_os(NPX.0).is_some_and(|event| event == NPX.1);
    let name = line
        .first()
        .map(|program| CommandName::for_program(program, by_npx));
    let name = name.unwrap_or_default();
    name.make_current();
    // Cargo names itself and the subcommand.
    if name == CommandName::OfCargo && line.get(1).is_some_and(|first| first == OF_CARGO) {
        line.remove(1);
    }
    read(name, line)
}

fn read(name: CommandName, line: Vec<OsString>) -> Result<Arguments, clap::Error> {
    let mut command = build_command(name);
    let matches = command.try_get_matches_from_mut(line)?;
    Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// The command with its help, which has this name.
pub(crate) fn build_command(name: CommandName) -> clap::Command {
    let program = match name {
        CommandName::OfCargo => "cargo-mcptest",
        CommandName::OfPackages | CommandName::OfNpx => "mcptest-harness",
    };
    let command = Arguments::augment_args(clap::Command::new(program));
    rename_command(command.bin_name(name.words()), name)
}

/// Puts the name by which the command was called into all texts of its help.
fn rename_command(command: clap::Command, name: CommandName) -> clap::Command {
    if name == CommandName::OfCargo {
        return command;
    }
    let renamed = |text: &clap::builder::StyledStr| {
        let text = text.to_string();
        text.replace(CommandName::OfCargo.words(), name.words())
    };
    let [about, long, after] = [
        command.get_about().map(renamed),
        command.get_long_about().map(renamed),
        command.get_after_help().map(renamed),
    ];
    let command = about.into_iter().fold(command, clap::Command::about);
    let command = long.into_iter().fold(command, clap::Command::long_about);
    let command = after.into_iter().fold(command, clap::Command::after_help);
    let command = command.mut_args(|argument| {
        let [short, long] = [
            argument.get_help().map(renamed),
            argument.get_long_help().map(renamed),
        ];
        let argument = short.into_iter().fold(argument, clap::Arg::help);
        long.into_iter().fold(argument, clap::Arg::long_help)
    });
    command.mut_subcommands(|command| rename_command(command, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who reads the help of a command sees how it is called, and the call is one.
    #[test]
    fn the_help_of_each_command_begins_with_what_it_is_for_and_an_example() {
        for name in CommandName::ALL {
            let all = build_command(name);
            let mut commands = 0;
            for command in all.get_subcommands() {
                let subcommand = command.get_name();
                let about = command.get_about().unwrap().to_string();
                assert!(about.len() < 100, "{subcommand}: {about}");
                let help = command.get_long_about().unwrap().to_string();
                let (_, example) = help
                    .split_once("\n\nExample: `")
                    .unwrap_or_else(|| panic!("the help of `{subcommand}` has no example: {help}"));
                let (example, _) = example.split_once('`').unwrap();
                let call = format!("{} {subcommand}", name.words());
                assert!(example.starts_with(&call), "{example}");
                let words = example.strip_prefix(name.words()).unwrap();
                let line = format!("program{words}");
                let line = line.split(' ').map(OsString::from).collect();
                if let Err(error) = read(name, line) {
                    panic!("{example}: {error}");
                }
                commands += 1;
            }
            assert!(commands > 10, "{commands}");
        }
    }

    #[test]
    fn no_text_of_the_help_has_the_other_name() {
        let [cargo, packages, npx] = CommandName::ALL;
        for (name, other) in [(cargo, packages), (packages, cargo), (npx, cargo)] {
            let mut all = build_command(name);
            all.build();
            let whole = all.render_long_help().to_string();
            let helps = all.get_subcommands_mut().map(|command| {
                let [short, long] = [command.render_help(), command.render_long_help()];
                format!("{short}\n{long}")
            });
            let helps: Vec<String> = helps.chain([whole]).collect();
            for help in helps {
                let call = format!("{} ", other.words());
                assert!(!help.contains(&call), "{help}");
                assert!(help.contains(name.words()), "{help}");
            }
        }
    }
}
