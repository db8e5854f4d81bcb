//! An agent over litellm: ten runs, started for each and started once.

use std::fs;
use std::time::Instant;

use scripted_provider::{Provider, Script};
use serde_json::json;

use super::{is_gone, script, verdicts_and_texts};
use crate::own_tools;
use crate::sessions::{mcptest_command, mcptest_recording};
use crate::support::folder::Folder;
use crate::support::process;

const RUNS: usize = 10;

const PROMPT: &str = "Please refund order 7.";

pub(crate) fn an_agent_over_litellm() {
    let folder = Folder::new().with_file("agent.py", include_bytes!("litellm_agent.py"));
    let python = own_tools::python().display();
    folder.write(
        "suites/desk.yml",
        format!(
            "agents:\n- name: Desk\n  model: gpt-5\n  prompt: {PROMPT}\n  runs: {RUNS}\n  \
             command: ['{python}', ../agent.py]\n  playback: {{ timeout_s: 600 }}\n"
        ),
    );
    let usage = json!({ "prompt": 9, "completion": 3 });
    let runs = (0..RUNS).map(|run| {
        json!([
            { "calls": [{ "name": "refund", "args": { "order": 7 } }], "usage": usage },
            { "text": format!("Order 7 is paid back ({run})."), "usage": usage },
        ])
    });
    let script = script(PROMPT, &runs.collect::<Vec<_>>()).to_string();
    let provider = Provider::start(Script::from_json(&script).unwrap()).unwrap();
    let mut command = mcptest_recording(&folder, &provider, &["record"]);
    process::run(
        command
            .env("LITELLM_LOCAL_MODEL_COST_MAP", "True")
            .env("MCPTEST_SERVE", "off"),
    )
    .exits(0);
    drop(provider);
    let starts = folder.at("starts.txt");
    let play = |serve: &str, change: &str| {
        _ = fs::remove_file(&starts);
        let mut command = mcptest_command(&folder, &["test", "::playback"]);
        command
            .env("LITELLM_LOCAL_MODEL_COST_MAP", "True")
            .env("AGENT_CHANGE", change)
            .env("MCPTEST_SERVE", serve);
        let begun = Instant::now();
        let said = process::run(&mut command);
        let seconds = begun.elapsed().as_secs_f64();
        let starts = fs::read_to_string(&starts).unwrap();
        let starts: Vec<&str> = starts.lines().collect();
        assert!(starts.iter().all(|start| is_gone(start)));
        (said, starts.len(), seconds)
    };
    for change in ["", "argument"] {
        let (anew, starts_anew, seconds_anew) = play("off", change);
        let (served, starts, seconds) = play("once", change);
        assert_eq!(
            verdicts_and_texts(&served),
            verdicts_and_texts(&anew),
            "{served}"
        );
        assert_eq!(served.code == Some(0), change.is_empty(), "{served}");
        assert_eq!((starts_anew, starts), (RUNS, 1), "{served}");
        println!("{RUNS} runs: {seconds_anew:.1} s, started once: {seconds:.1} s");
    }
}
