//! Amazon Bedrock, as its clients and AWS send it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::exchange::{
    Call, CallTokens, Item, ModelRequest, ModelResponse, Part, Stop, ToolResult,
};
use crate::protocol::sse::Event;
use crate::protocol::{
    self, Anthropic, Assembled, BedrockConverse, BedrockInvoke, Framing, Protocol,
};

fn parse_request(path: &str, body: &Value) -> ModelRequest {
    let (protocol, route) = protocol::at(path).unwrap();
    protocol.parse_request(&route, body)
}

fn stream(protocol: &dyn Protocol, events: &[Event]) -> Assembled {
    let bytes = Framing::Messages.pieces(events).concat();
    protocol::assembled(protocol, Some(Framing::Messages), &bytes, true)
}

fn event(name: &str, data: &Value) -> Event {
    Event::named(name, data.to_string())
}

#[test]
fn a_path_names_the_model_however_it_is_written() {
    let arn =
        "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-6";
    let encoded = "arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fus.anthropic.claude-sonnet-4-6";
    for (path, name, model, streamed) in [
        (
            "/model/amazon.nova-lite-v1%3A0/converse",
            "bedrock_converse",
            "amazon.nova-lite-v1:0",
            false,
        ),
        (
            "/model/amazon.nova-lite-v1:0/converse-stream",
            "bedrock_converse",
            "amazon.nova-lite-v1:0",
            true,
        ),
        (
            &format!("/model/{encoded}/converse"),
            "bedrock_converse",
            arn,
            false,
        ),
        (
            &format!("/model/{arn}/converse"),
            "bedrock_converse",
            arn,
            false,
        ),
        (
            "/model/us.anthropic.claude-sonnet-4-6/invoke",
            "bedrock_invoke",
            "us.anthropic.claude-sonnet-4-6",
            false,
        ),
        (
            &format!("/model/{encoded}/invoke-with-response-stream"),
            "bedrock_invoke",
            arn,
            true,
        ),
        (
            "/model/arn:aws:bedrock:us-east-1:1:application-inference-profile%2Fabc/invoke",
            "bedrock_invoke",
            "arn:aws:bedrock:us-east-1:1:application-inference-profile/abc",
            false,
        ),
    ] {
        let (protocol, route) = protocol::at(path).unwrap();
        assert_eq!(protocol.name(), name, "{path}");
        assert_eq!(route.model.as_deref(), Some(model), "{path}");
        assert_eq!(route.streamed, Some(streamed), "{path}");
    }
    for path in [
        "/model/amazon.titan-embed-text-v2:0/invoke",
        "/model/us.anthropic.claude-sonnet-4-6/count-tokens",
        "/model/converse",
        "/guardrail/g/version/1/apply",
    ] {
        assert!(protocol::at(path).is_none(), "{path}");
    }
}

#[test]
fn a_request_is_read() {
    let picture = STANDARD.encode([7_u8; 100]);
    let asked = parse_request(
        "/model/m/converse-stream",
        &json!({
            "system": [{ "text": "Help." }, { "cachePoint": { "type": "default" } }, { "text": "Be short." }],
            "messages": [
                { "role": "user", "content": [
                    { "text": "Cancel 7 and 8. " },
                    { "image": { "format": "png", "source": { "bytes": picture } } },
                    { "cachePoint": { "type": "default" } },
                ] },
                { "role": "assistant", "content": [
                    { "reasoningContent": { "reasoningText": { "text": "Hm.", "signature": "c2ln" } } },
                    { "text": "I look." },
                    { "toolUse": { "toolUseId": "t1", "name": "cancel", "input": { "order": 7 } } },
                    { "toolUse": { "toolUseId": "t2", "name": "cancel", "input": {} } },
                ] },
                { "role": "user", "content": [
                    { "text": "And hurry." },
                    { "toolResult": { "toolUseId": "t1", "content": [{ "json": { "done": true } }] } },
                    { "toolResult": { "toolUseId": "t2", "content": [{ "text": "shipped" }], "status": "error" } },
                ] },
            ],
            "inferenceConfig": { "maxTokens": 100 },
            "additionalModelRequestFields": { "top_k": 5 },
            "requestMetadata": { "trace": "1" },
            "toolConfig": { "toolChoice": { "any": {} }, "tools": [
                { "toolSpec": { "name": "cancel", "description": "Cancels.", "inputSchema": { "json": { "type": "object" } } } },
                { "cachePoint": { "type": "default" } },
            ] },
        }),
    );
    assert_eq!(asked.model.as_deref(), Some("m"));
    assert!(asked.streamed);
    assert_eq!(asked.system.as_deref(), Some("Help.\n\nBe short."));
    let names: Vec<&str> = asked.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["cancel"]);
    assert_eq!(asked.tools[0].description.as_deref(), Some("Cancels."));
    assert_eq!(asked.tools[0].schema, Some(json!({ "type": "object" })));
    // What decides on the answer, and nothing else.
    assert_eq!(
        Value::from(asked.parameters.clone()),
        json!({
            "inferenceConfig": { "maxTokens": 100 },
            "additionalModelRequestFields": { "top_k": 5 },
            "toolChoice": { "any": {} },
        })
    );
    // The same words as those of other formats.
    let of_anthropic = Anthropic.items(&[json!({ "role": "user", "content": [
        { "type": "text", "text": "Cancel 7 and 8. " },
        { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": picture } },
    ] })]);
    assert_eq!(asked.items[..1], of_anthropic);
    let Item::Answer(parts) = &asked.items[1] else {
        panic!("{:?}", asked.items)
    };
    assert!(matches!(&parts[0], Part::Opaque(_)));
    let call = |id: &str, args: Value| {
        Part::Call(Call {
            id: Some(id.to_owned()),
            name: "cancel".to_owned(),
            args,
            ..Call::default()
        })
    };
    assert_eq!(
        parts[1..],
        [
            Part::Text("I look.".to_owned()),
            call("t1", json!({ "order": 7 })),
            call("t2", json!({}))
        ]
    );
    let result = |id: &str, value: Value, is_error: bool| {
        Item::Result(ToolResult {
            id: Some(id.to_owned()),
            value,
            is_error: Some(is_error),
            ..ToolResult::default()
        })
    };
    assert_eq!(
        asked.items[2..],
        [
            result("t1", json!({ "done": true }), false),
            result("t2", json!("shipped"), true),
            Item::User("And hurry.".to_owned()),
        ]
    );
}

