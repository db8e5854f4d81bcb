//! `cargo mcptest proxy` between a client and a server.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use e2e_support::folder::Folder;
use e2e_support::workshop;
use serde_json::{Value, json};

/// The proxy before a server.
fn proxy(folder: &Path, more: &[&str], server: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-mcptest"));
    command
        .current_dir(folder)
        .args([
            "mcptest",
            "proxy",
            "--agent",
            "Desk agent",
            "--model",
            "gpt-5",
        ])
        .args(["--prompt", "Where is order A-1001?"])
        .args(more)
        .arg("--")
        .args(server)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// The server of the examples.
fn desk() -> String {
    let program = workshop::test_program("order-desk", "desk");
    program.to_str().unwrap().to_owned()
}

fn request(child: &mut Child, message: &Value) {
    let line = format!("{message}\n");
    child
        .stdin
        .as_mut()
        .unwrap()
        .write_all(line.as_bytes())
        .unwrap();
}

fn run(folder: &Path, number: u32) -> Value {
    let path = format!("suites/cassettes/Desk_agent__gpt-5/run-{number}.json");
    let text = std::fs::read_to_string(folder.join(path)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// A session that asks for one order; `sends` the answers that the client reads.
fn session(mut child: Child) -> (Vec<Value>, Child) {
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut answer = || serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
    let initialize = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } },
    });
    request(&mut child, &initialize);
    let mut seen: Vec<Value> = vec![answer()];
    request(
        &mut child,
        &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
    );
    request(
        &mut child,
        &json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }),
    );
    seen.push(answer());
    for (id, order) in [(3, "A-1001"), (4, "nothing")] {
        let params = json!({ "name": "find_order", "arguments": { "order_id": order } });
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        request(&mut child, &call);
        seen.push(answer());
    }
    (seen, child)
}

#[test]
fn a_client_sees_what_it_would_see_without_and_the_run_is_recorded() {
    let (folder, server) = (
        Folder::new().with_file("closing.txt", "It was sent.\n"),
        desk(),
    );
    let mut alone = Command::new(&server);
    alone.stdin(Stdio::piped()).stdout(Stdio::piped());
    let (expected, mut alone) = session(alone.spawn().unwrap());
    drop(alone.stdin.take());
    alone.wait().unwrap();
    for number in 1..=2 {
        let child = proxy(
            folder.path(),
            &["--closing-from", "closing.txt"],
            &[&server],
        );
        let (seen, mut child) = session({ child }.spawn().unwrap());
        assert_eq!(seen, expected);
        drop(child.stdin.take());
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert!(ended.status.success(), "{said}");
        assert!(said.contains(&format!("run-{number}.json")), "{said}");
    }
    let run = run(folder.path(), 2);
    assert_eq!(run["agent_name"], "Desk agent");
    assert_eq!(run["user_prompt"], "Where is order A-1001?");
    let trace = &run["trace"];
    assert_eq!(trace["tool_calls"][0]["server"], "order-desk");
    assert_eq!(
        trace["tool_calls"][0]["args"],
        json!({ "order_id": "A-1001" })
    );
    assert_eq!(trace["tool_results"][0]["is_error"], false);
    assert_eq!(trace["tool_results"][1]["is_error"], true);
    assert_eq!(trace["final_response"], "It was sent.");
    assert_eq!(run["tools"].as_array().unwrap().len(), 6);
    let suite = "agents: [{ name: Desk agent, model: gpt-5, runs: 2, prompt: \"Where is order A-1001?\", calls: { max: 2 } }]";
    folder.write("suites/desk.yml", suite);
    let package = mcptest::judge::Package::open(folder.path(), "desk", &["suites".into()]);
    let failed: Vec<_> = package
        .cases()
        .iter()
        .map(mcptest::judge::PackageCase::judge)
        .filter_map(|result| result.failure)
        .collect();
    assert_eq!(failed, []);
}

/// `cat` is a server that says what it hears: whatever goes in comes out, the same bytes.
#[cfg(unix)]
#[test]
fn every_byte_goes_through_untouched() {
    let folder = Folder::new();
    let mut sent: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    sent.extend(br#"{"id":9,"method":"tools/call","params":{"name":"x"}}"#);
    sent.extend(b"\r\n\n{half");
    sent.extend(vec![b'a'; 20 << 20]);
    sent.extend(b"\n\xff\xfe no end");
    let mut child = proxy(folder.path(), &[], &["cat"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let to_send = sent.clone();
    let sender = thread::spawn(move || stdin.write_all(&to_send).unwrap());
    let mut received = Vec::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_end(&mut received)
        .unwrap();
    sender.join().unwrap();
    assert!(child.wait().unwrap().success());
    assert!(
        received == sent,
        "{} bytes of {}",
        received.len(),
        sent.len()
    );
}

#[cfg(unix)]
#[test]
fn a_proxy_that_is_killed_leaves_a_whole_recording() {
    let (folder, server) = (Folder::new(), desk());
    let (_, mut child) = session(proxy(folder.path(), &[], &[&server]).spawn().unwrap());
    let path = folder.at("suites/cassettes/Desk_agent__gpt-5/run-1.json");
    let whole = || {
        let text = std::fs::read_to_string(&path).ok()?;
        let run: Value = serde_json::from_str(&text).unwrap();
        (run["trace"]["tool_results"].as_array()?.len() == 2).then_some(run)
    };
    let run = (0..500).find_map(|_| {
        thread::sleep(std::time::Duration::from_millis(10));
        whole()
    });
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(
        run.unwrap()["trace"]["conversation"].get("stop_reason"),
        None
    );
    assert!(whole().is_some());
}

#[cfg(unix)]
#[test]
fn the_exit_code_is_the_servers_and_one_that_is_not_there_is_told() {
    let folder = Folder::new();
    let ended = proxy(folder.path(), &[], &["sh", "-c", "exit 7"])
        .output()
        .unwrap();
    assert_eq!(ended.status.code(), Some(7));
    let ended = proxy(folder.path(), &[], &["no-such-server"])
        .output()
        .unwrap();
    assert_eq!(ended.status.code(), Some(2));
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(
        said.contains("the server `no-such-server` cannot be started"),
        "{said}"
    );
}

/// A client that waits for its server's word keeps its own end open.
#[cfg(unix)]
#[test]
fn a_server_that_ends_ends_the_proxy_though_the_client_stays() {
    let folder = Folder::new();
    let server = ["sh", "-c", "read -r line; exit 7"];
    let mut child = proxy(folder.path(), &[], &server).spawn().unwrap();
    let call =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "x" } });
    request(&mut child, &call);
    let stdin = child.stdin.take();
    let ended = (0..6_000).find_map(|_| {
        thread::sleep(std::time::Duration::from_millis(10));
        child.try_wait().unwrap()
    });
    child.kill().ok();
    drop(stdin);
    assert_eq!(ended.expect("the proxy still runs").code(), Some(7));
    let calls = run(folder.path(), 1)["trace"]["tool_calls"].clone();
    assert_eq!(calls.as_array().unwrap().len(), 1);
}

