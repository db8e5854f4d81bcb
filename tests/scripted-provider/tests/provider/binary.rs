//! The program, and what it and the library write down.

use std::{
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{OPENAI_HEADERS, chat, play, send, user};

const PROGRAM: &str = env!("CARGO_BIN_EXE_scripted-provider");

const SCRIPT: &str = r#"{ "conversations": [{ "user": "go", "runs": [[{ "text": "Hello." }]] }] }"#;

fn file(directory: &TempDir, name: &str, content: &str) -> PathBuf {
    let path = directory.path().join(name);
    std::fs::write(&path, content).unwrap();
    path
}

fn spawn(args: &[&str], script: &Path) -> Child {
    Command::new(PROGRAM)
        .arg(script)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn it_says_where_it_listens_logs_and_ends_with_its_input() {
    let directory = TempDir::new().unwrap();
    let log = file(&directory, "log.jsonl", "old");
    let args = ["--log", log.to_str().unwrap(), "--until-stdin-closes"];
    let mut child = spawn(&args, &file(&directory, "script.json", SCRIPT));
    let mut line = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut line).unwrap();
    let url = line.trim_end().strip_prefix("listening on ").unwrap();
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");

    let body = json!({ "model": "m", "messages": [user("go")] });
    let answer = send(
        &format!("{url}/chat/completions"),
        OPENAI_HEADERS,
        &body.to_string(),
    );
    assert_eq!(
        answer.unwrap().ok()["choices"][0]["message"]["content"],
        "Hello."
    );

    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
    let logged = std::fs::read_to_string(log).unwrap();
    let logged: Value = serde_json::from_str(&logged).unwrap();
    assert_eq!(logged["method"], "POST");
    assert_eq!(logged["path"], "/chat/completions");
    assert_eq!(logged["body"], body);
    let headers = logged["headers"].as_array().unwrap();
    assert!(headers.contains(&json!(["authorization", "Bearer test-key"])));
}

#[test]
fn it_names_what_is_wrong() {
    let directory = TempDir::new().unwrap();
    for (args, script, code, message) in [
        (
            vec!["--port", "x"],
            SCRIPT,
            2,
            "scripted-provider: \"x\" is no port\nusage: ",
        ),
        (
            vec!["--quiet"],
            SCRIPT,
            2,
            "scripted-provider: unknown flag --quiet\nusage: ",
        ),
        (
            vec![],
            "{}",
            1,
            "missing field `conversations` at line 1 column 2\n",
        ),
    ] {
        let script = file(&directory, "script.json", script);
        let output = spawn(&args, &script).wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        assert!(stderr.contains(message), "{stderr}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn the_library_keeps_what_it_saw_and_stops_on_drop() {
    let provider = play(&json!([{ "text": "Hello." }]));
    chat(&provider, &json!([user("go")])).ok();
    chat(&provider, &json!([])).error(400);
    let seen = provider.requests();
    assert_eq!(seen.len(), 2);
    assert_eq!(
        (seen[0].method.as_str(), seen[0].path.as_str()),
        ("POST", "/v1/chat/completions")
    );
    assert_eq!(seen[0].header("authorization"), Some("Bearer test-key"));
    assert_eq!(seen[0].header("x-api-key"), None);
    assert_eq!(seen[0].json()["messages"], json!([user("go")]));

    let url = format!("{}/chat/completions", provider.url());
    drop(provider);
    assert!(send(&url, OPENAI_HEADERS, "{}").is_err());
}
