//! Reading the recorded runs and their suite.

use std::collections::BTreeMap;
use std::fs;

use e2e_support::real_runs::part;
pub(crate) use e2e_support::real_runs::{assert_same as same, expected};
use mcptest_trace::trace::{Run, read_runs};

/// An agent: the stem of its recordings, its runs in order, and the calls that its suite asks for.
pub(crate) struct Agent {
    pub(crate) stem: String,
    pub(crate) runs: Vec<Run>,
    pub(crate) calls: Vec<String>,
}

/// All agents in byte order of their stem.
pub(crate) fn agents() -> Vec<Agent> {
    let root = part("tau-airline/crate");
    let asked = golden_paths(&fs::read_to_string(root.join("suites/airline.yml")).unwrap());
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
fn golden_paths(suite: &str) -> BTreeMap<String, Vec<String>> {
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
