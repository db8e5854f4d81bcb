//! What is asked besides the talk: strict tools, requests that ask no model, results out of their place.

use std::path::Path;

use axum::http::{HeaderMap, Method};
use serde_json::{Value, json};

use super::agent::{Agent, ask, player};
use super::answers::{by_hand, recorded};
use crate::endpoint::{Answerer as _, Incoming};
use crate::exchange::Call;
use crate::folders::{self, Folder, spellings};
use crate::play::{PlayOptions, Player};
use crate::record::digest;

fn paths(player: &Player) -> Vec<String> {
    let outcome = player.played();
    let all = outcome.divergences.into_iter().chain(outcome.unasked);
    all.map(|it| it.path).collect()
}

#[tokio::test]
async fn a_tool_that_becomes_strict_or_stops_being_it_is_told() {
    for protocol in ["openai_chat", "openai_responses", "anthropic_messages"] {
        let agent = |strict| Agent {
            protocol,
            strict,
            ..Agent::default()
        };
        for (was, is, wanted) in [
            (None, Some(true), &["tools[cancel].strict"][..]),
            (Some(true), None, &["tools[cancel].strict"]),
            (Some(true), Some(false), &["tools[cancel].strict"]),
            (Some(true), Some(true), &[]),
        ] {
            let cassette = recorded(&agent(was)).await;
            let player = player(&cassette, PlayOptions::default());
            agent(is).plays(&player).await;
            assert_eq!(paths(&player), wanted, "{protocol}: {was:?}, {is:?}");
        }
    }
    // The first version of the field did not say it.
    let mut cassette = recorded(&Agent::default()).await;
    cassette["session"]["version"] = "1.0".into();
    let player = player(&cassette, PlayOptions::default());
    let agent = Agent {
        strict: Some(true),
        ..Agent::default()
    };
    agent.plays(&player).await;
    assert!(paths(&player).is_empty());
}

/// Asks what asks no model; the answer.
async fn asks(player: &Player, method: Method, path: &str, body: &str) -> String {
    let incoming = Incoming {
        number: 0,
        method,
        path: path.to_owned(),
        query: None,
        headers: HeaderMap::new(),
        body: body.to_owned().into(),
    };
    let response = player.answer(incoming).await;
    let body = axum::body::to_bytes(response.into_body(), 1 << 20);
    String::from_utf8(body.await.unwrap().to_vec()).unwrap()
}

#[tokio::test]
async fn a_request_that_asks_no_model_and_is_no_longer_made_is_unasked() {
    let other = |method: &str, path: &str, asked: &str, answer: &str| {
        json!({ "digest": digest(method, path, None, asked.as_bytes()), "method": method, "path": path,
            "status": 200, "body": answer })
    };
    let mut cassette = recorded(&Agent::default()).await;
    let (models, embeddings) = ("/openai/v1/models", "/openai/v1/embeddings");
    cassette["session"]["others"] = json!([
        other("GET", models, "", "first list"),
        other("POST", embeddings, "7", "first"),
        other("POST", embeddings, "7", "second"),
        other("GET", models, "", "second list"),
    ]);
    let plays = async |lists: usize, embedded: usize| {
        let player = player(&cassette, PlayOptions::default());
        Agent::default().plays(&player).await;
        let mut answers = Vec::new();
        for _ in 0..lists {
            answers.push(asks(&player, Method::GET, models, "").await);
        }
        for _ in 0..embedded {
            answers.push(asks(&player, Method::POST, embeddings, "7").await);
        }
        (paths(&player), answers)
    };
    let (told, answers) = plays(2, 2).await;
    assert!(told.is_empty(), "{told:?}");
    assert_eq!(answers, ["first list", "second list", "first", "second"]);
    // A client may keep what it only reads, and read it again.
    for lists in [1, 3] {
        assert!(plays(lists, 2).await.0.is_empty());
    }
    assert_eq!(plays(0, 2).await.0, ["others[0]"]);
    assert_eq!(plays(1, 1).await.0, ["others[2]"]);
    assert_eq!(plays(1, 0).await.0, ["others[1]", "others[2]"]);
    assert_eq!(plays(1, 3).await.0, [embeddings]);
}

#[tokio::test]
async fn a_result_out_of_its_place_is_told() {
    let told = async |edit: fn(&mut Vec<Value>)| {
        let player = player(&recorded(&Agent::default()).await, PlayOptions::default());
        let agent = Agent {
            edit,
            ..Agent::default()
        };
        agent.plays(&player).await;
        let found = player.played().divergences.into_iter();
        found.map(|it| (it.path, it.message)).collect::<Vec<_>>()
    };
    let twice = |path: &str| {
        let words = "the result of `cancel` is sent to the model twice".to_owned();
        (path.to_owned(), words)
    };
    // Another value for a call that has its result, and the same one again.
    for text in ["{\"cancelled\":70}", "{\"cancelled\":7}"] {
        let edit: fn(&mut Vec<Value>) = match text {
            "{\"cancelled\":7}" => |talk| {
                if talk.len() > 4 {
                    talk.insert(5, talk[3].clone());
                }
            },
            _ => |talk| {
                if talk.len() > 4 {
                    let mut again = talk[3].clone();
                    again["content"] = "{\"cancelled\":70}".into();
                    talk.insert(5, again);
                }
            },
        };
        assert_eq!(told(edit).await, [twice("tool_results[0].again")]);
    }
    let early = told(|talk| {
        if talk.len() > 4 {
            let result = talk.remove(3);
            talk.insert(2, result);
        }
    })
    .await;
    let words = "the result of `cancel` comes before the call".to_owned();
    assert_eq!(early, [("tool_results[0].early".to_owned(), words)]);
}