/// What a document is called and what it says is what the model reads of it.
#[test]
fn a_document_is_told_by_its_name_and_what_it_holds() {
    let said = |name: &str, source: Value| {
        let block = json!({ "document": { "format": "pdf", "name": name, "source": source } });
        let items = BedrockConverse.items(&[json!({ "role": "user", "content": [block] })]);
        let [Item::User(text)] = &items[..] else {
            panic!("{items:?}")
        };
        text.clone()
    };
    let bytes = |byte: u8| json!({ "bytes": STANDARD.encode([byte; 100]) });
    assert!(
        said("report", bytes(7)).starts_with("report [document application/pdf 100 bytes sha256:")
    );
    assert_ne!(said("report", bytes(7)), said("report", bytes(8)));
    assert_ne!(said("report", bytes(7)), said("invoice", bytes(7)));
    let place = json!({ "s3Location": { "uri": "s3://shop/report.pdf?secret=1" } });
    let place = said("report", place);
    assert!(
        place.contains("s3://shop/report.pdf") && !place.contains("secret"),
        "{place}"
    );
    assert_eq!(
        said("note", json!({ "text": "All is well." })),
        "note All is well."
    );
}

fn whole(content: &Value, more: &Value) -> Value {
    let mut body = json!({
        "output": { "message": { "role": "assistant", "content": content } },
        "metrics": { "latencyMs": 551 },
        "usage": { "inputTokens": 4, "outputTokens": 31, "totalTokens": 1035,
            "cacheReadInputTokens": 900, "cacheWriteInputTokens": 100 },
    });
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    body
}

#[test]
fn an_answer_is_read() {
    let body = whole(
        &json!([{ "text": "Done." }]),
        &json!({ "stopReason": "end_turn" }),
    );
    let said = BedrockConverse.parse_response(&body).unwrap();
    assert_eq!(said.parts, [Part::Text("Done.".to_owned())]);
    assert_eq!(said.stop, Some(Stop::End));
    let tokens = CallTokens {
        prompt: 1004,
        cached: Some(900),
        written: Some(100),
        completion: 31,
        reasoning: None,
    };
    assert_eq!(said.tokens, Some(tokens));
    for (reason, stop) in [
        ("tool_use", Stop::Calls),
        ("max_tokens", Stop::Length),
        ("stop_sequence", Stop::Sequence(String::new())),
        ("content_filtered", Stop::Refused),
        ("guardrail_intervened", Stop::Refused),
        (
            "malformed_tool_use",
            Stop::Other("malformed_tool_use".to_owned()),
        ),
    ] {
        let said =
            BedrockConverse.parse_response(&whole(&json!([]), &json!({ "stopReason": reason })));
        assert_eq!(said.unwrap().stop, Some(stop), "{reason}");
    }
}

