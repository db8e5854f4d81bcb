//! `cargo mcptest record --changed`: the agents whose code does something else now are recorded anew, and no others.
//! The agent is this executable, started as a program once more; `AGENT_CHANGE` says how its code was changed.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use e2e_support::folder::{Folder, collect};
use e2e_support::process::{Finished, command, run};
use scripted_provider::{Provider, Script};
use serde_json::{Value, json};
use support::agent;

/// What authorises with the scripted provider.
const KEY: &str = "sk-test-changed-41c9a";

/// The agents; in the second run of the first two, the model calls a tool.
const AGENTS: [&str; 4] = ["Ann", "Bob", "Cid", "Dan"];

/// The agent: it offers the tool `refund` once it has looked an order up, so that only some runs show its text.
#[test]
#[ignore = "the agent of the other tests, which they start"]
fn agent() {
    if std::env::var_os("OPENAI_BASE_URL").is_none() {
        return;
    }
    let change = std::env::var("AGENT_CHANGE").unwrap_or_default();
    let change = |name: &str| change.split(", ").any(|one| one == name);
    if change("dies at once") {
        eprintln!("No module named 'openai'");
        std::process::exit(3);
    }
    let records = std::env::var("MCPTEST_MODE").unwrap() == "record";
    if let Ok(log) = std::env::var("AGENT_LOG")
        && records
    {
        let mut options = fs::OpenOptions::new();
        let file = options.create(true).append(true).open(&log);
        file.unwrap().write_all(b"run\n").unwrap();
        let hangs = std::env::var("AGENT_HANGS_IN").unwrap_or_default();
        let runs = fs::read_to_string(&log).unwrap().lines().count();
        if hangs == runs.to_string() {
            fs::write(format!("{log}.hangs"), "").unwrap();
            sleep(Duration::from_mins(10));
        }
    }
    if let Ok(played) = std::env::var("AGENT_PLAYED")
        && !records
    {
        let mut options = fs::OpenOptions::new();
        let file = options.create(true).append(true).open(played);
        file.unwrap().write_all(b"played\n").unwrap();
    }
    let text = match () {
        () if change("a tool's text") => "Pays an order back at once.",
        () if change("another text") => "Pays.",
        () => "Pays an order back.",
    };
    let tool = |name: &str, text: &str| {
        let schema = json!({ "type": "object", "properties": { "order": { "type": "integer" } } });
        json!({ "type": "function", "function": { "name": name, "description": text, "parameters": schema } })
    };
    let mut tools = vec![tool("get_order", "Looks an order up.")];
    let mut messages =
        vec![json!({ "role": "user", "content": std::env::var("MCPTEST_PROMPT").unwrap() })];
    loop {
        let body = json!({ "model": "gpt-5", "messages": messages, "tools": tools });
        let message = agent::ask(&body);
        messages.push(message.clone());
        let calls = message["tool_calls"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        if calls.is_empty() {
            break;
        }
        for call in calls {
            messages.push(json!({ "role": "tool", "tool_call_id": call["id"], "content": "sent" }));
        }
        tools.push(tool("refund", text));
    }
    if change("fails when recorded") && records {
        eprintln!("no space left");
        std::process::exit(4);
    }
}

fn suite(head: &str) -> String {
    let program = json!(agent::program("agent"));
    let agents = AGENTS.map(|name| {
        format!(
            "- {{ name: {name}, model: gpt-5, prompt: I am {name}., runs: 3, command: {program}, playback: {{}}, \
             expect: [{{ target: final_response, matcher: {{ contains: bye }} }}] }}\n"
        )
    });
    format!("{head}agents:\n{}", agents.concat())
}

/// A provider whose answers take so many tokens.
fn provider(tokens: u64) -> Provider {
    let says =
        |text: &str| json!({ "text": text, "usage": { "prompt": tokens, "completion": 10 } });
    let asks = json!({ "calls": [{ "name": "get_order", "args": { "order": 7 } }], "usage": { "prompt": tokens, "completion": 10 } });
    let conversations = AGENTS.map(|name| {
        let second = match name {
            "Ann" | "Bob" => json!([asks, says("It is sent, bye.")]),
            _ => json!([says("Well, bye.")]),
        };
        let runs = json!([[says("Yes, bye.")], second, [says("No, bye.")]]);
        json!({ "user": format!("I am {name}."), "model": "gpt-5", "runs": runs })
    });
    let script = json!({ "key": KEY, "conversations": conversations });
    Provider::start(Script::from_json(&script.to_string()).unwrap()).unwrap()
}

fn mcptest(folder: &Folder, model: Option<&Provider>, change: &str, arguments: &[&str]) -> Command {
    let mut command = command(env!("CARGO_BIN_EXE_cargo-mcptest"), folder.path());
    command.arg("mcptest").args(arguments);
    command
        .env("AGENT_CHANGE", change)
        .env("OPENAI_API_KEY", KEY)
        // One agent after the other.
        .env("RUST_TEST_THREADS", "1");
    if let Some(model) = model {
        command.env("OPENAI_BASE_URL", format!("{}/v1", model.url()));
    }
    command
}

fn record(folder: &Folder, model: &Provider, change: &str, arguments: &[&str]) -> Finished {
    let arguments = [&["record"], arguments].concat();
    run(&mut mcptest(folder, Some(model), change, &arguments))
}

/// Twelve runs of four agents.
fn recorded() -> Folder {
    recorded_at(100)
}

fn recorded_at(tokens: u64) -> Folder {
    let folder = Folder::new().with_file("suites/desk.yml", suite(""));
    record(&folder, &provider(tokens), "", &[]).exits(0);
    assert_eq!(cassettes(&folder).len(), 12);
    folder
}

/// The recordings, by the agent and the number of the run.
fn cassettes(folder: &Folder) -> BTreeMap<String, Vec<u8>> {
    collect(&folder.at("suites/cassettes"))
}

/// The recordings that are not what they were.
fn other(before: &BTreeMap<String, Vec<u8>>, now: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    assert!(before.keys().eq(now.keys()), "{:?}", now.keys());
    let differing = before.iter().filter(|(name, bytes)| now[*name] != **bytes);
    differing.map(|(name, _)| name.clone()).collect()
}

const OF_TWO: [&str; 6] = [
    "Ann__gpt-5/run-1.json",
    "Ann__gpt-5/run-2.json",
    "Ann__gpt-5/run-3.json",
    "Bob__gpt-5/run-1.json",
    "Bob__gpt-5/run-2.json",
    "Bob__gpt-5/run-3.json",
];

/// A run has 110 tokens, or 220 where a tool is called: four of each agent, at 1.25 and 10 dollars a million.
const COST: &str = "6 of 12 runs to record: about 880 tokens, $0.0018 (as recorded before)\n";

#[test]
fn an_edit_that_one_run_of_two_agents_sees_records_all_runs_of_these_two() {
    let folder = recorded();
    let before = cassettes(&folder);
    let model = provider(100);
    let dry = record(
        &folder,
        &model,
        "a tool's text",
        &["--changed", "--dry-run"],
    )
    .exits(0);
    assert!(dry.stderr.contains(COST), "{dry}");
    let why = "  `Bob`: 3 runs (run 2: model call 2 of 2: ";
    assert!(dry.stderr.contains(why), "{dry}");
    // The page shows it as it is.
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/recording.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, block) = page
        .split_once("<!-- shown: record --changed -->\n```text\n")
        .unwrap();
    let (block, _) = block.split_once("```").unwrap();
    assert!(dry.stderr.contains(block), "{block}\n{dry}");
    assert_eq!(
        (cassettes(&folder), model.requests().len()),
        (before.clone(), 0)
    );
    let said = record(&folder, &model, "a tool's text", &["--changed"]).exits(0);
    assert!(said.stderr.contains(COST), "{said}");
    assert!(said.stderr.contains("recorded 3 runs of `Ann` ("), "{said}");
    let after = cassettes(&folder);
    assert_eq!(other(&before, &after), OF_TWO);
    assert_eq!(model.requests().len(), 8);
    // What is new is what the code does now.
    let again = record(&folder, &model, "a tool's text", &["--changed"]).exits(0);
    assert!(again.stderr.contains("0 of 12 runs to record\n"), "{again}");
    assert_eq!(cassettes(&folder), after);
    // The code of an agent that is as it was runs once for each recording, though its gate judges it too.
    let mut once = mcptest(
        &folder,
        Some(&model),
        "a tool's text",
        &["record", "--changed"],
    );
    run(once.env("AGENT_PLAYED", folder.at("played"))).exits(0);
    let played = fs::read_to_string(folder.at("played")).unwrap();
    assert_eq!(played.lines().count(), 12);
    // A filter chooses agents.
    let of_bob = record(
        &folder,
        &model,
        "",
        &["--changed", "--dry-run", "desk::bob"],
    )
    .exits(0);
    assert!(of_bob.stderr.contains("3 of 3 runs to record"), "{of_bob}");
    assert_eq!(model.requests().len(), 8);
}

