//! Reading cassettes.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::{Origin, Run, StopReason, parse_run, read_runs};

fn origin() -> Origin {
    Origin {
        shown: "cassettes/a.json".to_owned(),
        line: None,
    }
}

fn parse(text: &str) -> Result<Run, Vec<String>> {
    let messages = |error: super::CassetteError| {
        let flaws = error.problems.into_iter();
        flaws.map(|flaw| flaw.message).collect()
    };
    parse_run(text.as_bytes(), &origin()).map_err(messages)
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
    assert_eq!(run.envelope()["tool_names"], json!(["a", "a"]));
    assert_eq!(run.envelope()["successful_tool_names"], json!(["a"]));
    assert_eq!(run.envelope()["redundant_tool_calls"], json!(1));
    assert_eq!(run.envelope()["truncated"], json!(true));
    assert_eq!(run.envelope()["custom"]["kept"], json!(true));
    assert_eq!(run.envelope()["outcome"]["why"], json!("kept"));
    assert_eq!(run.outcome.unwrap().passed, Some(false));
}

#[test]
fn a_tool_is_listed_by_its_line_or_as_an_object() {
    let with = |tools: serde_json::Value| {
        let mut run = run();
        run["tools"] = tools;
        parse(&run.to_string())
    };
    let listed = json!([
        "desk::find(id) #0a",
        { "name": "audit", "server": "desk", "line": "desk::audit()", "read_only": true },
        { "name": "bare" },
    ]);
    let tools = with(listed.clone()).unwrap().tools.unwrap();
    assert_eq!(tools[0].line.as_deref(), Some("desk::find(id) #0a"));
    assert_eq!(tools[1].read_only, Some(true));
    // As they were read, they are written.
    let written: Vec<_> = tools.into_iter().map(serde_json::Value::from).collect();
    assert_eq!(serde_json::Value::from(written), listed);
    assert_eq!(
        with(json!([{ "name": "audit", "readOnlyHint": true }])).unwrap_err(),
        ["`tools[0].readOnlyHint`: not a known key; did you mean `read_only`?"]
    );
}

#[test]
fn a_repeat_after_a_change_is_not_redundant() {
    let redundant = |names: &[&str], failed: Option<usize>, tools: serde_json::Value| {
        let mut run = run();
        let calls = names.iter().map(|name| json!({ "name": name, "args": {} }));
        run["trace"]["tool_calls"] = calls.collect();
        let results = 0..names.len();
        let results =
            results.map(|call| json!({ "call_index": call, "is_error": failed == Some(call) }));
        run["trace"]["tool_results"] = results.collect();
        run["tools"] = tools;
        let run = parse(&run.to_string()).unwrap();
        assert_eq!(run.trace.repeated_tool_calls(), 1);
        run.envelope()["redundant_tool_calls"].clone()
    };
    let none = || json!([]);
    assert_eq!(redundant(&["get", "set", "get"], None, none()), 0);
    assert_eq!(redundant(&["get", "set", "get"], Some(1), none()), 1);
    assert_eq!(redundant(&["get", "list", "get"], None, none()), 1);
    assert_eq!(redundant(&["set", "get", "set"], None, none()), 1);
    assert_eq!(redundant(&["set", "put", "set"], None, none()), 0);
    // A change before both counts for nothing.
    assert_eq!(redundant(&["set", "get", "get"], None, none()), 1);
    let tools =
        json!([{ "name": "set", "read_only": true }, { "name": "list", "read_only": false }]);
    assert_eq!(redundant(&["get", "set", "get"], None, tools.clone()), 1);
    assert_eq!(redundant(&["get", "list", "get"], None, tools), 0);
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
    assert!(
        not_text.problems[0]
            .message
            .contains("is not UTF-8 text: byte 0xFF"),
        "{not_text}"
    );
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
    assert!(
        errors[0].problems[0].message.contains("at most"),
        "{}",
        errors[0]
    );
}

/// A run of one call with a result.
fn with_result(result: &serde_json::Value) -> serde_json::Value {
    json!({
        "schema_version": "v1", "model": "m", "user_prompt": "p",
        "trace": { "tool_calls": [{ "name": "a" }], "tool_results": [result] },
    })
}

