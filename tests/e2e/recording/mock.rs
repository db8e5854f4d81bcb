//! Recording against servers that are made up, each with its fault.

use std::path::PathBuf;
use std::sync::OnceLock;

use serde_json::{Value, json};

use super::desk::{HttpServer, script};
use super::recording_crate::Scene;
use crate::guide::{block, blocks};
use crate::support::workshop;

const PLACE: &str = "suites/cassettes/Patient_agent__claude-sonnet-4-5.json";

fn command() -> &'static PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| workshop::test_program("cargo-mcptest", "command"))
}

/// An agent that looks an order up twice.
fn twice() -> Value {
    let find =
        json!({ "calls": [{ "name": "desk__find_order", "args": { "order_id": "A-1001" } }] });
    json!([find, find, { "text": "It was sent." }])
}

/// The guide's suite and tools, with another way to the server.
fn scene(server: impl FnOnce(&Scene) -> String) -> Scene {
    let blocks = blocks();
    let suite = block(&blocks, "file", "suites/made_up.yml");
    let scene = Scene::new("agents: []", &script("Where is order A-1001?", &[twice()]))
        .set("MCPTEST_RECORD_TIMEOUT", "1");
    scene
        .folder
        .write("tools.yml", block(&blocks, "file", "tools.yml"));
    let shown = suite.lines().nth(1).unwrap();
    let there = format!("  desk: {}", server(&scene));
    scene.suite(&suite.replace(shown, &there));
    scene
}

fn with_fault(fault: &str) -> Scene {
    scene(|_| {
        let command = command().to_string_lossy();
        format!(
            "{{ command: [{command:?}, mcptest, mock, --tools-from, ../tools.yml, --fault, \"{fault}\"] }}"
        )
    })
}

/// What came of the two calls: what they brought, or the words of an error.
fn recorded(scene: &Scene) -> Vec<Result<Value, String>> {
    scene.record("missing", &[]).exits(0);
    let results = scene.run(PLACE)["trace"]["tool_results"].clone();
    let results = results.as_array().unwrap().iter().map(|result| {
        let content = &result["result"];
        match result["is_error"].as_bool() {
            Some(false) => Ok(content["structuredContent"]["looked_up"].clone()),
            _ => Err(content["content"][0]["text"].as_str().unwrap().to_owned()),
        }
    });
    results.collect()
}

#[track_caller]
fn timed_out(result: &Result<Value, String>) {
    let said = result.as_ref().unwrap_err();
    assert!(
        said.contains("timed out") || said.contains("no answer"),
        "{said}"
    );
}

#[test]
fn a_server_without_fault_or_a_slow_one_answers_as_its_file_says() {
    for fault in ["none", "slow:50"] {
        assert_eq!(recorded(&with_fault(fault)), [Ok(json!(1)), Ok(json!(2))]);
    }
}

#[test]
fn a_server_that_hangs_is_given_up_and_the_agent_is_told() {
    for fault in ["hang", "wedged"] {
        let scene = with_fault(fault);
        recorded(&scene).iter().for_each(timed_out);
        scene.judge(&[]).exits(0);
    }
}

#[test]
fn the_second_try_reaches_a_server_that_recovers() {
    let results = recorded(&with_fault("recover-after:1"));
    timed_out(&results[0]);
    assert_eq!(results[1], Ok(json!(2)));
}

/// The late answer to the first call comes while the second waits, and is nobody's.
#[test]
fn an_answer_after_a_cancel_is_not_taken_for_that_of_the_next_call() {
    let results = recorded(&with_fault("reply-after-cancel:1500"));
    results.iter().for_each(timed_out);
}

#[test]
fn over_http_it_is_the_same_server() {
    for (fault, hangs) in [("none", false), ("hang", true)] {
        let mut server = None;
        let scene = scene(|scene| {
            let mut mock = crate::support::process::command(command(), scene.folder.path());
            mock.args(["mcptest", "mock", "--tools-from", "tools.yml"]);
            mock.args(["--fault", fault, "--http", "127.0.0.1:0"]);
            let url = server.insert(HttpServer::start(mock)).url.clone();
            format!("{{ url: \"{url}\" }}")
        });
        let results = recorded(&scene);
        if hangs {
            results.iter().for_each(timed_out);
        } else {
            assert_eq!(results, [Ok(json!(1)), Ok(json!(2))]);
        }
    }
}
