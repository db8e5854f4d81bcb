//! What a recording answers.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::agent::{Agent, ask, player, texts};
use mcptest_trace::eval::DivergenceKind;

use crate::exchange::{ModelResponse, Part, Stop};
use crate::play::{PlayOptions, Recording, RecordingError};
use crate::record::{Observed, Outcome, RecordedRun, RunOptions};

pub(super) const FORMATS: [&str; 6] = [
    "openai_chat",
    "openai_responses",
    "anthropic_messages",
    "gemini",
    "ollama",
    "bedrock_converse",
];

/// The formats in which a result says whether it is an error.
pub(super) const FLAGGED: [&str; 2] = ["anthropic_messages", "bedrock_converse"];

#[test]
fn every_format_is_played() {
    let all = crate::protocol::ALL.iter().map(|protocol| protocol.name());
    // This one has the body of Anthropic's Messages, and asks models of Anthropic alone.
    let played: Vec<&str> = all.filter(|name| *name != "bedrock_invoke").collect();
    assert_eq!(
        played, FORMATS,
        "`FORMATS` has each format of `protocol::ALL`, in its order. `agent.rs` says how the agent of these tests asks in it. \
         If a result says whether it is an error, `FLAGGED` has it too"
    );
}

/// A run as somebody writes it by hand: two calls of one answer, one more, and the closing.
pub(super) fn by_hand() -> Value {
    let result = |call: usize, order: u32| json!({ "call_index": call, "result": { "content": [{ "type": "text", "text": format!("{{\"cancelled\": {order}}}") }] } });
    json!({
        "schema_version": "v1", "model": "gpt-5", "user_prompt": "Cancel 7 and 8.", "system_prompt": "Help.",
        "trace": {
            "tool_calls": [
                { "name": "cancel", "server": "shop", "args": { "order": 7 }, "step": 0 },
                { "name": "cancel", "server": "shop", "args": { "order": 8 }, "step": 0 },
                { "name": "cancel", "server": "shop", "args": { "order": 9 }, "step": 1 },
            ],
            "tool_results": [result(0, 7), result(1, 8), result(2, 9)],
            "final_response": "All three are cancelled.",
        },
    })
}

#[tokio::test]
async fn every_format_plays_what_was_written_by_hand_whole_and_streamed() {
    for protocol in FORMATS {
        for streamed in [false, true] {
            let agent = Agent {
                protocol,
                streamed,
                ..Agent::default()
            };
            let player = player(&by_hand(), PlayOptions::default());
            let ended = agent.plays(&player).await;
            let what = format!("{protocol}, streamed: {streamed}");
            assert_eq!(ended.error, None, "{what}");
            let calls: Vec<Vec<&str>> = ended
                .said
                .iter()
                .map(|said| said.calls().map(|call| call.name.as_str()).collect())
                .collect();
            let name = "shop__cancel";
            assert_eq!(calls, [vec![name, name], vec![name], vec![]], "{what}");
            assert_eq!(texts(&ended.said[2]), "All three are cancelled.", "{what}");
            let outcome = player.played();
            assert_eq!(outcome.divergences, [], "{what}");
            assert!(
                outcome.unasked.is_empty() && outcome.model_calls == 3,
                "{what}"
            );
        }
    }
}

/// A recording of a session: the agent's own requests, and what a scripted model said to them.
pub(super) async fn recorded(agent: &Agent) -> Value {
    let source = player(&by_hand(), PlayOptions::default());
    agent.plays(&source).await;
    source.run(&options(agent)).unwrap()
}

pub(super) fn options(agent: &Agent) -> RunOptions {
    RunOptions {
        agent: "Order desk".to_owned(),
        turns: vec![agent.prompt.to_owned()],
        servers: vec!["shop".to_owned()],
        ..RunOptions::default()
    }
}

