//! Standard output that nobody reads changes no verdict. A run whose output finds no room fails.

use std::process::{Command, Stdio};

use crate::sample::sample;
use crate::support::process;

const PASSES: &str = "shop::checkout::cart_agent::narrative";
const FAILS: &str = "shop::checkout::cart_agent::stability";

/// The sample's executable with some cases, its output to be sent somewhere.
fn runner(filter: &str) -> Command {
    let sample = sample();
    let mut command = process::command(sample.executable("agents"), &sample.folder);
    command.env("CARGO_MANIFEST_DIR", &sample.folder);
    command.args(["--exact", filter]);
    command
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said_and_the_run_fails() {
    let full = || {
        let full = std::fs::File::options().write(true).open("/dev/full");
        Stdio::from(full.unwrap())
    };
    for filter in [PASSES, FAILS] {
        for arguments in [&[] as &[&str], &["--format", "json"], &["--list"]] {
            let ran = runner(filter).args(arguments).stdout(full()).output();
            let ran = ran.unwrap();
            let said = String::from_utf8_lossy(&ran.stderr);
            assert_eq!(ran.status.code(), Some(101), "{arguments:?}: {said}");
            assert!(!said.contains("panicked"), "{said}");
            assert!(
                said.contains("error: standard output cannot be written, and this run fails"),
                "{said}"
            );
        }
        // Nothing can be said at all.
        let mut silent = runner(filter);
        let silent = silent.stdout(full()).stderr(full()).status().unwrap();
        assert_eq!(silent.code(), Some(101), "{silent}");
        // A file of its own for the output is no better than a stream.
        let ran = runner(filter).args(["--logfile", "/dev/full"]).output();
        let ran = ran.unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(101), "{said}");
        assert!(
            said.contains("error: `/dev/full` cannot be written, and this run fails"),
            "{said}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn streams_that_are_closed_change_no_exit_code() {
    for (filter, code) in [(PASSES, 0), (FAILS, 101)] {
        let usual = runner(filter);
        let mut closed = process::command("sh", &sample().folder);
        closed.args(["-c", "exec \"$@\" <&- >&- 2>&-", "sh"]);
        closed.arg(usual.get_program()).args(usual.get_args());
        let closed = closed.env("CARGO_MANIFEST_DIR", &sample().folder);
        assert_eq!(closed.status().unwrap().code(), Some(code));
        let full = std::fs::File::options().write(true).open("/dev/full");
        let ran = runner(filter).stderr(Stdio::from(full.unwrap())).output();
        assert_eq!(ran.unwrap().status.code(), Some(code));
    }
}

#[test]
fn a_closed_pipe_changes_no_exit_code() {
    for (filter, code) in [(PASSES, 0), (FAILS, 101)] {
        let mut running = runner(filter)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(running.stdout.take());
        let ran = running.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(code), "{said}");
        assert!(!said.contains("panicked"), "{said}");
    }
}
