//! One question that is answered several times.

use regex::Regex;
use serde_json::json;

use super::agent::{Agent, ask, player};
use super::answers::options;
use super::went_by::{PATH, Wire, answers, calls, paths, result, says, texts, user};
use crate::play::PlayOptions;
use crate::record::RunOptions;

#[tokio::test]
async fn a_vote_is_as_many_model_calls_as_were_answered() {
    for tools in [vec![], vec![("shop__cancel", "Cancels.")]] {
        let agent = Agent {
            tools,
            ..Agent::default()
        };
        let request = agent.request(&agent.begin());
        let mut wire = Wire::default();
        for text in ["Yes.", "No.", "Perhaps."] {
            wire.chat(&request, &says(text));
        }
        let cassette = wire.run(&options(&agent));
        assert_eq!(cassette["session"].get("retries"), None);
        let tokens = &cassette["trace"]["conversation"]["tokens"];
        assert_eq!(*tokens, json!({ "total": 42 }));
        assert_eq!(cassette["trace"]["final_response"], "Perhaps.");
        let player = player(&cassette, PlayOptions::default());
        let three = answers(
            &player,
            &[request.clone(), request.clone(), request.clone()],
        )
        .await;
        assert_eq!(texts(&three), ["Yes.", "No.", "Perhaps."]);
        assert!(paths(&player).is_empty());
        let run = player.run(&options(&agent)).unwrap();
        let mut recorded = cassette["trace"].clone();
        for step in recorded["conversation"]["steps"].as_array_mut().unwrap() {
            step.as_object_mut().unwrap().remove("duration_ms");
        }
        assert_eq!(run["trace"], recorded);
        // One more than recorded is told, and one less.
        answers(&player, std::slice::from_ref(&request)).await;
        assert_eq!(paths(&player), ["model_calls[0]"]);
        let fewer = super::agent::player(&cassette, PlayOptions::default());
        answers(&fewer, &[request.clone(), request]).await;
        assert_eq!(paths(&fewer), ["model_calls[0]"]);
    }
}

#[tokio::test]
async fn votes_of_other_temperatures_are_told_apart_in_any_order() {
    let at = |temperature| {
        let agent = Agent {
            temperature,
            ..Agent::default()
        };
        agent.request(&agent.begin())
    };
    let agent = Agent::default();
    let mut wire = Wire::default();
    for (temperature, text) in [(0.0, "Yes."), (0.5, "No."), (1.0, "Perhaps.")] {
        wire.chat(&at(temperature), &says(text));
    }
    let cassette = wire.run(&options(&agent));
    let player = player(&cassette, PlayOptions::default());
    let three = answers(&player, &[at(1.0), at(0.0), at(0.5)]).await;
    assert_eq!(texts(&three), ["Perhaps.", "Yes.", "No."]);
    assert!(paths(&player).is_empty());
}

/// A client library that reads a whole answer which does not fit asks the same again.
#[tokio::test]
async fn an_answer_that_the_client_did_not_take_is_a_model_call_too() {
    let agent = Agent::default();
    let first = agent.begin();
    let second = [first.clone(), vec![calls("c1", 7), result("c1", 7)]].concat();
    let third = [second.clone(), vec![says("{\"ok\":true}"), user("Thanks.")]].concat();
    let [first, second, third] = [first, second, third].map(|talk| agent.request(&talk));
    let mut wire = Wire::default();
    wire.chat(&first, &calls("c1", 7));
    wire.chat(&second, &says("No JSON."));
    wire.chat(&second, &says("{\"ok\":true}"));
    wire.chat(&third, &says("Goodbye."));
    let run = RunOptions {
        turns: vec![agent.prompt.to_owned(), "Thanks.".to_owned()],
        ..options(&agent)
    };
    let cassette = wire.run(&run);
    let trace = &cassette["trace"];
    assert_eq!(trace["final_response"], "Goodbye.");
    assert_eq!(trace["conversation"]["tokens"]["total"], 56);
    assert_eq!(trace["conversation"]["steps"].as_array().unwrap().len(), 3);
    assert_eq!(trace["tool_calls"].as_array().unwrap().len(), 1);
    let notes = cassette["session"]["notes"].to_string();
    assert!(!notes.contains("past"), "{notes}");
    let one = player(&cassette, PlayOptions::default());
    let asked = [first.clone(), second.clone(), second.clone(), third.clone()];
    let said = answers(&one, &asked).await;
    assert_eq!(texts(&said[1..]), ["No JSON.", "{\"ok\":true}", "Goodbye."]);
    assert!(paths(&one).is_empty(), "{:?}", paths(&one));
    let played = one.run(&run).unwrap();
    assert_eq!(played["trace"]["tool_calls"], trace["tool_calls"]);
    assert_eq!(
        played["trace"]["conversation"]["turns"],
        trace["conversation"]["turns"]
    );
    // Code that takes the first answer does not ask again.
    let other = player(&cassette, PlayOptions::default());
    let taken = [
        agent.begin(),
        vec![
            calls("c1", 7),
            result("c1", 7),
            says("No JSON."),
            user("Thanks."),
        ],
    ];
    answers(&other, &[first, second]).await;
    let (status, _) = ask(&other, 2, PATH, None, &agent.request(&taken.concat())).await;
    assert_eq!(status, 400);
    let told = paths(&other);
    assert_eq!(
        told,
        ["model_calls[+0]", "model_calls[1]", "model_calls[2]"]
    );
}

