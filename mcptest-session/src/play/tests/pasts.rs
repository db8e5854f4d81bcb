//! A past that the agent wrote itself: as messages of the user, or as one text.

use mcptest_trace::eval::{DivergenceKind, PlaybackOptions};
use serde_json::{Value, json};

use super::agent::{Agent, ask, player};
use super::answers::{FORMATS, options};
use super::went_by::{Wire, calls, paths, says, user};
use crate::exchange::{ModelResponse, Part, Stop};
use crate::play::{PlayOptions, Player};

/// An agent whose requests each are one message with the past so far, and which is told these observations.
fn scratchpads(agent: &Agent, template: fn(&str) -> String, observed: &[&str]) -> Vec<Value> {
    let request = |pad: &str| {
        let text = template(pad);
        let mut talk = agent.begin();
        let message = talk.last_mut().unwrap();
        match agent.protocol {
            "gemini" => message["parts"][0]["text"] = text.into(),
            "bedrock_converse" => message["content"][0]["text"] = text.into(),
            _ => message["content"] = text.into(),
        }
        agent.request(&talk)
    };
    let mut pad = String::new();
    let mut requests = vec![request("")];
    for (thought, observation) in THOUGHTS.iter().zip(observed) {
        pad += &format!("{thought}\nObservation: {observation}\n");
        requests.push(request(&pad));
    }
    requests
}

const THOUGHTS: [&str; 2] = ["I look.\nAction: find 7", "I refund.\nAction: refund 7"];

/// The past comes last.
fn last(pad: &str) -> String {
    format!("Question: Cancel 7 and 8.\n{pad}")
}

/// The past stands between the question and what is asked for.
fn between(pad: &str) -> String {
    format!("[[ question ]]\nCancel 7 and 8.\n\n[[ trajectory ]]\n{pad}\n\nRespond with a thought.")
}

/// What is asked for says which step it is.
fn numbered(pad: &str) -> String {
    let step = pad.matches("Observation").count() + 1;
    format!("Question: Cancel 7 and 8.\n{pad}\nWhat next? Step {step}.")
}

fn recorded(agent: &Agent, requests: &[Value]) -> Value {
    let mut wire = Wire::default();
    let said = [THOUGHTS[0], THOUGHTS[1], "Final Answer: done"];
    for (request, said) in requests.iter().zip(said) {
        let said = ModelResponse {
            parts: vec![Part::Text(said.to_owned())],
            stop: Some(Stop::End),
            ..ModelResponse::default()
        };
        wire.answered(&agent.path().0, request, said);
    }
    wire.run(&options(agent))
}

fn compared(compared: PlaybackOptions) -> PlayOptions {
    PlayOptions::new(compared).unwrap()
}

fn masked(mask: &str) -> PlayOptions {
    let mut options = PlaybackOptions::suite_default();
    options.mask = vec![mask.to_owned()];
    compared(options)
}

async fn play_requests(cassette: &Value, options: PlayOptions, requests: &[Value]) -> Player {
    told_by(&Agent::default(), cassette, options, requests).await
}

async fn told_by(
    agent: &Agent,
    cassette: &Value,
    options: PlayOptions,
    requests: &[Value],
) -> Player {
    let player = player(cassette, options);
    let (path, query) = agent.path();
    for (number, request) in requests.iter().enumerate() {
        let (status, _) = ask(&player, number, &path, query.as_deref(), request).await;
        assert_eq!(status, 200);
    }
    player
}

/// An agent of each format, whole and streamed.
fn agents() -> impl Iterator<Item = Agent> {
    FORMATS.into_iter().flat_map(|protocol| {
        [false, true].map(|streamed| Agent {
            protocol,
            streamed,
            ..Agent::default()
        })
    })
}

#[tokio::test]
async fn an_agent_that_begins_anew_with_each_request_has_one_conversation() {
    for agent in agents() {
        for template in [last, between] {
            is_one_conversation(&agent, template).await;
        }
    }
}

