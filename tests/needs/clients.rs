//! A published client of MCP before published servers and ours, with `cargo mcptest` between them.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::folder::Folder;
use crate::support::live::desk::HttpServer;
use crate::support::{process, workshop};

/// A client that makes the calls it is given, samples and declines, and prints all that it saw.
const CLIENT: &str = include_str!("client.py");

fn python() -> PathBuf {
    crate::pypi::installed("mcp").join("python")
}

/// What the client sees of a server, over a way.
fn observe(folder: &Folder, way: &str, calls: &Value, server: &[&str]) -> Value {
    folder.write("client.py", CLIENT);
    let ran = Command::new(python())
        .current_dir(folder.path())
        .args(["client.py", way, &calls.to_string()])
        .args(server)
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
    serde_json::from_slice(&ran.stdout).unwrap()
}

/// The proxy's arguments but for the server.
const PROXY: [&str; 8] = [
    "mcptest",
    "proxy",
    "--agent",
    "Guest",
    "--model",
    "gpt-5",
    "--prompt",
    "Try everything.",
];

fn run(folder: &Folder) -> Value {
    let run = folder.at("suites/cassettes/Guest__gpt-5/run-1.json");
    serde_json::from_str(&std::fs::read_to_string(run).unwrap()).unwrap()
}

/// The names of a run's calls, and of each result which call it answers and whether it is an error.
fn recorded(run: &Value) -> (Vec<Value>, Vec<(u64, bool)>) {
    let list = |key: &str| run["trace"][key].as_array().unwrap().clone();
    let names = list("tool_calls")
        .into_iter()
        .map(|call| call["name"].clone());
    let results = list("tool_results");
    let results = results.iter().map(|result| {
        let error = result["is_error"].as_bool().unwrap();
        (result["call_index"].as_u64().unwrap(), error)
    });
    (names.collect(), results.collect())
}

/// Texts, an image, structured content, a sample that the server asks for, a question to the user, progress,
/// a call that is given up, a tool that is not there.
fn everything() -> Value {
    json!([
        ["echo", { "message": "h\u{e9} \u{1f600}" }, 20],
        ["get-tiny-image", {}, 20],
        ["get-structured-content", { "location": "Chicago" }, 20],
        ["trigger-sampling-request", { "prompt": "hi", "maxTokens": 9 }, 20],
        ["trigger-elicitation-request", {}, 20],
        ["trigger-long-running-operation", { "duration": 0.2, "steps": 3 }, 20],
        ["trigger-long-running-operation", { "duration": 60, "steps": 2 }, 0.5],
        ["nope", {}, 20],
    ])
}

#[track_caller]
fn everything_is_recorded(folder: &Folder) {
    let run = run(folder);
    let (calls, results) = recorded(&run);
    let asked: Vec<Value> = everything()
        .as_array()
        .unwrap()
        .iter()
        .map(|call| call[0].clone())
        .collect();
    assert_eq!(calls, asked);
    let answered: Vec<_> = [0, 1, 2, 3, 4, 5].map(|call| (call, false)).into();
    // What was given up is an error to the agent.
    assert_eq!(results, [answered, vec![(6, true), (7, true)]].concat());
    assert!(run["tools"].as_array().unwrap().len() > 10);
    let echoed = &run["trace"]["tool_results"][0]["result"]["content"][0]["text"];
    assert_eq!(*echoed, "Echo: h\u{e9} \u{1f600}");
}

/// The program of the server that has everything.
fn server() -> PathBuf {
    let prefix = crate::npm::installed("@modelcontextprotocol/server-everything");
    prefix.join("node_modules/.bin/mcp-server-everything")
}

pub(super) fn a_client_sees_the_same_through_the_proxy_over_pipes() {
    let (folder, server) = (Folder::new(), server());
    let server = server.to_str().unwrap();
    let direct = observe(&folder, "stdio", &everything(), &[server]);
    let proxy = workshop::test_program("cargo-mcptest", "command");
    let through = [&[proxy.to_str().unwrap()], &PROXY[..], &["--", server]].concat();
    assert_eq!(observe(&folder, "stdio", &everything(), &through), direct);
    everything_is_recorded(&folder);
}

