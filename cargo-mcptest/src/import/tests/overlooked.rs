//! What is there in another form than the usual one: read, or told.

use serde_json::{Value, json};

use super::strangers::{call, calls, closing, stop, tokens};
use super::{Desk, lines};

/// Spans as Phoenix gives them out, with attributes under one name each or within one another.
#[test]
fn spans_of_phoenix_are_read_with_the_kind_and_the_status_beside_the_attributes() {
    let flat = json!({ "llm.model_name": "gpt-5", "llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "Where is order 7?",
        "llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": "It is lost.",
        "llm.token_count.prompt": 10, "llm.token_count.completion": 5 });
    let nested = json!({ "llm": { "model_name": "gpt-5", "input_messages": [{ "message": { "role": "user", "content": "Where is order 7?" } }],
        "output_messages": [{ "message": { "role": "assistant", "content": "It is lost." } }], "token_count": { "prompt": 10, "completion": 5 } } });
    for attributes in [flat, nested] {
        let span = |number: u32, kind: &str, status: &str, attributes: Value| {
            json!({ "id": format!("x{number}"), "name": kind, "context": { "trace_id": "t1", "span_id": format!("s{number}") }, "span_kind": kind,
                "parent_id": if number == 1 { Value::Null } else { json!("s1") }, "start_time": format!("2031-01-01T00:00:0{number}+00:00"),
                "end_time": format!("2031-01-01T00:00:0{number}.5+00:00"), "status_code": status, "status_message": "", "attributes": attributes, "events": [] })
        };
        let tool = json!({ "tool.name": "get_order", "input.value": "{\"order\":7}", "output.value": "no such order" });
        let spans = json!([
            span(
                1,
                "AGENT",
                "OK",
                json!({ "input.value": "Where is order 7?" })
            ),
            span(3, "TOOL", "ERROR", tool),
            span(4, "LLM", "OK", attributes),
        ]);
        let desk = Desk::new();
        desk.write("spans.json", spans.to_string());
        let said = desk.import(&["spans.json"]);
        assert_eq!(said.status, 0, "{said:?}");
        let run = desk.recording();
        let expected = call("get_order", r#"{"order":7}"#, "no such order", Some(true));
        assert_eq!(calls(&run), [expected]);
        assert_eq!((closing(&run), tokens(&run)), ("It is lost.", (10, 5)));
    }
}

/// `AgentDojo` repeats the call in its result, and SWE-agent lists the calls that a result answers.
#[test]
fn a_result_that_repeats_or_lists_its_call_is_that_calls() {
    let echo = json!({ "function": "get_order", "args": { "order": 7 }, "id": "c1", "placeholder_args": null });
    let asks = json!({ "role": "assistant", "content": null, "tool_calls": [echo] });
    for beside in [
        json!({ "tool_call_id": "c1", "tool_call": echo }),
        json!({ "tool_call": echo }),
        json!({ "tool_call_ids": ["c1"] }),
    ] {
        let mut result = json!({ "role": "tool", "content": "in transit" });
        result
            .as_object_mut()
            .unwrap()
            .extend(beside.as_object().unwrap().clone());
        let run = json!({ "model": "m", "messages": [{ "role": "user", "content": "Where is it?" }, asks, result, { "role": "assistant", "content": "On its way." }] });
        let desk = Desk::new();
        desk.write("run.json", run.to_string());
        let said = desk.import(&["run.json"]);
        assert_eq!(said.status, 0, "{beside} {said:?}");
        let expected = call("get_order", r#"{"order":7}"#, "in transit", None);
        assert_eq!(calls(&desk.recording()), [expected], "{beside}");
    }
}

/// A call that is no result's own is still told.
#[test]
fn a_call_in_an_unknown_place_is_still_reported() {
    let desk = Desk::new();
    let run = json!({ "model": "m", "messages": [{ "role": "user", "content": "p" },
        { "role": "assistant", "content": "x", "tool_call": { "function": "find", "args": {} } }] });
    desk.write("run.json", run.to_string());
    let said = desk.import(&["run.json"]);
    assert!(
        said.status == 1 && said.err.contains("call in an unknown form"),
        "{said:?}"
    );
}

/// A search for tools that the provider runs has no identifier that its result names; one that a client runs has.
#[test]
fn the_result_of_a_search_for_tools_is_its_calls() {
    for ids in [[Value::Null, Value::Null], [json!("a"), json!("b")]] {
        let search = |place: usize| {
            [
                json!({ "type": "tool_search_call", "id": format!("s{place}"), "call_id": ids[place], "arguments": { "paths": [place] } }),
                json!({ "type": "tool_search_output", "id": format!("o{place}"), "call_id": ids[place], "tools": [{ "type": "function", "name": format!("find_{place}") }] }),
            ]
        };
        let mut output = [search(0), search(1)].concat();
        output.push(json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Found." }] }));
        let record = json!({ "request": { "model": "m", "input": "Find it." },
            "response": { "id": "r", "object": "response", "status": "completed", "output": output } });
        let desk = Desk::new();
        desk.write("log.jsonl", lines(&[record]));
        let said = desk.import(&["log.jsonl"]);
        assert_eq!(said.status, 0, "{said:?}");
        let run = desk.recording();
        for (place, found) in calls(&run).iter().enumerate() {
            assert_eq!(
                (found.0.as_str(), found.1.clone()),
                ("tool_search", format!(r#"{{"paths":[{place}]}}"#))
            );
            let result = &run["trace"]["tool_results"][place]["result"];
            assert!(
                result.to_string().contains(&format!("find_{place}")),
                "{run:#}"
            );
        }
        assert_eq!((calls(&run).len(), closing(&run)), (2, "Found."));
    }
}

/// An event of a stream, with its name.
fn event(kind: &str, mut data: Value) -> String {
    data["type"] = kind.into();
    format!("event: {kind}\ndata: {data}\n\n")
}

/// Bodies as texts: JSON, and streams of three providers.
#[test]
fn bodies_that_are_texts_are_read() {
    let delta = |delta: Value, finish: Value| json!({ "id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] });
    let asks = json!({ "role": "assistant", "tool_calls": [{ "index": 0, "id": "c1", "type": "function", "function": { "name": "find", "arguments": "{\"q\"" } }] });
    let more = json!({ "tool_calls": [{ "index": 0, "function": { "arguments": ":1}" } }] });
    let chat = [
        delta(asks, Value::Null),
        delta(more, Value::Null),
        delta(json!({}), json!("tool_calls")),
    ];
    let chat: String = chat
        .iter()
        .map(|chunk| format!("data: {chunk}\n\n"))
        .collect::<String>()
        + "data: [DONE]\n\n";
    let anthropic = [
        event(
            "message_start",
            json!({ "message": { "id": "m1", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": { "input_tokens": 1, "output_tokens": 1 } } }),
        ),
        event(
            "content_block_start",
            json!({ "index": 0, "content_block": { "type": "tool_use", "id": "c1", "name": "find", "input": {} } }),
        ),
        event(
            "content_block_delta",
            json!({ "index": 0, "delta": { "type": "input_json_delta", "partial_json": "{\"q\":1}" } }),
        ),
        event("content_block_stop", json!({ "index": 0 })),
        event(
            "message_delta",
            json!({ "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 5 } }),
        ),
        event("message_stop", json!({})),
    ];
    let item = json!({ "type": "function_call", "call_id": "c1", "name": "find", "arguments": "{\"q\":1}" });
    let responses = event(
        "response.completed",
        json!({ "response": { "id": "r", "object": "response", "status": "completed", "output": [item] } }),
    );
    let whole = json!({ "object": "chat.completion", "choices": [{ "index": 0, "finish_reason": "tool_calls",
        "message": { "role": "assistant", "tool_calls": [{ "id": "c1", "type": "function", "function": { "name": "find", "arguments": "{\"q\":1}" } }] } }] });
    let messages = json!({ "model": "m", "max_tokens": 9, "messages": [{ "role": "user", "content": "Find it." }] });
    let input = json!({ "model": "m", "input": "Find it." });
    for (request, body) in [
        (&messages, chat),
        (&messages, anthropic.concat()),
        (&input, responses),
        (&messages, whole.to_string()),
    ] {
        let held = [
            json!({ "request": request, "response": body }),
            json!({ "request": { "body": request.to_string() }, "response": { "body": { "string": body } } }),
            json!({ "body": request.to_string(), "response": { "body": body } }),
        ];
        for record in held {
            let desk = Desk::new();
            desk.write("log.jsonl", lines(std::slice::from_ref(&record)));
            let said = desk.import(&["log.jsonl"]);
            assert_eq!(said.status, 0, "{record} {said:?}");
            let expected = call("find", r#"{"q":1}"#, "none", None);
            assert_eq!(calls(&desk.recording()), [expected], "{record}");
        }
    }
}

/// A cassette of VCR is the list of what was asked and answered.
#[test]
fn cassettes_of_vcr_are_read() {
    let stream = "data: {\"id\": \"c\", \"choices\": [{\"index\": 0, \"delta\": {\"role\": \"assistant\", \"content\": \"Hi.\"}, \"finish_reason\": \"stop\"}]}\n\ndata: [DONE]\n\n";
    let body =
        json!({ "model": "m", "messages": [{ "role": "user", "content": "p" }], "stream": true });
    let one = json!({ "request": { "method": "POST", "uri": "https://api.openai.com/v1/chat/completions", "headers": {}, "body": body.to_string() },
        "response": { "status": { "code": 200 }, "headers": {}, "body": { "string": stream } } });
    for key in ["interactions", "http_interactions"] {
        let desk = Desk::new();
        let mut cassette = json!({ "version": 1 });
        cassette[key] = json!([one]);
        desk.write("chat.json", cassette.to_string());
        let said = desk.import(&["chat.json"]);
        assert_eq!(said.status, 0, "{said:?}");
        assert_eq!(closing(&desk.recording()), "Hi.");
    }
}

#[test]
fn a_stream_that_holds_no_answer_is_refused_with_its_reason() {
    let desk = Desk::new();
    let record = json!({ "request": { "model": "m", "messages": [{ "role": "user", "content": "p" }] }, "response": "data: {\"at\": 1}\n\n" });
    desk.write("log.jsonl", lines(&[record]));
    let said = desk.import(&["log.jsonl"]);
    assert_eq!(said.status, 2, "{said:?}");
    let told = "error[import]: is a stream without an answer\n --> log.jsonl\n  = its response is a stream of events that hold no answer of a known provider";
    assert!(said.err.contains(told), "{said:?}");
}

/// A model that answers with text only: what looks like JSON or a stream there is what it said.
#[test]
fn an_answer_that_looks_like_a_stream_stays_a_text() {
    let desk = Desk::new();
    let text = "data: {\"choices\": []}";
    let record = json!({ "request": { "model": "m", "messages": [{ "role": "user", "content": "p" }] },
        "response": { "choices": [{ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": text } }] } });
    desk.write("log.jsonl", lines(&[record]));
    assert_eq!(desk.import(&["log.jsonl"]).status, 0);
    let run = desk.recording();
    assert_eq!((closing(&run), stop(&run)), (text, "completed"));
}

#[test]
fn actions_in_texts_are_told_and_the_recording_says_so() {
    let desk = Desk::new();
    let block = |command: &str| json!({ "role": "assistant", "content": format!("I look.\n\n```bash\n{command}\n```") });
    let run = json!({ "model": "m", "messages": [{ "role": "system", "content": "Answer with one bash block." }, { "role": "user", "content": "Fix it." },
        block("cat a.py"), { "role": "user", "content": "<output>\ndef f()\n</output>" }, block("echo DONE")] });
    desk.write("run.json", run.to_string());
    let said = desk.import(&["run.json"]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(
        said.err.starts_with(
            "error[import]: no call is read\n --> run.json:1\n  = the agent's texts hold what looks like actions (blocks of code), and the command reads no \
             calls from texts: the recording has no calls, so gates on calls judge nothing\n  = help: "
        ),
        "{said:?}"
    );
    let imported = &desk.recording()["imported"];
    let unknown = imported["unknown"].as_array().unwrap();
    assert!(unknown.contains(&json!("tool_calls")), "{imported}");
    // Nothing is known of what the run changed, and the suite demands nothing of it.
    assert!(!desk.suite().contains("trajectory"), "{}", desk.suite());
}

#[test]
fn an_agent_with_calls_may_write_blocks() {
    let desk = Desk::new();
    let run = json!({ "model": "m", "messages": [{ "role": "system", "content": "Answer with one bash block." }, { "role": "user", "content": "Fix it." },
        { "role": "assistant", "content": "```bash\nls\n```", "tool_calls": [{ "id": "a", "function": { "name": "find", "arguments": "{}" } }] },
        { "role": "tool", "tool_call_id": "a", "content": "found" }, { "role": "assistant", "content": "Done." }] });
    desk.write("run.json", run.to_string());
    let said = desk.import(&["run.json"]);
    assert_eq!(
        (
            said.status,
            desk.recording()["imported"]["unknown"]
                .to_string()
                .contains("tool_calls")
        ),
        (0, false)
    );
}

#[test]
fn sessions_of_another_program_are_not_taken_for_those_of_claude_code() {
    let line = |kind: &str, role: &str, text: &str| {
        json!({ "uuid": text, "parentUuid": null, "sessionId": "s", "timestamp": "2031-01-01T00:00:00Z", "type": kind, "version": "0.5",
            "message": { "role": role, "parts": [{ "text": text }] } })
    };
    let desk = Desk::new();
    desk.write(
        "chat.jsonl",
        lines(&[line("user", "user", "p"), line("assistant", "model", "a")]),
    );
    let said = desk.import(&["chat.jsonl"]);
    assert_eq!(said.status, 2, "{said:?}");
    assert!(said.err.contains("this is a session of a program that comes of Gemini CLI, such as Qwen Code, which is not read; convert it to ATIF"), "{said:?}");
}

/// The first lines may look like those of Claude Code.
#[test]
fn a_session_whose_calls_have_another_form_is_refused() {
    let line = |kind: &str, message: Value| json!({ "uuid": message["content"], "parentUuid": null, "sessionId": "s", "timestamp": "2031-01-01T00:00:00Z", "type": kind, "message": message });
    let call = json!([{ "id": "a", "type": "function", "function": { "name": "find", "arguments": "{}" } }]);
    let records = [
        line("user", json!({ "role": "user", "content": "p" })),
        line(
            "assistant",
            json!({ "role": "assistant", "content": "x", "tool_calls": call }),
        ),
        line("tool_result", json!({ "role": "tool", "content": "found" })),
    ];
    let desk = Desk::new();
    desk.write("chat.jsonl", lines(&records));
    let said = desk.import(&["chat.jsonl"]);
    assert_eq!(said.status, 2, "{said:?}");
    assert!(
        said.err
            .contains("its messages have another form: another program wrote it"),
        "{said:?}"
    );
}

/// What `jq -c` makes of a value by a line that a message advises.
fn jq(filter: &str, value: &Value) -> Vec<Value> {
    let mut values = vec![value.clone()];
    for step in filter.split(" | ") {
        values = values
            .into_iter()
            .flat_map(|mut value| {
                if let Some((to, from)) = step.split_once(" = .") {
                    let moved = value[from].clone();
                    value[to.strip_prefix('.').unwrap()] = moved;
                    return vec![value];
                }
                let key = step.strip_prefix('.').unwrap().strip_suffix("[]").unwrap();
                let list = if key.is_empty() { &value } else { &value[key] };
                list.as_array().unwrap().clone()
            })
            .collect();
    }
    values
}

/// Each line of jq that a message advises makes a file that is read.
#[test]
fn what_a_message_advises_leads_to_a_file_that_is_read() {
    let talk = json!([{ "role": "user", "content": "p" }, { "role": "assistant", "content": "x" }]);
    let plain = json!({ "model": "m", "messages": talk });
    let renamed = json!({ "model": "m", "history": talk, "info": {} });
    let calls = json!({ "role": "assistant", "content": "", "tool_calls": [{ "id": "a", "function": { "name": "find", "arguments": "{}" } }] });
    let swe = json!({ "model": "m", "trajectory": [{ "action": "ls" }], "history": [{ "role": "user", "content": "p" }, calls,
        { "role": "tool", "tool_call_ids": ["a"], "content": "found" }, { "role": "assistant", "content": "x" }] });
    let kinds = [
        json!({ "runs": [plain, plain] }),
        json!({ "runs": [renamed] }),
        renamed.clone(),
        swe,
    ];
    for value in kinds {
        for (name, text) in [
            ("all runs.json", value.to_string()),
            ("runs.jsonl", lines(&[value.clone(), value.clone()])),
            ("list.json", json!([value, value]).to_string()),
        ] {
            let desk = Desk::new();
            desk.write(name, &text);
            let said = desk.import(&[name]);
            assert_eq!(said.status, 2, "{text} {said:?}");
            let line = said
                .err
                .split_once("`jq -c '")
                .map(|(_, rest)| rest.split_once('`').unwrap().0);
            let line = line.unwrap_or_else(|| panic!("{text} {said:?}"));
            let (filter, files) = line.split_once("' ").unwrap();
            let (from, into) = files.rsplit_once(" > ").unwrap();
            assert!(
                from.trim_matches('\'').ends_with(name)
                    && from.contains('\'') == name.contains(' '),
                "{from}"
            );
            assert_ne!(into, name);
            let values = if name.ends_with('l') {
                vec![value.clone(), value.clone()]
            } else {
                vec![serde_json::from_str(&text).unwrap()]
            };
            let made: Vec<Value> = values.iter().flat_map(|value| jq(filter, value)).collect();
            desk.write(into, lines(&made));
            let said = desk.import(&[into]);
            assert!(
                said.status == 0 && !desk.recordings().is_empty(),
                "{filter} {said:?}"
            );
        }
    }
}

/// Where what would come of it is not read either, nothing is advised.
#[test]
fn nothing_is_advised_that_leads_nowhere() {
    for value in [
        json!({ "conversations": [{ "from": "human", "value": "p" }, { "from": "gpt", "value": "x" }] }),
        json!({ "rows": [{ "at": 1 }] }),
        json!({ "1st": [{ "model": "m", "messages": [] }] }),
    ] {
        let desk = Desk::new();
        desk.write("a.json", value.to_string());
        let said = desk.import(&["a.json"]);
        assert!(said.status == 2 && !said.err.contains("jq"), "{said:?}");
    }
}
