//! MCP servers behind the address: what an agent's client sees of them, and what of that is in the run.

use std::io::{BufRead as _, Write as _};

use mcptest_session::mcp::{McpServer, McpTransport};
use mcptest_session::session::{FinishedRun, Session, SessionError, SessionOptions};
use mcptest_trace::eval::{Decisions, Fault, FaultKind, FaultPlan};
use mcptest_trace::trace::{Origin, parse_run};
use reqwest::Client;
use serde_json::{Value, json};

use crate::{block_on, options, provider};

/// A server over standard streams: it keeps a count, so that one process is told from two.
#[test]
#[ignore = "is the server that the other tests start"]
fn a_server_over_standard_streams() {
    // What is printed by mistake is no message.
    println!("starting");
    let mut count = 0;
    let mut greeted = 0;
    let mut lines = std::io::stdin().lock().lines();
    while let Some(line) = lines.next() {
        let line = line.unwrap();
        let message: Value = serde_json::from_str(&line).unwrap();
        let id = line
            .split("\"id\":")
            .nth(1)
            .and_then(|rest| rest.split([',', '}']).next());
        let Some(id) = id.filter(|_| message.get("id").is_some()) else {
            continue;
        };
        let result = match message["method"].as_str().unwrap() {
            "initialize" => {
                greeted += 1;
                format!(r#"{{"protocolVersion":"2025-06-18","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"own","version":"1"}},"greeted":{greeted}}}"#)
            }
            "tools/list" => r#"{"tools":[{"name":"get_count","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},{"name":"fail","inputSchema":{"type":"object"}}]}"#.to_owned(),
            "tools/call" => match message["params"]["name"].as_str().unwrap() {
                "get_count" => {
                    count += 1;
                    // Also something that is no answer, while the client waits.
                    println!(r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info","data":"counting"}}}}"#);
                    format!(r#"{{"content":[{{"type":"text","text":"count {count}"}}],"isError":false,"own":{{"big":1180591620717411303424}}}}"#)
                }
                "fail" => r#"{"content":[{"type":"text","text":"it is shipped"}],"isError":true}"#.to_owned(),
                "ask" => {
                    // It asks the client something itself, and says what the client answered.
                    println!(r#"{{"jsonrpc":"2.0","id":"own-1","method":"roots/list"}}"#);
                    let said: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
                    let name = said["result"]["roots"][0]["name"].as_str().unwrap();
                    format!(r#"{{"content":[{{"type":"text","text":"your root is {name}"}}]}}"#)
                }
                "leave" => std::process::exit(3),
                "babble" => {
                    println!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#);
                    continue;
                }
                _ => {
                    println!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32602,"message":"no such tool"}}}}"#);
                    continue;
                }
            },
            _ => "{}".to_owned(),
        };
        println!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result},"extra":1}}"#);
        std::io::stdout().flush().unwrap();
    }
}

fn server(name: &str) -> McpServer {
    let program = std::env::current_exe().unwrap();
    let test = "mcp::a_server_over_standard_streams";
    let command = [
        &program.display().to_string(),
        "--exact",
        test,
        "--ignored",
        "--nocapture",
    ];
    McpServer::new(
        name,
        McpTransport::Command {
            command: command.map(str::to_owned).to_vec(),
            folder: std::env::current_dir().unwrap(),
            environment: std::env::vars_os().collect(),
        },
    )
}

/// A client of MCP, as far as these tests need one.
struct McpClient {
    http: Client,
    url: String,
    session: Option<String>,
    events: bool,
}

impl McpClient {
    fn new(session: &Session, server: &str, events: bool) -> Self {
        Self {
            http: Client::builder().no_proxy().build().unwrap(),
            url: session.mcp_url(server).unwrap(),
            session: None,
            events,
        }
    }

    /// Sends a message; the status, and all messages that come back.
    async fn send(&mut self, message: &str) -> (u16, Vec<String>) {
        let accept = if self.events {
            "application/json, text/event-stream"
        } else {
            "application/json"
        };
        let mut request = self
            .http
            .post(&self.url)
            .header("content-type", "application/json")
            .header("accept", accept)
            .body(message.to_owned());
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        if let Some(session) = answer.headers().get("mcp-session-id") {
            self.session = Some(session.to_str().unwrap().to_owned());
        }
        let is_events = answer
            .headers()
            .get("content-type")
            .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        let text = answer.text().await.unwrap();
        let messages = if is_events {
            let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
            data.map(str::to_owned).collect()
        } else if text.is_empty() {
            Vec::new()
        } else {
            vec![text]
        };
        (status, messages)
    }