/// A server over HTTP on a port, killed when it is dropped.
struct Http(Child);

impl Http {
    fn start(program: &Path, port: u16) -> Self {
        let mut child = Command::new(program)
            .arg("streamableHttp")
            .env("PORT", port.to_string())
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stderr.take().unwrap()).lines();
        let listens = |line: std::io::Result<String>| line.unwrap().contains("listening");
        assert!(said.into_iter().any(listens));
        Self(child)
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        // It may have ended by itself; either way it is gone afterwards.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(super) fn a_client_sees_the_same_through_the_proxy_over_http() {
    let folder = Folder::new();
    // Free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let _server = Http::start(&server(), port);
    let url = format!("http://127.0.0.1:{port}/mcp");
    let direct = observe(&folder, "http", &everything(), &[&url]);
    let mut command = process::command(
        workshop::test_program("cargo-mcptest", "command"),
        folder.path(),
    );
    command.args(PROXY).args(["--url", &url]);
    let proxy = HttpServer::start(command);
    assert_eq!(
        observe(&folder, "http", &everything(), &[&proxy.url]),
        direct
    );
    // What has gone by is written soon after.
    for _ in 0..500 {
        let whole = recorded(&run(&folder)).1.len() == 8;
        if whole {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(proxy);
    everything_is_recorded(&folder);
}

pub(super) fn files_are_written_through_the_proxy() {
    let folder = Folder::new();
    let prefix = crate::npm::installed("@modelcontextprotocol/server-filesystem");
    let server = prefix.join("node_modules/.bin/mcp-server-filesystem");
    let shared = folder.path().canonicalize().unwrap();
    let file = shared.join("note.txt");
    let calls = json!([
        ["write_file", { "path": file, "content": "pens: 3" }, 20],
        ["read_text_file", { "path": file }, 20],
    ]);
    let proxy = workshop::test_program("cargo-mcptest", "command");
    let server = [server.to_str().unwrap(), shared.to_str().unwrap()];
    let through = [&[proxy.to_str().unwrap()], &PROXY[..], &["--"], &server].concat();
    let told = observe(&folder, "stdio", &calls, &through);
    assert_eq!(told[2][1]["content"][0]["text"], "pens: 3");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "pens: 3");
    let run = run(&folder);
    assert_eq!(recorded(&run).1, [(0, false), (1, false)]);
    assert_eq!(run["trace"]["tool_calls"][0]["args"]["content"], "pens: 3");
}

pub(super) fn a_client_talks_to_the_mock() {
    let blocks = "tools:\n  - { name: find, description: Finds., result: { id: '{{ args.id }}' } }\n  - { name: fail, error: no }\n";
    let folder = Folder::new().with_file("tools.yml", blocks);
    let program = workshop::test_program("cargo-mcptest", "command");
    let mock = ["mcptest", "mock", "--tools-from", "tools.yml"];
    let calls = json!([["find", { "id": 7 }, 20], ["fail", {}, 20]]);
    let expected = json!([
        ["fail", "find"],
        ["find", { "content": [{ "type": "text", "text": "{\"id\":7}" }], "structured_content": { "id": 7 }, "is_error": false, "result_type": "complete" }],
        ["fail", { "content": [{ "type": "text", "text": "no" }], "is_error": true, "result_type": "complete" }],
    ]);
    let over_pipes = [&[program.to_str().unwrap()], &mock[..]].concat();
    assert_eq!(observe(&folder, "stdio", &calls, &over_pipes), expected);
    let mut command = process::command(&program, folder.path());
    command.args(mock).args(["--http", "127.0.0.1:0"]);
    let server = HttpServer::start(command);
    assert_eq!(observe(&folder, "http", &calls, &[&server.url]), expected);
    let hangs = [&over_pipes[..], &["--fault", "hang"]].concat();
    let given_up = observe(
        &folder,
        "stdio",
        &json!([["find", { "id": 7 }, 0.5]]),
        &hangs,
    );
    assert_eq!(given_up[0], json!(["fail", "find"]));
    assert!(given_up[1][1].is_string(), "{given_up}");
}