#[tokio::test]
async fn what_a_session_recorded_plays_to_every_other_format_and_makes_the_same_run() {
    for protocol in FORMATS {
        for streamed in [false, true] {
            let by = Agent {
                protocol,
                streamed,
                ..Agent::default()
            };
            let cassette = recorded(&by).await;
            for other in FORMATS {
                let agent = Agent {
                    protocol: other,
                    streamed: !streamed,
                    ..Agent::default()
                };
                let player = player(&cassette, PlayOptions::default());
                agent.plays(&player).await;
                let what = format!("{protocol} played to {other}");
                let outcome = player.played();
                assert_eq!(outcome.divergences, [], "{what}");
                assert!(outcome.unasked.is_empty(), "{what}");
                let run = player.run(&options(&agent)).unwrap();
                let calls = |run: &Value| run["trace"]["tool_calls"].clone();
                assert_eq!(calls(&run), calls(&cassette), "{what}");
                if protocol == other {
                    assert_eq!(run["trace"], cassette["trace"], "{what}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_run_that_is_played_twice_has_the_same_bytes() {
    let agent = Agent::default();
    let cassette = recorded(&agent).await;
    let mut runs = Vec::new();
    for _ in 0..2 {
        let player = player(&cassette, PlayOptions::default());
        agent.plays(&player).await;
        runs.push(player.run(&options(&agent)).unwrap().to_string());
    }
    assert_eq!(runs[0], runs[1]);
}

#[tokio::test]
async fn a_question_that_comes_again_gets_the_same_answer_and_is_told() {
    let agent = Agent {
        times: 2,
        ..Agent::default()
    };
    let player = player(&by_hand(), PlayOptions::default());
    let ended = agent.plays(&player).await;
    assert_eq!(ended.said.len(), 3);
    let kinds: Vec<DivergenceKind> = player
        .played()
        .divergences
        .iter()
        .map(|it| it.kind)
        .collect();
    assert_eq!(kinds, [DivergenceKind::AskedAgain; 3]);
}

#[tokio::test]
async fn after_the_last_answer_the_recording_ends() {
    let player = player(&by_hand(), PlayOptions::default());
    let agent = Agent::default();
    let ended = agent.plays(&player).await;
    let mut messages = agent.begin();
    for said in &ended.said {
        let body = crate::protocol::named("openai_chat").unwrap().answer(said);
        messages.extend(agent.goes_on(&body, said));
    }
    messages.push(json!({ "role": "user", "content": "Really?" }));
    let request = agent.request(&messages);
    let (status, bytes) = ask(&player, 3, "/openai/v1/chat/completions", None, &request).await;
    let body: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(status, 400);
    assert_eq!(
        body["error"]["message"],
        "mcptest: the recording ends here after 3 model calls"
    );
    let found = player.played().divergences;
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].to_string(),
        "model call 4 of 3: the recording ends here after 3 model calls"
    );
}

#[tokio::test]
async fn what_nobody_recorded_is_an_error_and_told() {
    let player = player(&by_hand(), PlayOptions::default());
    // The first request of a recording with one conversation can only be meant for that one.
    let agent = Agent {
        most: 1,
        ..Agent::default()
    };
    agent.plays(&player).await;
    let nothing = json!({ "model": "other", "messages": [{ "role": "user", "content": "A title, please." }] });
    let (status, _) = ask(&player, 0, "/openai/v1/chat/completions", None, &nothing).await;
    assert_eq!(status, 400);
    let (status, _) = ask(
        &player,
        1,
        "/openai/v1/embeddings",
        None,
        &json!({ "input": "a" }),
    )
    .await;
    assert_eq!(status, 404);
    let (status, _) = ask(&player, 2, "/nobody/v1/chat/completions", None, &nothing).await;
    assert_eq!(status, 404);
    let outcome = player.played();
    let kinds: Vec<DivergenceKind> = outcome.divergences.iter().map(|it| it.kind).collect();
    assert_eq!(
        kinds,
        [
            DivergenceKind::AnotherCall,
            DivergenceKind::OtherRequest,
            DivergenceKind::OtherRequest
        ]
    );
    assert_eq!(outcome.unasked.len(), 2);
}

#[test]
fn what_holds_no_answer_cannot_be_played() {
    assert_eq!(
        Recording::from_cassette(&json!({})).unwrap_err(),
        RecordingError::NoCassette
    );
    let empty = json!({ "schema_version": "v1", "model": "m", "user_prompt": "p", "trace": {} });
    assert_eq!(
        Recording::from_cassette(&empty).unwrap_err(),
        RecordingError::NoAnswer
    );
}

#[tokio::test]
async fn a_talk_that_the_provider_holds_is_found_by_what_a_request_adds() {
    let agent = Agent {
        protocol: "openai_responses",
        ..Agent::default()
    };
    let cassette = recorded(&agent).await;
    let player = player(&cassette, PlayOptions::default());
    let mut new = agent.begin();
    for number in 0..3 {
        let mut request = agent.request(&new);
        request["conversation"] = "conv_1".into();
        let (status, bytes) = ask(&player, number, "/openai/v1/responses", None, &request).await;
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&bytes));
        let body: Value = serde_json::from_slice(&bytes).unwrap();
        let said = crate::protocol::named("openai_responses")
            .unwrap()
            .parse_response(&body)
            .unwrap();
        let all = agent.goes_on(&body, &said);
        new = all
            .into_iter()
            .filter(|item| item["type"] == "function_call_output")
            .collect();
    }
    let outcome = player.played();
    // The recording has another way to hold the talk, which is told, and nothing else.
    let paths: Vec<&str> = outcome
        .divergences
        .iter()
        .map(|it| it.path.as_str())
        .collect();
    assert_eq!(paths, ["parameters.conversation"]);
    assert!(outcome.unasked.is_empty());
}

#[tokio::test]
async fn a_result_that_is_the_recorded_one_has_its_error_flag_in_formats_without_one() {
    let mut cassette = by_hand();
    cassette["trace"]["tool_results"][1]["is_error"] = true.into();
    for protocol in FORMATS.into_iter().filter(|it| !FLAGGED.contains(it)) {
        let flags = async |run: fn(&crate::exchange::Call) -> String| {
            let agent = Agent {
                protocol,
                run,
                ..Agent::default()
            };
            let player = player(&cassette, PlayOptions::default());
            agent.plays(&player).await;
            let run = player.run(&options(&agent)).unwrap();
            let results = run["trace"]["tool_results"].as_array().unwrap();
            let flag = |result: &Value| result.get("is_error").and_then(Value::as_bool);
            results.iter().map(flag).collect::<Vec<_>>()
        };
        let same = flags(Agent::default().run).await;
        assert_eq!(same, [Some(false), Some(true), Some(false)], "{protocol}");
        // Of another result nothing is known.
        let other = flags(|_| "Done.".to_owned()).await;
        assert_eq!(other, [None, None, None], "{protocol}");
    }
}

#[tokio::test]
async fn a_first_request_that_is_all_otherwise_is_answered_all_the_same() {
    let agent = Agent {
        system: None,
        prompt: "CANCEL SEVEN.",
        tools: Vec::new(),
        ..Agent::default()
    };
    let player = player(&by_hand(), PlayOptions::default());
    let ended = agent.plays(&player).await;
    assert_eq!(ended.error, None);
    let kinds: Vec<DivergenceKind> = player
        .played()
        .divergences
        .iter()
        .map(|it| it.kind)
        .collect();
    assert_eq!(
        kinds,
        [DivergenceKind::SystemPrompt, DivergenceKind::UserTurns]
    );
}

#[tokio::test]
async fn examples_that_no_model_said_are_no_answers() {
    let agent = Agent::default();
    let begin = || {
        let mut begin = agent.begin();
        let user = |text: &str| json!({ "role": "user", "content": text });
        let said = json!({ "role": "assistant", "content": "An example." });
        begin.splice(1..1, [user("For example?"), said]);
        begin
    };
    let answer = |number: usize| ModelResponse {
        id: Some(format!("answer-{number}")),
        parts: vec![Part::Text("It is cancelled.".to_owned())],
        stop: Some(Stop::End),
        ..ModelResponse::default()
    };
    let (protocol, route) = crate::protocol::at("/v1/chat/completions").unwrap();
    let observed = Observed {
        protocol: Some(protocol),
        method: "POST".to_owned(),
        path: "/openai/v1/chat/completions".to_owned(),
        query: None,
        digest: String::new(),
        asked: Some(
            protocol
                .parse_request(&route, &agent.request(&begin()))
                .into(),
        ),
        asked_at: 0,
        ended_at: Some(1),
        tick: 0,
        outcome: Outcome::Answered {
            said: answer(0),
            broken: None,
        },
        gone: false,
        changes: BTreeSet::new(),
    };
    let cassette = RecordedRun::from_observed(&[observed], &options(&agent))
        .unwrap()
        .cassette;
    let player = player(&cassette, PlayOptions::default());
    let request = agent.request(&begin());
    let (status, bytes) = ask(&player, 0, "/openai/v1/chat/completions", None, &request).await;
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&bytes));
    let outcome = player.played();
    assert_eq!(outcome.divergences, []);
    assert!(outcome.unasked.is_empty());
}

