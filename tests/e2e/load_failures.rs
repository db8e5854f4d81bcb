//! A suite that does not load fails, and no filter but an exact one hides it.

use crate::sample::runner;
use crate::support::clerk::{ONE, SUITE, counted};
use crate::support::folder::Folder;
use crate::support::outcome::Outcome::{Failed, Passed};
use crate::support::process::Finished;

/// One suite that passes and one that does not load.
fn mixed() -> Folder {
    Folder::new()
        .with("suites/desk.yml", SUITE)
        .with_run(ONE, &counted(3))
        .with("suites/broken.yml", "agentss: []\n")
}

fn ran(arguments: &[&str]) -> Finished {
    runner(mixed().path(), arguments)
}

#[track_caller]
fn assert_both(arguments: &[&str], desk: bool) {
    let ran = ran(arguments).exits(101);
    let mut wanted = vec![("broken::load".to_owned(), Failed)];
    wanted.extend(desk.then(|| ("desk::clerk".to_owned(), Passed)));
    assert_eq!(
        ran.outcomes(),
        wanted.into_iter().collect(),
        "{arguments:?}\n{ran}"
    );
}

#[test]
fn it_is_one_failing_case_beside_the_others() {
    assert_both(&[], true);
    assert_both(&["--include-ignored"], true);
}

#[test]
fn positional_filters_do_not_hide_it() {
    assert_both(&["stability"], false);
    assert_both(&["clerk"], true);
    assert_both(&["no such case", "nor such"], false);
    assert_both(&["--ignored"], false);
    assert_both(&["--skip", "clerk"], false);
}

#[test]
fn exact_and_skip_do() {
    let exact = ran(&["--exact", "desk::clerk"]).exits(0);
    assert_eq!(
        exact.outcomes().into_iter().collect::<Vec<_>>(),
        [("desk::clerk".to_owned(), Passed)]
    );
    let skipped = ran(&["--skip", "broken"]).exits(0);
    assert_eq!(skipped.outcomes(), exact.outcomes());
}

#[test]
fn exact_runs_it_too() {
    let exact = ran(&["--exact", "broken::load"]).exits(101);
    assert_eq!(
        exact.outcomes().into_iter().collect::<Vec<_>>(),
        [("broken::load".to_owned(), Failed)]
    );
}

#[test]
fn it_is_listed_so_that_nextest_runs_it() {
    let terse = ["--list", "--format", "terse"];
    assert_eq!(
        ran(&terse).exits(0).listed(),
        ["broken::load", "desk::clerk"]
    );
    let ignored = ran(&[&terse[..], &["--ignored"]].concat())
        .exits(0)
        .listed();
    assert!(ignored.is_empty(), "{ignored:?}");
}
