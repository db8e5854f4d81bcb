//! `action.yml`: its very steps, run as GitHub runs them, with a stand-in for `gh` that keeps comments in a folder.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod expression;
mod flow;
mod job;
mod machine;
mod own;
#[path = "../support/mod.rs"]
mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use job::Job;
use machine::{Machine, QUERY, action};
use serde_json::{Value, json};
use support::four_agents::{four_agents, run, write_runs};

const WORSE: &str = "1 of 4 agents got worse (`a_refund`: 6 of 6 → 1 of 6)";

/// What GitHub needs of a composite action: <https://docs.github.com/actions/creating-actions/metadata-syntax-for-github-actions>.
#[test]
fn it_is_what_composite_actions_are() {
    let action = action();
    assert_eq!(action["runs"]["using"], "composite");
    for key in ["name", "description"] {
        assert!(action[key].is_string(), "{key}");
    }
    for (name, input) in action["inputs"].as_object().unwrap() {
        assert!(input["description"].is_string(), "{name}");
        // All have a default, so that none is required.
        assert!(input["default"].is_string(), "{name}: {input}");
    }
    let ids: Vec<&Value> = action["runs"]["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| &step["id"])
        .collect();
    let status = action["outputs"]["status"]["value"].as_str().unwrap();
    assert_eq!(status, "${{ steps.compare.outputs.status }}");
    assert!(ids.contains(&&json!("compare")));
    for step in action["runs"]["steps"].as_array().unwrap() {
        assert_eq!(step["shell"], "bash", "{step}");
        let keys = [
            "name",
            "id",
            "if",
            "shell",
            "working-directory",
            "env",
            "run",
        ];
        let own = step.as_object().unwrap().keys();
        assert!(
            own.clone().all(|key| keys.contains(&key.as_str())),
            "{own:?}"
        );
        // What others wrote would be a part of the script.
        let run = step["run"].as_str().unwrap();
        assert!(!run.contains("${{"), "{run}");
        for value in step["env"].as_object().unwrap().values() {
            assert!(value.is_string(), "{step}");
        }
    }
}

#[test]
fn the_first_push_makes_a_comment_and_the_next_one_edits_it() {
    let job = Job::new();
    // Of somebody else, who begins as the action does.
    let foreign = "<!-- mcptest: suites/desk.yml -->\nmine\n";
    job.comment(5, "mallory", foreign);
    let first = job.run();
    assert_eq!(first.code, Some(1), "{first}");
    let written = job.comments();
    assert_eq!(written.len(), 2, "{written:?}");
    let comment = &written["101"];
    assert!(
        comment.starts_with("<!-- mcptest: suites/desk.yml -->\n**"),
        "{comment}"
    );
    assert!(comment.contains(WORSE), "{comment}");
    assert_eq!(job.summary().trim(), comment.trim());

    // The second push mends it.
    write_runs(&job.folder, "suites/", 0);
    let second = job.run();
    assert_eq!(second.code, Some(0), "{second}");
    let written = job.comments();
    assert_eq!(written.len(), 2, "{written:?}");
    assert_eq!(written["5"], foreign);
    assert!(
        written["101"]
            .contains("Nothing changed: the recordings of 4 agents are the same on both sides."),
        "{written:?}"
    );
    assert!(!written["101"].contains(WORSE));

    // The expression that the stand-in has in bash says the same in jq, where the machine has it.
    let all: Vec<Value> = job
        .comments()
        .iter()
        .map(|(id, body)| {
            let author = job.author(id);
            json!({ "id": id.parse::<u64>().unwrap(), "user": { "login": author }, "body": body.replace('\n', "\r\n") })
        })
        .collect();
    let jq = Command::new("jq")
        .args(["-r", QUERY])
        .env("AUTHOR", "github-actions[bot]")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    if let Ok(mut jq) = jq {
        serde_json::to_writer(jq.stdin.take().unwrap(), &all).unwrap();
        let said = jq.wait_with_output().unwrap();
        assert_eq!(
            String::from_utf8(said.stdout).unwrap(),
            "101 <!-- mcptest: suites/desk.yml -->\n"
        );
    }
}

#[test]
fn each_suite_has_its_comment_and_one_that_is_gone_says_so() {
    let job = Job::new();
    let second = "agents: [{ name: late, model: m, prompt: go, calls: { max: 9 } }]\n";
    job.folder.write("suites/second.yml", second);
    let recording = run("late", "x", 9, true, "go").to_string();
    job.folder
        .write("suites/cassettes/late__m.json", &recording);
    assert_eq!(job.run().code, Some(1));
    let written = job.comments();
    assert_eq!(written.len(), 2, "{written:?}");
    assert!(
        written["101"]
            .contains("There is nothing to compare with yet, 1 new, not compared; the failures are in other suites."),
        "{written:?}"
    );

    fs::remove_file(job.folder.at("suites/second.yml")).unwrap();
    fs::remove_file(job.folder.at("suites/cassettes/late__m.json")).unwrap();
    assert_eq!(job.run().code, Some(1));
    let written = job.comments();
    assert_eq!(written.len(), 2, "{written:?}");
    assert!(written["100"].contains(WORSE), "{written:?}");
    assert_eq!(
        written["101"],
        "<!-- mcptest: suites/second.yml -->\n**This suite is gone**, as of abc123.\n"
    );
}

/// Nobody reads an older verdict for one on what cannot be judged.
#[test]
fn what_cannot_be_compared_is_red_and_said_in_the_comment() {
    let job = Job::new();
    assert_eq!(job.run().code, Some(1));
    job.folder.write("suites/desk.yml", "agnets: []\n");
    let said = job.run();
    assert_eq!(said.code, Some(2), "{said}");
    let written = job.comments();
    assert_eq!(
        written["100"],
        "<!-- mcptest: suites/desk.yml -->\n**The agent tests could not be compared**, as of abc123.\n"
    );
    assert!(
        job.summary()
            .contains("**The agent tests could not be compared**")
    );
    assert!(said.text.contains("error: not all suites load"), "{said}");
}

#[test]
fn that_no_comment_could_be_written_is_told_and_fails_nothing() {
    for (fails, head, why) in [
        (
            "writing",
            "stranger/r",
            "this pull request comes from a fork, whose jobs have no right to",
        ),
        (
            "all",
            "o/r",
            "the job needs `permissions: { pull-requests: write }`; gh says: gh: Resource not accessible by integration (HTTP 403)",
        ),
    ] {
        let mut job = Job::new();
        job.set("github.event.pull_request.head.repo.full_name", head);
        job.variable("GH_FAILS", fails);
        write_runs(&job.folder, "suites/", 0);
        let said = job.run();
        assert_eq!(said.code, Some(0), "{said}");
        assert!(job.comments().is_empty());
        let told = format!("> The comment was not written: {why}");
        assert!(job.summary().contains(&told), "{}", job.summary());
        assert!(
            said.text.contains("::warning::the comment was not written"),
            "{said}"
        );
        // A red comparison stays red.
        write_runs(&job.folder, "suites/", 1);
        assert_eq!(job.run().code, Some(1));
    }
}

/// The comparison alone would hold: nothing was recorded anew.
#[test]
fn recordings_that_no_longer_play_are_red_and_in_the_first_line() {
    let mut job = Job::new();
    write_runs(&job.folder, "suites/", 0);
    let gates = |more: &str| {
        let gates = "calls: { max: 9 }, command: [sh, suites/agent.sh]";
        let agent = format!("name: code, model: m, prompt: go, {gates}{more}");
        let suite = format!("agents:\n  - {{ {agent} }}\n");
        job.folder.write("suites/second.yml", suite);
    };
    // The code asks no model any more.
    job.folder.write("suites/agent.sh", "exit 0\n");
    for side in ["before", "suites"] {
        let recording = run("code", "late", 9, true, "go").to_string();
        let file = format!("{side}/cassettes/code__m.json");
        job.folder.write(&file, &recording);
    }
    gates("");
    let said = job.run();
    assert_eq!(said.code, Some(0), "{said}");
    gates(", playback: {}");
    let said = job.run();
    assert_eq!(said.code, Some(1), "{said}");
    assert!(
        said.text.contains("::error::recordings no longer play"),
        "{said}"
    );
    let comment = &job.comments()["101"];
    let first = comment.lines().nth(1).unwrap();
    assert!(
        first.contains("**1 of 1 recording no longer plays: record them with `cargo mcptest record --changed second::code`.**"),
        "{comment}"
    );
    // It is red also where the comparison cannot tell.
    fs::remove_dir_all(job.folder.at("suites/cassettes/a_refund__m")).unwrap();
    assert_eq!(job.run().code, Some(1));
    // Another red case is for the tests to say.
    write_runs(&job.folder, "suites/", 0);
    gates("");
    let path = job.folder.at("suites/second.yml");
    let suite = fs::read_to_string(&path).unwrap();
    fs::write(&path, suite.replace("max: 9", "max: 0")).unwrap();
    let said = job.run();
    assert_eq!(said.code, Some(1), "{said}");
    assert!(said.text.contains("::error::the tests are red"), "{said}");
    assert!(job.comments()["101"].contains("fail"), "{said}");
    job.input("test", "false");
    let said = job.run();
    assert_eq!(said.code, Some(0), "{said}");
    assert!(job.comments()["101"].contains("fail"), "{said}");
}

#[test]
fn without_a_pull_request_there_is_a_summary_alone() {
    let mut job = Job::new();
    job.set("github.event.pull_request.number", "");
    assert_eq!(job.run().code, Some(1));
    assert!(job.comments().is_empty() && job.summary().contains(WORSE));

    job.set("github.event.pull_request.number", "7");
    job.input("comment", "false");
    assert_eq!(job.run().code, Some(1));
    assert!(job.comments().is_empty());

    job.base("");
    let said = job.run();
    assert_eq!(said.code, Some(2), "{said}");
    assert!(
        said.text
            .contains("::error::there is no base to compare with"),
        "{said}"
    );
}

#[test]
fn options_reach_the_comparison_and_the_comment() {
    let mut job = Job::new();
    job.input("arguments", "--margin 90 --fail-on outcomes");
    assert_eq!(job.run().code, Some(0));
    let written = job.comments();
    assert!(
        written["100"].contains("a loss of 90 points or more")
            && !written["100"].contains("got worse"),
        "{written:?}"
    );
    // Lines of a block of YAML are options too: the last one is the stricter one.
    job.input("arguments", "--margin 90\n--fail-on behaviour\n");
    assert_eq!(job.run().code, Some(1));
    // So are those that only the comparison knows.
    let only = [
        "--all",
        "--format json",
        "--save saved",
        "--package shop --manifest-path Cargo.toml",
        "suites --margin 90 --fail-on outcomes",
    ];
    for (place, arguments) in only.into_iter().enumerate() {
        job.input("arguments", arguments);
        let said = job.run();
        assert!(matches!(said.code, Some(0 | 1)), "{arguments}: {said}");
        assert!(!said.text.contains("error:"), "{arguments}: {said}");
        let comment = &job.comments()["100"];
        assert_eq!(comment.contains(WORSE), place < 4, "{arguments}: {comment}");
        assert!(!comment.contains("could not be compared"), "{comment}");
    }
    assert!(job.folder.at("saved").is_dir());
    // Nothing of them is run.
    job.input("arguments", "$(touch bad) `touch bad` ; touch bad");
    assert_eq!(job.run().code, Some(2));
    assert!(!job.folder.at("bad").exists());
}

/// The page on CI says all that the action takes.
#[test]
fn the_page_names_every_input() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/ci.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, table) = page.split_once("| input | what it says |\n").unwrap();
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    let named: Vec<&str> = rows
        .filter_map(|row| row.strip_prefix("| `")?.split(':').next())
        .collect();
    let action = action();
    let mut inputs: Vec<&str> = action["inputs"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .filter(|name| *name != "token")
        .collect();
    inputs.sort_unstable();
    let mut sorted = named.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, inputs);
}

