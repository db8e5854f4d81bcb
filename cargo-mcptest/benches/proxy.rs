//! What the proxy adds to a message there and back: the same calls to the same server without it and with it.
//!
//! `cargo bench -p cargo-mcptest --bench proxy` prints the median and the 99th percentile of each way.

#![allow(clippy::unwrap_used, reason = "a bench has nobody to tell")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

const CALLS: usize = 2_000;
const TOOLS: &str = "tools: [{ name: find, text: found }]";
const PROXY: [&str; 8] = [
    "mcptest", "proxy", "--agent", "A", "--model", "m", "--prompt", "p",
];

fn main() {
    // `cargo test --benches` only wants to know that it builds.
    if !std::env::args().any(|word| word == "--bench") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("tools.yml"), TOOLS).unwrap();
    let program = env!("CARGO_BIN_EXE_cargo-mcptest");
    let mock = ["mcptest", "mock", "--tools-from", "tools.yml"];
    let behind = [&PROXY[..], &["--", program], &mock].concat();
    say(
        "stdio",
        &over_pipes(folder, &mock),
        &over_pipes(folder, &behind),
    );
    let (server, url) = listening(folder, &[&mock[..], &["--http", "127.0.0.1:0"]].concat());
    let (proxy, through) = listening(folder, &[&PROXY[..], &["--url", &url]].concat());
    say("http", &over_http(&url), &over_http(&through));
    for mut process in [proxy, server] {
        process.kill().unwrap();
        process.wait().unwrap();
    }
}

fn say(way: &str, direct: &[Duration], through: &[Duration]) {
    let at =
        |times: &[Duration], share: usize| times[times.len() * share / 100].as_secs_f64() * 1e3;
    for share in [50, 99] {
        let (direct, through) = (at(direct, share), at(through, share));
        println!(
            "{way} p{share}: {direct:.3} ms without the proxy, {through:.3} ms with it: {:.3} ms more",
            through - direct
        );
    }
}

fn start(folder: &Path, arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_cargo-mcptest"))
        .current_dir(folder)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn initialize() -> serde_json::Value {
    let client = json!({ "name": "bench", "version": "1" });
    let params =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

fn call(id: usize) -> serde_json::Value {
    let arguments = json!({ "text": "x".repeat(1_000) });
    let params = json!({ "name": "find", "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

/// How long each call took, in order of length.
fn over_pipes(folder: &Path, arguments: &[&str]) -> Vec<Duration> {
    let mut server = start(folder, arguments);
    let mut to = server.stdin.take().unwrap();
    let mut from = BufReader::new(server.stdout.take().unwrap()).lines();
    writeln!(to, "{}", initialize()).unwrap();
    from.next().unwrap().unwrap();
    writeln!(
        to,
        "{}",
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
    )
    .unwrap();
    let mut times = Vec::with_capacity(CALLS);
    for id in 1..=CALLS {
        let began = Instant::now();
        writeln!(to, "{}", call(id)).unwrap();
        from.next().unwrap().unwrap();
        times.push(began.elapsed());
    }
    drop(to);
    server.wait().unwrap();
    times.sort();
    times
}

/// A server that says where it listens.
fn listening(folder: &Path, arguments: &[&str]) -> (Child, String) {
    let mut server = start(folder, arguments);
    let mut line = String::new();
    BufReader::new(server.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    let url = line.trim_end().strip_prefix("listening on ").unwrap();
    (server, url.to_owned())
}

fn over_http(url: &str) -> Vec<Duration> {
    // The first in a process wins.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let client = reqwest::Client::new();
        let post = |session: &str, body: serde_json::Value| {
            let request = client.post(url).json(&body);
            let request = request.header("accept", "application/json, text/event-stream");
            let request = if session.is_empty() {
                request
            } else {
                request.header("mcp-session-id", session)
            };
            request.send()
        };
        let first = post("", initialize()).await.unwrap();
        let session = first.headers()["mcp-session-id"]
            .to_str()
            .unwrap()
            .to_owned();
        first.bytes().await.unwrap();
        let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        post(&session, told).await.unwrap().bytes().await.unwrap();
        let mut times = Vec::with_capacity(CALLS);
        for id in 1..=CALLS {
            let began = Instant::now();
            let answer = post(&session, call(id)).await.unwrap();
            answer.bytes().await.unwrap();
            times.push(began.elapsed());
        }
        times.sort();
        times
    })
}
