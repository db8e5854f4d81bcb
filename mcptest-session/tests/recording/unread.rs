//! A model that is asked in a form that is not read: no run, and no empty recording.

use serde_json::{Value, json};

use crate::{block_on, provider, script, session};

/// Asks a path of `OpenAI`, or of Ollama, once.
async fn ask(url: &str, body: &Value) -> (u16, String) {
    let answer = reqwest::Client::new()
        .post(url)
        .json(body)
        .send()
        .await
        .unwrap();
    let status = answer.status().as_u16();
    (status, answer.text().await.unwrap())
}

#[test]
fn a_form_that_is_not_read_is_refused_at_once_and_the_run_is_none() {
    let provider = provider(&script(&json!({})));
    for (name, path) in [("openai", "/completions"), ("ollama", "/api/generate")] {
        block_on(async {
            let session = session(&provider).await;
            let provider = mcptest_session::endpoint::Provider::named(name).unwrap();
            let url = format!("{}{path}", session.url(provider));
            let (status, body) = ask(&url, &json!({ "model": "m", "prompt": "Hi" })).await;
            assert_eq!(status, 400, "{body}");
            assert!(body.contains("are not read; what is read: "), "{body}");
            let error = session.finish().await.unwrap_err().to_string();
            assert!(
                error.contains("1 of its model calls cannot be read"),
                "{error}"
            );
            assert!(
                error.contains(path) && error.contains("what is read: "),
                "{error}"
            );
        });
    }
    // Nothing of it reached the provider.
    assert!(provider.requests().is_empty());
}

#[test]
fn an_upgrade_is_refused_so_that_clients_ask_by_http() {
    let provider = provider(&script(&json!({})));
    block_on(async {
        let session = session(&provider).await;
        let url = format!("{}/responses", session.openai_url());
        let request = reqwest::Client::new().get(url);
        let request = request
            .header("connection", "Upgrade")
            .header("upgrade", "websocket");
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 426);
        let body = answer.text().await.unwrap();
        assert!(body.contains("nothing is read over a WebSocket"), "{body}");
        let error = session.finish().await.unwrap_err().to_string();
        assert!(
            error.contains("nothing is read over a WebSocket"),
            "{error}"
        );
    });
    assert!(provider.requests().is_empty());
}
