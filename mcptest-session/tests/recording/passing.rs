//! What goes through the endpoint is what goes through without it.

use serde_json::{Value, json};

use crate::agent::{ALL, Agent, Format, send};
use crate::{block_on, options, provider, script, session};
use mcptest_session::session::Session;

/// Headers that differ from connection to connection, or from answer to answer.
const OF_ONE: [&str; 4] = ["date", "x-request-id", "request-id", "x-goog-request-id"];

#[test]
fn answers_are_the_same_byte_for_byte() {
    for format in ALL {
        for (streamed, encoding) in [
            (false, "identity"),
            (true, "identity"),
            (false, "gzip"),
            (true, "gzip"),
        ] {
            // A provider each: the same answer is the first of both.
            let script = script(&json!({ "gzip": true }));
            let (one, other) = (provider(&script), provider(&script));
            block_on(async {
                let session = session(&one).await;
                let agent = Agent {
                    session: &session,
                    format,
                    streamed,
                    encoding,
                    retries: 0,
                };
                let url = agent.url();
                let path = url.split('/').skip(5).collect::<Vec<_>>().join("/");
                let version = if url.contains("/openai/v1/") { "" } else { "/" };
                let direct = format!(
                    "{}{version}{}",
                    other.url(),
                    path.strip_prefix("v1")
                        .filter(|_| version.is_empty())
                        .unwrap_or(&path)
                );
                let mut request = agent.request(&agent.opening());
                if format == Format::Chat && streamed {
                    request["stream_options"] = json!({ "include_usage": true });
                }
                let through = send(&url, &request, encoding).await;
                let without = send(&direct, &request, encoding).await;
                let context = format!("{format:?}, streamed {streamed}, {encoding}, {direct}");
                assert_eq!(without.status, 200, "{context}");
                assert_eq!(through.status, without.status, "{context}");
                assert_eq!(through.bytes, without.bytes, "{context}");
                let mut headers = [&through.headers, &without.headers].map(Clone::clone);
                for headers in &mut headers {
                    for name in OF_ONE {
                        headers.remove(name);
                    }
                }
                assert_eq!(headers[0], headers[1], "{context}");
            });
            let seen = [one.requests(), other.requests()].map(|all| all[0].clone());
            assert_eq!(seen[0].body, seen[1].body, "{format:?}");
            let headers = seen.map(|seen| {
                let mut headers = seen.headers;
                headers.retain(|(name, _)| name != "host");
                headers.sort();
                headers
            });
            assert_eq!(headers[0], headers[1], "{format:?}");
        }
    }
}

#[test]
fn a_chat_is_asked_for_its_tokens_and_the_client_does_not_see_them() {
    for untouched in [false, true] {
        let (asked, plain) = (provider(&script(&json!({}))), provider(&script(&json!({}))));
        let cassette = block_on(async {
            let mut options = options(&asked);
            options.untouched = untouched;
            let session = Session::record(options).await.unwrap();
            let agent = Agent {
                session: &session,
                format: Format::Chat,
                streamed: true,
                encoding: "gzip",
                retries: 0,
            };
            let request = agent.request(&agent.opening());
            let through = send(&agent.url(), &request, "gzip").await;
            let direct = format!("{}/v1/chat/completions", plain.url());
            let without = send(&direct, &request, "gzip").await;
            let events = |bytes: &[u8]| -> Vec<Value> {
                let text = String::from_utf8(bytes.to_vec()).unwrap();
                let datas = text.lines().filter_map(|line| line.strip_prefix("data: "));
                datas
                    .map(|data| {
                        let mut event: Value =
                            serde_json::from_str(data).unwrap_or_else(|_| data.into());
                        // The chunks before it say that it is to come.
                        if let Some(event) = event.as_object_mut() {
                            assert_eq!(event.remove("usage").unwrap_or_default(), Value::Null);
                        }
                        event
                    })
                    .collect()
            };
            assert_eq!(events(&through.bytes), events(&without.bytes));
            session.finish().await.unwrap().cassette
        });
        let asked = asked.requests()[0].json();
        assert_eq!(
            asked["stream_options"]["include_usage"].as_bool(),
            (!untouched).then_some(true)
        );
        let tokens = cassette["trace"]["conversation"].get("tokens");
        assert_eq!(tokens.is_some(), !untouched);
    }
}

