//! Servers that misbehave, are not there, or are misunderstood by the model.

use serde_json::{Value, json};

use super::desk::{HttpServer, script};
use super::recording_crate::Scene;
use crate::support::snapshot;

pub(super) const FINDER: &str = "\
servers:
  desk: SERVER
agents:
  - name: Finder
    model: claude-sonnet-4-5
    servers: [desk]
    prompt: Find A-1001.
    expect:
      - target: final_response
        matcher: { contains: Ada }
";

pub(super) const PLACE: &str = "suites/cassettes/Finder__claude-sonnet-4-5.json";

fn find(name: &str, args: &Value) -> Value {
    json!([
        { "calls": [{ "name": name, "args": args }] },
        { "text": "It is Ada's." },
    ])
}

pub(super) fn finder(server: &str) -> Scene {
    let run = find("desk__find_order", &json!({ "order_id": "A-1001" }));
    Scene::new(
        &FINDER.replace("SERVER", server),
        &script("Find A-1001.", &[run]),
    )
}

fn misbehaving(how: &str) -> Scene {
    finder(&format!("{{ command: [ORDER_DESK, --misbehave, {how}] }}"))
}

/// Nothing is recorded and the text is a snapshot.
#[track_caller]
pub(super) fn fails(name: &str, scene: &Scene, requests: usize) {
    let ran = scene.record("missing", &[]).exits(101);
    let (case, text) = ran.only_failure();
    assert_eq!(case, "desk::finder");
    let desk = super::desk::order_desk().to_string_lossy();
    let text = text
        .replace(&*desk, "[order-desk]")
        .replace(&scene.url(), "[url]");
    // A greeting has so many bytes, which is no matter here.
    let text = match text.split_once("<<< ") {
        Some((before, after)) => {
            let after = after.trim_start_matches(|digit: char| digit.is_ascii_digit());
            format!("{before}<<< N{after}")
        }
        None => text,
    };
    // Whether its end is noticed while reading or while writing is chance.
    let text = text.replace(
        "Broken pipe (os error 32)",
        "connection closed: initialize response",
    );
    snapshot::assert(&format!("server-{name}"), &text, scene.folder.path());
    assert_eq!(scene.requests().len(), requests, "{ran}");
    assert!(scene.places().is_empty(), "{:?}", scene.places());
}

#[test]
fn a_server_that_ends_at_once() {
    fails("exit", &misbehaving("exit"), 0);
}

#[test]
fn a_server_that_ends_at_a_call() {
    fails("exit-on-call", &misbehaving("exit-on-call"), 1);
}

#[test]
fn a_server_that_answers_nothing() {
    let scene = misbehaving("hang").set("MCPTEST_RECORD_TIMEOUT", "0.5");
    fails("hang", &scene, 0);
}

