#![forbid(unsafe_code)]
//! The command beside `mcptest-harness`: `cargo mcptest …`.
//!
//! One room a command, and what they share:
//!
//! - [`mod@import`]: runs that are there already become recordings;
//! - [`init`]: a crate gets its first agent test;
//! - [`mod@record`]: runs agents live; [`play`]: runs their code against recordings;
//! - [`validate`]: what is wrong with suites and recordings;
//! - [`explain`]: every number of some cases; [`report`]: all verdicts in one piece;
//! - [`compare`]: did the agents get worse; [`calibrate`]: what does a threshold mean; [`mutants`]: would the suites notice;
//! - [`mock`]: a server of made-up tools; [`proxy`]: between a client and its server; [`contract`]: a live server against recordings;
//! - [`schema`], [`completions`]: for editors and shells;
//! - [`package`]: the crate that a command is about, found by `cargo metadata`;
//! - [`judging`]: its verdicts; [`git`]: its recordings at a revision; [`edit`]: its suites, changed;
//! - [`gates`]: what their declarations say of suites;
//! - [`bound`]: programs that end with the command;
//! - [`status`], [`failure`], [`output`]: how a command answers.
//!
//! What is here never reaches the build of a test.

mod address;
mod bound;
mod calibrate;
mod compare;
mod completions;
mod contract;
mod edit;
mod explain;
mod failure;
mod files;
mod gates;
mod git;
mod import;
mod init;
mod interrupted;
mod judging;
mod mock;
mod mutants;
mod outcome;
mod output;
mod package;
mod play;
mod proxy;
mod record;
mod report;
mod schema;
mod status;
mod table;
mod validate;

use std::io::{ErrorKind, Write as _, stderr, stdout};
use std::process::ExitCode;

use clap::Parser;

use failure::Failure;
use output::{Output, Unread};
use status::ExitStatus;

/// What cargo calls: `cargo mcptest …`.
#[derive(Debug, Parser)]
#[command(name = "cargo", bin_name = "cargo")]
enum Cargo {
    Mcptest(Arguments),
}

/// Agent tests as ordinary `cargo test` cases: record, play, judge, compare.
#[derive(Debug, clap::Args)]
#[command(version, after_help = status::EXIT_STATUS)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Init(init::Init),
    Import(Box<import::Import>),
    Record(record::Record),
    Play(play::Play),
    Test(record::Test),
    Validate(validate::Validate),
    Explain(explain::Explain),
    Report(report::Report),
    Compare(Box<compare::Compare>),
    Calibrate(calibrate::Calibrate),
    Mutants(mutants::Mutants),
    Mock(mock::Mock),
    Proxy(proxy::Proxy),
    Contract(contract::Contract),
    Schema(schema::Schema),
    Completions(completions::Completions),
}

impl Command {
    fn run(&self, output: &mut Output<'_>) -> Result<ExitStatus, Failure> {
        match self {
            Self::Init(init) => init.run(output),
            Self::Import(import) => import.run(output.out, output.err),
            Self::Record(record) => record.run(output),
            Self::Play(play) => play.run(output),
            Self::Test(test) => test.run(),
            Self::Validate(validate) => validate.run(output),
            Self::Explain(explain) => explain.run(output),
            Self::Report(report) => report.run(output),
            Self::Compare(compare) => compare.run(output),
            Self::Calibrate(calibrate) => calibrate.run(output),
            Self::Mutants(mutants) => mutants.run(output),
            Self::Mock(mock) => mock.run(output),
            // It has the exit code of the server, and never comes here.
            Self::Proxy(_) => Ok(ExitStatus::Holds),
            Self::Contract(contract) => contract.run(output),
            Self::Schema(schema) => schema.run(output),
            Self::Completions(completions) => completions.run(output),
        }
    }
}

fn main() -> ExitCode {
    if let Some(recorded) = record::child() {
        return recorded;
    }
    let mut arguments: Vec<_> = std::env::args_os().collect();
    // Called by its own name, without cargo.
    if arguments.get(1).is_none_or(|first| first != "mcptest") {
        arguments.insert(1.min(arguments.len()), "mcptest".into());
    }
    let arguments = match Cargo::try_parse_from(arguments) {
        Ok(Cargo::Mcptest(arguments)) => arguments,
        Err(told) => return help(&told),
    };
    let mut output = Output {
        out: &mut Unread("standard output", stdout()),
        err: &mut Unread("standard error", stderr()),
    };
    let code = match &arguments.command {
        // The client sees the server's own exit code.
        Command::Proxy(proxy) => proxy.run().map(ExitCode::from),
        command => command.run(&mut output).and_then(|status| {
            // What is still held back may find no room.
            output.out.flush()?;
            Ok(status.into())
        }),
    };
    code.unwrap_or_else(|failure| {
        // Where nothing can be said, the status still speaks.
        _ = writeln!(output.err, "{failure}");
        failure.status.into()
    })
}

/// Prints the help, or what is wrong with the arguments.
fn help(told: &clap::Error) -> ExitCode {
    let printed = told.print().and_then(|()| stdout().flush());
    let is_full = printed.is_err_and(|error| error.kind() != ErrorKind::BrokenPipe);
    if is_full || told.use_stderr() {
        ExitStatus::CouldNotRun.into()
    } else {
        ExitStatus::Holds.into()
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    /// Who reads the help of a command sees how it is called, and the call is one.
    #[test]
    fn the_help_of_each_command_begins_with_what_it_is_for_and_an_example() {
        let cargo = Cargo::command();
        let mcptest = cargo.find_subcommand("mcptest").unwrap();
        let mut commands = 0;
        for command in mcptest.get_subcommands() {
            let name = command.get_name();
            let about = command.get_about().unwrap().to_string();
            assert!(about.len() < 100, "{name}: {about}");
            let help = command.get_long_about().unwrap().to_string();
            let (_, example) = help
                .split_once("\n\nExample: `")
                .unwrap_or_else(|| panic!("the help of `{name}` has no example: {help}"));
            let (example, _) = example.split_once('`').unwrap();
            assert!(
                example.starts_with(&format!("cargo mcptest {name}")),
                "{example}"
            );
            if let Err(error) = Cargo::try_parse_from(example.split(' ')) {
                panic!("{example}: {error}");
            }
            commands += 1;
        }
        assert!(commands > 10, "{commands}");
    }
}
