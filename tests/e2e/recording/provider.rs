//! Providers that fail, answer nonsense, or cannot be asked.

use serde_json::{Value, json};

use super::desk::{declaring, refunds, run_path, script};
use super::recording_crate::{KEY, Scene};
use crate::support::process::Finished;
use crate::support::snapshot;

const HELLO: &str = "\
servers:
  desk: { command: [ORDER_DESK] }
agents:
  - name: Greeter
    model: MODEL
    servers: [desk]
    prompt: Hello.
    expect:
      - target: final_response
        matcher: { contains: Good day }
";

/// Both shapes, by their models.
const SHAPES: [&str; 2] = ["claude-sonnet-4-5", "gpt-5"];

fn greeter(model: &str, replies: &Value) -> Scene {
    Scene::new(
        &HELLO.replace("MODEL", model),
        &script("Hello.", std::slice::from_ref(replies)),
    )
}

/// The greeter whose only answer comes after these failures.
fn after(model: &str, failures: &Value) -> Scene {
    greeter(model, &json!([{ "text": "Good day.", "before": failures }]))
}

/// The failure text, without what differs from run to run.
#[track_caller]
fn failure(scene: &Scene, ran: Finished) -> String {
    let (case, text) = ran.exits(101).only_failure();
    assert_eq!(case, "desk::greeter");
    assert!(!text.contains(KEY));
    text.replace(&scene.url(), "[url]")
}

/// Nothing is recorded, the provider is asked so often, and the text is a snapshot.
#[track_caller]
fn gives_up(name: &str, scene: &Scene, requests: usize) {
    let text = failure(scene, scene.record("missing", &[]));
    snapshot::assert(&format!("provider-{name}"), &text, scene.folder.path());
    assert_eq!(scene.requests().len(), requests);
    assert!(scene.places().is_empty(), "{:?}", scene.places());
}

#[test]
fn what_passes_is_asked_again() {
    for model in SHAPES {
        for failures in [
            json!([{ "status": 429, "retry_after": 0 }]),
            json!([{ "status": 500 }]),
            json!([{ "close": true }]),
            json!([{ "cut": true }]),
            json!([{ "status": 529, "retry_after": 0 }, { "status": 503, "retry_after": 0 }]),
        ] {
            let scene = after(model, &failures);
            let ran = scene.record("missing", &[]).exits(0);
            assert_eq!(scene.places().len(), 1, "{ran}");
            let tries = failures.as_array().unwrap().len() + 1;
            assert_eq!(scene.requests().len(), tries, "{model} {failures}");
            let run = scene.run(&scene.places()[0]);
            assert_eq!(
                run["trace"]["conversation"]["steps"]
                    .as_array()
                    .unwrap()
                    .len(),
                1
            );
        }
    }
}

#[test]
fn a_provider_that_always_fails_is_given_up_after_five_tries() {
    let failures: Vec<Value> = (0..9)
        .map(|_| json!({ "status": 500, "message": "out of order" }))
        .collect();
    let scene = after("claude-sonnet-4-5", &failures.into());
    gives_up("always-500", &scene, 5);
}

#[test]
fn a_wait_of_an_hour_is_not_waited_for() {
    let scene = after("gpt-5", &json!([{ "status": 429, "retry_after": 3600 }]));
    gives_up("wait-an-hour", &scene, 1);
}

#[test]
fn a_refused_request_is_not_asked_again() {
    let scene = after(
        "gpt-5",
        &json!([{ "status": 400, "message": "this is too odd" }]),
    );
    gives_up("400", &scene, 1);
}

#[test]
fn a_wrong_key_names_the_variable_and_not_the_key() {
    for model in SHAPES {
        let wrong = "sk-wrong-5aa9310f";
        let variable = if model == "gpt-5" {
            "OPENAI_API_KEY"
        } else {
            "ANTHROPIC_API_KEY"
        };
        let scene = greeter(model, &json!([{ "text": "Good day." }])).set(variable, wrong);
        let text = failure(&scene, scene.record("missing", &[]));
        assert!(
            text.contains(&format!("check that `{variable}` is the key")) && !text.contains(wrong),
            "{text}"
        );
        snapshot::assert(&format!("provider-401-{model}"), &text, scene.folder.path());
        assert_eq!(scene.requests().len(), 1);
    }
}

