//! Sessions as they go by, and the runs that they are.

use mcptest_session::mcp::frames::Lines;
use serde_json::json;

use super::*;

fn session(client: &str, server: &str) -> Value {
    let mut session = ProxySession::new("A", "m", None);
    session.set_prompt("p", None);
    for (side, text) in [(Speaker::Client, client), (Speaker::Server, server)] {
        let mut lines = Lines::default();
        // In the smallest parts that can come.
        for byte in text.bytes() {
            lines.take(&[byte], |frame| session.add_frame(side, frame));
        }
    }
    session.cassette()
}

#[test]
fn calls_meet_their_answers_whatever_their_order_and_their_parts() {
    let run = session(
        concat!(
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"get","arguments":{"id":7}}}"#,
            "\n",
            "no JSON\n",
            r#"[{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"put"}}]"#,
            "\n",
        ),
        concat!(
            r#"{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"name":"shop"}}}"#,
            "\r\n",
            r#"{"jsonrpc":"2.0","id":2,"method":"sampling/createMessage"}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"gone"}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":"a","result":{"content":[{"type":"text","text":"ok"}]}}"#,
            "\n",
        ),
    );
    let trace = &run["trace"];
    assert_eq!(trace["tool_calls"][0]["name"], "get");
    assert_eq!(trace["tool_calls"][0]["args"], json!({ "id": 7 }));
    let results = trace["tool_results"].as_array().unwrap();
    let of = |call: u64| {
        results
            .iter()
            .find(|result| result["call_index"] == call)
            .unwrap()
    };
    assert_eq!(of(0)["is_error"], false);
    assert_eq!(of(1)["is_error"], true);
    assert_eq!(of(1)["result"]["content"][0]["text"], "gone");
    assert_eq!(trace["conversation"].get("stop_reason"), None);
    assert_eq!(run.get("system_prompt"), None);
}

#[test]
fn a_message_that_cannot_be_read_is_kept_as_text_and_told() {
    let mut session = ProxySession::new("A", "m", Some("shop".to_owned()));
    let call = r#"{"method":"tools/call","params":{"name":"get","arguments":{"id":7,"a":}},"jsonrpc":"2.0","id":3}"#;
    let answer = r#"{"result":{"content":[{"id":99,"x":}]},"jsonrpc":"2.0","id":3}"#;
    session.add_frame(Speaker::Client, Frame::Unreadable(call.to_owned()));
    session.add_frame(Speaker::Server, Frame::Unreadable(answer.to_owned()));
    let run = session.cassette();
    assert_eq!(run["trace"]["tool_calls"][0]["args"], call);
    let result = &run["trace"]["tool_results"][0];
    assert_eq!(result["result"]["content"][0]["text"], answer);
    assert_eq!(
        session.flaws(),
        ["no JSON at all in 2 messages: their readable parts are recorded as text"]
    );
}

#[test]
fn a_call_that_is_given_up_is_an_error_whatever_comes_later() {
    let run = session(
        concat!(
            r#"{"id":1,"method":"tools/call","params":{"name":"get"}}"#,
            "\n",
            r#"{"method":"notifications/cancelled","params":{"requestId":1}}"#,
            "\n",
        ),
        concat!(r#"{"id":1,"result":{"content":[]}}"#, "\n"),
    );
    let results = run["trace"]["tool_results"].as_array().unwrap();
    assert_eq!(results.len(), 1);
    assert_eq!(results[0]["is_error"], true);
}

#[test]
fn what_a_server_says_of_its_tools_is_kept() {
    let run = session(
        concat!(
            r#"{"id":1,"method":"tools/list"}"#,
            "\n",
            r#"{"id":2,"method":"tools/list","params":{"cursor":"x"}}"#,
            "\n",
        ),
        concat!(
            r#"{"id":1,"result":{"tools":[{"name":"get","description":"Gets.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}}"#,
            "\n",
            r#"{"id":2,"result":{"tools":[{"name":"put"}]}}"#,
            "\n",
        ),
    );
    let tools = run["tools"].as_array().unwrap();
    assert_eq!(
        tools[0],
        json!({ "name": "get", "server": "", "description": "Gets.", "input_schema": { "type": "object" },
            "annotations": { "readOnlyHint": true }, "read_only": true })
    );
    assert_eq!(tools.len(), 2);
    assert_eq!(
        tools[1],
        json!({ "name": "put", "server": "", "annotations": {} })
    );
}

#[test]
fn a_closing_says_that_the_run_was_completed() {
    let mut session = ProxySession::new("A", "m", Some("shop".to_owned()));
    session.set_prompt("p", Some("be kind"));
    session.set_closing("Done.\n");
    let run = session.cassette();
    assert_eq!(run["system_prompt"], "be kind");
    assert_eq!(run["trace"]["final_response"], "Done.");
    assert_eq!(run["trace"]["conversation"]["stop_reason"], "completed");
}

/// The result of a call that is answered with these lines.
fn result(answers: &[&str]) -> Value {
    let call = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"get"}}"#;
    let run = session(&format!("{call}\n"), &(answers.join("\n") + "\n"));
    let results = run["trace"]["tool_results"].as_array().unwrap();
    assert_eq!(results.len(), 1, "{answers:?}");
    results[0].clone()
}

