//! Recordings that change and vanish while they are judged: a green run has judged every declared run, whole.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod support;

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use e2e_support::folder::{Folder, collect};
use e2e_support::process::{command, run};
use serde_json::Value;

use support::{good, shop};

const FILE: &str = "suites/cassettes/Refund_agent__gpt-5/run-2.json";

/// Ends the thread that writes, also where an assertion fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn what_changes_while_it_is_judged_is_never_green_by_chance() {
    let folder = shop(&good());
    let file = folder.at(FILE);
    let whole = fs::read_to_string(&file).unwrap();
    let half = whole[..whole.len() / 2].to_owned();
    let another = whole.replace("\"refund\"", "\"refuse\"");
    assert_ne!(whole, another);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                for text in ["", &half, &another, &whole] {
                    fs::write(&file, text).unwrap();
                    thread::sleep(Duration::from_millis(2));
                }
                fs::remove_file(&file).unwrap();
                thread::sleep(Duration::from_millis(2));
            }
        });
        let _over = Over(&is_over);
        for _ in 0..40 {
            let left = Folder::new();
            let mut line = command(env!("CARGO_BIN_EXE_cargo-mcptest"), folder.path());
            line.args(["mcptest", "test"])
                .env("MCPTEST_RESULTS", left.path());
            let ran = run(&mut line);
            let results: Vec<Value> = collect(left.path())
                .values()
                .map(|bytes| serde_json::from_slice(bytes).unwrap())
                .collect();
            let judged = results
                .iter()
                .filter_map(|result| result["runs"].as_array());
            let most = judged.map(Vec::len).max();
            match ran.code {
                Some(0) => assert_eq!(most, Some(2), "{ran}"),
                Some(101) => assert!(ran.stdout.contains("error: "), "{ran}"),
                other => panic!("{other:?}: {ran}"),
            }
            assert!(!ran.to_string().contains("panicked"), "{ran}");
        }
    });
}
