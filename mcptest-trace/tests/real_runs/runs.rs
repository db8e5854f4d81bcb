//! Reading the recorded runs, their suite, and the expected numbers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use mcptest_trace::trace::{Run, read_runs};
use serde_json::Value;

/// The folder of the data.
fn data() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let beside = || workspace.parent().unwrap().join("shared/data");
    env::var_os("MCPTEST_SHARED_DATA").map_or_else(beside, PathBuf::from)
}

/// Why the tests are ignored, where they are.
pub(crate) fn absent() -> Option<String> {
    let data = data();
    let there = data.join("tau-airline/crate/cassettes/airline").is_dir()
        && data.join("expected/evidence-tau-airline.json").is_file();
    (!there).then(|| {
        format!(
            "the recorded runs are not in {}; say in MCPTEST_SHARED_DATA where they are",
            data.display()
        )
    })
}

/// An agent: the stem of its recordings, its runs in order, and the calls that its suite asks for.
pub(crate) struct Agent {
    pub(crate) stem: String,
    pub(crate) runs: Vec<Run>,
    pub(crate) calls: Vec<String>,
}

/// All agents in byte order of their stem.
pub(crate) fn agents() -> Vec<Agent> {
    let root = data().join("tau-airline/crate");
    let asked = asked(&fs::read_to_string(root.join("suites/airline.yml")).unwrap());
    let folder = root.join("cassettes/airline");
    let mut stems: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    stems.sort();
    let agents = stems.into_iter().map(|stem| {
        let files: Vec<_> = (1..=4)
            .map(|run| {
                (
                    folder.join(&stem).join(format!("run-{run}.json")),
                    format!("run-{run}"),
                )
            })
            .collect();
        let runs = read_runs(&files).unwrap();
        let calls = asked[runs[0].agent_name.as_ref().unwrap()].clone();
        Agent { stem, runs, calls }
    });
    agents.collect()
}

/// The golden path of each agent: the suite is written in one way only.
fn asked(suite: &str) -> BTreeMap<String, Vec<String>> {
    let mut asked: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut agent, mut inside) = (String::new(), false);
    for line in suite.lines() {
        if let Some(name) = line.strip_prefix("- name: ") {
            name.clone_into(&mut agent);
        } else if line.starts_with("  golden_path:") {
            inside = true;
        } else if inside && line.starts_with("    - ") {
            let call = line.trim_start_matches("    - ").to_owned();
            asked.entry(agent.clone()).or_default().push(call);
        } else if !line.starts_with("    ") {
            inside = false;
        }
    }
    asked
}

/// The expected numbers.
pub(crate) fn expected() -> Value {
    let text = fs::read(data().join("expected/evidence-tau-airline.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// Whether a number is the expected one, to the six digits that are given; both or none.
pub(crate) fn same(what: &str, found: Option<f64>, expected: &Value) {
    let given = expected.as_f64();
    let near = match (found, given) {
        (None, None) => true,
        (Some(found), Some(given)) => (found - given).abs() <= 5.1e-6 * given.abs().max(1e-9),
        _ => false,
    };
    assert!(near, "{what}: {found:?} is not {expected}");
}
