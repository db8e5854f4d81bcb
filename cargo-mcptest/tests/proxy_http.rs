//! `cargo mcptest proxy --url` between clients and a server over HTTP.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use e2e_support::folder::Folder;
use reqwest::{Client, Method};
use rmcp::model::CallToolRequestParams;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ServiceExt, service::RunningService};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// A process that says where it listens, killed when it is dropped.
struct Process {
    child: Child,
    url: String,
}

impl Process {
    fn start(folder: &Path, arguments: &[&str]) -> Self {
        // The client leaves the choice of its cryptography to the program; there may be one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut child = Command::new(env!("CARGO_BIN_EXE_cargo-mcptest"))
            .current_dir(folder)
            .arg("mcptest")
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let said = child.stdout.as_mut().unwrap();
        BufReader::new(said).read_line(&mut line).unwrap();
        let url = line.strip_prefix("listening on ").unwrap().trim_end();
        let url = url.to_owned();
        Self { child, url }
    }

    fn proxy(folder: &Path, url: &str, more: &[&str]) -> Self {
        let agent = ["proxy", "--agent", "Desk agent", "--model", "gpt-5"];
        let prompt = ["--prompt", "Where is order A-1?", "--url", url];
        Self::start(folder, &[&agent[..], &prompt, more].concat())
    }

