//! Keys, tokens and what else is secret: in no file and not on the screen.

use serde_json::json;

use super::desk::{HttpServer, script};
use super::recording_crate::{KEY, Scene};
use crate::support::folder::collect;
use crate::support::process::Finished;
use crate::support::snapshot;

const TOKEN: &str = "desk-token-77aa31c0";

const SUITE: &str = "\
servers:
  desk: SERVER
agents:
  - name: Finder
    model: gpt-5
    servers: [desk]
    prompt: Find A-1001.
    expect:
      - target: tool_calls.length
        matcher: { exact: 1 }
";

/// Only the key of the provider that is asked is there, so that it has one name.
fn scene(suite: &str, script: &serde_json::Value) -> Scene {
    Scene::new(suite, script)
        .set("ANTHROPIC_API_KEY", "")
        .set("MISTRAL_API_KEY", "")
}

const PLACE: &str = "suites/cassettes/Finder__gpt-5.json";

/// Neither in a file below the folder (those of temporary nature too) nor in what was printed.
#[track_caller]
fn is_nowhere(secret: &str, scene: &Scene, ran: &Finished) {
    let files = collect(scene.folder.path());
    for (path, bytes) in files {
        if path != "suites/desk.yml" {
            let text = String::from_utf8_lossy(&bytes);
            assert!(!text.contains(secret), "{secret} is in {path}:\n{text}");
        }
    }
    assert!(
        !ran.stdout.contains(secret) && !ran.stderr.contains(secret),
        "{secret} is printed:\n{ran}"
    );
}

#[test]
fn a_token_that_a_server_echoes_is_blanked() {
    let server = "{ command: [ORDER_DESK, --misbehave, secret-echo, --secret-env, DESK_TOKEN], inherit_env: [DESK_TOKEN] }";
    // A second server names the variable, so that its value counts as a secret.
    let suite = SUITE.replace("SERVER", &format!("{server}\n  other: {{ url: \"http://127.0.0.1:9\", auth: {{ bearer_token_env: DESK_TOKEN }} }}"));
    let run = json!([
        { "calls": [{ "name": "desk__find_order", "args": { "order_id": "A-1001" } }] },
        { "text": "The key is {{result:desk__find_order:/ledger_key}}." },
    ]);
    let scene = scene(&suite, &script("Find A-1001.", &[run])).set("DESK_TOKEN", TOKEN);
    let ran = scene.record("missing", &[]).exits(0);
    is_nowhere(TOKEN, &scene, &ran);
    is_nowhere(KEY, &scene, &ran);
    let run = scene.run(PLACE);
    assert_eq!(
        run["trace"]["final_response"],
        "The key is [redacted DESK_TOKEN]."
    );
    assert_eq!(
        run["trace"]["tool_results"][0]["result"]["structuredContent"]["ledger_key"],
        "[redacted DESK_TOKEN]"
    );
    scene.judge(&[]).exits(0);
}

#[test]
fn a_bearer_token_in_an_argument_and_a_result_is_blanked() {
    let desk = HttpServer::desk(Some(TOKEN));
    let server = format!(
        "{{ url: \"{}\", auth: {{ bearer_token_env: DESK_TOKEN }} }}",
        desk.url
    );
    let note = format!("the token is {TOKEN}, in base64 ZGVzay10b2tlbi03N2FhMzFjMA==");
    let run = json!([
        { "calls": [{ "name": "desk__add_note", "args": { "order_id": "A-1001", "text": note } }] },
        { "calls": [] , "text": "Noted." },
    ]);
    let scene = scene(
        &SUITE.replace("SERVER", &server),
        &script("Find A-1001.", &[run]),
    )
    .set("DESK_TOKEN", TOKEN);
    let ran = scene.record("missing", &[]).exits(0);
    is_nowhere(TOKEN, &scene, &ran);
    is_nowhere("ZGVzay10b2tlbi03N2FhMzFjMA", &scene, &ran);
    let args = scene.run(PLACE)["trace"]["tool_calls"][0]["args"]["text"].clone();
    assert!(
        args.as_str()
            .unwrap()
            .starts_with("the token is [redacted DESK_TOKEN], in base64 [redacted DESK_TOKEN]"),
        "{args}"
    );
}

