//! Shards: several machines judge, play and record parts of all agents, and what they leave is read as one.
//! The agent that is recorded is this executable, started as a program once more.
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::fs;
use std::process::{Child, Command, Stdio};

use e2e_support::folder::{Folder, collect};
use e2e_support::process::{Finished, command, run};
use scripted_provider::{Provider, Script};
use serde_json::{Value, json};
use support::agent;

const KEY: &str = "sk-test-shards-2b61f";
const PARTS: [&str; 4] = ["1/4", "2/4", "3/4", "4/4"];

/// The agents of the suites, the last of which calls something else than its suite wants.
const AGENTS: [(&str, &str); 9] = [
    ("refunds", "Refund agent"),
    ("refunds", "Exchange 🚀"),
    ("refunds", "Prüfung"),
    ("refunds", "Agent 4"),
    ("shop/search", "Search"),
    ("shop/search", "Agent 4"),
    ("shop/search", "Compare"),
    ("shop/search", "Order"),
    ("shop/search", "Broken"),
];

fn mcptest(folder: &Folder, arguments: &[&str]) -> Command {
    let mut line = command(env!("CARGO_BIN_EXE_cargo-mcptest"), folder.path());
    line.arg("mcptest").args(arguments);
    line
}

/// Starts the command with what it prints kept.
fn start(line: &mut Command) -> Child {
    line.stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Runs all lines at once.
fn at_once(lines: impl IntoIterator<Item = Command>) -> Vec<Finished> {
    let started: Vec<Child> = lines.into_iter().map(|mut line| start(&mut line)).collect();
    let ended = started.into_iter().map(|child| {
        let output = child.wait_with_output().unwrap();
        Finished {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    });
    ended.collect()
}

fn slug(name: &str) -> String {
    let ascii = |character: char| {
        if character.is_ascii_alphanumeric() {
            character
        } else {
            '_'
        }
    };
    name.chars().map(ascii).collect()
}

/// Two suites with a run of each agent.
fn shop() -> Folder {
    let folder = Folder::new();
    for suite in ["refunds", "shop/search"] {
        let agents = AGENTS.iter().filter(|(of, _)| *of == suite);
        let agents = agents.map(|(_, name)| {
            format!(
                "- name: {}\n  model: gpt-5\n  prompt: p\n  trajectory: {{ mode: strict, calls: [{{ name: find }}] }}\n  calls: {{ max: 3 }}\n",
                json!(name)
            )
        });
        folder.write(
            &format!("suites/{suite}.yml"),
            format!("agents:\n{}", agents.collect::<String>()),
        );
    }
    for (suite, name) in AGENTS {
        let tool = if name == "Broken" { "lose" } else { "find" };
        let beside = suite.rsplit_once('/').map_or("", |(above, _)| above);
        let run = json!({
            "schema_version": "v1", "agent_name": name, "model": "gpt-5", "user_prompt": "p",
            "trace": {
                "tool_calls": [{ "name": tool, "args": { "of": suite } }],
                "tool_results": [{ "call_index": 0, "is_error": false, "result": "done" }],
                "final_response": "Done.",
                "conversation": { "tokens": { "prompt": 90, "completion": 10, "total": 100 }, "stop_reason": "completed" },
            },
        });
        folder.write(
            &format!("suites/{beside}/cassettes/{}__gpt-5.json", slug(name)),
            run.to_string(),
        );
    }
    folder
}

/// Judges all shards at once, each into a folder of its own below one.
fn judge_shards(folder: &Folder, below: &str) -> Vec<Finished> {
    at_once(PARTS.map(|part| {
        let mut line = mcptest(folder, &["test", "--shard", part]);
        line.env("MCPTEST_RESULTS", format!("{below}/{}", &part[..1]));
        line
    }))
}

/// Without how long it took.
fn timeless(text: &str) -> String {
    let attributes = text
        .split(" time=\"")
        .enumerate()
        .map(|(place, part)| match place {
            0 => part,
            _ => part.split_once('"').unwrap().1,
        });
    let text: String = attributes.collect();
    let lines = text
        .lines()
        .filter(|line| !line.contains("\"duration_ms\""));
    lines.map(|line| format!("{line}\n")).collect()
}

fn report(folder: &Folder, format: &str, results: &[&str]) -> String {
    let page = format!("page.{format}");
    let named = results.iter().flat_map(|folder| ["--results", folder]);
    let arguments: Vec<&str> = ["report", "--format", format, "--output", &page]
        .into_iter()
        .chain(named)
        .collect();
    let said = run(&mut mcptest(folder, &arguments)).exits(1);
    assert!(!said.stderr.contains("note:"), "{said}");
    timeless(&fs::read_to_string(folder.at(&page)).unwrap())
}

#[test]
fn four_shards_at_once_are_the_bytes_of_one_whole_run() {
    let folder = shop();
    let whole = run(mcptest(&folder, &["test"]).env("MCPTEST_RESULTS", "whole")).exits(101);
    let shards = judge_shards(&folder, "parts");
    // Each case is in one shard, and all cases of an agent are in the same.
    let mut seen = Vec::new();
    for shard in &shards {
        let cases: Vec<String> = shard.outcomes().into_keys().collect();
        for (suite, name) in AGENTS {
            let suite = suite.replace('/', "::");
            let name = name.to_lowercase().replace(" 🚀", "").replace(' ', "_");
            let own = cases
                .iter()
                .filter(|case| case.starts_with(&format!("{suite}::{name}")));
            assert!([0, 3].contains(&own.count()), "{shard}");
        }
        seen.extend(cases);
        let is_red = shard.stdout.contains("FAILED");
        assert_eq!(shard.code, Some(if is_red { 101 } else { 0 }), "{shard}");
    }
    seen.sort_unstable();
    assert_eq!(seen, whole.outcomes().into_keys().collect::<Vec<_>>());
    assert_eq!(seen.len(), 27);
    assert_eq!(
        shards
            .iter()
            .filter(|shard| shard.code == Some(101))
            .count(),
        1
    );

    let each = ["parts/3", "parts/1", "parts/4", "parts/2"];
    for format in ["junit", "json", "markdown", "html"] {
        let expected = report(&folder, format, &["whole"]);
        assert_eq!(report(&folder, format, &each), expected, "{format}");
        assert_eq!(report(&folder, format, &["parts"]), expected, "{format}");
    }
    // Into one folder at once.
    let together = at_once(PARTS.map(|part| {
        let mut line = mcptest(&folder, &["test", "--shard", part]);
        line.env("MCPTEST_RESULTS", "one");
        line
    }));
    assert_eq!(together.len(), 4);
    assert_eq!(
        report(&folder, "json", &["one"]),
        report(&folder, "json", &["whole"])
    );
    let compared = run(&mut mcptest(&folder, &["compare", "whole", "parts"]));
    assert_eq!(compared.stderr, "", "{compared}");
    assert!(compared.stdout.contains("9 "), "{compared}");
}

#[test]
fn a_set_with_a_hole_is_refused_and_names_it() {
    let folder = shop();
    judge_shards(&folder, "parts");
    let refused = |results: &[&str]| {
        let named = results.iter().flat_map(|folder| ["--results", folder]);
        let arguments: Vec<&str> = ["report", "--format", "junit"]
            .into_iter()
            .chain(named)
            .collect();
        let said = run(&mut mcptest(&folder, &arguments)).exits(2);
        assert_eq!(said.stdout, "");
        said.stderr
    };
    let said = refused(&["parts/1", "parts/2", "parts/4"]);
    assert!(
        said.contains("the shard 3/4 is missing: its machine did not end, or its results are not here; 3 of 4 shards are"),
        "{said}"
    );
    let said = refused(&["parts/4"]);
    assert!(
        said.contains("the shards 1/4, 2/4, 3/4 are missing: their machines did not end"),
        "{said}"
    );
    // A shard that was killed leaves results of some cases, and no word that it ended.
    fs::remove_file(folder.at("parts/2/2-of-4.shard")).unwrap();
    let said = refused(&["parts"]);
    assert!(said.contains("the shard 2/4 is missing"), "{said}");
    let said = run(&mut mcptest(&folder, &["compare", "parts"]))
        .exits(2)
        .stderr;
    assert!(said.contains("the shard 2/4 is missing"), "{said}");
    // Of another division.
    run(mcptest(&folder, &["test", "--shard", "2/3"]).env("MCPTEST_RESULTS", "parts/2"));
    let said = refused(&["parts"]);
    assert!(
        said.contains("two divisions into shards, 1/4 and 2/3"),
        "{said}"
    );
    fs::remove_file(folder.at("parts/2/2-of-3.shard")).unwrap();
    // By other suites: also where no case of the changed suite is in this shard.
    folder.write(
        "suites/more.yml",
        "agents:\n- { name: New, model: m, prompt: p, skip: not yet, calls: {} }\n",
    );
    run(mcptest(&folder, &["test", "--shard", "2/4"]).env("MCPTEST_RESULTS", "parts/2"));
    let said = refused(&["parts"]);
    assert!(
        said.contains("the shards 1/4 and 2/4 were judged by different suites"),
        "{said}"
    );
    // What is no such file is not taken for one.
    fs::remove_file(folder.at("suites/more.yml")).unwrap();
    folder.write("parts/2/2-of-4.shard", "{}");
    let said = refused(&["parts"]);
    assert!(
        said.contains("2/2-of-4.shard: it has the format ``"),
        "{said}"
    );
    // Results of another time of one case.
    judge_shards(&folder, "parts");
    let file = "suites/shop/cassettes/Search__gpt-5.json";
    let text = fs::read_to_string(folder.at(file)).unwrap();
    folder.write(file, text.replace("Done.", "It is done."));
    judge_shards(&folder, "later");
    let said = refused(&["parts", "later"]);
    assert!(
        said.contains("there are two different results of `shop::search::search`"),
        "{said}"
    );
}

#[test]
fn a_shard_without_a_case_holds_and_says_so() {
    let folder = shop();
    let total = 40;
    let mut empty = 0;
    for number in 1..=total {
        let part = format!("--shard={number}/{total}");
        let said = run(mcptest(&folder, &["test", &part]).env("MCPTEST_RESULTS", "results"));
        let told = format!(
            "note: no case of the shard {number}/{total} was chosen; there are 27 cases in all shards\n"
        );
        if said.outcomes().is_empty() {
            let said = said.exits(0);
            assert_eq!(said.stderr, told);
            assert!(
                said.stdout
                    .contains("0 passed; 0 failed; 0 ignored; 0 measured; 27 filtered out"),
                "{said}"
            );
            empty += 1;
        } else {
            assert!(!said.stderr.contains("was chosen"), "{said}");
        }
    }
    assert!(empty >= total - AGENTS.len(), "{empty}");
    let said = run(&mut mcptest(
        &folder,
        &["report", "--format", "junit", "--results", "results"],
    ))
    .exits(1);
    assert!(said.stdout.contains("tests=\"27\""), "{said}");
}

#[test]
fn what_is_no_shard_is_refused() {
    let folder = shop();
    let before = collect(folder.path());
    let from_one =
        "shards are counted from 1, as nextest counts them: the first is `1/4`, the last is `4/4`";
    for line in [&["test"][..], &["record"], &["play"], &["mutants"]] {
        let said = run(&mut mcptest(&folder, &[line, &["--shard", "0/4"]].concat())).exits(2);
        assert!(said.stderr.contains(from_one), "{said}");
        let said = run(&mut mcptest(&folder, &[line, &["--shard", "5/4"]].concat())).exits(2);
        assert!(said.stderr.contains("from `1/4` to `4/4`"), "{said}");
    }
    // Behind a filter it is an argument of the test.
    let said = run(&mut mcptest(
        &folder,
        &["test", "refunds", "--shard", "0/4"],
    ))
    .exits(101);
    assert!(said.stderr.contains(from_one), "{said}");
    let said = run(&mut mcptest(
        &folder,
        &["test", "refunds", "--shard", "1/1"],
    ))
    .exits(0);
    assert_eq!(said.outcomes().len(), 12, "{said}");
    assert!(collect(folder.path()) == before);
}

/// No machine passes while a suite does not load.
#[test]
fn a_suite_that_does_not_load_is_red_in_every_shard() {
    let folder = shop();
    folder.write("suites/bad.yml", "agents: 7\n");
    for shard in judge_shards(&folder, "parts") {
        assert_eq!(shard.code, Some(101), "{shard}");
        assert!(shard.stdout.contains("test bad::load"), "{shard}");
    }
    let said = run(&mut mcptest(
        &folder,
        &["report", "--format", "junit", "--results", "parts"],
    ))
    .exits(2);
    assert_eq!(said.stdout.matches("name=\"load\"").count(), 1, "{said}");
}

/// The agent of the recordings: it asks once.
#[test]
#[ignore = "the agent of the other tests, which they start"]
fn agent() {
    if std::env::var_os("OPENAI_BASE_URL").is_none() {
        return;
    }
    let prompt = std::env::var("MCPTEST_PROMPT").unwrap();
    let body = json!({ "model": "gpt-5", "max_completion_tokens": 100, "messages": [{ "role": "user", "content": prompt }] });
    agent::ask(&body);
}

/// A suite of eight agents with two runs each, and a provider for it.
fn recordable(head: &str) -> (Folder, Provider) {
    let program = json!(agent::program("agent"));
    let agents = (1..=8).map(|number| {
        format!("- name: Agent {number}\n  model: gpt-5\n  prompt: Question {number}\n  runs: 2\n  command: {program}\n  playback: {{}}\n")
    });
    let suite = format!("{head}agents:\n{}", agents.collect::<String>());
    let says = |text: &str| json!({ "text": text, "usage": { "prompt": 40, "completion": 100 } });
    let conversations = (1..=8).map(|number| {
        json!({ "user": format!("Question {number}"), "model": "gpt-5", "runs": [[says("Yes.")], [says("No.")]] })
    });
    let script = json!({ "key": KEY, "conversations": conversations.collect::<Vec<_>>() });
    let provider = Provider::start(Script::from_json(&script.to_string()).unwrap()).unwrap();
    (Folder::new().with_file("suites/a.yml", suite), provider)
}

fn record(folder: &Folder, provider: &Provider, part: &str) -> Command {
    let mut line = mcptest(folder, &["record", "--shard", part]);
    line.env("OPENAI_BASE_URL", format!("{}/v1", provider.url()))
        .env("OPENAI_API_KEY", KEY);
    line
}

#[test]
fn shards_record_and_play_each_agent_once() {
    let (folder, provider) = recordable("");
    let recorded = at_once(PARTS.map(|part| record(&folder, &provider, part)));
    for shard in &recorded {
        assert_eq!(shard.code, Some(0), "{shard}");
    }
    // Both runs of each agent, asked once.
    assert_eq!(provider.requests().len(), 16);
    for number in 1..=8 {
        for run in 1..=2 {
            let file = folder.at(&format!(
                "suites/cassettes/Agent_{number}__gpt-5/run-{run}.json"
            ));
            assert!(file.is_file(), "{}", file.display());
        }
        let told = format!("recorded 2 runs of `Agent {number}`");
        let by = recorded.iter().filter(|shard| shard.stderr.contains(&told));
        assert_eq!(by.count(), 1, "{told}");
    }
    drop(provider);
    let played = at_once(PARTS.map(|part| mcptest(&folder, &["play", "--shard", part])));
    let mut cases = Vec::new();
    for shard in &played {
        assert_eq!(shard.code, Some(0), "{shard}");
        cases.extend(shard.outcomes().into_keys());
    }
    cases.sort_unstable();
    let all: Vec<String> = (1..=8)
        .map(|number| format!("a::agent_{number}::playback"))
        .collect();
    assert_eq!(cases, all);
    // Without a case there is nothing to record, and that holds.
    let provider = recordable("").1;
    let nothing = run(&mut record(&folder, &provider, "1/1000")).exits(0);
    assert!(
        nothing
            .stderr
            .contains("note: no case of the shard 1/1000 was chosen"),
        "{nothing}"
    );
    assert!(provider.requests().is_empty());
}

/// What is said for programs has the cases of the shard alone, and what compares all agents waits until all are there.
#[test]
fn a_shard_that_records_judges_its_own_agents() {
    let (folder, provider) = recordable("regression: { baseline: trusted }\n");
    let mut names = Vec::new();
    for part in PARTS {
        let mut line = record(&folder, &provider, part);
        let said = run(line.args(["--format", "json"]));
        let said: Value = serde_json::from_str(&said.stdout).unwrap_or_else(|_| panic!("{said}"));
        let cases = said["cases"].as_array().unwrap().iter();
        names.extend(cases.map(|case| case["case"].as_str().unwrap().to_owned()));
    }
    assert_eq!(provider.requests().len(), 16);
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 24, "{names:?}");
    assert!(!names.contains(&"a::regression".to_owned()));
}

/// Each shard may spend the share of its runs, also while others spend theirs on one machine.
#[test]
fn shards_share_a_budget_by_their_runs() {
    // A run costs 0.105 cents, and 16 of them 1.7 cents.
    let (folder, provider) = recordable("budget: { per_suite_usd_cents: 40 }\n");
    for shard in at_once(PARTS.map(|part| record(&folder, &provider, part))) {
        assert_eq!(shard.code, Some(0), "{shard}");
    }
    assert_eq!(provider.requests().len(), 16);
    let (folder, provider) = recordable("budget: { per_suite_usd_cents: 1 }\n");
    let shards = at_once(PARTS.map(|part| record(&folder, &provider, part)));
    let stopped: Vec<&Finished> = shards
        .iter()
        .filter(|shard| shard.code == Some(1))
        .collect();
    assert!(!stopped.is_empty(), "{shards:?}");
    for shard in stopped {
        assert!(
            shard.stdout.contains("stopped before overspending: $"),
            "{shard}"
        );
        assert!(
            shard
                .stdout
                .contains("of it are for the runs of the shard "),
            "{shard}"
        );
    }
    // All of them together spent no more than there is.
    let asked = provider.requests().len();
    assert!((1..=9).contains(&asked), "{asked}");
}

/// The workflow of the page on CI: each machine's steps, with stand-ins for what carries files between them.
#[test]
fn the_workflow_of_the_docs_judges_in_parts_and_reports_them_together() {
    let page = format!("{}/../docs/ci.md", env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(page).unwrap();
    let (_, block) = page
        .split_once("<!-- workflow: shards.yml -->\n```yml\n")
        .unwrap();
    let (block, _) = block.split_once("```\n").unwrap();
    let workflow: Value = serde_saphyr::from_str(block).unwrap();
    let steps = |job: &str| workflow["jobs"][job]["steps"].as_array().unwrap().clone();
    let run_of = |step: &Value| {
        let words = step["run"].as_str()?.strip_prefix("cargo mcptest ")?;
        Some(words.split(' ').map(str::to_owned).collect::<Vec<_>>())
    };
    let shards = workflow["jobs"]["judge"]["strategy"]["matrix"]["shard"]
        .as_array()
        .unwrap();
    assert_eq!(shards.len(), 4);
    let folder = shop();
    for shard in shards {
        // A machine of its own.
        let machine = Folder::new();
        for (path, bytes) in collect(folder.path()) {
            if path.starts_with("suites/") {
                machine.write(&path, bytes);
            }
        }
        let number = shard.to_string();
        let mut uploaded = None;
        for step in steps("judge") {
            if let Some(words) = run_of(&step) {
                let text = words.join(" ").replace("${{ matrix.shard }}", &number);
                let words: Vec<&str> = text.split(' ').collect();
                let mut line = mcptest(&machine, &words);
                let results = step["env"]["MCPTEST_RESULTS"].as_str().unwrap();
                run(line.env("MCPTEST_RESULTS", results).env("CI", "true"));
            }
            if step["uses"]
                .as_str()
                .is_some_and(|uses| uses.contains("upload-artifact"))
            {
                uploaded = Some((
                    step["with"]["name"]
                        .as_str()
                        .unwrap()
                        .replace("${{ matrix.shard }}", &number),
                    step["with"]["path"].as_str().unwrap().to_owned(),
                ));
            }
        }
        let (name, path) = uploaded.unwrap();
        for (file, bytes) in collect(&machine.at(&path)) {
            folder.write(&format!("results/{name}/{file}"), bytes);
        }
    }
    let report = steps("report").iter().find_map(run_of).unwrap();
    let words: Vec<&str> = report.iter().map(String::as_str).collect();
    run(&mut mcptest(&folder, &words)).exits(1);
    let junit = fs::read_to_string(folder.at("junit.xml")).unwrap();
    assert!(junit.contains("tests=\"27\""), "{junit}");
}