/// What clients look at beside the message: a guardrail, fields of the vendor. All of it is played again.
#[test]
fn what_stands_beside_the_message_is_played_as_it_was() {
    let more = json!({
        "stopReason": "guardrail_intervened",
        "trace": { "guardrail": { "inputAssessment": { "g": { "topicPolicy": {} } } } },
        "additionalModelResponseFields": { "stop_sequence": "END", "top": [1] },
    });
    let body = whole(&json!([{ "text": "I cannot say that." }]), &more);
    let said = BedrockConverse.parse_response(&body).unwrap();
    let mut expected = body.clone();
    expected["metrics"]["latencyMs"] = 0.into();
    assert_eq!(BedrockConverse.answer(&said), expected);
    let assembled = stream(&BedrockConverse, &BedrockConverse.events(&said));
    assert!(assembled.ended);
    assert_eq!(assembled.body, Some(expected));
    // Other formats have no place for it.
    assert_eq!(Anthropic.answer(&said)["stop_reason"], "refusal");
}

/// A stream as AWS sends it: a text has no start, and each event is padded.
#[test]
fn a_stream_is_read() {
    let delta = |index: u8, delta: Value| {
        event(
            "contentBlockDelta",
            &json!({ "contentBlockIndex": index, "delta": delta, "p": "abcd" }),
        )
    };
    let stop = |index: u8| {
        event(
            "contentBlockStop",
            &json!({ "contentBlockIndex": index, "p": "ab" }),
        )
    };
    let input = |piece: &str| json!({ "toolUse": { "input": piece } });
    let events = [
        event("messageStart", &json!({ "role": "assistant", "p": "abc" })),
        delta(0, json!({ "reasoningContent": { "text": "Hm" } })),
        delta(0, json!({ "reasoningContent": { "text": "." } })),
        delta(0, json!({ "reasoningContent": { "signature": "c2ln" } })),
        stop(0),
        delta(1, json!({ "text": "I " })),
        delta(1, json!({ "text": "look." })),
        stop(1),
        event(
            "contentBlockStart",
            &json!({ "contentBlockIndex": 2, "start": { "toolUse": { "toolUseId": "t1", "name": "cancel" } } }),
        ),
        delta(2, input("")),
        delta(2, input("{\"order\": ")),
        delta(2, input("7, \"all\": true}")),
        stop(2),
        event(
            "contentBlockStart",
            &json!({ "contentBlockIndex": 3, "start": { "toolUse": { "toolUseId": "t2", "name": "list" } } }),
        ),
        stop(3),
        event(
            "messageStop",
            &json!({ "stopReason": "tool_use", "p": "abcdefg" }),
        ),
        event(
            "metadata",
            &json!({ "usage": { "inputTokens": 9, "outputTokens": 4, "totalTokens": 13 }, "metrics": { "latencyMs": 5 }, "p": "a" }),
        ),
    ];
    let assembled = stream(&BedrockConverse, &events);
    assert!(assembled.ended && assembled.error.is_none() && assembled.unread.is_none());
    let body = assembled.body.unwrap();
    assert!(body.get("p").is_none(), "{body}");
    let said = BedrockConverse.parse_response(&body).unwrap();
    assert_eq!(said.parts[1], Part::Text("I look.".to_owned()));
    let calls: Vec<&Call> = said.calls().collect();
    assert_eq!(calls[0].args, json!({ "order": 7, "all": true }));
    // As the model wrote it, which is another order of keys.
    assert_eq!(
        calls[0].text.as_deref(),
        Some("{\"order\": 7, \"all\": true}")
    );
    assert_eq!(
        (calls[1].name.as_str(), &calls[1].args),
        ("list", &json!({}))
    );
    let thought =
        json!({ "reasoningContent": { "reasoningText": { "text": "Hm.", "signature": "c2ln" } } });
    assert_eq!(
        BedrockConverse.answer(&said)["output"]["message"]["content"][0],
        thought
    );
    assert_eq!(said.tokens.unwrap().prompt, 9);
    // A client may leave before the tokens come.
    let early = stream(&BedrockConverse, &events[..events.len() - 1]);
    assert!(early.ended);
    assert_eq!(
        BedrockConverse
            .parse_response(&early.body.unwrap())
            .unwrap()
            .tokens,
        None
    );
}

