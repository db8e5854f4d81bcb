//! `cargo mcptest contract`: a live server against recordings of an older one.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    reason = "helpers of tests, which take values as they are written"
)]

mod support;

use e2e_support::folder::Folder;
use e2e_support::process::Finished;
use e2e_support::transcript::matches_transcript;
use serde_json::{Value, json};
use support::mcptest;

const COMMAND: &str = env!("CARGO_BIN_EXE_cargo-mcptest");

const SUITE: &str = "\
agents:
  - name: Clerk
    model: gpt-5
    prompt: Cancel order 7.
    runs: 2
    calls: { max: 9 }
";

/// The tools that were recorded.
fn recorded_tools() -> Value {
    json!([
        {
            "name": "find_order", "server": "desk", "description": "Finds an order.\nBy its number.",
            "read_only": true, "annotations": { "readOnlyHint": true },
            "input_schema": { "type": "object", "properties": { "order": { "type": "integer" } }, "required": ["order"] },
        },
        {
            "name": "cancel_order", "server": "desk", "description": "Cancels an order.", "annotations": {},
            "input_schema": { "type": "object", "properties": {
                "order": { "type": "integer" }, "reason": { "type": "string" } }, "required": ["order"] },
        },
        { "name": "audit", "server": "desk", "description": "Lists changes.", "annotations": {}, "input_schema": { "type": "object" } },
        { "name": "think", "description": "Thinks.", "input_schema": { "type": "object" } },
    ])
}

fn call(server: Option<&str>, tool: &str, args: Value) -> Value {
    let mut call = json!({ "name": tool, "args": args });
    if let Some(server) = server {
        call["server"] = server.into();
    }
    call
}

fn run(tools: Option<Value>, calls: &[Value]) -> Value {
    let results = (0..calls.len())
        .map(|call| json!({ "call_index": call, "is_error": false, "result": "done" }));
    let mut run = json!({
        "schema_version": "v1", "agent_name": "Clerk", "model": "gpt-5", "user_prompt": "Cancel order 7.",
        "trace": { "tool_results": results.collect::<Vec<_>>(), "final_response": "Done.", "tool_calls": calls },
    });
    if let Some(tools) = tools {
        run["tools"] = tools;
    }
    run
}

/// Two runs of an agent with a server `desk` and a tool of its own.
fn runs() -> [Value; 2] {
    let desk = Some("desk");
    let first = vec![
        call(desk, "find_order", json!({ "order": 7 })),
        call(None, "think", json!({ "about": "it" })),
        call(
            desk,
            "cancel_order",
            json!({ "order": 7, "reason": "late" }),
        ),
    ];
    let second = vec![
        call(desk, "find_order", json!({ "order": 7 })),
        call(desk, "cancel_order", json!({ "order": 7 })),
    ];
    [
        run(Some(recorded_tools()), &first),
        run(Some(recorded_tools()), &second),
    ]
}

/// A folder without a crate, with these runs.
fn folder(runs: &[Value]) -> Folder {
    let suite = SUITE.replace("runs: 2", &format!("runs: {}", runs.len()));
    let folder = Folder::new().with_file("suites/clerks.yml", suite);
    let numbered = (1..).zip(runs);
    numbered.fold(folder, |folder, (number, run)| {
        folder.with_run(
            &format!("suites/cassettes/Clerk__gpt-5/run-{number}.json"),
            run,
        )
    })
}

/// A tool of the live server.
fn tool(name: &str, description: &str, properties: Value, required: &[&str]) -> Value {
    json!({ "name": name, "description": description, "text": "done",
        "inputSchema": { "type": "object", "properties": properties, "required": required } })
}

/// The tools of the live server, as they were recorded.
fn same_tools() -> Vec<Value> {
    let mut find = tool(
        "find_order",
        "Finds an order.\nBy its number.",
        json!({ "order": { "type": "integer" } }),
        &["order"],
    );
    find["annotations"] = json!({ "readOnlyHint": true });
    let cancel = tool(
        "cancel_order",
        "Cancels an order.",
        json!({ "order": { "type": "integer" }, "reason": { "type": "string" } }),
        &["order"],
    );
    let audit = json!({ "name": "audit", "description": "Lists changes.", "text": "none",
        "inputSchema": { "type": "object" } });
    vec![find, cancel, audit]
}

