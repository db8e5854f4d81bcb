//! The MCP server of this workspace, and what most tests ask of it.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::folder::Folder;
use crate::process;
use crate::workshop;

/// The order desk, built once in a process.
pub fn order_desk() -> &'static PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| workshop::test_program("order-desk", "desk"))
}

/// The text with the path of the order desk for `ORDER_DESK`.
pub fn put_in_place(suite: &str) -> String {
    suite.replace("ORDER_DESK", &order_desk().to_string_lossy())
}

/// An agent that looks an order up and pays it back, twice.
pub const TWICE: &str = "\
servers:
  desk: { command: [ORDER_DESK] }
agents:
  - name: Refunds
    model: claude-sonnet-4-5
    servers: [desk]
    system_prompt: You work at the order desk.
    prompt: Pay order A-1003 back.
    runs: 2
    expect:
      - target: final_response
        matcher: { contains: RF-1 }
";

/// The place of its first run.
pub const FIRST: &str = "suites/cassettes/Refunds__claude-sonnet-4-5/run-1.json";
/// The place of the second.
pub const SECOND: &str = "suites/cassettes/Refunds__claude-sonnet-4-5/run-2.json";

/// The suite with another number of runs.
pub fn declaring(runs: usize) -> String {
    TWICE.replace("runs: 2", &format!("runs: {runs}"))
}

/// The place of a run of it.
pub fn run_path(run: usize) -> String {
    format!("suites/cassettes/Refunds__claude-sonnet-4-5/run-{run}.json")
}

/// What the model does in every run.
pub fn refunds() -> Value {
    script("Pay order A-1003 back.", &[refund("It is done: RF-1.")])
}

/// As many runs, each of which ends with other words.
pub fn refunds_that_differ(runs: usize) -> Value {
    let runs: Vec<Value> = (1..=runs)
        .map(|run| refund(&format!("Done for the {run}. time: RF-1.")))
        .collect();
    script("Pay order A-1003 back.", &runs)
}

/// One run: the order is looked up, paid back, and reported.
pub fn refund(closing: &str) -> Value {
    json!([
        { "calls": [{ "name": "desk__find_order", "args": { "order_id": "A-1003" } }] },
        { "calls": [{ "name": "desk__refund_order", "args": {
            "order_id": "{{result:desk__find_order:/order_id}}",
            "amount_cents": "{{result:desk__find_order:/total_cents}}",
        } }] },
        { "text": closing },
    ])
}

/// A script with one conversation.
pub fn script(user: &str, runs: &[Value]) -> Value {
    json!({
        "key": super::recording_crate::KEY,
        "conversations": [{ "user": user, "runs": runs }],
    })
}

/// A server over HTTP, until it is dropped.
pub struct HttpServer {
    process: Child,
    /// Where it is reached.
    pub url: String,
}

impl HttpServer {
    /// The order desk; with a bearer token, requests must carry it.
    pub fn desk(bearer: Option<&str>) -> Self {
        let folder = Folder::new();
        let mut command = process::command(order_desk(), folder.path());
        command.args(["--http", "127.0.0.1:0"]);
        if let Some(bearer) = bearer {
            command
                .args(["--bearer-env", "BEARER"])
                .env("BEARER", bearer);
        }
        Self::start(command)
    }

    /// Any server that says on its standard output where it listens.
    pub fn start(mut command: Command) -> Self {
        let mut process = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let url = line.trim().strip_prefix("listening on ").expect(&line);
        Self {
            process,
            url: url.to_owned(),
        }
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        // It may have ended by itself; either way it is gone afterwards.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