    async fn open(&mut self) -> Value {
        let (status, messages) = self
            .send(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#)
            .await;
        assert_eq!(status, 200, "{messages:?}");
        let (status, _) = self
            .send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
            .await;
        assert_eq!(status, 202);
        serde_json::from_str(messages.last().unwrap()).unwrap()
    }

    /// The last message that answers a call.
    async fn call(&mut self, id: u64, tool: &str, args: &Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": args } });
        let (_, messages) = self.send(&message.to_string()).await;
        serde_json::from_str(messages.last().unwrap()).unwrap()
    }
}

/// What a model asks for, one call after the other, and then says.
fn script(calls: &[(&str, Value)]) -> Value {
    let mut replies: Vec<Value> = calls
        .iter()
        .map(|(name, args)| json!({ "calls": [{ "name": name, "args": args }], "usage": { "prompt": 100, "completion": 10 } }))
        .collect();
    replies.push(json!({ "text": "Done.", "usage": { "prompt": 100, "completion": 10 } }));
    json!({ "conversations": [{ "user": crate::PROMPT, "runs": [replies] }] })
}

/// An agent whose tools are those of a server: it asks, calls, and tells the model what the server said. What it tells
/// goes through `told`.
async fn run(session: &Session, told: impl Fn(String) -> String) {
    let mut client = McpClient::new(session, "own", true);
    client.open().await;
    client
        .send(r#"{"jsonrpc":"2.0","id":"tools","method":"tools/list"}"#)
        .await;
    let mut talk = vec![json!({ "role": "user", "content": session.prompt() })];
    for id in 10.. {
        let tools = json!([{ "type": "function", "function": { "name": "own_get_count" } }]);
        let body = json!({ "model": "m", "messages": talk, "tools": tools });
        let url = format!("{}/chat/completions", session.openai_url());
        let answer = crate::agent::send(&url, &body, "identity").await;
        if answer.status != 200 {
            return;
        }
        let answer: Value = serde_json::from_slice(&answer.bytes).unwrap();
        let message = answer["choices"][0]["message"].clone();
        talk.push(message.clone());
        let calls = message["tool_calls"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        if calls.is_empty() {
            return;
        }
        for call in calls {
            let name = call["function"]["name"].as_str().unwrap();
            let name = name.strip_prefix("own_").unwrap_or(name);
            let args = call["function"]["arguments"].as_str().unwrap();
            // A tool of the agent's own code.
            let answer = if name == "local" {
                json!({ "result": { "content": [{ "text": "done here" }] } })
            } else {
                client
                    .call(id, name, &serde_json::from_str(args).unwrap())
                    .await
            };
            let text = answer["result"]["content"][0]["text"].as_str();
            let text = text
                .or(answer["error"]["message"].as_str())
                .unwrap_or_default();
            let text = told(text.to_owned());
            talk.push(json!({ "role": "tool", "tool_call_id": call["id"], "content": text }));
        }
    }
}

fn recorded(
    calls: &[(&str, Value)],
    more: impl FnOnce(&mut SessionOptions),
    told: impl Fn(String) -> String,
) -> Result<FinishedRun, SessionError> {
    let provider = provider(&script(calls));
    let mut options = options(&provider);
    options.mcp_servers = vec![server("own")];
    more(&mut options);
    let finished = block_on(async {
        let session = Session::record(options).await?;
        run(&session, told).await;
        session.finish().await
    });
    if let Ok(run) = &finished {
        parse_run(
            run.cassette.to_string().as_bytes(),
            &Origin::file("run.json"),
        )
        .unwrap();
    }
    finished
}

#[test]
fn messages_go_by_as_they_are_and_one_process_serves_all_sessions_of_clients() {
    let provider = provider(&script(&[]));
    let mut options = options(&provider);
    options.mcp_servers = vec![server("own")];
    block_on(async {
        let session = Session::record(options).await.unwrap();
        let config = session.mcp_config().unwrap().to_owned();
        let held: Value = serde_json::from_slice(&std::fs::read(&config).unwrap()).unwrap();
        let url = session.mcp_url("own").unwrap();
        assert_eq!(
            held,
            json!({ "mcpServers": { "own": { "type": "http", "url": url } } })
        );
        let environment = session.environment();
        let of = |name: &str| {
            let found = environment.iter().find(|(own, _)| own == name);
            found.map(|(_, value)| value.clone())
        };
        assert_eq!(of("MCPTEST_MCP_OWN"), Some(url));
        assert_eq!(of("MCPTEST_MCP_CONFIG"), Some(config.display().to_string()));
        let (mut one, mut two) = (
            McpClient::new(&session, "own", true),
            McpClient::new(&session, "own", false),
        );
        assert_eq!(one.open().await["result"]["greeted"], 1);
        let second = one.session.clone();
        assert_eq!(two.open().await["result"]["greeted"], 1);
        assert_ne!(two.session, second);
        // Pretty, with an identifier that both use, and with what no type of a library holds.
        let message = "{\n \"jsonrpc\": \"2.0\", \"id\": 7,\n \"method\": \"tools/call\", \"params\": {\"name\":\"get_count\",\"arguments\":{\"n\":1180591620717411303424},\"_own\":1}}";
        let (both, alone) = tokio::join!(one.send(message), two.send(message));
        let answers = [both.1.last().unwrap(), alone.1.last().unwrap()];
        let mut counts: Vec<&str> = Vec::new();
        for answer in answers {
            assert!(answer.contains("\"id\": 7,"), "{answer}");
            assert!(
                answer.contains("1180591620717411303424") && answer.contains("\"extra\":1"),
                "{answer}"
            );
            counts.extend(
                ["count 1", "count 2"]
                    .iter()
                    .filter(|count| answer.contains(**count)),
            );
        }
        counts.sort_unstable();
        assert_eq!(counts, ["count 1", "count 2"]);
        assert!(both.1.iter().any(|message| message.contains("counting")) || both.1.len() == 1);
        let (status, messages) = two.send("no JSON").await;
        assert_eq!(
            (status, messages[0].contains("is no message of JSON-RPC")),
            (400, true)
        );
        let (status, _) = two
            .send(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#)
            .await;
        assert_eq!(status, 400);
        one.session = Some("guessed".to_owned());
        assert_eq!(one.send(message).await.0, 404);
        let other = session
            .mcp_url("own")
            .unwrap()
            .replace("/mcp/own", "/mcp/other");
        assert_eq!(
            Client::new()
                .post(other)
                .body("{}")
                .send()
                .await
                .unwrap()
                .status()
                .as_u16(),
            404
        );
        assert_eq!(session.mcp_url("other"), None);
        drop(session);
        assert!(!config.exists());
    });
}

#[test]
fn a_call_at_a_server_is_that_of_the_model_with_its_flag_and_result() {
    let calls = [
        ("own_get_count", json!({})),
        ("fail", json!({ "order": 8 })),
        ("own_other", json!({})),
    ];
    let run = recorded(&calls, |_| {}, |text| text).unwrap();
    let trace = &run.cassette["trace"];
    let made = trace["tool_calls"].as_array().unwrap();
    let names: Vec<_> = made
        .iter()
        .map(|call| (call["name"].as_str(), call["server"].as_str()))
        .collect();
    assert_eq!(
        names,
        [
            (Some("get_count"), Some("own")),
            (Some("fail"), Some("own")),
            (Some("other"), Some("own"))
        ]
    );
    let results = trace["tool_results"].as_array().unwrap();
    let flags: Vec<_> = results
        .iter()
        .map(|result| result["is_error"].as_bool())
        .collect();
    assert_eq!(flags, [Some(false), Some(true), Some(true)]);
    // As the server said it: the format of the model has the text alone.
    assert_eq!(results[0]["result"]["own"]["big"], "1180591620717411303424");
    assert_eq!(results[2]["result"]["content"][0]["text"], "no such tool");
    assert!(
        results
            .iter()
            .all(|result| result["duration_ms"].is_u64() && result["server"] == "own")
    );
    assert_eq!(run.cassette["session"].get("unknown"), None);
    let tool = &run.cassette["tools"][0];
    assert_eq!(
        (&tool["name"], &tool["server"], &tool["read_only"]),
        (&json!("get_count"), &json!("own"), &json!(true))
    );
    assert_eq!(tool["annotations"]["readOnlyHint"], true);
    let mcp = &run.cassette["session"]["mcp"][0];
    assert_eq!(mcp["server"], "own");
    // What the model calls them, where the trace has other names.
    assert_eq!(
        mcp["names"],
        json!({ "own_get_count": "get_count", "fail": "fail", "own_other": "other" })
    );
    assert_eq!(
        mcp["calls"],
        json!([{ "call_index": 0 }, { "call_index": 1 }, { "call_index": 2 }])
    );
    let methods: Vec<_> = mcp["answers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|answer| answer["method"].as_str().unwrap())
        .collect();
    assert_eq!(methods, ["initialize", "tools/list"]);
    assert_eq!(
        mcp["answers"][1]["result"]["tools"][0]["annotations"]["readOnlyHint"],
        true
    );
    assert_eq!(run.notes, Vec::<String>::new());
}

#[test]
fn an_error_that_the_model_is_not_told_is_an_error_all_the_same() {
    let run = recorded(&[("fail", json!({}))], |_| {}, |_| "all is well".to_owned()).unwrap();
    let result = &run.cassette["trace"]["tool_results"][0];
    assert_eq!(result["is_error"], true);
    assert_eq!(result["result"]["content"][0]["text"], "all is well");
    let call = &run.cassette["session"]["mcp"][0]["calls"][0];
    assert_eq!(call["call_index"], 0);
    assert_eq!(call["result"]["content"][0]["text"], "it is shipped");
    assert_eq!(
        run.notes,
        ["in 1 result, the model got something else than the MCP server sent"]
    );
}

#[test]
fn what_the_model_did_not_ask_for_is_no_call_of_it() {
    let provider = provider(&script(&[]));
    let mut options = options(&provider);
    options.mcp_servers = vec![server("own"), server("far away")];
    let finished = block_on(async {
        let session = Session::record(options).await.unwrap();
        let mut client = McpClient::new(&session, "own", true);
        client.open().await;
        client.call(1, "get_count", &json!({})).await;
        run(&session, |text| text).await;
        session.finish().await.unwrap()
    });
    assert_eq!(finished.cassette["trace"]["tool_calls"], json!([]));
    let call = &finished.cassette["session"]["mcp"][0]["calls"][0];
    assert_eq!(
        (&call["name"], &call["unasked"]),
        (&json!("get_count"), &json!(true))
    );
    assert_eq!(
        finished.notes,
        [
            "the agent sent nothing to the server `far away`: let the agent's client take the server's address from MCPTEST_MCP_FAR_AWAY",
            "1 call of MCP tools that the model did not ask for: `get_count` of `own`",
        ]
    );
}

#[test]
fn a_server_that_ends_in_the_middle_makes_no_run() {
    let gone = recorded(
        &[("get_count", json!({})), ("leave", json!({}))],
        |_| {},
        |text| text,
    );
    let Err(SessionError::Server(failure)) = gone else {
        panic!("{gone:?}");
    };
    assert_eq!(
        failure.problem,
        "the server `own` gave no answer to `leave`: the connection is closed"
    );
    let shown = failure.shown.unwrap();
    assert!(shown.contains("it ended with exit status: 3"), "{shown}");
    assert!(shown.contains("where only MCP messages may be"), "{shown}");
    let broken = recorded(&[("babble", json!({}))], |_| {}, |text| text);
    let Err(SessionError::Server(failure)) = broken else {
        panic!("{broken:?}");
    };
    assert_eq!(
        failure.problem,
        "the answer of the server `own` to `babble` is no JSON"
    );
    let mut none = server("own");
    none.place = McpTransport::Command {
        command: vec!["no-such-program".to_owned()],
        folder: ".".into(),
        environment: Vec::new(),
    };
    let none = recorded(&[], |options| options.mcp_servers = vec![none], |text| text);
    let error = none.unwrap_err().to_string();
    assert!(
        error.starts_with("the server `own` cannot be started: `no-such-program`: "),
        "{error}"
    );
}

/// The first calls time out, as the plan says; the server has not heard of them.
#[test]
fn faults_strike_calls_in_the_order_of_the_model() {
    let plan = |kind| {
        Some(Decisions::new(FaultPlan::new(vec![
            Fault::new("flaky", kind)
                .with_tool("get_count")
                .with_server("own"),
        ])))
    };
    let count = || ("own_get_count", json!({}));
    let run = recorded(
        &[count(), ("fail", json!({})), count()],
        |options| options.faults = plan(FaultKind::RecoverAfter { failures: 1 }),
        |text| text,
    );
    let run = run.unwrap();
    let results = run.cassette["trace"]["tool_results"].as_array().unwrap();
    let texts: Vec<_> = results
        .iter()
        .map(|result| result["result"]["content"][0]["text"].as_str().unwrap())
        .collect();
    assert_eq!(
        texts,
        [
            "`get_count` timed out: no answer within 3000 ms",
            "it is shipped",
            "count 1"
        ]
    );
    assert_eq!(
        results[0]["synthesized"],
        json!({ "fault": "flaky", "kind": "recover_after" })
    );
    assert_eq!(results[0]["is_error"], true);
    assert!(results[1].get("synthesized").is_none() && results[2].get("synthesized").is_none());
    // A fault for a call that reaches no server cannot be put in.
    let hang = Fault::new("late", FaultKind::Hang).with_tool("local");
    let own = recorded(
        &[("local", json!({}))],
        |options| options.faults = Some(Decisions::new(FaultPlan::new(vec![hang]))),
        |text| text,
    );
    assert_eq!(
        own.unwrap_err().to_string(),
        "the fault `late` is for a call of `local` that reached neither an MCP server nor the session: faults are \
         injected at MCP servers, and into tools of the agent's own code that tell the session their calls (docs/own-tools.md)"
    );
}

#[test]
fn a_run_makes_no_more_calls_than_it_may() {
    let count = || ("own_get_count", json!({}));
    let run = recorded(
        &[count(), count(), count()],
        |options| options.limits.tool_calls = Some(2),
        |text| text,
    );
    let run = run.unwrap().cassette;
    assert_eq!(run["trace"]["tool_calls"].as_array().unwrap().len(), 2);
    assert_eq!(run["trace"]["tool_results"].as_array().unwrap().len(), 2);
    assert_eq!(
        run["trace"]["conversation"]["stop_reason"],
        "tool_call_budget"
    );
    // Exactly as many as may be is no cap that was reached.
    let run = recorded(
        &[count(), count()],
        |options| options.limits.tool_calls = Some(2),
        |text| text,
    );
    assert_eq!(
        run.unwrap().cassette["trace"]["conversation"]["stop_reason"],
        "completed"
    );
    // 110 tokens a model call: after two of them a third one would be over 300, as the next asks for 110 at the least.
    let run = recorded(
        &[count(), count(), count()],
        |options| options.limits.tokens = Some(300),
        |text| text,
    );
    let run = run.unwrap().cassette;
    assert_eq!(run["trace"]["conversation"]["stop_reason"], "token_budget");
    assert_eq!(
        run["trace"]["conversation"]["steps"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

/// What a server asks of its client arrives there while a call waits, and the client's answer arrives at the server.
#[test]
fn a_server_may_ask_its_client_in_the_middle_of_a_call() {
    let provider = provider(&script(&[]));
    let mut options = options(&provider);
    options.mcp_servers = vec![server("own")];
    block_on(async {
        let session = Session::record(options).await.unwrap();
        let mut client = McpClient::new(&session, "own", true);
        client.open().await;
        let call = r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"ask","arguments":{}}}"#;
        let mut answer = client
            .http
            .post(&client.url)
            .header("accept", "application/json, text/event-stream")
            .header("mcp-session-id", client.session.clone().unwrap())
            .body(call)
            .send()
            .await
            .unwrap();
        let first = answer.chunk().await.unwrap().unwrap();
        assert!(
            String::from_utf8_lossy(&first).contains("roots/list"),
            "{first:?}"
        );
        let (status, _) = client
            .send(r#"{"jsonrpc":"2.0","id":"own-1","result":{"roots":[{"uri":"file:///r","name":"here"}]}}"#)
            .await;
        assert_eq!(status, 202);
        let mut rest = Vec::new();
        while let Some(chunk) = answer.chunk().await.unwrap() {
            rest.extend_from_slice(&chunk);
        }
        let rest = String::from_utf8(rest).unwrap();
        assert!(
            rest.contains("your root is here")
                && rest.contains("\"id\": 5") | rest.contains("\"id\":5"),
            "{rest}"
        );
    });
}
