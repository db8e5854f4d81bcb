//! What reading a closing costs: beside parsing the recording it stands in, and on long ones that
//! were written to be slow.
//!
//! The recordings are the repository's own, and with `MCPTEST_SHARED_DATA` those under that folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use divan::{Bencher, black_box};
use mcptest_trace::eval::{
    KnownTools, NarrativeOptions, narrative_divergence, narrative_divergence_with,
};
use mcptest_trace::trace::{Origin, Run, Trace, parse_run};
use serde_json::json;

/// Rounds of which the quickest counts; both sides take turns in each.
const ROUNDS: usize = 25;

fn main() {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/needs/desk/suites");
    beside_parsing("the repository's own", Path::new(own));
    if let Some(shared) = std::env::var_os("MCPTEST_SHARED_DATA") {
        beside_parsing("shared", Path::new(&shared));
    }
    divan::main();
}

/// The cassettes of an agent, as bytes and parsed, with its tools.
struct Agent {
    cassettes: Vec<Vec<u8>>,
    runs: Vec<Run>,
    known: KnownTools,
}

/// The agents with cassettes under a folder: one a folder.
fn agents(root: &Path) -> Vec<Agent> {
    let mut folders: BTreeMap<PathBuf, Agent> = BTreeMap::new();
    for entry in walkdir::WalkDir::new(root).into_iter().flatten() {
        let (Some(folder), Ok(bytes)) = (entry.path().parent(), std::fs::read(entry.path())) else {
            continue;
        };
        let Some(run) = parse(&bytes) else {
            continue;
        };
        let agent = folders.entry(folder.to_owned()).or_insert_with(|| Agent {
            cassettes: Vec::new(),
            runs: Vec::new(),
            known: KnownTools::default(),
        });
        agent.cassettes.push(bytes);
        agent.runs.push(run);
    }
    let mut agents: Vec<Agent> = folders.into_values().collect();
    for agent in &mut agents {
        agent.known = KnownTools::of_runs(&agent.runs);
    }
    agents
}

fn parse(bytes: &[u8]) -> Option<Run> {
    let origin = Origin::file("run.json");
    parse_run(bytes, &origin).ok()
}

/// Prints the time of reading closings as a ratio to that of parsing the same recordings.
fn beside_parsing(what: &str, root: &Path) {
    let agents = agents(root);
    let count: usize = agents.iter().map(|agent| agent.runs.len()).sum();
    if count == 0 {
        println!("{what}: no recordings");
        return;
    }
    let options = NarrativeOptions::default();
    let parsing = || {
        let cassettes = agents.iter().flat_map(|agent| &agent.cassettes);
        cassettes
            .filter(|bytes| parse(black_box(bytes)).is_some())
            .count()
    };
    let reading = || {
        let runs = agents
            .iter()
            .flat_map(|agent| agent.runs.iter().map(move |run| (agent, run)));
        runs.map(|(agent, run)| {
            let report = narrative_divergence_with(&black_box(run).trace, &options, &agent.known);
            report.claims.len()
        })
        .sum()
    };
    let (mut quickest_parsing, mut quickest_reading) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        quickest_parsing = quickest_parsing.min(timed(parsing));
        quickest_reading = quickest_reading.min(timed(reading));
    }
    println!(
        "{what}, {count} recordings: narrative {quickest_reading:.1?}, parsing \
         {quickest_parsing:.1?}, ratio {:.2}",
        quickest_reading.as_secs_f64() / quickest_parsing.as_secs_f64()
    );
}

fn timed(work: impl Fn() -> usize) -> Duration {
    let start = Instant::now();
    black_box(work());
    start.elapsed()
}

/// A run of one call with a closing.
fn run(closing: &str) -> Trace {
    Trace::from_envelope(&json!({
        "tool_calls": [{ "name": "create_issue", "args": { "title": "CI flake" } }],
        "tool_results": [{ "call_index": 0, "result": { "number": 42 } }],
        "final_response": closing,
    }))
}

#[divan::bench]
fn an_ordinary_closing(bencher: Bencher) {
    let run = run("I created issue #42 for the flake. Shall I assign it to someone?");
    bencher.bench(|| narrative_divergence(black_box(&run), &NarrativeOptions::default()));
}

/// The work grows with the length: twice the bytes, twice the time.
#[divan::bench(args = [500_000, 1_000_000], sample_count = 10)]
fn one_endless_sentence(bencher: Bencher, bytes: usize) {
    let run = run(&"I created the issue, closed it, ".repeat(bytes / 32));
    bencher.bench(|| narrative_divergence(black_box(&run), &NarrativeOptions::default()));
}
