//! Which requests belong together.

use serde_json::json;

use super::{Wire, calls, chat_answer, options, result, says, system, user};

#[test]
fn calls_of_sub_agents_stand_among_those_of_the_agent_with_its_name() {
    let begin = [system("Help."), user("Cancel 7.")];
    let ask = json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": "t1", "type": "function",
        "function": { "name": "task", "arguments": "{\"subagent_type\":\"checker\",\"prompt\":\"Check order 7.\"}" } }] });
    let inner = [system("You check."), user("Check order 7.")];
    let inner_call = calls(&[("i1", 7)]);
    let mut wire = Wire::default();
    wire.chat(&json!(begin), &ask);
    wire.chat(&json!(inner), &inner_call);
    let more = [&inner[..], &[inner_call, result("i1", "ok")]].concat();
    wire.chat(&json!(more), &says("It may be cancelled."));
    let checked = [&begin[..], &[ask, result("t1", "It may be cancelled.")]].concat();
    let own_call = calls(&[("c1", 7)]);
    wire.chat(&json!(checked), &own_call);
    let done = [&checked[..], &[own_call, result("c1", "done")]].concat();
    wire.chat(&json!(done), &says("Done."));
    let cassette = wire.run(&options("Cancel 7.")).cassette;
    let trace = &cassette["trace"];
    let calls = trace["tool_calls"].as_array().unwrap();
    let shown: Vec<_> = calls
        .iter()
        .map(|call| {
            (
                call["name"].as_str().unwrap(),
                call["agent_id"].as_str(),
                call["step"].as_u64(),
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("task", None, Some(0)),
            ("cancel", Some("checker"), None),
            ("cancel", None, Some(1))
        ]
    );
    let results = trace["tool_results"].as_array().unwrap();
    let answered: Vec<_> = results
        .iter()
        .map(|it| it["call_index"].as_u64().unwrap())
        .collect();
    assert_eq!(answered, [1, 0, 2]);
    // Its words and its model calls are not the agent's; what it took is in the total.
    assert_eq!(trace["conversation"]["tokens"], json!({ "total": 70 }));
    assert_eq!(trace["conversation"]["steps"].as_array().unwrap().len(), 3);
    assert!(
        !trace["conversation"]["turns"]
            .to_string()
            .contains("may be")
    );
    let conversations = cassette["session"]["conversations"].as_array().unwrap();
    assert_eq!(conversations[1]["name"], "checker");
    assert_eq!(
        conversations[1]["answers"][1]["parts"],
        json!([{ "text": "It may be cancelled." }])
    );
}

#[test]
fn titles_are_kept_for_playing_and_are_no_part_of_the_run() {
    let title =
        json!({ "model": "gpt-5-mini", "messages": [system("Write a title."), user("Cancel 7.")] });
    let mut wire = Wire::default();
    wire.answered(
        "/v1/chat/completions",
        &title,
        &chat_answer(&says("Cancelling")),
    );
    wire.chat(&json!([system("Help."), user("Cancel 7.")]), &says("Done."));
    let cassette = wire.run(&options("Cancel 7.")).cassette;
    assert_eq!(cassette["system_prompt"], "Help.");
    assert_eq!(cassette["model"], "gpt-5");
    assert!(!cassette["trace"].to_string().contains("Cancelling"));
    let side = &cassette["session"]["conversations"][0];
    assert_eq!(
        (&side["role"], &side["opening"]),
        (&json!("side"), &json!("Cancel 7."))
    );
    assert_eq!(
        side["answers"][0]["parts"],
        json!([{ "text": "Cancelling" }])
    );
}

#[test]
fn a_compaction_goes_on_with_its_conversation_and_the_run_says_so() {
    let summary = "The user wants order 7 cancelled; it was found and is not shipped yet.";
    let begin = [system("Help."), user("Cancel 7.")];
    let first = calls(&[("c1", 7)]);
    let found = [&begin[..], &[first.clone(), result("c1", "found")]].concat();
    let second = calls(&[("c2", 7)]);
    // The past is cleared away, and the last call is still there.
    let cleared = [
        &begin[..],
        &[
            first,
            result("c1", "[cleared]"),
            second.clone(),
            result("c2", "done"),
        ],
    ]
    .concat();
    let mut edited = Wire::default();
    edited.chat(&json!(begin), &calls(&[("c1", 7)]));
    edited.chat(&json!(found), &second);
    edited.chat(&json!(cleared), &says("Done."));

    // A summary takes the place of all that was said.
    let asks = [&found[..], &[user("Summarise.")]].concat();
    let again = [system("Help."), user(&format!("So far: {summary}"))];
    let mut summarised = Wire::default();
    summarised.chat(&json!(begin), &calls(&[("c1", 7)]));
    summarised.chat(&json!(asks), &says(summary));
    summarised.chat(&json!(again), &says("Done."));

    for wire in [edited, summarised] {
        let run = wire.run(&options("Cancel 7."));
        assert_eq!(
            run.notes,
            ["the agent changed earlier messages of its conversation (compaction)"]
        );
        assert_eq!(run.cassette["session"]["notes"], json!(run.notes));
        assert_eq!(
            run.cassette["session"]["conversations"]
                .as_array()
                .unwrap()
                .len(),
            1
        );
        assert_eq!(run.cassette["trace"]["final_response"], "Done.");
        assert_eq!(
            run.cassette["trace"]["conversation"]["steps"]
                .as_array()
                .unwrap()
                .len(),
            3
        );
    }
}