/// The tools of a server that breaks recorded calls.
fn breaking_tools() -> Vec<Value> {
    let mut tools = same_tools();
    tools.remove(0);
    tools[0]["inputSchema"]["properties"] = json!({
        "order": { "type": "string" }, "reason": { "type": "string" }, "by": { "type": "string" } });
    tools[0]["inputSchema"]["required"] = json!(["order", "reason", "by"]);
    tools
}

/// The tools of a server that changed, and breaks no recorded call.
fn changed_tools() -> Vec<Value> {
    let mut tools = same_tools();
    tools[0]["description"] = "Finds an order.\nBy its number or its name.".into();
    tools[0]["annotations"] = json!({ "readOnlyHint": false });
    tools[1]["inputSchema"]["properties"]["note"] = json!({ "type": "string" });
    tools[2] = tool("refund_order", "Refunds.", json!({}), &[]);
    tools
}

/// Holds a mock server of these tools against a folder.
fn contract(folder: &Folder, server: &str, tools: &[Value], options: &[&str]) -> Finished {
    let manifest = json!({ "server": server, "tools": tools });
    folder.write("tools.json", manifest.to_string());
    let mut arguments = vec!["contract"];
    arguments.extend(options);
    arguments.extend(["--", COMMAND, "mock", "--tools-from", "tools.json"]);
    mcptest(folder.path(), &arguments)
}

fn json_of(finished: &Finished) -> Value {
    serde_json::from_str(&finished.stdout).unwrap()
}

/// The kinds and tools of findings.
fn kinds_and_tools(findings: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let findings = findings.as_array().unwrap().iter();
    findings
        .map(|it| (text(&it["kind"]), text(&it["tool"])))
        .collect()
}

fn both(kind: &str, tool: &str) -> (String, String) {
    (kind.to_owned(), tool.to_owned())
}

#[test]
fn a_server_as_it_was_recorded_differs_in_nothing() {
    let folder = folder(&runs());
    let said = contract(&folder, "desk", &same_tools(), &[]).exits(0);
    assert_eq!(
        said.stdout,
        format!(
            "server desk {} with 3 tools, compared with 4 recorded calls in 2 runs of 1 agent test\n\nnothing differs\n",
            env!("CARGO_PKG_VERSION")
        )
    );
    assert_eq!(said.stderr, "");
}

#[test]
fn what_breaks_recorded_calls_is_red_and_names_them() {
    let folder = folder(&runs());
    let said = contract(&folder, "desk", &breaking_tools(), &[]).exits(1);
    let head = format!(
        "server desk {} with 2 tools, compared with 4 recorded calls in 2 runs of 1 agent test\n",
        env!("CARGO_PKG_VERSION")
    );
    let expected = r#"
breaks recorded calls:
  cancel_order: the argument `by` is required, and no recorded call gives it
      suites/cassettes/Clerk__gpt-5/run-1.json: tool_calls[2]
      suites/cassettes/Clerk__gpt-5/run-2.json: tool_calls[1]
  cancel_order: the argument `reason` is required, and 1 of 2 recorded calls do not give it
      suites/cassettes/Clerk__gpt-5/run-2.json: tool_calls[1]
  cancel_order: the schema refuses the argument `order` of 2 of 2 recorded calls
      suites/cassettes/Clerk__gpt-5/run-1.json: tool_calls[2]: 7 is not of type "string"
      suites/cassettes/Clerk__gpt-5/run-2.json: tool_calls[1]: 7 is not of type "string"
  find_order: the server does not have this tool any more; 2 recorded calls use it
      suites/cassettes/Clerk__gpt-5/run-1.json: tool_calls[0]
      suites/cassettes/Clerk__gpt-5/run-2.json: tool_calls[0]

changed, and breaks no recorded call:
  cancel_order: the schema of the argument `order` differs
      - {"type":"integer"}
      + {"type":"string"}

5 differences, 4 break recorded calls
"#;
    assert_eq!(said.stdout, head + expected);
}