#[test]
fn an_error_is_one_whatever_stands_beside_it() {
    for (answer, is_error, text) in [
        (
            r#"{"id":3,"result":null,"error":{"code":-1,"message":"bad"}}"#,
            true,
            "bad",
        ),
        (
            r#"{"id":3,"result":{"content":[]},"error":{"message":"bad"}}"#,
            true,
            "bad",
        ),
        (r#"{"id":3,"error":"just a text"}"#, true, "just a text"),
        (
            r#"{"id":3,"error":{"code":-1}}"#,
            true,
            r#"the server answered with an error: {"code":-1}"#,
        ),
        (r#"{"id":3}"#, true, "the server answered with an error"),
        (
            r#"{"id":3,"result":{"content":[{"type":"text","text":"ok"}]},"error":null}"#,
            false,
            "ok",
        ),
    ] {
        let result = result(&[answer]);
        assert_eq!(result["is_error"], is_error, "{answer}");
        assert_eq!(result["result"]["content"][0]["text"], text, "{answer}");
    }
}

#[test]
fn of_an_answer_that_cannot_be_read_only_a_flag_that_stands_there_is_known() {
    let deep = "[".repeat(200) + &"]".repeat(200);
    for (answer, is_error) in [
        (
            r#"{"jsonrpc":"2.0","id":3,"result":{"content":[],"isError":tru"#.to_owned(),
            Value::Null,
        ),
        (
            r#"{"jsonrpc":"2.0","id":3,"result":{"content":[],"isError":true"#.to_owned(),
            true.into(),
        ),
        (
            r#"{"jsonrpc":"2.0","id":3,"result":{"content":[]}} and more"#.to_owned(),
            Value::Null,
        ),
        (
            r#"{"jsonrpc":"2.0","id":3,"error":{"code":-1,"mess"#.to_owned(),
            true.into(),
        ),
        (
            format!(
                r#"{{"jsonrpc":"2.0","id":3,"result":{{"structuredContent":{deep},"isError":true}}}}"#
            ),
            true.into(),
        ),
        (
            format!(r#"{{"jsonrpc":"2.0","id":3,"result":{{"structuredContent":{deep}}}}}"#),
            Value::Null,
        ),
    ] {
        let result = result(&[&answer]);
        assert_eq!(result["is_error"], is_error, "{answer}");
        assert_eq!(result["result"]["content"][0]["text"], answer);
    }
}

#[test]
fn an_answer_finds_its_request_however_its_identifier_is_spelt() {
    for id in ["3", "3.0", r#""3""#] {
        let answer = format!(r#"{{"id":{id},"result":{{"content":[]}}}}"#);
        assert_eq!(result(&[&answer])["is_error"], false, "{id}");
    }
    // One of the same type is the one that is meant.
    let run = session(
        concat!(
            r#"{"id":3,"method":"tools/call","params":{"name":"number"}}"#,
            "\n",
            r#"{"id":"3","method":"tools/call","params":{"name":"text"}}"#,
            "\n",
        ),
        concat!(
            r#"{"id":"3","error":"for the text"}"#,
            "\n",
            r#"{"id":3,"result":{}}"#,
            "\n"
        ),
    );
    let results = run["trace"]["tool_results"].as_array().unwrap();
    let both = results
        .iter()
        .map(|it| (&it["call_index"], &it["is_error"]));
    assert_eq!(
        both.collect::<Vec<_>>(),
        [(&json!(1), &json!(true)), (&json!(0), &json!(false))]
    );
}

#[test]
fn requests_of_one_identifier_are_answered_in_their_order() {
    let run = session(
        concat!(
            r#"{"id":1,"method":"tools/call","params":{"name":"first"}}"#,
            "\n",
            r#"{"id":1,"method":"tools/call","params":{"name":"second"}}"#,
            "\n",
        ),
        concat!(
            r#"{"id":1,"error":"one"}"#,
            "\n",
            r#"{"id":1,"result":{}}"#,
            "\n"
        ),
    );
    let results = run["trace"]["tool_results"].as_array().unwrap();
    let both = results
        .iter()
        .map(|it| (&it["call_index"], &it["is_error"]));
    assert_eq!(
        both.collect::<Vec<_>>(),
        [(&json!(0), &json!(true)), (&json!(1), &json!(false))]
    );
}

#[test]
fn calls_before_the_server_says_its_name_have_it_too() {
    let run = session(
        concat!(
            "\u{feff}",
            r#"{"id":0,"method":"initialize"}"#,
            "\n",
            r#"{"id":1,"method":"tools/call","params":{"name":"get"}}"#,
            "\n",
            r#"{"id":2,"method":"tools/list"}"#,
            "\n",
        ),
        concat!(
            r#"{"id":2,"result":{"tools":[{"name":"get"}]}}"#,
            "\n",
            r#"{"id":1,"result":{"content":[]}}"#,
            "\n",
            r#"{"id":0,"result":{"serverInfo":{"name":"shop"}}}"#,
            "\n",
        ),
    );
    let trace = &run["trace"];
    assert_eq!(trace["tool_calls"][0]["server"], "shop");
    assert_eq!(trace["tool_results"][0]["server"], "shop");
    assert_eq!(run["tools"][0]["server"], "shop");
    let turns = trace["conversation"]["turns"].as_array().unwrap();
    assert_eq!(turns[1]["content"], "tool_use shop::get with {}");
}

#[test]
fn what_does_not_fit_together_is_counted() {
    let mut session = ProxySession::new("A", "m", Some("shop".to_owned()));
    let mut take = |side, text: &str| {
        session.add_frame(side, Frame::parse(text.as_bytes()).unwrap());
        session.loose_ends()
    };
    let call = |id: u8| format!(r#"{{"id":{id},"method":"tools/call","params":{{"name":"get"}}}}"#);
    let answer = |id: u8| format!(r#"{{"id":{id},"result":{{}}}}"#);
    assert_eq!(take(Speaker::Client, &call(1)), ["1 call has no answer"]);
    take(Speaker::Client, &call(2));
    assert_eq!(take(Speaker::Client, &call(3)), ["3 calls have no answer"]);
    take(Speaker::Server, &answer(1));
    // The server may answer what was given up.
    let given_up = r#"{"method":"notifications/cancelled","params":{"requestId":2}}"#;
    assert_eq!(take(Speaker::Client, given_up), ["1 call has no answer"]);
    assert_eq!(take(Speaker::Server, &answer(2)), ["1 call has no answer"]);
    assert!(take(Speaker::Server, &answer(3)).is_empty());
    let stray =
        "1 answer of the server belongs to no request, and the recording does not have this answer";
    assert_eq!(take(Speaker::Server, &answer(9)), [stray]);
    let cut = r#"{"jsonrpc":"2.0","id":8,"result":{"#;
    assert_eq!(
        take(Speaker::Server, cut),
        [
            "2 answers of the server belong to no request, and the recording does not have these answers"
        ]
    );
}

#[test]
fn what_is_said_of_a_message_is_true() {
    let told = |message: &str| {
        let mut session = ProxySession::new("A", "m", None);
        session.add_frame(Speaker::Client, Frame::parse(message.as_bytes()).unwrap());
        session.flaws()
    };
    let deep = "[".repeat(200) + &"]".repeat(200);
    let call = |args: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a","arguments":{args}}}}}"#
        )
    };
    assert_eq!(
        told(&call(r#"{"n":1e400}"#)),
        ["a number that would be rounded is kept as a text, in 1 message"]
    );
    assert_eq!(
        told(&call(&deep)),
        [
            "too many levels within one another in 1 message: their readable parts are recorded as text"
        ]
    );
    assert_eq!(
        told(&call("{\"n\":")),
        ["no JSON at all in 1 message: their readable parts are recorded as text"]
    );
    assert!(told(&format!("\u{feff}{}", call("{}"))).is_empty());
}
