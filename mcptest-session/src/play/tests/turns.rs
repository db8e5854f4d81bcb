//! What an agent tells the model of the model's own turns.

use serde_json::{Value, json};

use super::agent::{Agent, ask, player};
use super::answers::{FORMATS, by_hand, options, recorded};
use mcptest_trace::eval::DivergenceKind;

use crate::play::{PlayOptions, Player};

/// What an agent makes of its talk.
type Edit = fn(&mut Vec<Value>);

/// What is told of an agent that edits its talk before each request.
async fn told_with(
    cassette: &Value,
    options: PlayOptions,
    edit: Edit,
) -> Vec<(DivergenceKind, String, String)> {
    let player = player(cassette, options);
    let agent = Agent {
        edit,
        ..Agent::default()
    };
    agent.plays(&player).await;
    all(&player)
}

fn all(player: &Player) -> Vec<(DivergenceKind, String, String)> {
    let outcome = player.played();
    let all = outcome.divergences.into_iter().chain(outcome.unasked);
    all.map(|it| (it.kind, it.path, it.message)).collect()
}

async fn divergences(edit: Edit) -> Vec<(DivergenceKind, String, String)> {
    let cassette = recorded(&Agent::default()).await;
    told_with(&cassette, PlayOptions::default(), edit).await
}

fn turn(path: &str, message: &str) -> (DivergenceKind, String, String) {
    (
        DivergenceKind::AssistantTurns,
        path.to_owned(),
        message.to_owned(),
    )
}

#[tokio::test]
async fn a_turn_of_the_model_that_is_told_otherwise_is_told_once() {
    // The message that the model answered first stands third, after the system prompt and the user.
    let cases: [(Edit, &str, &str); 4] = [
        (
            |talk| {
                if talk.len() > 2 {
                    talk[2]["tool_calls"][0]["function"]["arguments"] = "{\"order\": 70}".into();
                }
            },
            "assistant_turns[0]",
            "turn 1 of the model calls `cancel` with other arguments",
        ),
        (
            |talk| {
                if talk.len() > 2 {
                    talk[2]["content"] = "I will cancel both.".into();
                }
            },
            "assistant_turns[0]",
            "turn 1 of the model has another text",
        ),
        (
            |talk| {
                if talk.len() > 5 {
                    talk[5]["tool_calls"][0]["function"]["name"] = "shop__refund".into();
                }
            },
            "assistant_turns[1]",
            "turn 2 of the model calls `refund` now, and did not call this tool in the recording",
        ),
        (
            |talk| {
                if talk.len() > 5 {
                    talk.insert(2, json!({ "role": "user", "content": "Sure?" }));
                    talk.insert(2, json!({ "role": "assistant", "content": "Yes." }));
                }
            },
            "assistant_turns[+0]",
            "the code sends a message of the model that is not in the recording",
        ),
    ];
    for (edit, path, message) in cases {
        let mut told = divergences(edit).await;
        told.retain(|(kind, ..)| *kind == DivergenceKind::AssistantTurns);
        assert_eq!(told, [turn(path, message)]);
    }
}

#[tokio::test]
async fn turns_that_are_dropped_are_missing_and_the_others_keep_their_places() {
    let told = divergences(|talk| {
        // The first answer with its results.
        if talk.len() > 5 {
            talk.drain(2..5);
        }
    })
    .await;
    let result = |call: usize| {
        let path = format!("tool_results[{call}]");
        let message = "the code does not send the result of `cancel` to the model";
        (DivergenceKind::ToolResults, path, message.to_owned())
    };
    let wanted = [
        turn("assistant_turns[0]", "turn 1 of the model is missing"),
        result(0),
        result(1),
    ];
    assert_eq!(told, wanted);
}