#[test]
fn what_breaks_no_recorded_call_is_listed_and_green() {
    let folder = folder(&runs());
    let said = contract(&folder, "desk", &changed_tools(), &[]).exits(0);
    let (_, text) = said.stdout.split_once("\n\n").unwrap();
    assert_eq!(
        text,
        "changed, and breaks no recorded call:
  audit: the server does not have this tool any more; no recorded call uses it
  cancel_order: the argument `note` is new and optional
  find_order: the description differs
      - By its number.
      + By its number or its name.
  find_order: the annotations differ
      - readOnlyHint: true
      + readOnlyHint: false
  refund_order: this tool is new

5 differences, none breaks a recorded call
"
    );
}

#[test]
fn the_same_as_data_has_every_call() {
    let folder = folder(&runs());
    let mut tools = same_tools();
    tools[1]["inputSchema"]["required"] = json!(["order", "reason"]);
    tools.remove(2);
    let said = contract(&folder, "desk", &tools, &["--format", "json"]).exits(1);
    let said = json_of(&said);
    assert_eq!(said["format"], "contract/1.0");
    assert_eq!(said["server"]["recorded_as"], "desk");
    assert_eq!(
        said["calls"],
        json!({ "recorded": 4, "held": 4, "taken": 3, "refused_before": 0, "redacted": 0 })
    );
    assert_eq!(
        kinds_and_tools(&said["breaks"]),
        [both("required", "cancel_order")]
    );
    assert_eq!(
        kinds_and_tools(&said["changes"]),
        [both("removed", "audit")]
    );
    let calls = json!([{ "file": "suites/cassettes/Clerk__gpt-5/run-2.json", "call": 1 }]);
    assert_eq!(said["breaks"][0]["calls"], calls);
    assert_eq!(said["breaks"][0]["argument"], "reason");
}

/// The built-in recorder writes a line with a digest, the proxy names, an import a line without a server.
#[test]
fn recordings_that_say_less_are_compared_as_far_as_they_go() {
    let calls = || vec![call(Some("desk"), "find_order", json!({ "order": 7 }))];
    let with = |tools: Value| folder(&[run(Some(tools), &calls())]);
    let reworded = || {
        let mut tools = same_tools();
        tools[0]["description"] = "Finds it.".into();
        tools
    };
    let digest = with(json!([
        { "name": "find_order", "server": "desk", "line": "desk::find_order(order: integer) #00000000", "read_only": true }
    ]));
    let said = contract(&digest, "desk", &reworded(), &["--format", "json"]).exits(0);
    let changes = json_of(&said)["changes"].clone();
    assert!(
        kinds_and_tools(&changes).contains(&both("description", "find_order")),
        "{changes}"
    );
    let line = with(json!(["desk::find_order(order: string, by?: string)"]));
    let said = contract(&line, "desk", &reworded(), &["--format", "json"]).exits(0);
    let changes = json_of(&said)["changes"].clone();
    let texts: Vec<&str> = changes
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["tool"] == "find_order")
        .map(|it| it["text"].as_str().unwrap())
        .collect();
    assert_eq!(
        texts,
        [
            "the argument `by` is gone",
            "the schema of the argument `order` differs"
        ]
    );
    let names = with(json!(["desk::find_order"]));
    let said = contract(&names, "desk", &reworded(), &[]).exits(0);
    assert!(
        said.stdout
            .contains("note: some recordings list tools without their descriptions"),
        "{said}"
    );
    assert!(
        said.stdout
            .contains("note: some recordings list tools without their arguments"),
        "{said}"
    );
    let nothing = folder(&[run(None, &calls())]);
    let said = contract(&nothing, "desk", &reworded(), &[]).exits(0);
    assert!(
        said.stdout
            .contains("note: no recording lists the tools of this server"),
        "{said}"
    );
    assert!(!said.stdout.contains("is new"), "{said}");
}

