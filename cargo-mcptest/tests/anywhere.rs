//! An agent of one's own in a folder without a crate: recorded by an address, judged, broken and mended. The agent
//! is this executable, started as a program once more.
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::process::Command;

use e2e_support::folder::Folder;
use e2e_support::process::{Finished, command, run};
use scripted_provider::{Provider, Script};
use serde_json::{Value, json};
use support::agent;

/// What authorises with the scripted provider.
const KEY: &str = "sk-test-anywhere-51c07";

/// The agent: it asks the model at the address that it is given, and answers one tool itself.
#[test]
#[ignore = "the agent of the other tests, which they start"]
fn agent() {
    if std::env::var_os("OPENAI_BASE_URL").is_none() {
        return;
    }
    let prompt = std::env::var("MCPTEST_PROMPT").unwrap();
    let system = std::env::var("AGENT_SYSTEM").unwrap_or("You are a refund clerk.".to_owned());
    let mut messages = vec![
        json!({ "role": "system", "content": system }),
        json!({ "role": "user", "content": prompt }),
    ];
    loop {
        let body = json!({
            "model": "gpt-5", "messages": messages,
            "tools": [{ "type": "function", "function": {
                "name": "get_order", "description": "Looks an order up.",
                "parameters": { "type": "object", "properties": { "order": { "type": "integer" } } },
            } }],
        });
        let message = agent::ask(&body);
        messages.push(message.clone());
        let calls = message["tool_calls"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        if calls.is_empty() {
            return;
        }
        for call in calls {
            messages.push(json!({
                "role": "tool", "tool_call_id": call["id"],
                "content": json!({ "order": 7, "status": "delivered" }).to_string(),
            }));
        }
    }
}

/// An agent that fails after its first request.
#[test]
#[ignore = "an agent of the other tests, which they start"]
fn crashing_agent() {
    if std::env::var_os("OPENAI_BASE_URL").is_none() {
        return;
    }
    let prompt = std::env::var("MCPTEST_PROMPT").unwrap();
    let body = json!({ "model": "gpt-5", "messages": [{ "role": "user", "content": prompt }] });
    assert!(agent::request(&body).is_err(), "the agent gave up");
}

fn suite(rest: &str) -> String {
    format!(
        "agents:\n- name: Refund agent\n  model: gpt-5\n  prompt: Where is order 7?\n  runs: 2\n  \
         trajectory: {{ mode: strict, calls: [{{ name: get_order, args: {{ subset: {{ order: 7 }} }} }}] }}\n  \
         narrative: {{}}\n{rest}"
    )
}

fn with_command() -> String {
    suite(&format!("  command: {}\n", json!(agent::program("agent"))))
}

fn provider() -> Provider {
    let asks = || json!({ "calls": [{ "name": "get_order", "args": { "order": 7 } }], "usage": { "prompt": 100, "completion": 10 } });
    let says = |text: &str| json!({ "text": text, "usage": { "prompt": 150, "completion": 8 } });
    let script = json!({ "key": KEY, "conversations": [{
        "user": "Where is order 7?", "model": "gpt-5",
        "runs": [[asks(), says("Order 7 was delivered.")], [asks(), says("It was delivered.")]],
    }] });
    Provider::start(Script::from_json(&script.to_string()).unwrap()).unwrap()
}

fn mcptest(folder: &Folder, provider: Option<&Provider>, arguments: &[&str]) -> Finished {
    let mut command: Command = command(env!("CARGO_BIN_EXE_cargo-mcptest"), folder.path());
    command.arg("mcptest").args(arguments);
    if let Some(provider) = provider {
        command
            .env("OPENAI_BASE_URL", format!("{}/v1", provider.url()))
            .env("OPENAI_API_KEY", KEY);
    }
    run(&mut command)
}

fn recorded(folder: &Folder, run: usize) -> Value {
    let file = format!("suites/cassettes/Refund_agent__gpt-5/run-{run}.json");
    serde_json::from_str(&std::fs::read_to_string(folder.at(&file)).unwrap()).unwrap()
}

#[test]
fn an_agent_is_recorded_and_judged_in_a_folder_without_a_crate() {
    let folder = Folder::new().with_file("suites/refunds.yml", with_command());
    let model = provider();
    let said = mcptest(&folder, Some(&model), &["record"]).exits(0);
    assert!(
        said.stderr
            .contains("recorded 2 runs of `Refund agent` (536 tokens, $0.0010)"),
        "{said}"
    );
    let run = recorded(&folder, 1);
    assert_eq!(run["system_prompt"], "You are a refund clerk.");
    assert_eq!(run["trace"]["tool_calls"][0]["args"], json!({ "order": 7 }));
    assert_eq!(run["trace"]["final_response"], "Order 7 was delivered.");
    assert_eq!(run["trace"]["conversation"]["tokens"]["total"], 268);
    // A chat's tool message does not say whether the tool failed.
    assert_eq!(run["trace"]["tool_results"][0].get("is_error"), None);
    assert!(!run.to_string().contains(KEY));
    // From now on nothing is asked.
    drop(model);
    mcptest(&folder, None, &["test"]).exits(0);
    let listed = mcptest(&folder, None, &["test", "--list"]).exits(0);
    assert!(
        listed
            .stdout
            .contains("refunds::refund_agent::trajectory: test"),
        "{listed}"
    );
    folder.write(
        "suites/refunds.yml",
        with_command().replace("order: 7 }", "order: 8 }"),
    );
    let red = mcptest(&folder, None, &["test", "::trajectory"]).exits(101);
    assert!(
        red.stdout.contains(
            "run this case alone: cargo mcptest test --exact refunds::refund_agent::trajectory"
        ),
        "{red}"
    );
    let report = mcptest(&folder, None, &["report", "--format", "json"]).exits(1);
    assert!(
        report.stdout.contains("refunds::refund_agent::trajectory"),
        "{report}"
    );
}

/// What a message says to type, between the backticks behind some words.
#[cfg(unix)]
fn advice(said: &Finished, before: &str) -> String {
    let (_, rest) = said.stdout.split_once(before).unwrap();
    let rest = rest.split_once('`').unwrap().1;
    rest.split_once('`').unwrap().0.to_owned()
}

#[test]
#[cfg(unix)]
fn the_command_that_a_message_says_works_in_a_shell() {
    let text = with_command().replace("Refund agent", "Zo\u{eb}'s refund \u{1f980} agent");
    let folder = Folder::new().with_file("suites for \u{1f980}/refunds.yml", text);
    let suites = ["test", "--suites", "suites for \u{1f980}"];
    let model = provider();
    let paste = |line: &str| {
        let program = std::path::Path::new(env!("CARGO_BIN_EXE_cargo-mcptest"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let beside = program.parent().map(std::path::Path::to_owned);
        let folders = beside.into_iter().chain(std::env::split_paths(&path));
        let mut shell: Command = command("sh", folder.path());
        shell
            .args(["-c", line])
            .env("PATH", std::env::join_paths(folders).unwrap())
            .env("OPENAI_BASE_URL", format!("{}/v1", model.url()))
            .env("OPENAI_API_KEY", KEY);
        run(&mut shell)
    };
    let missing = mcptest(&folder, None, &suites).exits(101);
    let line = advice(&missing, "record 2 runs with");
    assert!(
        line.starts_with("cargo mcptest record --suites 'suites for \u{1f980}' --exact refunds::"),
        "{line}"
    );
    let recorded = paste(&line).exits(0);
    assert!(recorded.stderr.contains("recorded 2 runs"), "{recorded}");
    mcptest(&folder, None, &suites).exits(0);
    // Another prompt than the recorded one: all runs are recorded again.
    let path = "suites for \u{1f980}/refunds.yml";
    let text = std::fs::read_to_string(folder.at(path)).unwrap();
    folder.write(
        path,
        text.replace(
            "  model: gpt-5\n",
            "  model: gpt-5\n  system_prompt: Be brief.\n",
        ),
    );
    let stale = mcptest(&folder, None, &suites).exits(101);
    let line = advice(&stale, "record the runs again with");
    assert!(line.contains(" --all --exact refunds::"), "{line}");
    let dry = paste(&format!("{line} --dry-run")).exits(0);
    assert!(dry.stderr.contains("2 of 2 runs to record"), "{dry}");
    // A case alone.
    let (_, alone) = stale.stdout.split_once("run this case alone: ").unwrap();
    let alone = paste(alone.lines().next().unwrap()).exits(101);
    assert!(alone.stdout.contains("1 failed"), "{alone}");
}

#[test]
fn a_filter_that_fits_no_case_ends_as_in_nextest() {
    let folder = Folder::new().with_file("suites/refunds.yml", with_command());
    mcptest(&folder, Some(&provider()), &["record"]).exits(0);
    for arguments in [
        &["test", "::trajectry"][..],
        &["test", "refnds", "nothing"],
        &["test", "--exact", "refunds::refund_agnt"],
        &["test", "--exact", "refunds"],
        &["test", "--skip", "refunds"],
        &["test", "--shard", "1/2", "nothing"],
    ] {
        let none = mcptest(&folder, None, arguments).exits(4);
        assert!(none.stderr.starts_with("error: no case "), "{none}");
        assert!(!none.stdout.contains("test result"), "{none}");
    }
    let near = mcptest(&folder, None, &["test", "--exact", "refunds::refund_agnt"]).exits(4);
    let told = "no case is named exactly `refunds::refund_agnt`\n\nhelp: did you mean `refunds::refund_agent`?\n";
    assert_eq!(near.stderr, format!("error: {told}"));
    for arguments in [
        &["test", "trajectory"][..],
        &["test", "nothing", "::narrative"],
        &["test", "--list", "nothing"],
        &["test", "--skip", "narrative"],
        &["test", "--ignored"],
    ] {
        mcptest(&folder, None, arguments).exits(0);
    }
    // A suite that does not load is no missing case.
    folder.write("suites/broken.yml", "agents: [");
    mcptest(&folder, None, &["test", "nothing"]).exits(101);
}

#[test]
fn the_program_may_stand_in_the_command_and_the_suites_in_another_folder() {
    let folder = Folder::new().with_file("checks/refunds.yml", suite(""));
    let program = agent::program("agent");
    let program: Vec<&str> = program.iter().map(String::as_str).collect();
    let arguments = [&["record", "--suites", "checks", "--"], program.as_slice()].concat();
    let model = provider();
    let said = mcptest(&folder, Some(&model), &arguments).exits(0);
    assert!(said.stdout.contains("3 passed"), "{said}");
    mcptest(&folder, None, &["test", "--suites", "checks"]).exits(0);
    let nowhere = mcptest(&folder, None, &["test", "--suites", "check"]).exits(2);
    assert!(
        nowhere.stderr.contains("there is no folder `check`"),
        "{nowhere}"
    );
}

#[test]
fn recordings_are_played_to_a_program_that_no_suite_names() {
    let folder = Folder::new().with_file("suites/refunds.yml", suite(""));
    let words = agent::program("agent");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let with_program = |arguments: &[&'static str]| [arguments, &["--"], words.as_slice()].concat();
    let said = mcptest(&folder, Some(&provider()), &with_program(&["record"])).exits(0);
    let line = untested(&said).unwrap_or_default();
    assert!(
        line.contains("stay green. `cargo mcptest play -- "),
        "{said}"
    );
    assert!(
        line.ends_with(" --exact agent --ignored --nocapture` tests the code"),
        "{said}"
    );
    let played = mcptest(&folder, None, &with_program(&["play"])).exits(0);
    assert!(
        played
            .stdout
            .contains("test refunds::refund_agent::playback ... ok"),
        "{played}"
    );
    assert!(played.stdout.contains("1 passed"), "{played}");
    // A change of the code is red, and the message says the command that records with this program.
    let mut changed: Command = command(env!("CARGO_BIN_EXE_cargo-mcptest"), folder.path());
    changed
        .arg("mcptest")
        .args(with_program(&["play", "refund_agent"]))
        .env("AGENT_SYSTEM", "You are a pirate.");
    let red = run(&mut changed).exits(1);
    assert!(
        red.stdout
            .contains("in every run: model call 1 of 2: the system prompt differs"),
        "{red}"
    );
    let again = "cargo mcptest record --all --exact refunds::refund_agent -- ";
    assert!(red.stdout.contains(again), "{red}");
    // The suite has no such case for `test`.
    let case = "refunds::refund_agent::playback";
    let alone = format!("run this case alone: cargo mcptest play --exact {case} -- ");
    assert!(red.stdout.contains(&alone), "{red}");
    let alone = with_program(&["play", "--exact", case]);
    assert!(
        mcptest(&folder, None, &alone)
            .exits(0)
            .stdout
            .contains("1 passed")
    );
    let none = mcptest(&folder, None, &["play"]).exits(3);
    assert!(
        none.stderr
            .contains("no agent names the program that runs it"),
        "{none}"
    );
    let unknown = mcptest(&folder, None, &with_program(&["play", "refnd"])).exits(3);
    assert!(
        unknown.stderr.contains("no case has this name"),
        "{unknown}"
    );
}

/// What recording says at its end, and nowhere else, of what it does not test.
fn untested(said: &Finished) -> Option<&str> {
    let begin = "not tested: ";
    let line = said.stderr.lines().last();
    let line = line.filter(|line| line.starts_with(begin));
    let times = said.stderr.matches(begin).count();
    assert_eq!(times, usize::from(line.is_some()), "{said}");
    line
}

#[test]
fn recording_ends_with_one_line_of_what_it_does_not_test() {
    let folder = Folder::new().with_file("suites/refunds.yml", with_command());
    let record = |more: &[&str]| {
        let arguments = [&["record"], more].concat();
        mcptest(&folder, Some(&provider()), &arguments).exits(0)
    };
    assert_eq!(untested(&record(&["--dry-run"])), None);
    let told = "not tested: the code of `Refund agent`. If a prompt, a loop or a tool changes, the tests stay green. With `playback: {}` \
                in the suite, they turn red";
    assert_eq!(untested(&record(&[])), Some(told));
    // Nothing is missing: nothing was recorded.
    assert_eq!(untested(&record(&[])), None);
    assert_eq!(untested(&record(&["--all"])), Some(told));
    // What is recorded into another folder is compared, and not judged.
    assert_eq!(untested(&record(&["--into", "new"])), None);
    // Programs read the results, and people the line.
    let json = record(&["--all", "--format", "json"]);
    assert_eq!(json.stderr.matches(told).count(), 1, "{json}");
    assert!(
        serde_json::from_str::<Value>(&json.stdout).is_ok(),
        "{json}"
    );
    // One of two agents is played: the line names the other.
    let other = suite("")
        .replace("agents:\n", "")
        .replace("Refund agent", "Second agent");
    let plays = with_command() + "  playback: {}\n";
    let both = format!(
        "{plays}{other}  command: {}\n",
        json!(agent::program("agent"))
    );
    folder.write("suites/refunds.yml", both);
    let said = record(&["--all"]);
    assert_eq!(
        untested(&said),
        Some(&*told.replace("Refund", "Second")),
        "{said}"
    );
    folder.write("suites/refunds.yml", plays);
    assert_eq!(untested(&record(&["--all"])), None);
}

#[test]
fn a_command_of_a_suite_is_played_though_the_suite_has_no_such_gate() {
    let folder = Folder::new().with_file("suites/refunds.yml", with_command());
    mcptest(&folder, Some(&provider()), &["record"]).exits(0);
    let played = mcptest(&folder, None, &["play"]).exits(0);
    assert!(played.stdout.contains("1 passed"), "{played}");
    // Also where `reliability` counts what is played.
    let counts = "  playback: {}\n  reliability: { outcome: playback }\n";
    folder.write("suites/refunds.yml", with_command() + counts);
    let played = mcptest(&folder, None, &["play"]).exits(0);
    assert!(played.stdout.contains("1 passed"), "{played}");
    let dies = ["play", "--", "sh", "-c", "exit 3"];
    mcptest(&folder, None, &dies).exits(1);
    folder.write("suites/refunds.yml", with_command());
    // `test` runs what the suite asks, and no more.
    let tested = mcptest(&folder, None, &["test", "--list"]).exits(0);
    assert!(!tested.stdout.contains("playback"), "{tested}");
}

#[test]
fn a_cap_on_model_calls_holds_for_a_program_of_ones_own() {
    let capped = with_command().replace("runs: 2", "runs: 1\n  max_turns: 1");
    let folder = Folder::new().with_file("suites/refunds.yml", capped);
    mcptest(&folder, Some(&provider()), &["record"]);
    let file = folder.at("suites/cassettes/Refund_agent__gpt-5.json");
    let run: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(run["trace"]["conversation"]["stop_reason"], "turn_budget");
    assert_eq!(
        run["trace"]["conversation"]["steps"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn a_program_that_fails_leaves_no_run_and_its_last_words() {
    let failing = with_command()
        .replace("runs: 2", "runs: 1")
        .replace("\"--exact\",\"agent\"", "\"--exact\",\"crashing_agent\"");
    let folder = Folder::new().with_file("suites/refunds.yml", failing);
    let said = mcptest(&folder, Some(&provider()), &["record"]).exits(1);
    assert!(
        said.stdout
            .contains("the program ended with exit status: 101"),
        "{said}"
    );
    assert!(said.stdout.contains("the agent gave up"), "{said}");
    assert!(
        !folder
            .at("suites/cassettes/Refund_agent__gpt-5.json")
            .exists()
    );
}

#[test]
fn a_run_of_another_model_is_none_of_this_agent() {
    let other = with_command().replace("model: gpt-5", "model: gpt-6");
    let folder = Folder::new().with_file("suites/refunds.yml", other);
    let said = mcptest(&folder, Some(&provider()), &["record"]).exits(1);
    let told = "the agent asked the model `gpt-5`, and the suite says `gpt-6`";
    assert!(said.stdout.contains(told), "{said}");
}

#[test]
fn a_budget_stops_a_program_of_ones_own_before_it_is_overspent() {
    let budget = format!("budget: {{ per_suite_usd_cents: 1 }}\n{}", with_command());
    let folder = Folder::new().with_file("suites/refunds.yml", budget);
    let model = provider();
    let said = mcptest(&folder, Some(&model), &["record"]).exits(1);
    let told = "stopped before overspending: $0.0000 of $0.0100 are spent";
    assert!(said.stdout.contains(told), "{said}");
}

#[test]
fn an_agent_that_asks_nothing_says_what_to_set() {
    let silent = suite("  command: [cargo, --version]\n");
    let folder = Folder::new().with_file("suites/refunds.yml", silent);
    let said = mcptest(&folder, Some(&provider()), &["record"]).exits(1);
    assert!(said.stdout.contains("OPENAI_BASE_URL"), "{said}");
    assert!(
        !folder
            .at("suites/cassettes")
            .join("Refund_agent__gpt-5")
            .join("run-1.json")
            .exists()
    );
}

#[test]
fn a_program_that_dies_before_it_calls_a_model_is_told_as_that() {
    let dies = "echo \"No module named 'openai'\" >&2; exit 3";
    let dying = suite(&format!("  command: {}\n", json!(["sh", "-c", dies])));
    let folder = Folder::new().with_file("suites/refunds.yml", dying.replace("runs: 2", "runs: 1"));
    let said = mcptest(&folder, Some(&provider()), &["record"]).exits(1);
    let told = "error: the program ended with exit status 3 before it called a model\n";
    let lines = "the last lines of the program's standard error:\n    | No module named 'openai'\n";
    // The command that runs the case alone records it.
    let alone = "run this case alone: cargo mcptest record --exact refunds::refund_agent\n";
    for told in [told, lines, alone] {
        assert!(said.stdout.contains(told), "{told}\n{said}");
    }
    assert!(!said.stdout.contains("OPENAI_BASE_URL"), "{said}");
    // The same while a recording is played.
    folder.write("suites/refunds.yml", with_command());
    mcptest(&folder, Some(&provider()), &["record"]).exits(0);
    let played = mcptest(&folder, None, &["play", "--", "sh", "-c", dies]).exits(1);
    for told in [
        "found the program ended with exit status 3 before it called a model",
        "| No module named 'openai'",
    ] {
        assert!(played.stdout.contains(told), "{told}\n{played}");
    }
    assert!(!played.stdout.contains("OPENAI_BASE_URL"), "{played}");
    // One that ends well and asks nothing is told where the model is.
    let silent = mcptest(&folder, None, &["play", "--", "sh", "-c", "exit 0"]).exits(1);
    assert!(silent.stdout.contains("OPENAI_BASE_URL"), "{silent}");
}

#[test]
fn a_model_that_cannot_be_reached_is_named_by_its_address() {
    let folder = Folder::new().with_file("suites/refunds.yml", with_command());
    let mut record: Command = command(env!("CARGO_BIN_EXE_cargo-mcptest"), folder.path());
    // Nothing listens there.
    record
        .args(["mcptest", "record"])
        .env("OPENAI_BASE_URL", "http://clerk:pass-5d1e@127.0.0.1:1/v1")
        .env("OPENAI_API_KEY", KEY);
    let said = run(&mut record).exits(1);
    for told in [
        "run 1 of 2: `openai` cannot be reached at http://127.0.0.1:1/v1 (from OPENAI_BASE_URL): ",
        "the program ended with exit status: 101",
        "start what answers at this address, or correct the address",
    ] {
        assert!(said.stdout.contains(told), "{told}\n{said}");
    }
    assert!(!said.stdout.contains("pass-5d1e"), "{said}");
}

#[test]
fn an_error_of_the_provider_is_named() {
    let folder = Folder::new().with_file("suites/refunds.yml", with_command());
    let provider = provider();
    let mut record: Command = command(env!("CARGO_BIN_EXE_cargo-mcptest"), folder.path());
    record
        .args(["mcptest", "record"])
        .env("OPENAI_API_BASE", format!("{}/v1", provider.url()))
        .env("OPENAI_API_KEY", "sk-test-another-77aa1");
    let said = run(&mut record).exits(1);
    let told = format!(
        "run 1 of 2: `openai` answered 401 at {}/v1 (from OPENAI_API_BASE): Incorrect API key provided.\n",
        provider.url()
    );
    for told in [
        told.as_str(),
        "the program ended with exit status: 101",
        "correct the address, the key or the model",
    ] {
        assert!(said.stdout.contains(told), "{told}\n{said}");
    }
}

#[test]
fn what_sets_back_must_end_well_before_a_run() {
    let failing = suite(&format!(
        "  command: {}\n  before: [cargo, no-such-command]\n",
        json!(agent::program("agent"))
    ));
    let folder = Folder::new().with_file("suites/refunds.yml", failing);
    let said = mcptest(&folder, Some(&provider()), &["record"]).exits(1);
    assert!(
        said.stdout
            .contains("`before` failed, so the run was not started"),
        "{said}"
    );
}

/// As a coding agent does, the agent tells the model what lies where it works.
#[test]
fn a_program_that_lists_its_folder_is_played_where_it_does_not_see_its_recordings() {
    let lists = json!(["sh", "-c", "AGENT_SYSTEM=\"$(ls)\" exec \"$0\" \"$@\""]).to_string();
    let lists = format!("command: [{}, ", &lists[1..lists.len() - 1]);
    let listing = with_command().replace("command: [", &lists);
    // In the suite's folder it sees the folder of its recordings, which was not there.
    let folder = Folder::new().with_file("suites/refunds.yml", &listing);
    mcptest(&folder, Some(&provider()), &["record"]).exits(0);
    mcptest(&folder, None, &["play"]).exits(1);
    // `before` makes the folder; it starts in the suite's.
    let made = json!([
        "sh",
        "-c",
        "rm -rf ../work && mkdir ../work && cp refunds.yml ../work/order.txt"
    ]);
    let beside = format!("{listing}  cwd: ../work\n  before: {made}\n");
    let folder = Folder::new().with_file("suites/refunds.yml", &beside);
    mcptest(&folder, Some(&provider()), &["record"]).exits(0);
    assert_eq!(recorded(&folder, 1)["system_prompt"], "order.txt");
    mcptest(&folder, None, &["play"]).exits(0);
    // A program in the command starts where the person is.
    let here = ["play", "--", "sh", "-c", "pwd >&2; exit 3"];
    let here = mcptest(&folder, None, &here).exits(1);
    let own = folder.path().canonicalize().unwrap();
    assert!(
        here.stdout.contains(&format!("| {}\n", own.display())),
        "{here}"
    );
}

/// A value that is a word of the texts changes the recording; a date in the system prompt is another one tomorrow.
#[test]
fn the_end_of_a_recording_says_what_was_taken_out_and_what_changes_by_itself() {
    let playback = |options: &str| format!("{}  playback: {options}\n", with_command());
    let folder = Folder::new().with_file("suites/refunds.yml", playback("{}"));
    let model = provider();
    let record = |system: &str| {
        let mut record: Command = command(env!("CARGO_BIN_EXE_cargo-mcptest"), folder.path());
        record
            .args(["mcptest", "record", "--all", "::trajectory"])
            .env("OPENAI_BASE_URL", format!("{}/v1", model.url()))
            .env("OPENAI_API_KEY", KEY)
            .env("CLERK_TOKEN", "sequoia-4711")
            .env("AGENT_SYSTEM", system);
        run(&mut record).exits(0)
    };
    let now = jiff::Timestamp::now().to_string();
    let date = &now[..10];
    let today = |system: &str| system.replace("$TODAY", date);
    let said = record(&today("It is $TODAY. Your desk is sequoia-4711."));
    let told = "\ntaken out of the runs of `Refund agent`: 2 places because of `CLERK_TOKEN`\n";
    assert!(said.stderr.contains(told), "{said}");
    let dated = format!(
        "note: the system prompt of `Refund agent` has the date of the recording, {date}, and will have another one tomorrow; to leave dates \
         out of the comparison, write: playback: {{ mask: ['\\d{{4}}-\\d{{2}}-\\d{{2}}'] }}\n"
    );
    assert!(said.stderr.contains(&dated), "{said}");
    // Neither is said where it does not hold, or where the suite says it already.
    let said = record("It is 1999-01-01.");
    assert!(
        !said.stderr.contains("taken out") && !said.stderr.contains("note:"),
        "{said}"
    );
    folder.write(
        "suites/refunds.yml",
        playback("{ mask: ['\\d{4}-\\d{2}-\\d{2}'] }"),
    );
    let said = record(&today("It is $TODAY."));
    assert!(!said.stderr.contains("note:"), "{said}");
}

#[test]
fn a_folder_that_is_not_there_is_told_before_anything_is_spent() {
    let folder = Folder::new();
    for (keys, told) in [
        (
            "  cwd: ../work\n",
            "error: the program cannot start in `../work`: it is not there\n",
        ),
        (
            "  cwd: refunds.yml\n",
            "error: the program cannot start in `refunds.yml`: it is no folder\n",
        ),
        (
            "  cwd: ../work\n  before: [cargo, --version]\n",
            "error: run 1 of 2: the program cannot start in `../work`: it is not there\n",
        ),
    ] {
        folder.write("suites/refunds.yml", format!("{}{keys}", with_command()));
        let model = provider();
        let said = mcptest(&folder, Some(&model), &["record"]).exits(1);
        let help =
            "`cwd` is a path from the suite's folder; make the folder, or let `before:` make it";
        assert!(
            said.stdout.contains(told) && said.stdout.contains(help),
            "{told}\n{said}"
        );
        assert_eq!(model.requests().len(), 0);
    }
}

#[test]
fn a_system_prompt_beside_a_program_that_has_its_own_is_told_at_once() {
    let with = with_command().replace("  runs: 2", "  runs: 1\n  system_prompt: You are a pirate.");
    let folder = Folder::new().with_file("suites/refunds.yml", with);
    let said = mcptest(&folder, Some(&provider()), &["record"]).exits(1);
    let told = "the agent's own code sends another system prompt than the suite has";
    assert!(said.stdout.contains(told), "{said}");
    assert!(
        said.stdout.contains("the agent's: You are a refund clerk."),
        "{said}"
    );
    assert!(
        said.stdout
            .contains("leave `system_prompt:` out of the suite"),
        "{said}"
    );
}

#[test]
fn a_closing_that_is_to_be_printed_must_be_printed() {
    // Without the lines that a test prints around the agent.
    let quiet = with_command()
        .replace("runs: 2", "runs: 1\n  closing: stdout")
        .replace("\"--nocapture\"", "\"--nocapture\",\"--quiet\"");
    let silent = json!(["sh", "-c", "\"$0\" \"$@\" >/dev/null"]).to_string();
    let quiet = quiet.replace(
        "command: [",
        &format!("command: [{}, ", &silent[1..silent.len() - 1]),
    );
    let folder = Folder::new().with_file("suites/refunds.yml", quiet);
    let said = mcptest(&folder, Some(&provider()), &["record"]).exits(1);
    assert!(
        said.stdout
            .contains("the program printed nothing, and with `closing: stdout`"),
        "{said}"
    );
    assert!(
        !folder
            .at("suites/cassettes/Refund_agent__gpt-5.json")
            .exists()
    );
}

/// A suite beside the recordings would be found by no test.
#[test]
fn an_import_writes_no_suite_where_no_test_looks() {
    let run_of_log = json!({ "model": "m", "messages": [
        { "role": "user", "content": "p" }, { "role": "assistant", "content": "a" },
    ] });
    let folder = Folder::new().with_file("log.json", run_of_log.to_string());
    let import = |suite: &str| {
        let mut line = command(env!("CARGO_BIN_EXE_cargo-mcptest"), folder.path());
        run(line.args(["import", "log.json", "--suite", suite]))
    };
    for hidden in ["suites/cassettes/x.yml", ".hidden/x.yml"] {
        let said = import(hidden).exits(2);
        assert!(said.stderr.contains("no test would find"), "{said}");
        assert!(!folder.at(hidden).exists(), "{said}");
    }
    import("suites/x.yml").exits(0);
    assert!(folder.at("suites/x.yml").exists());
}
