//! Real runs, which are not ours to publish.

use std::collections::BTreeMap;
use std::path::PathBuf;

use e2e_support::real_runs::part;
use serde_json::Value;

use super::Desk;

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn closing(trace: &Value) -> Option<String> {
    mcptest_trace::trace::Trace::from_envelope(trace)
        .closing()
        .map(str::to_owned)
}

/// The ready-made recordings of the same runs, by the first bytes of what the user says and by run.
fn ready(folder: PathBuf) -> BTreeMap<(String, String), Value> {
    let mut runs = BTreeMap::new();
    for entry in walkdir::WalkDir::new(folder)
        .into_iter()
        .flatten()
        .filter(|it| it.file_type().is_file())
    {
        let name = entry
            .path()
            .file_name()
            .unwrap()
            .to_string_lossy()
            .into_owned();
        let parent = entry
            .path()
            .parent()
            .unwrap()
            .file_name()
            .unwrap()
            .to_string_lossy()
            .into_owned();
        let task: u32 = parent.split('_').nth(2).unwrap().parse().unwrap();
        let run: Value = serde_json::from_slice(&std::fs::read(entry.path()).unwrap()).unwrap();
        runs.insert((task.to_string(), name), run);
    }
    runs
}

#[test]
#[ignore = "needs real runs, in ../shared/data or where MCPTEST_SHARED_DATA says"]
fn the_airline_runs_are_those_of_the_ready_made_suite() {
    let folder = part("tau-airline");
    let file = folder.join("gpt-4o-airline-tasks-00-29.json");
    let desk = Desk::new();
    let said = desk.import(&[
        file.to_str().unwrap(),
        "--model",
        "gpt-4o",
        "--agent",
        "Airline",
        "--server",
        "airline",
    ]);
    assert_eq!(said.status, 0, "{said:?}");
    let ready = ready(folder.join("crate/cassettes/airline"));
    let imported = desk.recordings();
    assert_eq!((imported.len(), ready.len()), (120, 120));
    for (path, run) in imported {
        let task = path.split("__").nth(1).unwrap().to_owned();
        let name = path.rsplit('/').next().unwrap().to_owned();
        let other = &ready[&(task, name)];
        assert_eq!(run["outcome"], other["outcome"], "{path}");
        let (trace, other) = (&run["trace"], &other["trace"]);
        assert_eq!(closing(trace), closing(other), "{path}");
        let calls = |trace: &Value| {
            let calls = trace["tool_calls"].as_array().unwrap().iter();
            calls
                .map(|call| (text(&call["name"]).to_owned(), call["args"].clone()))
                .collect::<Vec<_>>()
        };
        assert_eq!(calls(trace), calls(other), "{path}");
        let results = |trace: &Value| {
            let results = trace["tool_results"].as_array().unwrap().iter();
            let mut results: Vec<_> = results
                .map(|it| {
                    (
                        it["call_index"].as_u64(),
                        it["is_error"].as_bool(),
                        it["result"].to_string(),
                    )
                })
                .collect();
            results.sort();
            results
        };
        assert_eq!(results(trace), results(other), "{path}");
    }
}

#[test]
#[ignore = "needs real runs, in ../shared/data or where MCPTEST_SHARED_DATA says"]
fn the_runs_of_other_domains_import_whole() {
    let file = part("other-domains/runs.jsonl");
    let desk = Desk::new();
    let arguments = [
        "--agent",
        "bench",
        "--group-by",
        "/domain",
        "--group-by",
        "task",
    ];
    let mut line = vec![file.to_str().unwrap()];
    line.extend(arguments);
    let said = desk.import(&line);
    assert_eq!(said.status, 0, "{said:?}");
    let runs: BTreeMap<String, Value> = desk
        .recordings()
        .into_iter()
        .map(|(_, run)| (text(&run["imported"]["id"]).to_owned(), run))
        .collect();
    let source = std::fs::read_to_string(&file).unwrap();
    assert_eq!((runs.len(), source.lines().count()), (141, 141));
    let mut with_steps = 0;
    for line in source.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let run = &runs[text(&record["id"])];
        assert_eq!(run["outcome"]["reward"], record["reward"]);
        let messages = record["messages"].as_array().unwrap();
        let calls = messages
            .iter()
            .flat_map(|message| message["tool_calls"].as_array().into_iter().flatten());
        let calls: Vec<(String, Value)> = calls
            .map(|call| {
                let function = &call["function"];
                let args = serde_json::from_str(text(&function["arguments"])).unwrap();
                (text(&function["name"]).to_owned(), args)
            })
            .collect();
        let recorded = run["trace"]["tool_calls"].as_array().unwrap().iter();
        let recorded: Vec<_> = recorded
            .map(|call| (text(&call["name"]).to_owned(), call["args"].clone()))
            .collect();
        assert_eq!(recorded, calls, "{}", record["id"]);
        let results = messages.iter().filter(|message| message["role"] == "tool");
        let errors = results
            .clone()
            .filter(|message| message["error"] == true)
            .count();
        let recorded = run["trace"]["tool_results"].as_array().unwrap();
        assert_eq!(recorded.len(), results.count(), "{}", record["id"]);
        assert_eq!(
            recorded.iter().filter(|it| it["is_error"] == true).count(),
            errors
        );
        assert_eq!(
            closing(&run["trace"]).as_deref().map(str::trim),
            record["closing"].as_str(),
            "{}",
            record["id"]
        );
        with_steps += usize::from(run["trace"]["conversation"]["steps"].is_array());
    }
    assert!(with_steps >= 91, "{with_steps}");
    let again = desk.import(&line);
    assert_eq!(again.status, 0, "{again:?}");
    assert_eq!(desk.recordings().len(), 141);
}
