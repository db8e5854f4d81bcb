//! A recording plays to a client of another format than it was recorded with, whole and streamed.

use super::super::client::Client;
use super::super::desk;
use super::{client, recorded};
use crate::support::process;

/// A program for each format.
const PROGRAMS: [&str; 7] = [
    "openai_chat.py",
    "openai_responses.py",
    "anthropic_messages.py",
    "google_genai.py",
    "ollama_chat.py",
    "bedrock_boto3.py",
    "bedrock_anthropic.py",
];

/// The suite of a recording whose agents are another client's program. What the tool says that failed is in the words
/// of a library, so that one result may differ; everything else is compared.
fn suite(recorded: &Client, player: &Client) -> String {
    let suite = super::suite(recorded);
    let gate = "  playback: { ignore_paths: ['tool_results[1]'] }\n";
    let suite = suite.replacen("  playback: {}\n", gate, 1);
    let suite = suite.replace(recorded.program, player.program);
    assert!(suite.contains(gate) && suite.contains(player.program));
    suite
}

fn plays_to_the_others(program: &str) {
    let of = client(program);
    let (folder, provider) = recorded(of);
    drop(provider);
    for other in PROGRAMS.into_iter().filter(|other| *other != program) {
        folder.write("suites/desk.yml", suite(of, client(other)));
        let play = |change: &str| {
            let mut command = desk::command(&folder, None, &["test", "::playback"]);
            command
                .env("AGENT_MODEL", of.model)
                // A run of another format does not say that a client of AWS plays it.
                .env("AWS_ACCESS_KEY_ID", "any")
                .env("AWS_SECRET_ACCESS_KEY", "any")
                .env("AWS_REGION", "us-east-1")
                .env("AWS_DEFAULT_REGION", "us-east-1")
                .env("AGENT_CHANGE", change);
            process::run(&mut command)
        };
        let green = play("").exits(0);
        assert!(
            green.stdout.contains("2 passed; 0 failed"),
            "{program}, {other}: {green}"
        );
        // It was compared: each of these shows, in both agents and all runs.
        let red = play("another system prompt, a tool removed, an argument changed").exits(101);
        let failures = red.failures();
        assert_eq!(failures.len(), 2, "{program}, {other}: {red}");
        for text in failures.values() {
            for told in [
                "the system prompt differs",
                "the tool `refund` is no longer offered",
                "the result of `get_order` differs",
            ] {
                assert!(text.contains(told), "{program}, {other}: {told}\n{red}");
            }
        }
    }
}

pub(crate) fn a_chat_plays_to_clients_of_other_formats() {
    plays_to_the_others("openai_chat.py");
}

pub(crate) fn a_run_of_responses_plays_to_clients_of_other_formats() {
    plays_to_the_others("openai_responses.py");
}

pub(crate) fn a_run_of_messages_plays_to_clients_of_other_formats() {
    plays_to_the_others("anthropic_messages.py");
}

pub(crate) fn a_run_of_gemini_plays_to_clients_of_other_formats() {
    plays_to_the_others("google_genai.py");
}

pub(crate) fn a_run_of_ollama_plays_to_clients_of_other_formats() {
    plays_to_the_others("ollama_chat.py");
}

pub(crate) fn a_run_of_converse_plays_to_clients_of_other_formats() {
    plays_to_the_others("bedrock_boto3.py");
}
