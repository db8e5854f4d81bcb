//! Which requests belong together.

use serde_json::json;

use super::{Outcome, Wire, calls, chat_answer, options, result, says, system, user};
use crate::protocol;

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
    let anew = [system("Help."), user(&format!("So far: {summary}"))];
    let mut summarised = Wire::default();
    summarised.chat(&json!(begin), &calls(&[("c1", 7)]));
    summarised.chat(&json!(asks), &says(summary));
    summarised.chat(&json!(anew), &says("Done."));

    for wire in [edited, summarised] {
        let run = wire.run(&options("Cancel 7."));
        assert_eq!(
            run.notes,
            ["the agent changed the past of its conversation (compaction)"]
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
        ["no conversation begins with the prompt: the first one is taken"]
    );
}

#[test]
fn results_without_identifiers_answer_calls_of_one_tool_in_order() {
    // Google's client for Python sends none, and the words of a stream as several messages.
    let path = "/v1beta/models/gemini-3:streamGenerateContent";
    let asked = json!({ "role": "user", "parts": [{ "text": "Cancel 7 and 8." }] });
    let call = |id: &str, order: u32| json!({ "functionCall": { "id": id, "name": "cancel", "args": { "order": order } } });
    let model = |part: serde_json::Value| json!({ "role": "model", "parts": [part] });
    let content = json!({ "role": "model", "parts": [{ "text": "One moment." }, call("a", 7), call("b", 8)] });
    let answered = json!({ "role": "user", "parts": [
        { "functionResponse": { "name": "cancel", "response": { "result": "cancelled" } } },
        { "functionResponse": { "name": "cancel", "response": { "error": "shipped" } } },
    ] });
    let answer = |content: &serde_json::Value| json!({ "candidates": [{ "content": content, "finishReason": "STOP" }] });
    let mut wire = Wire::default();
    wire.answered(path, &json!({ "contents": [asked] }), &answer(&content));
    let pieces = [
        asked,
        model(json!({ "text": "One " })),
        model(json!({ "text": "moment." })),
        model(call("a", 7)),
        model(call("b", 8)),
        answered,
    ];
    let done = model(json!({ "text": "Done." }));
    wire.answered(path, &json!({ "contents": pieces }), &answer(&done));
    let cassette = wire.run(&options("Cancel 7 and 8.")).cassette;
    let results = cassette["trace"]["tool_results"].as_array().unwrap();
    let results: Vec<_> = results
        .iter()
        .map(|it| (it["call_index"].as_u64().unwrap(), &it["result"]))
        .collect();
    assert_eq!(
        results,
        [
            (0, &json!({ "result": "cancelled" })),
            (1, &json!({ "error": "shipped" }))
        ]
    );
    assert_eq!(cassette["session"]["unknown"], json!(["is_error"]));
}

#[test]
fn a_thread_that_the_provider_holds_is_one_conversation() {
    let path = "/v1/messages";
    let tool = json!({ "name": "cancel", "description": "Cancels.", "input_schema": { "type": "object" } });
    let first = json!({ "model": "claude", "system": "Help.", "tools": [tool], "thread": { "type": "create" },
        "messages": [{ "role": "user", "content": "Cancel 7." }] });
    let call = json!({ "type": "tool_use", "id": "c1", "name": "cancel", "input": { "order": 7 } });
    let answer = |id: &str, block: serde_json::Value, reason: &str| {
        json!({ "type": "message", "id": id, "role": "assistant", "model": "claude", "content": [block],
            "stop_reason": reason, "usage": { "input_tokens": 10, "output_tokens": 4 } })
    };
    // The system prompt, the tools and the talk before are the thread's.
    let second = json!({ "model": "claude", "thread": { "type": "continue", "previous_message_id": "m1" },
        "messages": [{ "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "c1", "content": "shipped", "is_error": true },
        ] }] });
    let mut wire = Wire::default();
    wire.answered(path, &first, &answer("m1", call, "tool_use"));
    let says = json!({ "type": "text", "text": "It was shipped." });
    wire.answered(path, &second, &answer("m2", says, "end_turn"));
    let run = wire.run(&options("Cancel 7."));
    assert_eq!(run.notes, Vec::<String>::new());
    let cassette = run.cassette;
    assert_eq!(cassette["system_prompt"], "Help.");
    assert_eq!(cassette["tools"].as_array().unwrap().len(), 1);
    let trace = &cassette["trace"];
    assert_eq!(trace["tool_results"][0]["call_index"], 0);
    assert_eq!(trace["tool_results"][0]["is_error"], true);
    assert_eq!(trace["final_response"], "It was shipped.");
    assert_eq!(trace["conversation"]["tokens"]["total"], 28);
    assert_eq!(trace["conversation"]["stop_reason"], "completed");
    let conversations = cassette["session"]["conversations"].as_array().unwrap();
    assert_eq!(conversations.len(), 1);
}

