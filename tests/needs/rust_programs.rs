//! Programs over client libraries in Rust, started by a suite's `command:`: they find the session by its variables, and are
//! recorded, played, and played to code that was changed.

use std::fs;

use scripted_provider::{Provider, Script};
use serde_json::Value;

use crate::rust_agents::{AGENTS, CHANGES, crates, of_agents, reached};
use crate::sessions::mcptest_command;
use crate::support::folder::Folder;
use crate::support::process;

/// The libraries, and the models that the agents over them ask.
const LIBRARIES: [(&str, &str); 2] = [
    ("ollama-rs", "qwen3"),
    ("aws-sdk-bedrockruntime", "us.amazon.nova-pro-v1:0"),
];

/// The suite of the agents' own tests, with the program.
fn suite(library: &str, model: &str) -> String {
    let program = of_agents()["refunds"].display();
    let mut suite = format!("defaults:\n  model: {model}\n  runs: 3\n  playback: {{}}\nagents:\n");
    for ((name, prompt), more) in AGENTS.into_iter().zip(["", ", --stream"]) {
        suite += &format!(
            "- name: {name}\n  prompt: {prompt:?}\n  command: ['{program}', {library}{more}]\n"
        );
    }
    suite
}

pub(crate) fn they_find_the_session_by_its_variables() {
    for (library, model) in LIBRARIES {
        let folder = Folder::new().with_file("suites/refunds.yml", suite(library, model));
        let script = fs::read_to_string(crates().join("agents/script.json")).unwrap();
        let provider = Provider::start(Script::from_json(&script).unwrap()).unwrap();
        let mut command = mcptest_command(&folder, &["record"]);
        let recorded = process::run(reached(&mut command, &provider)).exits(0);
        assert!(recorded.stdout.contains("4 passed; 0 failed"), "{recorded}");
        // In each of the three runs three answers, and a request that was refused in one.
        assert_eq!(provider.requests().len(), 20, "{recorded}");
        drop(provider);
        for path in crate::support::folder::collect(&folder.at("suites/cassettes")).keys() {
            if path.contains("run-") {
                let text = fs::read_to_string(folder.at("suites/cassettes").join(path)).unwrap();
                let run: Value = serde_json::from_str(&text).unwrap();
                assert!(!text.contains("AKIDSCRIPTED"), "{path}");
                assert_eq!(run["trace"]["conversation"]["stop_reason"], "completed");
            }
        }
        let play = |change: &str| {
            let mut command = mcptest_command(&folder, &["test", "playback"]);
            process::run(command.env("AGENT_CHANGE", change))
        };
        play("").exits(0);
        for (change, told) in CHANGES {
            let red = play(change).exits(101);
            let failures = red.failures();
            assert_eq!(failures.len(), 2, "{library}, {change}: {red}");
            for text in failures.values() {
                assert!(text.contains(told), "{library}, {change}: {text}");
            }
        }
    }
}
