//! The published schema of recordings, against the reader.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::super::CASSETTE_SCHEMA;
use super::{parse, run};

/// Cassettes that lie in a folder and below it.
fn cassettes_below(folder: &Path) -> Vec<serde_json::Value> {
    let files = walkdir::WalkDir::new(folder)
        .into_iter()
        .filter_map(Result::ok);
    let files = files.filter(|entry| {
        entry
            .path()
            .components()
            .any(|part| part.as_os_str() == "cassettes")
    });
    let read = files.filter_map(|entry| {
        let text = fs::read_to_string(entry.path()).ok()?;
        match entry.path().extension()?.to_str()? {
            "json" => Some(vec![serde_json::from_str(&text).ok()?]),
            "jsonl" => Some(
                text.lines()
                    .filter_map(|line| serde_json::from_str(line).ok())
                    .collect(),
            ),
            _ => None,
        }
    });
    read.flatten().collect()
}

/// What another recorder means by the word is its own business.
#[test]
fn a_run_is_chosen_where_it_says_so_and_nowhere_else() {
    let chosen = |value: serde_json::Value| {
        let mut run = run();
        run["chosen"] = value;
        parse(&run.to_string()).unwrap().chosen
    };
    assert!(chosen(json!(true)));
    assert!(!chosen(json!(false)) && !chosen(json!("by hand")) && !chosen(json!(null)));
}

#[test]
fn the_schema_agrees_with_the_reader() {
    let schema: serde_json::Value = serde_json::from_str(CASSETTE_SCHEMA).unwrap();
    let validator = jsonschema::options().offline().build(&schema).unwrap();
    let valid = |run: &serde_json::Value| validator.is_valid(run);
    assert!(valid(&run()));
    // The project's own recordings.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for folder in ["cassettes", "suites", "examples"] {
        for run in cassettes_below(&root.join(folder)) {
            let errors: Vec<String> = validator
                .iter_errors(&run)
                .map(|error| error.to_string())
                .collect();
            assert!(errors.is_empty(), "{folder}: {errors:?}");
            assert!(parse(&run.to_string()).is_ok());
        }
    }
    // What the reader refuses is invalid.
    let spoil = [
        ("/schema_version", json!("v2")),
        ("/model", json!(7)),
        ("/user_prompt", json!(null)),
        ("/trace", json!([])),
        ("/trace/tool_calls", json!({})),
        ("/trace/tool_calls/0/name", json!(1)),
        ("/trace/tool_calls/0", json!(3)),
        ("/trace/tool_calls/0/own", json!([])),
        ("/trace/tool_calls/0/own", json!({ "by": 1 })),
        ("/trace/tool_calls/0/own", json!({ "attempts": [1] })),
        ("/trace/tool_results/0/call_index", json!(-1)),
        ("/trace/tool_results/0/is_error", json!("no")),
        ("/trace/tool_results", json!("none")),
        ("/trace/conversation/stop_reason", json!(1)),
        ("/trace/conversation/tokens", json!({ "total": -1 })),
        ("/trace/conversation/tokens", json!({ "prompt": "many" })),
        ("/trace/conversation/turns", json!([{ "content": "x" }])),
        ("/trace/conversation/steps", json!([{ "prompt": 1.5 }])),
        ("/trace/conversation/per_turn", json!([{ "calls": [0] }])),
        ("/trace/final_response", json!(["x"])),
        ("/signals", json!({ "confidence": 1.5 })),
        ("/signals", json!({ "confidnce": 1 })),
        ("/outcome", json!({ "passed": "yes" })),
    ];
    for (pointer, value) in spoil {
        let mut run = run();
        run["signals"] = json!({});
        for name in ["tokens", "turns", "steps", "per_turn"] {
            run["trace"]["conversation"][name] = json!(null);
        }
        run["trace"]["final_response"] = json!("x");
        run["trace"]["tool_calls"][0]["own"] = json!(null);
        run["trace"]["tool_results"][0]["is_error"] = json!(false);
        assert!(valid(&run) && parse(&run.to_string()).is_ok(), "{pointer}");
        *run.pointer_mut(pointer).unwrap() = value;
        assert!(parse(&run.to_string()).is_err(), "{pointer} is read");
        assert!(!valid(&run), "{pointer} is valid");
    }
}