#[test]
fn an_error_in_mcp_form_is_an_error() {
    let result = json!({ "call_index": 0, "result": { "isError": true, "content": [] } });
    let run = parse(&with_result(&result).to_string()).unwrap();
    assert!(run.trace.tool_results[0].is_error);
    assert_eq!(run.envelope()["tool_results"][0]["is_error"], json!(true));
    assert!(
        super::Trace::from_envelope(&json!({ "tool_results": [result] })).tool_results[0].is_error
    );
    // What is not recorded is not made up.
    let run = parse(&with_result(&json!({ "call_index": 0, "result": 1 })).to_string()).unwrap();
    assert_eq!(run.envelope()["tool_results"][0].get("is_error"), None);
    assert_eq!(run.trace.errors_unknown(), 1);
}

#[test]
fn a_result_that_contradicts_itself_is_refused_and_read_as_an_error() {
    let refused = |result: serde_json::Value| {
        let envelope = json!({ "tool_calls": [{ "name": "a" }], "tool_results": [result] });
        assert!(super::Trace::from_envelope(&envelope).tool_results[0].is_error);
        parse(&with_result(&result).to_string()).unwrap_err()
    };
    assert_eq!(
        refused(json!({ "call_index": 0, "is_error": false, "result": { "isError": true } })),
        [
            "`trace.tool_results[0].is_error`: is false, but `result.isError` is true; a result is an error or it is none"
        ]
    );
    assert_eq!(
        refused(json!({ "call_index": 0, "synthesized": { "fault": "f" } })),
        [
            "`trace.tool_results[0].is_error`: is missing, but an injected fault answered (`synthesized`); such a result is an error: write `\"is_error\": true`"
        ]
    );
    assert_eq!(
        refused(json!({ "call_index": 0, "is_error": false, "synthesized": { "fault": "f" } })),
        [
            "`trace.tool_results[0].is_error`: is false, but an injected fault answered (`synthesized`); such a result is an error: write `\"is_error\": true`"
        ]
    );
    let told =
        json!({ "call_index": 0, "result": { "isError": true }, "synthesized": { "fault": "f" } });
    assert!(parse(&with_result(&told).to_string()).is_ok());
}

#[test]
fn a_call_with_an_error_among_its_results_is_an_error() {
    let mut run = with_result(&json!({ "call_index": 0, "is_error": true, "result": "first" }));
    let second = json!({ "call_index": 0, "is_error": false, "result": "second" });
    run["trace"]["tool_results"]
        .as_array_mut()
        .unwrap()
        .push(second);
    let run = parse(&run.to_string()).unwrap();
    assert_eq!(run.result_of(0).unwrap().result, json!("first"));
    let by_call = run.trace.results_by_call();
    assert!(by_call[0].is_some_and(|result| result.is_error));
}

#[test]
fn keys_near_a_known_one_are_refused_at_every_level() {
    let problems = parse(
        r#"{"schema_version":"v1","model":"m","user_prompt":"p","systemPrompt":"x",
            "outcome":{"pass":true},
            "trace":{"tool_calls":[{"name":"a","arguments":{}}],"final_respons":"x",
            "tool_results":[{"call_index":0,"isError":true,"is_eror":true,"result":1,"cached":true}],
            "conversation":{"stopReason":"x","tokens":{"prompt_tokens":1},"steps":[{"output_tokens":1}],
            "turns":[{"role":"user","text":"x"}],"per_turn":[{"call":[0,1]}]}}}"#,
    )
    .unwrap_err();
    let refused = |path: &str, known: &str| {
        problems.contains(&format!(
            "`{path}`: not a known key; did you mean `{known}`?"
        ))
    };
    for (path, known) in [
        ("systemPrompt", "system_prompt"),
        ("outcome.pass", "passed"),
        ("trace.final_respons", "final_response"),
        ("trace.tool_calls[0].arguments", "args"),
        ("trace.tool_results[0].isError", "is_error"),
        ("trace.tool_results[0].is_eror", "is_error"),
        ("trace.conversation.stopReason", "stop_reason"),
        ("trace.conversation.tokens.prompt_tokens", "prompt"),
        ("trace.conversation.steps[0].output_tokens", "completion"),
        ("trace.conversation.turns[0].text", "content"),
        ("trace.conversation.per_turn[0].call", "calls"),
    ] {
        assert!(refused(path, known), "{path}: {problems:?}");
    }
    assert_eq!(problems.len(), 11, "{problems:?}");
}

