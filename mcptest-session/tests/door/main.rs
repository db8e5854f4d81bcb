//! Agents whose tools tell the session what they do: recorded against a provider that plays a script, then played. What the
//! tools do for real is counted in a file.

#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "what fails here fails its test")]

mod agents;
mod desk;
mod model;
mod tools;

use std::path::PathBuf;

use mcptest_session::endpoint::Upstream;
use mcptest_session::play::{PlayOptions, PlaySession, PlayedRun, Recording};
use mcptest_session::record::RunOptions;
use mcptest_session::session::{FinishedRun, Session, SessionError, SessionOptions};
use mcptest_trace::eval::PlaybackOptions;
use scripted_provider::{Provider, Script};
use serde_json::Value;

/// Runs something that waits.
fn block_on<T>(run: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(run)
}

/// Where a run of an agent finds its model, its door, and the file of what its tools did.
#[derive(Clone, Debug)]
struct Place {
    model: String,
    tools: String,
    effects: PathBuf,
}

/// A folder with the file of what tools did.
struct Effects(tempfile::TempDir);

impl Effects {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("effects")
    }

    /// How much was done.
    fn count(&self) -> usize {
        let all = std::fs::read_to_string(self.path()).unwrap_or_default();
        all.lines().count()
    }
}

/// Records an agent.
fn record<F: Future<Output = ()>>(
    script: &Value,
    effects: &Effects,
    change: impl FnOnce(&mut SessionOptions),
    agent: impl FnOnce(Place) -> F,
) -> Result<FinishedRun, SessionError> {
    let provider = Provider::start(Script::from_json(&script.to_string()).unwrap()).unwrap();
    let mut options = SessionOptions::new("Desk", desk::PROMPT);
    options.upstreams = vec![Upstream::new("openai", &provider.url()).unwrap()];
    change(&mut options);
    block_on(async {
        let session = Session::record(options).await.unwrap();
        let place = Place {
            model: session.openai_url(),
            tools: session.tools_url(),
            effects: effects.path(),
        };
        agent(place).await;
        session.finish().await
    })
}

/// Plays a recording to an agent.
fn play<F: Future<Output = ()>>(
    cassette: &Value,
    effects: &Effects,
    options: PlaybackOptions,
    agent: impl FnOnce(Place) -> F,
) -> PlayedRun {
    let options = PlayOptions::new(options).unwrap();
    let recording = Recording::from_cassette(cassette).unwrap();
    block_on(async {
        let turns = [desk::PROMPT.to_owned()];
        let session = PlaySession::start(recording, options, turns).await.unwrap();
        let environment = session.environment();
        let find = |name: &str| {
            let found = environment.iter().find(|(own, _)| own == name);
            found.unwrap().1.clone()
        };
        let place = Place {
            model: find("OPENAI_BASE_URL"),
            tools: find("MCPTEST_TOOLS"),
            effects: effects.path(),
        };
        agent(place).await;
        session.finish(0, None, RunOptions::default(), None)
    })
}

/// What is told of a played run.
fn divergences(played: &PlayedRun) -> Vec<String> {
    let report = &played.report;
    let all = report.divergences.iter().chain(&report.unasked);
    all.map(|one| format!("{}: {}", one.path, one.message))
        .collect()
}

/// What of a run is the same whenever it is played.
fn without_times(cassette: &Value) -> Value {
    let mut trace = cassette["trace"].clone();
    let results = trace["tool_results"].as_array_mut().unwrap();
    for result in results.iter_mut() {
        result.as_object_mut().unwrap().remove("duration_ms");
    }
    // What goes on at once has no order while it is played.
    results.sort_by_key(|result| result["call_index"].as_u64());
    trace["conversation"] = Value::Null;
    trace
}

/// Plays a recording to code that did not change: nothing is told, nothing is done, and the run is the recorded one.
fn is_green<F: Future<Output = ()>>(
    cassette: &Value,
    effects: &Effects,
    agent: impl FnOnce(Place) -> F,
) {
    let before = effects.count();
    let played = play(cassette, effects, PlaybackOptions::suite_default(), agent);
    assert_eq!(divergences(&played), [""; 0]);
    assert_eq!(effects.count(), before, "a tool ran");
    let run = played.cassette.unwrap();
    assert_eq!(without_times(&run), without_times(cassette));
}
