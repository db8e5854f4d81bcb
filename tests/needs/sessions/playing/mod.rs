//! Recorded runs, played to the programs that made them, and to others.

mod changes;
mod formats;
mod imported;
mod imports;
mod offline;

pub(crate) use changes::{
    ai_sdk_in_javascript, anthropic_in_javascript, anthropic_in_python,
    anthropic_on_bedrock_in_python, boto3_in_python, claude_on_vertex_in_python,
    gemini_on_vertex_in_python, google_genai_in_python, langchain_on_bedrock_in_python,
    langgraph_in_python, ollama_in_python, openai_agents_in_python, openai_chat_in_python,
    openai_in_javascript, openai_responses_in_python, pydantic_ai_in_python, strands_in_python,
};
pub(crate) use formats::{
    a_chat_plays_to_clients_of_other_formats, a_run_of_converse_plays_to_clients_of_other_formats,
    a_run_of_gemini_plays_to_clients_of_other_formats,
    a_run_of_messages_plays_to_clients_of_other_formats,
    a_run_of_ollama_plays_to_clients_of_other_formats,
    a_run_of_responses_plays_to_clients_of_other_formats,
};
pub(crate) use imported::what_is_imported_plays_to_a_program_that_follows_it;
pub(crate) use offline::nothing_leaves_the_machine_and_no_key_is_seen;

use scripted_provider::Provider;

use super::client::{self, Client};
use super::desk::{self, mcptest};
use crate::support::folder::Folder;
use crate::support::process::{self, Finished};

/// The client of a program.
fn client(program: &str) -> &'static Client {
    let mut all = client::ALL.iter();
    all.find(|client| client.program == program).unwrap()
}

/// The suite of a client, with the gate.
fn suite(client: &Client) -> String {
    let suite = desk::suite(client);
    let with_gate = suite.replacen("  stability: {}\n", "  playback: {}\n", 1);
    assert_ne!(with_gate, suite);
    with_gate
}

/// A folder in which both agents of a client are recorded, twice each, and played at once: green, and the model is
/// asked nothing for it.
fn recorded(client: &Client) -> (Folder, Provider) {
    let folder = client.folder().with_file("suites/desk.yml", suite(client));
    let provider = desk::provider(client.model);
    let said = mcptest(&folder, Some(&provider), &["record"]).exits(0);
    assert!(said.stdout.contains("8 passed; 0 failed"), "{said}");
    // In each of four runs three answers, and a request that was refused.
    assert_eq!(provider.requests().len(), 16, "{said}");
    (folder, provider)
}

/// Plays what is recorded to changed code; no model is there.
fn played(folder: &Folder, change: &str, cases: &str) -> Finished {
    let mut command = desk::command(folder, None, &["test", cases]);
    process::run(command.env("AGENT_CHANGE", change))
}