#[test]
fn a_call_that_the_recorded_schema_refuses_too_breaks_nothing_new() {
    let [first, _] = runs();
    let wrong = vec![
        call(
            Some("desk"),
            "cancel_order",
            json!({ "reason": "no order" }),
        ),
        call(Some("desk"), "find_order", json!("{ order: 7")),
    ];
    let second = run(Some(recorded_tools()), &wrong);
    let folder = folder(&[first, second]);
    let said = contract(&folder, "desk", &same_tools(), &[]).exits(0);
    assert!(
        said.stdout.contains(
            "note: 2 recorded calls are refused by the recorded tool too, and not counted as broken"
        ),
        "{said}"
    );
    // Where nothing says what the tool took, the call is told as broken.
    let bare = self::folder(&[run(None, &wrong[..1])]);
    contract(&bare, "desk", &same_tools(), &[]).exits(1);
}

/// What was taken out of a recording is no evidence against a server.
#[test]
fn a_secret_that_was_taken_out_is_not_held_against_the_schema() {
    let calls = |order: &str| vec![call(Some("desk"), "find_order", json!({ "order": order }))];
    let mut tools = same_tools();
    tools[0]["inputSchema"]["properties"]["order"] =
        json!({ "type": "string", "pattern": "^A-[0-9]+$" });
    let redacted = folder(&[run(None, &calls("[redacted DESK_KEY]"))]);
    let said = contract(&redacted, "desk", &tools, &[]).exits(0);
    assert!(said.stdout.contains("1 recorded call is refused"), "{said}");
    contract(&folder(&[run(None, &calls("B"))]), "desk", &tools, &[]).exits(1);
}

#[test]
fn a_schema_that_cannot_be_used_is_told_and_is_no_pass() {
    // The mock compiles what it serves, so this server is another program.
    let tools = json!([{ "name": "find_order", "inputSchema": {
        "type": "object", "properties": { "order": { "type": "string", "pattern": "^(?=A)B$" } } } }]);
    let folder = folder(&[run(
        None,
        &[call(Some("desk"), "find_order", json!({ "order": "A" }))],
    )]);
    let said = mcptest(
        folder.path(),
        &["contract", "--", "python3", "-c", &server(&tools)],
    )
    .exits(3);
    assert!(
        said.stdout
            .contains("note: cannot tell: the schema of `find_order` cannot be used"),
        "{said}"
    );
}

/// A server that lists these tools, in two pages, and does nothing else.
fn server(tools: &Value) -> String {
    format!(
        r#"
import json, sys
tools = json.loads({text:?})
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "initialize":
        result = {{"protocolVersion": "2025-06-18", "capabilities": {{"tools": {{}}}}, "serverInfo": {{"name": "desk", "version": "1"}}}}
    elif message["method"] == "tools/list":
        cursor = (message.get("params") or {{}}).get("cursor")
        half = len(tools) // 2
        result = {{"tools": tools[half:]}} if cursor == "2" else {{"tools": tools[:half], "nextCursor": "2"}}
    else:
        continue
    print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], "result": result}}), flush=True)
"#,
        text = tools.to_string()
    )
}

