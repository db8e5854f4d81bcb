//! Answers and requests that are no JSON as they are written: the run is recorded, and its notes say what was replaced.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use mcptest_session::endpoint::Upstream;
use mcptest_session::session::{FinishedRun, Session, SessionError, SessionOptions};
use serde_json::Value;

use crate::{PROMPT, block_on};

/// A provider that gives these answers, one a request.
fn upstream(answers: &'static [(&'static str, &'static str)]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for (media_type, answer) in answers {
            let (mut connection, _) = listener.accept().unwrap();
            let mut head = BufReader::new(connection.try_clone().unwrap());
            let mut length = 0;
            loop {
                let mut line = String::new();
                head.read_line(&mut line).unwrap();
                let line = line.to_ascii_lowercase();
                if let Some(bytes) = line.strip_prefix("content-length:") {
                    length = bytes.trim().parse().unwrap();
                }
                if line.trim().is_empty() {
                    break;
                }
            }
            head.read_exact(&mut vec![0; length]).unwrap();
            let length = answer.len();
            write!(
                connection,
                "HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{answer}"
            )
            .unwrap();
        }
    });
    format!("http://{address}")
}

/// Sends requests one after the other, as a client that writes them itself.
fn recorded(
    answers: &'static [(&'static str, &'static str)],
    requests: &[&str],
) -> Result<FinishedRun, SessionError> {
    let url = upstream(answers);
    block_on(async {
        let mut options = SessionOptions::new("Order desk", PROMPT);
        options.upstreams = vec![Upstream::new("openai", &url).unwrap()];
        let session = Session::record(options).await.unwrap();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        for (request, (_, answer)) in requests.iter().zip(answers) {
            let url = format!("{}/chat/completions", session.openai_url());
            let sent = client.post(url).body((*request).to_owned()).send().await;
            // What goes by is not touched.
            assert_eq!(sent.unwrap().text().await.unwrap(), **answer);
        }
        session.finish().await
    })
}

fn notes(cassette: &Value) -> Vec<&str> {
    let notes = cassette["session"]["notes"].as_array();
    let notes = notes.into_iter().flatten();
    notes.map(|note| note.as_str().unwrap()).collect()
}

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

const OPENING: &str =
    r#"{"model":"m","messages":[{"role":"user","content":"Cancel orders 7 and 8."}]}"#;

const SAYS_OK: (&str, &str) = (
    JSON,
    r#"{"choices":[{"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}"#,
);

const CALLS: (&str, &str) = (
    JSON,
    r#"{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"cancel","arguments":"{\"a\":\"x\\ud83d\"}"}}]},"finish_reason":"tool_calls"}]}"#,
);

/// The talk with the result of the call.
const TOLD: &str = r#"{"model":"m","messages":[{"role":"user","content":"Cancel orders 7 and 8."},
    {"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"cancel","arguments":"{\"a\":\"x\\ud83d\"}"}}]},
    {"role":"tool","tool_call_id":"c","content":"{\"content\":[{\"type\":\"text\",\"text\":\"cut \\ud83d\"}],\"isError\":true}"}],
    "metadata":{"v":NaN,"w":"\ud83d"}}"#;

#[test]
fn a_whole_answer_with_half_a_character_or_no_number_is_recorded_and_told() {
    let run = recorded(
        &[(
            JSON,
            r#"{"choices":[{"logprobs":{"x":-1e999,"y":NaN},"message":{"role":"assistant","content":"half \ud83d"},"finish_reason":"stop"}]}"#,
        )],
        &[OPENING],
    )
    .unwrap();
    assert_eq!(run.cassette["trace"]["final_response"], "half \u{fffd}");
    assert_eq!(
        notes(&run.cassette)[..3],
        [
            "`NaN` or `Infinity` is read as null, in 1 model call",
            "a number that would be rounded is kept as a text, in 1 model call",
            "half a character is read as U+FFFD, in 1 model call",
        ]
    );
}

#[test]
fn a_request_and_a_result_that_strict_json_refuses_are_recorded_and_told() {
    let run = recorded(&[CALLS, SAYS_OK], &[OPENING, TOLD]).unwrap();
    let trace = &run.cassette["trace"];
    assert_eq!(trace["tool_calls"][0]["args"]["a"], "x\u{fffd}");
    let result = &trace["tool_results"][0];
    assert_eq!(result["result"]["content"][0]["text"], "cut \u{fffd}");
    assert_eq!(result["is_error"], true);
    let notes = notes(&run.cassette);
    for note in [
        "`NaN` or `Infinity` is read as null, in 1 model call",
        "half a character is read as U+FFFD, in 2 model calls",
        "half a character is read as U+FFFD, in 1 tool result",
    ] {
        assert!(notes.contains(&note), "{note}: {notes:?}");
    }
}

#[test]
fn a_chunk_that_cannot_be_read_breaks_the_answer_and_is_told() {
    let run = recorded(
        &[(
            EVENTS,
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"One\"}}]}\n\n\
             data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":two}}]}\n\n\
             data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
        )],
        &[OPENING],
    )
    .unwrap();
    let conversation = &run.cassette["trace"]["conversation"];
    assert_eq!(conversation["stop_reason"], "error");
    let told = "the last answer is incomplete: 1 event of the stream cannot be read; the first one is no JSON: \
        expected ident at line 1 column 44";
    let notes = notes(&run.cassette);
    assert!(notes.contains(&told), "{notes:?}");
}

#[test]
fn an_answer_that_is_no_json_is_told_as_what_it_is() {
    let why = |answers| recorded(answers, &[OPENING]).unwrap_err().to_string();
    let cut = why(&[(JSON, r#"{"choices":["#)]);
    assert_eq!(
        cut,
        "the agent got no answer of a model: the answer is no JSON: EOF while parsing a list at line 1 column 12"
    );
    assert_eq!(
        why(&[(JSON, "")]),
        "the agent got no answer of a model: the answer is empty"
    );
}