    /// Told to stop, as Ctrl-C does; what it said on standard error.
    #[cfg(unix)]
    fn stop(mut self) -> String {
        let pid = self.child.id().to_string();
        let told = Command::new("kill").args(["-INT", &pid]).status();
        assert!(told.unwrap().success());
        assert!(self.child.wait().unwrap().success());
        std::io::read_to_string(self.child.stderr.take().unwrap()).unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself; either way it is gone afterwards.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const TOOLS: &str = r#"
server: shop
tools:
  - { name: find_order, annotations: { readOnlyHint: true }, result: { id: "{{ args.id }}" } }
  - { name: refund, error: "not today" }
"#;

fn folder() -> Folder {
    Folder::new().with_file("tools.yml", TOOLS)
}

fn mock(folder: &Folder) -> Process {
    let arguments = ["mock", "--tools-from", "tools.yml", "--http", "127.0.0.1:0"];
    Process::start(folder.path(), &arguments)
}

async fn client(url: &str) -> RunningService<rmcp::RoleClient, ()> {
    let config = StreamableHttpClientTransportConfig::with_uri(url);
    ().serve(StreamableHttpClientTransport::from_config(config))
        .await
        .unwrap()
}

async fn call(
    client: &RunningService<rmcp::RoleClient, ()>,
    tool: &'static str,
    id: &str,
) -> Value {
    let arguments = json!({ "id": id }).as_object().unwrap().clone();
    let request = CallToolRequestParams::new(tool).with_arguments(arguments);
    serde_json::to_value(client.call_tool(request).await.unwrap()).unwrap()
}

fn run(folder: &Folder, number: u32) -> Value {
    let path = format!("suites/cassettes/Desk_agent__gpt-5/run-{number}.json");
    serde_json::from_str(&std::fs::read_to_string(folder.at(&path)).unwrap()).unwrap()
}

/// Two clients at once are two runs, each with its own calls; the last has the closing.
#[cfg(unix)]
#[tokio::test]
async fn every_session_is_a_run() {
    let folder = folder().with_file("closing.txt", "It was sent.\n");
    let server = mock(&folder);
    let proxy = Process::proxy(
        folder.path(),
        &server.url,
        &["--closing-from", "closing.txt"],
    );
    assert!(proxy.url.ends_with("/mcp"), "{}", proxy.url);
    let direct = client(&server.url).await;
    let first = client(&proxy.url).await;
    assert_eq!(first.peer_info(), direct.peer_info());
    assert_eq!(
        first.list_all_tools().await.unwrap(),
        direct.list_all_tools().await.unwrap()
    );
    let second = client(&proxy.url).await;
    assert_eq!(
        call(&first, "find_order", "A-1").await,
        call(&direct, "find_order", "A-1").await
    );
    call(&second, "find_order", "A-2").await;
    call(&first, "refund", "A-1").await;
    first.cancel().await.unwrap();
    second.cancel().await.unwrap();
    let said = proxy.stop();
    assert!(
        said.contains("run-1.json") && said.contains("run-2.json"),
        "{said}"
    );
    let calls = |run: &Value| {
        let calls = run["trace"]["tool_calls"].as_array().unwrap().clone();
        calls
            .iter()
            .map(|call| (call["name"].clone(), call["args"]["id"].clone()))
            .collect::<Vec<_>>()
    };
    let runs = [run(&folder, 1), run(&folder, 2)];
    assert_eq!(
        runs.each_ref().map(calls),
        [
            vec![
                (json!("find_order"), json!("A-1")),
                (json!("refund"), json!("A-1"))
            ],
            vec![(json!("find_order"), json!("A-2"))],
        ]
    );
    let results = &runs[0]["trace"]["tool_results"];
    assert_eq!(results[0]["server"], "shop");
    assert_eq!(
        results[0]["result"]["structuredContent"],
        json!({ "id": "A-1" })
    );
    assert_eq!(
        (&results[0]["is_error"], &results[1]["is_error"]),
        (&json!(false), &json!(true))
    );
    assert_eq!(runs[0]["tools"][0]["read_only"], true);
    assert_eq!(runs[0]["trace"].get("final_response"), None);
    assert_eq!(runs[1]["trace"]["final_response"], "It was sent.");
}

#[tokio::test]
async fn a_proxy_that_is_killed_leaves_what_it_had() {
    let folder = folder();
    let server = mock(&folder);
    let proxy = Process::proxy(folder.path(), &server.url, &[]);
    let client = client(&proxy.url).await;
    call(&client, "find_order", "A-1").await;
    let path = folder.at("suites/cassettes/Desk_agent__gpt-5/run-1.json");
    let is_there = || {
        let text = std::fs::read_to_string(&path).ok()?;
        let run: Value = serde_json::from_str(&text).unwrap();
        (run["trace"]["tool_results"].as_array()?.len() == 1).then_some(())
    };
    for _ in 0..500 {
        if is_there().is_some() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    drop(proxy);
    assert!(is_there().is_some());
}

/// What a server says that knows nothing of MCP: all that it heard, in an order of its own.
async fn echo(request: Request) -> Response {
    let (head, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    if head.uri.path() == "/events" {
        let events = [
            "id: 7\nretry: 10\ndata: \n\n",
            "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":1,\"progress\":1}}\n\n",
            "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"sampling/createMessage\",\"params\":{}}\r\n\r\n",
            ": a comment\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"elicitation/create\"}\n\ndata: cut",
        ];
        let events =
            events.map(|event| Ok::<_, std::io::Error>(Bytes::from_static(event.as_bytes())));
        let body = Body::from_stream(tokio_stream::iter(events));
        return ([("content-type", "text/event-stream")], body).into_response();
    }
    let sent: BTreeMap<_, _> = head
        .headers
        .iter()
        .map(|(name, value)| {
            (
                name.to_string(),
                String::from_utf8_lossy(value.as_bytes()).into_owned(),
            )
        })
        .collect();
    let told =
        json!({ "method": head.method.as_str(), "path": head.uri.to_string(), "headers": sent });
    let headers = [
        ("content-type", "application/octet-stream"),
        ("x-heard", &*told.to_string()),
        ("mcp-session-id", "s 1"),
        ("set-cookie", "a=1"),
    ];
    let mut answer = (StatusCode::IM_A_TEAPOT, headers, body).into_response();
    answer
        .headers_mut()
        .append("set-cookie", "b=2".parse().unwrap());
    answer
}

/// What comes back, without what differs from second to second.
async fn seen(
    base: &str,
    method: Method,
    path: &str,
    body: Vec<u8>,
) -> (u16, Vec<(String, String)>, Bytes) {
    let origin = base.trim_end_matches("/mcp");
    let answer = Client::new()
        .request(method, format!("{origin}{path}"))
        .header("accept", "application/json, text/event-stream")
        .header("authorization", "Bearer t0ken")
        .header("mcp-session-id", "s 1")
        .header("last-event-id", "7")
        .header("x-odd", "\u{e9}")
        .body(body)
        .send()
        .await
        .unwrap();
    let status = answer.status().as_u16();
    let headers = answer.headers().iter();
    let mut headers: Vec<_> = headers
        .filter(|(name, _)| *name != "date")
        .map(|(name, value)| {
            // Each names itself as the host.
            let value = String::from_utf8_lossy(value.as_bytes());
            let host = origin.trim_start_matches("http://");
            (name.to_string(), value.replace(host, "[host]"))
        })
        .collect();
    headers.sort();
    (status, headers, answer.bytes().await.unwrap())
}

#[tokio::test]
async fn requests_and_answers_come_through_as_they_are() {
    let folder = Folder::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        axum::serve(listener, Router::new().fallback(echo))
            .await
            .unwrap();
    });
    let proxy = Process::proxy(folder.path(), &server, &[]);
    let mut binary: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    binary.extend(vec![b'a'; 20 << 20]);
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#;
    for (method, path, body) in [
        (Method::POST, "/mcp?a=1&b=%20", call.as_bytes().to_vec()),
        (Method::POST, "/mcp", binary),
        (
            Method::POST,
            "/register",
            b"{\"client_name\":\"t\"}".to_vec(),
        ),
        (
            Method::GET,
            "/.well-known/oauth-protected-resource",
            Vec::new(),
        ),
        (Method::GET, "/events", Vec::new()),
        (Method::DELETE, "/mcp", Vec::new()),
        (Method::OPTIONS, "/mcp", Vec::new()),
    ] {
        let direct = seen(&server, method.clone(), path, body.clone()).await;
        let through = seen(&proxy.url, method.clone(), path, body).await;
        // The server is asked by its own name.
        let origin = server
            .trim_end_matches("/mcp")
            .trim_start_matches("http://");
        let mut headers = through.1;
        for (_, value) in &mut headers {
            *value = value.replace(origin, "[host]");
        }
        assert_eq!(
            (direct.0, direct.1),
            (through.0, headers),
            "{method} {path}"
        );
        assert!(direct.2 == through.2, "{method} {path}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_to_the_client() {
    let folder = Folder::new();
    let proxy = Process::proxy(folder.path(), "http://127.0.0.1:9/mcp", &[]);
    let (status, _, said) = seen(&proxy.url, Method::POST, "/mcp", Vec::new()).await;
    let said = String::from_utf8_lossy(&said);
    assert_eq!(status, 502);
    assert!(
        said.starts_with("cargo mcptest proxy: `http://127.0.0.1:9/mcp` cannot be reached: "),
        "{said}"
    );
}

/// Answers `initialize`, and every call with what the client logged in with.
async fn telltale(request: Request) -> Response {
    let (head, body) = request.into_parts();
    let bytes = to_bytes(body, 1 << 20).await.unwrap();
    let message: Value = serde_json::from_slice(&bytes).unwrap();
    let login = head.headers.get("authorization");
    let login = login.map_or("", |login| login.to_str().unwrap());
    let text = format!("you are {login}, at {}", head.uri);
    let result = match message["method"].as_str() {
        Some("initialize") => json!({ "serverInfo": { "name": "shop" } }),
        _ => json!({ "content": [{ "type": "text", "text": text.trim_start_matches("Bearer ") }] }),
    };
    let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
    ([("content-type", "application/json")], answer.to_string()).into_response()
}

/// Starts the server, and a proxy before it.
#[cfg(unix)]
async fn before_telltale(folder: &Path) -> Process {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let router = Router::new().fallback(telltale);
        axum::serve(listener, router).await.unwrap();
    });
    Process::proxy(folder, &server, &[])
}

#[cfg(unix)]
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"who"}}"#;

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn what_a_client_logs_in_with_is_in_no_recording() {
    let folder = Folder::new();
    let proxy = before_telltale(folder.path()).await;
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize"}"#;
    for (body, login) in [
        (initialize, "none"),
        (CALL, "tok-abcdef-12"),
        (CALL, "tok-ghijkl-34"),
    ] {
        let answer = Client::new()
            .post(format!("{}?api_key=q%2Dkey-5678", proxy.url))
            .header("authorization", format!("Bearer {login}"))
            .body(body)
            .send();
        let said = answer.await.unwrap().text().await.unwrap();
        assert!(body == initialize || said.contains(login), "{said}");
    }
    proxy.stop();
    let file = folder
        .path()
        .join("suites/cassettes/Desk_agent__gpt-5/run-1.json");
    let text = std::fs::read_to_string(file).unwrap();
    let run: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(run["trace"]["tool_results"].as_array().unwrap().len(), 2);
    for secret in [
        "tok-abcdef-12",
        "tok-ghijkl-34",
        "q%2Dkey-5678",
        "q-key-5678",
    ] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    assert!(text.contains("[redacted key of a client]"), "{text}");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_names_another_host_reaches_no_server() {
    let folder = Folder::new();
    let proxy = before_telltale(folder.path()).await;
    let here = proxy.url.trim_start_matches("http://");
    let (here, _) = here.split_once('/').unwrap();
    let (_, port) = here.split_once(':').unwrap();
    for (host, status) in [
        (here.to_owned(), 200),
        (format!("LocalHost:{port}"), 200),
        ("127.0.0.1".to_owned(), 404),
        ("evil.example".to_owned(), 404),
        (format!("evil.example:{port}"), 404),
        (format!("127.0.0.1:{port}.evil.example"), 404),
    ] {
        let request = Client::new().post(&proxy.url).header("host", &host);
        let answer = request.body(CALL).send().await.unwrap();
        assert_eq!(answer.status(), status, "{host}");
        let said = answer.text().await.unwrap();
        if status == 404 {
            assert_eq!(
                said,
                "cargo mcptest proxy: the header `Host` names another address; ask at the address that the proxy printed"
            );
        }
    }
    proxy.stop();
    let file = folder
        .path()
        .join("suites/cassettes/Desk_agent__gpt-5/run-1.json");
    let run: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(run["trace"]["tool_calls"].as_array().unwrap().len(), 2);
}

/// Only who knows the whole address comes in, and no page of another machine.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_know_the_address_or_is_a_foreign_page_reaches_no_server() {
    let folder = Folder::new();
    let proxy = before_telltale(folder.path()).await;
    let (origin, secret) = {
        let rest = proxy.url.trim_start_matches("http://");
        let (here, path) = rest.split_once('/').unwrap();
        let secret = path.strip_suffix("/mcp").unwrap();
        (format!("http://{here}"), secret.to_owned())
    };
    assert_eq!(secret.len(), 32, "{}", proxy.url);
    let other = "0".repeat(32);
    for (path, from, status) in [
        (format!("/{secret}/mcp"), None, 200),
        (
            format!("/{secret}/mcp"),
            Some("http://localhost:6274".to_owned()),
            200,
        ),
        (format!("/{secret}/mcp"), Some(origin.clone()), 200),
        (
            format!("/{secret}/mcp"),
            Some("https://evil.example".to_owned()),
            403,
        ),
        (
            format!("/{secret}/mcp"),
            Some("http://localhost.evil.example".to_owned()),
            403,
        ),
        (format!("/{secret}/mcp"), Some("null".to_owned()), 403),
        ("/mcp".to_owned(), None, 404),
        (format!("/{secret}x/mcp"), None, 404),
        (format!("/{other}/mcp"), None, 404),
    ] {
        let mut request = Client::new().post(format!("{origin}{path}"));
        if let Some(from) = &from {
            request = request.header("origin", from);
        }
        let answer = request.body(CALL).send().await.unwrap();
        assert_eq!(answer.status(), status, "{path} {from:?}");
        let said = answer.text().await.unwrap();
        assert_eq!(
            said.starts_with("cargo mcptest proxy: "),
            status != 200,
            "{said}"
        );
    }
    proxy.stop();
    let calls = run(&folder, 1)["trace"]["tool_calls"]
        .as_array()
        .unwrap()
        .len();
    assert_eq!(calls, 3);
}

