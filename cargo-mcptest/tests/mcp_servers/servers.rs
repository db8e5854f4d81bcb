//! What is in a run of calls at two servers, and what is said where a server fails.

use e2e_support::folder::Folder;
use e2e_support::live::desk::HttpServer;
use e2e_support::process::run;
use serde_json::json;

use super::{asks, calls, mcptest, provider, record, recorded, says, suite};

#[test]
fn calls_at_two_servers_and_of_a_sub_agent_are_recorded_with_their_flags() {
    let far = HttpServer::desk(None);
    let folder = Folder::new().with_file("suites/desk.yml", suite(&far, "", ""));
    let found = json!({ "order_id": "A-1002" });
    let model = provider(
        &[json!([
            { "calls": [
                { "name": "desk__cancel_order", "args": { "order_id": "A-1001" } },
                { "name": "far__find_order", "args": { "order_id": "A-9" } },
            ], "usage": { "prompt": 100, "completion": 10 } },
            asks("ask_clerk", &json!({ "task": "Look order A-1002 up." })),
            asks("desk__find_order", &json!({ "order_id": "A-1001" })),
            says("Order A-1001 is cancelled."),
        ])],
        &[json!([
            asks("far__find_order", &found),
            says("It is there.")
        ])],
    );
    let said = record(&folder, &model).exits(0);
    assert!(!said.stderr.contains("note:"), "{said}");
    let cassette = recorded(&folder);
    assert_eq!(
        calls(&cassette),
        [
            ("cancel_order", "desk", None),
            ("find_order", "far", None),
            ("ask_clerk", "", None),
            ("find_order", "far", Some("ask_clerk")),
            ("find_order", "desk", None),
        ]
    );
    let results = cassette["trace"]["tool_results"].as_array().unwrap();
    let of = |call: usize| {
        let found = results.iter().find(|result| result["call_index"] == call);
        found.unwrap_or_else(|| panic!("{call}: {results:?}"))
    };
    let flags: Vec<_> = (0..5).map(|call| of(call)["is_error"].as_bool()).collect();
    // Whether the clerk failed, who is the program's own tool, nobody says.
    assert_eq!(
        flags,
        [Some(false), Some(true), None, Some(false), Some(false)]
    );
    assert_eq!(of(0)["result"]["structuredContent"]["status"], "cancelled");
    // The desk is one process in the run.
    assert_eq!(of(4)["result"]["structuredContent"]["status"], "cancelled");
    for call in [0, 1, 3, 4] {
        assert!(of(call)["duration_ms"].is_u64(), "{call}");
    }
    let tools = cassette["tools"].as_array().unwrap();
    let of_far = tools.iter().filter(|tool| tool["server"] == "far").count();
    assert_eq!((tools.len(), of_far), (13, 6));
    assert_eq!(cassette["session"]["mcp"][1]["server"], "far");
    run(&mut mcptest(&folder, None, &["test"])).exits(0);
}

#[test]
fn a_server_that_ends_in_the_middle_leaves_no_run_and_says_why() {
    let far = HttpServer::desk(None);
    let misbehaving =
        suite(&far, "", "").replace("] }\n  far:", ", --misbehave, exit-on-call] }\n  far:");
    let folder = Folder::new().with_file("suites/desk.yml", misbehaving);
    let model = provider(
        &[json!([
            asks("desk__find_order", &json!({ "order_id": "A-1001" })),
            says("Done.")
        ])],
        &[],
    );
    let said = record(&folder, &model).exits(1);
    let told = "the server `desk` gave no answer to `find_order`: the connection is closed";
    assert!(said.stdout.contains(told), "{said}");
    assert!(
        said.stdout.contains("it ended with exit status: 3"),
        "{said}"
    );
    assert!(
        said.stdout.contains("correct the server and record again"),
        "{said}"
    );
    assert!(
        !folder
            .at("suites/cassettes/Desk_agent__gpt-5.json")
            .exists()
    );
    // One over HTTP that is not there.
    let nowhere = suite(&far, "", "");
    drop(far);
    folder.write("suites/desk.yml", nowhere);
    let said = record(&folder, &model).exits(1);
    let told = "the server `far` gave no answer to `initialize`: ";
    assert!(said.stdout.contains(told), "{said}");
}

#[test]
fn two_servers_of_one_variable_do_not_load() {
    let far = HttpServer::desk(None);
    let shared = suite(&far, "", "").replace("  far: {", "  desk-2: { command: [x] }\n  desk_2: {");
    let folder = Folder::new().with_file(
        "suites/desk.yml",
        shared.replace("servers: [desk, far]", "servers: [desk-2, desk_2]"),
    );
    let said = run(&mut mcptest(&folder, None, &["test"])).exits(101);
    let told = "would share one variable: MCPTEST_MCP_DESK_2";
    assert!(said.stdout.contains(told), "{said}");
    // The program may stand in the command.
    let text = std::fs::read_to_string(folder.at("suites/desk.yml")).unwrap();
    let without = text.lines().filter(|line| !line.starts_with("  command:"));
    let without: Vec<&str> = without.collect();
    folder.write("suites/desk.yml", without.join("\n"));
    let record = ["record", "--", "sh", "-c", "exit 1"];
    let said = run(&mut mcptest(
        &folder,
        Some(&provider(&[json!([says("x")])], &[])),
        &record,
    ))
    .exits(1);
    assert!(said.stdout.contains(told), "{said}");
}

#[test]
fn runs_of_several_agents_at_once_have_servers_of_their_own() {
    let far = HttpServer::desk(None);
    let one = suite(&far, "", "  runs: 3\n");
    let (head, agent) = one.split_once("agents:\n").unwrap();
    let agents: String = (0..3)
        .map(|number| agent.replace("Desk agent", &format!("Desk agent {number}")))
        .collect();
    let folder = Folder::new().with_file("suites/desk.yml", format!("{head}agents:\n{agents}"));
    // Each run cancels the order, which works once at each desk.
    let one = json!([
        asks("desk__cancel_order", &json!({ "order_id": "A-1001" })),
        says("Order A-1001 is cancelled."),
    ]);
    let model = provider(&vec![one; 9], &[]);
    let log = folder.at("log.txt");
    run(mcptest(&folder, Some(&model), &["record"]).env("AGENT_LOG", &log)).exits(0);
    // The server that runs already is for one run at a time.
    let log = std::fs::read_to_string(log).unwrap();
    assert_eq!(log, "begin\nend\n".repeat(9));
    for agent in 0..3 {
        for number in 1..=3 {
            let file = format!("suites/cassettes/Desk_agent_{agent}__gpt-5/run-{number}.json");
            let text = std::fs::read_to_string(folder.at(&file)).unwrap();
            let run: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(run["trace"]["tool_results"][0]["is_error"], false, "{file}");
        }
    }
}
