//! The agent's own code, run against its recordings: what it does differently is red, and what means nothing is not.
//! The agent is this executable, started as a program once more; `AGENT_CHANGE` says how its code was changed.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod support;

use std::io::Write as _;
use std::process::Command;

use e2e_support::folder::Folder;
use e2e_support::process::{Finished, command, run};
use scripted_provider::{Provider, Script};
use serde_json::{Value, json};
use support::agent;
use support::page::piece;

/// What authorises with the scripted provider.
const KEY: &str = "sk-test-playback-7d20f";

/// The agent: a loop over two tools of its own, one of which fails for order 8.
#[test]
#[ignore = "the agent of the other tests, which they start"]
#[expect(
    clippy::too_many_lines,
    reason = "the agent and its changes in one place"
)]
fn agent() {
    if std::env::var_os("OPENAI_BASE_URL").is_none() {
        return;
    }
    if let Ok(effects) = std::env::var("AGENT_EFFECTS") {
        let effects = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(effects);
        effects.unwrap().write_all(b"paid\n").unwrap();
    }
    let change = std::env::var("AGENT_CHANGE").unwrap_or_default();
    let change = |name: &str| change.split(", ").any(|one| one == name);
    let key = std::env::var("OPENAI_API_KEY").unwrap_or_default();
    // A real key in the environment is not seen while a recording is played.
    let plays = std::env::var("MCPTEST_MODE").unwrap() == "play";
    assert_eq!(plays, key != KEY, "{key}");
    let system = if change("another system prompt") {
        "You are a quick refund clerk."
    } else {
        "You are a refund clerk."
    };
    // What is another value in every run.
    let changes = change("values that change");
    let now = std::time::SystemTime::UNIX_EPOCH
        .elapsed()
        .unwrap()
        .subsec_nanos();
    // A number of as many digits in every run, as an identifier has.
    let now = 100_000_000 + now % 900_000_000;
    let system = if changes {
        format!("{system} It is 10:15:{:02}.{now:09}.", now % 60)
    } else {
        system.to_owned()
    };
    let mut messages = vec![
        json!({ "role": "system", "content": system }),
        json!({ "role": "user", "content": std::env::var("MCPTEST_PROMPT").unwrap() }),
    ];
    let tool = |name: &str, text: &str| {
        let schema = json!({ "type": "object", "properties": { "order": { "type": "integer" } } });
        json!({ "type": "function", "function": { "name": name, "description": text, "parameters": schema } })
    };
    let mut tools = vec![
        tool("get_order", "Looks an order up."),
        tool("refund", "Pays it back."),
    ];
    if change("a tool removed") {
        tools.pop();
    }
    let ask = |messages: &[Value]| {
        let body = json!({ "model": "gpt-5", "messages": messages, "tools": tools });
        agent::ask(&body)
    };
    let run = |call: &Value| {
        let mut args: Value =
            serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
        if change("an argument changed") {
            args["order"] = json!(args["order"].as_u64().unwrap() + 1);
        }
        match args["order"].as_u64() {
            Some(8) if change("an error swallowed") => {
                json!({ "order": 8, "status": "ok" }).to_string()
            }
            Some(order) if change("another field") => {
                json!({ "id": order, "status": "delivered" }).to_string()
            }
            Some(8) if changes => format!("Error: there is no order 8 (request {now})"),
            Some(8) => "Error: there is no order 8".to_owned(),
            Some(order) if changes => {
                json!({ "order": order, "status": "delivered", "found": { "by": format!("RQ-{now:09}"), "at": now } }).to_string()
            }
            // Another order of keys is the same value.
            Some(order) if change("another order of keys") => {
                format!("{{\"status\":\"delivered\", \"order\":{order}}}")
            }
            order => json!({ "order": order, "status": "delivered" }).to_string(),
        }
    };
    if change("a log line") {
        println!("asking");
        eprintln!("asking");
    }
    for turn in 0.. {
        let message = ask(&messages);
        if let Some(said) = message["content"].as_str() {
            let ends = if change("another closing") { "!" } else { "" };
            println!("{said}{ends}");
        }
        if change("a call too many") {
            ask(&messages);
        }
        messages.push(message.clone());
        if change("a past call edited") && turn == 0 {
            messages[2]["tool_calls"][0]["function"]["arguments"] = "{\"order\":70}".into();
        }
        let mut calls = message["tool_calls"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        if calls.is_empty() || (change("a call too few") && turn == 1) {
            break;
        }
        if change("calls awaited in another order") {
            calls.reverse();
        }
        for call in calls {
            let content = run(&call);
            messages
                .push(json!({ "role": "tool", "tool_call_id": call["id"], "content": content }));
        }
    }
    assert!(!change("a crash at the end"), "the agent gave up");
}

/// The agent as words of YAML.
fn program() -> Value {
    json!(agent::program("agent"))
}

fn suite(playback: &str) -> String {
    format!(
        "agents:\n- name: Refund agent\n  model: gpt-5\n  prompt: Where are 7 and 8?\n  runs: 2\n  command: {}\n  \
         expect: [{{ target: final_response, matcher: {{ contains: 7 }} }}]\n  trajectory: {{ mode: superset, calls: [{{ name: get_order }}, {{ name: get_order }}] }}\n  playback: {playback}\n",
        program()
    )
}

/// A folder with two recorded runs: calls in parallel, and one after the other.
fn recorded(playback: &str) -> Folder {
    recorded_as(playback, "", |suite| suite)
}

/// A folder with two recorded runs. `change` is a change of the code that is there when it is recorded, `suited`
/// edits the suite.
fn recorded_as(playback: &str, change: &str, suited: fn(String) -> String) -> Folder {
    let (folder, said) = recording(playback, change, suited);
    said.exits(0);
    folder
}

/// A folder with two recorded runs, and the output of the command that recorded them.
fn recording(playback: &str, change: &str, suited: fn(String) -> String) -> (Folder, Finished) {
    let call = |order: u32| json!({ "name": "get_order", "args": { "order": order } });
    let asks =
        |calls: Value| json!({ "calls": calls, "usage": { "prompt": 100, "completion": 10 } });
    let says = |text: &str| json!({ "text": text, "usage": { "prompt": 150, "completion": 8 } });
    let script = json!({ "key": KEY, "conversations": [{ "user": "Where are 7 and 8?", "model": "gpt-5", "runs": [
        [asks(json!([call(7), call(8)])), asks(json!([call(7)])), says("Only 7 is there.")],
        [asks(json!([call(7)])), asks(json!([call(8)])), says("7 was delivered.")],
    ] }] });
    let model = Provider::start(Script::from_json(&script.to_string()).unwrap()).unwrap();
    let folder = Folder::new().with_file("suites/refunds.yml", suited(suite(playback)));
    let mut record = mcptest(&folder, change, &["record"]);
    record.env("OPENAI_BASE_URL", format!("{}/v1", model.url()));
    let said = run(&mut record);
    (folder, said)
}

fn mcptest(folder: &Folder, change: &str, arguments: &[&str]) -> Command {
    let mut command: Command = command(env!("CARGO_BIN_EXE_cargo-mcptest"), folder.path());
    command.arg("mcptest").args(arguments);
    command
        .env("AGENT_CHANGE", change)
        .env("OPENAI_API_KEY", KEY);
    command
}

fn plays(folder: &Folder, change: &str) -> Finished {
    run(&mut mcptest(folder, change, &["test", "::playback"]))
}

#[test]
fn each_change_of_the_code_is_red_with_its_place_and_what_means_nothing_stays_green() {
    let folder = recorded("{}");
    for (change, told) in [
        (
            "another system prompt",
            "in every run: model call 1 of 3: the system prompt differs",
        ),
        (
            "a tool removed",
            "in every run: model call 1 of 3: the tool `refund` is no longer offered",
        ),
        (
            "an argument changed",
            "model call 2 of 3: the result of `get_order` differs (`tool_results[0]`)",
        ),
        (
            "an error swallowed",
            "model call 2 of 3: the result of `get_order` differs (`tool_results[1]`)",
        ),
        (
            "a past call edited",
            "in every run: model call 2 of 3: turn 1 of the model calls `get_order` with other arguments",
        ),
        (
            "a call too many",
            "in every run: model call 1 of 3: the code sends this request again, although the request was answered",
        ),
        (
            "a call too few",
            "in every run: model call 3 of 3: the code never asks for the recorded answer",
        ),
    ] {
        let red = plays(&folder, change).exits(101);
        assert!(red.stdout.contains(told), "{change}\n{red}");
        assert!(
            red.stdout
                .contains("  cargo mcptest record --all --exact refunds::refund_agent\n"),
            "{red}"
        );
    }
    for change in [
        "",
        "another order of keys",
        "a log line",
        "calls awaited in another order",
    ] {
        plays(&folder, change).exits(0);
    }
    // The diff shows both values.
    let red = plays(&folder, "another system prompt").exits(101);
    assert!(red.stdout.contains("-You are a refund clerk.\n"), "{red}");
    assert!(
        red.stdout.contains("+You are a quick refund clerk.\n"),
        "{red}"
    );
}

#[test]
fn the_guide_shows_red_cases_as_they_are() {
    let folder = recorded("{}");
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/playback.md");
    let page = std::fs::read_to_string(page).unwrap();
    let blocks = page.split("<!-- shown: ").skip(1);
    let mut shown = 0;
    for block in blocks {
        let (change, rest) = block.split_once(" -->\n```text\n").unwrap();
        let (block, _) = rest.split_once("\n```").unwrap();
        let red = plays(&folder, change).exits(101);
        for line in block.lines() {
            assert!(
                red.stdout.contains(&format!("{line}\n")),
                "{change}: {line}\n{red}"
            );
        }
        shown += 1;
    }
    assert_eq!(shown, 8);
}

#[test]
fn what_is_ignored_stays_green_and_the_rest_does_not() {
    let folder = recorded("{ ignore: [system_prompt], mask: ['quick '] }");
    plays(&folder, "another system prompt").exits(0);
    plays(&folder, "a tool removed").exits(101);
    let folder = recorded("{ ignore_paths: ['tool_results[*].status'] }");
    plays(&folder, "an argument changed").exits(101);
}

/// After recording, what differs changed by itself. The options that the message proposes make it green, and hide no word.
#[test]
fn values_that_change_by_themselves_are_told_with_the_options_that_leave_them_out() {
    const CHANGES: &str = "values that change";
    let (folder, said) = recording("{}", CHANGES, |suite| suite);
    let said = said.exits(1);
    for told in [
        "  the recording is of a moment ago, so these values change by themselves:\n",
        "  - `system_prompt`: `10:15:",
        "  - `tool_results[*].found.at`: `",
        "  - `tool_results[*].found.by`: `RQ-",
        "ignore_paths: ['tool_results[*].found.at', 'tool_results[*].found.by'] }\n",
    ] {
        assert!(said.stdout.contains(told), "{told}\n{said}");
    }
    assert!(
        !said.stdout.contains("if you did not want this change"),
        "{said}"
    );
    let (_, options) = said
        .stdout
        .split_once("comparison, write: playback: ")
        .unwrap();
    let options = options.lines().next().unwrap();
    folder.write("suites/refunds.yml", suite(options));
    plays(&folder, CHANGES).exits(0);
    for (change, told) in [
        ("another system prompt", "the system prompt differs"),
        ("an argument changed", "the result of `get_order` differs"),
        ("an error swallowed", "the result of `get_order` differs"),
    ] {
        let red = plays(&folder, &format!("{CHANGES}, {change}")).exits(101);
        assert!(red.stdout.contains(told), "{change}\n{red}");
    }
    // Later, nobody knows whether the code was changed: a time is named, and both ways out.
    folder.write("suites/refunds.yml", suite("{}"));
    let later = plays(&folder, CHANGES).exits(101);
    for told in [
        "  these values look new in every run:\n",
        "  - `system_prompt`: `10:15:",
        "if you did not want this change, correct the code",
    ] {
        assert!(later.stdout.contains(told), "{told}\n{later}");
    }
    let folder = recorded("{}");
    let red = plays(&folder, "another system prompt").exits(101);
    let told = "\n  new in every run (a date, an id)? `playback: { mask: ['…'] }`, or `ignore_paths: ['tool_results[*].…']` for a value of a result\n";
    assert!(red.stdout.contains(told), "{red}");
}

#[test]
fn what_the_program_prints_is_compared_where_that_is_what_the_user_reads() {
    // The agent's runner says how long it took.
    let folder = recorded_as("{ mask: ['finished in [0-9.]+s'] }", "", |suite| {
        suite.replace("  playback:", "  closing: stdout\n  playback:")
    });
    plays(&folder, "").exits(0);
    let red = plays(&folder, "another closing").exits(101);
    for told in [
        "in run 1: the output of the program differs",
        "-Only 7 is there.\n",
        "+Only 7 is there.!\n",
    ] {
        assert!(red.stdout.contains(told), "{told}\n{red}");
    }
    // Without it, the closing is what the model said last.
    plays(&recorded("{}"), "another closing").exits(0);
}

#[test]
fn code_that_asks_each_question_twice_on_purpose_stays_green_and_asking_once_does_not() {
    let folder = recorded_as("{}", "a call too many", |suite| suite);
    plays(&folder, "a call too many").exits(0);
    let red = plays(&folder, "").exits(101);
    let told = "the code never asks for the recorded answer";
    assert!(red.stdout.contains(told), "{red}");
    let run = folder.at("suites/cassettes/Refund_agent__gpt-5/run-1.json");
    let run: Value = serde_json::from_str(&std::fs::read_to_string(run).unwrap()).unwrap();
    assert_eq!(run["session"].get("retries"), None);
    // Six answers, of which three are the agent's own talk.
    let conversation = &run["trace"]["conversation"];
    assert_eq!(conversation["steps"].as_array().unwrap().len(), 3);
    assert_eq!(conversation["tokens"]["total"], 2 * (110 + 110 + 158));
}

#[test]
fn code_that_fails_at_the_end_is_red_though_it_asked_what_was_recorded() {
    let folder = recorded("{}");
    let red = plays(&folder, "a crash at the end").exits(101);
    assert!(
        red.stdout
            .contains("the program ended with exit status: 101"),
        "{red}"
    );
    assert!(red.stdout.contains("the agent gave up"), "{red}");
}

#[test]
fn a_gate_that_holds_for_the_recording_and_not_for_the_played_run_is_told() {
    let folder = recorded(
        "{ expect: [{ target: playback.divergences, matcher: { max: 9 } }, { target: playback.passed, matcher: { exact: 1 } }] }",
    );
    let red = plays(&folder, "a call too few").exits(101);
    assert!(
        red.stdout
            .contains("these hold for the recording, but not for the played run"),
        "{red}"
    );
    let data = run(&mut mcptest(
        &folder,
        "a call too few",
        &["report", "--format", "json"],
    ))
    .exits(1);
    let data: Value = serde_json::from_str(&data.stdout).unwrap();
    assert!(data.to_string().contains("refunds::refund_agent::playback"));
    let case = "refunds::refund_agent::playback";
    let told = run(&mut mcptest(&folder, "a call too few", &["explain", case]));
    assert!(
        told.stdout
            .contains("the code never asks for the recorded answer"),
        "{told}"
    );
    let told = run(&mut mcptest(&folder, "", &["explain", case])).exits(0);
    assert!(
        told.stdout
            .contains("the code made 3 model calls, each as recorded"),
        "{told}"
    );
}

#[test]
fn an_agent_without_code_of_its_own_cannot_be_played() {
    let folder = recorded("{}");
    folder.write(
        "suites/refunds.yml",
        suite("{}").replace(&format!("  command: {}\n", program()), ""),
    );
    let red = plays(&folder, "").exits(101);
    assert!(
        red.stdout
            .contains("`playback` runs the agent's own code, and this agent has neither `command:` nor a function"),
        "{red}"
    );
}

#[test]
fn nothing_but_its_own_code_replaces_the_recordings_of_an_agent_that_is_played() {
    let folder = recorded("{}");
    let without = suite("{}").replace(&format!("  command: {}\n", program()), "");
    folder.write("suites/refunds.yml", &without);
    let first = folder.at("suites/cassettes/Refund_agent__gpt-5/run-1.json");
    let before = std::fs::read_to_string(&first).unwrap();
    let record = |told: [&str; 2]| {
        let said = run(&mut mcptest(&folder, "", &["record", "--all"])).exits(1);
        for told in told {
            assert!(said.stdout.contains(told), "{told}\n{said}");
        }
        assert_eq!(std::fs::read_to_string(&first).unwrap(), before);
    };
    record([
        "error: `playback` runs the agent's own code, and this agent has neither `command:` nor a function\n",
        "  playback: {}\n",
    ]);
    // In a crate the agent may be a function of the tests, which the command does not know.
    let manifest = "[package]\nname = \"desk\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[package.metadata.mcptest]\nroots = [\"suites\"]\n\n[workspace]\n";
    folder.write("Cargo.toml", manifest);
    folder.write("src/lib.rs", "");
    record([
        "error: `Refund agent` has no `command:`; if the agent is a function of its crate, `cargo test` plays it\n",
        "record such a function with `MCPTEST_RECORD=all cargo test`",
    ]);
    // What has runs and no code here is not played, and says so.
    run(&mut mcptest(&folder, "", &["record", "::playback"])).exits(0);
}

/// Each run of the agent leaves a line in a file.
#[test]
fn code_runs_once_for_each_recording_and_only_for_commands_whose_help_says_so() {
    let folder = recorded("{}");
    let counted = suite("{}") + "  reliability: { outcome: [playback, trajectory] }\n";
    let effects = folder.at("effects");
    let ran = |arguments: &[&str]| {
        _ = std::fs::remove_file(&effects);
        let mut command = mcptest(&folder, "", arguments);
        let said = run(command.env("AGENT_EFFECTS", &effects));
        let paid = std::fs::read_to_string(&effects).unwrap_or_default();
        (paid.lines().count(), said)
    };
    for suite in [suite("{}"), counted] {
        folder.write("suites/refunds.yml", &suite);
        for (arguments, times) in [
            (&["test"][..], 2),
            (&["test", "::trajectory"], 0),
            (&["play"], 2),
            (&["report"], 2),
            (&["report", "--format", "json"], 2),
            (&["report", "--calibrate", "--mutants"], 2),
            (&["explain"], 2),
            (&["explain", "::playback"], 2),
            (&["explain", "::trajectory"], 0),
            (&["calibrate"], 0),
            (&["calibrate", "--outcome", "gates", "--values"], 0),
            (&["mutants"], 0),
            (&["validate"], 0),
            (&["compare", "suites/cassettes"], 0),
            (&["record"], 2),
            (&["record", "--format", "json"], 2),
        ] {
            let (paid, said) = ran(arguments);
            assert_eq!(paid, times, "{arguments:?} of {suite}\n{said}");
            if times > 0 {
                let (_, help) = ran(&[arguments[0], "--help"]);
                let help = help.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
                for told in ["own code", "once", "for each recording"] {
                    assert!(help.contains(told), "{arguments:?}: {help}");
                }
            }
        }
    }
    // Results that were made elsewhere are shown, and nothing runs for them.
    let mut test = mcptest(&folder, "", &["test"]);
    run(test.env("MCPTEST_RESULTS", folder.at("results")));
    let (paid, said) = ran(&["explain", "--results", "results"]);
    assert_eq!(paid, 0, "{said}");
}

#[test]
fn the_report_shows_the_played_run_beside_the_recorded_one() {
    let folder = recorded("{}");
    let runs = |change: &str, status: i32| {
        let arguments = ["report", "--output", "report.html"];
        run(&mut mcptest(&folder, change, &arguments)).exits(status);
        let page = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
        piece(&page, "agent-0")["runs"].clone()
    };
    for run in runs("an error swallowed", 1).as_array().unwrap() {
        let played = &run["played"];
        let divergence = &played["divergences"][0];
        assert_eq!(divergence["path"], "tool_results[1]");
        assert_eq!(divergence["recorded"], "Error: there is no order 8");
        assert_eq!(played["calls"][0]["differs"], Value::Null);
        assert_eq!(played["calls"][1]["differs"], "another result");
        assert_eq!(played["closing_differs"], false);
    }
    // The first run ends with a call that the code no longer makes, and without its closing.
    let stopped = &runs("a call too few", 1)[0]["played"];
    assert_eq!(stopped["closing_differs"], true);
    assert_eq!(stopped["calls"].as_array().unwrap().len(), 3);
    // What is as recorded has nothing beside it.
    assert_eq!(runs("", 0)[0]["played"], Value::Null);
}

#[test]
fn results_hold_what_differs_as_data() {
    let folder = recorded("{}");
    let arguments = ["test", "::playback"];
    let mut test = mcptest(&folder, "another system prompt", &arguments);
    test.env("MCPTEST_RESULTS", folder.path().join("results"));
    run(&mut test).exits(101);
    let mut data = mcptest(
        &folder,
        "",
        &["report", "--results", "results", "--format", "json"],
    );
    let data: Value = serde_json::from_str(&run(&mut data).exits(1).stdout).unwrap();
    let played = find(&data, "played").unwrap_or_else(|| panic!("{data}"));
    assert_eq!(played[1]["run"], 2);
    let divergence = &played[1]["divergences"][0];
    assert_eq!(divergence["kind"], "system_prompt");
    assert_eq!(divergence["recorded"], "You are a refund clerk.");
    assert_eq!(divergence["played"], "You are a quick refund clerk.");
}

/// The first value of a key, however deep.
fn find<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    match value {
        Value::Object(map) => map
            .get(key)
            .or_else(|| map.values().find_map(|value| find(value, key))),
        Value::Array(items) => items.iter().find_map(|value| find(value, key)),
        _ => None,
    }
}

