//! Many runs recorded and played by one command: files, threads and processes do not add up, and none is left.
//!
//! `MCPTEST_SOAK` says how many runs; without it 120.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use e2e_support::folder::{Folder, collect};
use e2e_support::process::command;
use scripted_provider::{Provider, Script};
use serde_json::{Value, json};

/// What authorises with the scripted provider.
const KEY: &str = "sk-test-soak-1b7c3";

/// The agent: it asks the model once.
#[test]
#[ignore = "the agent of the other test, which it starts"]
fn agent() {
    let base = std::env::var("OPENAI_BASE_URL").unwrap();
    let prompt = std::env::var("MCPTEST_PROMPT").unwrap();
    let key = std::env::var("OPENAI_API_KEY").unwrap();
    let body = json!({ "model": "gpt-5", "messages": [{ "role": "user", "content": prompt }] });
    let answer = ureq::post(format!("{base}/chat/completions"))
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {key}"))
        .send(body.to_string());
    let answer = answer.unwrap().body_mut().read_to_string().unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert!(answer["choices"][0]["message"]["content"].is_string());
}

fn runs() -> usize {
    std::env::var("MCPTEST_SOAK").map_or(120, |count| count.parse().unwrap())
}

/// The most open files and threads that a process had, in the first half of its samples and in the second.
fn most(samples: &[(usize, usize)]) -> [(usize, usize); 2] {
    let (first, second) = samples.split_at(samples.len() / 2);
    [first, second].map(|half| {
        let files = half.iter().map(|(files, _)| *files).max();
        let threads = half.iter().map(|(_, threads)| *threads).max();
        (files.unwrap(), threads.unwrap())
    })
}

/// Runs the command to its end, and looks at its process meanwhile.
fn soaked(folder: &Path, provider: &Provider, word: &str) {
    let tmp = folder.join("tmp");
    let mut line = command(env!("CARGO_BIN_EXE_cargo-mcptest"), folder);
    let mut running = line
        .args(["mcptest", word])
        .env("OPENAI_BASE_URL", format!("{}/v1", provider.url()))
        .env("OPENAI_API_KEY", KEY)
        .env("TMPDIR", &tmp)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut samples = Vec::new();
    let status = loop {
        if let Some(status) = running.try_wait().unwrap() {
            break status;
        }
        let of = |what: &str| {
            let folder = format!("/proc/{}/{what}", running.id());
            fs::read_dir(folder).map_or(0, Iterator::count)
        };
        samples.push((of("fd"), of("task")));
        sleep(Duration::from_millis(2));
    };
    assert!(status.success(), "{word}: {status}");
    let [first, second] = most(&samples);
    println!(
        "{word}: {first:?} files and threads at most in the first half, {second:?} in the second"
    );
    // A file that every run left open would be half as many as there are runs. How many runs are under way at a
    // moment differs, and each has a dozen files open.
    let some = runs() / 4;
    assert!(second.0 <= first.0 + some, "{word}: {first:?}, {second:?}");
    assert!(second.1 <= first.1 + some, "{word}: {first:?}, {second:?}");
    let left: Vec<String> = collect(&tmp)
        .into_keys()
        .filter(|file| !file.starts_with("mcptest-locks/"))
        .collect();
    assert!(left.is_empty(), "{word}: {left:?}");
    let left = processes_in(&tmp);
    assert!(left.is_empty(), "{word}: {left:?}");
}

/// The processes that have this folder for temporary files, besides those that have ended.
fn processes_in(tmp: &Path) -> Vec<String> {
    let wanted = format!("TMPDIR={}", tmp.display());
    let all = fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|process| {
        let environment = fs::read(process.path().join("environ")).ok()?;
        let environment = String::from_utf8_lossy(&environment).into_owned();
        let is_ours = environment.split('\0').any(|variable| variable == wanted);
        is_ours.then(|| process.file_name().to_string_lossy().into_owned())
    })
    .collect()
}

#[test]
fn many_runs_leave_nothing_behind() {
    let runs = runs();
    let says = |run: usize| json!([{ "text": format!("Hello for the {run}. time."), "usage": { "prompt": 9, "completion": 5 } }]);
    let script = json!({ "key": KEY, "conversations": [{
        "user": "Hello.", "model": "gpt-5", "runs": (1..=runs).map(says).collect::<Vec<_>>(),
    }] });
    let provider = Provider::start(Script::from_json(&script.to_string()).unwrap()).unwrap();
    let program = std::env::current_exe().unwrap().display().to_string();
    let program = json!([program, "--exact", "agent", "--ignored", "--nocapture"]);
    let suite = format!(
        "agents:\n- name: Greeter\n  model: gpt-5\n  prompt: Hello.\n  runs: {runs}\n  command: {program}\n  \
         expect: [{{ target: final_response, matcher: {{ contains: Hello }} }}]\n"
    );
    let folder = Folder::new().with_file("suites/greeter.yml", suite);
    fs::create_dir(folder.at("tmp")).unwrap();
    soaked(folder.path(), &provider, "record");
    let recorded = collect(&folder.at("suites/cassettes"));
    assert_eq!(recorded.len(), runs, "{:?}", recorded.keys());
    soaked(folder.path(), &provider, "play");
}
