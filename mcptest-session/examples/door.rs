//! The door of own tools without a model, for whoever tests a library that speaks to it:
//!
//! ```sh
//! cargo run -p mcptest-session --features play,record --example door -- record OUT.json
//! cargo run -p mcptest-session --features play,record --example door -- play IN.json
//! ```
//!
//! The first line of its output is the address, as `MCPTEST_TOOLS` has it. It ends with its standard input. `record`
//! takes `--answers FILE` after `OUT.json`, a list of entries as in `answers:` of a suite. It writes the calls down, as `session.tools` of a cassette has them. `play` gives back what such a list has, or what a
//! whole cassette has, and prints what was done otherwise: a line of JSON each.

use std::error::Error;
use std::io::{Read as _, Write as _, stdin, stdout};
use std::process::ExitCode;
use std::sync::Arc;

use mcptest_session::door::{Door, RaisedError};
use mcptest_session::endpoint::Endpoint;
use mcptest_session::play::{PlayOptions, PlaySession, Recording};
use mcptest_session::record::RunOptions;
use mcptest_trace::eval::{Divergence, OwnAnswer, OwnAnswers, OwnReply, PlaybackOptions};
use serde_json::Value;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = match arguments.as_slice() {
        ["record", out] => record(out, None).await,
        ["record", out, "--answers", file] => record(out, Some(*file)).await,
        ["play", file] => play(file).await,
        _ => Err("say `record OUT.json` or `play IN.json`".into()),
    };
    if let Err(error) = ended {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

async fn record(out: &str, answers: Option<&str>) -> Result<(), Box<dyn Error>> {
    let mut door = Door::recording();
    if let Some(file) = answers {
        let entries: Vec<Value> = serde_json::from_slice(&std::fs::read(file)?)?;
        let entries = entries.iter().map(entry).collect();
        door = door.with_answers(OwnAnswers::new(entries));
    }
    serve(&door).await?;
    if let Some((tool, why)) = door.unkept() {
        return Err(format!("`{tool}`: {why}").into());
    }
    std::fs::write(out, serde_json::to_string_pretty(&door.notes())?)?;
    Ok(())
}

/// An entry of `answers:`, as JSON: `{ "tool", "when"?, "times"?, "result" | "error" | "run": true }`.
fn entry(written: &Value) -> OwnAnswer {
    let reply = if written["run"] == true {
        OwnReply::Run
    } else if let Some(raised) = written.get("error").and_then(RaisedError::from_json) {
        OwnReply::Error {
            kind: raised.kind,
            module: raised.module,
            text: raised.text,
            args: raised.args.unwrap_or_default(),
        }
    } else {
        OwnReply::Result(written["result"].clone())
    };
    let tool = written["tool"].as_str().unwrap_or_default();
    let mut entry = OwnAnswer::new(tool, reply);
    entry.when = written["when"].as_object().cloned();
    entry.times = written["times"].as_u64();
    entry
}

async fn play(file: &str) -> Result<(), Box<dyn Error>> {
    let recorded: Value = serde_json::from_slice(&std::fs::read(file)?)?;
    let divergences = if let Value::Array(notes) = &recorded {
        let door = Door::from_notes(notes);
        serve(&door).await?;
        door.divergences(0)
    } else {
        let options = PlayOptions::new(PlaybackOptions::suite_default())?;
        let recording = Recording::from_cassette(&recorded)?;
        let session = PlaySession::start(recording, options, []).await?;
        tell(&session.tools_url()).await?;
        let played = session.finish(0, None, RunOptions::default(), None);
        played.report.divergences
    };
    for divergence in divergences {
        println!("{}", line(&divergence));
    }
    Ok(())
}

fn line(divergence: &Divergence) -> Value {
    serde_json::json!({
        "path": divergence.path, "message": divergence.message,
        "recorded": divergence.recorded, "played": divergence.played,
    })
}

async fn serve(door: &Door) -> Result<(), Box<dyn Error>> {
    let endpoint = Endpoint::start(Arc::new(door.clone())).await?;
    tell(&format!("{}/tools", endpoint.url())).await?;
    endpoint.close();
    door.end();
    Ok(())
}

/// Tells the address, and waits for the end of the input.
async fn tell(address: &str) -> Result<(), Box<dyn Error>> {
    println!("{address}");
    stdout().flush()?;
    let ended = tokio::task::spawn_blocking(|| stdin().read_to_end(&mut Vec::new()));
    ended.await??;
    Ok(())
}
