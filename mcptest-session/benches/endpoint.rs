//! What a session adds to a model call, beside a direct call of the same scripted provider in the same run.
//!
//! `cargo bench -p mcptest-session --features record --bench endpoint`. The bounds are those of the specification: a
//! session that records adds at most a millisecond (median) to a call, and to the first byte of a stream.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use mcptest_session::endpoint::Upstream;
use mcptest_session::session::{Session, SessionOptions};
use reqwest::Client;
use scripted_provider::{Provider, Script};
use serde_json::{Value, json};

/// Calls that count, and calls before them.
const CALLS: usize = 400;
const WARM: usize = 50;

/// The most that a session may add.
const MOST: Duration = Duration::from_millis(1);

type Failure = Box<dyn std::error::Error>;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> ExitCode {
    match measured().await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn measured() -> Result<bool, Failure> {
    let text = "Order 7 is cancelled; order 8 had shipped. ".repeat(12);
    let script = json!({ "conversations": [{ "user": "go", "runs": [[{ "text": text }]] }] });
    let provider = Provider::start(Script::from_json(&script.to_string())?)?;
    let mut options = SessionOptions::new("Bench", "go");
    options.upstreams = vec![Upstream::new("openai", &provider.url())?];
    let session = Session::record(options).await?;
    let client = Client::builder().no_proxy().build()?;
    let direct = format!("{}/v1/chat/completions", provider.url());
    let through = format!("{}/chat/completions", session.openai_url());
    let mut is_fine = true;
    for (row, streamed) in [
        ("a whole answer", false),
        ("the first byte of a stream", true),
    ] {
        let mut times = [Vec::new(), Vec::new()];
        // By turns, so that what else the machine does falls on both.
        for call in 0..CALLS + WARM {
            for (url, times) in [&direct, &through].into_iter().zip(&mut times) {
                let time = ask(&client, url, streamed).await?;
                if call >= WARM {
                    times.push(time);
                }
            }
        }
        let [direct, through] = times.map(median);
        let added = through.saturating_sub(direct);
        let ratio = through.as_secs_f64() / direct.as_secs_f64();
        let fits = if added <= MOST { "within" } else { "over" };
        println!(
            "{row}: {direct:?} without, {through:?} through a session ({ratio:.2} times; {added:?} more, {fits} {MOST:?})"
        );
        is_fine &= added <= MOST;
    }
    Ok(is_fine)
}

/// How long an answer takes, or the first bytes of a stream.
async fn ask(client: &Client, url: &str, streamed: bool) -> Result<Duration, Failure> {
    let messages = json!([{ "role": "user", "content": "go" }]);
    let mut body = json!({ "model": "m", "messages": messages });
    if streamed {
        body["stream"] = Value::Bool(true);
    }
    let request = client
        .post(url)
        .header("authorization", "Bearer bench-key")
        .header("content-type", "application/json")
        .body(body.to_string());
    let began = Instant::now();
    let mut answer = request.send().await?.error_for_status()?;
    answer.chunk().await?;
    let first = began.elapsed();
    while answer.chunk().await?.is_some() {}
    Ok(if streamed { first } else { began.elapsed() })
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
