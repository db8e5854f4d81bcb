//! How recording is asked for, and when it is refused.

use super::desk::{TWICE, refunds};
use super::recording_crate::{Scene, recording_crate};
use crate::sample::sample;
use crate::support::process;
use crate::support::snapshot;
use crate::support::workshop::run_cargo;

/// The runner ends before any case, with this text.
#[track_caller]
fn refused(name: &str, word: &str, more: &[(&str, &str)]) {
    let scene = Scene::new(TWICE, &refunds());
    let mut command = scene.command(recording_crate().executable("agents"), &[]);
    let command = command
        .env("MCPTEST_RECORD", word)
        .envs(more.iter().copied());
    let ran = process::run(command).exits(101);
    assert!(ran.outcomes().is_empty(), "{ran}");
    assert_eq!(scene.requests().len(), 0);
    assert!(scene.places().is_empty());
    snapshot::assert(&format!("record-{name}"), &ran.stderr, scene.folder.path());
}

#[test]
fn recording_in_ci_is_refused_and_nothing_is_spent() {
    refused("in-ci", "missing", &[("CI", "true")]);
    refused(
        "in-ci-all",
        "all",
        &[("CI", "1"), ("MCPTEST_RECORD_IN_CI", "yes")],
    );
}

#[test]
fn an_unknown_word_is_refused_with_the_known_ones() {
    refused("unknown-word", "mising", &[]);
    refused("a-number", "1", &[]);
}

#[test]
fn recording_in_ci_is_done_when_it_is_meant() {
    let scene = Scene::new(TWICE, &refunds())
        .set("CI", "true")
        .set("MCPTEST_RECORD_IN_CI", "1");
    scene.record("missing", &[]).exits(0);
    assert_eq!(scene.places().len(), 2);
}

#[test]
fn ci_that_says_no_is_not_ci() {
    for no in ["", "0", "false"] {
        let scene = Scene::new(TWICE, &refunds()).set("CI", no);
        scene.record("missing", &[]).exits(0);
    }
}

#[test]
fn ci_alone_judges() {
    let scene = Scene::new(TWICE, &refunds());
    scene.record("missing", &[]).exits(0);
    let scene = scene.set("CI", "true");
    scene.judge(&[]).exits(0);
    assert_eq!(scene.requests().len(), 6);
}

#[test]
fn a_list_records_nothing() {
    let scene = Scene::new(TWICE, &refunds());
    for word in ["missing", "all"] {
        let ran = scene.record(word, &["--list"]).exits(0);
        assert_eq!(ran.listed(), ["desk::refunds"]);
    }
    // Nor is the variable looked at.
    scene.record("mising", &["--list"]).exits(0);
    assert_eq!(scene.requests().len(), 0);
    assert!(scene.places().is_empty());
}

#[test]
fn a_build_without_the_feature_says_how_to_build_one_with_it() {
    let scene = Scene::new(TWICE, &refunds());
    let mut command = scene.command(sample().executable("agents"), &[]);
    let ran = process::run(command.env("MCPTEST_RECORD", "missing")).exits(101);
    let (case, text) = ran.only_failure();
    assert_eq!(case, "desk::refunds");
    snapshot::assert("record-without-the-feature", &text, scene.folder.path());
    assert_eq!(scene.requests().len(), 0);
    assert!(scene.places().is_empty());
}

#[test]
fn what_is_recorded_already_is_judged_without_the_feature_too() {
    let scene = Scene::new(TWICE, &refunds());
    scene.record("missing", &[]).exits(0);
    let mut command = scene.command(sample().executable("agents"), &[]);
    process::run(command.env("MCPTEST_RECORD", "missing")).exits(0);
}

#[test]
fn a_time_that_is_none_is_refused() {
    let scene = Scene::new(TWICE, &refunds()).set("MCPTEST_RECORD_TIMEOUT", "soon");
    let (_, text) = scene.record("missing", &[]).exits(101).only_failure();
    snapshot::assert("record-bad-timeout", &text, scene.folder.path());
    assert_eq!(scene.requests().len(), 0);
}

#[test]
fn the_command_that_the_help_gives_turns_the_feature_on() {
    let arguments = [
        "tree",
        "--features",
        "mcptest-harness/session",
        "-e",
        "normal,dev",
        "--prefix",
        "none",
    ];
    let tree = run_cargo(&sample().folder, &arguments).exits(0).stdout;
    assert!(
        tree.lines()
            .any(|line| line.starts_with("mcptest-session v")),
        "{tree}"
    );
    let tree = run_cargo(&sample().folder, &arguments[..1]).exits(0).stdout;
    assert!(
        !tree.lines().any(|line| line.contains("mcptest-session v")),
        "{tree}"
    );
}
