//! Four agents of six runs, before and now: the worked example of a comparison.

use std::fs;

use e2e_support::folder::Folder;
use serde_json::{Value, json};

use super::{good, shop};

/// A name, and before and now: the last tool, tokens, passes.
pub(crate) type Agent = (&'static str, [&'static str; 2], [u64; 2], [u64; 2]);

/// The four agents of the worked example.
pub(crate) const AGENTS: [Agent; 4] = [
    ("a_refund", ["refund", "refund"], [1000, 1005], [6, 1]),
    ("b_search", ["search", "search"], [2000, 2905], [5, 5]),
    ("c_book", ["book", "book"], [1500, 1505], [0, 6]),
    ("d_cancel", ["cancel", "close"], [1200, 1205], [6, 4]),
];

pub(crate) fn run(agent: &str, last: &str, tokens: u64, passed: bool, prompt: &str) -> Value {
    let calls = ["find", "read", last].map(|name| json!({ "name": name, "args": {} }));
    let results =
        [0, 1, 2].map(|call| json!({ "call_index": call, "is_error": false, "result": "done" }));
    json!({
        "schema_version": "v1", "agent_name": agent, "model": "m", "user_prompt": prompt, "outcome": { "passed": passed },
        "trace": {
            "tool_calls": calls, "tool_results": results, "final_response": "Done.",
            "conversation": { "tokens": { "prompt": tokens, "completion": 0, "total": tokens }, "stop_reason": "completed" },
        },
    })
}

/// The four agents with their runs before (0) or now (1).
pub(crate) fn write_runs(folder: &Folder, below: &str, time: usize) {
    for (agent, last, tokens, passed) in AGENTS {
        for number in 0..6 {
            let run = run(
                agent,
                last[time],
                tokens[time] + 10 * number,
                number < passed[time],
                "go",
            );
            let path = format!("{below}cassettes/{agent}__m/run-{}.json", number + 1);
            folder.write(&path, format!("{run:#}\n"));
        }
    }
}

pub(crate) fn four_agents() -> Folder {
    let agents = AGENTS.map(|(agent, ..)| {
        format!("  - {{ name: {agent}, model: m, prompt: go, runs: 6, trajectory: {{ mode: subsequence, calls: [{{ name: find }}] }} }}\n")
    });
    let folder = shop(&good());
    fs::remove_dir_all(folder.at("suites")).unwrap();
    folder.write("suites/desk.yml", format!("agents:\n{}", agents.concat()));
    write_runs(&folder, "suites/", 1);
    write_runs(&folder, "before/", 0);
    folder
}
