//! What an agent's code does differently is told, and what means nothing is not.

use serde_json::{Value, json};

use super::agent::{Agent, ask, player};
use super::answers::{by_hand, recorded};
use mcptest_trace::eval::{DivergenceKind, IgnoredPath};

use crate::play::PlayOptions;

/// What is told of an agent that plays a recording of [`Agent::default`].
async fn divergences(agent: Agent, options: PlayOptions) -> Vec<(DivergenceKind, String)> {
    let cassette = recorded(&Agent::default()).await;
    let player = player(&cassette, options);
    agent.plays(&player).await;
    let outcome = player.played();
    let all = outcome.divergences.iter().chain(&outcome.unasked);
    all.map(|it| (it.kind, it.path.clone())).collect()
}

#[tokio::test]
async fn each_change_of_the_code_is_told_at_its_place() {
    let cases: [(Agent, &[(DivergenceKind, &str)]); 9] = [
        (
            Agent {
                system: Some("Help quickly."),
                ..Agent::default()
            },
            &[(DivergenceKind::SystemPrompt, "system_prompt")],
        ),
        (
            Agent {
                system: None,
                ..Agent::default()
            },
            &[(DivergenceKind::SystemPrompt, "system_prompt")],
        ),
        (
            Agent {
                tools: vec![("shop__refund", "Refunds.")],
                ..Agent::default()
            },
            &[
                (DivergenceKind::Tools, "tools[cancel]"),
                (DivergenceKind::Tools, "tools[refund]"),
            ],
        ),
        (
            Agent {
                tools: vec![("shop__cancel", "Cancels an order.")],
                ..Agent::default()
            },
            &[(DivergenceKind::Tools, "tools[cancel].description")],
        ),
        (
            Agent {
                prompt: "Cancel 7 and 8!",
                ..Agent::default()
            },
            &[(DivergenceKind::UserTurns, "user_turns[0]")],
        ),
        (
            Agent {
                run: |call| match call.args["order"].as_u64() {
                    Some(8) => "Error: no such order".to_owned(),
                    _ => format!("{{\"cancelled\":{}}}", call.args["order"]),
                },
                ..Agent::default()
            },
            &[(DivergenceKind::ToolResults, "tool_results[1]")],
        ),
        (
            Agent {
                model: "gpt-5-mini",
                ..Agent::default()
            },
            &[(DivergenceKind::Model, "model")],
        ),
        (
            Agent {
                temperature: 0.0,
                ..Agent::default()
            },
            &[(DivergenceKind::Parameters, "parameters.temperature")],
        ),
        (
            Agent {
                most: 1,
                ..Agent::default()
            },
            &[
                (DivergenceKind::Unasked, "model_calls[1]"),
                (DivergenceKind::Unasked, "model_calls[2]"),
            ],
        ),
    ];
    for (agent, wanted) in cases {
        let told = divergences(agent, PlayOptions::default()).await;
        let told: Vec<(DivergenceKind, &str)> = told
            .iter()
            .map(|(kind, path)| (*kind, path.as_str()))
            .collect();
        assert_eq!(told, wanted);
    }
}

#[tokio::test]
async fn another_order_of_keys_and_other_white_space_is_no_difference() {
    let agent = Agent {
        run: |call| format!("{{ \"cancelled\" : {}.0 }}\n", call.args["order"]),
        ..Agent::default()
    };
    assert_eq!(divergences(agent, PlayOptions::default()).await, []);
}

#[tokio::test]
async fn what_is_ignored_or_masked_is_no_divergence() {
    let agent = || Agent {
        system: Some("Help. Today is 2026-11-26."),
        run: |call| format!("{{\"cancelled\":{},\"at\":\"now\"}}", call.args["order"]),
        ..Agent::default()
    };
    let all = divergences(agent(), PlayOptions::default()).await;
    assert_eq!(all.len(), 4);
    let mut options = PlayOptions::default();
    options.compared.ignore.insert(DivergenceKind::SystemPrompt);
    options
        .compared
        .ignore_paths
        .push("tool_results[*].at".parse().unwrap());
    assert_eq!(divergences(agent(), options).await, []);
    let mut options = PlayOptions::default();
    options
        .masks
        .push(regex::Regex::new(r" Today is \d{4}-\d{2}-\d{2}\.").unwrap());
    options
        .compared
        .ignore_paths
        .push("tool_results[1].at".parse().unwrap());
    let left = divergences(agent(), options).await;
    let left: Vec<&str> = left.iter().map(|(_, path)| path.as_str()).collect();
    // A mask blanks what it matches, and here one side has nothing to blank.
    assert_eq!(
        left,
        ["system_prompt", "tool_results[0]", "tool_results[2]"]
    );
}

#[test]
fn a_path_that_says_nothing_is_refused() {
    let refused = |text: &str| text.parse::<IgnoredPath>().unwrap_err().to_string();
    assert!(
        refused("results[*].a")
            .contains("`tool_results`, `assistant_turns`, `parameters`, `tools`, `user_turns`")
    );
    assert!(refused("tool_results").contains("write `ignore: [tool_results]`"));
    assert!(refused("tool_results[*]").contains("write `ignore: [tool_results]`"));
    assert!(refused("tool_results[*").contains("without a `]`"));
    assert!(refused("tool_results[*]..a").contains("an empty step"));
}