/// The older transport: the server says where to post, without the part of the address that it does not know.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn where_a_server_tells_its_client_to_post_is_open_to_it() {
    async fn older(request: Request) -> Response {
        if request.method() == Method::GET {
            let event = "event: endpoint\ndata: /messages?session_id=7\n\n";
            let events = tokio_stream::iter([Ok::<_, std::io::Error>(Bytes::from(event))]);
            return (
                [("content-type", "text/event-stream")],
                Body::from_stream(events),
            )
                .into_response();
        }
        (StatusCode::ACCEPTED, request.uri().to_string()).into_response()
    }
    let folder = Folder::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = format!("http://{}/sse", listener.local_addr().unwrap());
    tokio::spawn(async move {
        axum::serve(listener, Router::new().fallback(older))
            .await
            .unwrap();
    });
    let proxy = Process::proxy(folder.path(), &server, &[]);
    let here = proxy
        .url
        .trim_start_matches("http://")
        .split('/')
        .next()
        .unwrap()
        .to_owned();
    let post = |path: &str| {
        Client::new()
            .post(format!("http://{here}{path}"))
            .body(CALL)
            .send()
    };
    let told = "/messages?session_id=7";
    assert_eq!(post(told).await.unwrap().status(), 404);
    let opened = Client::new().get(&proxy.url).send().await.unwrap();
    assert!(opened.text().await.unwrap().contains(told));
    let answer = post(told).await.unwrap();
    assert_eq!(
        (
            answer.status().as_u16(),
            answer.text().await.unwrap().as_str()
        ),
        (202, told)
    );
    assert_eq!(post("/messages?session_id=8").await.unwrap().status(), 404);
    proxy.stop();
}