#[test]
fn what_is_no_request_for_an_answer_is_passed_on_and_kept() {
    let provider = provider(&script(&json!({ "models": ["m"] })));
    let cassette = block_on(async {
        let session = session(&provider).await;
        let models = reqwest::get(format!("{}/models", session.openai_url()))
            .await
            .unwrap();
        assert_eq!(models.json::<Value>().await.unwrap()["data"][0]["id"], "m");
        let agent = Agent {
            session: &session,
            format: Format::Chat,
            streamed: false,
            encoding: "identity",
            retries: 0,
        };
        agent.run().await;
        session.finish().await.unwrap().cassette
    });
    let others = cassette["session"]["others"].as_array().unwrap();
    assert_eq!(others.len(), 1);
    assert_eq!(
        (&others[0]["method"], &others[0]["path"]),
        (&json!("GET"), &json!("/openai/v1/models"))
    );
    let body: Value = serde_json::from_str(others[0]["body"].as_str().unwrap()).unwrap();
    assert_eq!(body["data"][0]["id"], "m");
}

#[test]
fn a_stream_is_not_held_back() {
    let mut script = script(&json!({}));
    script["conversations"][0]["runs"][0][0]["before"] = json!([{ "wait_ms": 1 }]);
    let provider = provider(&script);
    block_on(async {
        let session = session(&provider).await;
        let agent = Agent {
            session: &session,
            format: Format::Chat,
            streamed: true,
            encoding: "identity",
            retries: 0,
        };
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let request = client
            .post(agent.url())
            .header("authorization", "Bearer k")
            .header("content-type", "application/json");
        let mut answer = request
            .body(agent.request(&agent.opening()).to_string())
            .send()
            .await
            .unwrap();
        let mut chunks = 0;
        while answer.chunk().await.unwrap().is_some() {
            chunks += 1;
        }
        assert!(chunks > 5, "{chunks}");
    });
}

#[test]
fn a_client_that_goes_away_is_seen_and_what_it_asks_again_is_kept() {
    let mut script = script(&json!({}));
    script["conversations"][0]["runs"][0][0]["before"] = json!([{ "wait_ms": 400 }]);
    let provider = provider(&script);
    let cassette = block_on(async {
        let session = session(&provider).await;
        let agent = Agent {
            session: &session,
            format: Format::Messages,
            streamed: true,
            encoding: "identity",
            retries: 0,
        };
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let request = client
            .post(agent.url())
            .header("x-api-key", "k")
            .header("anthropic-version", "2023-06-01")
            .header("content-type", "application/json");
        let body = agent.request(&agent.opening()).to_string();
        let asked = request.body(body).send();
        let patience = std::time::Duration::from_millis(100);
        tokio::time::timeout(patience, asked).await.unwrap_err();
        drop(client);
        agent.run().await;
        session.finish().await.unwrap().cassette
    });
    assert_eq!(cassette["session"]["retries"], 1);
    assert_eq!(
        cassette["trace"]["conversation"]["stop_reason"],
        "completed"
    );
}

#[test]
fn a_stream_that_a_client_leaves_after_its_last_event_is_whole() {
    let provider = provider(&script(&json!({})));
    let cassette = block_on(async {
        let session = session(&provider).await;
        let agent = Agent {
            session: &session,
            format: Format::Chat,
            streamed: true,
            encoding: "identity",
            retries: 0,
        };
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let request = client
            .post(agent.url())
            .header("authorization", "Bearer k")
            .header("content-type", "application/json");
        let body = agent.request(&agent.opening()).to_string();
        let mut answer = request.body(body).send().await.unwrap();
        let mut text = String::new();
        while !text.contains("[DONE]") {
            let chunk = answer.chunk().await.unwrap().unwrap();
            text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
        let finished = session.finish().await;
        drop(answer);
        finished.unwrap().cassette
    });
    let conversation = &cassette["trace"]["conversation"];
    assert_eq!(conversation["steps"].as_array().unwrap().len(), 1);
    assert_eq!(cassette["trace"]["tool_calls"].as_array().unwrap().len(), 2);
    assert_eq!(
        cassette["session"]["notes"],
        json!(["ends in an unanswered call"])
    );
}