#[tokio::test]
async fn a_text_that_is_cut_is_another_text_and_pieces_of_it_are_the_same() {
    let mut cassette = by_hand();
    let said = |text: &str| json!({ "role": "assistant", "content": text });
    let call = |order: u32| said(&format!("tool_use shop::cancel with {{\"order\":{order}}}"));
    cassette["trace"]["conversation"] = json!({ "turns": [
        { "role": "user", "content": "Cancel 7 and 8." }, said("I look both orders up first."),
        call(7), call(8), call(9), said("All three are cancelled."),
    ] });
    let cut = told_with(&cassette, PlayOptions::default(), |talk| {
        if talk.len() > 2 {
            assert_eq!(talk[2]["content"], "I look both orders up first.");
            talk[2]["content"] = "I look".into();
        }
    })
    .await;
    let another = turn("assistant_turns[0]", "turn 1 of the model has another text");
    let dropped = told_with(&cassette, PlayOptions::default(), |talk| {
        if talk.len() > 2 {
            talk[2]["content"] = Value::Null;
        }
    })
    .await;
    assert_eq!([cut, dropped], [vec![another.clone()], vec![another]]);
    let pieces = told_with(&cassette, PlayOptions::default(), |talk| {
        if talk.len() > 2 {
            let piece = |text: &str| json!({ "type": "text", "text": text });
            let calls = json!({ "role": "assistant", "tool_calls": talk[2]["tool_calls"] });
            let texts = [
                piece("I look both "),
                piece(""),
                piece("orders up first.\n"),
            ];
            talk[2] = json!({ "role": "assistant", "content": texts });
            talk.insert(3, calls);
        }
    })
    .await;
    assert_eq!(pieces, []);
}

#[tokio::test]
async fn turns_that_are_ignored_may_differ() {
    let cassette = recorded(&Agent::default()).await;
    let edit: Edit = |talk| {
        if talk.len() > 2 {
            talk[2]["tool_calls"][1]["function"]["arguments"] =
                "{\"order\": 8, \"at\": \"now\"}".into();
        }
    };
    let path = |path: &str| {
        let mut options = PlayOptions::default();
        options.compared.ignore_paths.push(path.parse().unwrap());
        options
    };
    let mut kind = PlayOptions::default();
    kind.compared.ignore.insert(DivergenceKind::AssistantTurns);
    for options in [
        kind,
        path("assistant_turns[0].calls[1].arguments.at"),
        path("assistant_turns[*].calls[*].arguments.at"),
        path("assistant_turns[0]"),
    ] {
        assert_eq!(told_with(&cassette, options, edit).await, []);
    }
    for other in ["assistant_turns[1]", "assistant_turns[0].text"] {
        assert_eq!(told_with(&cassette, path(other), edit).await.len(), 1);
    }
}

/// What it begins with: a question, a call of a tool with its result, and an answer.
fn with_example(agent: &Agent, order: u32, result: &str, said: &str) -> Vec<Value> {
    let call = json!({ "id": "e1", "type": "function",
        "function": { "name": "shop__cancel", "arguments": json!({ "order": order }).to_string() } });
    let example = [
        json!({ "role": "user", "content": "Cancel 1." }),
        json!({ "role": "assistant", "content": null, "tool_calls": [call] }),
        json!({ "role": "tool", "tool_call_id": "e1", "content": result }),
        json!({ "role": "assistant", "content": said }),
    ];
    let mut begin = agent.begin();
    begin.splice(1..1, example);
    begin
}

#[tokio::test]
async fn a_changed_example_is_told_where_the_recording_knows_it() {
    let agent = Agent::default();
    let source = player(&by_hand(), PlayOptions::default());
    let begin = with_example(&agent, 1, "{\"cancelled\":1}", "It is cancelled.");
    agent.plays_from(&source, begin).await;
    let known = source.run(&options(&agent)).unwrap();
    let mut unknown = known.clone();
    let examples = &mut unknown["session"]["conversations"][0]["examples"];
    examples.as_object_mut().unwrap().remove("talk").unwrap();
    let plays = async |cassette: &Value, begin: Vec<Value>| {
        let player = player(cassette, PlayOptions::default());
        agent.plays_from(&player, begin).await;
        all(&player)
    };
    let same = || with_example(&agent, 1, "{\"cancelled\": 1}", "It is cancelled.");
    assert_eq!(plays(&known, same()).await, []);
    assert_eq!(plays(&unknown, same()).await, []);
    for (begin, path) in [
        (
            with_example(&agent, 2, "{\"cancelled\":1}", "It is cancelled."),
            "assistant_turns[example_0]",
        ),
        (
            with_example(&agent, 1, "{\"cancelled\":1}", "Done."),
            "assistant_turns[example_1]",
        ),
        (
            with_example(&agent, 1, "Error", "It is cancelled."),
            "tool_results[example_0_0]",
        ),
    ] {
        let told = plays(&known, begin).await;
        let told: Vec<&str> = told.iter().map(|(_, path, _)| path.as_str()).collect();
        assert_eq!(told, [path]);
    }
}

