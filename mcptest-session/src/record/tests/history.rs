//! Talks that requests do not hold whole: without identifiers, held by the provider, or broken off.

use serde_json::json;

use super::{Outcome, Wire, options, user};
use crate::protocol;

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
        .parse_response(&anthropic.assembled(&events).body.unwrap())
        .unwrap();
    assert_eq!(said.tokens.unwrap().completion, 1);
    let request =
        json!({ "model": "claude", "messages": [{ "role": "user", "content": "Where is 7?" }] });
    let broken = Some("the connection broke off".to_owned());
    let mut wire = Wire::default();
    wire.request("/v1/messages", &request, Outcome::Answered { said, broken });
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
    let told = "the agent changed earlier messages of its conversation (compaction)".to_owned();
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

#[test]
fn a_talk_that_the_provider_holds_by_its_name_is_one_conversation() {
    let path = "/v1/responses";
    let request = |conversation: serde_json::Value, input: serde_json::Value| json!({ "model": "gpt-5", "instructions": "Help.", "conversation": conversation, "input": input });
    let call = json!({ "type": "function_call", "id": "f1", "call_id": "c1", "name": "cancel", "arguments": "{\"order\":7}" });
    let output = json!({ "type": "function_call_output", "call_id": "c1", "output": "done" });
    let says = json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Done." }] });
    let answer = |id: &str, item: &serde_json::Value| {
        json!({ "id": id, "object": "response", "model": "gpt-5", "status": "completed", "output": [item],
            "usage": { "input_tokens": 10, "output_tokens": 4 } })
    };
    let mut wire = Wire::default();
    let first = request(json!("conv_1"), json!([user("Cancel 7.")]));
    wire.answered(path, &first, &answer("r1", &call));
    // Another talk goes on beside it.
    let other = request(json!("conv_2"), json!([user("Write a title.")]));
    wire.answered(path, &other, &answer("r2", &says));
    let second = request(json!({ "id": "conv_1" }), json!([output]));
    wire.answered(path, &second, &answer("r3", &says));
    let run = wire.run(&options("Cancel 7."));
    let trace = &run.cassette["trace"];
    assert_eq!(trace["tool_results"][0]["call_index"], 0);
    assert_eq!(trace["final_response"], "Done.");
    assert_eq!(trace["conversation"]["stop_reason"], "completed");
    let conversations = run.cassette["session"]["conversations"].as_array().unwrap();
    let answers: Vec<usize> = conversations
        .iter()
        .map(|it| it["answers"].as_array().unwrap().len())
        .collect();
    assert_eq!(answers, [2, 1]);
}
