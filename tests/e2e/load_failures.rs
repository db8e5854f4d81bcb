//! A suite that does not load fails, and no filter but an exact one hides it.

use crate::sample::runner;
use crate::support::clerk::{ONE, SUITE, counted};
use crate::support::folder::Folder;
use crate::support::outcome::Outcome::{Failed, Ignored, Passed};
use crate::support::process::Finished;

/// One suite that passes and one that does not load.
fn mixed() -> Folder {
    Folder::new()
        .with_file("suites/desk.yml", SUITE)
        .with_run(ONE, &counted(3))
        .with_file("suites/broken.yml", "agentss: []\n")
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

/// Two agents of one suite, of which the second is broken.
fn half_broken(first: &str) -> Folder {
    let broken = "  - name: Broken\n    model: m\n    prompts: Which key is this?\n";
    Folder::new()
        .with_file("suites/desk.yml", format!("{first}{broken}"))
        .with_run(ONE, &counted(3))
}

#[test]
fn an_agent_by_its_exact_name_is_judged_beside_one_that_is_broken() {
    let folder = half_broken(SUITE);
    let alone = runner(folder.path(), &["--exact", "desk::clerk"]).exits(0);
    assert_eq!(
        alone.outcomes().into_iter().collect::<Vec<_>>(),
        [("desk::clerk".to_owned(), Passed)]
    );
    // The broken one, one that is not there, and a list show what is wrong.
    for arguments in [
        &["--exact", "desk::broken"][..],
        &["--exact", "desk::clerk", "desk::broken"],
        &["--exact", "desk::nobody"],
        &["desk::clerk"],
        &[],
    ] {
        let ran = runner(folder.path(), arguments).exits(101);
        assert_eq!(
            ran.outcomes().into_iter().collect::<Vec<_>>(),
            [("desk::load".to_owned(), Failed)],
            "{arguments:?}\n{ran}"
        );
    }
    let listed = runner(folder.path(), &["--list", "--format", "terse"]);
    assert_eq!(listed.exits(0).listed(), ["desk::load"]);
}

#[test]
fn what_speaks_of_all_agents_is_read_for_one_alone_too() {
    let other = "  - name: Other\n    model: m\n    prompt: p\n    only: true\n    narrative: {}\n";
    let folder = Folder::new()
        .with_file("suites/desk.yml", format!("{SUITE}{other}"))
        .with_run(ONE, &counted(3));
    let alone = runner(folder.path(), &["--exact", "desk::clerk"]);
    let outcomes: Vec<_> = alone.outcomes().into_iter().collect();
    assert_eq!(outcomes, [("desk::clerk".to_owned(), Ignored)], "{alone}");
    let twice = Folder::new()
        .with_file(
            "suites/desk.yml",
            format!("{SUITE}  - {{ name: clerk, model: m, prompt: p, narrative: {{}} }}\n"),
        )
        .with_run(ONE, &counted(3));
    let named_twice = runner(twice.path(), &["--exact", "desk::clerk"]).exits(101);
    assert!(
        named_twice
            .stdout
            .contains("two agents have the case name `clerk`"),
        "{named_twice}"
    );
}

#[test]
fn what_compares_all_agents_reads_all_of_them() {
    let compared = format!("regression: {{ baseline: before }}\n{SUITE}");
    let broken = "  - name: Broken\n    model: m\n    prompts: Which key is this?\n";
    let folder = Folder::new()
        .with_file("suites/desk.yml", format!("{compared}{broken}"))
        .with_run(ONE, &counted(3));
    for name in ["desk::regression", "desk::clerk::regression", "desk::clerk"] {
        let ran = runner(folder.path(), &["--exact", name]).exits(101);
        let outcomes: Vec<_> = ran.outcomes().into_iter().collect();
        assert_eq!(outcomes, [("desk::load".to_owned(), Failed)], "{ran}");
    }
}
