//! The coding agent `codex`, as the npm registry has it: it asks Responses, and tries a WebSocket first. The session answers
//! that with status 426, and it asks by HTTP.

use std::fs;

use scripted_provider::{Provider, Script};
use serde_json::{Value, json};

use super::desk::{self, KEY};
use super::packages;
use crate::support::folder::Folder;
use crate::support::process::{Finished, run};

const PACKAGE: &str = include_str!("../agents/codex/package.json");

const MODEL: &str = "gpt-5";
const PROMPT: &str = "Copy note.txt to copy.txt.";
const CLOSING: &str = "I copied note.txt.";

/// Without the words about its folder and the date, so that the first message is the prompt.
const COMMAND: &str = "export CODEX_API_KEY=\"$OPENAI_API_KEY\"; exec \"$CODEX\" exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox -m gpt-5 \
    -c include_environment_context=false -c openai_base_url=\"$OPENAI_BASE_URL\" $CHANGE \"$MCPTEST_PROMPT\" \
    </dev/null 2>../said.txt";

fn provider() -> Provider {
    let copies =
        json!({ "name": "exec_command", "args": { "cmd": "cp note.txt copy.txt; cat copy.txt" } });
    let replies = json!([
        { "calls": [copies], "usage": { "prompt": 900, "completion": 40, "cached": 600, "reasoning": 9 } },
        { "text": CLOSING, "usage": { "prompt": 1000, "completion": 12, "cached": 900, "reasoning": 7 } },
    ]);
    let script = json!({ "key": KEY, "conversations": [
        { "user": PROMPT, "model": MODEL, "runs": [replies] },
    ] });
    Provider::start(Script::from_json(&script.to_string()).unwrap()).unwrap()
}

/// Each run of a command has a number of its own and takes another time, and the model is told both.
fn suite() -> String {
    let command = json!(["sh", "-c", COMMAND]);
    format!(
        "agents:\n- name: Copying agent\n  model: {MODEL}\n  prompt: {PROMPT}\n  cwd: ../work\n  command: {command}\n  \
         before: [rm, -f, ../work/copy.txt]\n  \
         calls: {{ max: 1 }}\n  narrative: {{}}\n  playback:\n    \
         mask: ['Chunk ID: [0-9a-f]+', 'Wall time: [0-9.]+ seconds']\n"
    )
}

fn mcptest(
    folder: &Folder,
    provider: Option<&Provider>,
    change: &str,
    arguments: &[&str],
) -> Finished {
    let program = packages::modules("codex", PACKAGE).join("node_modules/.bin/codex");
    let mut command = desk::command(folder, provider, arguments);
    command
        .env("CODEX", program)
        .env("CODEX_HOME", folder.at("home"))
        .env("HOME", folder.at("home"))
        .env("CHANGE", change);
    run(&mut command)
}

pub(crate) fn codex_asks_by_http_where_there_is_no_websocket() {
    let folder = Folder::new()
        .with_file("work/note.txt", "pens: 3\n")
        .with_file("home/quick.md", "Be quick.")
        .with_file("suites/copy.yml", suite());
    let provider = provider();
    let said = mcptest(&folder, Some(&provider), "", &["record"]).exits(0);
    assert!(said.stdout.contains("4 passed; 0 failed"), "{said}");
    assert_eq!(provider.requests().len(), 2);
    drop(provider);
    let printed = || fs::read_to_string(folder.at("said.txt")).unwrap();
    let tried = "failed to connect to Responses WebSocket";
    assert!(printed().contains(tried), "{}", printed());

    let place = format!("suites/cassettes/Copying_agent__{MODEL}.json");
    let text = fs::read_to_string(folder.at(&place)).unwrap();
    assert!(!text.contains(KEY), "{text}");
    let recorded: Value = serde_json::from_str(&text).unwrap();
    let trace = &recorded["trace"];
    assert_eq!(trace["tool_calls"][0]["name"], "exec_command");
    assert!(trace["tool_results"][0].to_string().contains("pens: 3"));
    assert_eq!(trace["final_response"], CLOSING);
    assert_eq!(trace["conversation"]["stop_reason"], "completed");
    let steps = trace["conversation"]["steps"].as_array().unwrap();
    let tokens: Vec<_> = steps.iter().map(|step| step["prompt"].as_u64()).collect();
    assert_eq!(tokens, [Some(900), Some(1000)]);

    // Played, it tries a WebSocket too.
    mcptest(&folder, None, "", &["test"]).exits(0);
    assert!(printed().contains(tried), "{}", printed());
    for (change, told) in [
        (
            "-c model_instructions_file=../home/quick.md",
            "model call 1 of 2: the system prompt differs",
        ),
        (
            "-c web_search=disabled",
            "model call 1 of 2: the tool `web_search` is no longer offered",
        ),
    ] {
        let (case, text) = mcptest(&folder, None, change, &["test"])
            .exits(101)
            .only_failure();
        assert_eq!(case, "copy::copying_agent::playback");
        assert!(text.contains(told), "{text}");
    }
}