#[test]
fn tokens_are_the_sum_of_the_steps_where_they_are_absent_or_zero() {
    let run = |tokens: serde_json::Value| {
        let mut run = run();
        run["trace"]["conversation"] = json!({
            "tokens": tokens,
            "steps": [{ "prompt": 10, "completion": 1 }, { "prompt": 20, "completion": 2 }],
        });
        parse(&run.to_string())
    };
    for absent in [
        json!(null),
        json!({}),
        json!({ "prompt": 0, "completion": 0, "total": 0 }),
    ] {
        let run = run(absent).unwrap();
        assert_eq!(run.trace.conversation.tokens.total, 33);
        assert_eq!(
            run.envelope()["conversation"]["tokens"],
            json!({ "prompt": 30, "completion": 3, "total": 33 })
        );
    }
    let stated = run(json!({ "total": 50 })).unwrap();
    assert_eq!(stated.trace.conversation.tokens.total, 50);
    assert_eq!(
        stated.envelope()["conversation"]["tokens"],
        json!({ "total": 50 })
    );
    assert_eq!(
        run(json!({ "prompt": 30, "completion": 3, "total": 34 })).unwrap_err(),
        ["`trace.conversation.tokens.total`: is 34, but `prompt` 30 and `completion` 3 make 33"]
    );
}

#[test]
fn a_number_that_would_be_rounded_is_refused_with_its_place() {
    let refused = |number: &str| {
        let text = format!(
            "{{\"schema_version\":\"v1\",\"model\":\"m\",\"user_prompt\":\"p\",\n \"trace\":{{\"tool_calls\":[{{\"name\":\"a\",\"args\":{{\"id\":{number}}}}}]}}}}"
        );
        let error = parse_run(text.as_bytes(), &origin()).err()?;
        Some(
            error
                .problems
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join("; "),
        )
    };
    for (number, spelt) in [
        (
            "0.1000000000000000055511151231257827",
            "0.1000000000000000055511151231257827",
        ),
        ("9007199254740993.0", "9007199254740993.0"),
        ("1234567890.1234567890", "1234567890.1234567890"),
        ("1e400", "1e400"),
        ("1e-400", "1e-400"),
        (
            &format!("0.{}", "1".repeat(99)),
            &format!("0.{}…", "1".repeat(38)),
        ),
    ] {
        assert_eq!(
            refused(number).unwrap(),
            format!(
                "`trace.tool_calls[0].args.id`: {spelt} is no 64-bit number and would be rounded; write it as text (line 2, column 50)"
            )
        );
    }
    for number in [
        "0.1",
        "1.10",
        "1e3",
        "3.14159265358979312",
        "0.30000000000000004",
        "-0.0",
        "18446744073709551615",
    ] {
        assert_eq!(refused(number), None, "{number}");
    }
}

#[test]
fn what_a_value_cannot_hold_is_refused_with_its_place() {
    let text = "{\"schema_version\":\"v1\",\"model\":\"m\",\"user_prompt\":\"p\",\n \"trace\": {\"tool_calls\": [{\"name\": \"delete_all\"}],\n  \"tool_calls\": [{\"name\": \"a\", \"args\": {\"id\": 12345678901234567890123}}]}}";
    let error = parse_run(text.as_bytes(), &origin()).unwrap_err();
    let told: Vec<_> = error.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "`trace.tool_calls`: this key stands twice in its object; keep one of the two (line 3, column 3)",
            "`trace.tool_calls[0].args.id`: 12345678901234567890123 is beyond 64 bits and would be rounded; write it as text (line 3, column 47)",
        ]
    );
    assert!(
        error.drawn().contains("  at cassettes/a.json:3:47\n"),
        "{}",
        error.drawn()
    );
    let text = run().to_string().replace("\"x\":1", "\"x\":1.5e300");
    assert!(parse(&text).is_ok());
}

#[test]
fn a_typed_problem_has_its_place_in_the_file() {
    let text =
        serde_json::to_string_pretty(&with_result(&json!({ "call_index": "zero" }))).unwrap();
    let error = parse_run(text.as_bytes(), &origin()).unwrap_err();
    let place = error.problems[0].place.as_ref().unwrap();
    let line = text.lines().nth(place.line - 1).unwrap();
    assert!(line[place.column - 1..].starts_with("\"zero\""), "{line}");
    assert_eq!(place.excerpt, "\"call_index\": \"zero\"");
}