async fn is_one_conversation(agent: &Agent, template: fn(&str) -> String) {
    let requests = scratchpads(agent, template, &["sent", "refunded"]);
    let cassette = recorded(agent, &requests);
    let trace = &cassette["trace"];
    assert_eq!(trace["conversation"]["steps"].as_array().unwrap().len(), 3);
    assert_eq!(trace["final_response"], "Final Answer: done");
    let conversations = cassette["session"]["conversations"].as_array().unwrap();
    assert_eq!(conversations.len(), 1, "{cassette:#}");
    let [note] = cassette["session"]["notes"].as_array().unwrap().as_slice() else {
        panic!("{cassette:#}");
    };
    let note = note.as_str().unwrap();
    assert!(
        note.contains("(scratchpad)") && note.contains("`closing: stdout`"),
        "{note}"
    );
    let player = told_by(agent, &cassette, PlayOptions::default(), &requests).await;
    assert!(paths(&player).is_empty(), "{:?}", paths(&player));
    let run = player.run(&options(agent)).unwrap();
    assert_eq!(
        run["trace"]["conversation"]["steps"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
}

#[tokio::test]
async fn a_changed_text_past_is_told_at_the_request_that_tells_it() {
    let agent = Agent::default();
    for template in [last, between] {
        let requests = scratchpads(&agent, template, &["sent", "refunded"]);
        let cassette = recorded(&agent, &requests);
        let changed = scratchpads(&agent, template, &["sent!", "refunded"]);
        let player = play_requests(&cassette, PlayOptions::default(), &changed).await;
        let found = player.played();
        let [one] = found.divergences.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!((one.call, one.path.as_str()), (2, "user_turns[past_0]"));
        let says = |value: &Option<Value>| value.as_ref().unwrap().as_str().unwrap().to_owned();
        assert!(says(&one.recorded).contains("Observation: sent\n"));
        assert!(says(&one.played).contains("Observation: sent!\n"));
        assert!(found.unasked.is_empty());
        // Masks narrow the comparison, and do not end it.
        let blank = masked("sent!?");
        assert!(paths(&play_requests(&cassette, blank.clone(), &changed).await).is_empty());
        let lost = scratchpads(&agent, template, &["sent!", "no such order"]);
        assert_eq!(
            paths(&play_requests(&cassette, blank, &lost).await),
            ["user_turns[past_0]"]
        );
    }
}

#[tokio::test]
async fn a_text_past_that_quotes_an_answer_otherwise_is_told_at_its_request() {
    let agent = Agent::default();
    for template in [last, between, numbered] {
        let requests = scratchpads(&agent, template, &["sent", "refunded"]);
        let cassette = recorded(&agent, &requests);
        let mut changed = requests.clone();
        for request in &mut changed[1..] {
            let content = &mut request["messages"][1]["content"];
            let text = content
                .as_str()
                .unwrap()
                .replace("I look.\nAction", "I see.\nAct");
            *content = text.replace("I refund.\nAction", "I pay.\nAct").into();
        }
        let player = play_requests(&cassette, PlayOptions::default(), &changed).await;
        let all = player.played();
        let found = all.divergences.iter();
        let found: Vec<_> = found.map(|one| (one.call, one.path.as_str())).collect();
        assert_eq!(found, [(2, "user_turns[past_0]")]);
        assert!(all.unasked.is_empty());
        // A client that sends a request again gets the same answer.
        changed.insert(2, changed[1].clone());
        let player = play_requests(&cassette, PlayOptions::default(), &changed).await;
        assert_eq!(paths(&player), ["user_turns[past_0]", "model_calls[1]"]);
    }
}

#[tokio::test]
async fn one_more_request_of_a_scratchpad_is_beyond_the_recording() {
    let agent = Agent::default();
    let requests = scratchpads(&agent, last, &["sent", "refunded"]);
    let cassette = recorded(&agent, &requests);
    let player = play_requests(&cassette, PlayOptions::default(), &requests).await;
    let mut next = requests.last().unwrap().clone();
    for number in 3..5 {
        let content = &mut next["messages"][1]["content"];
        *content = format!("{}Are you sure?\n", content.as_str().unwrap()).into();
        let (status, _) = ask(&player, number, &agent.path().0, None, &next).await;
        assert_eq!(status, 400);
    }
    assert_eq!(paths(&player), ["model_calls[+0]", "model_calls[+1]"]);
    let all = player.played();
    let [one, _] = all.divergences.as_slice() else {
        panic!("{all:?}");
    };
    assert_eq!(one.message, "the recording ends here after 3 model calls");
}

#[tokio::test]
async fn requests_that_an_older_recording_holds_apart_are_one_conversation() {
    let agent = Agent {
        tools: Vec::new(),
        ..Agent::default()
    };
    let requests = scratchpads(&agent, last, &["sent", "refunded"]);
    let mut cassette = recorded(&agent, &requests);
    // As a recorder wrote it that took the first request for one on the side, and kept a digest.
    let main = &mut cassette["session"]["conversations"][0];
    let mut all = main["answers"].as_array().unwrap().clone();
    let mut first = all.remove(0);
    first["parts"] = json!([{ "text": THOUGHTS[0] }]);
    all[0]["parameters"] = first["parameters"].clone();
    all[0].as_object_mut().unwrap().remove("past");
    for one in &mut all {
        one.as_object_mut().unwrap().remove("told");
    }
    all[1]["talk"] = all[1]["past"].clone();
    main["answers"] = all.into();
    let side = json!({ "role": "side", "opening": last(""), "system_prompt": "Help.", "answers": [first] });
    let conversations = cassette["session"]["conversations"].as_array_mut().unwrap();
    conversations.insert(0, side);
    let turns = cassette["trace"]["conversation"]["turns"]
        .as_array_mut()
        .unwrap();
    turns.remove(1);
    turns[0]["content"] = requests[1]["messages"][1]["content"].clone();
    let player = play_requests(&cassette, PlayOptions::default(), &requests).await;
    assert!(paths(&player).is_empty(), "{:?}", player.played());
    let changed = scratchpads(&agent, last, &["sent!", "refunded"]);
    let player = play_requests(&cassette, PlayOptions::default(), &changed).await;
    assert_eq!(
        paths(&player),
        ["user_turns[past_0]", "assistant_turns[past_2]"]
    );
    assert_eq!(player.played().divergences[0].call, 2);
}

/// An agent that tells calls and results as texts.
fn observations(agent: &Agent, observed: &[&str]) -> Vec<Value> {
    let mut talk = agent.begin();
    let mut requests = vec![agent.request(&talk)];
    for (step, observation) in observed.iter().enumerate() {
        talk.push(says(&format!("Calling tools: [c{step}]")));
        talk.push(user(&format!("Observation:\n{observation}")));
        requests.push(agent.request(&talk));
    }
    requests
}

fn observed(agent: &Agent, requests: &[Value]) -> Value {
    let mut wire = Wire::default();
    for (request, said) in requests
        .iter()
        .zip([calls("c0", 7), calls("c1", 8), says("Done.")])
    {
        wire.chat(request, &said);
    }
    wire.run(&options(agent))
}

#[tokio::test]
async fn results_that_are_told_as_messages_of_the_user_are_results() {
    // The prompt has the name of the tool.
    let agent = Agent {
        prompt: "Please cancel 7 and 8 by shop__cancel.",
        ..Agent::default()
    };
    let requests = observations(&agent, &["{\"cancelled\": 7}", "bank offline"]);
    let cassette = observed(&agent, &requests);
    let results = cassette["trace"]["tool_results"].as_array().unwrap();
    let text = |result: &Value| {
        result["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let shown: Vec<_> = results
        .iter()
        .map(|it| (it["call_index"].as_u64().unwrap(), text(it)))
        .collect();
    assert_eq!(
        shown,
        [
            (0, "{\"cancelled\": 7}".to_owned()),
            (1, "bank offline".to_owned())
        ]
    );
    assert_eq!(
        cassette["session"]["notes"],
        json!(["2 results told as messages of the user"])
    );
    assert_eq!(
        cassette["trace"]["conversation"]["turns"]
            .to_string()
            .matches("Observation")
            .count(),
        0
    );
    let player = play_requests(&cassette, PlayOptions::default(), &requests).await;
    assert!(paths(&player).is_empty(), "{:?}", player.played());
    let run = player.run(&options(&agent)).unwrap();
    // How long a recording takes to answer is not known.
    let mut recorded = cassette["trace"]["tool_results"].clone();
    for one in recorded.as_array_mut().unwrap() {
        one.as_object_mut().unwrap().remove("duration_ms");
    }
    assert_eq!(run["trace"]["tool_results"], recorded);
}

#[tokio::test]
async fn a_result_that_is_told_as_a_message_is_compared_whatever_is_masked_or_ignored() {
    let agent = Agent::default();
    let requests = observations(
        &agent,
        &["{\"cancelled\": 7, \"at\": 1}", "refunded on 2026-01-02"],
    );
    let cassette = observed(&agent, &requests);
    let failed = observations(&agent, &["{\"cancelled\": 7, \"at\": 1}", "payment failed"]);
    let dates = r"\d{4}-\d{2}-\d{2}";
    let ignoring = |ignore: &[DivergenceKind], paths: &[&str]| {
        let mut options = PlaybackOptions::suite_default();
        options.ignore = ignore.iter().copied().collect();
        options.ignore_paths = paths.iter().map(|path| path.parse().unwrap()).collect();
        compared(options)
    };
    for options in [
        PlayOptions::default(),
        masked(dates),
        ignoring(&[DivergenceKind::Parameters], &[]),
        ignoring(&[], &["tool_results[*].at"]),
    ] {
        let player = play_requests(&cassette, options, &failed).await;
        assert_eq!(paths(&player), ["tool_results[1]"]);
        let one = player.played().divergences[0].clone();
        assert_eq!(one.message, "the result of `cancel` differs");
        assert_eq!(one.place.as_deref(), Some("trace.tool_calls[1]"));
        assert_eq!(one.played, Some("Observation:\npayment failed".into()));
    }
    for options in [
        ignoring(&[DivergenceKind::ToolResults], &[]),
        ignoring(&[], &["tool_results[1]"]),
    ] {
        let player = play_requests(&cassette, options, &failed).await;
        assert!(paths(&player).is_empty());
    }
    // What is masked or ignored is no difference.
    let later = observations(
        &agent,
        &["{\"at\": 2, \"cancelled\": 7}", "refunded on 2026-03-04"],
    );
    let mut both = PlaybackOptions::suite_default();
    both.mask = vec![dates.to_owned()];
    both.ignore_paths = vec!["tool_results[*].at".parse().unwrap()];
    assert!(paths(&play_requests(&cassette, compared(both), &later).await).is_empty());
    assert_eq!(
        paths(&play_requests(&cassette, PlayOptions::default(), &later).await),
        ["tool_results[0]", "tool_results[1]"]
    );
}

#[tokio::test]
async fn an_older_recording_shows_what_its_digest_can() {
    let agent = Agent::default();
    let requests = observations(&agent, &["found", "refunded"]);
    let mut cassette = observed(&agent, &requests);
    let answers = cassette["session"]["conversations"][0]["answers"]
        .as_array_mut()
        .unwrap();
    for one in &mut answers[1..] {
        one["talk"] = one["past"].clone();
        one.as_object_mut().unwrap().remove("told");
    }
    let failed = observations(&agent, &["found", "payment failed"]);
    let on_a_day = observations(&agent, &["found", "payment failed on 2026-01-02"]);
    // Where a mask matches nothing, it is not what differs.
    let dates = r"\d{4}-\d{2}-\d{2}";
    for (options, changed, wanted) in [
        (
            PlayOptions::default(),
            &failed,
            &["assistant_turns[past_2]"][..],
        ),
        (masked(dates), &failed, &["assistant_turns[past_2]"]),
        (masked(dates), &on_a_day, &[]),
        (masked(dates), &requests, &[]),
    ] {
        assert_eq!(
            paths(&play_requests(&cassette, options, changed).await),
            wanted
        );
    }
}

#[tokio::test]
async fn one_message_may_tell_the_results_of_several_calls() {
    let agent = Agent::default();
    let both = |observed: &str| {
        let mut talk = agent.begin();
        let first = agent.request(&talk);
        talk.push(says("Calling tools: c0, c1"));
        talk.push(user(&format!("Observation:\n7 is cancelled\n{observed}")));
        [first, agent.request(&talk)]
    };
    let requests = both("8 is cancelled");
    let mut calling = calls("c0", 7);
    let more = calls("c1", 8)["tool_calls"][0].clone();
    calling["tool_calls"].as_array_mut().unwrap().push(more);
    let mut wire = Wire::default();
    wire.chat(&requests[0], &calling);
    wire.chat(&requests[1], &says("Both are cancelled."));
    let cassette = wire.run(&options(&agent));
    let results = cassette["trace"]["tool_results"].as_array().unwrap();
    let whole = "7 is cancelled\n8 is cancelled";
    assert!(
        results
            .iter()
            .map(|it| &it["result"]["content"][0]["text"])
            .eq([whole, whole])
    );
    assert!(paths(&play_requests(&cassette, PlayOptions::default(), &requests).await).is_empty());
    let failed = both("8 had shipped");
    assert_eq!(
        paths(&play_requests(&cassette, PlayOptions::default(), &failed).await),
        ["tool_results[0]"]
    );
    // Told twice, it is no turn of the user.
    let mut twice = requests.clone();
    let messages = twice[1]["messages"].as_array_mut().unwrap();
    messages.push(messages.last().unwrap().clone());
    let mut options = PlaybackOptions::suite_default();
    options.ignore.insert(DivergenceKind::UserTurns);
    let player = play_requests(&cassette, compared(options), &twice).await;
    assert_eq!(paths(&player), ["tool_results[0].again"]);
}

#[tokio::test]
async fn results_in_a_scratchpad_are_compared_where_the_words_of_the_user_are_ignored() {
    let agent = Agent::default();
    let ignoring = |ignore: &[DivergenceKind]| {
        let mut options = PlaybackOptions::suite_default();
        options.ignore.extend(ignore.iter().copied());
        compared(options)
    };
    for template in [last, between] {
        let requests = scratchpads(&agent, template, &["sent", "refunded"]);
        let cassette = recorded(&agent, &requests);
        let changed = scratchpads(&agent, template, &["sent", "declined"]);
        let user = || ignoring(&[DivergenceKind::UserTurns]);
        let player = play_requests(&cassette, user(), &requests).await;
        assert!(paths(&player).is_empty(), "{:?}", paths(&player));
        let player = play_requests(&cassette, user(), &changed).await;
        assert_eq!(paths(&player), ["tool_results[past_0]"]);
        let both = ignoring(&[DivergenceKind::UserTurns, DivergenceKind::ToolResults]);
        assert!(paths(&play_requests(&cassette, both, &changed).await).is_empty());
    }
}
