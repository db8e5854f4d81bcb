//! What client libraries in Rust do on their own, without a session, where the provider fails: `docs/recording.md` has it
//! as a table.

use std::fs;

use scripted_provider::{Provider, Script};
use serde_json::{Value, json};

use crate::rust_agents::{crates, executables};
use crate::support::folder::Folder;
use crate::support::process;

const LIBRARIES: [&str; 6] = [
    "async-openai",
    "genai",
    "rig",
    "reqwest",
    "ollama-rs",
    "aws-sdk-bedrockruntime",
];

const PROMPT: &str = "Please refund orders 7 and 8.";

/// The columns of the table: what happens to every request, and whether a stream is asked for.
fn failures() -> [(Value, bool); 5] {
    [
        (json!({ "status": 429 }), false),
        (json!({ "status": 500 }), false),
        (json!({ "close": true }), false),
        (json!({ "cut": true }), false),
        (json!({ "cut": true }), true),
    ]
}

/// How many requests a library makes of a provider that fails each time, or never. It says nothing of its own.
fn count_requests(library: &str, failure: Option<&Value>, streamed: bool) -> usize {
    let failures = vec![failure; if failure.is_some() { 20 } else { 0 }];
    let reply = json!({ "text": "Words enough to be cut in the middle.", "before": failures });
    let script = json!({ "conversations": [{ "user": PROMPT, "runs": [[reply]] }] });
    let provider = Provider::start(Script::from_json(&script.to_string()).unwrap()).unwrap();
    let folder = Folder::new();
    let mut command = process::command(&executables()["ask_once"], folder.path());
    command.args([library, &provider.url(), PROMPT]);
    command.args(streamed.then_some("--stream"));
    for key in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"] {
        command.env(key, "scripted");
    }
    command
        .env("AWS_ACCESS_KEY_ID", "AKIDSCRIPTED")
        .env("AWS_SECRET_ACCESS_KEY", "scripted")
        .env("AWS_REGION", "eu-central-1");
    let ran = process::run(command.env("NO_PROXY", "127.0.0.1"));
    if failure.is_some() {
        let ran = ran.exits(1);
        assert_eq!(ran.stdout, "", "{library}");
        // What the program says of its error, and nothing before it; one library prints why it cannot read a stream.
        let printed = "Failed to read response: ";
        let is_printed = library == "ollama-rs" && streamed;
        assert_eq!(
            ran.stderr.starts_with(printed),
            is_printed,
            "{library}: {ran}"
        );
        let own = ran.stderr.lines().find(|line| !line.starts_with(printed));
        assert!(
            own.is_some_and(|it| it.starts_with("error: ")),
            "{library}: {ran}"
        );
    } else {
        let ran = ran.exits(0);
        assert!(!ran.stdout.trim().is_empty(), "{library}");
        assert_eq!(ran.stderr, "", "{library}");
    }
    provider.requests().len()
}

/// The version of a library that the agents are built with. Where the lock file has several, the agents' own entry says
/// which is theirs.
fn version(library: &str) -> String {
    let lock = fs::read_to_string(crates().join("Cargo.lock")).unwrap();
    let package = |name: &str| {
        let named = format!("\nname = \"{name}\"\n");
        let mut packages = lock.split("[[package]]");
        packages
            .find(|package| package.starts_with(&named))
            .unwrap()
    };
    let after = |text: &str, begin: &str| {
        let version = text.split_once(begin)?.1.split('"').next()?;
        Some(version.to_owned())
    };
    let told = after(package("agents"), &format!("\"{library} "));
    told.or_else(|| after(package(library), "version = \""))
        .unwrap()
}

pub(crate) fn they_do_what_the_table_says() {
    let page = include_str!("../../docs/recording.md");
    for library in LIBRARIES {
        for streamed in [false, true] {
            assert_eq!(count_requests(library, None, streamed), 1, "{library}");
        }
        let counts =
            failures().map(|(failure, streamed)| count_requests(library, Some(&failure), streamed));
        let counts = counts.map(|count| count.to_string()).join(" | ");
        let row = format!("| Rust `{library}` {} | {counts} | ", version(library));
        let there = page.lines().any(|line| line.starts_with(&row));
        assert!(
            there,
            "docs/recording.md has no row that begins with\n{row}"
        );
    }
}
