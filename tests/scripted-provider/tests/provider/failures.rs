//! What can happen to a request instead of its reply.

use std::time::{Duration, Instant};

use scripted_provider::Provider;
use serde_json::{Value, json};

use crate::{ANTHROPIC_HEADERS, Answer, OPENAI_HEADERS, chat, messages, play, send, start, user};

fn failing(before: &Value) -> Provider {
    start(&json!({ "conversations": [{ "user": "go", "runs": [
        [{ "text": "one", "before": before }],
        [{ "text": "two" }],
    ] }] }))
}

fn message_of(answer: Answer) -> Value {
    answer.ok()["choices"][0]["message"]["content"].clone()
}

#[test]
fn statuses_come_in_order_and_then_the_reply_of_the_same_run() {
    let provider = failing(&json!([
        { "status": 429, "retry_after": 2 },
        { "status": 500 },
        { "status": 529, "message": "come back" },
    ]));
    let go = json!([user("go")]);
    let limited = chat(&provider, &go);
    assert_eq!(limited.status, 429);
    assert_eq!(limited.headers["retry-after"], "2");
    assert_eq!(limited.body["error"]["type"], "requests");
    assert_eq!(limited.body["error"]["code"], "rate_limit_exceeded");
    let broken = chat(&provider, &go);
    assert!(broken.error(500).contains("had an error"));
    assert_eq!(broken.headers.get("retry-after"), None);
    assert_eq!(chat(&provider, &go).error(529), "come back");
    assert_eq!(message_of(chat(&provider, &go)), "one");
    assert_eq!(message_of(chat(&provider, &go)), "two");
    // The first run again, and its failures with it.
    assert_eq!(chat(&provider, &go).status, 429);
}

#[test]
fn anthropic_statuses_have_their_types() {
    let provider = failing(&json!([{ "status": 429 }, { "status": 500 }, { "status": 529 }]));
    for (status, kind, message) in [
        (
            429,
            "rate_limit_error",
            "This request would exceed your rate limit.",
        ),
        (500, "api_error", "Internal server error"),
        (529, "overloaded_error", "Overloaded"),
    ] {
        let answer = messages(&provider, &json!([user("go")]));
        assert_eq!(answer.error(status), message);
        assert_eq!(answer.body["type"], "error");
        assert_eq!(answer.body["error"]["type"], kind);
    }
    messages(&provider, &json!([user("go")])).ok();
}

#[test]
fn a_wait_delays_what_the_same_request_gets() {
    let provider = failing(&json!([{ "wait_ms": 80 }, { "status": 500 }, { "wait_ms": 80 }]));
    for status in [500, 200] {
        let began = Instant::now();
        assert_eq!(chat(&provider, &json!([user("go")])).status, status);
        assert!(began.elapsed() >= Duration::from_millis(80));
    }
}

#[test]
fn a_client_that_gives_up_waiting_stays_in_its_run() {
    let provider = failing(&json!([{ "wait_ms": 60_000 }]));
    let url = format!("{}/chat/completions", provider.url());
    let config = ureq::Agent::config_builder().timeout_global(Some(Duration::from_millis(100)));
    let agent: ureq::Agent = config.build().into();
    let mut request = agent.post(&url);
    for (name, value) in OPENAI_HEADERS {
        request = request.header(*name, *value);
    }
    let body = json!({ "model": "m", "messages": [user("go")] }).to_string();
    assert!(matches!(request.send(body), Err(ureq::Error::Timeout(_))));
    drop(agent);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(message_of(chat(&provider, &json!([user("go")]))), "one");
}

#[test]
fn a_cut_answer_ends_in_the_middle() {
    let provider = failing(&json!([{ "cut": true }]));
    let url = format!("{}/v1/messages", provider.url());
    let body = json!({ "model": "m", "max_tokens": 5, "messages": [user("go")] }).to_string();
    let agent = ureq::Agent::new_with_defaults();
    let mut request = agent.post(&url);
    for (name, value) in ANTHROPIC_HEADERS {
        request = request.header(*name, *value);
    }
    let mut response = request.send(&body).unwrap();
    assert_eq!(response.status(), 200);
    let promised: usize = response.headers()["content-length"]
        .to_str()
        .unwrap()
        .parse()
        .unwrap();
    let mut reader = response.body_mut().as_reader();
    let mut half = Vec::new();
    assert!(std::io::Read::read_to_end(&mut reader, &mut half).is_err());
    assert_eq!(half.len(), promised / 2);
    assert!(half.starts_with(b"{\""));
    send(&url, ANTHROPIC_HEADERS, &body).unwrap().ok();
}

#[test]
fn a_closed_connection_has_no_answer() {
    let provider = failing(&json!([{ "close": true }]));
    let url = format!("{}/v1/chat/completions", provider.url());
    let body = json!({ "model": "m", "messages": [user("go")] }).to_string();
    assert!(send(&url, OPENAI_HEADERS, &body).is_err());
    assert_eq!(
        message_of(send(&url, OPENAI_HEADERS, &body).unwrap()),
        "one"
    );
    assert_eq!(provider.requests().len(), 2);
}

#[test]
fn another_body_is_html() {
    let provider = failing(&json!([{ "body": "<html>oops</html>" }]));
    let answer = chat(&provider, &json!([user("go")]));
    assert_eq!(answer.headers["content-type"], "text/html; charset=utf-8");
    assert_eq!(answer.ok(), "<html>oops</html>");
    assert_eq!(message_of(chat(&provider, &json!([user("go")]))), "one");
}

#[test]
fn later_replies_fail_too() {
    let provider = play(&json!([{ "text": "a" }, { "text": "b", "before": [{ "status": 503 }] }]));
    assert_eq!(message_of(chat(&provider, &json!([user("go")]))), "a");
    let history = json!([user("go"), { "role": "assistant", "content": "a" }, user("on")]);
    assert_eq!(chat(&provider, &history).status, 503);
    assert_eq!(message_of(chat(&provider, &history)), "b");
}