/// Two sub-agents have the same task at the same time, and one more has it later.
#[tokio::test]
async fn sub_agents_with_one_task_are_told_apart_by_what_they_were_answered() {
    let agent = Agent::default();
    let sub = Agent {
        system: Some("You check."),
        prompt: "Check the orders.",
        ..Agent::default()
    };
    let main = agent.request(&agent.begin());
    let begin = sub.begin();
    let goes_on = |id: &str, order: u32| {
        let more = vec![calls(id, order), result(id, order)];
        sub.request(&[begin.clone(), more].concat())
    };
    let first = sub.request(&begin);
    // The first two are asked before either is answered on.
    let talk = [
        (&first, calls("a", 7)),
        (&first, calls("b", 8)),
        (&goes_on("b", 8), says("8 is fine.")),
        (&goes_on("a", 7), says("7 is fine.")),
        (&first, says("All is fine.")),
    ];
    let mut wire = Wire::default();
    wire.chat(&main, &says("Done."));
    for (request, answer) in &talk {
        wire.chat(request, answer);
    }
    let cassette = wire.run(&options(&agent));
    assert_eq!(cassette["trace"]["tool_calls"].as_array().unwrap().len(), 2);
    assert_eq!(cassette["trace"]["conversation"]["tokens"]["total"], 84);
    let player = player(&cassette, PlayOptions::default());
    let requests = talk.each_ref().map(|(request, _)| (*request).clone());
    answers(&player, &[main]).await;
    let said = answers(&player, &requests).await;
    for (said, (_, answer)) in said.iter().zip(&talk) {
        assert_eq!(said["content"], answer["content"]);
        assert_eq!(said.get("tool_calls"), answer.get("tool_calls"));
    }
    assert!(paths(&player).is_empty(), "{:?}", player.played());
}

#[tokio::test]
async fn sub_agents_whose_tasks_differ_in_what_a_mask_matches_are_told_apart() {
    let agent = Agent::default();
    let at = |time: &str| {
        let tasks = ["Find A.", "Find B."].map(|task| vec![user(&format!("It is {time}. {task}"))]);
        [agent.begin(), tasks[0].clone(), tasks[1].clone()].map(|talk| agent.request(&talk))
    };
    let mut wire = Wire::default();
    for (request, text) in at("10:00").iter().zip(["Begun.", "Found A.", "Found B."]) {
        wire.chat(request, &says(text));
    }
    let cassette = wire.run(&options(&agent));
    let mut options = PlayOptions::default();
    options.masks.push(Regex::new(r"\d\d:\d\d").unwrap());
    let player = player(&cassette, options);
    let [main, first, second] = at("11:30");
    // Sub-agents that run at once ask in any order.
    let said = answers(&player, &[main, second, first]).await;
    assert_eq!(texts(&said), ["Begun.", "Found B.", "Found A."]);
    assert_eq!(paths(&player), Vec::<String>::new());
}
