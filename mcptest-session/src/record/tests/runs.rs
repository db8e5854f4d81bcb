//! What a run holds.

use mcptest_trace::trace::{Origin, parse_run};
use serde_json::{Value, json};

use super::super::observed::Outcome;
use super::super::{RecordedRun, RunError, RunOptions};
use super::{Wire, calls, chat_answer, chat_request, options, result, says, system, user};
use crate::exchange::{ModelResponse, Part};
use crate::protocol;

#[test]
fn a_chat_with_parallel_calls_is_a_run() {
    let begin = [system("Help."), user("Cancel 7 and 8.")];
    let both = calls(&[("c1", 7), ("c2", 8)]);
    let mut wire = Wire::default();
    wire.chat(&json!(begin), &both);
    let failed = json!({ "content": [{ "type": "text", "text": "shipped" }], "isError": true });
    let more = [
        &begin[..],
        &[
            both,
            result("c1", "cancelled"),
            result("c2", &failed.to_string()),
        ],
    ]
    .concat();
    wire.chat(&json!(more), &says("7 is cancelled; 8 had shipped."));
    let run = wire.run(&options("Cancel 7 and 8."));
    assert_eq!(
        run.cassette,
        json!({
            "schema_version": "v1", "agent_name": "Order desk", "model": "gpt-5",
            "system_prompt": "Help.", "user_prompt": "Cancel 7 and 8.",
            "tools": [{ "name": "cancel", "server": "shop", "description": "Cancels.", "input_schema": { "type": "object" } }],
            "trace": {
                "tool_calls": [
                    { "name": "cancel", "server": "shop", "args": { "order": 7 }, "step": 0, "hop_index": 0 },
                    { "name": "cancel", "server": "shop", "args": { "order": 8 }, "step": 0, "hop_index": 1 },
                ],
                "tool_results": [
                    { "call_index": 0, "server": "shop", "result": { "content": [{ "type": "text", "text": "cancelled" }] } },
                    { "call_index": 1, "server": "shop", "is_error": true, "result": failed },
                ],
                "final_response": "7 is cancelled; 8 had shipped.",
                "conversation": {
                    "message_count": 5, "stop_reason": "completed",
                    "tokens": { "prompt": 20, "completion": 8, "total": 28 },
                    "steps": [
                        { "prompt": 10, "completion": 4, "cached": 6, "duration_ms": 5, "model": "gpt-5-2025-08-07" },
                        { "prompt": 10, "completion": 4, "cached": 6, "duration_ms": 5, "model": "gpt-5-2025-08-07" },
                    ],
                    "turns": [
                        { "role": "user", "content": "Cancel 7 and 8." },
                        { "role": "assistant", "content": "tool_use shop::cancel with {\"order\":7}" },
                        { "role": "assistant", "content": "tool_use shop::cancel with {\"order\":8}" },
                        { "role": "assistant", "content": "7 is cancelled; 8 had shipped." },
                    ],
                },
            },
            "session": {
                "version": "1.2", "unknown": ["is_error"],
                "conversations": [{ "role": "main", "answers": [
                    { "protocol": "openai_chat", "asked": "gpt-5", "id": "c", "model": "gpt-5-2025-08-07", "stop": "calls", "call_ids": ["c1", "c2"] },
                    { "protocol": "openai_chat", "asked": "gpt-5", "id": "c", "model": "gpt-5-2025-08-07", "stop": "end" },
                ] }],
            },
        })
    );
    // Whoever reads cassettes finds nothing wrong.
    let text = run.cassette.to_string();
    parse_run(text.as_bytes(), &Origin::file("run.json")).unwrap();
}

