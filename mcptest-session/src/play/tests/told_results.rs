//! What a client tells the model of a result that an MCP server gave.

use serde_json::{Value, json};

use super::agent::{Agent, ask, player};
use super::answers::{FLAGGED, FORMATS, options};
use super::went_by::{Wire, paths};
use crate::exchange::{Call, ModelResponse, Part};
use crate::mcp::{McpCall, McpTraffic};
use crate::play::{PlayOptions, Player};
use crate::protocol;
use crate::record::RunOptions;

const SAID: &str = "order 7 has shipped";

/// How a client tells a result.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Tells {
    Text,
    /// With the flag of the format, where it has one.
    Flagged,
    /// With words of its own before it.
    Prefixed,
    /// As MCP has results, in a text.
    Whole,
    /// The client makes up another one.
    Swallowed,
}

fn server_result(is_error: bool) -> Value {
    json!({ "content": [{ "type": "text", "text": SAID }], "isError": is_error })
}

fn call() -> ModelResponse {
    ModelResponse {
        parts: vec![Part::Call(Call {
            id: Some("c1".to_owned()),
            name: "shop__cancel".to_owned(),
            args: json!({ "order": 7 }),
            ..Call::default()
        })],
        ..ModelResponse::default()
    }
}

fn done() -> ModelResponse {
    ModelResponse {
        parts: vec![Part::Text("Done.".to_owned())],
        ..ModelResponse::default()
    }
}

/// The two requests of an agent.
fn requests(agent: &Agent, tells: Tells, is_error: bool) -> [Value; 2] {
    let (protocol, _) = protocol::at(&agent.path().0).unwrap();
    let agent = Agent {
        run: match tells {
            Tells::Text | Tells::Flagged => |_| SAID.to_owned(),
            Tells::Prefixed => |_| format!("Result: {SAID}"),
            Tells::Whole if is_error => |_| server_result(true).to_string(),
            Tells::Whole => |_| server_result(false).to_string(),
            Tells::Swallowed => |_| "all fine".to_owned(),
        },
        protocol: agent.protocol,
        ..Agent::default()
    };
    let mut messages = agent.begin();
    let first = agent.request(&messages);
    messages.extend(agent.goes_on(&protocol.answer(&call()), &call()));
    if tells == Tells::Flagged
        && is_error
        && let Some(last) = messages.last_mut()
    {
        match agent.protocol {
            "anthropic_messages" => last["content"][0]["is_error"] = true.into(),
            "bedrock_converse" => {
                last["content"][0]["toolResult"]["status"] = "error".into();
            }
            _ => {}
        }
    }
    [first, agent.request(&messages)]
}

fn recorded(agent: &Agent, tells: Tells, is_error: bool) -> Value {
    let mut wire = Wire::default();
    let [first, second] = requests(agent, tells, is_error);
    wire.answered(&agent.path().0, &first, call());
    wire.answered(&agent.path().0, &second, done());
    let seen = McpCall {
        server: "shop".to_owned(),
        tool: "cancel".to_owned(),
        args: json!({ "order": 7 }),
        asked_at: 6,
        ended_at: Some(7),
        result: Some(server_result(is_error)),
        ..McpCall::default()
    };
    let mcp = McpTraffic {
        servers: vec!["shop".to_owned()],
        calls: vec![seen],
        ..McpTraffic::default()
    };
    wire.run(&RunOptions {
        mcp,
        ..options(agent)
    })
}

/// Plays the model's part, and leaves the server alone.
async fn played(cassette: &Value, agent: &Agent, tells: Tells, is_error: bool) -> Player {
    let player = player(cassette, PlayOptions::default());
    for (number, request) in requests(agent, tells, is_error).iter().enumerate() {
        let (status, _) = ask(&player, number, &agent.path().0, None, request).await;
        assert_eq!(status, 200);
    }
    player
}

/// What is told, but for the call that the server was not asked for.
fn divergence_paths(player: &Player) -> Vec<String> {
    let mut paths = paths(player);
    paths.retain(|path| !path.starts_with("servers["));
    paths
}

#[tokio::test]
async fn what_a_client_told_of_the_result_of_a_server_it_has_to_tell_again() {
    use Tells::{Flagged, Prefixed, Swallowed, Text, Whole};
    for protocol in FORMATS {
        let agent = Agent {
            protocol,
            ..Agent::default()
        };
        for is_error in [false, true] {
            for tells in [Text, Flagged, Prefixed, Whole, Swallowed] {
                let cassette = recorded(&agent, tells, is_error);
                let result = &cassette["trace"]["tool_results"][0];
                // The run has what the server says, unless the model was told something else.
                let wanted = if tells == Swallowed { "all fine" } else { SAID };
                assert!(result["result"].to_string().contains(wanted), "{result}");
                assert_eq!(result["is_error"], is_error);
                for other in [Text, Flagged, Prefixed, Whole, Swallowed] {
                    // In Gemini's format a text stands in an object, and is no result in MCP's form.
                    let is_wrapped = protocol == "gemini";
                    let has_flag = |tells: Tells| {
                        let by_format = tells == Flagged && FLAGGED.contains(&protocol);
                        is_error && (by_format || tells == Whole && !is_wrapped)
                    };
                    let words = |tells: Tells| match tells {
                        Prefixed => 1,
                        Swallowed => 2,
                        Whole if is_wrapped => 3,
                        _ => 0,
                    };
                    let wanted: &[&str] = match (
                        words(tells) == words(other),
                        has_flag(tells) == has_flag(other),
                    ) {
                        (true, true) => &[],
                        (true, false) => &["tool_results[0].is_error"],
                        (false, _) => &["tool_results[0]"],
                    };
                    let player = played(&cassette, &agent, other, is_error).await;
                    let what = format!("{protocol}, error: {is_error}, {tells:?}, then {other:?}");
                    assert_eq!(divergence_paths(&player), wanted, "{what}");
                    if tells == other && tells != Swallowed {
                        let run = player.run(&options(&agent)).unwrap();
                        let again = &run["trace"]["tool_results"][0];
                        assert_eq!(
                            again["result"]["content"], result["result"]["content"],
                            "{what}"
                        );
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn an_older_recording_takes_what_holds_the_result_of_a_server_for_it() {
    use Tells::{Flagged, Prefixed, Swallowed, Text};
    for protocol in FORMATS {
        let agent = Agent {
            protocol,
            ..Agent::default()
        };
        for tells in [Text, Flagged, Prefixed] {
            let mut cassette = recorded(&agent, tells, true);
            let field = cassette["session"].as_object_mut().unwrap();
            field.insert("version".to_owned(), "1.1".into());
            field.remove("told");
            let player = played(&cassette, &agent, tells, true).await;
            let is_unflagged = FLAGGED.contains(&protocol) && tells != Flagged;
            let wanted = is_unflagged.then_some("tool_results[0].is_error");
            assert!(
                divergence_paths(&player)
                    .iter()
                    .map(String::as_str)
                    .eq(wanted),
                "{protocol}, {tells:?}: {:?}",
                divergence_paths(&player)
            );
            let run = player.run(&options(&agent)).unwrap();
            let again = &run["trace"]["tool_results"][0];
            assert_eq!(again["result"]["content"][0]["text"], SAID);
            assert_eq!(again["is_error"], true);
            let player = played(&cassette, &agent, Swallowed, true).await;
            assert_eq!(divergence_paths(&player), ["tool_results[0]"]);
        }
    }
}
