//! The guard over 120 recorded runs of tau-bench airline, where they are at hand.
//!
//! The recordings lie beside the project, not in it: without them the test says so and passes.
//! `cargo test --test energy_tau_airline -- --nocapture` prints the sweep.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::float_cmp,
    reason = "helpers of tests"
)]

use std::path::{Path, PathBuf};

use mcptest::energy::{
    Condition, GuardOptions, RunSteps, Step, SweepRun, ablation, analyse, responses, sweep,
};
use mcptest::trace::Trace;
use serde_json::Value;

const CASSETTES: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../shared/data/tau-airline/crate/cassettes/airline"
);

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The trace and the outcome of every run.
fn recordings() -> Vec<(Trace, Option<bool>)> {
    let agents = sorted(Path::new(CASSETTES));
    let files = agents.iter().flat_map(|agent| sorted(agent));
    files
        .map(|file| {
            let text = std::fs::read_to_string(file).unwrap();
            let cassette: Value = serde_json::from_str(&text).unwrap();
            let passed = cassette["outcome"]["passed"].as_bool();
            (Trace::from_envelope(&cassette["trace"]), passed)
        })
        .collect()
}

#[test]
fn the_default_guard_over_120_recorded_runs() {
    let recordings = recordings();
    if recordings.is_empty() {
        println!("skipped: no recordings at {CASSETTES}");
        return;
    }
    assert_eq!(recordings.len(), 120);

    let options = GuardOptions::default();
    let (mut trips, mut estimated_trips) = (0, 0);
    let mut steps: Vec<(Vec<Step>, Option<bool>)> = Vec::new();
    for (trace, passed) in &recordings {
        let run = RunSteps::recorded(trace).unwrap();
        let analysis = analyse(&run, options, None).unwrap();
        trips += usize::from(analysis.tripped);
        assert!(!analysis.frozen);
        let estimated = RunSteps::estimated(trace);
        assert_eq!(run.tokens.len(), estimated.tokens.len());
        assert_eq!(run.tokens.len(), responses(trace).len());
        let analysis = analyse(&estimated, options, None).unwrap();
        estimated_trips += usize::from(analysis.tripped);
        steps.push((run.steps(), *passed));
    }
    println!(
        "{trips} of 120 trip; {estimated_trips} by the turns alone, without the system prompt"
    );
    assert_eq!(trips, 48);

    let runs: Vec<_> = steps
        .iter()
        .map(|(steps, passed)| SweepRun {
            steps,
            passed: *passed,
        })
        .collect();
    let thresholds = [1.5, 2.0, 3.0, 3.5, 5.0];
    let table = sweep(&runs, &thresholds, &[3, 5], options).unwrap();
    println!("{table}");
    let cell = table
        .cells
        .iter()
        .find(|cell| cell.ratio_threshold == 2.0)
        .unwrap();
    assert_eq!((cell.window, cell.tally.stops, cell.freezes), (3, 48, 0));
    assert_eq!(cell.tally.passing, 36);

    for (condition, tally) in ablation(&runs, options).unwrap() {
        println!(
            "{condition:<24} stops {:>3}, saving {:>5.1}%",
            tally.stops,
            100.0 * tally.token_saving()
        );
        let expected = match condition {
            Condition::GrowthOnly | Condition::GrowthAndCompression => 48,
            // Without drift nothing is confirmed; three long runs reach the ceiling.
            Condition::FullStack | Condition::NaiveCap => 3,
            Condition::Baseline => 0,
        };
        assert_eq!(tally.stops, expected);
    }
}
