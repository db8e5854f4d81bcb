//! Reading cassettes.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::{Origin, Run, parse_run, read_runs};

fn origin() -> Origin {
    Origin {
        shown: "cassettes/a.json".to_owned(),
        line: None,
    }
}

fn parse(text: &str) -> Result<Run, Vec<String>> {
    parse_run(text.as_bytes(), &origin()).map_err(|error| error.problems)
}

fn run() -> serde_json::Value {
    json!({
        "schema_version": "v1", "model": "m", "user_prompt": "p", "note": "kept",
        "trace": {
            "tool_calls": [{ "name": "a", "args": { "x": 1 } }, { "name": "a", "args": { "x": 1 } }],
            "tool_results": [{ "call_index": 0, "result": 1 }],
            "conversation": { "stop_reason": "turn_budget" },
            "custom": { "kept": true },
        },
        "outcome": { "passed": false, "why": "kept" },
    })
}

#[test]
fn the_envelope_holds_the_trace_and_what_is_derived() {
    let run = parse(&run().to_string()).unwrap();
    assert_eq!(run.envelope["tool_names"], json!(["a", "a"]));
    assert_eq!(run.envelope["redundant_tool_calls"], json!(1));
    assert_eq!(run.envelope["truncated"], json!(true));
    assert_eq!(run.envelope["custom"]["kept"], json!(true));
    assert_eq!(run.envelope["outcome"]["why"], json!("kept"));
    assert_eq!(run.outcome.unwrap().passed, Some(false));
}

#[test]
fn a_byte_order_mark_is_no_obstacle() {
    assert!(parse(&format!("\u{feff}{}", run())).is_ok());
}

#[test]
fn what_is_no_cassette_is_refused_with_the_reason() {
    for (text, reason) in [
        ("", "is empty"),
        (" \n", "is empty"),
        ("{\"schema_version\":\"v1\"", "EOF while parsing"),
        ("[1]", "is not a JSON object"),
        ("{}", "`schema_version` is missing"),
        ("{\"schema_version\":\"v2\"}", "`schema_version` is \"v2\""),
        ("{\"schema_version\":1}", "`schema_version` is 1"),
    ] {
        let problems = parse(text).unwrap_err();
        assert!(problems[0].contains(reason), "{text}: {problems:?}");
    }
    let not_text = parse_run(b"{\"a\": \"\xff\"}", &origin()).unwrap_err();
    assert!(not_text.problems[0].contains("is not JSON"), "{not_text}");
    let deep = "[".repeat(100_000);
    assert!(parse(&deep).unwrap_err()[0].contains("recursion limit"));
}

#[test]
fn every_malformed_field_is_named_with_its_path() {
    let problems = parse(
        r#"{"schema_version":"v1","user_prompt":7,"signals":{"confidnce":1,"coherence":1.5},
            "trace":{"tool_calls":[{"name":1},3],"tool_results":[{"call_index":9},{"is_error":"no"}],
            "conversation":{"tokens":{"total":-1},"per_turn":[{"calls":[0,9]}]}}}"#,
    )
    .unwrap_err();
    let expected = [
        "`model`: missing",
        "`user_prompt`: expected a string, found 7",
        "`signals`: `confidnce` is not a signal; there are `confidence`, `loop_detection`, `tool_correctness`, `coherence`",
        "`signals.coherence`: expected a number from 0 to 1, found 1.5",
        "`trace.tool_calls[0].name`: expected a string, found 1",
        "`trace.tool_calls[1]`: expected an object, found 3",
        "`trace.tool_calls[1].name`: missing",
        "`trace.tool_results[0].call_index`: there is no call 9; 2 were recorded",
        "`trace.tool_results[1].call_index`: missing",
        "`trace.tool_results[1].is_error`: expected true or false, found a string",
        "`trace.conversation.tokens.total`: expected a whole number, 0 or more, found -1",
        "`trace.conversation.per_turn[0].calls`: expected [from, to) within the 2 recorded calls",
    ];
    assert_eq!(problems, expected);
}

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

#[test]
fn the_schema_agrees_with_the_reader() {
    let schema: serde_json::Value = serde_json::from_str(super::CASSETTE_SCHEMA).unwrap();
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
        run["trace"]["tool_results"][0]["is_error"] = json!(false);
        assert!(valid(&run) && parse(&run.to_string()).is_ok(), "{pointer}");
        *run.pointer_mut(pointer).unwrap() = value;
        assert!(parse(&run.to_string()).is_err(), "{pointer} is read");
        assert!(!valid(&run), "{pointer} is valid");
    }
}

#[test]
fn copies_are_not_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| (folder.path().join(name), name.to_owned());
    for name in ["a.json", "b.json"] {
        fs::write(folder.path().join(name), run().to_string()).unwrap();
    }
    let errors = read_runs(&[path("a.json"), path("b.json")]).unwrap_err();
    assert_eq!(
        errors[0].to_string(),
        "b.json: is a byte-for-byte copy of a.json, not a run of its own"
    );
    fs::write(
        folder.path().join("c.jsonl"),
        format!("{0}\n\n{0}\n", run()),
    )
    .unwrap();
    let errors = read_runs(&[path("c.jsonl")]).unwrap_err();
    assert_eq!(
        errors[0].to_string(),
        "c.jsonl:3: is a byte-for-byte copy of c.jsonl:1, not a run of its own"
    );
}

#[test]
fn a_huge_file_is_refused_before_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("huge.json");
    fs::File::create(&path)
        .unwrap()
        .set_len(super::MAX_BYTES + 1)
        .unwrap();
    let errors = read_runs(&[(path, "huge.json".to_owned())]).unwrap_err();
    assert!(errors[0].problems[0].contains("at most"), "{}", errors[0]);
}
