//! The sample's cases under `cargo nextest`: listed, run, filtered, partitioned, archived.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::sample::{PACKAGE, expected, package, sample};
use crate::sessions::mcptest_command;
use crate::support::folder::Folder;
use crate::support::outcome::Outcome::{self, Failed, Ignored, Passed};
use crate::support::process::{self, Finished};
use crate::support::{self, workshop};

/// What nextest exits with when a test failed.
const TESTS_FAILED: i32 = 100;

fn nextest(folder: &Path, arguments: &[&str]) -> Finished {
    workshop::run_cargo(folder, &[&["nextest"], arguments].concat())
}

/// The outcomes that nextest reports, by target and case.
fn reported(ran: &Finished) -> BTreeMap<(String, String), Outcome> {
    let lines = ran.stderr.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let outcome = match *words.first()? {
            "PASS" => Passed,
            "FAIL" => Failed,
            "SKIP" => Ignored,
            _ => return None,
        };
        let [.., binary, name] = words.as_slice() else {
            return None;
        };
        let target = binary.rsplit("::").next()?;
        Some(((target.to_owned(), (*name).to_owned()), outcome))
    });
    lines.collect()
}

/// The cases of the table in both targets, as nextest reports them.
fn in_both(fits: impl Fn(&str) -> bool) -> BTreeMap<(String, String), Outcome> {
    let cases = expected(|name| fits(name)).into_iter();
    let run = cases.filter(|(_, outcome)| *outcome != Ignored);
    let both = run.flat_map(|(name, outcome)| {
        ["agents", "macros"].map(|target| ((target.to_owned(), name.clone()), outcome))
    });
    both.collect()
}

/// Runs both targets; a retry would hide what happened.
fn run(more: &[&str]) -> Finished {
    let common = [
        "run",
        "--test",
        "agents",
        "--test",
        "macros",
        "--no-fail-fast",
        "--retries=0",
        "--status-level=pass",
        "--final-status-level=none",
    ];
    nextest(&sample().folder, &[&common, more].concat())
}

pub(crate) fn the_list_has_every_case_and_knows_the_ignored_ones() {
    let arguments = [
        "list",
        "--test",
        "agents",
        "--test",
        "macros",
        "--message-format",
        "json",
    ];
    let list = nextest(&sample().folder, &arguments).exits(0);
    let list: Value = serde_json::from_str(&list.stdout).unwrap();
    for target in ["agents", "macros"] {
        let cases = list["rust-suites"][format!("{PACKAGE}::{target}")]["testcases"]
            .as_object()
            .unwrap();
        let listed = cases
            .iter()
            .map(|(name, case)| (name.clone(), case["ignored"].as_bool().unwrap()));
        let wanted = expected(|_| true)
            .into_iter()
            .map(|(name, outcome)| (name, outcome == Ignored));
        assert_eq!(
            listed.collect::<BTreeMap<_, _>>(),
            wanted.collect(),
            "{target}"
        );
    }
}

pub(crate) fn every_case_is_a_process_with_the_outcome_of_the_table() {
    let ran = run(&[]).exits(TESTS_FAILED);
    assert_eq!(reported(&ran), in_both(|_| true), "{ran}");
    // The text of a failure is the one that `cargo test` shows.
    for (name, text) in sample().run("agents", &[]).failures() {
        let first = text.lines().next().unwrap();
        assert!(ran.stderr.contains(first), "{name}: {first}\n{ran}");
    }
}

pub(crate) fn a_green_selection_exits_with_zero() {
    let ran = run(&["-E", "test(/^weather::/)"]).exits(0);
    assert_eq!(
        reported(&ran),
        in_both(|name| name.starts_with("weather::")),
        "{ran}"
    );
}

pub(crate) fn filtersets_and_filters_select_by_name() {
    let ran = run(&["-E", "test(trajectory)"]).exits(TESTS_FAILED);
    assert_eq!(
        reported(&ran),
        in_both(|name| name.contains("trajectory")),
        "{ran}"
    );
    let ran = run(&["stability"]).exits(TESTS_FAILED);
    assert_eq!(
        reported(&ran),
        in_both(|name| name.contains("stability")),
        "{ran}"
    );
    let one = "shop::checkout::cart_agent::stability";
    let ran = run(&["-E", &format!("test(={one})")]).exits(TESTS_FAILED);
    assert_eq!(reported(&ran), in_both(|name| name == one), "{ran}");
}

pub(crate) fn partitions_are_disjoint_and_together_everything() {
    let parts = ["count:1/2", "count:2/2"].map(|part| reported(&run(&["--partition", part])));
    let [mut all, second] = parts;
    assert!(!all.is_empty() && !second.is_empty());
    let (first_count, second_count) = (all.len(), second.len());
    all.extend(second);
    assert_eq!(
        all.len(),
        first_count + second_count,
        "a case is in both partitions"
    );
    assert_eq!(all, in_both(|_| true));
}