#[test]
fn nothing_recorded_is_no_pass() {
    let empty = Folder::new().with_file("suites/clerks.yml", SUITE);
    let said = contract(&empty, "desk", &same_tools(), &[]).exits(2);
    assert!(
        said.stderr
            .contains("error: nothing is recorded, so there is nothing to compare the server with"),
        "{said}"
    );
    // A server that no run had is not held against what others did.
    let folder = folder(&runs());
    let other = [tool("ping", "Pings.", json!({}), &[])];
    let said = contract(&folder, "pinger", &other, &[]).exits(2);
    assert!(
        said.stderr
            .contains("the recordings have no server named `pinger`"),
        "{said}"
    );
    assert!(
        said.stderr.contains(
            "give the name that the server has in the recordings with `--server`: `desk`"
        ),
        "{said}"
    );
    let said = contract(&folder, "desk", &same_tools(), &["--server", "desc"]).exits(2);
    assert!(said.stderr.contains("help: did you mean `desk`?"), "{said}");
    let said = contract(&folder, "desk", &same_tools(), &["nobody"]).exits(3);
    assert!(said.stderr.contains("no case has this name"), "{said}");
    let mut only_think = run(None, &[call(None, "think", json!({}))]);
    only_think["tools"] = json!([]);
    let bare = self::folder(&[only_think]);
    let said = contract(&bare, "desk", &same_tools(), &["--without", "think"]).exits(2);
    assert!(
        said.stderr
            .contains("no recording has a call or a tool of this server"),
        "{said}"
    );
}

#[test]
fn a_server_that_calls_itself_otherwise_is_known_by_its_tools() {
    let folder = folder(&runs());
    let said = contract(&folder, "order-desk-2", &same_tools(), &[]).exits(0);
    assert!(
        said.stdout.contains(
            "note: compared with the server `desk` of the recordings, because the names of its tools fit"
        ),
        "{said}"
    );
    let said = contract(&folder, "Des_k", &same_tools(), &[]).exits(0);
    assert!(!said.stdout.contains("note:"), "{said}");
    let said = contract(&folder, "x", &same_tools()[..1], &["--server", "desk"]).exits(1);
    assert!(
        said.stdout.contains(
            "cancel_order: the server does not have this tool any more; 2 recorded calls use it"
        ),
        "{said}"
    );
}

#[test]
fn of_several_servers_only_the_calls_of_this_one_count() {
    let calls = [
        call(Some("desk"), "find_order", json!({ "order": 7 })),
        call(Some("mail"), "find_order", json!({ "about": "it" })),
        call(Some("mail"), "send", json!({})),
    ];
    let folder = folder(&[run(None, &calls)]);
    let said = contract(&folder, "desk", &same_tools(), &[]).exits(0);
    assert!(
        said.stdout
            .contains("compared with 1 recorded call in 1 run"),
        "{said}"
    );
    contract(&folder, "desk", &same_tools(), &["--server", "mail"]).exits(1);
    let said = contract(&folder, "x", &same_tools(), &[]).exits(2);
    assert!(
        said.stderr
            .contains("several recorded servers have tools of this server"),
        "{said}"
    );
}

