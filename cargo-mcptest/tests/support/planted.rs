//! Two agents that hold, for comparisons in which something is planted.

use std::fs;
use std::path::Path;

use e2e_support::folder::Folder;
use e2e_support::process::Finished;
use serde_json::{Value, json};

use super::four_agents::run;
use super::{mcptest, shop};

/// A package whose suite is this, without a recording.
pub(crate) fn package(suite: &str) -> Folder {
    let folder = shop(&[]);
    fs::remove_dir_all(folder.at("suites")).unwrap();
    folder.write("suites/desk.yml", suite);
    folder
}

/// An agent of a suite, whose gate every run meets.
pub(crate) fn asks(name: &str, model: &str, prompt: &str, runs: usize) -> String {
    format!(
        "  - {{ name: {}, model: {}, prompt: {prompt}, runs: {runs}, calls: {{ max: 9 }} }}\n",
        json!(name),
        json!(model)
    )
}

/// Six runs of an agent below a folder that has its name, of which so many pass; what changes each of them.
pub(crate) fn record(
    folder: &Folder,
    stem: &str,
    passed: usize,
    tokens: u64,
    change: impl Fn(usize, &mut Value),
) {
    let last = stem.rsplit('/').next().unwrap_or_default();
    let name = last.split("__").next().unwrap_or_default();
    record_as(folder, stem, name, passed, tokens, change);
}

pub(crate) fn record_as(
    folder: &Folder,
    stem: &str,
    name: &str,
    passed: usize,
    tokens: u64,
    change: impl Fn(usize, &mut Value),
) {
    for number in 0..6 {
        let mut run = run(name, "find", tokens + number as u64, number < passed, "go");
        change(number, &mut run);
        folder.write(&format!("{stem}/run-{}.json", number + 1), run.to_string());
    }
}

pub(crate) fn nothing(_: usize, _: &mut Value) {}

pub(crate) fn without_outcome(run: &mut Value) {
    run.as_object_mut().unwrap().remove("outcome");
}

pub(crate) fn without_tokens(run: &mut Value) {
    run["trace"]["conversation"]
        .as_object_mut()
        .unwrap()
        .remove("tokens");
}

/// Two agents that are recorded on both sides: `a` with these runs, and `steady`.
pub(crate) fn two_agents() -> Folder {
    let suite = [asks("a", "m", "go", 6), asks("steady", "m", "go", 6)];
    let folder = package(&format!("agents:\n{}", suite.concat()));
    for (side, tokens) in [("before", 1000), ("suites", 1010)] {
        record(
            &folder,
            &format!("{side}/cassettes/a__m"),
            6,
            tokens,
            nothing,
        );
        record(
            &folder,
            &format!("{side}/cassettes/steady__m"),
            6,
            tokens + 1,
            nothing,
        );
    }
    folder
}

pub(crate) fn compare(folder: &Path, arguments: &[&str]) -> Finished {
    mcptest(folder, &[&["compare"], arguments].concat())
}

pub(crate) fn flat(said: &Finished) -> String {
    said.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(crate) fn tells(said: &Finished, parts: &[&str]) {
    let text = flat(said);
    for part in parts {
        assert!(text.contains(part), "{part} in\n{said}");
    }
}
