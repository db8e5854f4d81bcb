//! Any bytes as a file of runs: an import ends with a status, what it writes can be read, and importing again writes
//! nothing new. The bytes of the first line each add an argument.
#![no_main]
#![allow(
    dead_code,
    unused_imports,
    reason = "rooms of the command, of which the import is a part"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use clap::Parser as _;
use libfuzzer_sys::fuzz_target;
use mcptest_suite::model::Suite;
use mcptest_trace::trace::{Origin, parse_run};
use walkdir::WalkDir;

#[path = "../../cargo-mcptest/src/failure.rs"]
mod failure;
#[path = "../../cargo-mcptest/src/files.rs"]
mod files;
#[path = "../../cargo-mcptest/src/import/mod.rs"]
mod import;
#[path = "../../cargo-mcptest/src/outcome.rs"]
mod outcome;
#[path = "../../cargo-mcptest/src/output.rs"]
mod output;
#[path = "../../cargo-mcptest/src/status.rs"]
mod status;
#[path = "../../cargo-mcptest/src/table.rs"]
mod table;

#[derive(Debug, clap::Parser)]
struct Line {
    #[command(flatten)]
    import: import::Import,
}

/// The arguments, each after the byte that adds it.
const ARGUMENTS: &[(u8, &[&str])] = &[
    (b'a', &["--from", "inspect"]),
    (b'b', &["--from", "atif"]),
    (b'c', &["--from", "mcptest"]),
    (b'd', &["--from", "otel"]),
    (b'e', &["--from", "promptfoo"]),
    (b'f', &["--from", "rig"]),
    (b'g', &["--from", "tau"]),
    (b'h', &["--from", "codex"]),
    (b'i', &["--from", "claude-code"]),
    (b'j', &["--from", "langsmith"]),
    (b'k', &["--from", "anthropic"]),
    (b'l', &["--from", "openai"]),
    (b'm', &["--model", "m", "--prompt", "p"]),
    (b'n', &["--agent", "a"]),
    (b'o', &["--subagents", "separate"]),
    (b'p', &["--subagents", "inline"]),
    (b'q', &["--group-by", "task"]),
    (b'r', &["--jsonl"]),
    (b's', &["--format", "json"]),
];

/// The byte of a file that ends in `.json`, and of an archive.
const ENDS: &[(u8, &str)] = &[(b'y', "json"), (b'z', "eval")];

fuzz_target!(|bytes: &[u8]| {
    let end = bytes.iter().position(|byte| *byte == b'\n');
    let Some((first, [_, file @ ..])) = end.map(|end| bytes.split_at(end)) else {
        return;
    };
    if first.len() > 6 {
        return;
    }
    let end = ENDS.iter().find(|(byte, _)| first.contains(byte));
    let end = end.map_or("jsonl", |(_, end)| end);
    let given = ARGUMENTS.iter().filter(|(byte, _)| first.contains(byte));
    let given: Vec<&str> = given
        .flat_map(|(_, arguments)| arguments.iter().copied())
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join(format!("a.{end}"));
    fs::write(&source, file).unwrap();
    let suite = folder.path().join("suites/x.yml");
    let run = || {
        let mut line = vec![
            "import",
            "--suite",
            suite.to_str().unwrap(),
            source.to_str().unwrap(),
        ];
        line.extend(&given);
        let import = Line::try_parse_from(line).ok()?.import;
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let ended = import.run(&mut out, &mut err);
        Some(ended.map_err(|failure| failure.to_string()))
    };
    let Some(first) = run() else {
        return;
    };
    let found = written(folder.path());
    for (name, bytes) in &found {
        for (line, run) in runs(name, bytes).enumerate() {
            let read = parse_run(run, &Origin::file(name));
            assert!(read.is_ok(), "{name}, run {line}: {read:?}");
        }
    }
    if suite.exists() {
        let read = Suite::read(&suite, "x.yml");
        assert!(read.is_ok(), "{}", read.unwrap_err());
    }
    let Some(second) = run() else { return };
    assert_eq!(first.is_ok(), second.is_ok(), "{first:?}, then {second:?}");
    assert_eq!(written(folder.path()), found);
});

/// The recordings that were written.
fn written(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = WalkDir::new(folder.join("suites/cassettes"))
        .into_iter()
        .flatten();
    let files = files.filter(|entry| entry.file_type().is_file());
    files
        .map(|entry| {
            (
                entry.path().display().to_string(),
                fs::read(entry.path()).unwrap(),
            )
        })
        .collect()
}

/// The runs of a file.
fn runs<'f>(name: &str, bytes: &'f [u8]) -> impl Iterator<Item = &'f [u8]> {
    let lines = name.ends_with(".jsonl");
    let parts = bytes.split(move |byte| lines && *byte == b'\n');
    parts.filter(|part| !part.is_empty())
}