#[test]
fn an_exception_ends_a_stream_and_is_played_as_one() {
    let begun = [
        event("messageStart", &json!({ "role": "assistant" })),
        event(
            "contentBlockDelta",
            &json!({ "contentBlockIndex": 0, "delta": { "text": "Half" } }),
        ),
    ];
    let exception = event("throttlingException", &json!({ "message": "slow down" }));
    let assembled = stream(
        &BedrockConverse,
        &[&begun[..], std::slice::from_ref(&exception)].concat(),
    );
    assert!(!assembled.ended);
    let error = assembled.error.unwrap();
    assert_eq!(protocol::error_message(&error), Some("slow down"));
    let said = BedrockConverse
        .parse_response(&assembled.body.unwrap())
        .unwrap();
    assert_eq!(
        (said.parts, said.stop),
        (vec![Part::Text("Half".to_owned())], None)
    );
    assert_eq!(BedrockConverse.failure(&error), exception);
    // An error of another provider is one of the model.
    let other =
        BedrockConverse.failure(&json!({ "type": "overloaded_error", "message": "Overloaded" }));
    assert_eq!(
        other,
        event(
            "modelStreamErrorException",
            &json!({ "message": "Overloaded" })
        )
    );
    assert_eq!(BedrockInvoke.failure(&error), exception);
}

#[test]
fn an_answer_that_broke_off_has_no_end() {
    let said = ModelResponse {
        parts: vec![Part::Text("Half".to_owned())],
        ..ModelResponse::default()
    };
    for protocol in [&BedrockConverse as &dyn Protocol, &BedrockInvoke] {
        let mut events = protocol.events(&said);
        events.truncate(events.len() - protocol.closing_events());
        let assembled = stream(protocol, &events);
        assert!(!assembled.ended, "{}", protocol.name());
        let read = protocol.parse_response(&assembled.body.unwrap()).unwrap();
        assert_eq!(read.parts, said.parts, "{}", protocol.name());
    }
}

#[test]
fn messages_of_anthropic_stand_in_a_stream_as_base64() {
    let chunk = |data: &Value| {
        event(
            "chunk",
            &json!({ "bytes": STANDARD.encode(data.to_string()), "p": "abc" }),
        )
    };
    let events = [
        chunk(
            &json!({ "type": "message_start", "message": { "id": "msg_bdrk_1", "model": "claude-sonnet-4-6", "role": "assistant", "content": [], "usage": { "input_tokens": 3, "output_tokens": 1 } } }),
        ),
        chunk(
            &json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
        ),
        chunk(
            &json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "Done." } }),
        ),
        chunk(&json!({ "type": "content_block_stop", "index": 0 })),
        chunk(
            &json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": 4 } }),
        ),
        chunk(
            &json!({ "type": "message_stop", "amazon-bedrock-invocationMetrics": { "inputTokenCount": 3 } }),
        ),
    ];
    let assembled = stream(&BedrockInvoke, &events);
    assert!(assembled.ended);
    let said = BedrockInvoke
        .parse_response(&assembled.body.unwrap())
        .unwrap();
    assert_eq!(said.parts, [Part::Text("Done.".to_owned())]);
    assert_eq!(said.id.as_deref(), Some("msg_bdrk_1"));
    let tokens = said.tokens.unwrap();
    assert_eq!((tokens.prompt, tokens.completion), (3, 4));
    // What is no base64 holds no event.
    let odd = stream(
        &BedrockInvoke,
        &[
            event("chunk", &json!({ "bytes": "?" })),
            event("chunk", &json!([])),
        ],
    );
    assert_eq!((odd.body, odd.ended), (None, false));
}

#[test]
fn a_request_with_a_body_of_anthropic_is_read() {
    let asked = parse_request(
        "/model/us.anthropic.claude-sonnet-4-6/invoke-with-response-stream",
        &json!({
            "anthropic_version": "bedrock-2023-05-31", "max_tokens": 100, "system": "Help.",
            "messages": [{ "role": "user", "content": "Cancel 7." }],
            "tools": [{ "name": "cancel", "input_schema": { "type": "object" } }],
        }),
    );
    assert_eq!(
        asked.model.as_deref(),
        Some("us.anthropic.claude-sonnet-4-6")
    );
    assert_eq!(
        (asked.system.as_deref(), asked.opening()),
        (Some("Help."), Some("Cancel 7."))
    );
    assert!(asked.streamed);
    assert_eq!(asked.tools[0].name, "cancel");
}

#[test]
fn a_stream_that_was_damaged_is_told() {
    let bytes = Framing::Messages
        .pieces(&BedrockConverse.events(&ModelResponse::default()))
        .concat();
    let mut damaged = bytes.clone();
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    let read =
        |bytes: &[u8]| protocol::assembled(&BedrockConverse, Some(Framing::Messages), bytes, true);
    assert_eq!(read(&bytes).unread, None);
    let unread = read(&damaged).unread.unwrap();
    assert!(
        unread.starts_with("message 3 of the stream cannot be read: "),
        "{unread}"
    );
}
