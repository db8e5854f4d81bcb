//! Definitions: openai-python 3.3.1 `types/chat`, `types/responses`; anthropic-sdk-python 0.121.0 `types`;
//! the messages that frameworks store beside them (`LiteLLM`, `OpenRouter`, smolagents).

use serde_json::{Value, json};

use super::super::{Desk, lines};
use super::{call, calls, closing, stop, tokens};

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

fn asks(calls: &[(&str, &str)]) -> Value {
    let calls: Vec<Value> = calls
        .iter()
        .map(|(id, args)| {
            json!({ "id": id, "type": "function", "function": { "name": "find", "arguments": args } })
        })
        .collect();
    json!({ "role": "assistant", "content": null, "refusal": null, "tool_calls": calls })
}

/// The first runs of a log may well call no tools; what the others do is no text.
#[test]
fn a_file_is_not_told_by_a_first_run_that_could_be_of_any_format() {
    let desk = Desk::new();
    let plain = json!({ "id": "1", "model": "m", "messages": [user("hi"), { "role": "assistant", "content": "hello" }] });
    let block = json!({ "type": "tool_use", "id": "t", "name": "find", "input": { "q": 1 } });
    let result =
        json!({ "type": "tool_result", "tool_use_id": "t", "is_error": true, "content": "gone" });
    let calling = json!({ "id": "2", "model": "m", "messages": [
        user("find it"), { "role": "assistant", "content": [{ "type": "text", "text": "Looking." }, block] },
        { "role": "user", "content": [result] }, { "role": "assistant", "content": "It is gone." },
    ] });
    desk.write("runs.jsonl", lines(&[plain, calling]));
    let said = desk.import(&["runs.jsonl"]);
    assert_eq!(said.status, 0, "{said:?}");
    let run = &desk.recordings()[0].1;
    assert_eq!(calls(run), [call("find", r#"{"q":1}"#, "gone", Some(true))]);
    assert_eq!(closing(run), "It is gone.");
}

/// A simulated user may have tools of its own: what it calls, and what comes back, is not the agent's.
#[test]
fn what_a_simulated_user_calls_is_no_call_of_the_agent() {
    for (role, requestor) in [("user", true), ("user", false), ("human", false)] {
        let desk = Desk::new();
        let by = |it: &mut Value| {
            if requestor {
                it["requestor"] = "user".into();
            }
        };
        let mut toggle = json!({ "id": "u", "type": "function", "function": { "name": "toggle", "arguments": "{}" } });
        let mut on = json!({ "role": "tool", "tool_call_id": "u", "content": "on" });
        by(&mut toggle);
        by(&mut on);
        let messages = json!([
            { "role": role, "content": "It is off." }, { "role": "assistant", "content": "Toggle it." },
            { "role": role, "content": null, "tool_calls": [toggle] }, on,
            { "role": role, "content": "Now it is on." }, asks(&[("u", "{\"q\":1}")]),
            { "role": "tool", "tool_call_id": "u", "content": "fine" },
            { "role": "assistant", "content": "Good." },
        ]);
        desk.write(
            "run.json",
            json!({ "model": "m", "messages": messages }).to_string(),
        );
        let said = desk.import(&["run.json"]);
        assert_eq!(said.status, 0, "{said:?}");
        let told = "calls and results of the simulated user left out: 2";
        assert!(said.out.contains(told), "{said:?}");
        let run = desk.recording();
        assert_eq!(calls(&run), [call("find", r#"{"q":1}"#, "fine", None)]);
        assert!(!run.to_string().contains("toggle"), "{run}");
        assert!(!desk.suite().contains("toggle"));
    }
}

/// A call of the user may have no result, and identifiers may start again with every turn.
#[test]
fn a_result_is_that_of_the_latest_call_with_its_identifier() {
    let toggle = json!({ "role": "user", "content": null, "tool_calls": [
        { "id": "u", "type": "function", "function": { "name": "toggle", "arguments": "{}" } }] });
    let desk = Desk::new();
    let messages = json!([
        { "role": "user", "content": "It is off." }, { "role": "assistant", "content": "Toggle it." },
        toggle, asks(&[("u", "{\"q\":1}")]), { "role": "tool", "tool_call_id": "u", "content": "fine" },
        { "role": "assistant", "content": "Good." },
    ]);
    let run = json!({ "model": "m", "messages": messages });
    desk.write("run.json", run.to_string());
    let said = desk.import(&["run.json"]);
    assert_eq!(said.status, 0, "{said:?}");
    let told = "calls and results of the simulated user left out: 1";
    assert!(said.out.contains(told), "{said:?}");
    let run = desk.recording();
    assert_eq!(calls(&run), [call("find", r#"{"q":1}"#, "fine", None)]);
}

/// Gateways give reasoning as a block of the content, beside calls in the other form.
#[test]
fn calls_in_one_form_and_blocks_of_the_other_are_both_read() {
    let desk = Desk::new();
    let mut asking = asks(&[("c1", "{\"q\":1}")]);
    asking["content"] = json!([{ "type": "thinking", "thinking": "hm", "signature": "x" }, { "type": "text", "text": "Looking." }]);
    let messages = json!([
        user("find it"), asking,
        { "role": "tool", "tool_call_id": "c1", "content": "gone", "is_error": true },
        { "role": "assistant", "content": [{ "type": "text", "text": "Gone." }] },
    ]);
    desk.write(
        "run.json",
        json!({ "model": "m", "messages": messages }).to_string(),
    );
    let said = desk.import(&["run.json"]);
    assert_eq!(said.status, 0, "{said:?}");
    let run = desk.recording();
    assert_eq!(
        calls(&run),
        [call("find", r#"{"q":1}"#, "gone", Some(true))]
    );
    assert_eq!(closing(&run), "Gone.");
    assert!(!run.to_string().contains("\"hm\""));
}

#[test]
fn flags_of_errors_are_read_in_every_spelling() {
    for (key, value, flag) in [
        ("is_error", json!(true), Some(true)),
        ("isError", json!(true), Some(true)),
        ("status", json!("error"), Some(true)),
        ("is_error", json!(false), Some(false)),
        ("status", json!("success"), Some(false)),
        ("error", json!("timed out"), Some(true)),
        ("status", json!("failed"), Some(true)),
        ("status", json!("ok"), Some(false)),
        ("status", json!("completed"), None),
        ("status", json!("pending"), None),
    ] {
        let desk = Desk::new();
        let mut result = json!({ "role": "tool", "tool_call_id": "c1", "content": "x" });
        result[key] = value.clone();
        let messages = [
            user("p"),
            asks(&[("c1", "{}")]),
            result,
            json!({ "role": "assistant", "content": "y" }),
        ];
        desk.write(
            "run.json",
            json!({ "model": "m", "messages": messages }).to_string(),
        );
        desk.import(&["run.json"]);
        assert_eq!(calls(&desk.recording())[0].3, flag, "{key}: {value}");
    }
}

/// A request without its response says nothing of what an agent did.
#[test]
fn a_request_alone_is_no_run() {
    let desk = Desk::new();
    let line = json!({ "custom_id": "r1", "method": "POST", "url": "/v1/chat/completions",
        "body": { "model": "m", "messages": [user("p")] } });
    desk.write("batch.jsonl", lines(&[line]));
    let said = desk.import(&["batch.jsonl"]);
    assert_eq!(said.status, 2, "{said:?}");
    assert!(said.err.contains("batch.jsonl:1"), "{}", said.err);
    assert!(said.err.contains("no answer"), "{}", said.err);
}

/// What is asked is under `inputs` and what is answered under `outputs`, as data sets of examples have it.
#[test]
fn the_answer_beside_the_inputs_is_read_or_reported() {
    let desk = Desk::new();
    let line = json!({ "id": "e1", "model": "m", "inputs": { "messages": [user("p")] },
        "outputs": { "messages": [asks(&[("c1", "{}")]), { "role": "tool", "tool_call_id": "c1", "content": "x" }, { "role": "assistant", "content": "done" }] } });
    desk.write("examples.jsonl", lines(&[line]));
    let said = desk.import(&["examples.jsonl"]);
    assert_eq!(said.status, 0, "{said:?}");
    let run = desk.recording();
    assert_eq!(closing(&run), "done");
    assert_eq!(calls(&run).len(), 1);
}

fn logged(request: &[Value], response: &Value) -> Value {
    json!({ "request": { "model": "claude", "max_tokens": 100, "messages": request }, "response": response })
}

fn answered(id: &str, stop: &str, content: &Value, fresh: u64) -> Value {
    json!({ "id": id, "type": "message", "role": "assistant", "model": "claude", "stop_reason": stop, "content": content,
        "usage": { "input_tokens": fresh, "cache_creation_input_tokens": 100, "cache_read_input_tokens": 1000, "output_tokens": 7 } })
}

/// Clients send back what they keep of an answer: without its thinking, its nulls and its citations.
#[test]
fn a_log_is_one_run_though_its_thinking_is_not_sent_back() {
    let desk = Desk::new();
    let call_block = json!({ "type": "tool_use", "id": "t1", "name": "find", "input": { "q": 1 } });
    let mut full = call_block.clone();
    full["caller"] = json!({ "type": "direct" });
    let first = answered(
        "m1",
        "tool_use",
        &json!([
        { "type": "thinking", "thinking": "hm", "signature": "x" }, { "type": "text", "text": "Looking.", "citations": null }, full]),
        3,
    );
    let second = answered(
        "m2",
        "end_turn",
        &json!([{ "type": "text", "text": "Found." }]),
        4,
    );
    let begin = vec![user("find it")];
    let kept = json!({ "role": "assistant", "content": [{ "type": "text", "text": "Looking." }, call_block] });
    let result = json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t1", "content": [{ "type": "text", "text": "here" }] }] });
    let next = [begin.clone(), vec![kept, result]].concat();
    desk.write(
        "log.jsonl",
        lines(&[logged(&begin, &first), logged(&next, &second)]),
    );
    let said = desk.import(&["log.jsonl"]);
    assert_eq!(said.status, 0, "{said:?}");
    let run = desk.recording();
    assert_eq!(
        calls(&run),
        [call("find", r#"{"q":1}"#, "here", Some(false))]
    );
    assert_eq!(tokens(&run), (2207, 14));
    assert_eq!((closing(&run), stop(&run)), ("Found.", "completed"));
}

/// What is to be cached ends at a mark that moves on with the conversation.
#[test]
fn a_log_is_one_run_though_its_mark_for_caching_moves() {
    for block in [
        json!({ "type": "image", "source": { "type": "url", "url": "https://example.com/a.png" } }),
        json!({ "type": "document", "source": { "type": "text", "data": "terms" } }),
    ] {
        let begin = |is_marked: bool| {
            let mut block = block.clone();
            if is_marked {
                block["cache_control"] = json!({ "type": "ephemeral" });
                block["citations"] = json!({ "enabled": true });
                block["title"] = Value::Null;
            }
            json!({ "role": "user", "content": [{ "type": "text", "text": "look" }, block] })
        };
        let said = |text: &str| json!([{ "type": "text", "text": text }]);
        let first = answered("m1", "end_turn", &said("Seen."), 3);
        let second = answered("m2", "end_turn", &said("Again."), 4);
        let kept = json!({ "role": "assistant", "content": "Seen." });
        let desk = Desk::new();
        desk.write(
            "log.jsonl",
            lines(&[
                logged(&[begin(true)], &first),
                logged(&[begin(false), kept, user("again")], &second),
            ]),
        );
        desk.import(&["log.jsonl"]);
        assert_eq!(closing(&desk.recording()), "Again.");
    }
}

/// The API's own errors, in the body that it sends and in that of clients which keep the error alone.
#[test]
fn a_request_that_failed_ends_its_run_in_an_error() {
    for error in [
        json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } }),
        json!({ "error": { "type": "overloaded_error", "message": "Overloaded" } }),
    ] {
        let desk = Desk::new();
        let call_block = json!({ "type": "tool_use", "id": "t1", "name": "find", "input": {} });
        let first = answered("m1", "tool_use", &json!([call_block]), 3);
        let begin = vec![user("find it")];
        let kept = json!({ "role": "assistant", "content": [call_block] });
        let result = json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t1", "content": "here" }] });
        let next = [begin.clone(), vec![kept, result]].concat();
        desk.write(
            "log.jsonl",
            lines(&[logged(&begin, &first), logged(&next, &error)]),
        );
        desk.import(&["log.jsonl"]);
        assert_eq!(stop(&desk.recording()), "error", "{error}");
    }
}

/// A rewarded record: a verdict is a boolean too, and zero is none that passed.
#[test]
fn a_reward_may_be_a_boolean() {
    for (reward, passed) in [
        (json!(false), false),
        (json!(true), true),
        (json!(0), false),
        (json!(0.0), false),
        (json!(1), true),
    ] {
        let desk = Desk::new();
        let messages = [user("p"), json!({ "role": "assistant", "content": "y" })];
        desk.write(
            "run.json",
            json!({ "model": "m", "messages": messages, "reward": reward }).to_string(),
        );
        desk.import(&["run.json"]);
        assert_eq!(desk.recording()["outcome"]["passed"], passed, "{reward}");
    }
}

/// Adapters for local models number calls from 0 in each answer; of parallel calls some may fail.
#[test]
fn results_meet_their_calls_though_identifiers_repeat() {
    let desk = Desk::new();
    let result = |id: &str, text: &str, failed: bool| json!({ "role": "tool", "tool_call_id": id, "content": [{ "type": "text", "text": text }], "error": failed });
    let messages = [
        user("p"),
        asks(&[("call_0", "{\"n\":1}"), ("call_1", "{\"n\":2}")]),
        result("call_1", "two", true),
        result("call_0", "one", false),
        asks(&[("call_0", "{\"n\":3}"), ("call_1", "{\"n\":4}")]),
        result("call_0", "three", false),
        result("call_1", "four", true),
        json!({ "role": "assistant", "content": "", "refusal": "I can't help with that." }),
    ];
    desk.write(
        "run.json",
        json!({ "model": "m", "messages": messages }).to_string(),
    );
    let said = desk.import(&["run.json"]);
    assert_eq!(said.status, 0, "{said:?}");
    let run = desk.recording();
    let found = calls(&run);
    let seen: Vec<(&str, Option<bool>)> = found.iter().map(|it| (it.2.as_str(), it.3)).collect();
    assert_eq!(
        seen,
        [
            ("one", Some(false)),
            ("two", Some(true)),
            ("three", Some(false)),
            ("four", Some(true))
        ]
    );
    assert_eq!(run["trace"]["conversation"]["refused"], true);
}

/// A message whose role is not known is told, and the others are read; a role is one in whatever case.
#[test]
fn a_message_without_a_known_role_costs_no_other_message() {
    let odd = |message: Value| {
        let answer = json!({ "role": "Tool", "tool_call_id": "a", "content": "here" });
        json!([user("find it"), message, asks(&[("a", "{\"q\":1}")]), answer, { "role": "Assistant", "content": "Done." }])
    };
    let read = |message: Value, arguments: &[&str]| {
        let desk = Desk::new();
        desk.write(
            "runs.jsonl",
            lines(&[json!({ "id": "1", "model": "m", "messages": odd(message) })]),
        );
        let said = desk.import(&[&["runs.jsonl"], arguments].concat());
        let run = desk.recordings()[0].1.clone();
        assert_eq!(calls(&run), [call("find", r#"{"q":1}"#, "here", None)]);
        assert_eq!(closing(&run), "Done.");
        said
    };
    for (message, reason) in [
        (json!({ "content": "well" }), "message without a role"),
        (
            json!({ "type": "note", "text": "well" }),
            "message without a role",
        ),
        (
            json!({ "role": "bot", "content": "well" }),
            "message of an unknown role",
        ),
    ] {
        for arguments in [&[][..], &["--from", "openai"]] {
            let said = read(message.clone(), arguments);
            assert_eq!(said.status, 1, "{said:?}");
            assert!(format!("{said:?}").contains(reason), "{said:?}");
        }
    }
    assert_eq!(
        read(json!({ "role": "Assistant", "content": "well" }), &[]).status,
        0
    );
}

/// A flag may be a text or a number; one that says neither leaves it open.
#[test]
fn the_flag_of_an_error_is_read_however_it_is_spelt() {
    let block = |flag: Value| {
        let call = json!({ "type": "tool_use", "id": "t", "name": "find", "input": { "q": 1 } });
        let result = json!({ "type": "tool_result", "tool_use_id": "t", "is_error": flag, "content": "gone" });
        json!([user("find it"), { "role": "assistant", "content": [call] }, { "role": "user", "content": [result] },
            { "role": "assistant", "content": [{ "type": "text", "text": "Gone." }] }])
    };
    let chat = |key: &str, flag: Value| {
        let mut answer = json!({ "role": "tool", "tool_call_id": "a", "content": "gone" });
        answer[key] = flag;
        json!([user("find it"), asks(&[("a", "{\"q\":1}")]), answer, { "role": "assistant", "content": "Gone." }])
    };
    for (messages, flag) in [
        (block(json!("true")), Some(true)),
        (block(json!(1)), Some(true)),
        (block(json!("False")), Some(false)),
        (block(json!("perhaps")), None),
        (chat("is_error", json!("True")), Some(true)),
        (chat("status", json!("Error")), Some(true)),
    ] {
        let desk = Desk::new();
        let run = json!({ "id": "1", "model": "m", "messages": messages });
        desk.write("runs.jsonl", lines(&[run]));
        let said = desk.import(&["runs.jsonl"]);
        let run = &desk.recordings()[0].1;
        assert_eq!(
            calls(run),
            [call("find", r#"{"q":1}"#, "gone", flag)],
            "{said:?}"
        );
    }
}
