//! Reading cassettes.

mod files;
mod refused;
mod schema;

use serde_json::json;

use super::{Origin, Run, StopReason, Trace, parse_run};

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
fn what_the_code_says_of_its_own_tools_is_read() {
    let mut whole = run();
    whole["trace"]["tool_calls"][1]["own"] = json!({
        "args": { "x": 1.5 }, "result": null, "by": "suite",
        "attempts": [
            { "error": { "type": "E", "text": "no" }, "synthesized": { "fault": "flaky", "kind": "hang" } },
            { "args": { "x": 2 }, "result": [] },
        ],
        "left": true,
    });
    whole["session"] = json!({
        "version": "1.3",
        "tools": [
            { "name": "a", "args": {}, "call": 1, "by": "suite" }, { "name": "b", "call": "odd" }, { "args": {} }, 7,
        ],
        "answers": { "fingerprint": "f", "used": [0, 2] }, "faults": "g",
    });
    let read = parse(&whole.to_string()).unwrap();
    assert_eq!(read.trace.tool_calls[0].own, None);
    let own = read.trace.tool_calls[1].own.as_ref().unwrap();
    // As it was read, it is written.
    assert_eq!(json!(own), whole["trace"]["tool_calls"][1]["own"]);
    assert!(own.is_by_suite());
    let calls = &read.own_tools.calls;
    let noted = calls
        .iter()
        .map(|call| (&*call.name, call.call, call.by_suite));
    assert!(noted.eq([("a", Some(1), true), ("b", None, false)]));
    assert_eq!(read.own_tools.faults.as_deref(), Some("g"));
    let answers = read.own_tools.answers.unwrap();
    assert_eq!((&*answers.fingerprint, answers.used), ("f", vec![0, 2]));
    for (own, said) in [
        (
            json!([]),
            "`trace.tool_calls[1].own`: expected an object, found a list",
        ),
        (
            json!({ "attempt": [] }),
            "`trace.tool_calls[1].own.attempt`: not a known key; did you mean `attempts`?",
        ),
        (
            json!({ "attempts": [{ "errors": 1 }] }),
            "`trace.tool_calls[1].own.attempts[0].errors`: not a known key; did you mean `error`?",
        ),
        (
            json!({ "by": true }),
            "`trace.tool_calls[1].own.by`: expected a string, found true",
        ),
    ] {
        whole["trace"]["tool_calls"][1]["own"] = own;
        assert_eq!(parse(&whole.to_string()).unwrap_err(), [said]);
    }
    assert_eq!(
        parse(&run().to_string()).unwrap().own_tools,
        super::OwnTools::default()
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
            "`trace.tool_results[0].is_error`: is false, but `result.isError` is true; make the two equal"
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
        assert_eq!(run.trace.conversation.tokens.total, Some(33));
        assert_eq!(
            run.envelope()["conversation"]["tokens"],
            json!({ "prompt": 30, "completion": 3, "total": 33 })
        );
    }
    let stated = run(json!({ "total": 50 })).unwrap();
    assert_eq!(stated.trace.conversation.tokens.total, Some(50));
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
fn targets_have_all_tokens_that_are_the_sum_of_the_steps() {
    let mut run = run();
    let step = json!({ "prompt": 10, "completion": 5, "cached": 4, "reasoning": 2 });
    run["trace"]["conversation"] = json!({ "steps": [step, step] });
    let run = parse(&run.to_string()).unwrap();
    assert_eq!(
        run.envelope()["conversation"]["tokens"],
        json!({ "prompt": 20, "completion": 10, "total": 30, "cached": 8, "reasoning": 4 })
    );
}

#[test]
fn a_total_that_is_not_that_of_the_steps_is_refused_with_both_numbers() {
    let run = |tokens: serde_json::Value, steps: serde_json::Value, step: u64| {
        let mut run = run();
        run["trace"]["tool_calls"][0]["step"] = json!(step);
        run["trace"]["conversation"] = json!({ "tokens": tokens, "steps": steps });
        parse(&run.to_string()).map(|run| run.trace.conversation.tokens.total)
    };
    let steps = json!([{ "prompt": 10, "completion": 1 }, { "prompt": 20, "completion": 2 }]);
    let refused = |total: u64| {
        let problem = format!(
            "`trace.conversation.tokens.total`: is {total}, but the 2 `steps` took 33 together; one of the two is wrong"
        );
        Err(vec![problem])
    };
    let parts = |prompt: u64| json!({ "prompt": prompt, "completion": 3, "total": prompt + 3 });
    assert_eq!(run(json!({ "total": 32 }), steps.clone(), 0), refused(32));
    assert_eq!(run(parts(29), steps.clone(), 0), refused(32));
    assert_eq!(run(parts(9_997), steps.clone(), 0), refused(10_000));
    let part = "`trace.conversation.tokens.prompt`: is 5, but the 2 `steps` took 30 together; one of the two is wrong";
    assert_eq!(
        run(json!({ "prompt": 5 }), steps.clone(), 0),
        Err(vec![part.to_owned()])
    );
    // One part alone is no total.
    assert_eq!(run(json!({ "prompt": 35 }), json!([]), 0), Ok(None));
    // Nor are the steps, where a call names one that is not among them.
    assert_eq!(run(json!({}), steps.clone(), 2), Ok(None));
    assert_eq!(run(json!({}), steps.clone(), 1), Ok(Some(33)));
    // A total may count what the parts do not, and what steps took of which nothing is known.
    assert_eq!(run(json!({ "total": 34 }), steps.clone(), 0), Ok(Some(34)));
    assert_eq!(run(parts(31), steps.clone(), 2), Ok(Some(34)));
    let unknown = json!([{ "prompt": 10, "completion": 1 }, {}]);
    assert_eq!(run(parts(31), unknown, 0), Ok(Some(34)));
    assert_eq!(run(parts(31), json!([]), 0), Ok(Some(34)));
    assert_eq!(run(parts(31), json!([{}, {}]), 0), Ok(Some(34)));
}

#[test]
fn results_have_the_order_of_their_calls() {
    let mut run = run();
    run["trace"]["tool_calls"] = json!([{ "name": "a" }, { "name": "b" }, { "name": "c" }]);
    run["trace"]["tool_results"] = json!([
        { "call_index": 2, "is_error": true, "result": "c" },
        { "call_index": 0, "result": { "isError": true, "text": "a" } },
        { "call_index": 0, "is_error": false, "result": "a later" },
    ]);
    let run = parse(&run.to_string()).unwrap();
    let order: Vec<_> = run
        .trace
        .tool_results
        .iter()
        .map(|it| (it.call_index, it.is_error))
        .collect();
    assert_eq!(order, [(0, true), (0, false), (2, true)]);
    let path = |keys: &[&'static str], item| crate::trace::PathKeys::new(keys.to_vec(), item);
    let paths = [
        path(&["tool_results", "result"], Some(2)),
        path(&["tool_results", "is_error"], None),
    ];
    let along = run.envelope_for(&paths).into_owned();
    assert_eq!(
        along["tool_results"],
        json!([
            { "call_index": 0, "is_error": true, "result": { "isError": true, "text": "a" } },
            { "call_index": 0, "is_error": false, "result": "a later" },
            { "call_index": 2, "is_error": true, "result": "c" },
        ])
    );
    assert_eq!(run.envelope()["tool_results"], along["tool_results"]);
}

#[test]
fn every_known_reason_to_stop_is_read_as_itself() {
    for word in StopReason::WORDS {
        let reason = StopReason::from_text(word);
        assert!(!matches!(reason, StopReason::Other(_)), "{word}");
        assert_eq!(reason.as_str(), *word);
    }
}

#[test]
fn a_call_that_tells_no_arguments_is_one_with_none() {
    let calls = r#"[{"name":"a"},{"name":"a","args":null},{"name":"a","args":{}}]"#;
    let run = format!(
        r#"{{"schema_version":"v1","model":"m","user_prompt":"p","trace":{{"tool_calls":{calls}}}}}"#
    );
    let run = parse_run(run.as_bytes(), &Origin::file("run.json")).unwrap();
    assert_eq!(run.trace.distinct_tool_calls(), 1);
    let again = Trace::from_envelope(run.envelope());
    assert_eq!(again.tool_calls, run.trace.tool_calls);
}

#[test]
fn a_session_says_which_flags_its_format_could_not_tell() {
    let unknown = |session: serde_json::Value| {
        let mut run = run();
        run["trace"]["tool_calls"] = json!([{ "name": "a" }, { "name": "b" }]);
        run["trace"]["tool_results"] = json!([
            { "call_index": 0, "is_error": false },
            { "call_index": 1, "result": "Error: mail server refused" },
        ]);
        run["session"] = session;
        parse(&run.to_string()).unwrap().trace.errors_unknown()
    };
    assert_eq!(unknown(json!(null)), 0);
    assert_eq!(unknown(json!({ "version": "1.0" })), 0);
    assert_eq!(
        unknown(json!({ "version": "1.0", "unknown": ["is_error"] })),
        1
    );
}