/// Some servers give the same identifiers in each answer.
#[tokio::test]
async fn identifiers_that_each_answer_gives_again_are_of_the_nearest_call_before() {
    let mut cassette = recorded(&Agent::default()).await;
    let answers = &mut cassette["session"]["conversations"][0]["answers"];
    answers[0]["call_ids"] = json!(["call_0", "call_1"]);
    answers[1]["call_ids"] = json!(["call_0"]);
    for protocol in FORMATS {
        let agent = Agent {
            protocol,
            ..Agent::default()
        };
        let one = player(&cassette, PlayOptions::default());
        agent.plays(&one).await;
        assert_eq!(all(&one), [], "{protocol}");
        let changed = Agent {
            protocol,
            run: |call| match call.args["order"].as_u64() {
                Some(9) => "Error".to_owned(),
                order => format!("{{\"cancelled\":{}}}", order.unwrap()),
            },
            ..Agent::default()
        };
        let other = player(&cassette, PlayOptions::default());
        changed.plays(&other).await;
        let told = all(&other);
        let told: Vec<&str> = told.iter().map(|(_, path, _)| path.as_str()).collect();
        assert_eq!(told, ["tool_results[2]"], "{protocol}");
    }
}

/// A client of Responses names items by their identifiers, also of answers that were recorded in another format.
#[tokio::test]
async fn an_item_that_is_named_by_its_identifier_is_what_the_model_said() {
    let agent = Agent {
        protocol: "openai_responses",
        ..Agent::default()
    };
    let path = "/openai/v1/responses";
    let output = |call: &Value, order: u32| {
        let text = json!({ "cancelled": order }).to_string();
        json!({ "type": "function_call_output", "call_id": call["call_id"], "output": text })
    };
    for cassette in [by_hand(), recorded(&agent).await] {
        for (named, wanted) in [
            (None, &[][..]),
            (Some("fc_of_nobody_0"), &["assistant_turns[0]"]),
        ] {
            let player = player(&cassette, PlayOptions::default());
            let mut talk = agent.begin();
            let mut said = Vec::new();
            for number in 0..2 {
                let (status, bytes) = ask(&player, number, path, None, &agent.request(&talk)).await;
                let body: Value = serde_json::from_slice(&bytes).unwrap();
                assert_eq!(status, 200, "{body}");
                let items = body["output"].as_array().unwrap().clone();
                said.push(items.len());
                let id = |item: &Value| named.map_or(item["id"].clone(), Value::from);
                let names = items
                    .iter()
                    .map(|item| json!({ "type": "item_reference", "id": id(item) }));
                talk.extend(names);
                let results = items
                    .iter()
                    .zip([7 + 2 * u32::try_from(number).unwrap(), 8]);
                talk.extend(results.map(|(call, order)| output(call, order)));
            }
            assert_eq!(said, [2, 1]);
            let told = all(&player);
            let turns = told
                .iter()
                .filter(|(kind, ..)| *kind == DivergenceKind::AssistantTurns);
            let turns: Vec<&str> = turns.map(|(_, path, _)| path.as_str()).collect();
            assert_eq!(turns, wanted, "{told:?}");
            // The loop stops before the last answer.
            assert_eq!(told.len() - turns.len(), 1, "{told:?}");
        }
    }
}

/// Arguments that are no JSON object come back as each format has to write them.
#[tokio::test]
async fn arguments_that_are_no_object_are_the_same_in_every_format() {
    let mut cassette = by_hand();
    cassette["trace"]["tool_calls"][2]["args"] = "{\"order\": ".into();
    cassette["trace"]["tool_calls"][1]["args"] = Value::Null;
    for protocol in FORMATS {
        let agent = Agent {
            protocol,
            run: |call| match (call.args.get("order"), call.args.get("input")) {
                (Some(order), _) => format!("{{\"cancelled\":{order}}}"),
                (None, None) if call.args.is_object() => "{\"cancelled\":8}".to_owned(),
                _ => "{\"cancelled\":9}".to_owned(),
            },
            ..Agent::default()
        };
        let player = player(&cassette, PlayOptions::default());
        agent.plays(&player).await;
        assert_eq!(all(&player), [], "{protocol}");
    }
}
