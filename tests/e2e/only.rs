//! `only: true` for a moment of work, and never in CI.

use crate::sample::{runner, sample};
use crate::support::clerk::{SUITE, counted, desk};
use crate::support::folder::Folder;
use crate::support::outcome::Outcome::{Ignored, Passed};
use crate::support::process::Finished;
use crate::support::snapshot;

fn two_desks() -> Folder {
    let other = SUITE
        .replacen("agents:\n", "", 1)
        .replace("Clerk", "Porter");
    let suite = format!("{SUITE}    only: true\n{other}");
    desk(&suite)
        .with_run("suites/cassettes/Clerk__m.json", &counted(3))
        .with_run("suites/cassettes/Porter__m.json", &counted(4))
}

fn with_ci(folder: &Folder, value: &str) -> Finished {
    sample().run_in(folder.path(), "agents", &[], &[("CI", value)])
}

#[test]
fn the_other_agents_of_the_suite_are_ignored() {
    let folder = two_desks();
    for ran in [
        runner(folder.path(), &[]),
        with_ci(&folder, ""),
        with_ci(&folder, "0"),
        with_ci(&folder, "false"),
    ] {
        let outcomes = ran.clone().exits(0).outcomes();
        let wanted = [
            ("desk::clerk".to_owned(), Passed),
            ("desk::porter".to_owned(), Ignored),
        ];
        assert_eq!(outcomes, wanted.into_iter().collect(), "{ran}");
    }
}

#[test]
fn another_suite_is_not_touched() {
    let folder = two_desks().with_file("suites/yard.yml", SUITE);
    folder.write("cassettes/yard/Clerk__m.json", "");
    std::fs::remove_file(folder.at("cassettes/yard/Clerk__m.json")).unwrap();
    let outcomes = runner(folder.path(), &[]).exits(0).outcomes();
    assert_eq!(outcomes["yard::clerk"], Passed);
}

#[test]
fn in_ci_it_is_a_failure() {
    let folder = two_desks();
    for value in ["true", "1", "yes"] {
        let ran = with_ci(&folder, value).exits(101);
        let (name, text) = ran.only_failure();
        assert_eq!(name, "desk::load");
        snapshot::assert("only-in-ci", &text, folder.path());
    }
}
