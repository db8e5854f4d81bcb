//! A model that is asked in a form that is not read.

use mcptest_trace::eval::DivergenceKind;
use serde_json::json;

use super::agent::{Agent, ask, player};
use super::answers::by_hand;
use crate::endpoint::{Answerer as _, Incoming};
use crate::play::PlayOptions;

#[tokio::test]
async fn a_form_that_is_not_read_is_a_divergence_and_says_what_is_read() {
    let player = player(&by_hand(), PlayOptions::default());
    let request = json!({ "model": "m", "prompt": "Cancel 7 and 8." });
    let (status, body) = ask(&player, 0, "/openai/v1/completions", None, &request).await;
    let body = String::from_utf8(body).unwrap();
    assert_eq!(status, 400);
    assert!(body.contains("are not read; what is read: "), "{body}");
    let found = player.played().divergences;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].kind, DivergenceKind::OtherRequest);
    assert!(found[0].message.contains("are not read"), "{found:?}");
}

/// Codex opens a WebSocket first, and asks by HTTP where it is refused.
#[tokio::test]
async fn an_upgrade_is_refused_and_what_is_asked_by_http_is_compared() {
    let agent = Agent {
        protocol: "openai_responses",
        ..Agent::default()
    };
    let player = player(&by_hand(), PlayOptions::default());
    let mut upgrade = Incoming::post(0, "/openai/v1/responses", "");
    upgrade.method = axum::http::Method::GET;
    let value = axum::http::HeaderValue::from_static("WebSocket");
    upgrade.headers.insert("upgrade", value);
    let answer = player.answer(upgrade).await;
    assert_eq!(answer.status().as_u16(), 426);
    let ended = agent.plays(&player).await;
    assert_eq!(ended.error, None);
    let outcome = player.played();
    assert_eq!(
        (outcome.divergences, outcome.unasked.len()),
        (Vec::new(), 0)
    );
}
