//! Who may ask, and what is said to who may not.

use mcptest_session::endpoint::MAX_BODY;
use reqwest::Client;
use serde_json::{Value, json};

use crate::{block_on, provider, script, session};

#[test]
fn only_who_knows_the_address_gets_in() {
    let provider = provider(&script(&json!({ "models": ["m"] })));
    block_on(async {
        let session = session(&provider).await;
        let url = format!("{}/models", session.openai_url());
        assert!(url.starts_with("http://127.0.0.1:"));
        let client = Client::builder().no_proxy().build().unwrap();
        let status = async |url: &str, host: Option<&str>| {
            let mut request = client.get(url);
            if let Some(host) = host {
                request = request.header("host", host);
            }
            request.send().await.unwrap().status().as_u16()
        };
        assert_eq!(status(&url, None).await, 200);
        let port = url.split(':').nth(2).unwrap().split('/').next().unwrap();
        assert_eq!(status(&url, Some(&format!("localhost:{port}"))).await, 200);
        for host in [
            "evil.example",
            "127.0.0.1",
            "localhost:1",
            &format!("evil.example:{port}"),
        ] {
            assert_eq!(status(&url, Some(host)).await, 404, "{host}");
        }
        let secret = url.split('/').nth(3).unwrap();
        assert_eq!(secret.len(), 32);
        let last = if secret.ends_with('0') { "1" } else { "0" };
        let guessed = url.replace(secret, &format!("{}{last}", &secret[..31]));
        assert_eq!(status(&guessed, None).await, 404);
        let longer = url.replace(secret, &format!("{secret}0"));
        assert_eq!(status(&longer, None).await, 404);
        // Nothing of a stranger went on.
        assert_eq!(provider.requests().len(), 2);
        let own = crate::session(&provider).await;
        assert_ne!(own.openai_url(), session.openai_url());
    });
}

#[test]
fn errors_are_in_the_shape_of_the_provider() {
    let provider = provider(&script(&json!({})));
    block_on(async {
        let session = session(&provider).await;
        let large = "x".repeat(MAX_BODY + 1);
        let client = Client::builder().no_proxy().build().unwrap();
        let message = async |url: String, pointer: &str| {
            let answer = client.post(url).body(large.clone()).send().await.unwrap();
            assert_eq!(answer.status().as_u16(), 413);
            assert_eq!(answer.headers()["x-should-retry"], "false");
            let body: Value = answer.json().await.unwrap();
            let shown = body.pointer(pointer).and_then(Value::as_str);
            shown.unwrap_or_else(|| panic!("{body}")).to_owned()
        };
        let text =
            "mcptest: the request is larger than the 64 MiB that mcptest reads, or broke off";
        let url = format!("{}/v1/messages", session.anthropic_url());
        assert_eq!(message(url, "/error/message").await, text);
        let url = format!("{}/responses", session.openai_url());
        assert_eq!(message(url, "/error/message").await, text);
        let url = format!("{}/v1beta/models/m:generateContent", session.gemini_url());
        assert_eq!(
            message(url.clone(), "/error/status").await,
            "INVALID_ARGUMENT"
        );

        let other = session.openai_url().replace("/openai/", "/elsewhere/");
        let answer = client.get(other).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 404);
        let body: Value = answer.json().await.unwrap();
        assert_eq!(
            body["error"]["message"],
            "mcptest: the address does not end with a provider; known providers: `openai`, `azure`, `anthropic`, `vertex_anthropic`, `gemini`, `vertex`, `ollama`, `bedrock`"
        );
    });
}

#[test]
fn a_provider_that_cannot_be_reached_is_said() {
    let gone = provider(&script(&json!({})));
    let options = crate::options(&gone);
    drop(gone);
    block_on(async {
        let session = mcptest_session::session::Session::record(options)
            .await
            .unwrap();
        let url = format!("{}/chat/completions", session.openai_url());
        let body =
            json!({ "model": "m", "messages": [{ "role": "user", "content": crate::PROMPT }] });
        let answer = crate::agent::send(&url, &body, "identity").await;
        assert_eq!(answer.status, 502);
        let text = String::from_utf8(answer.bytes).unwrap();
        assert!(
            text.contains("mcptest: `openai` cannot be reached at http://"),
            "{text}"
        );
        let error = session.finish().await.unwrap_err().to_string();
        assert!(
            error.starts_with("the agent got no answer of a model: "),
            "{error}"
        );
    });
}

#[test]
fn no_path_leads_above_the_address_of_a_provider() {
    use std::io::{Read as _, Write as _};
    let provider = provider(&script(&json!({ "models": ["m"] })));
    block_on(async {
        let session = session(&provider).await;
        let url = session.openai_url();
        let (host, path) = url.trim_start_matches("http://").split_once('/').unwrap();
        let (host, path) = (host.to_owned(), path.to_owned());
        for up in ["..", "%2e%2E", ".%2e"] {
            let request = format!(
                "GET /{path}/{up}/admin HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"
            );
            let host = host.clone();
            // A client of HTTP would take such a part out itself.
            let answer = tokio::task::spawn_blocking(move || {
                let mut stream = std::net::TcpStream::connect(host).unwrap();
                stream.write_all(request.as_bytes()).unwrap();
                let mut answer = String::new();
                stream.read_to_string(&mut answer).unwrap();
                answer
            });
            let answer = answer.await.unwrap();
            assert!(answer.starts_with("HTTP/1.1 404"), "{up}: {answer}");
            assert!(answer.contains("may not lead up"), "{up}: {answer}");
        }
        assert_eq!(provider.requests().len(), 0);
    });
}
