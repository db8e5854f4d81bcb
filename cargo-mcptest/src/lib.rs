#![forbid(unsafe_code)]
//! The command beside `mcptest-harness`: `cargo mcptest …`, or `mcptest-harness …` where a package for Python or
//! TypeScript brought it. Both programs are `main`; the library has no other use.
//!
//! One room a command, and what they share:
//!
//! - `import`: runs that are there already become recordings;
//! - `init`: a crate gets its first agent test;
//! - `record`: runs agents live; `play`: runs their code against recordings;
//! - `validate`: what is wrong with suites and recordings;
//! - `explain`: every number of some cases; `report`: all verdicts in one piece;
//! - `compare`: did the agents get worse; `calibrate`: what does a threshold mean; `mutants`: would the suites notice;
//! - `mock`: a server of made-up tools; `proxy`: between a client and its server; `contract`: a live server against recordings;
//! - `schema`, `completions`: for editors and shells;
//! - `package`: the crate that a command is about, found by `cargo metadata`;
//! - `part`: one of several shards of its cases; `judging`: its verdicts; `git`: its recordings at a revision; `edit`: its suites, changed;
//! - `gates`: what their declarations say of suites;
//! - `invocation`: the arguments and the help, by the name of the call;
//! - `child_process`: programs that end with the command;
//! - `percent`: numbers of percent as arguments;
//! - `status`, `failure`, `output`: how a command answers.
//!
//! What is here never reaches the build of a test.

mod address;
mod calibrate;
mod child_process;
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
mod invocation;
mod judging;
mod mock;
mod mutants;
mod outcome;
mod output;
mod package;
mod part;
mod percent;
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

use failure::Failure;
use output::{Output, Unread};
use status::ExitStatus;

/// Agent tests as ordinary test cases: record, play, judge, compare.
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

/// Runs the command of this process, by the name by which it was called.
#[must_use]
pub fn main() -> ExitCode {
    if let Some(recorded) = record::run_as_child() {
        return recorded;
    }
    let arguments = match invocation::parse_arguments(std::env::args_os()) {
        Ok(arguments) => arguments,
        Err(told) => return print_help(&told),
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
fn print_help(told: &clap::Error) -> ExitCode {
    let printed = told.print().and_then(|()| stdout().flush());
    let is_full = printed.is_err_and(|error| error.kind() != ErrorKind::BrokenPipe);
    if is_full || told.use_stderr() {
        ExitStatus::CouldNotRun.into()
    } else {
        ExitStatus::Holds.into()
    }
}
