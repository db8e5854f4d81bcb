//! An agent's own program whose MCP servers stand behind the address: recorded with real servers, judged, stopped by
//! caps, faults, budgets and kills.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod agent;
mod caps;
mod clients;
mod formats;
mod kills;
mod secrets;
mod servers;

use std::process::Command;

use e2e_support::folder::Folder;
use e2e_support::live::desk::{HttpServer, order_desk};
use e2e_support::process::{Finished, command, run};
use scripted_provider::{Provider, Script};
use serde_json::{Value, json};

/// What authorises with the scripted provider.
const KEY: &str = "sk-test-servers-51c07aa2";

const PROMPT: &str = "Cancel order A-1001.";

#[test]
#[ignore = "the agent of the other tests, which they start"]
fn own_agent() {
    agent::run();
}

/// The agent's program, as a list of YAML.
fn program() -> String {
    let agent = std::env::current_exe().unwrap().display().to_string();
    json!([agent, "--exact", "own_agent", "--ignored", "--nocapture"]).to_string()
}

/// A suite of one agent with two servers: one is started, the other one reached.
fn suite(far: &HttpServer, top: &str, more: &str) -> String {
    let desk = json!(order_desk().to_string_lossy());
    format!(
        "servers:\n  desk: {{ command: [{desk}] }}\n  far: {{ url: \"{}\" }}\n{top}\
         agents:\n- name: Desk agent\n  model: gpt-5\n  prompt: {PROMPT}\n  servers: [desk, far]\n  command: {}\n  narrative: {{}}\n{more}",
        far.url,
        program()
    )
}

fn provider(runs: &[Value], clerk: &[Value]) -> Provider {
    let own = json!({ "user": PROMPT, "model": "gpt-5", "runs": runs });
    let mut conversations = vec![own];
    if !clerk.is_empty() {
        conversations
            .push(json!({ "user": "Look order A-1002 up.", "model": "gpt-5", "runs": clerk }));
    }
    let script = json!({ "key": KEY, "conversations": conversations });
    Provider::start(Script::from_json(&script.to_string()).unwrap()).unwrap()
}

fn asks(name: &str, args: &Value) -> Value {
    json!({ "calls": [{ "name": name, "args": args }], "usage": { "prompt": 100, "completion": 10 } })
}

fn says(text: &str) -> Value {
    json!({ "text": text, "usage": { "prompt": 100, "completion": 10 } })
}

fn mcptest(folder: &Folder, provider: Option<&Provider>, arguments: &[&str]) -> Command {
    let mut command = command(env!("CARGO_BIN_EXE_cargo-mcptest"), folder.path());
    command.arg("mcptest").args(arguments);
    if let Some(provider) = provider {
        command
            .env("OPENAI_BASE_URL", format!("{}/v1", provider.url()))
            .env("OPENAI_API_KEY", KEY)
            .env("OLLAMA_HOST", provider.url())
            .env("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", provider.url())
            .env("AWS_ACCESS_KEY_ID", formats::KEY_ID)
            .env("AWS_SECRET_ACCESS_KEY", KEY);
    }
    command
}

fn record(folder: &Folder, provider: &Provider) -> Finished {
    record_in("chat", folder, provider)
}

/// Records an agent that asks its model in a format.
fn record_in(format: &str, folder: &Folder, provider: &Provider) -> Finished {
    let mut command = mcptest(folder, Some(provider), &["record"]);
    run(command.env("AGENT_FORMAT", format))
}

/// The only run of the agent.
fn recorded(folder: &Folder) -> Value {
    let file = folder.at("suites/cassettes/Desk_agent__gpt-5.json");
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

/// Name, server and sub-agent of each call.
fn calls(run: &Value) -> Vec<(&str, &str, Option<&str>)> {
    let calls = run["trace"]["tool_calls"].as_array().unwrap().iter();
    calls
        .map(|call| {
            (
                call["name"].as_str().unwrap_or_default(),
                call["server"].as_str().unwrap_or_default(),
                call["agent_id"].as_str(),
            )
        })
        .collect()
}