#[test]
fn messages_tell_errors_and_thinking_is_kept_for_playing() {
    let thinking = json!({ "type": "thinking", "thinking": "Hm.", "signature": "c2ln" });
    let call = json!({ "type": "tool_use", "id": "t1", "name": "mcp__shop__cancel", "input": { "order": 7 } });
    let request = |messages: Value| json!({ "model": "claude", "max_tokens": 100, "system": "Help.", "messages": messages });
    let begin = user("Cancel 7.");
    let answer = json!([thinking, call]);
    let mut wire = Wire::default();
    let usage = json!({ "input_tokens": 4, "cache_read_input_tokens": 900, "output_tokens": 9 });
    wire.answered(
        "/v1/messages",
        &request(json!([begin])),
        &json!({ "id": "m1", "content": answer, "stop_reason": "tool_use", "usage": usage }),
    );
    let failed = json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": "shipped" }] });
    wire.answered(
        "/v1/messages",
        &request(json!([begin, { "role": "assistant", "content": answer }, failed])),
        &json!({ "id": "m2", "content": [{ "type": "text", "text": "No." }], "stop_reason": "end_turn", "usage": usage }),
    );
    let cassette = wire.run(&options("Cancel 7.")).cassette;
    let result = &cassette["trace"]["tool_results"][0];
    assert_eq!(
        (&result["is_error"], &result["duration_ms"]),
        (&json!(true), &json!(5))
    );
    assert_eq!(cassette["trace"]["tool_calls"][0]["server"], "shop");
    assert_eq!(cassette["max_tokens"], 100);
    let steps = &cassette["trace"]["conversation"]["steps"];
    assert_eq!(
        (&steps[0]["prompt"], &steps[0]["cached"]),
        (&json!(904), &json!(900))
    );
    let answers = &cassette["session"]["conversations"][0]["answers"];
    assert_eq!(answers[0]["parts"][0]["opaque"]["value"], thinking);
    assert!(answers[1].get("parts").is_none());
    assert!(cassette["session"].get("unknown").is_none());
}

#[test]
fn a_response_goes_on_with_the_one_before_it() {
    let call = json!({ "type": "function_call", "id": "fc_1", "call_id": "c1", "name": "shop__cancel", "arguments": "{\"order\":7}" });
    let reasoning = json!({ "type": "reasoning", "id": "rs_1", "encrypted_content": "gAAAA" });
    let wait = json!({ "type": "message", "id": "msg_0", "role": "assistant", "content": [{ "type": "output_text", "text": "Wait." }] });
    let done = json!({ "type": "function_call_output", "call_id": "c1", "output": "done" });
    let said = json!({ "type": "message", "id": "msg_1", "content": [{ "type": "output_text", "text": "Done." }] });
    let by_id = json!({ "model": "gpt-5", "previous_response_id": "r1", "input": [done] });
    let references =
        ["rs_1", "msg_0", "fc_1"].map(|id| json!({ "type": "item_reference", "id": id }));
    let by_items = json!({ "model": "gpt-5", "input": [user("Cancel 7."), references[0], references[1], references[2], done] });
    // The AI SDK names what is stored, and sends calls again.
    let mixed = json!({ "model": "gpt-5", "input": [user("Cancel 7."), references[0], references[1], call, done] });
    let words_again =
        json!({ "model": "gpt-5", "input": [user("Cancel 7."), references[0], wait, call, done] });
    for second in [by_id, by_items, mixed, words_again] {
        let mut wire = Wire::default();
        wire.answered(
            "/v1/responses",
            &json!({ "model": "gpt-5", "input": "Cancel 7." }),
            &json!({ "id": "r1", "status": "completed", "output": [reasoning, wait, call] }),
        );
        let last = json!({ "id": "r2", "status": "completed", "output": [said] });
        wire.answered("/v1/responses", &second, &last);
        let cassette = wire.run(&options("Cancel 7.")).cassette;
        let trace = &cassette["trace"];
        assert_eq!(
            trace["tool_results"][0]["result"]["content"][0]["text"], "done",
            "{second}"
        );
        assert_eq!(trace["final_response"], "Done.");
        // No answer told its tokens: they are not zero.
        assert!(trace["conversation"].get("tokens").is_none());
        assert!(trace["conversation"].get("steps").is_none());
        assert_eq!(
            cassette["session"]["conversations"]
                .as_array()
                .unwrap()
                .len(),
            1
        );
        let answers = &cassette["session"]["conversations"][0]["answers"];
        assert_eq!(
            answers[0]["items"],
            json!([{ "id": "rs_1", "parts": 1 }, { "id": "msg_0", "parts": 1 }, { "id": "fc_1", "parts": 1 }])
        );
        let turns = trace["conversation"]["turns"].as_array().unwrap();
        assert_eq!(turns.len(), 4, "{second}");
        assert!(
            cassette["session"]
                .get("notes")
                .is_none_or(|notes| !notes.to_string().contains("past")),
            "{second}"
        );
    }
}

