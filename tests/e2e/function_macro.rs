//! `#[mcptest::suite("…", agent = run)]`: the cases of a suite as test functions, and an async function of the crate that
//! is their agent.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;

use scripted_provider::{Provider, Script};
use serde_json::{Value, json};

use crate::support::folder::Folder;
use crate::support::process::{self, Finished};
use crate::support::workshop::{build, harness_path, kept_crate};

const SUITE: &str = "\
agents:
  - name: Greeter
    model: gpt-5
    prompt: Say hello.
    runs: 2
    expect: [{ target: final_response, matcher: { starts-with: Hello } }]
  - name: Second greeter
    model: gpt-5
    prompt: Say hello.
    narrative: {}
";

/// The agent, for both test targets.
const AGENT: &str = r###"
pub async fn greet(session: mcptest::Session) -> Result<(), ureq::Error> {
    let key = std::env::var("OPENAI_API_KEY").unwrap_or_default();
    let body = format!(
        r##"{{"model":"gpt-5","messages":[{{"role":"user","content":"{}"}}]}}"##,
        session.prompt()
    );
    ureq::post(format!("{}/chat/completions", session.openai_url()))
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {key}"))
        .send(body)?;
    Ok(())
}
"###;

/// The function is named from where the attribute stands, in each way that a crate may name one.
const TESTS: &str = r#"
mod greeters;
use greeters::greet;

#[mcptest::suite("greet.yml", agent = greet)]
mod greeting {}

mod deeper {
    #[mcptest::suite("greet.yml", agent = super::greet)]
    fn says_hello(runs: &mcptest::AgentRuns) {
        let hello = |run: &mcptest::trace::Run| run.trace.closing().is_some_and(|text| text.starts_with("Hello"));
        assert!(runs.runs().iter().all(hello));
    }
}

#[mcptest::suite("greet.yml", agent = |session: mcptest::Session| async move { greet(session).await },)]
mod by_closure {}
"#;

/// One of two attributes for the same suite names no function. Its cases come first in the alphabet.
const FORGOTTEN: &str = "\
mod greeters;

#[mcptest::suite(\"greet.yml\")]
mod forgotten {}

#[mcptest::suite(\"greet.yml\", agent = greeters::greet)]
mod named {}
";

/// The tests of the crate, built once in a process.
fn executable(target: &str) -> &'static PathBuf {
    static BUILT: OnceLock<BTreeMap<String, PathBuf>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let manifest = format!(
            "[package]\nname = \"greeters\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n\n\
             [dev-dependencies]\n\
             mcptest-harness = {{ path = {:?}, features = [\"session\"] }}\n\
             ureq = {{ version = \"3.5\", default-features = false }}\n\n[workspace]\n",
            harness_path()
        );
        let files = [
            ("Cargo.toml", manifest.as_str()),
            ("src/lib.rs", "//! A library.\n"),
            ("suites/greet.yml", SUITE),
            ("tests/greeters/mod.rs", AGENT),
            ("tests/greetings.rs", TESTS),
            ("tests/one_forgotten.rs", FORGOTTEN),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
        build(&kept_crate("greeters", &files))
    });
    &built[target]
}

/// Runs the cases over a folder; `record`: the word, and the model that is asked.
fn run(folder: &Folder, record: Option<(&str, &Provider)>, arguments: &[&str]) -> Finished {
    run_target("greetings", folder, record, arguments)
}

fn run_target(
    target: &str,
    folder: &Folder,
    record: Option<(&str, &Provider)>,
    arguments: &[&str],
) -> Finished {
    let mut command = process::command(executable(target), folder.path());
    command
        .args(arguments)
        .env("CARGO_MANIFEST_DIR", folder.path());
    if let Some((word, model)) = record {
        command
            .env("MCPTEST_RECORD", word)
            .env("OPENAI_BASE_URL", format!("{}/v1", model.url()))
            .env("OPENAI_API_KEY", "scripted")
            .env("NO_PROXY", "127.0.0.1");
    }
    process::run(&mut command)
}

fn closing(folder: &Folder, run: &str) -> Value {
    let run = folder.at(&format!("suites/cassettes/{run}"));
    let run: Value = serde_json::from_str(&std::fs::read_to_string(run).unwrap()).unwrap();
    run["trace"]["final_response"].clone()
}

