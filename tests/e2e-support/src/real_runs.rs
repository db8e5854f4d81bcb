//! 120 recorded runs of a real agent (30 agents of 4 runs) and 141 of others, which are not ours to
//! publish: in `../shared/data` beside the workspace, or where `MCPTEST_SHARED_DATA` says.

use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, fs};

use libtest_mimic::{Arguments, Completion, Trial};
use serde_json::Value;

use crate::workshop::workspace;

/// A part of the data: `tau-airline`, `other-domains`, `expected`.
pub fn part(name: &str) -> PathBuf {
    let beside = || workspace().join("../shared/data");
    let data = env::var_os("MCPTEST_SHARED_DATA").map_or_else(beside, PathBuf::from);
    data.join(name)
}

/// Why tests of them are ignored, where they are.
pub fn missing_reason() -> Option<String> {
    let there =
        part("tau-airline/crate/cassettes/airline").is_dir() && expected_numbers().is_file();
    (!there).then(|| {
        format!(
            "the recorded runs are not in {}; say in MCPTEST_SHARED_DATA where they are",
            part("").display()
        )
    })
}

/// The expected numbers of the evidence.
pub fn expected() -> Value {
    serde_json::from_slice(&fs::read(expected_numbers()).unwrap()).unwrap()
}

fn expected_numbers() -> PathBuf {
    part("expected/evidence-tau-airline.json")
}

/// Holds if a number is the expected one, to the six digits that are given; both or none.
pub fn assert_same(what: &str, found: Option<f64>, expected: &Value) {
    let near = match (found, expected.as_f64()) {
        (None, None) => true,
        (Some(found), Some(given)) => (found - given).abs() <= 5.1e-6 * given.abs().max(1e-9),
        _ => false,
    };
    assert!(near, "{what}: {found:?} is not {expected}");
}

/// Runs tests of the data. Where it is absent every test is listed as ignored, with the reason.
pub fn run(tests: &[(&str, fn())]) -> ExitCode {
    let absent = missing_reason();
    let trials = tests.iter().map(|(name, test)| {
        let (test, absent) = (*test, absent.clone());
        Trial::ignorable_test(*name, move || {
            if let Some(reason) = absent {
                return Ok(Completion::ignored_with(reason));
            }
            test();
            Ok(Completion::Completed)
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

/// Tests by their paths: rows of `module::test;`.
#[macro_export]
macro_rules! tests {
    ($($module:ident :: $test:ident;)*) => {
        &[$((concat!(stringify!($module), "::", stringify!($test)), $module::$test as fn())),*]
    };
}