#[test]
fn what_a_played_run_cannot_have_is_that_of_its_recording_and_a_red_one_shows_no_secret() {
    let folder = recorded("{}");
    for number in 1..=2 {
        let file = format!("suites/cassettes/Refund_agent__gpt-5/run-{number}.json");
        let text = std::fs::read_to_string(folder.at(&file)).unwrap();
        let mut run: Value = serde_json::from_str(&text).unwrap();
        run["outcome"] = json!({ "passed": true });
        run["trace"]["conversation"]["duration_ms"] = json!(900);
        folder.write(&file, run.to_string());
    }
    let asks = "calls: { max_ms: 60000, max_call_ms: 60000 }\n  expect: [{ target: outcome.passed, matcher: { exact: true } }, \
                { target: conversation.duration_ms, matcher: { max: 60000 } }]\n  playback:";
    let suite = suite("{}").replace("playback:", asks);
    let (before, after) = suite
        .split_once("  expect: [{ target: final_response")
        .unwrap();
    let (_, after) = after.split_once('\n').unwrap();
    folder.write("suites/refunds.yml", format!("{before}{after}"));
    plays(&folder, "").exits(0);
    let mut red = mcptest(&folder, "another system prompt", &["test", "::playback"]);
    red.env("MCPTEST_RESULTS", folder.path().join("results"))
        .env("CLERK_PASSPHRASE", "quick refund clerk");
    let red = run(&mut red).exits(101);
    assert!(
        red.stdout
            .contains("+You are a [redacted CLERK_PASSPHRASE]."),
        "{red}"
    );
    let results = run(&mut mcptest(
        &folder,
        "",
        &["report", "--results", "results", "--format", "json"],
    ));
    assert!(!results.stdout.contains("quick refund clerk"), "{results}");
}

