//! What was mended before, and has to stay so.

use axum::http::{HeaderMap, Method};
use futures_util::StreamExt as _;
use serde_json::{Value, json};

use super::agent::{Agent, ask, player, texts};
use super::answers::{FORMATS, by_hand, options, recorded};
use super::went_by::{PATH, Wire, calls, paths, result, says};
use crate::endpoint::{Answerer as _, Incoming};
use crate::exchange::{ModelResponse, Part};
use crate::play::PlayOptions;
use crate::play::matching::work;
use crate::protocol;

/// The code tells the model a result and never calls the server that gave it.
#[tokio::test]
async fn a_result_of_an_mcp_tool_that_the_code_made_up_is_told() {
    let mut cassette = recorded(&Agent::default()).await;
    let call = |index: usize| json!({ "call_index": index });
    cassette["session"]["mcp"] =
        json!([{ "server": "shop", "calls": [call(0), call(1), call(2)] }]);
    let plays = async |ask_server: bool| {
        let player = player(&cassette, PlayOptions::default());
        if ask_server {
            let path = crate::mcp::path_of("shop");
            for (number, order) in [7, 8, 9].into_iter().enumerate() {
                let request = json!({ "jsonrpc": "2.0", "id": number, "method": "tools/call",
                    "params": { "name": "cancel", "arguments": { "order": order } } });
                let (status, _) = ask(&player, number, &path, None, &request).await;
                assert_eq!(status, 200);
            }
        }
        Agent::default().plays(&player).await;
        paths(&player)
    };
    assert!(plays(true).await.is_empty());
    assert_eq!(plays(false).await, ["servers[shop].cancel"; 3]);
}

#[tokio::test]
async fn a_stream_that_was_cut_breaks_after_its_head() {
    let agent = Agent {
        streamed: true,
        ..Agent::default()
    };
    let text = "Order 7 was cancelled, and order 8 had been shipped already by then.";
    let request = agent.request(&agent.begin());
    let mut wire = Wire::default();
    wire.chat(&request, &says(text));
    let mut cassette = wire.run(&options(&agent));
    let answer = &mut cassette["session"]["conversations"][0]["answers"][0];
    answer.as_object_mut().unwrap().remove("stop");
    answer["broken"] = "the connection broke off".into();
    let player = player(&cassette, PlayOptions::default());
    let response = player
        .answer(Incoming {
            number: 0,
            method: Method::POST,
            path: PATH.to_owned(),
            query: None,
            headers: HeaderMap::new(),
            body: request.to_string().into(),
        })
        .await;
    assert_eq!(response.status(), 200);
    let chunks: Vec<_> = response.into_body().into_data_stream().collect().await;
    let (last, head) = chunks.split_last().unwrap();
    assert!(last.is_err(), "{last:?}");
    let head: Vec<u8> = head
        .iter()
        .flat_map(|chunk| chunk.as_ref().unwrap().to_vec())
        .collect();
    let head = String::from_utf8(head).unwrap();
    assert!(head.contains("Order 7 was"), "{head}");
    assert!(
        !head.contains("[DONE]") && !head.contains("\"finish_reason\":\"stop\""),
        "{head}"
    );
    assert!(paths(&player).is_empty());
}

#[tokio::test]
async fn a_tool_that_is_offered_twice_is_told() {
    let agent = Agent {
        tools: vec![("shop__cancel", "Cancels."), ("shop__cancel", "Cancels.")],
        ..Agent::default()
    };
    for cassette in [recorded(&Agent::default()).await] {
        let player = player(&cassette, PlayOptions::default());
        agent.plays(&player).await;
        let told = player.played().divergences;
        let told: Vec<(&str, &str)> = told
            .iter()
            .map(|it| (it.path.as_str(), it.message.as_str()))
            .collect();
        assert_eq!(
            told,
            [("tools[cancel]", "the tool `cancel` is offered twice")]
        );
    }
}