#[tokio::test]
async fn a_secret_that_was_taken_out_of_the_recording_stands_for_anything() {
    let mut cassette = by_hand();
    cassette["system_prompt"] = "Help. The key is [redacted KEY], keep it.".into();
    cassette["trace"]["tool_results"][0]["result"] = json!({ "cancelled": "[redacted]" });
    let plays = |system: &'static str| {
        let cassette = cassette.clone();
        async move {
            let agent = Agent {
                system: Some(system),
                ..Agent::default()
            };
            let player = player(&cassette, PlayOptions::default());
            agent.plays(&player).await;
            player.played().divergences
        }
    };
    assert_eq!(plays("Help. The key is sk-1, keep it.").await, []);
    assert_eq!(plays("Help. The key is sk-1, lose it.").await.len(), 1);
}

/// What a recording does not say is not compared, and a hand-written one says neither tools nor parameters.
#[tokio::test]
async fn what_a_recording_does_not_say_is_not_compared() {
    let plays = async |model: &'static str| {
        let agent = Agent {
            model,
            tools: vec![("shop__cancel", "Says something else.")],
            temperature: 1.0,
            ..Agent::default()
        };
        let player = player(&by_hand(), PlayOptions::default());
        agent.plays(&player).await;
        let _: Value = player.run(&super::answers::options(&agent)).unwrap();
        let told = player.played().divergences;
        told.into_iter().map(|one| one.path).collect::<Vec<_>>()
    };
    let recorded = by_hand()["model"].as_str().unwrap().to_owned();
    assert_eq!(recorded, "gpt-5");
    // The model is said by every recording; its release, or its provider, may stand with it.
    for same in ["gpt-5", "openai/gpt-5", "gpt-5-2026-03-01"] {
        assert!(plays(same).await.is_empty(), "{same}");
    }
    assert_eq!(plays("another").await, ["model"]);
}

/// A thread of Messages: the provider holds the system prompt, the tools and the talk.
#[tokio::test]
async fn a_request_that_continues_a_thread_has_what_the_thread_began_with() {
    let agent = |tools| Agent {
        protocol: "anthropic_messages",
        tools,
        ..Agent::default()
    };
    let offered = || agent(vec![("shop__cancel", "Cancels.")]);
    let cassette = recorded(&offered()).await;
    for (agent, offered_name, wanted) in [
        (offered(), "shop__cancel", vec![]),
        // What the thread began without is told, and told once.
        (
            agent(vec![]),
            "cancel",
            vec![(DivergenceKind::Tools, "tools[cancel]".to_owned())],
        ),
    ] {
        let player = player(&cassette, PlayOptions::default());
        let mut request = agent.request(&agent.begin());
        request["thread"] = json!({ "type": "create" });
        for number in 0..3 {
            let (status, bytes) =
                ask(&player, number, "/anthropic/v1/messages", None, &request).await;
            assert_eq!(status, 200);
            let answer: Value = serde_json::from_slice(&bytes).unwrap();
            // Calls have the names under which the thread began to offer the tools.
            let calls = answer["content"].as_array().unwrap().iter();
            let mut names = calls.filter_map(|block| block["name"].as_str());
            assert!(names.all(|name| name == offered_name), "{answer}");
            let results = answer["content"].as_array().unwrap().iter();
            let results = results
                .filter(|block| block["type"] == "tool_use")
                .map(|call| {
                    let text = format!("{{\"cancelled\": {}}}", call["input"]["order"]);
                    json!({ "type": "tool_result", "tool_use_id": call["id"], "content": text })
                });
            request = json!({
                "model": "gpt-5", "temperature": 0.5,
                "thread": { "type": "continue", "previous_message_id": answer["id"] },
                "messages": [{ "role": "user", "content": results.collect::<Value>() }],
            });
        }
        let outcome = player.played();
        let told = outcome.divergences.iter().chain(&outcome.unasked);
        let told: Vec<_> = told.map(|it| (it.kind, it.path.clone())).collect();
        assert_eq!(told, wanted);
    }
}

#[tokio::test]
async fn an_empty_system_prompt_is_none_and_what_a_client_of_gemini_wraps_is_its_result() {
    let mut cassette = by_hand();
    cassette["system_prompt"] = "".into();
    let agent = |system| Agent {
        system,
        ..Agent::default()
    };
    let paths = async |cassette: &Value, agent: Agent| {
        let player = player(cassette, PlayOptions::default());
        agent.plays(&player).await;
        let told = player.played().divergences;
        told.into_iter().map(|it| it.path).collect::<Vec<_>>()
    };
    assert!(paths(&cassette, agent(None)).await.is_empty());
    assert_eq!(
        paths(&cassette, agent(Some("Help."))).await,
        ["system_prompt"]
    );

    let by_gemini = Agent {
        protocol: "gemini",
        ..Agent::default()
    };
    let mut cassette = recorded(&by_gemini).await;
    let wrapped = |text: &str| json!({ "name": "cancel", "content": text });
    cassette["trace"]["tool_results"][1]["result"] = wrapped("{\"cancelled\": 8}");
    cassette["trace"]["tool_results"][2]["result"] = wrapped("{\"cancelled\": 7}");
    assert_eq!(
        paths(&cassette, Agent::default()).await,
        ["tool_results[2]"]
    );
}