/// The query of the server's address goes along, and no message and no recording shows it.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn the_query_of_the_servers_address_reaches_the_server_and_nobody_else() {
    let folder = Folder::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = format!(
        "http://{}/mcp?api_key=k-12345678&profile=a",
        listener.local_addr().unwrap()
    );
    tokio::spawn(async move {
        axum::serve(listener, Router::new().fallback(telltale))
            .await
            .unwrap();
    });
    let proxy = Process::proxy(folder.path(), &server, &[]);
    assert!(!proxy.url.contains("k-12345678"), "{}", proxy.url);
    let ask = |more: &str| {
        Client::new()
            .post(format!("{}{more}", proxy.url))
            .body(CALL)
            .send()
    };
    for (more, expected) in [
        ("", "/mcp?api_key=k-12345678&profile=a"),
        (
            "?profile=b&page=2",
            "/mcp?api_key=k-12345678&profile=b&page=2",
        ),
    ] {
        let said = ask(more).await.unwrap().text().await.unwrap();
        assert!(said.contains(expected), "{said}");
    }
    proxy.stop();
    let text = run(&folder, 1).to_string();
    assert!(
        text.contains("profile=b") && !text.contains("k-12345678"),
        "{text}"
    );
    let gone = Process::proxy(
        folder.path(),
        "http://me:secret@127.0.0.1:9/mcp?api_key=k-12345678",
        &[],
    );
    let answer = Client::new()
        .post(&gone.url)
        .body(CALL)
        .send()
        .await
        .unwrap();
    let said = answer.text().await.unwrap();
    assert!(
        said.contains("`http://127.0.0.1:9/mcp` cannot be reached") && !said.contains("k-12345678"),
        "{said}"
    );
}

