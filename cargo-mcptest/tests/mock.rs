//! `cargo mcptest mock` as a published client of MCP sees it.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use e2e_support::folder::Folder;
use rmcp::model::{CallToolRequestParams, CallToolResult, ClientRequest};
use rmcp::service::{PeerRequestOptions, RequestHandle, RunningService, ServiceError};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Value, json};

const TOOLS: &str = r#"
server: desk
instructions: A desk for orders.
tools:
  - name: find_order
    description: Finds an order.
    annotations: { readOnlyHint: true }
    inputSchema: { type: object, properties: { id: { type: string }, deep: { type: object } }, required: [id] }
    answers:
      - { when: { id: A-9 }, error: "no order {{ args.id }}" }
      - { when: { deep: { at: 1 } }, text: "{{ args.deep.at }} is deep" }
      - { result: { id: "{{ args.id }}", state: "sent {{ call }} times" } }
  - { name: list, result: [1, 2] }
  - { name: echo, text: "{{ args.said }}" }
  - name: picture
    content: [{ type: image, data: "{{ args.data }}", mimeType: image/png }, { type: text, text: there }]
"#;

type Client = RunningService<RoleClient, ()>;

fn folder() -> Folder {
    Folder::new().with_file("tools.yml", TOOLS)
}

fn arguments(fault: &str) -> Vec<&str> {
    vec![
        "mcptest",
        "mock",
        "--tools-from",
        "tools.yml",
        "--fault",
        fault,
    ]
}

async fn over_stdio(folder: &Folder, fault: &str) -> Client {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_cargo-mcptest"));
    command.current_dir(folder.path()).args(arguments(fault));
    ().serve(TokioChildProcess::new(command).unwrap())
        .await
        .unwrap()
}

/// A server over HTTP, killed when it is dropped.
struct Http(Child, String);

