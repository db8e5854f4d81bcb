//! Published MCP servers in two versions each: recorded with the old one, held against the new one.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::support::folder::Folder;
use crate::support::process;
use crate::support::workshop::{kept_folder, test_program};

const SUITE: &str = "agents: [{ name: Guest, model: m, prompt: Try it., calls: { max: 9 } }]\n";

/// A server and its arguments.
type Server = Vec<String>;

/// A version of a server from the npm registry.
fn npm(name: &str, version: &str) -> PathBuf {
    let package = format!("@modelcontextprotocol/server-{name}");
    let folder = format!("contract-{name}-{version}");
    let prefix = crate::npm::installed_all(&folder, &[&format!("{package}@{version}")]);
    prefix.join(format!("node_modules/{package}/dist/index.js"))
}

fn node(script: &Path, arguments: &[&str]) -> Server {
    let script = script.to_string_lossy();
    let line = [&["node", &script], arguments].concat();
    line.into_iter().map(str::to_owned).collect()
}

/// A version of a server from `PyPI`, beside the library that it was written for.
fn pypi(name: &str, version: &str, library: &str) -> Server {
    let environment = kept_folder()
        .join("pypi")
        .join(format!("contract-{name}-{version}"));
    let program = environment.join("bin").join(name);
    if !program.exists() {
        let made = Command::new("python3")
            .args(["-m", "venv"])
            .arg(&environment)
            .output();
        assert!(made.unwrap().status.success());
        let installed = Command::new(environment.join("bin/python"))
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
            ])
            .args([&format!("{name}=={version}"), library])
            .output()
            .unwrap();
        assert!(installed.status.success(), "{installed:?}");
    }
    vec![program.to_string_lossy().into_owned()]
}

fn command() -> PathBuf {
    test_program("cargo-mcptest", "command")
}

/// A client of the proxy, which ends with its server.
struct Client(Child, u64);

impl Client {
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.1 += 1;
        let message = json!({ "jsonrpc": "2.0", "id": self.1, "method": method, "params": params });
        self.tell(&message);
        let answers = BufReader::new(self.0.stdout.as_mut().unwrap());
        for line in answers.lines() {
            let answer: Value = serde_json::from_str(&line.unwrap()).unwrap();
            if answer["id"] == self.1 && answer.get("method").is_none() {
                return answer;
            }
        }
        panic!("no answer to {method}");
    }

    fn tell(&mut self, message: &Value) {
        writeln!(self.0.stdin.as_mut().unwrap(), "{message}").unwrap();
    }
}