#[test]
fn a_key_in_the_text_of_a_model_is_blanked() {
    // The provider runs in this process, so it is this one's variable that is said.
    let said = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    let run = json!([
        { "calls": [{ "name": "desk__find_order", "args": { "order_id": "A-1001" } }] },
        { "text": "My key is ", "text_from_env": "CARGO_MANIFEST_DIR" },
    ]);
    let mut script = script("Find A-1001.", &[run]);
    script["key"] = said.clone().into();
    let scene = scene(
        &SUITE.replace("SERVER", "{ command: [ORDER_DESK] }"),
        &script,
    )
    .set("OPENAI_API_KEY", &said);
    let ran = scene.record("missing", &[]).exits(0);
    is_nowhere(&said, &scene, &ran);
    assert_eq!(
        scene.run(PLACE)["trace"]["final_response"],
        "My key is [redacted OPENAI_API_KEY]"
    );
}

#[test]
fn a_key_in_an_error_message_is_not_shown() {
    for message in [
        format!("the key {KEY} is over its quota"),
        format!("{{\"key\":\"{KEY}\"}}"),
    ] {
        let run = json!([{ "text": "x", "before": [{ "status": 400, "message": message }] }]);
        let scene = scene(
            &SUITE.replace("SERVER", "{ command: [ORDER_DESK] }"),
            &script("Find A-1001.", &[run]),
        );
        let ran = scene.record("missing", &[]).exits(101);
        assert!(ran.stdout.contains("[redacted OPENAI_API_KEY]"), "{ran}");
        is_nowhere(KEY, &scene, &ran);
    }
    let page = format!("<p>no such key: {KEY}</p>");
    let run = json!([{ "text": "x", "before": [{ "body": page }] }]);
    let scene = scene(
        &SUITE.replace("SERVER", "{ command: [ORDER_DESK] }"),
        &script("Find A-1001.", &[run]),
    );
    let ran = scene.record("missing", &[]).exits(101);
    is_nowhere(KEY, &scene, &ran);
}

#[test]
fn a_key_that_a_server_prints_before_it_ends_is_not_shown() {
    let server = "{ command: [sh, -c, \"echo my key is $OPENAI_API_KEY >&2; exit 4\"], inherit_env: [OPENAI_API_KEY] }";
    let scene = scene(
        &SUITE.replace("SERVER", server),
        &script("Find A-1001.", &[json!([{ "text": "x" }])]),
    );
    // What a process says last and its end come at the same time.
    for _ in 0..10 {
        let ran = scene.record("missing", &[]).exits(101);
        is_nowhere(KEY, &scene, &ran);
        let shown = ran.stdout.contains("my key is [redacted OPENAI_API_KEY]");
        assert!(shown, "{ran}");
    }
}

#[test]
fn a_key_in_the_help_or_the_address_is_not_shown() {
    // An address with the key in it, as some gateways want it.
    let suite = SUITE
        .replace("SERVER", "{ command: [ORDER_DESK] }")
        .replace("model: gpt-5", "model: { provider: gate, id: gpt-5 }");
    let scene = scene(
        "agents: []",
        &script("Find A-1001.", &[json!([{ "text": "x" }])]),
    );
    let url = scene.url();
    scene.suite(&format!("providers: {{ gate: {{ base_url: \"{url}/{KEY}/v1\", api_key_env: OPENAI_API_KEY }} }}\n{suite}"));
    let ran = scene.record("missing", &[]).exits(101);
    is_nowhere(KEY, &scene, &ran);
}

#[test]
fn patterns_of_the_suite_are_blanked_too() {
    let suite = format!(
        "redact: ['\\d+ Mill Lane', 'sku-[0-9]+']\n{}",
        SUITE.replace("SERVER", "{ command: [ORDER_DESK] }")
    );
    let run = json!([
        { "calls": [{ "name": "desk__find_order", "args": { "order_id": "A-1001" } }] },
        { "text": "To 12 Mill Lane, Bristol; sku-17 and sku-18." },
    ]);
    let scene = scene(&suite, &script("Find A-1001.", &[run]));
    let ran = scene.record("missing", &[]).exits(0);
    is_nowhere("12 Mill Lane", &scene, &ran);
    let run = scene.run(PLACE);
    assert_eq!(
        run["trace"]["final_response"],
        "To [redacted], Bristol; [redacted] and [redacted]."
    );
    assert_eq!(
        run["trace"]["tool_results"][0]["result"]["structuredContent"]["address"],
        "[redacted], Bristol"
    );
}

