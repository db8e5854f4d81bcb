//! An agent that is a program, whose tool tells the session what it does over a plain socket: it runs once for each recorded
//! run, and never while that is played. What it did for real is counted in a file.
//! The agent is this executable, started as a program once more; `AGENT_CHANGE` says how its code was changed.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::fs::OpenOptions;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;

use e2e_support::folder::Folder;
use e2e_support::process::{Finished, command, run};
use scripted_provider::{Provider, Script};
use serde_json::{Value, json};

const KEY: &str = "sk-test-own-tools-83a1c";

/// One of the two requests of the door: what it answers, where that is an answer.
fn door(what: &str, request: &Value) -> Option<Value> {
    let url = std::env::var("MCPTEST_TOOLS").unwrap();
    let (host, path) = url
        .strip_prefix("http://")
        .unwrap()
        .split_once('/')
        .unwrap();
    let body = request.to_string();
    let mut socket = TcpStream::connect(host).ok()?;
    write!(
        socket,
        "POST /{path}/{what} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let is_answer = head.starts_with("HTTP/1.1 200 ");
    is_answer.then(|| serde_json::from_str(body).unwrap())
}

/// The tool that pays, as it runs for real.
fn pays(order: u64) -> Result<Value, String> {
    let file = std::env::var("EFFECTS").unwrap();
    let file = OpenOptions::new().create(true).append(true).open(file);
    writeln!(file.unwrap(), "paid {order}").unwrap();
    match order {
        8 => Err("order 8 is closed".to_owned()),
        order => Ok(json!({ "paid": order })),
    }
}

/// The tool, below its door.
fn refund(order: u64, id: &str) -> Result<Value, String> {
    let call = json!({ "name": "refund", "args": { "order": order }, "call_id": id });
    let answer = door("call", &call).ok_or("the door is gone")?;
    if let Some(error) = answer.get("error") {
        return Err(error["text"].as_str().unwrap().to_owned());
    }
    let Some(run) = answer["run"].as_str() else {
        return Ok(answer["result"].clone());
    };
    let ran = pays(order);
    let done = match &ran {
        Ok(value) => json!({ "run": run, "result": value }),
        Err(text) => json!({ "run": run, "error": { "type": "Closed", "text": text } }),
    };
    door("done", &done).unwrap();
    ran
}

#[test]
#[ignore = "the agent of the other tests, which they start"]
fn agent() {
    let Ok(base) = std::env::var("OPENAI_BASE_URL") else {
        return;
    };
    let change = std::env::var("AGENT_CHANGE").unwrap_or_default();
    let key = std::env::var("OPENAI_API_KEY").unwrap_or_default();
    let schema = json!({ "type": "object", "properties": { "order": { "type": "integer" } } });
    let tools =
        json!([{ "type": "function", "function": { "name": "refund", "parameters": schema } }]);
    let mut messages = vec![json!({ "role": "user", "content": "Refund 7 and 8." })];
    loop {
        let body = json!({ "model": "gpt-5", "messages": messages, "tools": tools });
        let mut answer = ureq::post(format!("{base}/chat/completions"))
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {key}"))
            .send(body.to_string())
            .unwrap();
        let answer = answer.body_mut().read_to_string().unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let message = answer["choices"][0]["message"].clone();
        messages.push(message.clone());
        let Some(calls) = message["tool_calls"].as_array() else {
            println!("{}", message["content"].as_str().unwrap());
            return;
        };
        for call in calls {
            let id = call["id"].as_str().unwrap();
            let args = call["function"]["arguments"].as_str().unwrap();
            let args: Value = serde_json::from_str(args).unwrap();
            let mut order = args["order"].as_u64().unwrap();
            if change == "another order is paid" && order == 7 {
                order = 70;
            }
            let ran = match change.as_str() {
                "the tool is not called" if order == 7 => Ok(json!({ "paid": 7 })),
                _ => refund(order, id),
            };
            let told = match ran {
                // The code tells the model as if the right one had been paid.
                _ if order == 70 => json!({ "paid": 7 }).to_string(),
                Ok(value) => value.to_string(),
                Err(text) => format!("Error: {text}"),
            };
            messages.push(json!({ "role": "tool", "tool_call_id": id, "content": told }));
        }
    }
}

fn suite() -> String {
    let agent = std::env::current_exe().unwrap();
    let program = json!([
        agent.display().to_string(),
        "--exact",
        "agent",
        "--ignored",
        "--nocapture"
    ]);
    format!(
        "agents:\n- name: Refund agent\n  model: gpt-5\n  prompt: Refund 7 and 8.\n  runs: 2\n  command: {program}\n  \
         trajectory: {{ mode: superset, calls: [{{ name: refund }}, {{ name: refund }}] }}\n  playback: {{}}\n"
    )
}

fn mcptest(folder: &Folder, effects: &Folder, change: &str, arguments: &[&str]) -> Command {
    let mut command: Command = command(env!("CARGO_BIN_EXE_cargo-mcptest"), folder.path());
    command.arg("mcptest").args(arguments);
    command
        .env("AGENT_CHANGE", change)
        .env("EFFECTS", effects.path().join("effects"))
        .env("OPENAI_API_KEY", KEY);
    command
}

/// How often the tool ran.
fn count(effects: &Folder) -> usize {
    let all = std::fs::read_to_string(effects.path().join("effects"));
    all.unwrap_or_default().lines().count()
}

fn script() -> Script {
    let call = |order: u32| json!({ "name": "refund", "args": { "order": order } });
    let usage = json!({ "prompt": 100, "completion": 10 });
    let asks = |calls: Value| json!({ "calls": calls, "usage": usage });
    let says = |text: &str| json!({ "text": text, "usage": usage });
    let at_once = [asks(json!([call(7), call(8)])), says("7 is refunded.")];
    let in_turn = [
        asks(json!([call(7)])),
        asks(json!([call(8)])),
        says("7 is."),
    ];
    let runs = json!([at_once, in_turn]);
    let script = json!({ "key": KEY, "conversations": [{ "user": "Refund 7 and 8.", "model": "gpt-5", "runs": runs }] });
    Script::from_json(&script.to_string()).unwrap()
}

#[test]
fn a_tool_runs_once_for_each_recorded_run_and_never_while_it_is_played() {
    let effects = Folder::new();
    let folder = Folder::new().with("suites/refunds.yml", suite());
    let model = Provider::start(script()).unwrap();
    let mut record = mcptest(&folder, &effects, "", &["record"]);
    record.env("OPENAI_BASE_URL", format!("{}/v1", model.url()));
    run(&mut record).exits(0);
    // A record tries its recordings.
    assert_eq!(count(&effects), 4);
    let plays = |folder: &Folder, change: &str| -> Finished {
        run(&mut mcptest(
            folder,
            &effects,
            change,
            &["test", "::playback"],
        ))
    };
    plays(&folder, "").exits(0);
    for (change, told) in [
        ("another order is paid", "`order` is 70 and was 7"),
        (
            "the tool is not called",
            "the code does not make the recorded call of the tool `refund`",
        ),
    ] {
        let red = plays(&folder, change).exits(101);
        assert!(red.stdout.contains(told), "{change}\n{red}");
    }
    assert_eq!(count(&effects), 4);
    // The gates judge with what the tool said of itself.
    let recorded = folder.path().join("suites/cassettes");
    let files = walk(&recorded);
    assert_eq!(files.len(), 2);
    for file in files {
        let cassette: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let results = cassette["trace"]["tool_results"].as_array().unwrap().iter();
        let failed = results.map(|result| result["is_error"].as_bool().unwrap());
        assert_eq!(failed.collect::<Vec<_>>(), [false, true]);
    }
}

/// The recordings below a folder.
fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let all = entries.flat_map(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path)
        } else {
            vec![path]
        }
    });
    all.filter(|path| path.extension().is_some_and(|it| it == "json"))
        .collect()
}