/// A client that opens a session and does nothing makes no run; one that asks for the tools does.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_only_opened_is_no_run() {
    let folder = folder();
    let server = mock(&folder);
    let proxy = Process::proxy(folder.path(), &server.url, &[]);
    client(&proxy.url).await.cancel().await.unwrap();
    let used = client(&proxy.url).await;
    used.list_all_tools().await.unwrap();
    used.cancel().await.unwrap();
    let said = proxy.stop();
    assert_eq!(said.matches("recorded: ").count(), 1, "{said}");
    assert_eq!(run(&folder, 1)["tools"].as_array().unwrap().len(), 2);
    assert!(
        !folder
            .at("suites/cassettes/Desk_agent__gpt-5/run-2.json")
            .exists()
    );
}

#[test]
fn what_is_no_address_is_refused() {
    let refused = |more: &[&str]| {
        let ran = Command::new(env!("CARGO_BIN_EXE_cargo-mcptest"))
            .args([
                "mcptest", "proxy", "--agent", "a", "--model", "m", "--prompt", "p",
            ])
            .args(more)
            .output()
            .unwrap();
        assert_eq!(ran.status.code(), Some(2));
        String::from_utf8(ran.stderr).unwrap()
    };
    let said = refused(&["--url", "localhost:80/mcp"]);
    assert!(
        said.contains("`localhost:80/mcp` is no HTTP address"),
        "{said}"
    );
    let said = refused(&["--url", "http://127.0.0.1:9/mcp", "--listen", "nowhere"]);
    assert!(
        said.contains("the address `nowhere` cannot be opened"),
        "{said}"
    );
    let said = refused(&["--url", "http://127.0.0.1:9/mcp", "--", "server"]);
    assert!(said.contains("cannot be used with"), "{said}");
    let said = refused(&["--listen", "127.0.0.1:0", "--", "server"]);
    assert!(said.contains("cannot be used with"), "{said}");
}
