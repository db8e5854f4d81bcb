//! The two requests of the door as docs/own-tools.md shows them, with nothing but a socket.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;

use mcptest_session::door::Door;
use mcptest_session::endpoint::Endpoint;
use serde_json::{Value, json};

const PAGE: &str = include_str!("../../docs/own-tools.md");

/// The request that the page shows.
fn request_example(about: &str) -> &'static str {
    let above = format!("<!-- wire: {about} -->\n```http\n");
    let (_, below) = PAGE.split_once(&above).unwrap();
    below.split_once("\n```").unwrap().0
}

/// A row of the page's tables that begins so: its cells.
fn row(first: &str) -> Vec<&'static str> {
    let line = PAGE
        .lines()
        .find(|line| line.starts_with(&format!("| {first}")))
        .unwrap();
    line.trim_matches('|').split('|').map(str::trim).collect()
}

/// Sends a request to the address of a session, with other numbers where these stand for something: its status and body.
fn send(request: &str, address: &str) -> (u16, Value) {
    let (host, path) = address
        .strip_prefix("http://")
        .unwrap()
        .split_once('/')
        .unwrap();
    let request = request.replace("SECRET/tools", path);
    let request = request.replace("127.0.0.1:PORT", host);
    let (head, body) = request.split_once("\n\n").unwrap();
    let written = format!("Content-Length: {}\n", body.len());
    assert!(format!("{head}\n").contains(&written), "{head}");
    let mut connection = TcpStream::connect(host).unwrap();
    let head = head.replace('\n', "\r\n");
    write!(connection, "{head}\r\nConnection: close\r\n\r\n{body}").unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.strip_prefix("HTTP/1.1 ").unwrap();
    (
        status[..3].parse().unwrap(),
        serde_json::from_str(body).unwrap(),
    )
}

#[tokio::test]
async fn what_the_page_shows_is_answered_as_it_says() {
    let address = |endpoint: &Endpoint| format!("{}/tools", endpoint.url());
    let on_another_thread = async |request: String, address: String| {
        let sent = tokio::task::spawn_blocking(move || send(&request, &address));
        sent.await.unwrap()
    };
    let door = Door::recording();
    let endpoint = Endpoint::start(Arc::new(door.clone())).await.unwrap();
    let ask = async |request: &str| on_another_thread(request.to_owned(), address(&endpoint)).await;
    let run: Value = serde_json::from_str(row("`{\"run\"")[0].trim_matches('`')).unwrap();
    assert_eq!(ask(request_example("call")).await, (200, run));
    assert_eq!(ask(request_example("done")).await, (200, json!({})));
    // The end was reported.
    let (status, body) = ask(request_example("done")).await;
    assert_eq!(status.to_string(), row("409")[0]);
    assert!(
        body["message"].is_string() && body.as_object().unwrap().len() == 1,
        "{body}"
    );
    let (status, _) = ask(&request_example("call").replace("\"name\"", "\"game\"")).await;
    assert_eq!(status.to_string(), row("400")[0]);

    let notes = door.notes();
    assert_eq!(notes[0]["result"], "Order 7 is paid back.");
    let plays = Door::from_notes(&notes);
    let played = Endpoint::start(Arc::new(plays)).await.unwrap();
    let given = on_another_thread(request_example("call").to_owned(), address(&played)).await;
    let given_as = json!({ "result": "Order 7 is paid back.", "given": "t0" });
    assert_eq!(given, (200, given_as));

    door.end();
    let (status, _) = ask(request_example("call")).await;
    assert_eq!(status.to_string(), row("410")[0]);
}
