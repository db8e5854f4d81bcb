//! Standard output that nobody reads, or that is full, changes no verdict.

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
fn a_full_disk_is_said_and_changes_no_exit_code() {
    for (filter, code) in [(PASSES, 0), (FAILS, 101)] {
        let full = std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let ran = runner(filter).stdout(Stdio::from(full)).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(code), "{said}");
        assert!(!said.contains("panicked"), "{said}");
        assert!(said.contains("standard output cannot be written"), "{said}");
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
