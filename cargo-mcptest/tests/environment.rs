//! Environments that few machines have: no home, and names that are not UTF-8.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Command;

use e2e_support::folder::{Folder, collect};
use e2e_support::process::{command, run};

use support::desk::desk;

/// No text in any encoding of today.
const NO_UTF_8: &[u8] = b"\xff\xfe";

const JUDGE: &[&[&str]] = &[
    &["test"],
    &["validate"],
    &["explain"],
    &["report", "--format", "json"],
    &["calibrate"],
    &["mutants"],
    &["compare", "suites/cassettes", "suites/cassettes"],
];

/// Recordings of a desk in a folder that is no package.
fn alone() -> Folder {
    let folder = Folder::new();
    for (file, bytes) in collect(&desk(8, 2).at("suites")) {
        folder.write(&format!("suites/{file}"), bytes);
    }
    folder
}

fn mcptest(folder: &Folder, arguments: &[&str]) -> Command {
    let mut line = command(env!("CARGO_BIN_EXE_cargo-mcptest"), folder.path());
    line.arg("mcptest").args(arguments);
    line
}

#[test]
fn judging_needs_no_home_and_reads_no_strange_variable() {
    let folder = alone();
    for arguments in JUDGE {
        let usual = run(&mut mcptest(&folder, arguments));
        let bare = run(mcptest(&folder, arguments).env_clear());
        assert_eq!(bare.code, usual.code, "{bare}");
        let strange = OsStr::from_bytes(NO_UTF_8);
        for variable in ["HOME", "LANG", "CARGO", "NO_COLOR", "COLUMNS"] {
            let ran = run(mcptest(&folder, arguments).env(variable, strange));
            assert_eq!(ran.code, usual.code, "{variable}\n{ran}");
        }
    }
}

#[test]
fn a_variable_that_asks_for_something_is_never_passed_over() {
    let folder = alone();
    let strange = OsStr::from_bytes(NO_UTF_8);
    for variable in ["MCPTEST_RECORD", "MCPTEST_TAGS"] {
        let ran = run(mcptest(&folder, &["test"]).env(variable, strange)).exits(101);
        assert!(ran.stderr.contains(&format!("`{variable}`")), "{ran}");
    }
}

/// The address of a gateway that cannot be read is no reason to send a key to the provider.
#[test]
fn an_address_that_is_not_utf_8_is_not_the_usual_one() {
    let suite = "agents:\n- name: A\n  model: gpt-5\n  prompt: Hello.\n  command: [sh]\n  calls: { max: 4 }\n";
    let folder = Folder::new().with_file("suites/a.yml", suite);
    let ran = run(mcptest(&folder, &["record"]).env(
        "OPENAI_BASE_URL",
        OsStr::from_bytes(b"http://127.0.0.1:\xff\xfe"),
    ))
    .exits(1);
    assert!(
        ran.stdout.contains(
            "the environment variable `OPENAI_BASE_URL` is not UTF-8, so it is no address"
        ),
        "{ran}"
    );
}

#[test]
fn a_folder_whose_name_is_not_utf_8_is_judged_or_refused_and_never_green_by_chance() {
    let folder = alone();
    let strange = folder.path().join(OsStr::from_bytes(NO_UTF_8));
    fs::create_dir(&strange).unwrap();
    fs::rename(folder.at("suites"), strange.join("suites")).unwrap();
    for arguments in JUDGE {
        let usual = run(&mut mcptest(&alone(), arguments));
        let ran = run(mcptest(&folder, arguments).current_dir(&strange));
        if *arguments == ["test"] {
            assert_eq!(ran.code, Some(2), "{ran}");
            assert!(
                ran.stderr.contains("the path of a folder is not UTF-8"),
                "{ran}"
            );
        } else {
            assert_eq!(ran.code, usual.code, "{ran}");
        }
    }
}
