//! Spans as libraries write them, and the cassettes that are made of them.

mod endings;
mod runs;

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use tracing::{Span, info_span};
use tracing_subscriber::layer::SubscriberExt as _;

use super::capture;

/// A folder, and what was captured into it.
struct Desk {
    folder: TempDir,
}

impl Desk {
    /// Captures what a program does.
    fn capture(program: impl FnOnce()) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let layer = capture(folder.path()).secret("DESK", "desk-secret-1");
        let subscriber = tracing_subscriber::registry().with(layer);
        tracing::subscriber::with_default(subscriber, program);
        Self { folder }
    }

    /// The files below the folder, and the runs in them.
    fn runs(&self) -> Vec<(String, Value)> {
        let mut found = Vec::new();
        for entry in walkdir::WalkDir::new(self.folder.path()).sort_by_file_name() {
            let entry = entry.unwrap();
            if entry.file_type().is_file() {
                let path = entry.path().strip_prefix(self.folder.path()).unwrap();
                found.push((path.to_str().unwrap().to_owned(), read(entry.path())));
            }
        }
        found
    }

    /// The only run.
    fn run(&self) -> Value {
        let mut runs = self.runs();
        assert_eq!(runs.len(), 1, "{runs:#?}");
        runs.remove(0).1
    }
}

fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap();
    crate::trace::parse_run(text.as_bytes(), &crate::trace::Origin::file("run.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn agent(name: &str) -> Span {
    info_span!(
        "invoke_agent",
        gen_ai.operation.name = "invoke_agent",
        gen_ai.agent.name = name,
        gen_ai.prompt = tracing::field::Empty,
        gen_ai.completion = tracing::field::Empty,
        error.type = tracing::field::Empty,
    )
}

/// A model call: what it is sent, and what it answers.
fn chat(sent: &Value, said: &Value) -> Span {
    info_span!(
        "chat",
        gen_ai.operation.name = "chat",
        gen_ai.request.model = "gpt-5",
        gen_ai.agent.name = tracing::field::Empty,
        gen_ai.input.messages = sent.to_string(),
        gen_ai.output.messages = said.to_string(),
        gen_ai.usage.input_tokens = 10_u64,
        gen_ai.usage.output_tokens = 2_u64,
        gen_ai.response.finish_reasons = tracing::field::Empty,
    )
}

fn tool(name: &str, id: &str) -> Span {
    info_span!(
        "execute_tool",
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = name,
        gen_ai.tool.call.id = id,
        gen_ai.tool.call.result = tracing::field::Empty,
        gen_ai.tool.call.outcome = tracing::field::Empty,
        gen_ai.tool.error.type = tracing::field::Empty,
        otel.status_code = tracing::field::Empty,
    )
}

fn user(text: &str) -> Value {
    json!({ "role": "user", "parts": [{ "type": "text", "content": text }] })
}

fn says(text: &str) -> Value {
    json!({ "role": "assistant", "parts": [{ "type": "text", "content": text }] })
}

fn calls(id: &str, name: &str) -> Value {
    let part = json!({ "type": "tool_call", "id": id, "name": name, "arguments": { "order": 7 } });
    json!({ "role": "assistant", "parts": [part] })
}

fn result(id: &str, value: &str) -> Value {
    let part = json!({ "type": "tool_call_response", "id": id, "response": value });
    json!({ "role": "tool", "parts": [part] })
}

fn stop(run: &Value) -> Option<&str> {
    run["trace"]["conversation"]["stop_reason"].as_str()
}

/// The calls of a run: the tool, whose it is, and whether it failed.
fn call_outcomes(run: &Value) -> Vec<(&str, Option<&str>, Option<bool>)> {
    let calls = run["trace"]["tool_calls"].as_array().unwrap();
    let results = run["trace"]["tool_results"].as_array().unwrap();
    let calls = calls.iter().enumerate().map(|(index, call)| {
        let mut results = results.iter();
        let result = results.find(|result| result["call_index"] == index);
        let failed = result.and_then(|result| result.get("is_error")?.as_bool());
        (
            call["name"].as_str().unwrap(),
            call["agent_id"].as_str(),
            failed,
        )
    });
    calls.collect()
}