#[test]
fn a_model_that_the_provider_does_not_know() {
    for model in SHAPES {
        let mut script = script("Hello.", &[json!([{ "text": "Good day." }])]);
        script["models"] = json!(["another"]);
        let scene = Scene::new(&HELLO.replace("MODEL", model), &script);
        gives_up(&format!("404-{model}"), &scene, 1);
    }
}

#[test]
fn a_page_in_place_of_json() {
    let page = "<!doctype html><title>Sign in</title><p>Please sign in to the hotel network.";
    let scene = after("gpt-5", &json!([{ "body": page }]));
    gives_up("html", &scene, 1);
}

#[test]
fn an_answer_that_takes_too_long() {
    let waits: Vec<Value> = (0..9).map(|_| json!({ "wait_ms": 60_000 })).collect();
    let scene = after("gpt-5", &waits.into()).set("MCPTEST_RECORD_TIMEOUT", "0.3");
    let text = failure(&scene, scene.record("missing", &[]));
    snapshot::assert("provider-too-slow", &text, scene.folder.path());
    assert!(scene.places().is_empty());
}

#[test]
fn a_provider_that_nobody_reaches() {
    let mut scene = greeter("claude-sonnet-4-5", &json!([{ "text": "Good day." }]));
    scene.stop();
    let text = failure(&scene, scene.record("missing", &[]));
    snapshot::assert("provider-unreachable", &text, scene.folder.path());
    assert!(scene.places().is_empty());
}

