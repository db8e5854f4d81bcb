//! A connection that is lost in the middle of a stream: no such run is a finished one.

use scripted_provider::{Provider, Script};
use serde_json::{Value, json};

use super::client::{self, Client, Language};
use super::desk::{self, KEY, mcptest};

const PROMPT: &str = "Please refund orders 7 and 8.";
const CLOSING: &str = "Order 7 is refunded. There is no order 8.";

/// Calls, and then a closing whose stream breaks off each time.
fn provider() -> Provider {
    let call = json!({ "calls": [{ "name": "get_order", "args": { "order": 7 } }], "usage": { "prompt": 9, "completion": 4 } });
    let closing = json!({ "text": CLOSING, "before": vec![json!({ "cut": true }); 20] });
    let script =
        json!({ "key": KEY, "conversations": [{ "user": PROMPT, "runs": [[call, closing]] }] });
    Provider::start(Script::from_json(&script.to_string()).unwrap()).unwrap()
}

fn suite(client: &Client, command: &Value) -> String {
    format!(
        "agents:\n- name: Desk\n  model: {}\n  prompt: {PROMPT}\n  command: {command}\n  \
         expect: [{{ target: conversation.stop_reason, matcher: {{ exact: completed }} }}]\n",
        client.model
    )
}

fn is_not_finished(client: &Client) {
    let interpreter = client.interpreter().display().to_string();
    let program = format!("../{}", client.program);
    let folder = client.folder();
    let recording = folder.at(&desk::recording("Desk", client.model, None));

    // The client gives up, and the program with it: there is no run.
    let command = json!([interpreter, program, "--stream"]);
    folder.write("suites/desk.yml", suite(client, &command));
    let said = mcptest(&folder, Some(&provider()), &["record"]).exits(1);
    let told = "the program ended with exit status: 1";
    assert!(said.stdout.contains(told), "{}: {said}", client.program);
    assert!(!recording.exists(), "{}", client.program);

    // A program that swallows the error leaves a run which ends with it.
    let swallows = format!("{interpreter} {program} --stream || true");
    let command = json!(["sh", "-c", swallows]);
    folder.write("suites/desk.yml", suite(client, &command));
    let said = mcptest(&folder, Some(&provider()), &["record"]).exits(1);
    assert!(
        said.stdout.contains("found \"error\""),
        "{}: {said}",
        client.program
    );
    let text = std::fs::read_to_string(&recording).unwrap();
    let run: Value = serde_json::from_str(&text).unwrap();
    let (trace, session) = (&run["trace"], &run["session"]);
    assert_eq!(trace["conversation"]["stop_reason"], "error", "{session}");
    assert_eq!(trace["tool_results"].as_array().unwrap().len(), 1);
    // What was said until then is kept.
    let said = trace["final_response"].as_str().unwrap();
    assert!(!said.is_empty() && said.len() < CLOSING.len(), "{said}");
    assert!(CLOSING.starts_with(said), "{said}");
    let notes = session["notes"].as_array().unwrap();
    let is_told = |note: &Value| {
        note.as_str()
            .unwrap()
            .contains("the last answer is incomplete")
    };
    assert!(notes.iter().any(is_told), "{session}");
    // The tokens of the last answer never came: none are told rather than too few.
    assert_eq!(trace["conversation"].get("tokens"), None);
    assert_eq!(session.get("retries"), None, "{}", client.program);
}

fn are_not_finished(language: Language) {
    let of = client::ALL.iter().filter(|it| it.language == language);
    of.for_each(is_not_finished);
}

pub(crate) fn a_broken_stream_is_no_finished_run_in_python() {
    are_not_finished(Language::Python);
}

pub(crate) fn a_broken_stream_is_no_finished_run_in_javascript() {
    are_not_finished(Language::JavaScript);
}
