//! A signal ends a command: its exit status is no success, and nothing that it started is left.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod support;

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use e2e_support::folder::{Folder, collect};
use e2e_support::process::{command, signals};
use serde_json::Value;

use support::{good, run_of};

/// A program that wants to live on: it hears no signal that can be ignored, never answers, and starts another one.
const STUBBORN: &str = "trap '' TERM HUP INT QUIT
sleep 600 &
echo \"$$ $!\" > \"$STARTED.new\"
mv \"$STARTED.new\" \"$STARTED\"
while :; do sleep 1; done
";

const SUITE: &str = "\
agents:
  - name: Refund agent
    model: gpt-5
    prompt: Please refund order 7.
    command: [sh, ../stubborn.sh]
    calls: { max: 4 }
    playback: {}
";

/// The commands that start a program, each with an agent or a server that is stubborn.
const START: &[&[&str]] = &[
    &["record", "--all"],
    &["record", "--all", "--format", "json"],
    &["play"],
    &["test"],
    &["explain"],
    &["report"],
    &[
        "proxy",
        "--agent",
        "A",
        "--model",
        "m",
        "--prompt",
        "p",
        "--",
        "sh",
        "stubborn.sh",
    ],
    &["contract", "--", "sh", "stubborn.sh"],
];

/// What comes about within three minutes.
fn wait_for<T>(context: &str, what: impl Fn() -> Option<T>) -> T {
    for _ in 0..9000 {
        if let Some(found) = what() {
            return found;
        }
        sleep(Duration::from_millis(20));
    }
    panic!("waited in vain for {context}");
}

/// Whether a process has ended, or is about to.
fn is_gone(process: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().unwrap().trim_start();
    state.is_empty() || state.starts_with('Z')
}

/// Starts a command, sends it a signal once its program runs, and waits for the end of all.
fn ended(folder: &Path, arguments: &[&str], (signal, number): (&str, i32)) {
    let context = format!("{signal}: {arguments:?}");
    let (started, tmp) = (folder.join("started"), folder.join("tmp"));
    fs::create_dir(&tmp).unwrap();
    let mut line = command(env!("CARGO_BIN_EXE_cargo-mcptest"), folder);
    let mut running = line
        .arg("mcptest")
        .args(arguments)
        .env("STARTED", &started)
        .env("TMPDIR", &tmp)
        // A client that goes on.
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let processes = wait_for(&format!("the program of {context}"), || {
        fs::read_to_string(&started).ok()
    });
    let sent = Command::new("kill")
        .args(["-s", signal, &running.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    let status = running.wait().unwrap();
    assert_eq!(status.signal(), Some(number), "{context}: {status}");
    for process in processes.split_whitespace() {
        wait_for(&format!("the end of {process} of {context}"), || {
            is_gone(process).then_some(())
        });
    }
    // Locks are kept for the next one.
    let left: Vec<String> = collect(&tmp)
        .into_keys()
        .filter(|file| !file.starts_with("mcptest-locks/"))
        .collect();
    assert!(left.is_empty(), "{context}: {left:?}");
}

#[test]
fn a_signal_ends_what_a_command_started() {
    for arguments in START {
        for signal in signals() {
            let folder = Folder::new()
                .with_file("stubborn.sh", STUBBORN)
                .with_file("suites/refunds.yml", SUITE)
                .with_file(
                    "suites/cassettes/Refund_agent__gpt-5.json",
                    run_of(&good()).to_string(),
                );
            ended(folder.path(), arguments, signal);
            for (file, bytes) in collect(&folder.at("suites")) {
                let is_whole = Path::new(&file).extension().is_none_or(|end| end != "json")
                    || serde_json::from_slice::<Value>(&bytes).is_ok();
                let is_hidden = file.rsplit('/').next().unwrap().starts_with('.');
                assert!(is_whole && !is_hidden, "{signal:?} {arguments:?}: {file}");
            }
        }
    }
}
