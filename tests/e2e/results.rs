//! `MCPTEST_RESULTS`: what every case came to, as files.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::sample::{expected, sample};
use crate::support::folder::{Folder, collect};
use crate::support::outcome::Outcome::{self, Failed, Ignored, Passed};
use crate::support::process::Finished;

/// Runs the sample's cases, and leaves their results in a folder.
fn run(target: &str, arguments: &[&str], results: &Path) -> Finished {
    let results = results.to_str().unwrap();
    sample().run_in(
        &sample().folder,
        target,
        arguments,
        &[("MCPTEST_RESULTS", results)],
    )
}

/// The results in a folder by file, without what a comparison leaves out.
fn results(folder: &Path) -> BTreeMap<String, Value> {
    let files = collect(folder).into_iter();
    let read = files.map(|(path, bytes)| {
        let mut result: Value = serde_json::from_slice(&bytes).unwrap();
        let duration = result.as_object_mut().unwrap().remove("duration_ms");
        let judged = result["status"] != "ignored" && result.get("agent").is_some();
        assert_eq!(duration.is_some(), judged, "{path}: {result:#}");
        (path, result)
    });
    read.collect()
}

fn outcome(result: &Value) -> Outcome {
    match result["status"].as_str().unwrap() {
        "passed" => Passed,
        "failed" => Failed,
        "ignored" => Ignored,
        other => panic!("{other}"),
    }
}

#[test]
fn every_case_leaves_its_result() {
    let folder = Folder::new();
    run("agents", &[], folder.path()).exits(101);
    let by_case = results(folder.path()).into_values().map(|result| {
        let case = result["case"].as_str().unwrap().to_owned();
        (case, outcome(&result))
    });
    assert_eq!(by_case.collect::<BTreeMap<_, _>>(), expected(|_| true));
}

#[test]
fn results_are_the_same_whatever_the_threads() {
    let first = Folder::new();
    run("agents", &["--test-threads=1"], first.path()).exits(101);
    let first = results(first.path());
    for threads in [1, 2, 3, 8, 32].repeat(4) {
        let folder = Folder::new();
        let threads = format!("--test-threads={threads}");
        run("agents", &[&threads], folder.path()).exits(101);
        assert_eq!(results(folder.path()), first);
    }
}

/// The standard test harness judges none that it ignores, and leaves no result of them.
#[test]
fn the_macro_leaves_the_same_results() {
    let (by_runner, by_macro) = (Folder::new(), Folder::new());
    run("agents", &[], by_runner.path()).exits(101);
    run("macros", &[], by_macro.path()).exits(101);
    let mut by_runner = results(by_runner.path());
    by_runner.retain(|_, result| outcome(result) != Ignored);
    assert_eq!(results(by_macro.path()), by_runner);
}

/// A case that is run again replaces its result; others stay.
#[test]
fn a_filter_changes_only_what_it_selects() {
    let folder = Folder::new();
    run("agents", &[], folder.path()).exits(101);
    let all = collect(folder.path());
    run("agents", &["::narrative"], folder.path());
    let again = collect(folder.path());
    assert_eq!(
        again.keys().collect::<Vec<_>>(),
        all.keys().collect::<Vec<_>>()
    );
    let changed = again.iter().filter(|(path, bytes)| all[*path] != **bytes);
    for (path, _) in changed {
        assert!(path.ends_with(".narrative.json"), "{path}");
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_said_once_and_the_run_fails() {
    const HELP: &str = "help: set `MCPTEST_RESULTS` to a folder that can be written to";
    for target in ["agents", "macros"] {
        let folder = Folder::new().with_file("file", "in the way");
        let ran = run(target, &[], &folder.at("file")).exits(101);
        let told = ran
            .stderr
            .matches("error: results are not written, and this run fails: ");
        assert_eq!(told.count(), 1, "{ran}");
        assert!(ran.stderr.contains(HELP), "{ran}");
    }
    let folder = Folder::new().with_file("file", "in the way");
    let ran = run("agents", &[], &folder.at("file"));
    assert_eq!(ran.outcomes(), expected(|_| true));
    // Cases that all hold are no success where their results are missing.
    let holds = "shop::checkout::cart_agent::narrative";
    for (target, exact) in [("agents", true), ("macros", false)] {
        let name = if exact {
            holds
        } else {
            "cart_agent::narrative"
        };
        let arguments: &[&str] = if exact { &["--exact", name] } else { &[name] };
        let left = Folder::new();
        run(target, arguments, left.path()).exits(0);
        let ran = run(target, arguments, &folder.at("file")).exits(101);
        assert!(ran.stderr.contains(HELP), "{ran}");
    }
}

#[test]
fn a_suite_that_does_not_load_leaves_a_result_too() {
    let folder = Folder::new().with_file("suites/broken.yml", "agents: [{ nam: x }]\n");
    let left = folder.at("results");
    let variable = ("MCPTEST_RESULTS", left.to_str().unwrap());
    sample()
        .run_in(folder.path(), "agents", &[], &[variable])
        .exits(101);
    let left = results(&left);
    let [(path, result)] = &left.iter().collect::<Vec<_>>()[..] else {
        panic!("{left:?}");
    };
    assert!(path.ends_with("broken.load.json"), "{path}");
    let text = result["failure"]["text"].as_str().unwrap();
    assert!(text.contains("unknown key `nam`"), "{text}");
}