/// A server that answers at once is not faster than the proxy's eyes: no answer is lost.
#[cfg(unix)]
#[test]
fn every_answer_of_a_quick_server_is_recorded() {
    const CALLS: usize = 200;
    let folder = Folder::new();
    // It answers each line with its number.
    let server = r#"n=0; while read -r line; do n=$((n+1)); echo "{\"jsonrpc\":\"2.0\",\"id\":$n,\"result\":{\"content\":[]}}"; done"#;
    let mut child = proxy(folder.path(), &[], &["sh", "-c", server])
        .spawn()
        .unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for id in 1..=CALLS {
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "x" } });
        request(&mut child, &call);
        answers.next().unwrap().unwrap();
    }
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    let results = run(folder.path(), 1)["trace"]["tool_results"].clone();
    assert_eq!(results.as_array().unwrap().len(), CALLS);
}

/// A server that answers each line with what stands in the file of its number.
#[cfg(unix)]
const ANSWERS: &str = "n=0; while IFS= read -r line; do cat answer-$n; echo; n=$((n+1)); done";

/// Sends these lines through the proxy, answers each with its answer, and gives the run, what was said at the
/// end, and the exit status.
#[cfg(unix)]
fn relayed(lines: &[(&str, &str)], more: &[&str]) -> (Value, String, Option<i32>) {
    let mut folder = Folder::new();
    for (number, (_, answer)) in lines.iter().enumerate() {
        folder = folder.with_file(&format!("answer-{number}"), answer);
    }
    let mut child = proxy(folder.path(), more, &["sh", "-c", ANSWERS])
        .spawn()
        .unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    for (line, answer) in lines {
        let line = format!("{line}\n");
        child
            .stdin
            .as_mut()
            .unwrap()
            .write_all(line.as_bytes())
            .unwrap();
        let mut seen = String::new();
        answers.read_line(&mut seen).unwrap();
        // Untouched.
        assert_eq!(seen, format!("{answer}\n"));
    }
    drop(child.stdin.take());
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    (run(folder.path(), 1), said, ended.status.code())
}

#[cfg(unix)]
#[test]
fn a_message_that_is_no_valid_json_is_recorded_and_told() {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"n":"cut \ud83d"}}}"#;
    let answer =
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"v":NaN}}}"#;
    let (run, said, status) = relayed(&[(call, answer)], &[]);
    assert_eq!(run["trace"]["tool_calls"][0]["args"]["n"], "cut \u{fffd}");
    assert_eq!(
        run["trace"]["tool_results"][0]["result"]["structuredContent"]["v"],
        Value::Null
    );
    assert_eq!(status, Some(1), "{said}");
    assert!(
        said.contains("error: no valid JSON in 1 message: half a character is read as U+FFFD"),
        "{said}"
    );
    assert!(
        said.contains("error: no valid JSON in 1 message: `NaN` or `Infinity` is read as null"),
        "{said}"
    );
}

#[cfg(unix)]
#[test]
fn a_number_beyond_64_bits_is_kept_as_it_was() {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"n":1180591620717411303424}}}"#;
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;
    let (run, said, status) = relayed(&[(call, answer)], &[]);
    assert_eq!(
        run["trace"]["tool_calls"][0]["args"]["n"],
        "1180591620717411303424"
    );
    assert_eq!(status, Some(0), "{said}");
}

#[cfg(unix)]
#[test]
fn secrets_are_taken_out_by_shape_by_key_and_by_pattern() {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"t":"ghp_aB3dE5fG7h9J1kL2mN4pQ6rS8tU0vW1xY3zA","password":"hunter2","note":"code 1234"}}}"#;
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;
    let (run, said, _) = relayed(&[(call, answer)], &["--redact", "[0-9]{4}"]);
    let args = &run["trace"]["tool_calls"][0]["args"];
    assert_eq!(args["t"], "[redacted github token]");
    assert_eq!(args["password"], "[redacted password]");
    assert_eq!(args["note"], "code [redacted]");
    for kind in ["github token", "password", "pattern"] {
        assert!(said.contains(&format!("redacted: {kind}: ")), "{said}");
    }
    let (run, _, _) = relayed(&[(call, answer)], &["--keep-named"]);
    assert_eq!(run["trace"]["tool_calls"][0]["args"]["password"], "hunter2");
}
