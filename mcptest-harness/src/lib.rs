#![forbid(unsafe_code)]
//! Agent tests as ordinary `cargo test` cases.

pub mod check;
pub mod energy;
pub mod eval;
mod gate;
mod harness;
mod render;
pub mod trace;

pub use harness::Harness;
pub use mcptest_macros::suite;
pub use mcptest_suite as suite;

/// What the macros' code calls; not part of the public API.
#[doc(hidden)]
pub mod __private {
    pub use crate::harness::{MacroCase, Shown, run_case};
}

/// Builds the [`Harness`] of the crate that it is written in.
#[macro_export]
macro_rules! harness {
    () => {
        $crate::Harness::new(
            ::core::env!("CARGO_MANIFEST_DIR"),
            ::core::env!("CARGO_PKG_NAME"),
        )
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
