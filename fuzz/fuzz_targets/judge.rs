//! A suite and its recordings, through every gate: nothing breaks, every number is in its range, and the same
//! comes of it twice. The text is that of a suite; then, each after a line `%%%`, the recordings of every agent in it.
#![no_main]

use std::fs;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use mcptest::judge::Package;
use mcptest::result::TargetResult;
use mcptest_suite::Source;
use mcptest_suite::model::{Agent, Suite};
use serde_json::Value;

/// More agents say nothing new, and take time.
const MOST_AGENTS: usize = 8;

/// The same of runs.
const MOST_RUNS: usize = 4;

fuzz_target!(|text: &str| {
    let mut parts = text.split("\n%%%\n");
    let source = parts.next().unwrap_or_default();
    let runs: Vec<&str> = parts.collect();
    let Ok(suite) = Suite::parse(Source::new("s.yml", "s.yml", source)) else {
        return;
    };
    if suite.agents.is_empty() || suite.agents.len() > MOST_AGENTS {
        return;
    }
    // A file elsewhere is none of this, and no program is started.
    if suite
        .agents
        .iter()
        .any(|agent| agent.cassette.is_some() || agent.command.is_some())
    {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("suites/s.yml"), source);
    let cassettes = folder.path().join("suites/cassettes");
    for agent in &suite.agents {
        let count = agent.runs.value.min(MOST_RUNS);
        for model in &agent.models {
            let stem = agent.cassette_stem(&model.value);
            for (index, run) in runs.iter().cycle().take(count).enumerate() {
                let name = match count {
                    1 => format!("{stem}.json"),
                    _ => format!("{stem}/run-{}.json", index + 1),
                };
                write(
                    &cassettes.join(name),
                    &run_of(agent, &model.value.id, index, run),
                );
            }
        }
    }
    let judged = || -> Vec<String> {
        let package = Package::open(folder.path(), "p", &["suites".into()]);
        let failures = package
            .failures()
            .iter()
            .map(|failure| failure.text.clone());
        let cases = package.cases();
        let results = cases.iter().map(|case| {
            let mut result = case.judge();
            result.duration_ms = None;
            // What is said of a case is made of the same parts.
            _ = case.explain();
            result.targets.iter().for_each(in_range);
            result.to_json()
        });
        failures.chain(results).collect()
    };
    let first = judged();
    assert!(!first.is_empty());
    assert_eq!(first, judged());
});

/// Every number of a target is one that the target may be.
fn in_range(target: &TargetResult) {
    for value in target.value.iter().chain(&target.per_run) {
        let items = value
            .as_array()
            .map_or(std::slice::from_ref(value), Vec::as_slice);
        for number in items.iter().filter_map(Value::as_f64) {
            let above = target.lowest.is_none_or(|lowest| number >= lowest - 1e-9);
            let below = target
                .highest
                .is_none_or(|highest| number <= highest + 1e-9);
            assert!(above && below, "{target:?}");
        }
    }
}

/// A run as one that is not stale, if it can be read: the gates judge no other.
fn run_of(agent: &Agent, model: &str, index: usize, run: &str) -> String {
    let Ok(mut cassette @ Value::Object(_)) = serde_json::from_str(run) else {
        return run.to_owned();
    };
    cassette["model"] = model.into();
    cassette["user_prompt"] = agent.prompt.first().value.as_str().into();
    let system = agent.system_prompt.as_ref();
    cassette["system_prompt"] = system.map(|text| text.value.as_str()).into();
    if system.is_none() {
        cassette
            .as_object_mut()
            .map(|keys| keys.remove("system_prompt"));
    }
    // Runs that are equal but for this are no copies.
    cassette["recorded_at"] = format!("2026-01-01T00:00:{index:02}Z").into();
    cassette.to_string()
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