#[test]
#[cfg_attr(
    not(unix),
    ignore = "the command is another process there than the one that records"
)]
fn a_recording_that_is_killed_goes_on_with_what_the_code_does_now() {
    let folder = recorded();
    let before = cassettes(&folder);
    let model = provider(100);
    // The fifth run that is recorded is the second of the second agent.
    kill_in(&folder, &model, "a tool's text", "5");
    let now = cassettes(&folder);
    assert!(
        now.contains_key(".Bob__gpt-5.recording/run-1.json"),
        "{:?}",
        now.keys()
    );
    assert_eq!(other(&before, &without_staged(now)), OF_TWO[..3]);
    let said = record(&folder, &model, "a tool's text", &["--changed"]).exits(0);
    assert!(said.stderr.contains("2 of 12 runs to record: "), "{said}");
    assert!(said.stderr.contains("recorded 2 runs of `Bob` ("), "{said}");
    let after = cassettes(&folder);
    assert_eq!(other(&before, &after), OF_TWO);
    // What was left of code that is another one now is not used, and in nobody's way.
    kill_in(&folder, &provider(100), "", "8");
    let back = record(&folder, &model, "a tool's text", &["--changed"]).exits(0);
    assert!(back.stderr.contains("0 of 12 runs to record\n"), "{back}");
    let said = record(&folder, &provider(100), "another text", &["--changed"]).exits(0);
    for told in [
        "2 runs of `Ann` that an interrupted recording left: not what the code does now",
        "6 of 12 runs to record: ",
    ] {
        assert!(said.stderr.contains(told), "{told}\n{said}");
    }
    assert_eq!(other(&after, &cassettes(&folder)), OF_TWO);
}