/// What the code does otherwise stands in the first line of a pull request's comment.
#[test]
fn recordings_that_no_longer_play_are_in_the_first_line_of_the_comment() {
    let folder = recorded("{}");
    for (path, bytes) in e2e_support::folder::collect(&folder.at("suites/cassettes")) {
        folder.write(&format!("before/cassettes/{path}"), bytes);
    }
    let comment = |change: &str| {
        let report = ["report", "--format", "markdown", "--baseline", "before"];
        run(&mut mcptest(&folder, change, &report)).stdout
    };
    let changed = comment("another system prompt");
    let told = "2 of 2 recordings no longer play: record them with `cargo mcptest record --changed refunds::refund_agent`.**";
    assert!(changed.lines().nth(1).unwrap().contains(told), "{changed}");
    let same = comment("");
    assert!(!same.contains("no longer play"), "{same}");
    // Recordings that are not of this suite are not played, and are to be recorded all the same.
    let text = std::fs::read_to_string(folder.at("suites/refunds.yml")).unwrap();
    folder.write(
        "suites/refunds.yml",
        text.replace("prompt: ", "prompt: Hello. "),
    );
    let stale = comment("");
    let told = " **1 agent has no recordings that can be played: record it with `cargo mcptest record --changed refunds::refund_agent`.**";
    assert!(stale.lines().nth(1).unwrap().contains(told), "{stale}");
}