#[test]
fn user_turns_are_told_apart() {
    let one = [user("Cancel 7."), says("Sure?")];
    let two = [&one[..], &[user("Yes.")]].concat();
    let call = calls(&[("c1", 7)]);
    let three = [&two[..], &[call.clone(), result("c1", "done")]].concat();
    let mut wire = Wire::default();
    wire.chat(&json!([one[0]]), &one[1]);
    wire.chat(&json!(two), &call);
    wire.chat(&json!(three), &says("Done."));
    let cassette = wire.run(&options("Cancel 7.")).cassette;
    assert_eq!(
        cassette["trace"]["conversation"]["per_turn"],
        json!([{ "calls": [0, 0], "response": "Sure?" }, { "calls": [0, 1], "response": "Done." }])
    );
    assert_eq!(cassette["trace"]["tool_calls"][0]["step"], 1);
}

#[test]
fn only_the_answer_that_the_client_went_on_with_is_kept() {
    let begin = json!([user("Cancel 7.")]);
    let request = chat_request(&begin);
    let path = "/v1/chat/completions";
    let failed = |status| Outcome::Failed {
        status,
        message: "slow down".to_owned(),
    };
    let half = Outcome::Answered {
        said: ModelResponse {
            parts: vec![Part::Text("Hal".to_owned())],
            ..ModelResponse::default()
        },
        broken: Some("it broke off".to_owned()),
    };
    let mut wire = Wire::default();
    wire.request(path, &request, failed(429));
    wire.request(path, &request, Outcome::Lost("reset".to_owned()));
    wire.request(path, &request, half.clone());
    wire.chat(&begin, &says("Another answer."));
    wire.chat(&begin, &says("Half or whole?"));
    let more = json!([user("Cancel 7."), says("Half or whole?"), user("Whole.")]);
    wire.chat(&more, &says("Done."));
    let cassette = wire.run(&options("Cancel 7.")).cassette;
    // Two whole answers are two model calls, and the tokens of both count.
    assert_eq!(cassette["session"]["retries"], 3);
    assert_eq!(
        cassette["trace"]["conversation"]["tokens"],
        json!({ "total": 42 })
    );
    let turns = cassette["trace"]["conversation"]["turns"]
        .as_array()
        .unwrap();
    assert_eq!(turns.len(), 4, "{turns:?}");
    assert_eq!(
        cassette["trace"]["conversation"]["stop_reason"],
        "completed"
    );

    // What nobody asked again ends the run, and what was said till then is kept.
    let mut broken = Wire::default();
    broken.request(path, &request, half);
    let run = broken.run(&options("Cancel 7."));
    assert_eq!(
        run.cassette["trace"]["conversation"]["stop_reason"],
        "error"
    );
    assert_eq!(run.cassette["trace"]["final_response"], "Hal");
    assert_eq!(
        run.notes,
        [
            "tokens for 0 of 1 model calls",
            "the last answer is incomplete: it broke off",
        ]
    );

    // What a request tells is known, also where it came to nothing.
    let mut refused = Wire::default();
    refused.chat(&begin, &calls(&[("c1", 7)]));
    let more = json!([user("Cancel 7."), calls(&[("c1", 7)]), result("c1", "done")]);
    refused.request(path, &chat_request(&more), failed(500));
    let run = refused.run(&options("Cancel 7."));
    let result = &run.cassette["trace"]["tool_results"][0]["result"];
    assert_eq!(result["content"][0]["text"], "done");
    let steps = &run.cassette["trace"]["conversation"]["steps"];
    assert_eq!(steps.as_array().unwrap().len(), 1);
    assert_eq!(
        run.notes,
        ["the last request got no answer: the provider answered 500: slow down"]
    );
    assert_eq!(
        run.cassette["trace"]["conversation"]["stop_reason"],
        "error"
    );
}

