//! Several processes that record at once.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use super::desk::{declaring, refunds_that_differ, run_path};
use super::function_crate::{RecordingFolder, counting};
use super::recording_crate::Scene;
use crate::support::process::Finished;

#[test]
fn two_processes_record_no_run_twice() {
    let scene = Scene::new(&declaring(3), &refunds_that_differ(3));
    let both: Vec<Finished> = thread::scope(|scope| {
        let threads: Vec<_> = (0..2)
            .map(|_| scope.spawn(|| scene.record("missing", &[])))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    for ran in both {
        ran.exits(0);
    }
    assert_eq!(scene.conversations(), 3);
    assert_eq!(scene.requests().len(), 9);
    assert_eq!(scene.places(), [run_path(1), run_path(2), run_path(3)]);
}

#[test]
fn the_second_process_waits_says_so_and_finds_everything_recorded() {
    let stage = RecordingFolder::new(&counting(3));
    let go = stage.folder.at("go");
    let waits = [("LOOP_WAITS_FOR", go.to_str().unwrap())];
    let mut first = stage
        .command(Some("missing"), &waits)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while stage.begun_runs().is_empty() {
        thread::sleep(Duration::from_millis(1));
    }
    let mut second = stage
        .command(Some("missing"), &waits)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(second.stderr.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "waiting: another process records `Clerk`\n");
    assert_eq!(stage.begun_runs(), [1]);
    fs::write(go, "").unwrap();
    assert!(first.wait().unwrap().success() && second.wait().unwrap().success());
    assert_eq!(stage.begun_runs(), [1, 2, 3]);
    assert_eq!(stage.runs().len(), 3);
}