#[test]
fn a_clone_of_one_commit_fetches_its_base() {
    let job = Job::cloned();
    let said = job.run();
    assert_eq!(said.code, Some(1), "{said}");
    assert!(job.comments()["100"].contains(WORSE));
}

#[test]
fn the_command_comes_from_the_release_else_from_the_action_itself() {
    let install = |machine: &Machine| {
        let said = machine.action(&json!({}), 1);
        assert_eq!(said.code, Some(0), "{said}");
        // Steps after it find it, by both names.
        let path = fs::read_to_string(machine.folder.at("temp/path.txt")).unwrap();
        for name in ["cargo-mcptest", "mcptest-harness"] {
            let mut programs = path.lines().map(|folder| Path::new(folder).join(name));
            let program = programs.find(|program| program.is_file()).unwrap();
            let version = Command::new(program).arg("--version").output().unwrap();
            assert!(version.status.success());
        }
    };
    let machine = Machine::new(four_agents());
    install(&machine);
    let asked = machine.cargo_log();
    assert!(
        asked.starts_with("install --locked --path /action/cargo-mcptest --root "),
        "{asked}"
    );

    let mut machine = Machine::new(four_agents());
    machine.release();
    install(&machine);
    assert_eq!(machine.cargo_log(), "", "nothing was built");
    let asked = machine.read_note("release.txt");
    assert!(
        asked.starts_with(
            "release download v9 --repo us/mcptest --pattern cargo-mcptest-Linux-X64.tar.gz"
        ),
        "{asked}"
    );

    // Neither of them.
    let machine = Machine::new(four_agents());
    fs::remove_file(machine.folder.at("programs/cargo")).unwrap();
    if Command::new("/usr/bin/cargo")
        .arg("--version")
        .output()
        .is_err()
    {
        let said = machine.action(&json!({}), 1);
        assert_eq!(said.code, Some(2), "{said}");
        assert!(said.text.contains("install it in a step above"), "{said}");
    }
}

/// The program of the machine is not looked for anywhere else.
#[test]
fn what_a_project_brings_is_taken() {
    let job = Job::new();
    let said = job.install();
    assert_eq!(said.code, Some(0), "{said}");
    assert_eq!(job.cargo_log(), "");
    assert_eq!(job.read_note("release.txt"), "");
}