#[test]
fn a_run_that_is_not_known_is_an_error() {
    let of = |wire: &Wire| {
        RecordedRun::from_observed(&wire.observed, &options("Cancel 7.")).unwrap_err()
    };
    let mut wire = Wire::default();
    assert_eq!(of(&wire), RunError::NothingAsked(Vec::new()));
    let other = |body: &str| Outcome::Other {
        status: 200,
        media_type: None,
        body: body.as_bytes().to_vec(),
    };
    wire.request("/openai/v1/completions", &json!({}), other("{}"));
    let text = of(&wire).to_string();
    assert!(
        text.ends_with("; it sent 1 request of unknown kinds, such as `/openai/v1/completions`"),
        "{text}"
    );
    let request = chat_request(&json!([user("Cancel 7.")]));
    let path = "/v1/chat/completions";
    let message = "no such key".to_owned();
    wire.request(
        path,
        &request,
        Outcome::Failed {
            status: 401,
            message,
        },
    );
    assert_eq!(
        of(&wire).to_string(),
        "the agent got no answer of a model: the provider answered 401: no such key"
    );
    wire.request(
        path,
        &request,
        Outcome::Unreadable("it is compressed as `x`".to_owned()),
    );
    assert_eq!(
        of(&wire).to_string(),
        "the run cannot be read, because 1 of its model calls cannot be read: it is compressed as `x`"
    );
}

#[test]
fn what_asks_no_model_is_kept_under_the_digest_of_its_request() {
    let mut wire = Wire::default();
    wire.chat(&json!([user("Cancel 7.")]), &says("Done."));
    for body in [b"{\"data\":[]}".to_vec(), vec![0xff, 0]] {
        let media_type = Some("application/json".to_owned());
        let outcome = Outcome::Other {
            status: 200,
            media_type,
            body,
        };
        wire.request("/openai/v1/models", &json!({}), outcome);
    }
    let cassette = wire.run(&options("Cancel 7.")).cassette;
    let others = &cassette["session"]["others"];
    assert_eq!(others[0]["body"], "{\"data\":[]}");
    assert_eq!(others[0]["digest"], wire.observed[1].digest);
    assert_eq!(others[1]["body_base64"], "/wA=");
}

#[test]
fn a_client_that_asks_on_before_the_end_is_seen_loses_nothing() {
    let begin = [user("Cancel 7.")];
    let call = calls(&[("c1", 7)]);
    let mut wire = Wire::default();
    wire.chat(&json!(begin), &call);
    let more = [&begin[..], &[call, result("c1", "done")]].concat();
    wire.chat(&json!(more), &says("Done."));
    wire.observed[0].ended_at = Some(12);
    let trace = wire.run(&options("Cancel 7.")).cassette["trace"].clone();
    assert_eq!(trace["tool_results"][0]["duration_ms"], 0);
    assert_eq!(trace["final_response"], "Done.");
}

#[test]
fn a_closing_of_the_program_is_the_final_response() {
    let mut wire = Wire::default();
    wire.chat(&json!([user("Cancel 7.")]), &says("Done."));
    let mut options = options("Cancel 7.");
    options.closing = Some("Order 7: cancelled\n".to_owned());
    options.stopped = Some("time_budget".to_owned());
    let trace = wire.run(&options).cassette["trace"].clone();
    assert_eq!(trace["final_response"], "Order 7: cancelled");
    assert_eq!(trace["conversation"]["stop_reason"], "time_budget");
    assert_eq!(trace["conversation"]["turns"].as_array().unwrap().len(), 3);
    // What it did not print the user did not read.
    options.closing = Some("\n".to_owned());
    assert_eq!(
        wire.run(&options).cassette["trace"].get("final_response"),
        None
    );
}

