//! `cargo mcptest init -- PROGRAM`: the first suite of a program, then `record`, then a green `test`. The agent is this
//! executable, started as a program once more.
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::fs;

use e2e_support::folder::{Folder, collect};
use e2e_support::git::git;
use e2e_support::process::{Finished, command, run};
use scripted_provider::{Provider, Script};
use serde_json::{Value, json};
use support::agent;

const KEY: &str = "sk-test-init-program-7d3e9";
const PROMPT: &str = "Hello! What can you do for me?";

/// The agent: it needs a key to start, and asks once.
#[test]
#[ignore = "the agent of the other tests, which they start"]
fn agent() {
    if std::env::var_os("OPENAI_BASE_URL").is_none() {
        return;
    }
    assert!(std::env::var_os("OPENAI_API_KEY").is_some());
    let body = json!({ "model": "gpt-5", "messages": [
        { "role": "system", "content": "You are a refund clerk." },
        { "role": "user", "content": std::env::var("MCPTEST_PROMPT").unwrap() },
    ] });
    assert!(agent::ask(&body)["content"].is_string());
}

fn provider() -> Provider {
    let says = |text: &str| json!({ "text": text, "usage": { "prompt": 100, "completion": 8 } });
    let script = json!({ "key": KEY, "conversations": [{
        "user": PROMPT, "model": "gpt-5", "runs": [[says("I pay orders back.")], [says("Refunds.")]],
    }] });
    Provider::start(Script::from_json(&script.to_string()).unwrap()).unwrap()
}

fn mcptest(folder: &Folder, provider: Option<&Provider>, arguments: &[&str]) -> Finished {
    let mut command = command(env!("CARGO_BIN_EXE_cargo-mcptest"), folder.path());
    command.arg("mcptest").args(arguments);
    if let Some(provider) = provider {
        command
            .env("OPENAI_BASE_URL", format!("{}/v1", provider.url()))
            .env("OPENAI_API_KEY", KEY);
    }
    run(&mut command)
}

/// `init` of the agent, with more before its program.
fn init(folder: &Folder, more: &[&str]) -> Finished {
    let words = agent::program("agent");
    let words = words.iter().map(String::as_str);
    let arguments: Vec<&str> = ["init"]
        .into_iter()
        .chain(more.iter().copied())
        .chain(["--"])
        .chain(words)
        .collect();
    mcptest(folder, None, &arguments)
}

#[test]
fn the_next_command_has_the_name_by_which_this_one_was_called() {
    let (tools, folder) = (Folder::new(), Folder::new());
    let named = tools.at(&format!("mcptest-harness{}", std::env::consts::EXE_SUFFIX));
    fs::copy(env!("CARGO_BIN_EXE_cargo-mcptest"), &named).unwrap();
    let mut command = command(&named, folder.path());
    let said = run(command.args(["init", "--"]).args(agent::program("agent"))).exits(0);
    assert!(
        said.stdout.ends_with("next: mcptest-harness record\n"),
        "{said}"
    );
}

#[test]
fn the_second_command_records_and_the_third_is_green() {
    let folder = Folder::new();
    let said = init(&folder, &["--name", "Refund agent 🚀"]).exits(0);
    assert_eq!(
        said.stdout,
        "wrote  suites/refund_agent.yml: how the agent is started, what it is asked, and that its recordings must play\n\n\
         `Refund agent 🚀` asks the model `gpt-5`. next: cargo mcptest record\n"
    );
    let suite = fs::read_to_string(folder.at("suites/refund_agent.yml")).unwrap();
    for line in [
        "  - name: \"Refund agent 🚀\"\n",
        "    model: \"gpt-5\"\n",
        "    prompt: \"Hello! What can you do for me?\"\n",
        "    cwd: \"..\"\n",
        "    playback: {}\n",
    ] {
        assert!(suite.contains(line), "{line}{suite}");
    }
    // Outside of a git repository nothing else is written.
    assert_eq!(collect(folder.path()).len(), 1);

    let model = provider();
    let recorded = mcptest(&folder, Some(&model), &["record"]).exits(0);
    assert!(recorded.stdout.contains("2 passed"), "{recorded}");
    assert_eq!(model.requests().len(), 2);
    drop(model);
    let tested = mcptest(&folder, None, &["test"]).exits(0);
    assert!(
        tested
            .stdout
            .contains("test refund_agent::refund_agent::playback ... ok"),
        "{tested}"
    );
}

