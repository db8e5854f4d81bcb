//! What is wrong in a recording, and where it says so.

use serde_json::json;

use super::super::parse_run;
use super::{origin, parse, run, with_result};

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
    let refused = parse_run(br#"{"trace":"\ud800"}"#, &origin()).unwrap_err();
    assert!(refused.help.contains("half a character"), "{refused}");
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
            "`trace.tool_calls`: this key is twice in its object; keep one of the two (line 3, column 3)",
            "`trace.tool_calls[0].args.id`: 12345678901234567890123 is beyond 64 bits and would be rounded; write it as text (line 3, column 47)",
        ]
    );
    assert!(
        error.render().contains("  at cassettes/a.json:3:47\n"),
        "{}",
        error.render()
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