/// The recordings without what was left of one that was killed.
fn without_staged(mut files: BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Vec<u8>> {
    files.retain(|name, _| !name.starts_with('.'));
    files
}

/// Records what changed, and kills the command while the run of this number is recorded; the runs of all commands that
/// are killed are counted.
fn kill_in(folder: &Folder, model: &Provider, change: &str, run: &str) {
    let log = folder.at("log");
    let mut running = mcptest(folder, Some(model), change, &["record", "--changed"])
        .env("AGENT_LOG", &log)
        .env("AGENT_HANGS_IN", run)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let hangs = folder.at("log.hangs");
    for _ in 0..9000 {
        if hangs.exists() || running.try_wait().unwrap().is_some() {
            break;
        }
        sleep(Duration::from_millis(20));
    }
    running.kill().unwrap();
    running.wait().unwrap();
    fs::remove_file(hangs).unwrap();
}

#[test]
fn the_runs_alone_that_met_the_change_are_chosen_and_a_comparison_says_so() {
    let folder = recorded();
    let before = cassettes(&folder);
    for (name, bytes) in &before {
        folder.write(&format!("before/cassettes/{name}"), bytes);
    }
    let arguments = ["--changed", "--only-runs"];
    let said = record(&folder, &provider(100), "a tool's text", &arguments).exits(0);
    assert!(said.stderr.contains("2 of 12 runs to record: "), "{said}");
    let told = "note: the runs of `Ann` are chosen: 1 of 3 were recorded anew because they met a change, and the others are kept.";
    assert!(said.stderr.contains(told), "{said}");
    let after = cassettes(&folder);
    assert_eq!(
        other(&before, &after),
        ["Ann__gpt-5/run-2.json", "Bob__gpt-5/run-2.json"]
    );
    let run: Value = serde_json::from_slice(&after["Ann__gpt-5/run-2.json"]).unwrap();
    assert_eq!(run["chosen"], true);
    let compared = run_in(&folder, &["compare", "before", "--all"]).exits(3);
    let told = "1 of 3 runs were recorded anew because they met a change, and the others were kept";
    let one_line = compared
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(one_line.contains(told), "{compared}");
    // All runs of the agent are a sample again.
    record(
        &folder,
        &provider(100),
        "a tool's text",
        &["--all", "desk::ann"],
    )
    .exits(0);
    let run: Value = serde_json::from_slice(&cassettes(&folder)["Ann__gpt-5/run-2.json"]).unwrap();
    assert_eq!(run.get("chosen"), None);
}

fn run_in(folder: &Folder, arguments: &[&str]) -> Finished {
    run(&mut mcptest(folder, None, "", arguments))
}

#[test]
fn code_that_ends_before_it_asks_a_model_stops_the_command() {
    let folder = recorded();
    fs::remove_dir_all(folder.at("suites/cassettes/Dan__gpt-5")).unwrap();
    let before = cassettes(&folder);
    let model = provider(100);
    let said = record(&folder, &model, "dies at once", &["--changed"]).exits(1);
    for told in [
        "error: the program ended with exit status 3 before it called a model\n",
        "| No module named 'openai'\n",
        "nothing was recorded",
    ] {
        assert!(said.stderr.contains(told), "{told}\n{said}");
    }
    assert!(!said.stderr.contains("OPENAI_BASE_URL"), "{said}");
    assert_eq!((cassettes(&folder), model.requests().len()), (before, 0));
}

#[test]
fn a_run_that_cannot_be_recorded_keeps_its_file_and_fails_the_command() {
    let folder = recorded();
    let before = cassettes(&folder);
    let change = "a tool's text, fails when recorded";
    let said = record(&folder, &provider(100), change, &["--changed"]).exits(1);
    assert!(said.stdout.contains("no space left"), "{said}");
    assert_eq!(cassettes(&folder), before);
}

#[test]
fn what_is_stale_or_missing_is_recorded_with_all_runs_of_its_agent() {
    let folder = recorded();
    let before = cassettes(&folder);
    fs::remove_file(folder.at("suites/cassettes/Cid__gpt-5/run-3.json")).unwrap();
    let stale = suite("").replace("I am Bob.", "I am Bob!");
    folder.write("suites/desk.yml", stale);
    let dry = record(&folder, &provider(100), "", &["--changed", "--dry-run"]).exits(0);
    for told in [
        "6 of 12 runs to record: ",
        "`Bob`: 3 runs (runs 1, 2, 3: stale: recorded with another prompt)",
        "`Cid`: 3 runs (1 of 3 runs not recorded)",
    ] {
        assert!(dry.stderr.contains(told), "{told}\n{dry}");
    }
    folder.write("suites/desk.yml", suite(""));
    record(&folder, &provider(100), "", &["--changed"]).exits(0);
    let now = cassettes(&folder);
    let all = [
        "Cid__gpt-5/run-1.json",
        "Cid__gpt-5/run-2.json",
        "Cid__gpt-5/run-3.json",
    ];
    assert_eq!(other(&before, &now), all);
}

#[test]
fn a_budget_below_the_cost_stops_before_the_first_model_call() {
    let folder = recorded_at(20_000);
    folder.write(
        "suites/desk.yml",
        suite("budget: { per_suite_usd_cents: 10 }\n"),
    );
    let before = cassettes(&folder);
    let model = provider(20_000);
    for more in [&["--changed"][..], &["--all"], &["--all", "--dry-run"]] {
        let said = record(&folder, &model, "a tool's text", more).exits(1);
        for told in [
            " of 12 runs to record: about ",
            "error: nothing was recorded: the budget of suites/desk.yml is $0.1000, and recording its agents will cost about $0.",
            "`--over-budget` (`MCPTEST_RECORD_OVER_BUDGET=1`)",
        ] {
            assert!(said.stderr.contains(told), "{told}\n{said}");
        }
        assert_eq!(
            (cassettes(&folder), model.requests().len()),
            (before.clone(), 0)
        );
    }
    record(
        &folder,
        &model,
        "a tool's text",
        &["--changed", "--over-budget"],
    )
    .exits(0);
    assert_eq!(other(&before, &cassettes(&folder)), OF_TWO);
}

#[test]
fn recordings_go_into_another_folder_and_are_compared_from_there() {
    let folder = recorded();
    let suites = collect(&folder.at("suites"));
    let model = provider(100);
    let said = record(&folder, &model, "", &["--into", "tonight"]).exits(0);
    assert!(
        said.stderr
            .contains("12 of 12 runs to record: about 1,500 tokens, "),
        "{said}"
    );
    assert_eq!(collect(&folder.at("suites")), suites);
    let tonight = collect(&folder.at("tonight"));
    let names = |files: &BTreeMap<String, Vec<u8>>| {
        let files = files.keys().filter(|name| name.contains("cassettes/"));
        files
            .map(|name| name.trim_start_matches("suites/").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&tonight), names(&suites));
    let compared = run_in(&folder, &["compare", ".", "tonight", "--format", "json"]);
    let compared: Value = serde_json::from_str(&compared.stdout).unwrap();
    assert_eq!(
        compared["agents"].as_array().unwrap().len(),
        4,
        "{compared}"
    );
    // What is there is of another night: it is recorded anew.
    record(&folder, &provider(100), "", &["--into", "tonight"]).exits(0);
    assert_ne!(collect(&folder.at("tonight")), tonight);
    // Nothing is put anywhere else, whatever path the suite names.
    let outside = suite("").replace("name: Ann,", "name: Ann, cassette: ../../elsewhere/Ann,");
    folder.write("suites/desk.yml", outside);
    let said = record(&folder, &model, "", &["--into", "tonight", "desk::ann"]).exits(1);
    let told = "the recordings of `Ann` would not be put below ";
    assert!(said.stderr.contains(told), "{said}");
    let own = record(&folder, &model, "", &["--into", "."]).exits(1);
    assert!(
        own.stderr
            .contains("cannot be put into the package's own folder"),
        "{own}"
    );
}

#[test]
fn words_that_contradict_each_other_are_refused() {
    let folder = recorded();
    for arguments in [
        &["record", "--changed", "--all"][..],
        &["record", "--only-runs"],
        &["record", "--changed", "--into", "tonight"],
        &["record", "--dry-run", "--format", "json"],
    ] {
        run_in(&folder, arguments).exits(2);
    }
    // A word that may be meant for another spends nothing.
    let mut said = mcptest(&folder, None, "", &["record", "--changed"]);
    let said = run(said.env("MCPTEST_RECORD_DRY_RUN", "true")).exits(1);
    assert!(
        said.stderr
            .contains("`MCPTEST_RECORD_DRY_RUN=true` is not known"),
        "{said}"
    );
    // What is only said may be asked in CI.
    let mut dry = mcptest(&folder, None, "", &["record", "--changed", "--dry-run"]);
    let dry = run(dry.env("CI", "true")).exits(0);
    assert!(dry.stderr.contains("0 of 12 runs to record\n"), "{dry}");
}
