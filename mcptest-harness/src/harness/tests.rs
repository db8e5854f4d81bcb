//! Every gate over small suites: what holds, and the whole text of what does not.

mod bounds;
mod energy;
mod expect;
mod expected_calls;
mod faults;
mod limits;
mod look_alike;
mod money;
mod named_tools;
mod narrative;
mod offered_tools;
mod reliability;
mod scores;
mod session;
mod stability;
mod sub_agents;
mod targets;
mod unread;
mod verdicts;

use std::fs;

use mcptest_suite::{CaseKind, Style};
use serde_json::{Value, json};

use super::case;
use super::case_verdict::{CaseOutcome, Context};
use super::discovery::SuiteFile;
use super::loaded::LoadedSuite;

/// Judges the cases of a suite in a crate of its own. `agent` is the agent's block without name,
/// model and prompt; `runs` are its traces. Gives each case's name and failure text.
fn judge(agent: &str, runs: &[Value]) -> Vec<(String, Option<String>)> {
    let runs: Vec<Value> = runs.iter().map(|trace| json!({ "trace": trace })).collect();
    judge_runs("", agent, &runs)
}

/// As [`judge`], with something at the suite's top level and whole runs.
fn judge_runs(top: &str, agent: &str, runs: &[Value]) -> Vec<(String, Option<String>)> {
    let verdicts = verdicts(top, agent, runs, false).into_iter();
    verdicts
        .map(|(name, verdict)| (name, verdict.err()))
        .collect()
}

/// What became of each case. `checked`: whether the runner has a check in Rust.
fn verdicts(
    top: &str,
    agent: &str,
    runs: &[Value],
    checked: bool,
) -> Vec<(String, Result<CaseOutcome, String>)> {
    let (_folder, loaded) = loaded(top, agent, runs);
    let judged = loaded
        .suite
        .cases()
        .into_iter()
        .filter(|case| case.kind != CaseKind::Unsupported && case.ignored.is_none());
    judged
        .map(|case| {
            let context = Context {
                name: format!("s::{}", case.name),
                agent: "s::agent".to_owned(),
                suite: "s".to_owned(),
                ignored: false,
                told: true,
                checked,
                package: "demo".to_owned(),
                style: Style::Plain,
            };
            let verdict = case::judge(&loaded, &case, &context);
            (case.name, verdict)
        })
        .collect()
}

/// A suite in a crate of its own, with its recordings.
fn loaded(top: &str, agent: &str, runs: &[Value]) -> (tempfile::TempDir, LoadedSuite) {
    let folder = tempfile::tempdir().unwrap();
    let suites = folder.path().join("suites");
    fs::create_dir_all(suites.join("cassettes")).unwrap();
    // An agent with turns of its own has no prompt beside them.
    let prompt = if agent.contains("  turns:") {
        ""
    } else {
        "  prompt: Do it.\n"
    };
    let suite = format!(
        "{top}agents:\n- name: Agent\n  model: m\n{prompt}  runs: {}\n{agent}",
        runs.len()
    );
    fs::write(suites.join("s.yml"), suite).unwrap();
    let lines = runs.iter().enumerate().map(|(index, run)| {
        let mut line = json!({
            "schema_version": "v1", "agent_name": "Agent", "model": "m", "user_prompt": "Do it.",
            "recorded_at": format!("2026-01-0{}T00:00:00Z", index + 1),
        });
        for (key, value) in run.as_object().unwrap() {
            line[key] = value.clone();
        }
        line.to_string()
    });
    fs::write(
        suites.join("cassettes/Agent__m.jsonl"),
        lines.collect::<Vec<_>>().join("\n"),
    )
    .unwrap();
    let file = SuiteFile {
        path: suites.join("s.yml"),
        shown: "suites/s.yml".to_owned(),
        relative: "s.yml".into(),
    };
    let loaded = LoadedSuite::load(folder.path(), &file).unwrap_or_else(|error| panic!("{error}"));
    (folder, loaded)
}

/// The failure text of the one case that fails.
fn failure(verdicts: Vec<(String, Option<String>)>) -> String {
    let mut failed: Vec<_> = verdicts.into_iter().filter_map(|(_, text)| text).collect();
    assert_eq!(failed.len(), 1, "{failed:#?}");
    // A build that records already is not told to switch it on.
    failed
        .remove(0)
        .replace(" --features mcptest-harness/session", "")
}

/// Nothing fails.
fn holds(verdicts: Vec<(String, Option<String>)>) {
    let failed: Vec<_> = verdicts.into_iter().filter_map(|(_, text)| text).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// A trace of calls `(tool, arguments, result)`; a result of `null` is none, `"error"` an error.
fn trace(calls: &[(&str, Value, Value)], closing: &str) -> Value {
    let made = calls
        .iter()
        .map(|(name, args, _)| json!({ "name": name, "server": "s", "args": args }));
    let results = calls
        .iter()
        .enumerate()
        .filter(|(_, (_, _, result))| !result.is_null());
    let results = results.map(|(index, (_, _, result))| {
        json!({ "call_index": index, "is_error": *result == "error", "result": result })
    });
    json!({
        "tool_calls": made.collect::<Vec<_>>(),
        "tool_results": results.collect::<Vec<_>>(),
        "final_response": closing,
        "conversation": { "stop_reason": "completed" },
    })
}

/// Calls without arguments that all succeed.
fn calls(names: &[&str]) -> Value {
    let calls: Vec<_> = names
        .iter()
        .map(|name| (*name, json!({}), json!("ok")))
        .collect();
    trace(&calls, "That is all.")
}

/// Compares with a snapshot of an explicit name.
macro_rules! shows {
    ($name:literal, $verdicts:expr) => {
        insta::with_settings!({ snapshot_path => "snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!($name, super::failure($verdicts));
        });
    };
}
use shows;
