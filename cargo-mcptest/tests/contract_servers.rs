//! `cargo mcptest contract` before servers that work, that speak over HTTP, and that go wrong.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use e2e_support::folder::Folder;
use e2e_support::live::desk::{HttpServer, order_desk};
use e2e_support::process::{Finished, command, run};
use serde_json::{Value, json};
use support::mcptest;

const SUITE: &str = "agents: [{ name: Desk agent, model: gpt-5, prompt: \"Where is order A-1001?\", calls: { max: 9 } }]";

/// A folder with a run of the order desk that the proxy recorded.
fn recorded() -> Folder {
    let folder = Folder::new().with_file("suites/desk.yml", SUITE);
    let mut proxy = Command::new(env!("CARGO_BIN_EXE_cargo-mcptest"))
        .current_dir(folder.path())
        .args([
            "mcptest",
            "proxy",
            "--agent",
            "Desk agent",
            "--model",
            "gpt-5",
        ])
        .args(["--prompt", "Where is order A-1001?", "--"])
        .arg(order_desk())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let client = json!({ "name": "t", "version": "1" });
    let initialize =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    let call = json!({ "name": "find_order", "arguments": { "order_id": "A-1001" } });
    let messages = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }),
        json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call }),
    ];
    let mut answers = BufReader::new(proxy.stdout.take().unwrap()).lines();
    let mut stdin = proxy.stdin.take().unwrap();
    for message in messages {
        writeln!(stdin, "{message}").unwrap();
        if message.get("id").is_some() {
            answers.next().unwrap().unwrap();
        }
    }
    drop(stdin);
    assert!(proxy.wait().unwrap().success());
    folder
}

fn desk(folder: &Folder, options: &[&str], server: &[&str]) -> Finished {
    let program = order_desk().to_string_lossy();
    let line = [&["contract"], options, &["--", &program], server].concat();
    mcptest(folder.path(), &line)
}

#[test]
fn a_real_server_is_held_against_what_the_proxy_recorded_of_it() {
    let folder = recorded();
    let said = desk(&folder, &[], &[]).exits(0);
    assert!(said.stdout.starts_with("server order-desk "), "{said}");
    assert!(
        said.stdout
            .ends_with("1 run of 1 agent test\n\nnothing differs\n"),
        "{said}"
    );
    // One tool a page is the same list.
    let paged = desk(&folder, &[], &["--misbehave", "paged"]).exits(0);
    assert!(paged.stdout.ends_with("\nnothing differs\n"), "{paged}");
    // Other arguments are another contract.
    let run = folder.at("suites/cassettes/Desk_agent__gpt-5/run-1.json");
    let mut value: Value = serde_json::from_str(&std::fs::read_to_string(&run).unwrap()).unwrap();
    value["trace"]["tool_calls"][0]["args"] = json!({ "order_id": 7 });
    std::fs::write(&run, format!("{value:#}")).unwrap();
    let said = desk(&folder, &[], &[]).exits(0);
    assert!(
        said.stdout
            .contains("note: 1 recorded call is refused by the recorded tool too"),
        "{said}"
    );
}

#[test]
fn a_server_over_http_is_asked_with_the_secrets_that_variables_hold() {
    let folder = recorded();
    let asked = |url: &str, options: &[&str]| {
        let mut line = command(env!("CARGO_BIN_EXE_cargo-mcptest"), folder.path());
        line.args(["contract", "--url", url]).args(options);
        run(line
            .env("DESK_TOKEN", "t0ken")
            .env("DESK_HEADER", "Bearer t0ken")
            .env("EMPTY", ""))
    };
    let open = HttpServer::desk(None);
    let said = asked(&open.url, &[]).exits(0);
    assert!(said.stdout.ends_with("\nnothing differs\n"), "{said}");
    let closed = HttpServer::desk(Some("t0ken"));
    for options in [
        ["--bearer-token-env", "DESK_TOKEN"],
        ["--header-env", "authorization=DESK_HEADER"],
    ] {
        asked(&closed.url, &options).exits(0);
    }
    let refused = asked(&closed.url, &[]).exits(2);
    assert!(refused.stderr.contains("does not speak MCP"), "{refused}");
    for (options, expected) in [
        (
            ["--bearer-token-env", "EMPTY"],
            "error: the environment variable `EMPTY` is not set",
        ),
        (
            ["--header-env", "x-key"],
            "error: `x-key` does not name a header and a variable",
        ),
    ] {
        let said = asked(&closed.url, &options).exits(2);
        assert!(said.stderr.starts_with(expected), "{said}");
    }
    let said = asked("desk", &[]).exits(2);
    assert!(
        said.stderr.starts_with("error: `desk` is no HTTP address"),
        "{said}"
    );
    let nobody = asked("http://127.0.0.1:9/mcp", &[]).exits(2);
    assert!(nobody.stderr.contains("does not speak MCP"), "{nobody}");
    // A key may stand in an address.
    for url in [
        "http://me:k-12345678@127.0.0.1:9/mcp?key=k-12345678",
        "htp://127.0.0.1:9/mcp?key=k-12345678",
    ] {
        let said = mcptest(folder.path(), &["contract", "--url", url]);
        assert!(!said.stderr.contains("k-12345678"), "{said}");
        assert!(said.stderr.contains("127.0.0.1:9/mcp"), "{said}");
    }
    let other = asked(&open.url.replace("/mcp", "/other"), &[]).exits(2);
    assert!(
        other.stderr.contains("with its path, for example"),
        "{other}"
    );
}

#[test]
fn a_server_that_cannot_be_asked_is_an_error_that_shows_what_it_said() {
    let folder = recorded();
    let program = order_desk().to_string_lossy();
    for (server, expected) in [
        (
            ["--misbehave", "exit"],
            [
                "the connection closed before it answered `initialize`",
                "it ended with exit status: 3",
            ],
        ),
        (
            ["--misbehave", "hang"],
            [
                "gave no answer to `initialize` within 2 s",
                "standard error",
            ],
        ),
        (
            ["--misbehave", "garbage"],
            ["`initialize`", "standard error"],
        ),
        (
            ["--misbehave", "duplicate-tool"],
            [
                "does not list its tools",
                "it lists two tools named `find_order`",
            ],
        ),
        (
            ["--raw", "no-input-schema"],
            ["does not list its tools", "standard error"],
        ),
    ] {
        let said = desk(&folder, &["--timeout", "2"], &server).exits(2);
        assert_eq!(said.stdout, "", "{said}");
        let begins = format!("error: the server `{program} {}` ", server.join(" "));
        assert!(said.stderr.starts_with(&begins), "{said}");
        for part in expected {
            assert!(said.stderr.contains(part), "{part}: {said}");
        }
    }
    let said = desk(&folder, &[], &["--misbehave", "bad-schema"]).exits(3);
    assert!(
        said.stdout
            .contains("note: cannot tell: the schema of `find_order` cannot be used"),
        "{said}"
    );
    let said = desk(&folder, &[], &["--misbehave", "exit"]).exits(2);
    assert!(said.stderr.contains("on standard error:\n"), "{said}");
    let absent = mcptest(folder.path(), &["contract", "--", "no-such-server"]).exits(2);
    assert!(
        absent
            .stderr
            .starts_with("error: the server `no-such-server` cannot be started: "),
        "{absent}"
    );
    let nothing = mcptest(folder.path(), &["contract"]).exits(2);
    assert!(nothing.stderr.contains("-- <COMMAND>"), "{nothing}");
    let echo = mcptest(folder.path(), &["contract", "--", "echo", "hello"]).exits(2);
    assert!(echo.stderr.contains("does not speak MCP"), "{echo}");
}
