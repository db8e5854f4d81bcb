//! Agents over real client libraries, recorded by an address. The programs lie in `agents/`, as a user would write
//! them; the model is a script on loopback.
//!
//! Each client makes two runs with whole answers and two with streamed ones. Both have two calls at a time, a tool
//! that fails, and a request that is refused with status 429 and asked again. The recordings are compared with the
//! script field by field, and judged.

mod alone;
mod broken;
mod client;
mod codex;
mod compare;
mod desk;
mod merging;
mod packages;
mod pages;
pub(super) mod playing;
mod product;
mod typescript;

pub(super) use alone::{
    libraries_for_javascript_do_what_the_table_says, libraries_for_python_do_what_the_table_says,
};
pub(super) use broken::{
    a_broken_stream_is_no_finished_run_in_javascript, a_broken_stream_is_no_finished_run_in_python,
};
pub(super) use codex::codex_asks_by_http_where_there_is_no_websocket;
pub(super) use desk::program;
pub(super) use merging::the_page_from_a_change_to_a_merge;
pub(super) use pages::{Installation, the_page_on_python, the_page_on_typescript, the_readme};
pub(super) use product::a_coding_agent_from_the_registry;
pub(super) use typescript::{
    library_for_typescript, own_tools_of_a_loop_in_text_in_javascript,
    own_tools_of_openai_agents_in_javascript, own_tools_of_the_ai_sdk,
    the_library_for_typescript_passes_its_tests,
};

pub(super) use packages::{PACKAGE, REQUIREMENTS, installed_once, modules};

use std::process::Command;

use scripted_provider::Provider;

use crate::support::folder::Folder;
use desk::mcptest;

/// The command in a folder, without a provider.
pub(super) fn mcptest_command(folder: &Folder, arguments: &[&str]) -> Command {
    desk::command(folder, None, arguments)
}

/// The command in a folder, whose programs ask a provider.
pub(super) fn mcptest_recording(
    folder: &Folder,
    provider: &Provider,
    arguments: &[&str],
) -> Command {
    desk::command(folder, Some(provider), arguments)
}

/// Records both agents of a client, compares and judges them, and sees the suite red after one expectation changed.
fn is_recorded_and_judged(program: &str) {
    let mut all = client::ALL.iter();
    let client = all.find(|client| client.program == program).unwrap();
    let suite = desk::suite(client);
    let folder = client.folder().with_file("suites/desk.yml", &suite);
    let provider = desk::provider(client.model);
    let said = mcptest(&folder, Some(&provider), &["record"]).exits(0);
    assert!(said.stdout.contains("8 passed; 0 failed"), "{said}");
    let asked = provider.requests();
    // In each of four runs three answers, and a request that was refused.
    assert_eq!(asked.len(), 16, "{said}");
    compare::with_script(client, &folder, &asked);
    // From now on nothing is asked.
    drop(provider);
    let green = mcptest(&folder, None, &["test"]).exits(0);
    assert!(green.stdout.contains("8 passed; 0 failed"), "{green}");
    folder.write(
        "suites/desk.yml",
        suite.replace("exact: { order: 8 }", "exact: { order: 9 }"),
    );
    let red = mcptest(&folder, None, &["test"]).exits(101);
    assert!(red.stdout.contains("6 passed; 2 failed"), "{red}");
    for (case, text) in red.failures() {
        assert!(case.ends_with("::trajectory"), "{case}");
        assert!(text.contains("does not hold in 2 of 2 runs"), "{text}");
    }
}

pub(super) fn openai_chat_in_python() {
    is_recorded_and_judged("openai_chat.py");
}

pub(super) fn openai_responses_in_python() {
    is_recorded_and_judged("openai_responses.py");
}

pub(super) fn anthropic_in_python() {
    is_recorded_and_judged("anthropic_messages.py");
}

pub(super) fn google_genai_in_python() {
    is_recorded_and_judged("google_genai.py");
}

pub(super) fn gemini_on_vertex_in_python() {
    is_recorded_and_judged("vertex_gemini.py");
}

pub(super) fn claude_on_vertex_in_python() {
    is_recorded_and_judged("vertex_claude.py");
}

pub(super) fn ollama_in_python() {
    is_recorded_and_judged("ollama_chat.py");
}

pub(super) fn openai_agents_in_python() {
    is_recorded_and_judged("openai_agents.py");
}

pub(super) fn pydantic_ai_in_python() {
    is_recorded_and_judged("pydantic_ai_desk.py");
}

pub(super) fn langgraph_in_python() {
    is_recorded_and_judged("langgraph_desk.py");
}

pub(super) fn boto3_in_python() {
    is_recorded_and_judged("bedrock_boto3.py");
}

pub(super) fn anthropic_on_bedrock_in_python() {
    is_recorded_and_judged("bedrock_anthropic.py");
}

pub(super) fn strands_in_python() {
    is_recorded_and_judged("bedrock_strands.py");
}

pub(super) fn langchain_on_bedrock_in_python() {
    is_recorded_and_judged("bedrock_langchain.py");
}

pub(super) fn openai_in_javascript() {
    is_recorded_and_judged("openai_chat.mjs");
}

pub(super) fn anthropic_in_javascript() {
    is_recorded_and_judged("anthropic_messages.mjs");
}

pub(super) fn ai_sdk_in_javascript() {
    is_recorded_and_judged("ai_sdk.mjs");
}
