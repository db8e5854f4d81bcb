//! Recordings that are killed at random moments: what was finished is kept, and what is there is whole.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use e2e_support::dice::Dice;
use e2e_support::folder::Folder;
use e2e_support::live::desk::HttpServer;
use e2e_support::process::run;
use mcptest::trace::{Origin, parse_run};
use serde_json::json;

use super::{asks, mcptest, provider, says, suite};

const RUNS: usize = 5;

/// How many recordings are killed, where `MCPTEST_KILLS` does not say.
const KILLS: usize = 20;

/// Marks what a recording starts, in its environment.
const MARK: &str = "MCPTEST_KILLS_MARK";

/// The runs that are kept, each with its bytes; each can be read.
fn kept(folder: &Folder) -> BTreeMap<String, Vec<u8>> {
    let runs = fs::read_dir(folder.at("suites/cassettes/Desk_agent__gpt-5"));
    let files = runs.into_iter().flatten().map(|file| file.unwrap().path());
    let runs = files.filter(|file| {
        let name = file.file_name().unwrap().to_string_lossy();
        name.starts_with("run-") && name.ends_with(".json")
    });
    runs.map(|file| {
        let bytes = fs::read(&file).unwrap();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        parse_run(&bytes, &Origin::file(&name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        (name, bytes)
    })
    .collect()
}

/// The processes that still run of what recordings started.
#[cfg(target_os = "linux")]
fn left_running(mark: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let wanted = format!("{MARK}={mark}");
    let is_ours = |folder: &std::path::Path| {
        let environment = fs::read(folder.join("environ")).unwrap_or_default();
        let mut variables = environment.split(|byte| *byte == 0);
        variables.any(|variable| variable == wanted.as_bytes())
    };
    let ours = processes
        .map(|process| process.path())
        .filter(|folder| is_ours(folder));
    // A process that ended and is not waited for has no command line.
    ours.map(|folder| fs::read(folder.join("cmdline")).unwrap_or_default())
        .filter(|line| !line.is_empty())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .collect()
}

#[cfg(not(target_os = "linux"))]
fn left_running(_: &str) -> Vec<String> {
    Vec::new()
}

#[test]
fn kills_at_random_moments_lose_no_finished_run_and_leave_no_half_file() {
    let kills: usize = std::env::var("MCPTEST_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    let far = HttpServer::desk(None);
    let mark = format!("{}-{:?}", std::process::id(), Instant::now());
    let mark: String = mark.chars().filter(char::is_ascii_alphanumeric).collect();
    let marked = suite(&far, "", &format!("  runs: {RUNS}\n"));
    let marked = marked.replace(
        "] }\n  far:",
        &format!("], env: {{ {MARK}: {mark} }} }}\n  far:"),
    );
    assert!(marked.contains(&mark), "{marked}");
    let folder = Folder::new().with_file("suites/desk.yml", marked);
    let one = json!([
        asks("desk__find_order", &json!({ "order_id": "A-1001" })),
        says("There.")
    ]);
    fs::create_dir(folder.at("temporary")).unwrap();
    let model = provider(&vec![one; RUNS * (kills + 10) * 2], &[]);
    let record = || {
        let mut command = mcptest(&folder, Some(&model), &["record"]);
        command
            .env(MARK, &mark)
            .env("TMPDIR", folder.at("temporary"));
        command
    };
    let started = Instant::now();
    run(&mut record()).exits(0);
    let whole = started.elapsed();
    fs::remove_dir_all(folder.at("suites/cassettes")).unwrap();
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let (mut done, mut between) = (0, 0);
    let mut before = BTreeMap::new();
    while done < kills {
        let mut command = record();
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        thread::sleep(dice.part_of(whole));
        let is_killed = child.try_wait().unwrap().is_none();
        if is_killed {
            // SIGKILL: nothing in it can put its things in order.
            child.kill().unwrap();
        }
        child.wait().unwrap();
        let runs = kept(&folder);
        for (name, bytes) in &before {
            assert_eq!(runs.get(name), Some(bytes), "{name} is lost or another one");
        }
        done += usize::from(is_killed);
        between += usize::from(is_killed && !runs.is_empty() && runs.len() < RUNS);
        before = runs;
        if before.len() == RUNS {
            fs::remove_dir_all(folder.at("suites/cassettes")).unwrap();
            before.clear();
        }
    }
    eprintln!(
        "{done} kills, {between} of them between two runs; a whole recording takes {whole:?}"
    );
    // The rest is recorded, and what was there stays.
    run(&mut record()).exits(0);
    let runs = kept(&folder);
    assert_eq!(runs.len(), RUNS);
    assert!(
        before
            .iter()
            .all(|(name, bytes)| runs.get(name) == Some(bytes))
    );
    run(&mut mcptest(&folder, None, &["test"])).exits(0);
    let gone = || {
        (0..50).any(|_| {
            thread::sleep(Duration::from_millis(100));
            left_running(&mark).is_empty()
        })
    };
    assert!(gone(), "{:?}", left_running(&mark));
    // Neither is the file that told the agent where its servers were.
    let temporary = fs::read_dir(folder.at("temporary")).unwrap().flatten();
    let files = temporary.map(|file| file.path());
    let is_config = |file: &PathBuf| file.extension().is_some_and(|end| end == "json");
    let left: Vec<PathBuf> = files.filter(is_config).collect();
    assert!(left.is_empty(), "{left:?}");
    if done >= 20 {
        assert!(between > 0, "no kill fell between two runs");
    }
}