/// Records a list of tools and some calls of a server.
fn record(folder: &Folder, server: &[String], calls: &[(&str, Value)]) {
    let mut proxy = process::command(command(), folder.path());
    proxy
        .args([
            "proxy", "--agent", "Guest", "--model", "m", "--prompt", "Try it.", "--",
        ])
        .args(server)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut client = Client(proxy.spawn().unwrap(), 0);
    let info = json!({ "name": "t", "version": "1" });
    let begin = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info });
    client.ask("initialize", &begin);
    client.tell(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    client.ask("tools/list", &json!({}));
    for (tool, arguments) in calls {
        client.ask(
            "tools/call",
            &json!({ "name": tool, "arguments": arguments }),
        );
    }
    // Some of these servers stay when their client has gone; a recording is whole within a second.
    drop(client.0.stdin.take());
    let run = folder.at("suites/cassettes/Guest__m/run-1.json");
    for _ in 0..100 {
        let text = std::fs::read_to_string(&run).unwrap_or_default();
        let run: Value = serde_json::from_str(&text).unwrap_or_default();
        let answers = run["trace"]["tool_results"].as_array();
        if answers.is_some_and(|answers| answers.len() == calls.len()) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let _ = client.0.kill();
    let _ = client.0.wait();
}

/// What the new version of a server breaks and changes, as data and as text.
fn contract_findings(
    old: &[String],
    new: &[String],
    calls: &[(&str, Value)],
    status: i32,
) -> (Value, String) {
    let folder = Folder::new().with_file("suites/guest.yml", SUITE);
    record(&folder, old, calls);
    let ask = |format: &str| {
        let mut line = process::command(command(), folder.path());
        line.args(["contract", "--format", format, "--"]).args(new);
        process::run(&mut line).exits(status).stdout
    };
    let text = ask("text");
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
    (serde_json::from_str(&ask("json")).unwrap(), text)
}

/// Each finding in a line: its kind, tool and argument.
fn finding_lines(findings: &Value) -> Vec<String> {
    let findings = findings.as_array().unwrap().iter();
    let word = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let line = |finding: &Value| {
        let parts = ["kind", "tool", "argument"].map(|key| word(finding, key));
        parts.join(" ").trim_end().to_owned()
    };
    findings.map(line).collect()
}

fn has(findings: &Value, expected: &[&str]) {
    let told = finding_lines(findings);
    for line in expected {
        assert!(told.iter().any(|it| it == line), "{line}: {told:#?}");
    }
}

/// Tools were renamed, so agents that were recorded with the old names break.
pub(super) fn the_server_that_has_everything() {
    let server = |version| node(&npm("everything", version), &[]);
    let calls = [
        ("echo", json!({ "message": "hi" })),
        ("add", json!({ "a": 1, "b": 2 })),
        ("structuredContent", json!({ "location": "Chicago" })),
    ];
    let (said, text) = contract_findings(&server("2025.9.25"), &server("2026.8.31"), &calls, 1);
    assert_eq!(
        finding_lines(&said["breaks"]),
        ["removed add", "removed structuredContent"]
    );
    has(
        &said["changes"],
        &[
            "added get-sum",
            "added get-structured-content",
            "description echo",
            "removed printEnv",
            "added get-env",
        ],
    );
    assert!(
        text.contains("      - Echoes back the input\n      + Echoes back the input string\n"),
        "{text}"
    );
    // The server has another name, too.
    assert_eq!(said["server"]["recorded_as"], "example-servers/everything");
    assert!(
        text.contains(
            "note: compared with the server `example-servers/everything` of the recordings"
        ),
        "{text}"
    );
}

/// The old version listed schemas that say nothing; what was called fits the new ones.
pub(super) fn the_server_of_a_file_system() {
    let shared = Folder::new().with_file("note.txt", "pens: 3");
    let path = shared.path().canonicalize().unwrap();
    let server = |version| node(&npm("filesystem", version), &[&path.to_string_lossy()]);
    let calls = [
        ("read_file", json!({ "path": path.join("note.txt") })),
        ("list_directory", json!({ "path": path })),
    ];
    let (said, text) = contract_findings(&server("0.6.2"), &server("2026.8.31"), &calls, 0);
    assert_eq!(said["calls"]["taken"], 2);
    assert_eq!(finding_lines(&said["breaks"]), Vec::<String>::new());
    has(
        &said["changes"],
        &[
            "required read_file path",
            "description read_file",
            "added edit_file",
            "added directory_tree",
            "annotations read_file",
        ],
    );
    assert!(
        text.contains("DEPRECATED: Use read_text_file instead."),
        "{text}"
    );
    // The other way, tools that were called are gone.
    let calls = [
        (
            "edit_file",
            json!({ "path": path.join("note.txt"), "edits": [] }),
        ),
        (
            "read_file",
            json!({ "path": path.join("note.txt"), "head": 1 }),
        ),
    ];
    let (said, _) = contract_findings(&server("2026.8.31"), &server("0.6.2"), &calls, 1);
    assert_eq!(finding_lines(&said["breaks"]), ["removed edit_file"]);
}

/// Nothing but what the server says of its tools besides: that they only read, or destroy.
pub(super) fn the_server_of_a_memory() {
    let server = |version| node(&npm("memory", version), &[]);
    let pen = json!({ "name": "pen", "entityType": "thing", "observations": ["blue"] });
    let calls = [
        ("create_entities", json!({ "entities": [pen] })),
        ("search_nodes", json!({ "query": "pen" })),
        ("read_graph", json!({})),
    ];
    let (said, text) = contract_findings(&server("0.6.2"), &server("2026.8.31"), &calls, 0);
    assert_eq!(finding_lines(&said["breaks"]), Vec::<String>::new());
    let changes = finding_lines(&said["changes"]);
    assert_eq!(changes.len(), 9, "{changes:?}");
    assert!(
        changes
            .iter()
            .all(|change| change.starts_with("annotations ")),
        "{changes:?}"
    );
    assert!(text.contains("      + readOnlyHint: true\n"), "{text}");
}

/// An argument must not be an empty list any more, and a call of a tool that never was stays one.
pub(super) fn the_server_of_a_git_repository() {
    let repository = Folder::new();
    let made = Command::new("git")
        .args(["init", "--quiet"])
        .current_dir(repository.path())
        .status();
    assert!(made.unwrap().success());
    let path = repository.path().canonicalize().unwrap();
    let calls = [
        ("git_status", json!({ "repo_path": path })),
        ("git_add", json!({ "repo_path": path, "files": [] })),
        ("git_init", json!({ "repo_path": path })),
    ];
    let old = pypi("mcp-server-git", "0.6.2", "mcp<2");
    let new = pypi("mcp-server-git", "2026.10.19", "mcp");
    let (said, text) = contract_findings(&old, &new, &calls, 1);
    assert_eq!(finding_lines(&said["breaks"]), ["refused git_add files"]);
    assert_eq!(
        said["breaks"][0]["calls"][0]["reason"],
        "[] has less than 1 item"
    );
    assert_eq!(said["breaks"][0]["calls"][0]["call"], 1);
    has(
        &said["changes"],
        &[
            "arguments git_log start_timestamp",
            "added git_show",
            "arguments git_diff_staged context_lines",
        ],
    );
    assert!(
        text.contains("note: 1 recorded call is of tools that the server did not list"),
        "{text}"
    );
}

/// Words of descriptions alone: agents may do otherwise, and no call breaks.
pub(super) fn the_server_of_the_time() {
    let calls = [
        ("get_current_time", json!({ "timezone": "UTC" })),
        (
            "convert_time",
            json!({ "source_timezone": "Europe/Rome", "time": "12:00", "target_timezone": "Asia/Tokyo" }),
        ),
    ];
    let old = pypi("mcp-server-time", "0.6.2", "mcp<2");
    let new = pypi("mcp-server-time", "2026.10.19", "mcp");
    let (said, text) = contract_findings(&old, &new, &calls, 0);
    assert_eq!(said["calls"]["taken"], 2);
    assert_eq!(finding_lines(&said["breaks"]), Vec::<String>::new());
    has(
        &said["changes"],
        &[
            "description get_current_time",
            "arguments convert_time source_timezone",
            "arguments get_current_time timezone",
        ],
    );
    let words = "      - Get current time in a specific timezones\n      + Get current time in a specific timezone\n";
    assert!(text.contains(words), "{text}");
}