/// Who asks again, or has an agent of this name, loses nothing.
#[test]
fn nothing_is_overwritten() {
    let folder = Folder::new();
    init(&folder, &["--name", "Clerk"]).exits(0);
    let before = collect(folder.path());
    let taken = "error: `suites/clerk.yml` is there already\n";
    let other = "error: the suite `clerk` has an agent `Clerk` already\n";
    for (name, told) in [("Clerk", taken), ("clerk!", taken)] {
        let refused = init(&folder, &["--name", name]).exits(2);
        assert!(refused.stderr.starts_with(told), "{refused}");
    }
    assert!(collect(folder.path()) == before);
    // In a file of another name.
    fs::rename(folder.at("suites/clerk.yml"), folder.at("suites/other.yml")).unwrap();
    let refused = init(&folder, &["--name", "Clerk"]).exits(2);
    assert!(
        refused
            .stderr
            .starts_with(&other.replace("`clerk`", "`other`")),
        "{refused}"
    );
    // Recordings without a suite.
    fs::remove_file(folder.at("suites/other.yml")).unwrap();
    folder.write("suites/cassettes/Clerk__gpt-5/run-1.json", "{}");
    let refused = init(&folder, &["--name", "Clerk"]).exits(2);
    assert!(
        refused
            .stderr
            .starts_with("error: `suites/cassettes/Clerk__gpt-5` is there already\n"),
        "{refused}"
    );
    assert_eq!(collect(folder.path()).len(), 1);
    // Another agent stands beside it.
    init(
        &folder,
        &["--name", "Seller", "--prompt", "What \"is\" ${sold}?"],
    )
    .exits(0);
    mcptest(&folder, None, &["validate"]);
}

#[test]
fn what_is_wrong_with_the_program_is_told_and_nothing_is_written() {
    let folder = Folder::new();
    let refused = |arguments: &[&str]| {
        let refused = mcptest(&folder, None, arguments).exits(2);
        assert_eq!(refused.stdout, "");
        assert!(collect(folder.path()).is_empty());
        refused.stderr
    };
    let said = refused(&["init", "--", "no-such-program", "agent.py"]);
    assert!(
        said.starts_with("error: `no-such-program` cannot be started: "),
        "{said}"
    );
    assert!(
        said.contains("help: give a program that is on the PATH"),
        "{said}"
    );
    let said = refused(&["init", "--", "no-such-python agent.py"]);
    assert!(
        said.contains(
            "give it without quotation marks, `cargo mcptest init -- no-such-python agent.py`"
        ),
        "{said}"
    );
    let dies = "echo \"No module named 'openai'\" >&2; exit 3";
    let said = refused(&["init", "--", "sh", "-c", dies]);
    assert!(
        said.starts_with(
            "error: the program ended with exit status: 3, before it called a model\n\n\
             the last lines of its standard error:\n  | No module named 'openai'\n"
        ),
        "{said}"
    );
    let said = refused(&["init", "--", "sh", "-c", "exit 0"]);
    assert!(
        said.starts_with("error: the agent called no model at the address of the session"),
        "{said}"
    );
    assert!(said.contains("OPENAI_BASE_URL"), "{said}");
    for name in ["🚀", "", "playback", "a\nb"] {
        let said = refused(&["init", "--name", name, "--", "sh", "-c", dies]);
        assert!(said.contains("cannot name an agent test"), "{said}");
    }
    let said = refused(&["init", "--prompt", " ", "--", "sh", "-c", dies]);
    assert!(said.starts_with("error: `--prompt` is empty\n"), "{said}");
    let said = refused(&["init", "--prompt", "p"]);
    assert!(said.contains("<COMMAND>"), "{said}");
}

