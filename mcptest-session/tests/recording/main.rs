//! Sessions against a provider that plays a script, with an agent that speaks plain HTTP.

#![forbid(unsafe_code)]
#![cfg(feature = "record")]
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "what fails here fails its test"
)]

mod agent;
mod gate;
mod mcp;
mod passing;
mod runs;
mod secrets;
mod unclean;
mod unread;

use mcptest_session::endpoint::Upstream;
use mcptest_session::session::{Session, SessionOptions};
use scripted_provider::{Provider, Script};
use serde_json::{Value, json};

const PROMPT: &str = "Cancel orders 7 and 8.";

/// Two orders are cancelled in parallel, of which one fails.
fn script(more: &Value) -> Value {
    let calls = json!([{ "name": "cancel", "args": { "order": 7 } }, { "name": "cancel", "args": { "order": 8 } }]);
    let mut script = json!({ "conversations": [{ "user": PROMPT, "runs": [[
        { "text": "One moment.", "calls": calls, "usage": { "prompt": 210, "completion": 40 } },
        { "text": "7 is cancelled; 8 had shipped.", "usage": { "prompt": 290, "completion": 12 } },
    ]] }] });
    for (key, value) in more.as_object().unwrap() {
        script[key] = value.clone();
    }
    script
}

fn provider(script: &Value) -> Provider {
    let script = Script::from_json(&script.to_string()).unwrap();
    Provider::start(script).unwrap()
}

/// What a session is told, with all providers at one address.
fn options(provider: &Provider) -> SessionOptions {
    let names = ["openai", "anthropic", "gemini", "ollama"];
    let upstreams = names.map(|name| Upstream::new(name, &provider.url()).unwrap());
    let mut options = SessionOptions::new("Order desk", PROMPT);
    options.upstreams = upstreams.to_vec();
    options
}

async fn session(provider: &Provider) -> Session {
    Session::record(options(provider)).await.unwrap()
}

/// Runs something that waits. Everything is on one thread, as in a test of a user.
fn block_on<T>(run: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(run)
}