#[test]
fn its_agent_is_recorded_once_for_all_cases_and_judged() {
    let says = |text: &str| json!([{ "text": text, "usage": { "prompt": 9, "completion": 2 } }]);
    let texts = ["one", "two", "three", "four", "five", "six"];
    let runs = texts.map(|text| says(&format!("Hello {text}.")));
    let script = json!({ "key": "scripted", "conversations": [{ "user": "Say hello.", "model": "gpt-5", "runs": runs }] });
    let model = Provider::start(Script::from_json(&script.to_string()).unwrap()).unwrap();
    let folder = Folder::new().with_file("suites/greet.yml", SUITE);

    let before = run(&folder, None, &[]).exits(101);
    assert_eq!(before.failures().len(), before.outcomes().len(), "{before}");
    // Each says how to record by itself, whichever of them ran first.
    let failures = before.failures();
    for case in [
        "greeting::greeter",
        "by_closure::greeter",
        "deeper::says_hello::greeter",
    ] {
        let told = format!(
            "`MCPTEST_RECORD=missing cargo test -p greeters --test greetings -- --exact {case}`"
        );
        assert!(failures[case].contains(&told), "{before}");
    }
    assert_eq!(model.requests().len(), 0);

    let recorded = run(&folder, Some(("missing", &model)), &[]).exits(0);
    let names: Vec<String> = recorded.outcomes().into_keys().collect();
    assert_eq!(
        names,
        [
            "by_closure::greeter",
            "by_closure::second_greeter",
            "by_closure::second_greeter::narrative",
            "deeper::says_hello::greeter",
            "deeper::says_hello::second_greeter",
            "greeting::greeter",
            "greeting::second_greeter",
            "greeting::second_greeter::narrative",
        ]
    );
    assert_eq!(model.requests().len(), 3);
    let mut said =
        ["Greeter__gpt-5/run-1.json", "Greeter__gpt-5/run-2.json"].map(|run| closing(&folder, run));
    said.sort_by_key(Value::to_string);
    assert_ne!(said[0], said[1]);

    // Nothing is asked from now on, and nothing can be.
    run(&folder, None, &[]).exits(0);
    assert_eq!(model.requests().len(), 3);

    // One case records its agent alone.
    run(
        &folder,
        Some(("all", &model)),
        &["--exact", "greeting::second_greeter"],
    )
    .exits(0);
    assert_eq!(model.requests().len(), 4);
    assert_eq!(
        closing(&folder, "Second_greeter__gpt-5.json"),
        "Hello four."
    );
    drop(model);
    run(&folder, None, &[]).exits(0);
}

#[test]
fn a_function_that_fails_leaves_no_run_and_says_why() {
    let script = json!({ "key": "another", "conversations": [{ "user": "Say hello.", "runs": [[{ "text": "Hello." }]] }] });
    let model = Provider::start(Script::from_json(&script.to_string()).unwrap()).unwrap();
    let folder = Folder::new().with_file("suites/greet.yml", SUITE);
    let failed = run(
        &folder,
        Some(("missing", &model)),
        &["--exact", "greeting::greeter"],
    )
    .exits(101);
    let text = &failed.failures()["greeting::greeter"];
    assert!(text.contains("the agent's own function failed"), "{text}");
    assert!(text.contains("401"), "{text}");
    assert!(!folder.at("suites/cassettes/Greeter__gpt-5").exists());
}

#[test]
fn a_module_that_names_no_function_is_told_who_records_it() {
    let script = json!({ "key": "scripted", "conversations": [{ "user": "Say hello.", "runs": [[{ "text": "Hello." }], [{ "text": "Hello again." }]] }] });
    let model = Provider::start(Script::from_json(&script.to_string()).unwrap()).unwrap();
    let folder = Folder::new().with_file("suites/greet.yml", SUITE);
    let in_order = ["--test-threads", "1"];
    let ran = run_target(
        "one_forgotten",
        &folder,
        Some(("missing", &model)),
        &in_order,
    )
    .exits(101);
    // What the built-in agent did is no run of the function.
    let failures = ran.failures();
    let told = "the recordings of `Greeter` are of the built-in agent, and it has code of its own";
    assert!(failures["named::greeter"].contains(told), "{ran}");
    assert!(!failures.contains_key("forgotten::greeter"), "{ran}");
    let told = "note: the built-in agent records `Greeter`, which has no `command:`; a function of its crate is recorded by";
    assert!(ran.stderr.contains(told), "{ran}");
    assert_eq!(ran.outcomes().len(), 6, "{ran}");
}
