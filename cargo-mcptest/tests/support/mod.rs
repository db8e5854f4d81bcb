//! What the tests of the command as it is run stand on.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "helpers of tests, each of which uses some"
)]

pub(crate) mod agent;
pub(crate) mod desk;
pub(crate) mod four_agents;
pub(crate) mod log;
pub(crate) mod page;
pub(crate) mod planted;

use std::path::Path;

use e2e_support::folder::Folder;
use e2e_support::process::{Finished, command, run};
use serde_json::{Value, json};

/// Runs the command in a folder, in a scrubbed environment.
pub(crate) fn mcptest(folder: &Path, arguments: &[&str]) -> Finished {
    let mut line = command(env!("CARGO_BIN_EXE_cargo-mcptest"), folder);
    run(line.args(arguments))
}

/// The suite of `shop`.
pub(crate) const SUITE: &str = "\
agents:
  - name: Refund agent
    model: gpt-5
    prompt: Please refund order 7.
    runs: 2
    trajectory:
      mode: strict
      calls:
        - { name: get_order }
        - { name: refund, args: { subset: { order: 7 } } }
    calls: { max: 4 }
";

/// A run of the agent: the calls it makes after `get_order`.
pub(crate) fn run_of(calls: &[(&str, Value)]) -> Value {
    let all = [("get_order", json!({ "order": 7 }))];
    let all: Vec<_> = all.into_iter().chain(calls.iter().cloned()).collect();
    let results = (0..all.len())
        .map(|call| json!({ "call_index": call, "is_error": false, "result": "done" }));
    json!({
        "schema_version": "v1", "agent_name": "Refund agent", "model": "gpt-5", "user_prompt": "Please refund order 7.",
        "outcome": { "passed": true },
        "trace": {
            "tool_calls": all.iter().map(|(name, args)| json!({ "name": name, "args": args })).collect::<Vec<_>>(),
            "tool_results": results.collect::<Vec<_>>(),
            "final_response": "Done.",
            "conversation": { "tokens": { "prompt": 900, "completion": 100, "total": 1000 }, "stop_reason": "completed" },
        },
    })
}

/// A crate whose agent tests are judged without being built: two runs, which `second` may change.
pub(crate) fn shop(second: &[(&str, Value)]) -> Folder {
    Folder::new()
        .with_file(
            "Cargo.toml",
            "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             [package.metadata.mcptest]\nroots = [\"suites\"]\n\n[workspace]\n",
        )
        .with_file("src/lib.rs", "")
        .with_file("suites/refunds.yml", SUITE)
        .with_run(
            "suites/cassettes/Refund_agent__gpt-5/run-1.json",
            &run_of(&[("refund", json!({ "order": 7 }))]),
        )
        .with_run(
            "suites/cassettes/Refund_agent__gpt-5/run-2.json",
            &run_of(second),
        )
}

/// Calls of a run that is like the first in all but a word that no gate looks at.
pub(crate) fn good() -> Vec<(&'static str, Value)> {
    vec![("refund", json!({ "order": 7, "reason": "broken" }))]
}
