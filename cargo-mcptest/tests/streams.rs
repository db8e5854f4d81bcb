//! Streams and files that cannot be written: the exit status says so, and no file is there by half.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::path::Path;
use std::process::{Command, Stdio};

use e2e_support::folder::collect;
use e2e_support::process::{Finished, command, run};

use support::desk::desk;

/// Every command that prints what it finds, over the recordings of a desk.
const PRINT: &[&[&str]] = &[
    &["validate"],
    &["explain"],
    &["report", "--format", "json"],
    &["report", "--format", "markdown"],
    &["report", "--format", "junit"],
    &["report", "--format", "html"],
    &["compare", "suites/cassettes", "suites/cassettes"],
    &["calibrate"],
    &["mutants"],
    &["schema", "suite"],
    &["completions", "bash"],
    &["--help"],
    &["--version"],
];

/// The command, started by a shell that does something before.
fn after(shell: &str, folder: &Path, arguments: &[&str]) -> Command {
    let mut line = command("sh", folder);
    line.args([
        "-c",
        shell,
        "sh",
        env!("CARGO_BIN_EXE_cargo-mcptest"),
        "mcptest",
    ]);
    line.args(arguments);
    line
}

fn ran(shell: &str, folder: &Path, arguments: &[&str]) -> Finished {
    run(&mut after(shell, folder, arguments))
}

#[test]
fn a_full_standard_output_is_an_error() {
    let folder = desk(8, 2);
    for arguments in PRINT {
        let ran = ran("exec \"$@\" >/dev/full", folder.path(), arguments).exits(2);
        // Help is printed before there is a command that could say more.
        if !arguments[0].starts_with('-') {
            assert!(
                ran.stderr.ends_with("error: standard output cannot be written: No space left on device (os error 28)\n"),
                "{arguments:?}\n{ran}"
            );
        }
    }
    let ran = ran("exec \"$@\" >/dev/full", folder.path(), &["test"]).exits(101);
    assert!(
        ran.stderr
            .contains("error: standard output cannot be written, and this run fails"),
        "{ran}"
    );
}

#[test]
fn nothing_can_be_said_and_the_status_speaks_all_the_same() {
    let folder = desk(8, 2);
    for arguments in PRINT {
        ran(
            "exec \"$@\" >/dev/full 2>/dev/full",
            folder.path(),
            arguments,
        )
        .exits(2);
    }
    ran(
        "exec \"$@\" >/dev/full 2>/dev/full",
        folder.path(),
        &["test"],
    )
    .exits(101);
}

#[test]
fn who_reads_nothing_gets_the_same_status() {
    let folder = desk(8, 2);
    for arguments in PRINT.iter().chain(&[&["test"] as &[&str]]) {
        let open = ran("exec \"$@\"", folder.path(), arguments);
        let closed = ran("exec \"$@\" >&- <&-", folder.path(), arguments);
        assert_eq!(closed.code, open.code, "{arguments:?}\n{closed}");
        let mut left = after("exec \"$@\"", folder.path(), arguments);
        let mut left = left
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(left.stdout.take());
        let left = left.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&left.stderr);
        assert_eq!(left.status.code(), open.code, "{arguments:?}\n{said}");
        assert!(!said.contains("panicked"), "{said}");
    }
}

/// A system that lets no file grow stands for a full disk: it needs no right of its own.
#[test]
fn a_file_that_finds_no_room_is_as_it_was_before() {
    let write: &[&[&str]] = &[
        &["report", "--format", "html", "-o", "page.html"],
        &["report", "--format", "markdown", "-o", "new.md"],
        &["calibrate", "--write"],
        &["mutants"],
    ];
    for arguments in write {
        let folder = desk(8, 2).with_file("page.html", "the page of yesterday\n");
        let before = collect(folder.path());
        let shell = "trap '' XFSZ; ulimit -f 0; exec \"$@\"";
        let ran = ran(shell, folder.path(), arguments).exits(2);
        assert!(ran.stderr.contains("cannot be written"), "{ran}");
        assert!(ran.stderr.contains("File too large"), "{ran}");
        let after = collect(folder.path());
        assert!(after == before, "{arguments:?}: {:?}", after.keys());
    }
}