#[test]
fn arguments_as_json_in_a_string_are_refused() {
    let mut run = run();
    run["trace"]["tool_calls"][1]["args"] = json!("{\"x\": 1}");
    assert_eq!(
        parse(&run.to_string()).unwrap_err(),
        ["`trace.tool_calls[1].args`: this is JSON in a string; write the object itself"]
    );
    run["trace"]["tool_calls"][1]["args"] = json!("{x}");
    assert!(parse(&run.to_string()).is_ok());
}

#[test]
fn what_a_file_is_instead_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let told = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let errors = read_runs(&[(path, name.to_owned())]).unwrap_err();
        assert_eq!(errors.len(), 1, "{errors:?}");
        errors[0].to_string()
    };
    let utf16: Vec<u8> = "{\"schema_version\": 1}"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let marked = [b"\xff\xfe".as_slice(), &utf16].concat();
    let conflict = format!("<<<<<<< HEAD\n{0}\n=======\n{0}\n>>>>>>> other\n", run());
    let pretty = serde_json::to_string_pretty(&run()).unwrap();
    for name in ["a.json", "a.jsonl"] {
        assert_eq!(
            told(name, &utf16),
            format!("{name}: is UTF-16 text, and JSON is UTF-8")
        );
        assert_eq!(
            told(name, &marked),
            format!("{name}: is UTF-16 text, and JSON is UTF-8")
        );
        assert_eq!(
            told(name, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
            format!("{name}: is binary and not text")
        );
        assert_eq!(
            told(name, b"\x1f\x8b\x08x"),
            format!("{name}: is a compressed file")
        );
        assert_eq!(
            told(
                name,
                b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
            ),
            format!("{name}: is a git-LFS pointer and not the recording itself")
        );
        assert_eq!(
            told(name, conflict.as_bytes()),
            format!("{name}: holds the marks of a merge conflict (line 1)")
        );
    }
    assert_eq!(
        told("p.jsonl", pretty.as_bytes()),
        "p.jsonl: is JSON over several lines, and a `.jsonl` file holds one run a line"
    );
    assert_eq!(
        told("l.json", format!("{0}\n{0}\n", run()).as_bytes()),
        "l.json: holds 2 JSON values, and a file of this name holds one run"
    );
}

#[test]
fn many_bad_lines_are_a_short_list() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.jsonl");
    fs::write(
        &path,
        format!("{}\n", run()) + &"{\"a\": \u{1b}[31m}\n".repeat(9_000),
    )
    .unwrap();
    let errors = read_runs(&[(path, "many.jsonl".to_owned())]).unwrap_err();
    assert_eq!(errors.len(), 6);
    assert!(
        errors[0]
            .to_string()
            .starts_with("many.jsonl:2: is not JSON"),
        "{}",
        errors[0]
    );
    assert_eq!(
        errors[5].to_string(),
        "many.jsonl: and 8995 more lines that cannot be used"
    );
    assert!(errors.iter().all(|error| !error.drawn().contains('\u{1b}')));
}

#[test]
fn runs_that_are_equal_in_every_value_are_copies_and_those_alike_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    let mut put = |name: &str, text: String| {
        fs::write(folder.path().join(name), text).unwrap();
        files.push((folder.path().join(name), name.to_owned()));
    };
    put("a.json", run().to_string());
    let mut later = run();
    later["recorded_at"] = json!("2026-01-31T12:00:00Z");
    put("b.json", later.to_string());
    let runs = read_runs(&files).unwrap();
    let traces: Vec<_> = runs.into_iter().map(|run| run.trace).collect();
    assert_eq!(super::alike(&traces), [vec![0, 1]]);
    let mut put = |name: &str, text: String| {
        fs::write(folder.path().join(name), text).unwrap();
        files.push((folder.path().join(name), name.to_owned()));
    };
    put("c.json", serde_json::to_string_pretty(&later).unwrap());
    assert_eq!(
        read_runs(&files).unwrap_err()[0].to_string(),
        "c.json: is a copy of b.json, not a run of its own: every value is the same, `recorded_at` included"
    );
}

#[test]
fn every_known_reason_to_stop_is_read_as_itself() {
    for word in StopReason::WORDS {
        let reason = StopReason::from_text(word);
        assert!(!matches!(reason, StopReason::Other(_)), "{word}");
        assert_eq!(reason.as_str(), *word);
    }
}