impl Http {
    fn start(folder: &Folder, fault: &str) -> Self {
        // The client leaves the choice of its cryptography to the program; there may be one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut child = Command::new(env!("CARGO_BIN_EXE_cargo-mcptest"))
            .current_dir(folder.path())
            .args(arguments(fault))
            .args(["--http", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let said = child.stdout.take().unwrap();
        BufReader::new(said).read_line(&mut line).unwrap();
        let url = line.strip_prefix("listening on ").unwrap().trim_end();
        Self(child, url.to_owned())
    }

    async fn client(&self) -> Client {
        let transport = StreamableHttpClientTransport::from_uri(self.1.as_str());
        ().serve(transport).await.unwrap()
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn asking(tool: &'static str, arguments: Value) -> CallToolRequestParams {
    let Value::Object(arguments) = arguments else {
        return CallToolRequestParams::new(tool);
    };
    CallToolRequestParams::new(tool).with_arguments(arguments)
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> CallToolResult {
    client.call_tool(asking(tool, arguments)).await.unwrap()
}

fn seen(result: &CallToolResult) -> Value {
    serde_json::to_value(result).unwrap()
}

fn text(text: &str, is_error: bool) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": is_error })
}

/// What every healthy server does, however it is reached.
async fn is_healthy(client: &Client) {
    let tools = client.list_all_tools().await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["find_order", "list", "echo", "picture"]);
    let hints = tools[0].annotations.as_ref().unwrap();
    assert_eq!(hints.read_only_hint, Some(true));
    let found = call(client, "find_order", json!({ "id": "A-1" })).await;
    let state = json!({ "id": "A-1", "state": "sent 1 times" });
    assert_eq!(found.structured_content, Some(state.clone()));
    assert_eq!(
        seen(&found)["content"],
        json!([{ "type": "text", "text": state.to_string() }])
    );
    for (tool, arguments, expected) in [
        (
            "find_order",
            json!({ "id": "A-9" }),
            text("no order A-9", true),
        ),
        (
            "find_order",
            json!({ "id": "A-2", "deep": { "at": 1, "more": 2 } }),
            text("1 is deep", false),
        ),
        (
            "find_order",
            json!({ "id": 7 }),
            text("invalid arguments: /id: 7 is not of type \"string\"", true),
        ),
        (
            "find_order",
            json!(null),
            text("invalid arguments: \"id\" is a required property", true),
        ),
        ("list", json!({}), text("[1,2]", false)),
        (
            "echo",
            json!({ "said": { "a": [1] } }),
            text(r#"{"a":[1]}"#, false),
        ),
        (
            "echo",
            json!({}),
            text(
                "the mock of `echo` answers with the argument `said`, which this call does not have",
                true,
            ),
        ),
    ] {
        let answer = call(client, tool, arguments).await;
        assert_eq!(seen(&answer), expected);
    }
    let picture = call(client, "picture", json!({ "data": "aGk=" })).await;
    assert_eq!(
        seen(&picture)["content"][0],
        json!({ "type": "image", "data": "aGk=", "mimeType": "image/png" })
    );
    let unknown = client
        .call_tool(asking("find", json!({})))
        .await
        .unwrap_err();
    let said = "no tool `find`; there are `find_order`, `list`, `echo`, `picture`";
    assert!(unknown.to_string().contains(said), "{unknown}");
}

#[tokio::test]
async fn a_client_over_pipes_gets_the_answers_of_the_file() {
    let folder = folder();
    let client = over_stdio(&folder, "none").await;
    assert_eq!(
        client
            .peer_info()
            .unwrap()
            .server_info
            .as_ref()
            .unwrap()
            .name,
        "desk"
    );
    is_healthy(&client).await;
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn a_client_over_http_gets_the_answers_of_the_file() {
    let folder = folder();
    let server = Http::start(&folder, "none");
    is_healthy(&server.client().await).await;
}

/// A call that is given up after a while, with what came of it; the client tells the server so.
async fn given_up(client: &Client, after: Duration) -> Result<(), ServiceError> {
    let request = ClientRequest::CallToolRequest(rmcp::model::CallToolRequest::new(asking(
        "find_order",
        json!({ "id": "A-1" }),
    )));
    let mut options = PeerRequestOptions::no_options();
    options.timeout = Some(after);
    let handle: RequestHandle<RoleClient> = client
        .send_cancellable_request(request, options)
        .await
        .unwrap();
    handle.await_response().await.map(|_| ())
}

const SOON: Duration = Duration::from_millis(300);
const LONG: Duration = Duration::from_mins(1);

/// Calls hang, and everything else is answered: the tools before and after them.
async fn hangs(client: &Client) {
    client.list_all_tools().await.unwrap();
    let hung = given_up(client, SOON).await;
    assert!(
        matches!(hung, Err(ServiceError::Timeout { .. })),
        "{hung:?}"
    );
    client.list_all_tools().await.unwrap();
}

#[tokio::test]
async fn a_server_that_hangs_or_is_wedged_answers_all_but_calls() {
    let folder = folder();
    for fault in ["hang", "wedged"] {
        hangs(&over_stdio(&folder, fault).await).await;
        let server = Http::start(&folder, fault);
        hangs(&server.client().await).await;
    }
}

#[tokio::test]
async fn a_slow_server_answers_late() {
    let folder = folder();
    let client = over_stdio(&folder, "slow:200").await;
    let began = std::time::Instant::now();
    given_up(&client, LONG).await.unwrap();
    assert!(began.elapsed() >= Duration::from_millis(200));
}

/// The first calls hang in whichever session they are, and then it is over for all.
#[tokio::test]
async fn a_server_recovers_after_its_first_calls() {
    let folder = folder();
    let client = over_stdio(&folder, "recover-after:2").await;
    hangs(&client).await;
    hangs(&client).await;
    given_up(&client, LONG).await.unwrap();
    let server = Http::start(&folder, "recover-after:2");
    hangs(&server.client().await).await;
    hangs(&server.client().await).await;
    given_up(&server.client().await, LONG).await.unwrap();
}

/// The ids of so many answers to a session over pipes with two calls, the first of them cancelled at once.
fn answered(fault: &str, answers: usize) -> Vec<Value> {
    use std::io::Write as _;
    let folder = folder();
    let mut server = Command::new(env!("CARGO_BIN_EXE_cargo-mcptest"))
        .current_dir(folder.path())
        .args(arguments(fault))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = server.stdin.take().unwrap();
    for message in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "list" } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 2 } }),
        json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": { "name": "list" } }),
    ] {
        writeln!(input, "{message}").unwrap();
    }
    let lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let ids =
        lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap()["id"].clone());
    let mut seen: Vec<Value> = ids.take(answers).collect();
    drop(input);
    server.wait().unwrap();
    seen.sort_by_key(Value::as_u64);
    seen
}