#[test]
fn a_folder_without_a_package_is_told_what_to_give() {
    let folder = Folder::new();
    assert_eq!(
        mcptest(&folder, None, &["init"]).exits(2).stderr,
        "error: there is no crate here, nor in any folder above\n\n\
         help: give the program that is the agent: `cargo mcptest init -- python3 agent.py`; or run the command in the \
         folder of a crate, or give `--manifest-path <path of a Cargo.toml>`\n"
    );
}

/// The lines that are there stay, and git says what it ignores already.
#[test]
fn gitignore_gets_the_line_that_it_lacks() {
    for (before, after) in [
        (None, Some("*.snap.new\n")),
        (Some("target\n# mine"), Some("target\n# mine\n*.snap.new\n")),
        (Some("a\r\n"), Some("a\r\n*.snap.new\r\n")),
        (Some("*.new\n"), Some("*.new\n")),
    ] {
        let folder = Folder::new();
        git(folder.path(), &["init", "--quiet"]);
        if let Some(before) = before {
            folder.write(".gitignore", before);
        }
        let said = init(&folder, &["--name", "Clerk"]).exits(0);
        let is_added = said.stdout.contains("added  .gitignore: `*.snap.new`");
        assert_eq!(is_added, before != after, "{said}");
        let text = fs::read_to_string(folder.at(".gitignore")).ok();
        assert_eq!(text.as_deref(), after);
    }
    // A rule of a folder above counts, and a report that is written lies in a folder that git passes over.
    let folder = Folder::new()
        .with_file(".gitignore", "*.snap.new\n")
        .with_file("below/.keep", "");
    git(folder.path(), &["init", "--quiet"]);
    let below = folder.at("below");
    let words = agent::program("agent");
    let mut line = command(env!("CARGO_BIN_EXE_cargo-mcptest"), &below);
    run(line.args(["init", "--name", "Clerk", "--"]).args(words)).exits(0);
    assert!(!below.join(".gitignore").exists());
    let reported = run(command(env!("CARGO_BIN_EXE_cargo-mcptest"), &below).arg("report"));
    assert!(
        below.join("target/mcptest/report.html").is_file(),
        "{reported}"
    );
    let seen = git(
        folder.path(),
        &["status", "--porcelain", "--untracked-files=all"],
    );
    let seen: Vec<&str> = seen.lines().collect();
    assert_eq!(
        seen,
        [
            "?? .gitignore",
            "?? below/.keep",
            "?? below/suites/clerk.yml"
        ]
    );
}

/// A crate whose tests do not run the harness has agents in other languages too.
#[test]
fn a_program_of_a_crate_starts_in_the_folder_of_the_package() {
    let folder = Folder::new()
        .with_file(
            "Cargo.toml",
            "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n",
        )
        .with_file("src/lib.rs", "");
    let words = agent::program("agent");
    let mut below = command(env!("CARGO_BIN_EXE_cargo-mcptest"), &folder.at("src"));
    let refused = run(below.args(["init", "--"]).args(words)).exits(2);
    assert!(
        refused
            .stderr
            .contains("the program of `shop` starts in the package's folder"),
        "{refused}"
    );
    init(&folder, &["--name", "Clerk"]).exits(0);
    mcptest(&folder, Some(&provider()), &["record"]).exits(0);
    mcptest(&folder, None, &["test"]).exits(0);
}

#[test]
fn the_suites_may_be_in_another_folder() {
    let folder = Folder::new();
    let said = init(
        &folder,
        &[
            "--name",
            "Clerk",
            "--suites",
            "more/agent suites",
            "--format",
            "json",
        ],
    );
    let said: Value = serde_json::from_str(&said.exits(0).stdout).unwrap();
    assert_eq!(said["agent"], "Clerk");
    assert_eq!(said["model"], "gpt-5");
    assert_eq!(said["steps"][0]["file"], "more/agent suites/clerk.yml");
    let suites = ["--suites", "more/agent suites"];
    mcptest(
        &folder,
        Some(&provider()),
        &[&["record"], &suites[..]].concat(),
    )
    .exits(0);
    mcptest(&folder, None, &[&["test"], &suites[..]].concat()).exits(0);
}