#[test]
fn an_answer_that_is_left_out_and_asked_for_otherwise_is_a_retry() {
    let begin = [system("Help."), user("Cancel 7.")];
    let first = calls(&[("c1", 7)]);
    let found = [&begin[..], &[first.clone(), result("c1", "found")]].concat();
    let hint = [&found[..], &[user("Answer in JSON.")]].concat();
    let mut wire = Wire::default();
    wire.chat(&json!(begin), &first);
    wire.chat(&json!(found), &says("It was cancelled."));
    wire.chat(&json!(hint), &says("{}"));
    let run = wire.run(&options("Cancel 7."));
    assert_eq!(
        run.notes,
        ["the agent changed its last answer, or left it out and asked once more (retry)"]
    );
    assert_eq!(run.cassette["trace"]["final_response"], "{}");
}

#[test]
fn a_hand_over_with_another_system_prompt_is_the_same_conversation() {
    let hand_over = calls(&[("h1", 0)]);
    let mut wire = Wire::default();
    wire.chat(&json!([system("Triage."), user("Cancel 7.")]), &hand_over);
    let more = [
        system("Refunds."),
        user("Cancel 7."),
        hand_over,
        result("h1", "{}"),
    ];
    wire.chat(&json!(more), &says("Done."));
    let run = wire.run(&options("Cancel 7."));
    assert_eq!(run.notes, ["2 system prompts; the first one is kept"]);
    assert_eq!(run.cassette["system_prompt"], "Triage.");
    assert_eq!(run.cassette["trace"]["final_response"], "Done.");
}

#[test]
fn an_answer_that_comes_back_in_pieces_is_the_same_answer() {
    let message = json!({ "role": "assistant", "content": "Wait.", "tool_calls": calls(&[("c1", 7)])["tool_calls"] });
    let mut wire = Wire::default();
    wire.chat(&json!([user("Cancel 7.")]), &message);
    let pieces = [
        user("Cancel 7."),
        says("Wait."),
        calls(&[("c1", 7)]),
        result("c1", "done"),
    ];
    wire.chat(&json!(pieces), &says("Done."));
    let run = wire.run(&options("Cancel 7."));
    assert!(run.notes.is_empty(), "{:?}", run.notes);
    assert_eq!(
        run.cassette["trace"]["conversation"]["turns"]
            .as_array()
            .unwrap()
            .len(),
        4
    );
    assert_eq!(
        run.cassette["trace"]["tool_results"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn a_prompt_that_the_agent_wraps_is_found() {
    let mut wire = Wire::default();
    wire.chat(&json!([user("Something else.")]), &says("No."));
    wire.chat(&json!([user("<task>Cancel 7.</task>")]), &says("Done."));
    let run = wire.run(&options("Cancel 7."));
    assert_eq!(run.cassette["user_prompt"], "Cancel 7.");
    assert_eq!(run.cassette["trace"]["final_response"], "Done.");
    assert!(run.notes.is_empty());
    let other = wire.run(&options("Cancel 9."));
    assert_eq!(
        other.notes,
        ["no conversation begins with the prompt: the first conversation is used"]
    );
}

#[test]
fn several_conversations_that_begin_with_the_prompt_are_told_of() {
    let mut wire = Wire::default();
    wire.chat(&json!([user("Task: Cancel 7.")]), &says("I look."));
    wire.chat(&json!([user("Cancel 7. It is known.")]), &says("Done."));
    let run = wire.run(&options("Cancel 7."));
    assert_eq!(run.notes.len(), 1, "{:?}", run.notes);
    assert!(
        run.notes[0].starts_with("2 conversations begin with the suite's prompt"),
        "{:?}",
        run.notes
    );
    let mut wire = Wire::default();
    wire.chat(&json!([user("Task: Cancel 7.")]), &says("I look."));
    wire.chat(
        &json!([system("Judge."), user("Cancel 7. It is known.")]),
        &says("Done."),
    );
    let run = wire.run(&options("Cancel 7."));
    assert!(run.notes.is_empty(), "{:?}", run.notes);
}

#[test]
fn an_answer_of_blanks_is_no_summary_of_what_was_said() {
    let mut wire = Wire::default();
    wire.chat(
        &json!([system("Help."), user("Cancel 7.")]),
        &says(&" ".repeat(50)),
    );
    wire.chat(
        &json!([system("Help."), user("Write a title.")]),
        &says("Cancelling"),
    );
    let run = wire.run(&options("Cancel 7."));
    let conversations = run.cassette["session"]["conversations"].as_array().unwrap();
    assert_eq!(conversations.len(), 2);
    assert!(run.notes.is_empty(), "{:?}", run.notes);
}

#[test]
fn a_client_that_leaves_out_the_text_beside_a_call_changes_no_answer() {
    let mut says_and_calls = calls(&[("c1", 7)]);
    says_and_calls["content"] = "I cancel it.".into();
    let begin = [system("Help."), user("Cancel 7.")];
    let mut wire = Wire::default();
    wire.chat(&json!(begin), &says_and_calls);
    let done = [&begin[..], &[calls(&[("c1", 7)]), result("c1", "done")]].concat();
    wire.chat(&json!(done), &says("Done."));
    let cassette = wire.run(&options("Cancel 7.")).cassette;
    assert!(cassette["session"]["notes"].is_null(), "{cassette:#}");
    let answers = &cassette["session"]["conversations"][0]["answers"];
    assert_eq!(
        (&answers[0]["bare"], &answers[1]["past"]),
        (&json!(true), &json!(null))
    );
    assert_eq!(
        cassette["trace"]["tool_results"].as_array().unwrap().len(),
        1
    );
    let turns = cassette["trace"]["conversation"]["turns"].to_string();
    assert!(turns.contains("I cancel it."), "{turns}");
}