#[test]
fn only_a_server_that_replies_after_a_cancel_answers_what_was_cancelled() {
    assert_eq!(answered("slow:200", 2), [1, 3]);
    assert_eq!(answered("reply-after-cancel:200", 3), [1, 2, 3]);
}

/// Over HTTP the cancellation is taken, and the answer still comes.
#[tokio::test]
async fn a_cancelled_call_over_http_is_answered_all_the_same() {
    let folder = folder();
    let server = Http::start(&folder, "reply-after-cancel:500");
    let http = reqwest::Client::new();
    let post = |session: Option<String>, body: Value| {
        let request = http
            .post(&server.1)
            .header("accept", "application/json, text/event-stream")
            .json(&body);
        match session {
            Some(session) => request.header("mcp-session-id", session),
            None => request,
        }
        .send()
    };
    let begun = post(None, json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } })).await.unwrap();
    let session = begun.headers()["mcp-session-id"]
        .to_str()
        .unwrap()
        .to_owned();
    begun.text().await.unwrap();
    let session = Some(session);
    post(
        session.clone(),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
    )
    .await
    .unwrap();
    let called = post(
        session.clone(),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "list" } }),
    )
    .await
    .unwrap();
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 2 } });
    let cancelled = post(session, cancelled).await.unwrap();
    assert_eq!(cancelled.status(), 202);
    let answer = called.text().await.unwrap();
    assert!(answer.contains("[1,2]"), "{answer}");
}

const BAD: &str = r#"servr: desk
tools:
  - name: find_order
    inputSchema: { type: array }
    text: "{{ arg }}"
  - name: a
    inputSchema: { type: object, properties: { id: { type: strin } } }
    answers:
      - text: x
      - { when: { idd: 1 }, error: "{{ args.id" }
      - { when: {}, text: x }
      - {}
  - { name: a }
  - { name: b, text: 5 }
  - { name: c, content: [{ type: txt }] }
  - { name: d, input_schema: { properties: { id: {} } }, text: "{{ args.idd }}" }
  - { name: e, text: x, error: y }
  - { name: f, text: x, answers: [{ text: y }] }
  - { nam: g, text: x }
  - { name: h, annotations: 5, text: x }
  - { name: i, inputSchema: { properties: { id: { type: string } } }, answers: [{ when: { id: 7 }, text: x }] }
"#;

fn refused(folder: &Folder, more: &[&str]) -> String {
    let ran = Command::new(env!("CARGO_BIN_EXE_cargo-mcptest"))
        .current_dir(folder.path())
        .args(["mcptest", "mock"])
        .args(more)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(2));
    assert!(ran.stdout.is_empty());
    String::from_utf8(ran.stderr).unwrap()
}

#[test]
fn everything_that_is_wrong_with_a_file_is_told_at_once() {
    let folder = Folder::new().with_file("bad.yml", BAD);
    let said = refused(&folder, &["--tools-from", "bad.yml"]);
    e2e_support::snapshot::assert("mock-refused", &said, folder.path());
}

#[test]
fn what_is_no_server_says_so() {
    let folder = folder();
    let said = refused(&folder, &["--tools-from", "none.yml"]);
    assert!(
        said.starts_with("error: `none.yml` cannot be read: "),
        "{said}"
    );
    let said = refused(
        &folder,
        &["--tools-from", "tools.yml", "--fault", "slow:soon"],
    );
    assert!(
        said.contains("`soon` is no number of milliseconds"),
        "{said}"
    );
    let said = refused(&folder, &["--tools-from", "tools.yml", "--http", "nowhere"]);
    assert!(
        said.contains("error: `nowhere` cannot be served: "),
        "{said}"
    );
    let said = refused(&folder, &["--tools-from", "tools.yml"]);
    assert!(
        said.contains("error: the client did not begin a session"),
        "{said}"
    );
}