/// A value that is JSON in a text is the value; JSON in a text of JSON is not.
#[tokio::test]
async fn one_more_level_of_quoting_is_another_result() {
    let quoted: fn(&crate::exchange::Call) -> String = |call| {
        let text = format!("{{\"cancelled\":{}}}", call.args["order"]);
        Value::from(text).to_string()
    };
    let all = ["tool_results[0]", "tool_results[1]", "tool_results[2]"];
    let of_session = recorded(&Agent::default()).await;
    let mut of_texts = by_hand();
    let mut of_values = by_hand();
    for (call, order) in [(0, 7), (1, 8), (2, 9)] {
        let text = format!("{{\"cancelled\": {order}}}");
        of_texts["trace"]["tool_results"][call]["result"] = text.into();
        of_values["trace"]["tool_results"][call]["result"] = json!({ "cancelled": order });
    }
    for cassette in [of_session, by_hand(), of_texts, of_values] {
        for (run, wanted) in [(Agent::default().run, &[][..]), (quoted, &all)] {
            let agent = Agent {
                run,
                ..Agent::default()
            };
            let player = player(&cassette, PlayOptions::default());
            agent.plays(&player).await;
            assert_eq!(paths(&player), wanted);
        }
    }
}

#[tokio::test]
async fn a_request_that_strict_json_refuses_is_compared_as_it_was_recorded() {
    let cassette = json!({
        "schema_version": "v1", "agent_name": "A", "model": "m", "user_prompt": "Find it.",
        "trace": {
            "tool_calls": [{ "name": "find", "args": { "a": "x\u{fffd}" }, "hop_index": 0, "step": 0 }],
            "tool_results": [{ "call_index": 0, "result": { "content": [{ "type": "text", "text": "cut \u{fffd}" }] } }],
            "conversation": { "turns": [{ "role": "user", "content": "Find it." }], "message_count": 4 },
            "final_response": "ok",
        },
    });
    for (result, wanted) in [
        (r"cut \ud83d", 0),
        ("cut \u{feff}", 1),
        (r"cut \ud83d\ude00", 1),
    ] {
        let player = player(&cassette, PlayOptions::default());
        let path = "/openai/v1/chat/completions";
        let opening = r#"{"role":"user","content":"Find it."}"#;
        let first =
            format!("\u{feff}{{\"model\":\"m\",\"messages\":[{opening}],\"metadata\":NaN}}");
        let first: Value =
            serde_json::from_str(&asks(&player, Method::POST, path, &first).await).unwrap();
        let said = &first["choices"][0]["message"];
        let call = &said["tool_calls"][0];
        assert_eq!(call["function"]["name"], "find", "{first}");
        let told = format!(
            r#"{{"role":"tool","tool_call_id":{},"content":"{result}"}}"#,
            call["id"]
        );
        let second =
            format!(r#"{{"model":"m","messages":[{opening},{said},{told}],"metadata":NaN}}"#);
        let second = asks(&player, Method::POST, path, &second).await;
        assert!(second.contains("\"ok\""), "{second}");
        let found = player.played().divergences;
        let of_results = found.iter().filter(|it| it.path.contains("result"));
        assert_eq!(of_results.count(), wanted, "{result}: {found:?}");
    }
}

#[tokio::test]
async fn code_that_asks_the_same_again_and_again_is_ended() {
    let agent = Agent::default();
    let cassette = recorded(&agent).await;
    let player = player(&cassette, PlayOptions::default());
    let request = agent.request(&agent.begin());
    for number in 0..60 {
        let (status, bytes) = ask(&player, number, &agent.path().0, None, &request).await;
        // The first request, and those that were not recorded.
        assert_eq!(status, if number < 50 { 200 } else { 400 }, "{number}");
        let words = "the run was ended after 50 requests that were not recorded";
        assert_eq!(
            String::from_utf8_lossy(&bytes).contains(words),
            number >= 50
        );
    }
    let told = player.played().divergences;
    let told: Vec<(&str, &str)> = told
        .iter()
        .map(|it| (it.kind.as_str(), it.path.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            ("asked_again", "model_calls[0]"),
            ("another_call", "model_calls[+]")
        ]
    );
    // Whoever runs the code is told it.
    let stop = player.stop();
    tokio::time::timeout(std::time::Duration::from_secs(5), stop.notified())
        .await
        .unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn the_folder_of_another_checkout_is_no_difference() {
    let agent = |run| Agent {
        run,
        ..Agent::default()
    };
    let mut cassette = by_hand();
    for result in cassette["trace"]["tool_results"].as_array_mut().unwrap() {
        result["result"] = "written to /home/a/shop/out/7.txt".into();
    }
    let named = [(Folder::Command, spellings(Path::new("/home/a/shop")))];
    let folders = folders::write_folders(&named, &cassette).unwrap();
    cassette["session"] = json!({ "version": "1.2", "folders": folders });
    for (folder, run, is_same) in [
        (
            "/srv/b",
            (|_| "written to /srv/b/out/7.txt".to_owned()) as fn(&Call) -> String,
            true,
        ),
        (
            "/srv/c",
            |_| "written to /srv/b/out/7.txt".to_owned(),
            false,
        ),
        (
            "/srv/b",
            |_| "written to /srv/b/out/8.txt".to_owned(),
            false,
        ),
        (
            "/srv/b",
            |_| "written to /srv/bc/out/7.txt".to_owned(),
            false,
        ),
    ] {
        let player = player(&cassette, PlayOptions::default());
        player.set_folder(Path::new(folder));
        agent(run).plays(&player).await;
        assert_eq!(
            paths(&player).is_empty(),
            is_same,
            "{folder}: {:?}",
            paths(&player)
        );
    }
}
