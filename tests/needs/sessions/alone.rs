//! What the libraries do on their own, without a session, where the provider fails: `docs/recording.md` has it as a table.

use std::collections::BTreeSet;
use std::thread;

use scripted_provider::{Provider, Script};
use serde_json::{Value, json};

use super::client::{self, Client, Language};
use super::desk::{self, KEY};
use super::packages;
use crate::support::folder::Folder;
use crate::support::process;

const PAGE: &str = include_str!("../../../docs/recording.md");

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

/// How many requests a program makes of a provider that fails each time. It must not end well.
fn count_requests(client: &Client, folder: &Folder, failure: &Value, streamed: bool) -> usize {
    let failures = vec![failure; 20];
    let reply = json!({ "text": "Words enough to be cut in the middle.", "before": failures });
    let script = json!({ "key": KEY, "conversations": [{ "user": PROMPT, "runs": [[reply]] }] });
    let provider = Provider::start(Script::from_json(&script.to_string()).unwrap()).unwrap();
    let mut command = process::command(client.interpreter(), folder.path());
    desk::leads_to(&mut command, &provider);
    command.arg(client.program).env("MCPTEST_PROMPT", PROMPT);
    command.args(streamed.then_some("--stream"));
    folder.write("prompt", PROMPT);
    let prompt = std::fs::File::open(folder.at("prompt")).unwrap();
    let ran = command.stdin(prompt).output().unwrap();
    assert!(!ran.status.success(), "{}: {ran:?}", client.program);
    provider.requests().len()
}

/// A row of the table: a library, its version, and the counts.
fn row(label: &str, counts: &[usize]) -> String {
    let counts: Vec<String> = counts.iter().map(ToString::to_string).collect();
    format!("| {label} | {} |", counts.join(" | "))
}

fn label(client: &Client) -> String {
    let (language, library) = (client.language, client.library);
    let version = packages::version(language == Language::Python, library);
    format!("{language:?} `{library}` {version}")
}

fn counts(client: &Client, folder: &Folder) -> Vec<usize> {
    thread::scope(|scope| {
        let tries = failures().map(|(failure, streamed)| {
            scope.spawn(move || count_requests(client, folder, &failure, streamed))
        });
        tries.map(|one| one.join().unwrap()).to_vec()
    })
}

#[track_caller]
fn has(row: &str) {
    let there = PAGE.lines().any(|line| line.starts_with(row));
    assert!(
        there,
        "docs/recording.md has no row that begins with\n{row}"
    );
}

fn does_what_the_table_says(language: Language) {
    let of = client::ALL.iter().filter(|it| it.language == language);
    // One program of each library.
    let mut known = BTreeSet::new();
    for client in of.filter(|it| known.insert(it.library)) {
        let folder = client.folder();
        let counts = counts(client, &folder);
        // These libraries ask nothing again until the program tells them to, or asks again itself.
        let told = match client.library {
            "google-genai" => Some(("http_options=types.HttpOptions(retry_options=again)", "")),
            "ollama" => Some(("[0.1, 0.2, None]", "[None]")),
            _ => None,
        };
        if let Some((told, untold)) = told {
            has(&row(
                &format!("{}, told to ask 3 times", label(client)),
                &counts,
            ));
            let program = folder.at(client.program);
            let text = std::fs::read_to_string(&program).unwrap();
            assert_eq!(text.matches(told).count(), 1);
            folder.write(client.program, text.replace(told, untold));
            has(&row(&label(client), &self::counts(client, &folder)));
        } else {
            has(&row(&label(client), &counts));
        }
    }
}

pub(crate) fn libraries_for_python_do_what_the_table_says() {
    does_what_the_table_says(Language::Python);
}

pub(crate) fn libraries_for_javascript_do_what_the_table_says() {
    does_what_the_table_says(Language::JavaScript);
}
