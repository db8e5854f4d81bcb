//! The ways to go wrong.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Child, Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use rmcp::model::CallToolRequestParams;
use serde_json::{Value, json};

use crate::{DESK, call, connect, ok, refused, text};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"find_order","arguments":{"order_id":"A-1001"}}}"#;

/// How long a hanging desk is watched for an answer.
const A_WHILE: Duration = Duration::from_millis(300);

/// A misbehaving process with its pipes, killed on drop.
struct Raw {
    process: Child,
    lines: mpsc::Receiver<String>,
}

impl Raw {
    fn start(how: &str) -> Self {
        let mut process = Command::new(DESK)
            .args(["--misbehave", how])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(process.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                let Ok(()) = sender.send(line.unwrap()) else {
                    return;
                };
            }
        });
        Self { process, lines }
    }

    fn send(&mut self, line: &str) {
        writeln!(self.process.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    fn answer(&self) -> String {
        self.lines.recv_timeout(Duration::from_secs(20)).unwrap()
    }

    /// Sends what leads up to a call, and the call.
    fn send_call(&mut self) {
        self.send(INITIALIZE);
        assert!(self.answer().contains("serverInfo"));
        self.send(INITIALIZED);
        self.send(CALL);
    }

    fn exit_code(&mut self) -> Option<i32> {
        self.process.wait().unwrap().code()
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

#[test]
fn exit_leaves_before_it_answers() {
    let mut desk = Raw::start("exit");
    assert_eq!(desk.exit_code(), Some(3));
    let mut said = String::new();
    let mut stderr = desk.process.stderr.take().unwrap();
    stderr.read_to_string(&mut said).unwrap();
    assert_eq!(said, "order-desk: cannot open the ledger\n");
    assert!(desk.lines.recv().is_err());
}

#[test]
fn exit_on_call_leaves_at_the_first_call() {
    let mut desk = Raw::start("exit-on-call");
    desk.send_call();
    assert_eq!(desk.exit_code(), Some(3));
    assert!(desk.lines.recv().is_err());
}

#[test]
fn hang_never_answers_and_ends_with_its_input() {
    let mut desk = Raw::start("hang");
    desk.send(INITIALIZE);
    assert!(desk.lines.recv_timeout(A_WHILE).is_err());
    assert_eq!(desk.process.try_wait().unwrap(), None);
    drop(desk.process.stdin.take());
    assert_eq!(desk.exit_code(), Some(0));
}

#[test]
fn hang_on_call_answers_everything_else() {
    let mut desk = Raw::start("hang-on-call");
    desk.send_call();
    assert!(desk.lines.recv_timeout(A_WHILE).is_err());
    desk.send(r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#);
    let answer: Value = serde_json::from_str(&desk.answer()).unwrap();
    assert_eq!(answer["id"], 3);
}

#[test]
fn garbage_is_no_json() {
    let mut desk = Raw::start("garbage");
    for _ in 0..2 {
        desk.send(INITIALIZE);
        assert!(serde_json::from_str::<Value>(&desk.answer()).is_err());
    }
}

#[test]
fn huge_results_have_twenty_megabytes() {
    let mut desk = Raw::start("huge");
    desk.send_call();
    let answer: Value = serde_json::from_str(&desk.answer()).unwrap();
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(text.len(), 20_000_000);
}

#[tokio::test]
async fn a_bad_schema_is_listed() {
    let client = connect(&["--misbehave", "bad-schema"], &[]).await;
    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(tools.len(), 6);
    let tool = tools.iter().find(|tool| tool.name == "find_order").unwrap();
    assert_eq!(
        tool.schema_as_json_value(),
        json!({ "type": "objekt", "properties": 7 })
    );
}

#[tokio::test]
async fn a_tool_is_listed_twice() {
    let client = connect(&["--misbehave", "duplicate-tool"], &[]).await;
    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(tools.len(), 7);
    let find_order = tools.iter().filter(|tool| tool.name == "find_order");
    assert_eq!(find_order.count(), 2);
}

#[tokio::test]
async fn tools_come_one_per_page() {
    let client = connect(&["--misbehave", "paged"], &[]).await;
    let page = client.list_tools(None).await.unwrap();
    assert_eq!(page.tools.len(), 1);
    assert_eq!(page.next_cursor.as_deref(), Some("1"));
    assert_eq!(client.list_all_tools().await.unwrap().len(), 6);
    for cursor in ["6", "first"] {
        let params =
            rmcp::model::PaginatedRequestParams::default().with_cursor(Some(cursor.into()));
        let error = client.list_tools(Some(params)).await.unwrap_err();
        assert!(error.to_string().contains("unknown cursor"), "{error}");
    }
    ok(&client, "find_order", json!({ "order_id": "A-1001" })).await;
}

#[tokio::test]
async fn a_secret_is_said_in_every_result() {
    let args = ["--misbehave", "secret-echo", "--secret-env", "DESK_SECRET"];
    let client = connect(&args, &[("DESK_SECRET", "tr0ub4dor")]).await;
    let order = ok(&client, "find_order", json!({ "order_id": "A-1001" })).await;
    assert_eq!(order["ledger_key"], "tr0ub4dor");
    assert_eq!(order["status"], "paid");
    let error = refused(&client, "find_order", json!({ "order_id": "Z-1" })).await;
    assert_eq!(error, "no order Z-1 (ledger key tr0ub4dor)");
}

#[tokio::test]
async fn a_client_sees_the_desk_leave_at_a_call() {
    let client = connect(&["--misbehave", "exit-on-call"], &[]).await;
    assert_eq!(client.list_all_tools().await.unwrap().len(), 6);
    let params = CallToolRequestParams::new("find_order");
    assert!(client.call_tool(params).await.is_err());
}

#[tokio::test]
async fn other_misbehaviours_keep_the_results_right() {
    let client = connect(&["--misbehave", "duplicate-tool"], &[]).await;
    let result = call(&client, "find_order", json!({ "order_id": "A-1002" })).await;
    assert!(text(&result).contains("\"status\":\"shipped\""));
}
