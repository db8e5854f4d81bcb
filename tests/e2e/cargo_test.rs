//! `cargo test` itself.

use crate::sample::{EXPECTED, PACKAGE, expected, sample, summary};
use crate::support::outcome::Outcome::Failed;
use crate::support::workshop::run_cargo;

#[test]
fn every_case_is_run_and_a_failure_reaches_the_exit_code() {
    let ran = run_cargo(&sample().folder, &["test", "--test", "agents"]).exits(101);
    assert_eq!(ran.outcomes(), expected(|_| true), "{ran}");
    assert!(
        ran.stdout
            .contains(&format!("running {} tests\n", EXPECTED.len()))
    );
    assert!(ran.stdout.contains(&summary(&expected(|_| true))), "{ran}");
    assert!(
        ran.stderr
            .contains("test failed, to rerun pass `--test agents`")
    );
}

#[test]
fn a_green_selection_exits_with_zero() {
    let ran = run_cargo(&sample().folder, &["test", "--test", "agents", "weather"]).exits(0);
    let wanted = expected(|name| name.contains("weather"));
    assert_eq!(ran.outcomes(), wanted, "{ran}");
    assert!(ran.stdout.contains(&summary(&wanted)), "{ran}");
}

#[test]
fn the_word_stability_selects_the_stability_gates_and_nothing_else() {
    let ran = run_cargo(&sample().folder, &["test", "--test", "agents", "stability"]).exits(101);
    let wanted = expected(|name| name.ends_with("::stability"));
    assert!(wanted.len() >= 4);
    assert_eq!(ran.outcomes(), wanted, "{ran}");
}

#[test]
fn the_command_that_a_failure_names_runs_that_case_alone() {
    let failures = sample().run("agents", &[]).failures();
    let failed = expected(|_| true)
        .into_iter()
        .filter(|(_, outcome)| *outcome == Failed);
    let wanted: Vec<_> = failed.map(|(name, _)| name).collect();
    assert_eq!(failures.keys().cloned().collect::<Vec<_>>(), wanted);
    for (name, text) in &failures {
        let command = text
            .trim_end()
            .lines()
            .last()
            .and_then(|line| line.strip_prefix("run this case alone: "));
        assert_eq!(
            command,
            Some(&*format!("cargo test -p {PACKAGE} -- --exact {name}"))
        );
    }
    let name = &wanted[0];
    let command = [
        "test",
        "-p",
        PACKAGE,
        "--no-fail-fast",
        "--",
        "--exact",
        name,
    ];
    let ran = run_cargo(&sample().folder, &command).exits(101);
    // The sample has every case four times: by two runners, in a test target, in its unit tests.
    assert_eq!(ran.stdout.matches("running 1 test\n").count(), 4, "{ran}");
    assert_eq!(
        ran.stdout
            .matches(&format!("test {name} ... FAILED"))
            .count(),
        4,
        "{ran}"
    );
}
