//! The command as it is run.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const RUN: &str = r#"{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}"#;

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-mcptest"));
    command.current_dir(folder).args(arguments);
    command
}

fn run(folder: &Path, arguments: &[&str]) -> std::io::Result<Output> {
    command(folder, arguments).output()
}

#[test]
fn it_is_run_by_cargo_and_by_its_own_name() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.jsonl"), RUN).unwrap();
    for name in [&["mcptest", "import"][..], &["import"]] {
        let line = [name, &["a.jsonl", "--suite", "suites/x.yml"]].concat();
        let output = run(folder.path(), &line).unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    let file = folder.path().join("suites/cassettes/a__m/run-1.json");
    assert!(file.is_file());
}

#[test]
fn standard_input_is_a_file_like_others() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = command(folder.path(), &["import", "-", "--suite", "suites/x.yml"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(RUN.as_bytes())
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let file = folder.path().join("suites/cassettes/stdin__m/run-1.json");
    let run = std::fs::read_to_string(file).unwrap();
    assert!(run.contains("\"file\": \"stdin\""), "{run}");
}

#[test]
fn a_wrong_command_has_the_status_two() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.jsonl"), RUN).unwrap();
    let suite = ["--suite", "suites/x.yml"];
    let missing = ["import", "missing.jsonl", "--suite", "suites/x.yml"];
    let mut wrong = vec![vec!["import"], vec!["import", "a.jsonl"], missing.to_vec()];
    for option in [
        ["--from", "smoke-signals"],
        ["--group-by", "colour"],
        ["--redact", "("],
        ["--error-if", ""],
        ["--error-if", "no|"],
        ["--pass-at", "nan"],
    ] {
        wrong.push([&["import", "a.jsonl"], &suite[..], &option].concat());
    }
    for wrong in wrong {
        let output = run(folder.path(), &wrong).unwrap();
        assert_eq!(output.status.code(), Some(2), "{wrong:?}: {output:?}");
    }
    std::fs::create_dir(folder.path().join("suites")).unwrap();
    std::fs::write(folder.path().join("suites/x.yml"), "agents: 3\n").unwrap();
    let output = run(
        folder.path(),
        &[&["import", "a.jsonl"][..], &suite].concat(),
    )
    .unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(!folder.path().join("suites/cassettes").exists());
}

#[test]
fn schemas_are_printed() {
    let folder = tempfile::tempdir().unwrap();
    for (what, title) in [
        ("suite", mcptest_suite::SUITE_SCHEMA),
        ("cassette", mcptest_trace::trace::CASSETTE_SCHEMA),
    ] {
        let output = run(folder.path(), &["schema", what]).unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(String::from_utf8_lossy(&output.stdout), title);
    }
}

#[test]
fn shells_complete_every_command() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = run(folder.path(), &["completions", shell]).unwrap();
        assert_eq!(output.status.code(), Some(0));
        let script = String::from_utf8(output.stdout).unwrap();
        for command in ["cargo-mcptest", "init", "import", "schema", "completions"] {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
}

#[test]
fn a_suite_that_no_test_would_find_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.jsonl"), RUN).unwrap();
    let output = run(folder.path(), &["import", "a.jsonl", "--suite", "airline"]).unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("a suite's file ends in `.yml`, e.g. `suites/airline.yml`"),
        "{said}"
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// A reader that has seen enough, as `… | head -1` has, changes nothing of what a command comes to.
#[test]
fn a_reader_that_leaves_changes_no_answer() {
    let shop = support::shop(&[]);
    std::fs::write(shop.path().join("a.jsonl"), RUN).unwrap();
    for (arguments, status) in [
        (&["explain"][..], 1),
        (&["explain", "--format", "json"], 1),
        (&["report", "--format", "markdown"], 1),
        (&["report", "--format", "junit"], 1),
        (&["compare", "suites/cassettes"], 0),
        (&["calibrate"], 3),
        (&["mutants", "--only-green"], 0),
        (&["validate"], 0),
        (&["import", "a.jsonl", "--suite", "suites/x.yml"], 0),
        (&["schema", "suite"], 0),
        (&["completions", "bash"], 0),
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = command(shop.path(), arguments)
            .stdout(writer)
            .output()
            .unwrap();
        assert_eq!(
            output.status.code(),
            Some(status),
            "{arguments:?}: {output:?}"
        );
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!said.contains("error") && !said.contains("panic"), "{said}");
    }
    assert!(shop.path().join("suites/x.yml").exists());
}

#[test]
fn every_crate_that_is_published_carries_the_licences() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = std::fs::read_dir(&workspace).unwrap();
    let crates = folders.map(|folder| folder.unwrap().path());
    let published = |folder: &PathBuf| {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
        manifest.contains("[package]") && !manifest.contains("publish = false")
    };
    for folder in crates.filter(published) {
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let [own, ours] = [&folder, &workspace].map(|at| std::fs::read(at.join(licence)).ok());
            assert!(own == ours, "{licence} of {}", folder.display());
        }
    }
}