#[test]
fn what_a_broken_stream_has_counted_is_not_what_it_took() {
    // `message_start` counts the prompt, and one token of the answer that is to come.
    let begin = json!({ "type": "message_start", "message": { "id": "m", "model": "claude", "content": [],
        "stop_reason": null, "usage": { "input_tokens": 10, "output_tokens": 1 } } });
    let block = json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "It is" } });
    let events = [begin, block].map(|event| protocol::sse::Event::data(event.to_string()));
    let (anthropic, _) = protocol::at("/v1/messages").unwrap();
    let said = anthropic
        .said(&anthropic.assembled(&events).body.unwrap())
        .unwrap();
    assert_eq!(said.tokens.unwrap().completion, 1);
    let request =
        json!({ "model": "claude", "messages": [{ "role": "user", "content": "Where is 7?" }] });
    let broken = Some("the connection broke off".to_owned());
    let mut wire = Wire::default();
    wire.asked("/v1/messages", &request, Outcome::Said { said, broken });
    let run = wire.run(&options("Where is 7?"));
    let conversation = &run.cassette["trace"]["conversation"];
    assert_eq!(conversation["stop_reason"], "error");
    assert_eq!(conversation.get("tokens"), None);
    assert_eq!(conversation.get("steps"), None);
    assert!(
        run.notes
            .contains(&"tokens for 0 of 1 model calls".to_owned())
    );
}

#[test]
fn calls_that_come_back_without_identifiers_are_no_changed_past() {
    // Google's client for LangChain leaves them out.
    let path = "/v1beta/models/gemini-3:generateContent";
    let asked = json!({ "role": "user", "parts": [{ "text": "Cancel 7 and 8." }] });
    let call = |id: Option<&str>, order: u32| {
        let mut call = json!({ "name": "cancel", "args": { "order": order } });
        if let Some(id) = id {
            call["id"] = id.into();
        }
        json!({ "functionCall": call })
    };
    let model = |ids: [Option<&str>; 2]| json!({ "role": "model", "parts": [call(ids[0], 7), call(ids[1], 8)] });
    let response = |text: &str| json!({ "functionResponse": { "name": "cancel", "response": { "output": text } } });
    let results = json!({ "role": "user", "parts": [response("cancelled"), response("shipped")] });
    let answer = |content: &serde_json::Value| json!({ "candidates": [{ "content": content, "finishReason": "STOP" }] });
    let mut wire = Wire::default();
    let first = model([Some("a"), Some("b")]);
    wire.answered(path, &json!({ "contents": [asked] }), &answer(&first));
    let talk = json!([asked, model([None, None]), results]);
    let done = json!({ "role": "model", "parts": [{ "text": "Done." }] });
    wire.answered(path, &json!({ "contents": talk }), &answer(&done));
    let run = wire.run(&options("Cancel 7 and 8."));
    assert_eq!(run.notes, ["tokens for 0 of 2 model calls"]);
    let results = run.cassette["trace"]["tool_results"].as_array().unwrap();
    let outputs: Vec<_> = results.iter().map(|it| &it["result"]["output"]).collect();
    assert_eq!(outputs, ["cancelled", "shipped"]);
    // Another call is another past.
    let other = json!({ "role": "model", "parts": [call(None, 7), call(None, 9)] });
    let changed =
        json!([asked, other, { "role": "user", "parts": [response("no"), response("no")] }]);
    wire.answered(path, &json!({ "contents": changed }), &answer(&done));
    let run = wire.run(&options("Cancel 7 and 8."));
    let told = "the agent changed the past of its conversation (compaction)".to_owned();
    assert!(run.notes.contains(&told), "{:?}", run.notes);
}

#[test]
fn a_tool_that_is_called_again_without_identifiers_is_no_changed_past() {
    let path = "/v1beta/models/gemini-3:generateContent";
    let call = |order: u32| {
        let call = json!({ "name": "find", "args": { "order": order } });
        json!({ "role": "model", "parts": [{ "functionCall": call }] })
    };
    let found = |text: &str| {
        let response = json!({ "name": "find", "response": { "output": text } });
        json!({ "role": "user", "parts": [{ "functionResponse": response }] })
    };
    let asked = json!({ "role": "user", "parts": [{ "text": "Find 7 and 8." }] });
    let answer = |content: &serde_json::Value| json!({ "candidates": [{ "content": content, "finishReason": "STOP" }] });
    let done = json!({ "role": "model", "parts": [{ "text": "Done." }] });
    let talk = [asked, call(7), found("seven"), call(8), found("eight")];
    let mut wire = Wire::default();
    for (length, said) in [(1, &talk[1]), (3, &talk[3]), (5, &done)] {
        let request = json!({ "contents": talk[..length] });
        wire.answered(path, &request, &answer(said));
    }
    let run = wire.run(&options("Find 7 and 8."));
    assert_eq!(run.notes, ["tokens for 0 of 3 model calls"]);
    let results = run.cassette["trace"]["tool_results"].as_array().unwrap();
    let outputs: Vec<_> = results
        .iter()
        .map(|it| (&it["call_index"], &it["result"]["output"]))
        .collect();
    assert_eq!(
        outputs,
        [(&json!(0), &json!("seven")), (&json!(1), &json!("eight"))]
    );
    // What stands here for an identifier is none, and no other call's either.
    let answers = &run.cassette["session"]["conversations"][0]["answers"];
    for step in [0, 1] {
        assert_eq!(answers[step]["call_ids"], json!([null]));
    }
}
