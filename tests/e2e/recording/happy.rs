//! What a recorded run holds, and that it is judged without anything that was there to record it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::desk::{
    FIRST, HttpServer, SECOND, TWICE, refunds, refunds_that_differ, run_path, script,
};
use super::recording_crate::Scene;
use crate::support::outcome::Outcome::Passed;
use crate::support::process::Finished;

#[track_caller]
fn all_pass(ran: &Finished) {
    assert!(
        ran.outcomes().values().all(|outcome| *outcome == Passed) && !ran.outcomes().is_empty(),
        "{ran}"
    );
}

/// The run without what another time or machine would change.
fn settled(mut run: Value) -> Value {
    assert!(run["trace"]["conversation"]["duration_ms"].is_u64());
    let at = run["recorded_at"].as_str().unwrap();
    assert!(
        at.starts_with("20") && at.contains('T') && at.ends_with('Z'),
        "{at}"
    );
    run["recorded_at"] = "[time]".into();
    let machine = run["recorded_on"].take();
    assert_eq!(machine.as_str().map(str::len), Some(16), "{machine}");
    run["recorded_on"] = "[16 hex digits]".into();
    // It depends on where the server's program lies.
    let asked = run["request_fingerprint"].take();
    assert_eq!(asked.as_str().map(str::len), Some(16), "{asked}");
    run["request_fingerprint"] = "[16 hex digits]".into();
    timeless(&mut run);
    let server = "/session/mcp/0/answers/0/params/clientInfo/version";
    *run.pointer_mut(server).unwrap() = "[version]".into();
    run
}

fn timeless(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(timeless),
        Value::Object(members) => {
            for (key, member) in members {
                if key == "duration_ms" {
                    *member = 0.into();
                }
                timeless(member);
            }
        }
        _ => {}
    }
}

#[track_caller]
fn looks_as_reviewed(name: &str, run: Value) {
    let mut run = settled(run);
    run.sort_all_objects();
    let text = format!("{run:#}\n");
    crate::support::snapshot::assert(name, &text, "/nowhere".as_ref());
}

#[test]
fn missing_runs_are_recorded_over_stdio_and_judged_without_the_provider() {
    let mut scene = Scene::new(TWICE, &refunds());
    let ran = scene.record("missing", &[]).exits(0);
    all_pass(&ran);
    assert_eq!(scene.places(), [FIRST, SECOND]);
    assert!(
        ran.stderr.contains("recorded 2 runs of `Refunds` (")
            && ran
                .stderr
                .contains("-> suites/cassettes/Refunds__claude-sonnet-4-5"),
        "{ran}"
    );

    // Every run is announced on a terminal only.
    assert_eq!(ran.stderr.lines().count(), 1, "{ran}");

    let requests = scene.requests();
    assert_eq!(requests.len(), 6, "{requests:#?}");
    let bodies: BTreeSet<&str> = requests.iter().map(|seen| seen.body.as_str()).collect();
    // The two runs begin with the same request; everything after that carries other ids.
    assert_eq!(bodies.len(), 5, "{requests:#?}");
    for seen in &requests {
        assert_eq!(seen.path, "/v1/messages");
        let offered: Vec<Value> = seen.json()["tools"].as_array().unwrap().clone();
        let names: Vec<&str> = offered
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        assert_eq!(names.len(), 6, "{names:?}");
        assert!(
            names.iter().all(|name| name.starts_with("desk__")),
            "{names:?}"
        );
        assert!(offered.iter().all(
            |tool| tool["input_schema"]["type"] == "object" && tool["description"].is_string()
        ));
        assert_eq!(seen.json()["max_tokens"], 1024);
    }

    let before = scene.recorded();
    scene.stop();
    all_pass(&scene.judge(&[]).exits(0));
    // Nothing is missing, so nothing needs a provider either.
    all_pass(&scene.record("missing", &[]).exits(0));
    assert_eq!(scene.recorded(), before);
}

#[test]
fn a_recorded_run_reads_as_reviewed() {
    let scene = Scene::new(TWICE, &refunds());
    scene.record("missing", &[]).exits(0);
    let run = scene.run(FIRST);
    let fingerprint = run["tools_fingerprint"].as_str().unwrap();
    assert!(
        fingerprint.len() == 16 && fingerprint.chars().all(|digit| digit.is_ascii_hexdigit()),
        "{fingerprint}"
    );
    assert!(scene.text(FIRST).ends_with("}\n"));
    looks_as_reviewed("recorded-refund", run);
}

