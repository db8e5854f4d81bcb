//! What is compared where a recording knows a part alone: of sub-agents, and after a past that was changed.

use serde_json::{Value, json};

use super::agent::{Agent, player};
use super::answers::options;
use super::went_by::{Wire, answers, calls, paths, result, says, user};
use crate::play::PlayOptions;
use crate::record::RunOptions;

#[tokio::test]
async fn what_a_sub_agent_is_told_after_its_task_is_compared() {
    let agent = Agent::default();
    let sub = Agent {
        system: Some("You check."),
        prompt: "Check the orders.",
        ..Agent::default()
    };
    let later = |words: &str| {
        let more = vec![says("Which?"), user(words)];
        sub.request(&[sub.begin(), more].concat())
    };
    let main = agent.request(&agent.begin());
    let first = sub.request(&sub.begin());
    let mut wire = Wire::default();
    wire.chat(&main, &says("Done."));
    wire.chat(&first, &says("Which?"));
    wire.chat(&later("Order 7."), &says("It is fine."));
    let mut cassette = wire.run(&options(&agent));
    for (words, wanted) in [("Order 7.", &[][..]), ("Order 8.", &["user_turns[1]"])] {
        let player = player(&cassette, PlayOptions::default());
        answers(&player, &[main.clone(), first.clone(), later(words)]).await;
        assert_eq!(paths(&player), wanted);
        let told = player.played().divergences;
        let of = told.iter().map(|it| it.conversation.as_deref());
        assert!(of.eq(wanted.iter().map(|_| Some("sub-agent"))));
    }
    // The first version of the field did not say it.
    cassette["session"]["version"] = "1.0".into();
    let player = player(&cassette, PlayOptions::default());
    answers(&player, &[main, first, later("Order 8.")]).await;
    assert!(paths(&player).is_empty());
}

/// A talk of which the agent clears an old result away, and that goes on.
fn cleared(agent: &Agent, cleared: &str, last: u32, thanks: &str) -> Vec<Value> {
    let old = json!({ "role": "tool", "tool_call_id": "c1", "content": cleared });
    let begin = agent.begin();
    let first = [begin.clone(), vec![calls("c1", 7), result("c1", 7)]].concat();
    let past = [
        begin.clone(),
        vec![calls("c1", 7), old, calls("c2", last), result("c2", last)],
    ];
    let past = past.concat();
    let end = [
        past.clone(),
        vec![says("Both are cancelled."), user(thanks)],
    ]
    .concat();
    [begin, first, past, end]
        .map(|talk| agent.request(&talk))
        .to_vec()
}

#[tokio::test]
async fn after_a_past_that_was_changed_what_follows_is_compared() {
    let agent = Agent::default();
    let run = RunOptions {
        turns: vec![agent.prompt.to_owned(), "Thanks.".to_owned()],
        ..options(&agent)
    };
    let requests = cleared(&agent, "[cleared]", 8, "Thanks.");
    let said = [
        calls("c1", 7),
        calls("c2", 8),
        says("Both are cancelled."),
        says("Goodbye."),
    ];
    let mut wire = Wire::default();
    for (request, said) in requests.iter().zip(&said) {
        wire.chat(request, said);
    }
    let cassette = wire.run(&run);
    let notes = cassette["session"]["notes"].to_string();
    assert!(notes.contains("compaction"), "{notes}");
    let told = async |requests: &[Value]| {
        let player = player(&cassette, PlayOptions::default());
        answers(&player, requests).await;
        paths(&player)
    };
    assert!(told(&requests).await.is_empty());
    let thanks = cleared(&agent, "[cleared]", 8, "Thank you.");
    assert_eq!(told(&thanks).await, ["user_turns[1]"]);
    // What the agent made of its past is compared message by message; and what it was told since as usual.
    let gone = cleared(&agent, "[gone]", 8, "Thanks.");
    assert_eq!(told(&gone).await, ["tool_results[past_2]"]);
    let mut spaced = requests.clone();
    for request in &mut spaced[2..] {
        request["messages"][5]["content"] = "{ \"cancelled\" : 8 }".into();
    }
    assert!(told(&spaced).await.is_empty());
    let mut other = requests.clone();
    for request in &mut other[2..] {
        request["messages"][5]["content"] = "{\"cancelled\": 80}".into();
    }
    assert_eq!(told(&other).await, ["tool_results[1]"]);
    let mut turn = requests;
    turn[3]["messages"][6]["content"] = "None is cancelled.".into();
    assert_eq!(told(&turn).await, ["assistant_turns[2]"]);
}
