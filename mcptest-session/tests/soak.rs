//! Many sessions in a row leave nothing behind in the process that runs them: no open file, no thread, no process, no
//! temporary file, and no memory.
//!
//! `MCPTEST_SOAK` says how many sessions are recorded and played; without it 50. Memory is judged from 500 on: what is
//! allocated for the first time is more than what few sessions could leak.

#![forbid(unsafe_code)]
#![cfg(all(target_os = "linux", feature = "play", feature = "record"))]
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "what fails here fails its test"
)]

use std::env;
use std::fs;
use std::io::{BufRead as _, Write as _};
use std::process::Command;
use std::time::Instant;

use mcptest_session::driver;
use mcptest_session::endpoint::Upstream;
use mcptest_session::mcp::{McpServer, McpTransport};
use mcptest_session::play::{PlayOptions, PlaySession, Recording};
use mcptest_session::record::RunOptions;
use mcptest_session::session::{Session, SessionOptions};
use mcptest_trace::eval::PlaybackOptions;
use scripted_provider::{Provider, Script};
use serde_json::{Value, json};

const PROMPT: &str = "How many pens are there?";

/// How many sessions share a provider and a runtime. What is open is counted when both are gone.
const BATCH: usize = 25;

/// The server of the agent: one tool, over standard streams.
#[test]
#[ignore = "is the server that the sessions start"]
fn server() {
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let Some(id) = message.get("id") else {
            continue;
        };
        let result = match message["method"].as_str().unwrap() {
            "initialize" => json!({
                "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
                "serverInfo": { "name": "desk", "version": "1" },
            }),
            "tools/list" => {
                json!({ "tools": [{ "name": "count", "inputSchema": { "type": "object" } }] })
            }
            _ => json!({ "content": [{ "type": "text", "text": "12" }] }),
        };
        println!(
            "{}",
            json!({ "jsonrpc": "2.0", "id": id, "result": result })
        );
        std::io::stdout().flush().unwrap();
    }
}

/// Sends a message to the server; its session, and the last message that came back.
fn tell(session: Option<&str>, message: &Value) -> (Option<String>, Value) {
    let url = env::var("MCPTEST_MCP_DESK").unwrap();
    let mut request = ureq::post(url)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    let mut answer = request.send(message.to_string()).unwrap();
    let session = answer.headers().get("mcp-session-id");
    let session = session.map(|id| id.to_str().unwrap().to_owned());
    let text = answer.body_mut().read_to_string().unwrap();
    let last = text.lines().rfind(|line| line.contains('{'));
    let last = last.map(|line| line.trim_start_matches("data: "));
    let last = last.map(|last| serde_json::from_str(last).unwrap());
    (session, last.unwrap_or_default())
}

/// The agent: it asks the model, and the server for what the model wants to know.
#[test]
#[ignore = "is the agent that the sessions run"]
fn agent() {
    let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" },
    } });
    let (session, _) = tell(None, &initialize);
    let session = session.as_deref();
    tell(
        session,
        &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
    );
    tell(
        session,
        &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }),
    );
    let url = format!("{}/chat/completions", env::var("OPENAI_BASE_URL").unwrap());
    let mut talk = vec![json!({ "role": "user", "content": env::var("MCPTEST_PROMPT").unwrap() })];
    loop {
        let tools = json!([{ "type": "function", "function": { "name": "desk__count" } }]);
        let body = json!({ "model": "m", "messages": talk, "tools": tools });
        let mut answer = ureq::post(&url)
            .header("content-type", "application/json")
            .header("authorization", "Bearer sk-test-soak-4d1e2")
            .send(body.to_string())
            .unwrap();
        let answer = answer.body_mut().read_to_string().unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let message = answer["choices"][0]["message"].clone();
        talk.push(message.clone());
        let calls = message["tool_calls"].as_array();
        let Some(call) = calls.and_then(|calls| calls.first()) else {
            return;
        };
        let (_, answer) = tell(
            session,
            &json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "count", "arguments": {} } }),
        );
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        talk.push(json!({ "role": "tool", "tool_call_id": call["id"], "content": text }));
    }
}

/// This executable as one of the programs above.
fn program(test: &str) -> Vec<String> {
    let program = env::current_exe().unwrap().display().to_string();
    let words = [&program, "--exact", test, "--ignored", "--nocapture"];
    words.map(str::to_owned).to_vec()
}