#[tokio::test]
async fn a_loop_without_an_end_is_told_by_its_first_calls() {
    let agent = Agent::default();
    let player = player(&by_hand(), PlayOptions::default());
    agent.plays(&player).await;
    let mut messages = agent.begin();
    for number in 0..60 {
        messages.push(json!({ "role": "assistant", "content": "Again." }));
        messages.push(json!({ "role": "user", "content": format!("Again {number}.") }));
        let request = agent.request(&messages);
        ask(
            &player,
            number,
            "/openai/v1/chat/completions",
            None,
            &request,
        )
        .await;
    }
    let outcome = player.played();
    let beyond = outcome
        .divergences
        .iter()
        .filter(|it| it.kind == DivergenceKind::AnotherCall);
    // The last one says that the run was ended.
    assert_eq!((beyond.count(), outcome.model_calls), (21, 63));
}

/// Code that quotes the arguments of a call sees them as the model wrote them, in each format.
#[tokio::test]
async fn arguments_are_played_byte_for_byte() {
    let mut cassette = recorded(&Agent::default()).await;
    let answers = cassette["session"]["conversations"][0]["answers"].as_array_mut();
    let mut written = Vec::new();
    for answer in answers.unwrap() {
        let calls = answer["call_ids"].as_array().map_or(0, Vec::len);
        let texts: Vec<String> = (0..calls)
            .map(|call| format!("{{ \"order\" : {} }}", 7 + written.len() + call))
            .collect();
        if calls > 0 {
            answer["arguments"] = json!(texts);
            written.extend(texts);
        }
    }
    assert_eq!(written.len(), 3);
    for protocol in FORMATS {
        for streamed in [false, true] {
            let agent = Agent {
                protocol,
                streamed,
                ..Agent::default()
            };
            let player = player(&cassette, PlayOptions::default());
            let ended = agent.plays(&player).await;
            let calls = ended.said.iter().flat_map(ModelResponse::calls);
            let texts: Vec<Option<String>> = calls.map(|call| call.text.clone()).collect();
            let wanted: Vec<Option<String>> = written.iter().cloned().map(Some).collect();
            assert_eq!(texts, wanted, "{protocol} {streamed}");
            assert_eq!(player.played().divergences, [], "{protocol} {streamed}");
            // What is recorded of the played run says the same.
            let run = player.run(&options(&agent)).unwrap();
            let kept = run["session"]["conversations"][0]["answers"].as_array();
            let kept = kept
                .unwrap()
                .iter()
                .filter_map(|it| it["arguments"].as_array());
            let kept: Vec<&str> = kept.flatten().filter_map(Value::as_str).collect();
            assert_eq!(kept, written, "{protocol} {streamed}");
        }
    }
}
