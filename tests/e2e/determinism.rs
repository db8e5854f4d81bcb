//! Verdicts and failure texts are the same bytes every time, whatever the threads, the folder and the way
//! in.

use crate::sample::{Sample, expected, sample, suites_and_runs};
use crate::support::folder::Folder;
use crate::support::outcome::Outcome::Failed;
use crate::support::snapshot;

fn texts(sample: &Sample, target: &str, arguments: &[&str]) -> Vec<(String, String)> {
    let failures = sample.run(target, arguments).exits(101).failures();
    failures.into_iter().collect()
}

#[test]
fn failure_texts_are_the_same_in_every_run_and_thread_order() {
    let sample = sample();
    let first = texts(sample, "agents", &["--test-threads=1"]);
    for threads in ["1", "2", "3", "8", "8", "8", "32"] {
        assert_eq!(texts(sample, "agents", &["--test-threads", threads]), first);
    }
}

#[test]
fn a_case_run_alone_fails_with_the_same_text() {
    for (name, text) in texts(sample(), "agents", &[]) {
        let alone = texts(sample(), "agents", &["--exact", &name]);
        assert_eq!(alone, [(name, text)]);
    }
}

#[test]
fn the_runner_and_the_macro_fail_with_the_same_text() {
    let by_runner = texts(sample(), "agents", &[]);
    let failed = expected(|_| true)
        .into_values()
        .filter(|outcome| *outcome == Failed);
    assert_eq!(by_runner.len(), failed.count());
    assert_eq!(texts(sample(), "macros", &[]), by_runner);
    assert_eq!(texts(sample(), "sample", &["shop"]), by_runner);
}

#[test]
fn the_folder_does_not_show_in_a_failure() {
    let elsewhere = suites_and_runs()
        .into_iter()
        .fold(Folder::new(), |folder, (path, bytes)| {
            folder.with_file(&path, bytes)
        });
    let here = texts(sample(), "agents", &[]);
    let ran = sample()
        .run_in(elsewhere.path(), "agents", &[], &[])
        .exits(101);
    assert_eq!(ran.failures().into_iter().collect::<Vec<_>>(), here);
}

#[test]
fn the_failures_read_as_reviewed() {
    for (name, text) in texts(sample(), "agents", &[]) {
        let name = name.replace("::", "-");
        snapshot::assert(&format!("sample-{name}"), &text, &sample().folder);
    }
}