fn provider() -> Provider {
    let run = json!([
        { "calls": [{ "name": "desk__count", "args": {} }], "usage": { "prompt": 100, "completion": 10 } },
        { "text": "There are 12 pens.", "usage": { "prompt": 120, "completion": 8 } },
    ]);
    let runs = vec![run; BATCH];
    let script = json!({ "conversations": [{ "user": PROMPT, "runs": runs }] });
    Provider::start(Script::from_json(&script.to_string()).unwrap()).unwrap()
}

/// One run is recorded, and what was recorded is played to the same program.
async fn one(provider: &Provider) {
    let mut options = SessionOptions::new("Desk", PROMPT);
    options.upstreams = vec![Upstream::new("openai", &provider.url()).unwrap()];
    options.servers = vec!["desk".to_owned()];
    options.mcp_servers = vec![McpServer::new(
        "desk",
        McpTransport::Command {
            command: program("server"),
            folder: env::current_dir().unwrap(),
            environment: env::vars_os().collect(),
        },
    )];
    let session = Session::record(options).await.unwrap();
    let ended = driver::run(&session.command(program("agent"), ".")).await;
    let ended = ended.unwrap();
    let run = session.finish_command(&ended).await;
    let cassette = run.unwrap_or_else(|error| panic!("{error}")).cassette;
    let said = &cassette["trace"]["final_response"];
    assert_eq!(said, "There are 12 pens.", "{ended}");
    assert_eq!(cassette["trace"]["tool_calls"].as_array().unwrap().len(), 1);

    let options = PlayOptions::new(PlaybackOptions::suite_default()).unwrap();
    let recording = Recording::from_cassette(&cassette).unwrap();
    let session = PlaySession::start(recording, options, [PROMPT.to_owned()])
        .await
        .unwrap();
    let ended = driver::run(&session.command(program("agent"), ".")).await;
    let ended = ended.unwrap();
    let played = session.finish_command(&ended, RunOptions::default(), None);
    let differences = &played.report.divergences;
    assert!(played.report.passed(), "{differences:?}; {ended}");
}

/// What a process holds.
#[derive(Debug, PartialEq, Eq)]
struct Held {
    files: usize,
    threads: usize,
    children: usize,
}

impl Held {
    fn now() -> Self {
        let count = |folder: &str| fs::read_dir(folder).unwrap().count();
        let threads = fs::read_dir("/proc/self/task").unwrap();
        let children = threads.map(|thread| {
            let children = thread.unwrap().path().join("children");
            let children = fs::read_to_string(children).unwrap_or_default();
            children.split_whitespace().count()
        });
        Self {
            children: children.sum(),
            files: count("/proc/self/fd"),
            threads: count("/proc/self/task"),
        }
    }
}

/// Resident memory, in KiB.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.unwrap().split_whitespace().next().unwrap();
    number.parse().unwrap()
}

fn sessions() -> usize {
    env::var("MCPTEST_SOAK").map_or(50, |count| count.parse().unwrap())
}

#[test]
#[ignore = "runs in a process of its own, which the test below starts"]
fn soaked() {
    let began = Instant::now();
    let batches = sessions().div_ceil(BATCH);
    let mut held = Vec::new();
    let mut memories = Vec::new();
    for _ in 0..batches {
        let provider = provider();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        for _ in 0..BATCH {
            runtime.block_on(one(&provider));
        }
        drop((runtime, provider));
        held.push(Held::now());
        memories.push(memory());
    }
    let warm = memories[batches / 10];
    let last = memories[batches - 1];
    println!(
        "{} sessions recorded and played in {:?}: {:?}; {warm} KiB after {}, {last} KiB at the end",
        batches * BATCH,
        began.elapsed(),
        held[batches - 1],
        (batches / 10 + 1) * BATCH,
    );
    for later in &held {
        assert_eq!(later, &held[0], "{held:?}");
    }
    assert_eq!(held[0].children, 0, "{held:?}");
    if sessions() >= 500 {
        assert!(last < warm + warm / 10 + (2 << 10), "{memories:?} KiB");
    }
}

#[test]
fn sessions_leave_nothing_behind() {
    let tmp = tempfile::tempdir().unwrap();
    let program = program("soaked");
    let ran = Command::new(&program[0])
        .args(&program[1..])
        .env("TMPDIR", tmp.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    let told = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}{told}");
    let figures = said
        .lines()
        .find(|line| line.contains("recorded and played"));
    println!("{}", figures.unwrap());
    let left: Vec<_> = fs::read_dir(tmp.path()).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}