#[test]
fn every_format_makes_the_same_run() {
    let chat = chat_answer(&calls(&[("c1", 7)]));
    let said = protocol::named("openai_chat")
        .unwrap()
        .parse_response(&chat)
        .unwrap();
    let answer = |name: &str| protocol::named(name).unwrap().answer(&said);
    let end = |name: &str| {
        let said = ModelResponse {
            parts: vec![Part::Text("Done.".to_owned())],
            ..said.clone()
        };
        protocol::named(name).unwrap().answer(&said)
    };
    let gemini = |contents: Value| json!({ "contents": contents });
    let parts = |role: &str, part: Value| json!({ "role": role, "parts": [part] });
    let ask = parts("user", json!({ "text": "Cancel 7." }));
    let anthropic = answer("anthropic_messages");
    let of_responses = answer("openai_responses");
    let called = answer("gemini")["candidates"][0]["content"].clone();
    let by_name = json!({ "role": "tool", "tool_name": "shop__cancel", "content": "done" });
    let runs = [
        (
            "/api/chat",
            json!({ "messages": [user("Cancel 7.")] }),
            json!({ "messages": [user("Cancel 7."), answer("ollama")["message"], by_name] }),
        ),
        (
            "/v1/messages",
            json!({ "messages": [user("Cancel 7.")] }),
            json!({ "messages": [user("Cancel 7."), { "role": "assistant", "content": anthropic["content"] },
                { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c1", "content": "done" }] }] }),
        ),
        (
            "/v1/responses",
            json!({ "input": [user("Cancel 7.")] }),
            json!({ "input": [user("Cancel 7."), of_responses["output"][0], { "type": "function_call_output", "call_id": "c1", "output": "done" }] }),
        ),
        (
            "/v1beta/models/g:generateContent",
            gemini(json!([ask])),
            gemini(json!([
                ask,
                called,
                parts(
                    "user",
                    json!({ "functionResponse": { "id": "c1", "name": "shop__cancel", "response": { "content": [{ "type": "text", "text": "done" }] } } })
                )
            ])),
        ),
    ];
    let mut chat_wire = Wire::default();
    chat_wire.chat(&json!([user("Cancel 7.")]), &calls(&[("c1", 7)]));
    let second = json!([user("Cancel 7."), calls(&[("c1", 7)]), result("c1", "done")]);
    chat_wire.chat(&second, &says("Done."));
    let expected = chat_wire.run(&options("Cancel 7.")).cassette;
    for (path, first, second) in runs {
        let (protocol, _) = protocol::at(path).unwrap();
        let mut wire = Wire::default();
        wire.answered(path, &first, &answer(protocol.name()));
        wire.answered(path, &second, &end(protocol.name()));
        let cassette = wire.run(&options("Cancel 7.")).cassette;
        for key in ["tool_calls", "final_response"] {
            assert_eq!(cassette["trace"][key], expected["trace"][key], "{path}");
        }
        let result = |cassette: &Value| cassette["trace"]["tool_results"][0]["result"].clone();
        assert_eq!(result(&cassette), result(&expected), "{path}");
        let turns = |cassette: &Value| cassette["trace"]["conversation"]["turns"].clone();
        assert_eq!(turns(&cassette), turns(&expected), "{path}");
    }
}

#[test]
fn a_model_call_names_the_model_that_answered_where_it_is_not_the_runs() {
    let mut wire = Wire::default();
    let asked = |model: &str, messages: Value| json!({ "model": model, "messages": messages });
    let mini = |message: &Value| {
        let mut answer = chat_answer(message);
        answer["model"] = "gpt-5-mini".into();
        answer
    };
    let path = "/v1/chat/completions";
    let first = json!([user("Cancel 7.")]);
    let second = json!([user("Cancel 7."), calls(&[("c1", 7)]), result("c1", "done")]);
    // What was asked for is what answered, and is not what the run is recorded as.
    let mut plain = chat_answer(&calls(&[("c1", 7)]));
    plain["model"] = "gpt-5".into();
    wire.answered(path, &asked("gpt-5", first), &plain);
    wire.answered(path, &asked("gpt-5-mini", second), &mini(&says("Done.")));
    let options = RunOptions {
        recorded_on: Some("0123456789abcdef".to_owned()),
        ..options("Cancel 7.")
    };
    let cassette = wire.run(&options).cassette;
    let steps = cassette["trace"]["conversation"]["steps"]
        .as_array()
        .unwrap();
    let models: Vec<&Value> = steps.iter().map(|step| &step["model"]).collect();
    assert_eq!(models, [&Value::Null, &json!("gpt-5-mini")]);
    assert_eq!(cassette["recorded_on"], "0123456789abcdef");
}

#[test]
fn a_run_whose_calls_have_no_result_says_so() {
    let begin = [system("Help."), user("Cancel 7.")];
    let call = calls(&[("c1", 7)]);
    let mut wire = Wire::default();
    wire.chat(&json!(begin), &call);
    let unanswered = wire.run(&options("Cancel 7."));
    assert_eq!(unanswered.notes, ["ends in an unanswered call"]);
    let next = [&begin[..], &[call, user("Go on.")]].concat();
    wire.chat(&json!(next), &says("Done."));
    let run = wire.run(&options("Cancel 7."));
    assert_eq!(
        run.notes,
        [
            "no result is recorded for 1 call: the agent tells the model no results that belong to calls, so gates that need \
          results judge on nothing"
        ]
    );
    assert_eq!(run.cassette["session"]["notes"], json!(run.notes));
}