/// How many values are compared, and how many turns and calls are looked at, for the last request of a talk.
async fn work_of(calls_made: usize, id: fn(usize) -> String) -> usize {
    let agent = Agent::default();
    let order = |call: usize| u32::try_from(call).unwrap();
    let mut cassette = by_hand();
    let index = 0..calls_made;
    cassette["trace"]["tool_calls"] = index
        .clone()
        .map(|call| json!({ "name": "cancel", "server": "shop", "args": { "order": call }, "step": call }))
        .collect();
    cassette["trace"]["tool_results"] = index
        .clone()
        .map(|call| json!({ "call_index": call, "result": { "cancelled": call } }))
        .collect();
    let answer = |call: usize| json!({ "protocol": "openai_chat", "call_ids": [id(call)] });
    let mut answers: Vec<Value> = index.clone().map(answer).collect();
    answers.push(json!({ "protocol": "openai_chat" }));
    cassette["session"] = json!({ "version": "1.0",
        "conversations": [{ "role": "main", "answers": answers }] });
    let mut talk = agent.begin();
    for call in index {
        talk.push(calls(&id(call), order(call)));
        talk.push(result(&id(call), order(call)));
    }
    let player = player(&cassette, PlayOptions::default());
    let before = work::done();
    let request = agent.request(&talk);
    let (status, bytes) = ask(&player, 0, PATH, None, &request).await;
    let body: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(status, 200, "{body}");
    let said = &body["choices"][0]["message"]["content"];
    assert_eq!(said, "All three are cancelled.");
    let divergences = player.played().divergences;
    let told: Vec<&str> = divergences.iter().map(|it| it.path.as_str()).collect();
    assert!(
        told.iter()
            .all(|path| path.starts_with("parameters") || path.starts_with("tools")),
        "{told:?}"
    );
    work::done() - before
}

#[tokio::test]
async fn comparing_a_long_talk_takes_as_much_for_each_turn_as_a_short_one() {
    let own: fn(usize) -> String = |call| format!("call {call}");
    let again: fn(usize) -> String = |_| "call_0".to_owned();
    for id in [own, again] {
        let short = work_of(200, id).await;
        let long = work_of(2_000, id).await;
        assert!(short > 200, "{short}");
        assert!(long <= 11 * short, "{short}, {long}");
    }
}

#[tokio::test]
async fn an_error_of_the_provider_inside_of_a_stream_is_played_as_it_was() {
    for protocol in FORMATS {
        let agent = Agent {
            protocol,
            streamed: true,
            ..Agent::default()
        };
        let request = agent.request(&agent.begin());
        let (path, query) = agent.path();
        let said = ModelResponse {
            parts: vec![Part::Text("I have can".to_owned())],
            error: Some(Box::new(json!({ "message": "overloaded", "code": 529 }))),
            ..ModelResponse::default()
        };
        let mut wire = Wire::default();
        wire.broken(&path, &request, said, "the provider broke off: overloaded");
        let mut cassette = wire.run(&options(&agent));
        for is_older in [false, true] {
            if is_older {
                let answer = &mut cassette["session"]["conversations"][0]["answers"][0];
                assert_eq!(answer["error"]["code"], 529);
                answer.as_object_mut().unwrap().remove("error");
                answer["broken"] = "the provider bro[redacted KEY]e off: overloaded".into();
            }
            let player = player(&cassette, PlayOptions::default());
            let (status, bytes) = ask(&player, 0, &path, query.as_deref(), &request).await;
            let (format, _) = protocol::at(&path).unwrap();
            // The answer is whole, and tells the error after the words.
            let streamed =
                protocol::assembled(format, Some(format.framing(query.as_deref())), &bytes, true);
            let error = streamed.error.unwrap();
            assert_eq!(
                (status, protocol::error_message(&error)),
                (200, Some("overloaded")),
                "{protocol}"
            );
            // The errors of some formats are words alone.
            if error.is_object() && protocol != "bedrock_converse" {
                assert_eq!(error["code"].as_u64(), (!is_older).then_some(529));
            }
            let body = streamed.body.unwrap();
            assert_eq!(
                texts(&format.parse_response(&body).unwrap()),
                "I have can",
                "{protocol}"
            );
            assert!(paths(&player).is_empty());
        }
    }
}