#[test]
fn a_server_that_does_not_answer_a_call_is_for_the_agent_to_see() {
    let scene = misbehaving("hang-on-call").set("MCPTEST_RECORD_TIMEOUT", "4");
    scene.record("missing", &[]).exits(0);
    let run = scene.run(PLACE);
    let result = &run["trace"]["tool_results"][0];
    assert_eq!(result["is_error"], true);
    // It was no injected fault.
    assert!(result.get("synthesized").is_none());
    let said = result["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(said, "`find_order` timed out: no answer within 4 s");
    let told = scene.requests()[1].json()["messages"].to_string();
    assert!(told.contains("timed out"), "{told}");
    scene.judge(&[]).exits(0);
}

#[test]
fn a_server_that_writes_what_is_no_message() {
    let scene = misbehaving("garbage").set("MCPTEST_RECORD_TIMEOUT", "2");
    fails("garbage", &scene, 0);
}

#[test]
fn a_result_that_is_far_too_long() {
    fails("huge", &misbehaving("huge"), 1);
}

#[test]
fn a_schema_that_is_none() {
    fails("bad-schema", &misbehaving("bad-schema"), 0);
}

#[test]
fn one_tool_twice() {
    fails("duplicate-tool", &misbehaving("duplicate-tool"), 0);
}

#[test]
fn tools_on_several_pages_are_all_offered() {
    let scene = misbehaving("paged");
    scene.record("missing", &[]).exits(0);
    assert_eq!(
        scene.requests()[0].json()["tools"]
            .as_array()
            .unwrap()
            .len(),
        6
    );
    assert_eq!(scene.run(PLACE)["tools"].as_array().unwrap().len(), 6);
}

#[test]
fn a_command_that_does_not_exist() {
    fails(
        "no-command",
        &finder("{ command: [no-such-server-here, --stdio] }"),
        0,
    );
    fails("no-file", &finder("{ command: [./bin/server] }"), 0);
    fails(
        "no-folder",
        &finder("{ command: [ORDER_DESK], cwd: nowhere }"),
        0,
    );
}

#[test]
fn an_address_where_nobody_listens() {
    let scene = finder("{ url: \"http://127.0.0.1:9/mcp\" }");
    let (_, text) = scene.record("missing", &[]).exits(101).only_failure();
    snapshot::assert("server-nobody-listens", &text, scene.folder.path());
    assert_eq!(scene.requests().len(), 0);
}

#[test]
fn a_wrong_token_or_none() {
    let desk = HttpServer::desk(Some("desk-token-77aa31"));
    for (name, server) in [
        (
            "wrong-token",
            format!(
                "{{ url: \"{}\", auth: {{ bearer_token_env: DESK_TOKEN }} }}",
                desk.url
            ),
        ),
        ("no-token", format!("{{ url: \"{}\" }}", desk.url)),
    ] {
        let scene = finder(&server).set("DESK_TOKEN", "desk-token-wrong-1");
        let ran = scene.record("missing", &[]).exits(101);
        let (_, text) = ran.only_failure();
        assert!(!text.contains("desk-token-wrong-1"), "{text}");
        let text = text.replace(&desk.url, "[desk]");
        snapshot::assert(&format!("server-{name}"), &text, scene.folder.path());
        assert_eq!(scene.requests().len(), 0);
    }
}

#[test]
fn a_page_of_the_web_is_no_server() {
    let scene = finder("{ url: \"[url]\" }");
    let suite = FINDER.replace("SERVER", &format!("{{ url: \"{}/nothing\" }}", scene.url()));
    scene.suite(&suite);
    let (_, text) = scene.record("missing", &[]).exits(101).only_failure();
    snapshot::assert(
        "server-another-page",
        &text.replace(&scene.url(), "[url]"),
        scene.folder.path(),
    );
}

#[test]
fn a_token_that_is_not_set_is_noticed_before_anything_is_started() {
    fails(
        "token-not-set",
        &finder("{ url: \"http://127.0.0.1:9/mcp\", auth: { bearer_token_env: DESK_TOKEN } }"),
        0,
    );
}

#[test]
fn a_server_where_none_is_declared() {
    let scene = finder("{ command: [ORDER_DESK] }");
    scene.suite(&FINDER.replace("servers:\n  desk: SERVER\n", ""));
    fails("not-declared", &scene, 0);
}

#[test]
fn a_tool_that_the_model_made_up_is_recorded_and_the_model_is_told() {
    for (name, server, tool) in [
        ("desk__find_everything", "desk", "find_everything"),
        // The session takes the name for the only tool that it can mean; the call reached no server.
        ("find_order", "desk", "find_order"),
        ("shop__find_order", "", "shop__find_order"),
    ] {
        let run = find(name, &json!({ "order_id": "A-1001" }));
        let scene = Scene::new(
            &FINDER.replace("SERVER", "{ command: [ORDER_DESK] }"),
            &script("Find A-1001.", &[run]),
        );
        scene.record("missing", &[]).exits(0);
        let run = scene.run(PLACE);
        let call = &run["trace"]["tool_calls"][0];
        assert_eq!(
            (call["server"].as_str().unwrap_or_default(), &call["name"]),
            (server, &json!(tool))
        );
        assert_eq!(run["trace"]["tool_results"][0]["is_error"], true);
        let told = scene.requests()[1].json()["messages"].to_string();
        assert!(
            told.contains(&format!("there is no tool `{name}`")),
            "{told}"
        );
        scene.judge(&[]).exits(0);
    }
}

#[test]
fn arguments_that_do_not_fit_the_schema_are_for_the_server_to_refuse() {
    let run = find("desk__find_order", &json!({ "order": 1001 }));
    let scene = Scene::new(
        &FINDER.replace("SERVER", "{ command: [ORDER_DESK] }"),
        &script("Find A-1001.", &[run]),
    );
    scene.record("missing", &[]).exits(0);
    let run = scene.run(PLACE);
    assert_eq!(
        run["trace"]["tool_calls"][0]["args"],
        json!({ "order": 1001 })
    );
    let result = &run["trace"]["tool_results"][0];
    assert_eq!(result["is_error"], true, "{result:#}");
    let said = result["result"]["content"][0]["text"].as_str().unwrap();
    assert!(said.contains("order"), "{said}");
    scene.judge(&[]).exits(0);
}

#[test]
fn a_tool_that_answers_with_an_error_is_recorded_as_an_error() {
    let run = find("desk__find_order", &json!({ "order_id": "Z-9" }));
    let scene = Scene::new(
        &FINDER.replace("SERVER", "{ command: [ORDER_DESK] }"),
        &script("Find A-1001.", &[run]),
    );
    scene.record("missing", &[]).exits(0);
    let result = &scene.run(PLACE)["trace"]["tool_results"][0];
    assert_eq!(result["is_error"], true);
    assert_eq!(result["result"]["content"][0]["text"], "no order Z-9");
}

#[test]
fn two_servers_with_tools_of_one_name_are_told_apart() {
    let suite = FINDER
        .replace(
            "  desk: SERVER\n",
            "  desk: { command: [ORDER_DESK] }\n  other: { command: [ORDER_DESK] }\n",
        )
        .replace("servers: [desk]", "servers: [desk, other]");
    let cancel = |server: &str| json!({ "name": format!("{server}__cancel_order"), "args": { "order_id": "A-1001" } });
    let look = |server: &str| json!({ "name": format!("{server}__find_order"), "args": { "order_id": "A-1001" } });
    let run = json!([
        { "calls": [cancel("other")] },
        { "calls": [look("desk"), look("other")] },
        { "text": "It is Ada's." },
    ]);
    let scene = Scene::new(&suite, &script("Find A-1001.", &[run]));
    scene.record("missing", &[]).exits(0);
    let run = scene.run(PLACE);
    let calls: Vec<(&Value, &Value)> = run["trace"]["tool_calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| (&call["server"], &call["name"]))
        .collect();
    assert_eq!(
        json!(calls),
        json!([
            ["other", "cancel_order"],
            ["desk", "find_order"],
            ["other", "find_order"]
        ])
    );
    // Each has a state of its own.
    let status = |index: usize| {
        run["trace"]["tool_results"][index]["result"]["structuredContent"]["status"].clone()
    };
    assert_eq!((status(1), status(2)), (json!("paid"), json!("cancelled")));
    let servers: Vec<&Value> = run["trace"]["tool_results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| &result["server"])
        .collect();
    assert_eq!(servers, ["other", "desk", "other"]);
    assert_eq!(
        scene.requests()[0].json()["tools"]
            .as_array()
            .unwrap()
            .len(),
        12
    );
}

#[test]
fn every_run_gets_a_fresh_server() {
    let suite = FINDER
        .replace("SERVER", "{ command: [ORDER_DESK] }")
        .replace("    prompt:", "    runs: 2\n    prompt:");
    let run = find("desk__cancel_order", &json!({ "order_id": "A-1001" }));
    let scene = Scene::new(&suite, &script("Find A-1001.", &[run]));
    scene.record("missing", &[]).exits(0);
    for run in 1..=2 {
        let run = scene.run(&PLACE.replace(".json", &format!("/run-{run}.json")));
        assert_eq!(run["trace"]["tool_results"][0]["is_error"], false);
    }
}

#[test]
fn the_environment_and_folder_of_a_server_are_the_suites() {
    let server = "{ command: [sh, -c, \"pwd > where.txt; echo $GREETING > greeting.txt; exec ORDER_DESK\"], env: { GREETING: hello }, cwd: below }";
    let scene = finder(server);
    std::fs::create_dir(scene.folder.at("suites/below")).unwrap();
    scene.record("missing", &[]).exits(0);
    assert_eq!(scene.text("suites/below/greeting.txt"), "hello\n");
    assert!(
        scene
            .text("suites/below/where.txt")
            .trim_end()
            .ends_with("suites/below")
    );
}

/// A server that neither answers nor ends when its standard input does.
#[cfg(target_os = "linux")]
#[test]
fn a_server_that_hangs_is_not_left_behind() {
    let stubborn =
        "{ command: [sh, -c, \"echo $$ > pid.txt; trap '' TERM INT HUP; exec sleep 600\"] }";
    let scene = finder(stubborn).set("MCPTEST_RECORD_TIMEOUT", "0.5");
    scene.record("missing", &[]).exits(101);
    let pid = scene.text("suites/pid.txt");
    let status = || std::fs::read_to_string(format!("/proc/{}/status", pid.trim()));
    // Dead, or dead and waiting for its parent to ask how it ended.
    let gone = (0..4000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(5));
        status().map_or(true, |status| status.contains("State:\tZ"))
    });
    assert!(gone, "{:?}", status());
}