#[test]
fn a_pattern_that_is_none_is_said_before_anything_is_spent() {
    let suite = format!(
        "redact: ['sk-(']\n{}",
        SUITE.replace("SERVER", "{ command: [ORDER_DESK] }")
    );
    let scene = scene(&suite, &script("Find A-1001.", &[json!([{ "text": "x" }])]));
    let ran = scene.record("missing", &[]).exits(101);
    let (_, text) = ran.only_failure();
    snapshot::assert("secret-bad-pattern", &text, scene.folder.path());
    assert_eq!(scene.requests().len(), 0);
}

#[test]
fn a_secret_in_the_prompt_is_refused_before_anything_is_spent() {
    for (name, change) in [
        ("prompt", "prompt: Find A-1001 with desk-token-77aa31c0."),
        (
            "system-prompt",
            "system_prompt: Use desk-token-77aa31c0.\n    prompt: Find A-1001.",
        ),
        ("turns", "turns: [Hello., Use desk-token-77aa31c0.]"),
    ] {
        let server = "{ url: \"http://127.0.0.1:9\", auth: { bearer_token_env: DESK_TOKEN } }";
        let suite = SUITE
            .replace("SERVER", server)
            .replace("prompt: Find A-1001.", change);
        let scene = scene(&suite, &script("Find A-1001.", &[json!([{ "text": "x" }])]))
            .set("DESK_TOKEN", TOKEN);
        let ran = scene.record("missing", &[]).exits(101);
        let (_, text) = ran.only_failure();
        assert!(!text.contains(TOKEN), "{text}");
        assert_eq!(scene.requests().len(), 0);
        if name == "turns" {
            snapshot::assert("secret-in-the-prompt", &text, scene.folder.path());
        }
    }
    let suite = format!(
        "redact: ['A-\\d+']\n{}",
        SUITE.replace("SERVER", "{ command: [ORDER_DESK] }")
    );
    let scene = scene(&suite, &script("Find A-1001.", &[json!([{ "text": "x" }])]));
    let (_, text) = scene.record("missing", &[]).exits(101).only_failure();
    snapshot::assert("secret-pattern-in-the-prompt", &text, scene.folder.path());
    assert_eq!(scene.requests().len(), 0);
}

#[test]
fn the_key_is_in_the_header_of_a_request_and_in_no_body() {
    let run = json!([
        { "calls": [{ "name": "desk__find_order", "args": { "order_id": "A-1001" } }] },
        { "text": "Done." },
    ]);
    let suite = SUITE.replace("SERVER", "{ command: [ORDER_DESK] }");
    let scene = scene(&suite, &script("Find A-1001.", &[run]));
    scene.record("missing", &[]).exits(0);
    for request in scene.requests() {
        let bearer = format!("Bearer {KEY}");
        assert_eq!(request.header("authorization"), Some(bearer.as_str()));
        assert!(!request.body.contains(KEY));
    }
}

/// A pattern for keys in general fits much that is none: what the recording is read by must stay,
/// or nothing may be spent.
#[test]
fn a_broad_pattern_leaves_a_recording_that_is_judged() {
    let mut spoilt = Vec::new();
    for pattern in ["[A-Za-z0-9-]{16,}", "[A-Za-z_]{14,}", "gpt"] {
        let suite = format!(
            "redact: ['{pattern}']\n{}",
            SUITE.replace("SERVER", "{ command: [ORDER_DESK] }")
        );
        let run = json!([
            { "calls": [{ "name": "desk__find_order", "args": { "order_id": "A-1001" } }] },
            { "text": "Done." },
        ]);
        let scene = scene(&suite, &script("Find A-1001.", &[run]));
        let ran = scene.record("missing", &[]);
        if !scene.requests().is_empty() && ran.code != Some(0) {
            spoilt.push(format!("{pattern}: {ran}"));
        }
    }
    assert!(spoilt.is_empty(), "{}", spoilt.join("\n"));
}
