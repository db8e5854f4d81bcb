//! An agent that is an async function of the crate: recorded by an address, with no glue, and judged.
//!
//! This executable is the crate's runner too: started with `AGENT_FUNCTION` set, it runs the harness.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::process::ExitCode;

use e2e_support::folder::Folder;
use e2e_support::process::{Finished, command, run};
use scripted_provider::{Provider, Script};
use serde_json::{Value, json};

const RUNNER: &str = "AGENT_FUNCTION";

const SUITE: &str = "agents:
- { name: Greeter, model: gpt-5, prompt: Say hello., runs: 2, narrative: {}, expect: [{ target: final_response, matcher: { starts-with: Hello } }] }
- { name: Thrower, model: gpt-5, prompt: Say hello., narrative: {} }
- { name: Silent, model: gpt-5, prompt: Say hello., narrative: {} }
";

/// What a stranger writes: where the model is, and what the user asks.
async fn greet(session: mcptest::Session) -> Result<(), String> {
    ask(session.openai_url(), session.prompt()).map(drop)
}

/// Asks a model of the `OpenAI` kind once.
fn ask(base: &str, prompt: &str) -> Result<String, String> {
    let key = std::env::var("OPENAI_API_KEY").unwrap_or_default();
    let body = json!({ "model": "gpt-5", "messages": [{ "role": "user", "content": prompt }] });
    let mut answer = ureq::post(format!("{base}/chat/completions"))
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {key}"))
        .send(body.to_string())
        .map_err(|error| error.to_string())?;
    answer
        .body_mut()
        .read_to_string()
        .map_err(|error| error.to_string())
}

fn main() -> ExitCode {
    if let Ok(folder) = std::env::var(RUNNER) {
        return mcptest::Harness::new(&folder, "greeter")
            .agent(greet)
            .agent_named("Thrower", |session: mcptest::Session| async move {
                ask(session.openai_url(), session.prompt())?;
                Err("the agent gave up".to_owned())
            })
            .agent_named("Silent", |_| async { Ok::<(), String>(()) })
            .run();
    }
    functions_are_recorded_and_judged();
    println!("test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
    ExitCode::SUCCESS
}

fn functions_are_recorded_and_judged() {
    let says = |text: &str| json!([{ "text": text, "usage": { "prompt": 9, "completion": 2 } }]);
    let script = json!({ "key": "scripted", "conversations": [{
        "user": "Say hello.", "model": "gpt-5",
        "runs": [says("Hello one."), says("Hello two."), says("Hello three.")],
    }] });
    let model = Provider::start(Script::from_json(&script.to_string()).unwrap()).unwrap();
    let folder = Folder::new().with("suites/greet.yml", SUITE);
    let runner = |record: bool, arguments: &[&str]| -> Finished {
        let mut runner = command(std::env::current_exe().unwrap(), folder.path());
        runner.env(RUNNER, folder.path()).args(arguments);
        if record {
            runner
                .env("MCPTEST_RECORD", "missing")
                .env("OPENAI_BASE_URL", format!("{}/v1", model.url()))
                .env("OPENAI_API_KEY", "scripted");
        }
        run(&mut runner)
    };
    runner(true, &["greeter"]).exits(0);
    let first = folder.at("suites/cassettes/Greeter__gpt-5/run-1.json");
    let first: Value = serde_json::from_str(&std::fs::read_to_string(first).unwrap()).unwrap();
    assert_eq!(first["trace"]["final_response"], "Hello one.");
    // Nothing is asked from now on.
    runner(false, &["greeter"]).exits(0);
    // A function that fails leaves no run.
    let thrown = runner(true, &["thrower"]).exits(101);
    assert!(thrown.stdout.contains("the agent gave up"), "{thrown}");
    assert!(!folder.at("suites/cassettes/Thrower__gpt-5.json").exists());
    // One that asks nothing leaves none, and is told what to set.
    let silent = runner(true, &["silent"]).exits(101);
    assert!(silent.stdout.contains("OPENAI_BASE_URL"), "{silent}");
    assert!(
        !folder.at("suites/cassettes/Silent__gpt-5").exists()
            && !folder.at("suites/cassettes/Silent__gpt-5.json").exists()
    );
}
