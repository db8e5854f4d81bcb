//! Recording processes that are killed at random instants: what was finished is there, and what is
//! there is whole.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use e2e_support::dice::Dice;

use super::function_crate::{RecordingFolder, counting};

/// How many runs are declared, and how many processes are killed.
const RUNS: usize = 8;
const KILLS: usize = 40;

/// Records, and kills the process after a time, unless it ended before that. Says whether it was
/// killed.
fn kill_after(stage: &RecordingFolder, word: &str, generation: &str, time: Duration) -> bool {
    let mut command = stage.command(Some(word), &[("GENERATION", generation)]);
    let silent = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = silent.spawn().unwrap();
    thread::sleep(time);
    let alive = child.try_wait().unwrap().is_none();
    if alive {
        child.kill().unwrap();
    }
    child.wait().unwrap();
    alive
}

/// How long it takes to record everything anew, undisturbed.
fn time_of_all(stage: &RecordingFolder) -> Duration {
    let times = (0..5).map(|_| {
        let started = Instant::now();
        stage.record("all", &[]).exits(0);
        started.elapsed()
    });
    times.min().unwrap()
}

#[test]
fn killed_while_missing_runs_are_recorded() {
    let stage = RecordingFolder::new(&counting(RUNS));
    let whole = time_of_all(&stage);
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let (mut kills, mut interrupted, mut completed) = (0, 0, 0);
    let mut before = BTreeMap::new();
    let start_over = || {
        fs::remove_dir_all(stage.folder.at("suites/cassettes")).unwrap();
        fs::remove_file(stage.folder.at("log.txt")).unwrap();
    };
    start_over();
    while kills < KILLS {
        let killed = kill_after(&stage, "missing", "", dice.part_of(whole));
        kills += usize::from(killed);
        let runs = stage.runs();
        // No finished run is lost or changed, and each that was begun after another shows that one
        // to be kept.
        for (path, run) in &before {
            assert_eq!(runs.get(path), Some(run), "{path} is lost");
        }
        let last = stage.begun_runs().last().copied().unwrap_or(1);
        assert!(
            runs.len() + 1 >= last,
            "run {last} was begun, and kept are {:?}",
            runs.keys()
        );
        let judged = stage.judge();
        if runs.len() == RUNS {
            judged.exits(0);
        } else {
            let (_, text) = judged.exits(101).only_failure();
            let counted = format!("{RUNS} runs declared, {} recorded", runs.len());
            assert!(
                text.contains(&counted) || text.contains("no recorded run"),
                "{text}"
            );
        }
        interrupted += usize::from(killed && !runs.is_empty() && runs.len() < RUNS);
        before = runs;
        if before.len() == RUNS {
            completed += 1;
            before.clear();
            start_over();
        }
    }
    eprintln!(
        "{kills} kills, {interrupted} of them between two runs; {completed} recordings completed"
    );
    stage.record("missing", &[]).exits(0);
    assert_eq!(stage.runs().len(), RUNS);
    // No run that was there was recorded again: the numbers go up.
    let begun = stage.begun_runs();
    assert!(begun.is_sorted(), "{begun:?}");
    let leftovers: Vec<String> = stage
        .files()
        .into_keys()
        .filter(|path| !stage.runs().contains_key(path))
        .collect();
    eprintln!("left over: {leftovers:?}");
    stage.judge().exits(0);
}

#[test]
fn killed_while_all_runs_are_recorded_anew() {
    let stage = RecordingFolder::new(&counting(RUNS));
    stage.record("missing", &[("GENERATION", "old")]).exits(0);
    let whole = time_of_all(&stage);
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let (mut kills, mut mixed) = (0, 0);
    while kills < KILLS {
        let before = stage.runs();
        let generation = format!("generation {kills}");
        // Every other time near the end, where the old runs are replaced.
        let time = dice.part_of(whole);
        let time = if kills % 2 == 0 {
            time
        } else {
            whole.mul_f64(0.7) + time.mul_f64(0.3)
        };
        let killed = kill_after(&stage, "all", &generation, time);
        kills += usize::from(killed);
        let runs = stage.runs();
        let names: Vec<String> = (1..=RUNS)
            .map(|run| format!("Clerk__clerk-1/run-{run}.json"))
            .collect();
        assert!(runs.keys().eq(&names), "{:?}", runs.keys());
        let same = runs
            .iter()
            .filter(|(path, run)| before[*path] == **run)
            .count();
        mixed += usize::from(same != 0 && same != RUNS);
        stage.judge().exits(0);
    }
    eprintln!("{kills} kills, {mixed} of them while the runs were replaced");
    stage.record("all", &[("GENERATION", "last")]).exits(0);
    stage.record("all", &[("GENERATION", "newest")]).exits(0);
    let newest = |run: &serde_json::Value| {
        run["trace"]["final_response"]
            .as_str()
            .unwrap()
            .ends_with("newest")
    };
    assert!(stage.runs().values().all(newest));
    stage.judge().exits(0);
}