/// The archive runs on another machine: the suites and recordings are those of the folder there.
pub(crate) fn an_archive_runs_over_the_files_of_another_folder() {
    let there = Folder::new();
    let archive = there.at("tests.tar.zst");
    let archive = archive.to_str().unwrap();
    let arguments = [
        "archive",
        "--test",
        "agents",
        "--test",
        "macros",
        "--archive-file",
        archive,
        "--zstd-level",
        "1",
    ];
    nextest(&sample().folder, &arguments).exits(0);

    for (path, bytes) in package() {
        there.write(&format!("checkout/{path}"), bytes);
    }
    // Only there: a suite of which the builder knew nothing, and a recording that is lost.
    there.write("checkout/suites/late.yml", "agentss: []\n");
    std::fs::remove_file(there.at("checkout/suites/2nd/cassettes/4_eyes__m.json")).unwrap();
    let checkout = there.at("checkout");
    let remap = [
        "run",
        "--archive-file",
        archive,
        "--workspace-remap",
        checkout.to_str().unwrap(),
        "--no-fail-fast",
        "--status-level=pass",
        "--final-status-level=none",
    ];
    let ran = nextest(there.path(), &remap).exits(TESTS_FAILED);
    let mut wanted = in_both(|_| true);
    wanted.insert(("agents".to_owned(), "late::load".to_owned()), Failed);
    for target in ["agents", "macros"] {
        wanted.insert(
            (target.to_owned(), "_2nd::type_::_4_eyes".to_owned()),
            Failed,
        );
    }
    assert_eq!(reported(&ran), wanted, "{ran}");
}

/// One process a case, and the results are those of one process for all of them.
pub(super) fn results_are_those_of_the_runner() {
    let of = |folder: &Path| {
        let files = support::folder::collect(folder).into_iter();
        let read = files.map(|(path, bytes)| {
            let mut result: Value = serde_json::from_slice(&bytes).unwrap();
            result.as_object_mut().unwrap().remove("duration_ms");
            (path, result)
        });
        read.collect::<BTreeMap<String, Value>>()
    };
    let (alone, together) = (Folder::new(), Folder::new());
    let variable = |folder: &Folder| folder.path().to_str().unwrap().to_owned();
    let all = ["run", "--test", "agents", "--no-fail-fast", "--retries=0"];
    let mut command = workshop::cargo(&sample().folder, &[&["nextest"], &all[..]].concat());
    command.env("MCPTEST_RESULTS", variable(&alone));
    process::run(&mut command).exits(TESTS_FAILED);
    let to = variable(&together);
    let to = [("MCPTEST_RESULTS", to.as_str())];
    let sample = sample();
    sample.run_in(&sample.folder, "agents", &[], &to).exits(101);
    let mut together = of(together.path());
    // What is ignored when it is listed is not run by nextest.
    together.retain(|_, result| result["status"] != "ignored");
    let mut alone = of(alone.path());
    alone.retain(|_, result| result["status"] != "ignored");
    let judged = expected(|_| true).into_values();
    let judged = judged.filter(|outcome| *outcome != Ignored).count();
    assert!((1..=judged).contains(&alone.len()), "{}", alone.len());
    assert_eq!(alone, together);
}

/// The commands of the page on CI: an archive judges partitions in another folder, and their results are read as one.
pub(crate) fn partitions_of_an_archive_are_one_report() {
    let page = std::fs::read_to_string(workshop::workspace().join("docs/ci.md")).unwrap();
    let (_, block) = page
        .split_once("<!-- nextest: shards -->\n```sh\n")
        .unwrap();
    let (block, _) = block.split_once("```\n").unwrap();
    let lines: Vec<&str> = block.lines().collect();
    let [archive, first, second, report] = lines.as_slice() else {
        panic!("{block}");
    };
    let there = Folder::new();
    for (path, bytes) in package() {
        there.write(&path, bytes);
    }
    let results = there.at("results");
    let cargo = |folder: &Path, line: &str| {
        let words = line
            .split(' ')
            .filter(|word| !word.starts_with("MCPTEST_RESULTS="));
        // `cargo-nextest nextest …` is what cargo calls for `cargo nextest …`.
        let words: Vec<&str> = words.skip(1).collect();
        let mut command = workshop::cargo(folder, &words);
        if line.starts_with("MCPTEST_RESULTS=$PWD/results ") {
            command.env("MCPTEST_RESULTS", &results);
        }
        command
    };
    // Built in one folder, judged in another.
    process::run(&mut cargo(&sample().folder, archive)).exits(0);
    let built = sample().folder.join("tests.tar.zst");
    std::fs::copy(&built, there.at("tests.tar.zst")).unwrap();
    std::fs::remove_file(&built).unwrap();
    let partitions = [first, second].map(|line| {
        let ran = process::run(&mut cargo(there.path(), line));
        assert!([Some(0), Some(TESTS_FAILED)].contains(&ran.code), "{ran}");
        support::folder::collect(&results).len()
    });
    let judged = expected(|_| true).into_values();
    let judged = judged.filter(|outcome| *outcome != Ignored).count();
    assert!(
        partitions[0] > 0 && partitions[0] < judged,
        "{partitions:?}"
    );
    assert_eq!(partitions[1], judged);
    let words: Vec<&str> = report.split(' ').skip(2).collect();
    process::run(&mut mcptest_command(&there, &words)).exits(1);
    let junit = std::fs::read_to_string(there.at("junit.xml")).unwrap();
    assert!(junit.contains(&format!("tests=\"{judged}\"")), "{junit}");
    assert!(junit.contains("errors=\"0\""), "{junit}");
    // Without a partition the cases are named that have no result.
    std::fs::remove_dir_all(&results).unwrap();
    process::run(&mut cargo(there.path(), first));
    process::run(&mut mcptest_command(&there, &words));
    let junit = std::fs::read_to_string(there.at("junit.xml")).unwrap();
    let lost = format!("errors=\"{}\"", judged - partitions[0]);
    assert!(junit.contains(&lost), "{lost}: {junit}");
}
