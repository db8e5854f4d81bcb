#![forbid(unsafe_code)]
//! Tests for AI agents, in `cargo test`.
//!
//! A team records what its agent did (tool calls, arguments, results, tokens, the closing message)
//! into *cassettes*, and writes what must hold of every recorded run into YAML *suites*. From then
//! on `cargo test` judges all recorded runs with deterministic gates: no model, no key, no
//! server, no network, the same bytes on every machine.
//!
//! There are two ways in, with the same cases and the same names:
//!
//! - a runner of its own, for a test target with `harness = false`: [`main!`], or [`harness!`] and
//!   the builder [`Harness`];
//! - [`suite`](macro@suite), an attribute that writes `#[test]` functions into a module, for the
//!   standard test harness.
//!
//! Recordings come from `MCPTEST_RECORD=missing cargo test`, which runs agents live (the feature
//! `record`), from a loop of one's own that does the same ([`Harness::record_with`]), or from a
//! [`Recorder`] alone.
//!
//! Beside them stand the parts, usable without any suite: the metrics in [`eval`], the live guard
//! and its analysis in [`energy`], statistics of a few runs in [`stats`], the typed trace in [`mod@trace`], target paths in [`check`].
//!
//! The guide is the folder `docs/` of the repository: suites, cassettes, gates, recording, playing, checks in Rust.

pub mod check;
#[doc(hidden)]
pub mod command;
mod gate;
mod harness;
mod record;
mod render;
pub mod result;

#[doc(hidden)]
pub use check::TargetProblem;
pub use gate::{GateInfo, OptionInfo, Role, gates, parse_suite, read_suite};
pub use harness::{AgentRuns, CheckFailure, Harness, Verdict, judge};
/// The suite language: the model of a suite, its loader and its diagnostics.
pub use mcptest_suite as suite;
pub use mcptest_trace::{energy, stats, trace};

/// The metrics: pure functions from recorded runs to numbers, and the JSON Schemas that expected
/// arguments may be checked against.
///
#[doc = include_str!("gate/targets.md")]
pub mod eval {
    pub use crate::check::Schema;
    pub use mcptest_trace::eval::*;
}

#[cfg(feature = "session")]
pub use harness::{BoxedAgent, boxed};
#[cfg(feature = "session")]
pub use mcptest_session::handle::{AgentSession as Session, ToolFailure};
#[cfg(feature = "session")]
pub use mcptest_session::session::Mode;
pub use mcptest_trace::record::{CallId, RecordError, Recorder};
pub use record::RunRequest;

/// Turns the cases of a suite file into `#[test]` functions.
///
/// The file is `suites/<path>`, else `<path>`, from the crate's folder; both existing is an error.
/// Cargo rebuilds the tests when the file changes. A suite that does not load is a compile error
/// that quotes the suite's problem.
///
/// On a module, every case becomes a test in it, named as the runner names it; the module's own
/// items stay:
///
/// ```ignore
/// #[mcptest::suite("checkout.yml")]
/// mod checkout {}
/// ```
///
/// With `agent = run` every agent of the suite is this async function of the crate: where `MCPTEST_RECORD` asks for
/// recording, it is called for every run that is recorded, as that of [`Harness::agent`] is. It takes the feature
/// `session`. Two attributes for one suite take the same function:
///
/// ```ignore
/// async fn run(session: mcptest::Session) -> Result<(), my_crate::Error> {
///     let client = my_crate::Client::at(session.openai_url());
///     my_crate::answer(&client, session.prompt()).await
/// }
///
/// #[mcptest::suite("checkout.yml", agent = run)]
/// mod checkout {}
/// ```
///
/// On a function, the function becomes one further case per agent test, given the agent's recorded
/// runs:
///
/// ```ignore
/// #[mcptest::suite("checkout.yml")]
/// fn never_pays_twice(runs: &mcptest::AgentRuns) -> Result<(), mcptest::CheckFailure> {
///     runs.each("it pays once", |run| match run.calls_of("pay").count() {
///         0 | 1 => Ok(()),
///         times => Err(format!("it paid {times} times")),
///     })
/// }
/// ```
pub use mcptest_macros::suite;

/// What the macros' code calls; not part of the public API.
#[doc(hidden)]
pub mod __private {
    pub use crate::harness::{AgentFunction, MacroCase, Shown, run_case, run_check};
}

/// The function behind `agent = …` of the macro; not part of the public API.
#[cfg(feature = "session")]
#[doc(hidden)]
#[macro_export]
macro_rules! __agent_function {
    ($run:expr) => {
        $crate::__private::AgentFunction::new($run)
    };
}

/// The macro in a build that cannot call a function: it names the line that is missing in Cargo.toml.
#[cfg(not(feature = "session"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __agent_function {
    ($run:expr) => {
        ::core::compile_error!(
            "`agent = …` needs the feature `session` of the harness; in Cargo.toml, under [dev-dependencies], write `mcptest-harness = { version = \"0.1\", features = [\"session\"] }`"
        )
    };
}

/// Builds the [`Harness`] of the crate that it is written in.
#[macro_export]
macro_rules! harness {
    () => {
        $crate::Harness::new(
            ::core::env!("CARGO_MANIFEST_DIR"),
            ::core::env!("CARGO_PKG_NAME"),
        )
        .built_as(::core::env!("CARGO_CRATE_NAME"))
    };
}

/// Writes the `main` function of a `harness = false` test target that runs every suite below
/// `suites/`.
///
/// ```no_run
/// mcptest::main!();
/// ```
#[macro_export]
macro_rules! main {
    () => {
        fn main() -> ::std::process::ExitCode {
            $crate::harness!().run()
        }
    };
}