/// Logs of a model's API name no server, and may hold tools that are no server's.
#[test]
fn calls_without_a_server_are_told_by_their_tools_and_never_pass_unseen() {
    let calls = [
        call(None, "find_order", json!({ "order": 7 })),
        call(None, "mcp__desk__cancel_order", json!({ "order": 7 })),
        call(None, "desk__audit", json!({})),
    ];
    let eighth = [call(None, "find_order", json!({ "order": 8 }))];
    let plain = folder(&[run(None, &calls[..1]), run(None, &eighth)]);
    let said = contract(&plain, "desk", &same_tools(), &[]).exits(0);
    assert!(
        said.stdout.contains(
            "note: 2 calls without a recorded server: assigned only by the names of tools"
        ),
        "{said}"
    );
    let prefixed = folder(&[run(None, &calls[1..2])]);
    let said = contract(&prefixed, "desk", &same_tools(), &[]).exits(0);
    assert!(
        said.stdout
            .contains("compared with 1 recorded call in 1 run"),
        "{said}"
    );
    let joined = folder(&[run(None, &calls[2..])]);
    contract(&joined, "desk", &same_tools(), &[]).exits(0);
    // Whether a tool that is not there was this server's, nobody can say.
    let gone = folder(&[run(
        None,
        &[calls[0].clone(), call(None, "refund", json!({}))],
    )]);
    let said = contract(&gone, "desk", &same_tools(), &[]).exits(3);
    assert!(
        said.stdout.contains("note: cannot tell: the server does not have the tool `refund`, and 1 recorded call of it names no
")
            && said.stdout.ends_with("
nothing differs; the command could not decide everything, see the notes
"),
        "{said}"
    );
    contract(&gone, "desk", &same_tools(), &["--without", "refund"]).exits(0);
    contract(&gone, "desk", &same_tools(), &["--server", "desk"]).exits(1);
}

#[test]
fn a_call_of_a_tool_that_was_never_listed_breaks_nothing_new() {
    let [first, _] = runs();
    let made_up = [call(Some("desk"), "refund", json!({}))];
    let with_result = |tools: Option<Value>, is_error: bool| {
        let mut run = run(tools, &made_up);
        run["trace"]["tool_results"][0]["is_error"] = is_error.into();
        run
    };
    let failed = folder(&[first.clone(), with_result(Some(recorded_tools()), true)]);
    let said = contract(&failed, "desk", &same_tools(), &[]).exits(0);
    let note = "note: 1 recorded call is of tools that the server did not list at recording time";
    assert!(said.stdout.contains(note), "{said}");
    // What worked was there, and without a list nobody knows.
    for run in [
        with_result(Some(recorded_tools()), false),
        with_result(None, true),
    ] {
        let folder = folder(&[run]);
        contract(&folder, "desk", &same_tools(), &[]).exits(1);
    }
}

/// The blocks of the page below `<!-- shown: NAME -->`: the name, and what is shown below the command.
fn shown_blocks() -> Vec<(String, String)> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/contract.md");
    let page = std::fs::read_to_string(page).unwrap();
    let blocks = page.split("<!-- shown: ").skip(1);
    let block = |text: &str| {
        let (name, rest) = text.split_once(" -->\n```text\n").unwrap();
        let (block, _) = rest.split_once("```\n").unwrap();
        let (command, shown) = block.split_once('\n').unwrap();
        let server = "cargo mcptest mock --tools-from tools.json";
        assert_eq!(command, format!("$ cargo mcptest contract -- {server}"));
        (name.to_owned(), shown.to_owned())
    };
    blocks.map(block).collect()
}

#[test]
fn the_page_shows_what_is_printed() {
    let folder = folder(&runs());
    let mut names = Vec::new();
    for (name, shown) in shown_blocks() {
        let said = match name.as_str() {
            "what breaks" => contract(&folder, "desk", &breaking_tools(), &[]).exits(1),
            "what breaks nothing" => contract(&folder, "desk", &changed_tools(), &[]).exits(0),
            other => panic!("nothing shows `{other}`"),
        };
        assert!(matches_transcript(&shown, &said.stdout), "{name}: {said}");
        names.push(name);
    }
    assert_eq!(names, ["what breaks", "what breaks nothing"]);
}

/// A server may take what its schema refuses; what it asks for besides is new all the same.
#[test]
fn a_call_that_was_refused_for_one_argument_breaks_for_another() {
    let wrong = [call(Some("desk"), "cancel_order", json!({ "order": "7" }))];
    let folder = folder(&[run(Some(recorded_tools()), &wrong)]);
    contract(&folder, "desk", &same_tools(), &[]).exits(0);
    let mut tools = same_tools();
    tools[1]["inputSchema"]["required"] = json!(["order", "reason"]);
    let said = contract(&folder, "desk", &tools, &["--format", "json"]).exits(1);
    assert_eq!(
        kinds_and_tools(&json_of(&said)["breaks"]),
        [both("required", "cancel_order")]
    );
}

/// A recording written by hand may name the server of its tools, and not of its calls.
#[test]
fn a_call_without_a_server_is_of_the_server_whose_tool_was_listed() {
    let calls = [
        call(None, "cancel_order", json!({ "order": 7 })),
        call(None, "think", json!({})),
    ];
    let folder = folder(&[run(Some(recorded_tools()), &calls)]);
    let said = contract(&folder, "desk", &same_tools()[..1], &[]).exits(1);
    assert!(
        said.stdout.contains(
            "cancel_order: the server does not have this tool any more; 1 recorded call uses it"
        ),
        "{said}"
    );
}

/// What a call that worked was refused for before says nothing of another reason.
#[test]
fn a_call_that_worked_breaks_where_it_is_refused_for_another_reason() {
    let taken = [call(Some("desk"), "find_order", json!({ "order": "A-7" }))];
    let mut failed = run(Some(recorded_tools()), &taken);
    failed["trace"]["tool_results"][0]["is_error"] = true.into();
    let worked = folder(&[run(Some(recorded_tools()), &taken)]);
    let failed = folder(&[failed]);
    let mut tools = same_tools();
    contract(&worked, "desk", &tools, &[]).exits(0);
    tools[0]["inputSchema"]["properties"]["order"] =
        json!({ "type": "string", "pattern": "^[0-9]+$" });
    contract(&worked, "desk", &tools, &[]).exits(1);
    contract(&failed, "desk", &tools, &[]).exits(0);
}

#[test]
fn annotations_that_were_never_recorded_are_noted() {
    let note = "note: some recordings list tools without their annotations";
    let mut tools = recorded_tools();
    let folder_of = |tools: &Value| folder(&[run(Some(tools.clone()), &[])]);
    let said = contract(&folder_of(&tools), "desk", &same_tools(), &[]).exits(0);
    assert!(!said.stdout.contains(note), "{said}");
    tools[0].as_object_mut().unwrap().remove("annotations");
    let said = contract(&folder_of(&tools), "desk", &same_tools(), &[]).exits(0);
    assert!(said.stdout.contains(note), "{said}");
}

#[test]
fn a_name_that_no_case_has_is_answered_with_those_that_there_are() {
    let folder = folder(&runs());
    let said = contract(&folder, "desk", &same_tools(), &["zzz"]).exits(3);
    assert!(
        said.stderr.contains("no case has this name: zzz")
            && said.stderr.contains("help: the cases are `"),
        "{said}"
    );
}

#[test]
fn a_list_of_tools_that_cannot_be_read_says_which_tool() {
    let folder = folder(&runs());
    let asked = |tools: &Value| {
        let started = std::time::Instant::now();
        let program = server(tools);
        let arguments = ["contract", "--", "python3", "-c", &program];
        let said = mcptest(folder.path(), &arguments).exits(2);
        assert!(started.elapsed().as_secs() < 30, "it waited for the limit");
        said.stderr
    };
    let schema = json!({ "type": "object" });
    let without = json!([{ "name": "a", "inputSchema": schema }, { "name": "find_order" }]);
    let said = asked(&without);
    assert!(
        said.contains("its tool `find_order` has no `inputSchema`"),
        "{said}"
    );
    let wrong =
        json!([{ "name": "a", "inputSchema": schema }, { "name": "b", "inputSchema": "x" }]);
    let said = asked(&wrong);
    assert!(
        said.contains("the `inputSchema` of its tool `b` is no object"),
        "{said}"
    );
    let mut deep = schema;
    for _ in 0..200 {
        deep = json!({ "type": "object", "properties": { "a": deep } });
    }
    let said =
        asked(&json!([{ "name": "a", "inputSchema": deep }, { "name": "b", "inputSchema": {} }]));
    assert!(said.contains("nested too deep to be read"), "{said}");
}

/// A run that names the server of one call may have left it out of another.
#[test]
fn a_removed_tool_that_was_called_without_a_server_is_no_pass() {
    let calls = [
        call(Some("desk"), "find_order", json!({ "order": 7 })),
        call(None, "refund", json!({})),
    ];
    let folder = folder(&[run(None, &calls)]);
    let said = contract(&folder, "desk", &same_tools(), &[]).exits(3);
    assert!(
        said.stdout
            .contains("cannot tell: the server does not have the tool `refund`"),
        "{said}"
    );
    contract(&folder, "desk", &same_tools(), &["--without", "refund"]).exits(0);
}