const OVER_HTTP: &str = "\
servers:
  desk: { url: \"DESK_URL\", auth: { bearer_token_env: DESK_TOKEN } }
agents:
  - name: Reader
    model: gpt-5
    servers: [desk]
    system_prompt: You work at the order desk.
    prompt: Where are A-1001 and A-1002?
    expect:
      - target: tool_calls.length
        matcher: { exact: 2 }
";

#[test]
fn a_model_of_openai_and_a_server_behind_http_with_a_token() {
    let desk = HttpServer::desk(Some("desk-token-77aa31"));
    let suite = OVER_HTTP.replace("DESK_URL", &desk.url);
    let find = |order: &str| json!({ "name": "desk__find_order", "args": { "order_id": order } });
    let run = json!([
        { "text": "I look.", "calls": [find("A-1001"), find("A-1002")], "usage": { "prompt": 310, "completion": 20 } },
        { "text": "Paid and shipped.", "usage": { "prompt": 700, "completion": 7 } },
    ]);
    let mut scene = Scene::new(&suite, &script("Where are A-1001 and A-1002?", &[run]))
        .set("DESK_TOKEN", "desk-token-77aa31");
    let ran = scene.record("missing", &[]).exits(0);
    all_pass(&ran);
    let place = "suites/cassettes/Reader__gpt-5.json";
    assert_eq!(scene.places(), [place]);
    assert!(ran.stderr.contains("(1,037 tokens"), "{ran}");
    let requests = scene.requests();
    assert_eq!(requests.len(), 2);
    let asked = requests[1].json();
    assert_eq!(requests[1].path, "/v1/chat/completions");
    let roles: Vec<&str> = asked["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|message| message["role"].as_str())
        .collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool"]);
    assert_eq!(asked["tools"][0]["type"], "function");
    assert!(
        asked["tools"][0]["function"]["name"]
            .as_str()
            .unwrap()
            .starts_with("desk__")
    );

    let run = scene.run(place);
    // Both calls were made together, and each has its own answer.
    let steps: Vec<&Value> = run["trace"]["tool_calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| &call["step"])
        .collect();
    assert_eq!(steps, [0, 0]);
    let results = run["trace"]["tool_results"].as_array().unwrap();
    let answered: Vec<(&Value, &Value)> = results
        .iter()
        .map(|result| {
            (
                &result["call_index"],
                &result["result"]["structuredContent"]["order_id"],
            )
        })
        .collect();
    assert_eq!(
        answered,
        [(&json!(0), &json!("A-1001")), (&json!(1), &json!("A-1002"))]
    );
    looks_as_reviewed("recorded-over-http", run);

    drop(desk);
    scene.stop();
    all_pass(&scene.judge(&[]).exits(0));
}

#[test]
fn several_runs_are_recorded_as_they_differ() {
    let suite = TWICE.replace("runs: 2", "runs: 3");
    let scene = Scene::new(&suite, &refunds_that_differ(3));
    scene.record("missing", &[]).exits(0);
    let closings: Vec<Value> = (1..=3)
        .map(|run| scene.run(&run_path(run))["trace"]["final_response"].clone())
        .collect();
    assert_eq!(
        closings,
        [
            "Done for the 1. time: RF-1.",
            "Done for the 2. time: RF-1.",
            "Done for the 3. time: RF-1."
        ]
    );
    assert_eq!(scene.conversations(), 3);
}

const TWO_MODELS: &str = "\
servers:
  desk: { command: [ORDER_DESK] }
agents:
  - name: Refunds
    models: [claude-sonnet-4-5, gpt-5, { provider: mistral, id: mistral-large-latest }]
    servers: [desk]
    prompt: Pay order A-1003 back.
    expect:
      - target: final_response
        matcher: { contains: RF-1 }
";

#[test]
fn every_model_of_an_agent_is_recorded_under_its_own_name() {
    let scene = Scene::new(TWO_MODELS, &refunds());
    let ran = scene.record("missing", &[]).exits(0);
    assert_eq!(ran.outcomes().len(), 3, "{ran}");
    all_pass(&ran);
    assert_eq!(
        scene.places(),
        [
            "suites/cassettes/Refunds__claude-sonnet-4-5.json",
            "suites/cassettes/Refunds__gpt-5.json",
            "suites/cassettes/Refunds__mistral__mistral-large-latest.json",
        ]
    );
    for place in scene.places() {
        let model = scene.run(&place)["model"].as_str().unwrap().to_owned();
        assert!(place.ends_with(&format!("__{model}.json")), "{place}");
    }
    assert_eq!(scene.requests().len(), 9);
}

const TURNS: &str = "\
servers:
  desk: { command: [ORDER_DESK] }
agents:
  - name: Talk
    model: gpt-4o
    servers: [desk]
    turns:
      - Hello.
      - Cancel A-1001.
      - Thank you.
    expect:
      - target: final_response
        matcher: { exact: Any time. }
";

#[test]
fn scripted_turns_are_one_conversation_with_its_parts() {
    let cancel = json!({ "name": "desk__cancel_order", "args": { "order_id": "A-1001" } });
    let run = json!([
        { "text": "Good day." },
        { "calls": [cancel] },
        { "text": "It is cancelled." },
        { "text": "Any time." },
    ]);
    let scene = Scene::new(TURNS, &script("Hello.", &[run]));
    all_pass(&scene.record("missing", &[]).exits(0));
    let run = scene.run("suites/cassettes/Talk__gpt-4o.json");
    assert_eq!(run["user_prompt"], "Hello.");
    let conversation = &run["trace"]["conversation"];
    assert_eq!(
        conversation["per_turn"],
        json!([
            { "calls": [0, 0], "response": "Good day." },
            { "calls": [0, 1], "response": "It is cancelled." },
            { "calls": [1, 1], "response": "Any time." },
        ])
    );
    let turns: Vec<&str> = conversation["turns"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|turn| turn["content"].as_str())
        .collect();
    assert_eq!(
        turns,
        [
            "Hello.",
            "Good day.",
            "Cancel A-1001.",
            "tool_use desk::cancel_order with {\"order_id\":\"A-1001\"}",
            "It is cancelled.",
            "Thank you.",
            "Any time.",
        ]
    );
    assert_eq!(conversation["steps"].as_array().unwrap().len(), 4);
}
