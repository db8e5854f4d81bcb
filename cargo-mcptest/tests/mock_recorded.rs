//! `cargo mcptest mock --from-cassette` as a published client of MCP sees it.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use e2e_support::folder::Folder;
use e2e_support::process::{command, run};
use rmcp::ServiceExt as _;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};

/// A run that asked for order 7 twice, with two answers, and for order 8, which failed.
fn recording() -> Value {
    let call =
        |order: u32| json!({ "name": "get_order", "server": "desk", "args": { "order": order } });
    json!({
        "schema_version": "v1", "agent_name": "A", "model": "m", "user_prompt": "Where are 7 and 8?",
        "tools": [{
            "server": "desk", "name": "get_order", "description": "Looks an order up.",
            "input_schema": { "type": "object", "properties": { "order": { "type": "integer" } }, "required": ["order"] },
        }],
        "trace": {
            "tool_calls": [call(7), call(8), call(7), { "name": "send", "server": "mail", "args": {} }],
            "tool_results": [
                { "call_index": 0, "is_error": false, "result": "packed" },
                { "call_index": 1, "is_error": true, "result": "there is no order 8" },
                { "call_index": 2, "is_error": false, "result": "sent" },
                { "call_index": 3, "is_error": false, "result": "ok" },
            ],
            "final_response": "7 is sent.",
        },
    })
}

#[tokio::test]
async fn a_client_gets_the_recorded_list_and_the_recorded_answers_in_their_order() {
    let folder = Folder::new().with_file("run.json", recording().to_string());
    let mut server = tokio::process::Command::new(env!("CARGO_BIN_EXE_cargo-mcptest"));
    server.current_dir(folder.path());
    server.args([
        "mcptest",
        "mock",
        "--from-cassette",
        "run.json",
        "--server",
        "desk",
    ]);
    let client = ().serve(TokioChildProcess::new(server).unwrap()).await.unwrap();
    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(tools.len(), 1);
    let tool = serde_json::to_value(&tools[0]).unwrap();
    assert_eq!(tool["description"], "Looks an order up.");
    assert_eq!(tool["inputSchema"]["required"], json!(["order"]));
    let call = async |order: u32| {
        let Value::Object(arguments) = json!({ "order": order }) else {
            unreachable!()
        };
        let asked = CallToolRequestParams::new("get_order").with_arguments(arguments);
        serde_json::to_value(client.call_tool(asked).await.unwrap()).unwrap()
    };
    let said = |answer: &Value| answer["content"][0]["text"].as_str().unwrap().to_owned();
    let failed = call(8).await;
    assert_eq!(
        (said(&failed).as_str(), &failed["isError"]),
        ("there is no order 8", &json!(true))
    );
    assert_eq!(said(&call(7).await), "packed");
    assert_eq!(said(&call(7).await), "sent");
    // What was not recorded is an error, and shows what was.
    let once_more = call(7).await;
    assert_eq!(once_more["isError"], true);
    assert!(
        said(&once_more)
            .contains("was called 2 times with these arguments when the run was recorded")
    );
    let other = call(9).await;
    assert_eq!(other["isError"], true);
    assert!(
        said(&other).contains("the nearest recorded call has {\"order\":7}"),
        "{other}"
    );
    client.cancel().await.unwrap();
}

#[test]
fn what_cannot_be_served_says_why() {
    let two = format!("{0}\n{0}\n", recording());
    let bare = json!({ "schema_version": "v1", "model": "m", "user_prompt": "p", "trace": { "final_response": "Hello." } });
    let folder = Folder::new()
        .with_file("run.json", recording().to_string())
        .with_file("runs.jsonl", two)
        .with_file("bare.json", bare.to_string())
        .with_file("other.json", "{}");
    for (arguments, told) in [
        (
            &["run.json"][..],
            "the recording has several servers: `desk`, `mail`",
        ),
        (
            &["run.json", "--server", "shop"],
            "the recording has no such server; it has `desk`, `mail`",
        ),
        (
            &["runs.jsonl"],
            "holds 2 runs\n\nhelp: choose one, for example `--run 1`",
        ),
        (&["runs.jsonl", "--run", "3"], "holds 2 runs, and no run 3"),
        (
            &["bare.json"],
            "the recording calls no tool of an MCP server",
        ),
        (
            &["other.json"],
            "this is no cassette of schema version `v1`",
        ),
        (&["none.json"], "cannot be read"),
    ] {
        let mut mock = command(env!("CARGO_BIN_EXE_cargo-mcptest"), folder.path());
        mock.args(["mcptest", "mock", "--from-cassette"])
            .args(arguments);
        let refused = run(&mut mock).exits(2);
        assert!(refused.stderr.contains(told), "{refused}");
    }
}