#[test]
fn a_missing_key_names_the_variable_before_a_server_is_started() {
    for (model, variable) in [
        ("claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("o4-mini", "OPENAI_API_KEY"),
        ("mistral-large-latest", "MISTRAL_API_KEY"),
        ("gemini-2.5-pro", "GEMINI_API_KEY"),
        ("{ provider: local, id: qwen3 }", "LOCAL_KEY"),
    ] {
        let suite = HELLO
            .replace("MODEL", model)
            .replace("[ORDER_DESK]", "[no-such-program]");
        let suite = format!(
            "providers: {{ local: {{ base_url: \"http://127.0.0.1:9\", api_key_env: LOCAL_KEY }} }}\n{suite}"
        );
        let scene = Scene::new(&suite, &refunds()).set(variable, "");
        let (_, text) = scene.record("missing", &[]).exits(101).only_failure();
        assert!(
            text.contains(&format!("`{variable}`")) && text.contains("is not set"),
            "{text}"
        );
        if model == "o4-mini" {
            snapshot::assert("provider-no-key", &text, scene.folder.path());
        }
        assert_eq!(scene.requests().len(), 0);
    }
}

#[test]
fn a_model_or_provider_that_nobody_knows() {
    for (name, model) in [
        ("unknown-model", "llama-3.3-70b"),
        ("unknown-provider", "{ provider: lokal, id: qwen3 }"),
        (
            "unknown-provider-unlike-any",
            "{ provider: acme-inference, id: qwen3 }",
        ),
    ] {
        let suite = HELLO.replace("MODEL", model);
        let suite =
            format!("providers: {{ local: {{ base_url: \"http://127.0.0.1:9\" }} }}\n{suite}");
        let scene = Scene::new(&suite, &refunds());
        gives_up(name, &scene, 0);
    }
    let scene = Scene::new(&HELLO.replace("MODEL", "llama-3.3-70b"), &refunds());
    gives_up("unknown-model-no-providers", &scene, 0);
}

#[test]
fn a_declared_provider_is_asked_at_its_address_with_its_key() {
    let mut scene = greeter(
        "{ provider: local, id: qwen3 }",
        &json!([{ "text": "Good day." }]),
    );
    let declare = |scene: &Scene, path: &str, more: &str| {
        let url = scene.url();
        let suite = HELLO.replace("MODEL", "{ provider: local, id: qwen3 }");
        scene.suite(&format!(
            "providers: {{ local: {{ base_url: \"{url}{path}\"{more} }} }}\n{suite}"
        ));
    };
    for path in ["/v1", "/v1/", ""] {
        declare(&scene, path, ", api_key_env: LOCAL_KEY");
        let mut command = scene.command(
            super::recording_crate::recording_crate().executable("agents"),
            &[],
        );
        command.env("LOCAL_KEY", KEY).env("MCPTEST_RECORD", "all");
        crate::support::process::run(&mut command).exits(0);
        let seen = scene.requests().pop().unwrap();
        assert!(seen.path.ends_with("/chat/completions"), "{}", seen.path);
        assert_eq!(
            seen.header("authorization"),
            Some(format!("Bearer {KEY}").as_str())
        );
        assert_eq!(
            scene.places(),
            ["suites/cassettes/Greeter__local__qwen3.json"]
        );
    }
    // A server of one's own may want no key.
    scene.start(
        &json!({ "conversations": [{ "user": "Hello.", "runs": [[{ "text": "Good day." }]] }] }),
    );
    declare(&scene, "/v1", "");
    scene.record("all", &[]).exits(0);
}

#[test]
fn an_agent_without_servers_is_recorded_with_every_provider() {
    for model in ["claude-sonnet-4-5", "gpt-5", "mistral-large-latest"] {
        let suite = HELLO
            .replace("MODEL", model)
            .replace("    servers: [desk]\n", "");
        let scene = Scene::new(
            &suite,
            &script("Hello.", &[json!([{ "text": "Good day." }])]),
        );
        let ran = scene.record("missing", &[]);
        assert_eq!(ran.code, Some(0), "{model}\n{ran}");
        assert_eq!(scene.requests().len(), 1);
    }
}

#[test]
fn arguments_that_are_not_json_are_written_down_and_the_model_is_told() {
    let broken = "{\"order_id\": \"A-10";
    let replies = json!([
        { "calls": [{ "name": "desk__find_order", "raw_arguments": broken }] },
        { "text": "Good day, I could not write that down." },
    ]);
    let scene = greeter("gpt-5", &replies);
    scene.record("missing", &[]).exits(0);
    let run = scene.run(&scene.places()[0]);
    assert_eq!(run["trace"]["tool_calls"][0]["args"], broken);
    assert_eq!(run["trace"]["tool_calls"][0]["name"], "find_order");
    let result = &run["trace"]["tool_results"][0];
    assert_eq!(result["is_error"], true);
    let said = result["result"]["content"][0]["text"].as_str().unwrap();
    assert!(said.contains("the arguments are not JSON"), "{said}");
    let told = scene.requests()[1].json()["messages"].to_string();
    assert!(told.contains("the arguments are not JSON"), "{told}");
    scene.judge(&[]).exits(0);
}

#[test]
fn numbers_beyond_64_bits_reach_the_server_and_the_recording_as_they_were() {
    let long = r#"{"order_id": 1180591620717411303424, "note": "1180591620717411303424"}"#;
    let replies = json!([
        { "calls": [
            { "name": "desk__find_order", "raw_arguments": long },
            { "name": "desk__find_order", "raw_arguments": "" },
        ] },
        { "text": "Good day." },
    ]);
    let suite = HELLO
        .replace("MODEL", "gpt-5")
        .replace("[ORDER_DESK]", "[ORDER_DESK, --raw, echo]");
    let scene = Scene::new(&suite, &script("Hello.", &[replies]));
    scene.record("missing", &[]).exits(0);
    let run = scene.run(&scene.places()[0]);
    let (calls, results) = (&run["trace"]["tool_calls"], &run["trace"]["tool_results"]);
    let digits = "1180591620717411303424";
    assert_eq!(
        calls[0]["args"],
        json!({ "order_id": digits, "note": digits })
    );
    assert_eq!(calls[1]["args"], json!({}));
    let got = results[0]["result"]["content"][0]["text"].as_str().unwrap();
    assert!(
        got.contains(r#"{"order_id": 1180591620717411303424, "note": "1180591620717411303424"}"#),
        "{got}"
    );
    let total = &results[0]["result"]["structuredContent"]["total"];
    assert_eq!(total, "-18446744073709551617");
    let repeated = scene.requests()[1].json()["messages"].to_string();
    assert!(!repeated.contains("e21"), "{repeated}");
    scene.judge(&[]).exits(0);
}

#[test]
fn arguments_that_are_no_object_are_written_down_and_the_model_is_told() {
    let replies = json!([
        { "calls": [{ "name": "desk__find_order", "raw_arguments": "[\"A-1001\"]" }] },
        { "text": "Good day." },
    ]);
    let scene = greeter("gpt-5", &replies);
    scene.record("missing", &[]).exits(0);
    let result = &scene.run(&scene.places()[0])["trace"]["tool_results"][0];
    assert_eq!(result["is_error"], true);
    let told = scene.requests()[1].json()["messages"].to_string();
    assert!(
        told.contains("the arguments must be a JSON object"),
        "{told}"
    );
    scene.judge(&[]).exits(0);
}

#[test]
fn a_refusal_is_an_answer_and_is_recorded_as_one() {
    for model in SHAPES {
        let scene = greeter(
            model,
            &json!([{ "text": "Good day, but no.", "stop": "refusal" }]),
        );
        let ran = scene.record("missing", &[]);
        assert_eq!(ran.code, Some(0), "{model}\n{ran}");
        let run = scene.run(&scene.places()[0]);
        let conversation = &run["trace"]["conversation"];
        assert_eq!(conversation["refused"], true, "{model}: {conversation:#}");
        assert_eq!(conversation["stop_reason"], "completed", "{model}");
        assert_eq!(run["trace"]["final_response"], "Good day, but no.");
    }
}

#[test]
fn a_failure_in_a_later_run_leaves_the_finished_ones() {
    let mut script = script("Pay order A-1003 back.", &[]);
    let good = super::desk::refund("Done: RF-1.");
    let mut bad = good.clone();
    bad[1]["before"] = json!([{ "status": 429, "retry_after": 3600 }]);
    script["conversations"][0]["runs"] = json!([good, bad]);
    let scene = Scene::new(&declaring(3), &script);
    let (_, text) = scene.record("missing", &[]).exits(101).only_failure();
    assert!(text.contains("run 2 of 3: "), "{text}");
    assert!(text.contains("MCPTEST_RECORD=missing"), "{text}");
    assert_eq!(scene.places(), [run_path(1)]);
}

#[test]
fn an_answer_without_a_word_is_recorded_as_it_is() {
    for model in SHAPES {
        let scene = greeter(model, &json!([{ "text": "" }]));
        let (_, text) = scene.record("missing", &[]).exits(101).only_failure();
        assert!(text.contains("final_response"), "{model}\n{text}");
        let trace = &scene.run(&scene.places()[0])["trace"];
        assert_eq!(trace["conversation"]["stop_reason"], "completed");
        assert_eq!(trace.get("final_response"), None);
    }
}

/// The newer models of `OpenAI` refuse `max_tokens`, and other servers of its shape know only that.
#[test]
fn the_most_tokens_of_an_answer_are_sent_under_the_name_that_the_model_takes() {
    for (model, key) in [
        ("gpt-5", "max_completion_tokens"),
        ("o4-mini", "max_completion_tokens"),
        ("mistral-large-latest", "max_tokens"),
        ("claude-sonnet-4-5", "max_tokens"),
    ] {
        let scene = greeter(model, &json!([{ "text": "Good day." }]));
        scene.record("missing", &[]).exits(0);
        let asked = scene.requests()[0].json();
        let sent: Vec<&str> = ["max_tokens", "max_completion_tokens"]
            .into_iter()
            .filter(|name| asked.get(*name).is_some())
            .collect();
        assert_eq!((model, sent), (model, vec![key]));
        assert_eq!(asked[key], 1024);
    }
}

#[test]
fn the_model_is_asked_for_by_the_name_that_the_suite_gives() {
    let names = [
        "qwen3-high",
        "acme/llama-3.3:free",
        "openai::gpt-5",
        "gpt-5-low",
        "o4-mini-none",
    ];
    let mut others = Vec::new();
    for name in names {
        let mut scene = greeter("gpt-5", &json!([{ "text": "Good day." }]));
        scene.start(&script("Hello.", &[json!([{ "text": "Good day." }])]));
        let url = scene.url();
        let suite = HELLO.replace("MODEL", &format!("{{ provider: local, id: {name:?} }}"));
        scene.suite(&format!(
            "providers: {{ local: {{ base_url: \"{url}/v1\", api_key_env: OPENAI_API_KEY }} }}\n{suite}"
        ));
        let ran = scene.record("missing", &[]);
        let asked = scene
            .requests()
            .first()
            .map(|seen| seen.json()["model"].clone());
        if asked != Some(name.into()) {
            others.push(format!("{name}: {asked:?}\n{ran}"));
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
}
