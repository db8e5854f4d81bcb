//! Paths of the command: what is imported, and what is reported.

mod foreign;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Row;
use crate::calls::cassette;

const MANIFEST: &str = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[lib]\npath = \"lib.rs\"\n\n[workspace]\n";

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Runs the command in a folder; whatever it finds, it ends.
fn command(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-mcptest"));
    command.arg("mcptest").args(arguments).current_dir(folder);
    let ended = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(
        ended.code().is_some_and(|status| status < 2),
        "{arguments:?}: {ended}"
    );
}

/// A package of agents, each with its runs.
fn package(agents: usize, runs: &[Value]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let entry = |agent: usize| {
        format!(
            "- {{ name: a{agent}, model: m, prompt: Cancel all., runs: {}, calls: {{ max: 1 }}, expect: [{{ target: truncated, matcher: {{ exact: true }} }}] }}\n",
            runs.len()
        )
    };
    let suite: String = (0..agents).map(entry).collect();
    write(folder.path(), "Cargo.toml", MANIFEST);
    write(folder.path(), "lib.rs", "");
    write(folder.path(), "suites/s.yml", &format!("agents:\n{suite}"));
    for agent in 0..agents {
        let lines: String = runs.iter().map(|run| format!("{run}\n")).collect();
        write(
            folder.path(),
            &format!("suites/cassettes/a{agent}__m.jsonl"),
            &lines,
        );
    }
    folder
}

/// So many runs of few calls that differ.
fn short_runs(count: usize) -> Vec<Value> {
    let run = |number: usize| {
        let mut run = cassette(6);
        run["trace"]["final_response"] = format!("Run {number} is done.").into();
        run
    };
    (0..count).map(run).collect()
}

/// Imports a file into a folder that is new each time.
fn imports(text: String) -> Box<dyn FnMut()> {
    Box::new(move || {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "log.jsonl", &text);
        command(
            folder.path(),
            &["import", "log.jsonl", "--suite", "suites/x.yml", "--jsonl"],
        );
    })
}

/// A talk of so many calls, as chats are logged.
fn talk(number: usize, calls: usize) -> Value {
    let mut messages = vec![json!({ "role": "user", "content": format!("Do task {number}.") })];
    for call in 0..calls {
        let function = json!({ "name": "find", "arguments": json!({ "n": call }).to_string() });
        messages.push(json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": format!("c{call}"), "type": "function", "function": function }] }));
        messages.push(json!({ "role": "tool", "tool_call_id": format!("c{call}"), "content": format!("{call} found") }));
    }
    messages.push(json!({ "role": "assistant", "content": "Done." }));
    json!({ "model": "m", "messages": messages })
}

/// A session of Claude Code with so many sub-agents, each of which makes a call.
fn sub_agents(count: usize) -> Box<dyn FnMut()> {
    let line = |number: usize, more: Value| {
        let mut line = json!({ "sessionId": "s", "uuid": format!("u{number}"), "timestamp": format!("2026-01-01T00:{:02}:{:02}.{:03}Z", number / 60_000 % 60, number / 1_000 % 60, number % 1_000) });
        line.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        format!("{line}\n")
    };
    let says = |id: String, content: Value| json!({ "type": "assistant", "message": { "id": id, "role": "assistant", "model": "m", "content": [content] } });
    let asks =
        |text: String| json!({ "type": "user", "message": { "role": "user", "content": text } });
    let mut text = line(0, asks("Do all.".to_owned()));
    for agent in 0..count {
        let first = 4 * agent + 1;
        let call = json!({ "type": "tool_use", "id": format!("t{agent}"), "name": "find", "input": { "n": agent } });
        let mut own = [
            asks(format!("Do {agent}.")),
            says(format!("m{agent}"), call),
        ];
        for one in &mut own {
            one["isSidechain"] = true.into();
            one["agentId"] = format!("a{agent}").into();
        }
        let main = says(
            format!("n{agent}"),
            json!({ "type": "text", "text": format!("{agent} is done.") }),
        );
        for (place, one) in own.into_iter().chain([main]).enumerate() {
            text += &line(first + place, one);
        }
    }
    imports(text)
}

/// The steps of one conversation, each logged with all messages before it: what it holds grows with its square.
fn steps(calls: usize) -> String {
    let whole = talk(0, calls);
    let messages = whole["messages"].as_array().unwrap();
    let answers = (0..messages.len()).filter(|at| messages[*at]["role"] == "assistant");
    let lines = answers.map(|at| {
        let choice = json!({ "index": 0, "message": messages[at], "finish_reason": "stop" });
        let response = json!({ "object": "chat.completion", "id": format!("r{at}"), "model": "m", "choices": [choice] });
        format!("{}\n", json!({ "request": { "model": "m", "messages": messages[..at] }, "response": response }))
    });
    lines.collect()
}

pub(crate) fn rows() -> Vec<Row> {
    let mut rows = vec![
        Row::new("import of records", "records", 250, |records| {
            imports(
                (0..records)
                    .map(|number| format!("{}\n", talk(number, 2)))
                    .collect(),
            )
        }),
        Row::new(
            "import of records of one agent",
            "records",
            250,
            |records| {
                let same = |number: usize| {
                    let mut talk = talk(0, 2);
                    talk["messages"][2]["content"] = format!("{number} found").into();
                    format!("{talk}\n")
                };
                imports((0..records).map(same).collect())
            },
        ),
        Row::new("import of a long record", "calls", 1_000, |calls| {
            imports(format!("{}\n", talk(0, calls)))
        }),
        Row::new(
            "import of steps of one talk, by its bytes",
            "bytes",
            400_000,
            |bytes| imports(steps((bytes / 110).isqrt())),
        ),
        Row::new("import of an evaluation", "results", 250, |results| {
            let result = |number: usize| {
                let prompt = json!({ "raw": format!("Do task {number}.") });
                json!({ "promptIdx": 0, "testIdx": number, "provider": { "id": "m" }, "prompt": prompt, "success": true,
                    "response": { "output": "Done." } })
            };
            let results: Vec<Value> = (0..results).map(result).collect();
            imports(json!({ "results": { "results": results } }).to_string())
        }),
        Row::new("import of sub-agents", "agents", 250, sub_agents),
        Row::new("explain", "agents", 50, |agents| {
            let folder = package(agents, &short_runs(2));
            Box::new(move || command(folder.path(), &["explain"]))
        }),
        Row::new("report of a page, of agents", "agents", 50, |agents| {
            let folder = package(agents, &short_runs(2));
            Box::new(move || command(folder.path(), &["report", "--format", "html"]))
        }),
        Row::new("report of a page, of runs", "runs", 50, |runs| {
            let folder = package(1, &short_runs(runs));
            Box::new(move || command(folder.path(), &["report", "--format", "html"]))
        }),
        Row::new("report of a page, of a long run", "calls", 1_000, |calls| {
            let folder = package(1, &[cassette(calls)]);
            Box::new(move || command(folder.path(), &["report", "--format", "html"]))
        }),
        Row::new("report of JUnit", "agents", 50, |agents| {
            let folder = package(agents, &short_runs(2));
            Box::new(move || command(folder.path(), &["report", "--format", "junit"]))
        }),
        Row::new("validate", "agents", 50, |agents| {
            let folder = package(agents, &short_runs(2));
            Box::new(move || command(folder.path(), &["validate"]))
        }),
    ];
    rows.extend(foreign::rows());
    rows.into_iter().map(Row::in_a_process).collect()
}
