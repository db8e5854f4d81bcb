//! What the guide says of recording, word by word.

use std::fs;
use std::path::Path;

use scripted_provider::{Provider, Script};
use serde_json::json;

use crate::guide::{block, blocks};
use crate::newcomer::{demo, write_file};
use crate::support::folder::Folder;
use crate::support::live::desk::order_desk;
use crate::support::process;
use crate::support::workshop::cargo;

/// What the model does; the token counts are those the guide shows.
fn script() -> Script {
    let run = |closing: &str| {
        json!([
            { "calls": [{ "name": "desk__find_order", "args": { "order_id": "A-1001" } }],
              "usage": { "prompt": 611, "completion": 24 } },
            { "calls": [{ "name": "desk__cancel_order", "args": { "order_id": "A-1001" } }],
              "usage": { "prompt": 784, "completion": 31 } },
            { "text": closing, "usage": { "prompt": 918, "completion": 12 } },
        ])
    };
    let runs = [
        run("Order A-1001 has been cancelled."),
        run("I have cancelled order A-1001."),
    ];
    let script = json!({ "key": "sk-guide", "conversations": [
        { "user": "Please cancel order A-1001.", "runs": runs },
    ] });
    Script::from_json(&script.to_string()).unwrap()
}

/// The variables and the arguments of a command that begins with `$ NAME=value … cargo`.
fn parts(command: &str) -> (Vec<(&str, &str)>, Vec<&str>) {
    let words = command.strip_prefix("$ ").unwrap().split(' ');
    let (variables, rest): (Vec<_>, Vec<_>) = words.partition(|word| word.contains('='));
    assert_eq!(rest[0], "cargo");
    let variables = variables.iter().filter_map(|word| word.split_once('='));
    (variables.collect(), rest[1..].to_vec())
}

#[test]
fn the_guide_shows_how_to_record_an_agent() {
    let blocks = blocks();
    let folder = Folder::new();
    let here = demo(&folder, &blocks);
    write_file(&here, &blocks, "tests/agents.rs");
    write_file(&here, &blocks, "suites/orders.yml");
    let provider = Provider::start(script()).unwrap();
    let shown = block(&blocks, "recording", "suites/orders.yml");
    let mut lines = shown.lines();
    let (variables, arguments) = parts(lines.next().unwrap());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let desk = order_desk().parent().unwrap().to_owned();
    let path = std::iter::once(desk).chain(std::env::split_paths(&path));
    let mut command = cargo(&here, &arguments);
    command
        .envs(variables)
        .env("PATH", std::env::join_paths(path).unwrap())
        .env("ANTHROPIC_BASE_URL", provider.url())
        .env("ANTHROPIC_API_KEY", "sk-guide");
    let ran = process::run(&mut command).exits(0);
    for line in lines {
        let said = ran.stdout.lines().chain(ran.stderr.lines());
        assert!(said.clone().any(|said| said == line), "{line}\n{ran}");
    }
    remove(&ran.executables());
}

#[test]
fn the_guide_shows_how_to_record_a_loop_of_ones_own() {
    let blocks = blocks();
    let folder = Folder::new();
    let here = demo(&folder, &blocks);
    let manifest = here.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    let text = text.replace(
        "[[test]]\nname = \"agents\"",
        "serde_json = \"1\"\n\n[[test]]\nname = \"own_agent\"",
    );
    fs::write(&manifest, text).unwrap();
    write_file(&here, &blocks, "tests/own_agent.rs");
    let suite = "agents: [{ name: Clerk, model: clerk-1, prompt: Where is A-1001?, runs: 2, expect: [{ target: 'tool_calls[0].name', matcher: { exact: find_order } }] }]\n";
    fs::create_dir(here.join("own")).unwrap();
    fs::write(here.join("own/clerk.yml"), suite).unwrap();

    let arguments = ["test", "--test", "own_agent"];
    let mut executables = Vec::new();
    for (word, code) in [("", 101), ("missing", 0), ("", 0)] {
        let mut command = cargo(&here, &arguments);
        let ran = process::run(command.env("MCPTEST_RECORD", word)).exits(code);
        assert!(!ran.stderr.contains("warning"), "{ran}");
        executables.extend(ran.executables());
    }
    let second = here.join("own/cassettes/Clerk__clerk-1/run-2.json");
    let second = fs::read_to_string(second).unwrap();
    assert!(
        second.contains("Order A-1001 is paid. (Asked 2 of 2.)"),
        "{second}"
    );
    remove(&executables);
}

/// The executables in the shared target folder, which nothing else would remove.
fn remove(executables: &[impl AsRef<Path>]) {
    for executable in executables {
        _ = fs::remove_file(executable);
    }
}
