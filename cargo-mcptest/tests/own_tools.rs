//! An agent that is a program, whose tool tells the session what it does over a plain socket: it runs once for each recorded
//! run, and never while that is played. What it did for real is counted in a file.
//! The agent is this executable, started as a program once more; `AGENT_CHANGE` says how its code was changed.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod support;

use std::fs::OpenOptions;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;

use e2e_support::folder::Folder;
use e2e_support::process::{Finished, command, run};
use scripted_provider::{Provider, Script};
use serde_json::{Value, json};
use support::agent;

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
    if std::env::var_os("OPENAI_BASE_URL").is_none() {
        return;
    }
    let change = std::env::var("AGENT_CHANGE").unwrap_or_default();
    let schema = json!({ "type": "object", "properties": { "order": { "type": "integer" } } });
    let tools =
        json!([{ "type": "function", "function": { "name": "refund", "parameters": schema } }]);
    let mut messages = vec![json!({ "role": "user", "content": "Refund 7 and 8." })];
    loop {
        let body = json!({ "model": "gpt-5", "messages": messages, "tools": tools });
        let message = agent::ask(&body);
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
    suite_with("", "  playback: {}\n")
}

/// The suite with more above its agent, and below.
fn suite_with(above: &str, below: &str) -> String {
    let program = json!(agent::program("agent"));
    format!(
        "{above}agents:\n- name: Refund agent\n  model: gpt-5\n  prompt: Refund 7 and 8.\n  runs: 2\n  command: {program}\n  \
         trajectory: {{ mode: superset, calls: [{{ name: refund }}, {{ name: refund }}] }}\n{below}"
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
    let folder = Folder::new().with_file("suites/refunds.yml", suite());
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

/// Records an agent with this suite, all runs anew.
fn records(folder: &Folder, effects: &Folder, suite: String) -> Finished {
    folder.write("suites/refunds.yml", suite);
    let model = Provider::start(script()).unwrap();
    let mut record = mcptest(folder, effects, "", &["record", "--all"]);
    record.env("OPENAI_BASE_URL", format!("{}/v1", model.url()));
    run(&mut record)
}

/// The recorded runs.
fn cassettes(folder: &Folder) -> Vec<Value> {
    let files = walk(&folder.path().join("suites/cassettes")).into_iter();
    let read = files.map(|file| serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap());
    read.collect()
}

#[test]
fn what_the_suite_answers_runs_neither_while_recording_nor_while_playing() {
    let (effects, folder) = (Folder::new(), Folder::new());
    let answers =
        |entries: &str| suite_with("", &format!("  answers: [{entries}]\n  playback: {{}}\n"));
    let closed =
        "{ tool: refund, when: { order: 8 }, error: { type: Closed, text: order 8 is closed } }";
    let paid = "{ tool: refund, result: { paid: 7 } }";
    let both = answers(&format!("{closed}, {paid}"));
    records(&folder, &effects, both.clone()).exits(0);
    assert_eq!(count(&effects), 0);
    for cassette in cassettes(&folder) {
        let trace = &cassette["trace"];
        for (call, failed) in [(0, false), (1, true)] {
            assert_eq!(trace["tool_calls"][call]["own"]["by"], "suite");
            assert_eq!(trace["tool_results"][call]["is_error"], failed);
        }
        assert_eq!(cassette["session"]["answers"]["used"], json!([1, 1]));
    }
    let judged = |suite: String, told: &str| {
        folder.write("suites/refunds.yml", suite);
        let red = run(&mut mcptest(&folder, &effects, "", &["test"])).exits(101);
        assert!(red.stdout.contains(told), "{told}\n{red}");
    };
    // Other answers are answers that the runs were not recorded with.
    let stale = "stale: recorded with other answers";
    judged(
        answers(&format!(
            "{closed}, {{ tool: refund, result: {{ paid: 70 }} }}"
        )),
        stale,
    );
    judged(suite_with("", "  playback: {}\n"), stale);
    let misspelt = format!("  answers: [{closed}, {paid}]\n  playback: {{ run: [charge_back] }}\n");
    judged(
        suite_with("", &misspelt),
        "`playback` names `charge_back`, and the recordings know no such tool",
    );
    folder.write("suites/refunds.yml", both);
    run(&mut mcptest(&folder, &effects, "", &["test"])).exits(0);
    // An answer that no run used is told.
    let unused = answers(&format!("{closed}, {paid}, {{ tool: charge, result: 1 }}"));
    let red = records(&folder, &effects, unused).exits(1);
    for told in [
        "no recorded run used this answer of `charge`: result 1",
        "no run calls `charge` as a tool of the agent's own",
    ] {
        assert!(red.stdout.contains(told), "{told}\n{red}");
    }
    // A call that no entry fits fails, and the tool does not run.
    records(&folder, &effects, answers(closed));
    let [first, ..] = &cassettes(&folder)[..] else {
        panic!("no recording");
    };
    let told = first["trace"]["tool_results"][0].to_string();
    assert!(
        told.contains("has no entry for this call of `refund`"),
        "{told}"
    );
    assert_eq!(count(&effects), 0);
    // Nobody else's recorder knows tools of the agent's own.
    let without = answers(&format!("{closed}, {paid}"));
    let command = without.lines().find(|line| line.starts_with("  command:"));
    let without = without.replace(&format!("{}\n", command.unwrap()), "");
    let without = without.replace("  playback: {}\n", "");
    folder.write("suites/refunds.yml", without);
    let mut test = mcptest(&folder, &effects, "", &["test"]);
    let red = run(test.env("MCPTEST_RECORD", "all")).exits(101);
    let told =
        "`answers:` are for tools of the agent's own code, and no code of this agent is run here";
    assert!(red.stdout.contains(told), "{red}");
    // Here the tool runs: once for each call of two runs.
    let runs = answers(&format!("{closed}, {{ tool: refund, run: true }}"));
    records(&folder, &effects, runs).exits(0);
    assert_eq!(count(&effects), 2);
}

#[test]
fn a_fault_strikes_an_own_tool_and_recovery_judges_it() {
    let (effects, folder) = (Folder::new(), Folder::new());
    let with = |target: &str| {
        let faults = format!("faults: [{{ name: hung, target: {target}, kind: hang }}]\n");
        suite_with(
            &faults,
            "  inject: [hung]\n  recovery: {}\n  playback: {}\n",
        )
    };
    records(&folder, &effects, with("{ tool: refund }")).exits(0);
    assert_eq!(count(&effects), 0);
    for cassette in cassettes(&folder) {
        for result in cassette["trace"]["tool_results"].as_array().unwrap() {
            assert_eq!(
                result["synthesized"],
                json!({ "fault": "hung", "kind": "hang" })
            );
            assert_eq!(result["is_error"], true);
        }
    }
    run(&mut mcptest(&folder, &effects, "", &["test"])).exits(0);
    // A fault of a server never means a tool of the agent's own.
    let red = records(&folder, &effects, with("{ tool: refund, server: desk }")).exits(1);
    let told =
        "a fault is for the MCP server `desk`, and the suite declares no server of this agent";
    assert!(red.stdout.contains(told), "{red}");
    assert_eq!(count(&effects), 0);
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
