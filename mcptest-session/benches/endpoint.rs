//! What a session adds to a model call, beside a direct call of the same scripted provider in the same run; how soon a
//! recording answers; how many runs of three calls are played in a second; and what a session of many calls holds.
//!
//! `cargo bench -p mcptest-session --features play,record --bench endpoint`. The bounds are those of the specification:
//! a session that records adds at most a millisecond (median) to a call, and to the first byte of a stream; a
//! recording answers in a millisecond; 200 runs a second.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use mcptest_session::endpoint::{self, Upstream};
use mcptest_session::play::{PlayOptions, PlaySession, Recording};
use mcptest_session::record::RunOptions;
use mcptest_session::session::{Session, SessionOptions};
use mcptest_trace::eval::PlaybackOptions;
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
    is_fine &= plays(&client).await?;
    Ok(is_fine)
}

/// Runs of three calls that are played, one after the other.
const RUNS: u32 = 400;

/// How soon a recording answers, and how many runs are played in a second.
async fn plays(client: &Client) -> Result<bool, Failure> {
    let call = |order: u32| json!({ "name": "cancel", "args": { "order": order } });
    let result = |index: u32| json!({ "call_index": index, "result": "done" });
    let cassette = json!({
        "schema_version": "v1", "model": "m", "user_prompt": "go",
        "trace": {
            "tool_calls": [call(7), call(8)], "tool_results": [result(0), result(1)],
            "final_response": "Order 7 is cancelled; order 8 had shipped. ".repeat(12),
        },
    });
    let mut times = Vec::new();
    let began = Instant::now();
    for _ in 0..RUNS {
        let options = PlayOptions::new(PlaybackOptions::suite_default())?;
        let turns = ["go".to_owned()];
        let session =
            PlaySession::start(Recording::from_cassette(&cassette)?, options, turns).await?;
        let provider = endpoint::Provider::named("openai").ok_or("there is no such provider")?;
        let url = format!("{}/chat/completions", session.url(provider));
        let mut messages = vec![json!({ "role": "user", "content": "go" })];
        for _ in 0..3 {
            let body = json!({ "model": "m", "messages": messages });
            let asked = Instant::now();
            let answer = client.post(&url).body(body.to_string()).send().await?;
            let answer: Value = answer.error_for_status()?.json().await?;
            times.push(asked.elapsed());
            let message = answer["choices"][0]["message"].clone();
            for call in message["tool_calls"].as_array().into_iter().flatten() {
                let result =
                    json!({ "role": "tool", "tool_call_id": call["id"], "content": "done" });
                messages.extend([message.clone(), result]);
            }
        }
        let run = session.finish(0, None, RunOptions::default(), None);
        if !run.report.passed() {
            return Err("a played run does something else than was recorded".into());
        }
    }
    let a_second = f64::from(RUNS) / began.elapsed().as_secs_f64();
    let time = median(times);
    println!("an answer of a recording: {time:?} (at most {MOST:?})");
    println!("played runs of three calls: {a_second:.0} a second (at least 200)");
    Ok(time <= MOST && a_second >= 200.0)
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
