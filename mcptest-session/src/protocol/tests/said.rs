//! An answer that is written is read again, whole and as a stream that is cut anywhere.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::exchange::{Call, CallTokens, ModelResponse, Opaque, Part, Stop, ToolResult};
use crate::protocol::sse::{self, Blocks, Event};
use crate::protocol::{self, Framing, Protocol, Responses};

/// Which shape an answer may have.
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a table of what each format can say"
)]
struct Shape {
    name: &'static str,
    /// What only the provider understands.
    opaque: fn(&str) -> Value,
    refuses: bool,
    /// Arguments may be text that is no object.
    raw: bool,
    /// Text comes first, then calls.
    in_order: bool,
    sequence: bool,
    written: bool,
    /// An answer has an identifier.
    identified: bool,
    /// An answer has the name of the model.
    named: bool,
    /// Cached tokens are counted apart.
    caches: bool,
    /// What the model thought is counted apart.
    reasons: bool,
    /// Tokens that nobody counted are 0.
    counts: bool,
}

const SHAPES: [Shape; 7] = [
    Shape {
        name: "openai_chat",
        opaque: |text| json!({ "reasoning_content": text }),
        refuses: true,
        raw: true,
        in_order: true,
        sequence: false,
        written: false,
        identified: true,
        named: true,
        caches: true,
        reasons: true,
        counts: false,
    },
    Shape {
        name: "openai_responses",
        opaque: |text| json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": text }),
        refuses: true,
        raw: true,
        in_order: false,
        sequence: false,
        written: false,
        identified: true,
        named: true,
        caches: true,
        reasons: true,
        counts: false,
    },
    Shape {
        name: "anthropic_messages",
        opaque: |text| json!({ "type": "thinking", "thinking": text, "signature": text }),
        refuses: false,
        raw: false,
        in_order: false,
        sequence: true,
        written: true,
        identified: true,
        named: true,
        caches: true,
        reasons: true,
        counts: false,
    },
    Shape {
        name: "gemini",
        opaque: |text| json!({ "part": { "text": text, "thought": true, "thoughtSignature": "c2ln" } }),
        refuses: false,
        raw: false,
        in_order: false,
        sequence: false,
        written: false,
        identified: true,
        named: true,
        caches: true,
        reasons: true,
        counts: false,
    },
    Shape {
        name: "ollama",
        opaque: |text| json!({ "thinking": text }),
        refuses: false,
        raw: false,
        in_order: true,
        sequence: false,
        written: false,
        identified: false,
        named: true,
        caches: false,
        reasons: false,
        counts: false,
    },
    Shape {
        name: "bedrock_converse",
        opaque: |text| json!({ "block": { "reasoningContent": { "reasoningText": { "text": text, "signature": text } } } }),
        refuses: false,
        raw: false,
        in_order: false,
        sequence: true,
        written: true,
        identified: false,
        named: false,
        caches: true,
        reasons: false,
        counts: true,
    },
    Shape {
        name: "bedrock_invoke",
        // What the model thought is that of Anthropic's own format.
        opaque: |text| json!({ "type": "thinking", "thinking": text, "signature": text }),
        refuses: false,
        raw: false,
        in_order: false,
        sequence: true,
        written: true,
        identified: true,
        named: true,
        caches: true,
        reasons: true,
        counts: false,
    },
];

#[test]
fn every_format_has_a_shape() {
    let shapes = SHAPES.map(|shape| shape.name);
    let formats: Vec<&str> = protocol::ALL.iter().map(|it| it.name()).collect();
    assert_eq!(
        formats, shapes,
        "`SHAPES` has a row for each format of `protocol::ALL`, in its order: what answers of the format can say"
    );
}

impl Shape {
    fn opaque_of(self) -> &'static str {
        match self.name {
            "bedrock_invoke" => "anthropic_messages",
            name => name,
        }
    }
}

fn words() -> impl Strategy<Value = String> {
    "[a-z äß€🙂\"\\\\\n]{1,60}"
}

fn args(raw: bool) -> BoxedStrategy<Value> {
    let object = (words(), any::<i64>(), any::<bool>()).prop_map(
        |(text, number, flag)| json!({ "q": text, "deep": { "n": [number, null, flag] } }),
    );
    if raw {
        prop_oneof![object, "[a-z]{1,9}|\\{\"cut\": ".prop_map(Value::from)].boxed()
    } else {
        object.boxed()
    }
}

fn response(shape: Shape) -> impl Strategy<Value = ModelResponse> {
    let opaque = words().prop_map(move |text| {
        Part::Opaque(Opaque {
            protocol: shape.opaque_of().to_owned(),
            value: (shape.opaque)(&text),
        })
    });
    let call = args(shape.raw).prop_map(|args| (args, 0));
    let calls = prop::collection::vec(call, 0..4);
    let parts = (
        prop::option::of(opaque),
        prop::option::of(words()),
        prop::option::of(words()),
        calls,
        any::<bool>(),
    );
    let tokens = prop::option::of((
        0..90_u64,
        0..9_u64,
        0..9_u64,
        0..90_u64,
        prop::option::of(0..9_u64),
    ));
    let stop = prop_oneof![Just(0), Just(1), Just(2), Just(3)];
    (parts, tokens, stop, any::<bool>()).prop_map(move |(parts, tokens, stop, told)| {
        let (opaque, text, refusal, calls, text_last) = parts;
        let refusal = refusal.filter(|_| shape.refuses);
        let refuses = refusal.is_some();
        let mut made: Vec<Part> = opaque.into_iter().collect();
        let text = text.map(Part::Text);
        let text_last = text_last && !shape.in_order;
        made.extend(text.clone().filter(|_| !text_last));
        made.extend(refusal.map(Part::Refusal));
        let has_calls = !calls.is_empty();
        made.extend(calls.into_iter().enumerate().map(|(index, (args, _))| {
            Part::Call(Call {
                id: Some(format!("call_{index}")),
                name: format!("desk__find_{}", index % 2),
                args,
                ..Call::default()
            })
        }));
        made.extend(text.filter(|_| text_last));
        let stop = match stop {
            0 => Stop::Length,
            1 if shape.sequence => Stop::Sequence("END".to_owned()),
            2 => Stop::Other("of_its_own".to_owned()),
            _ if has_calls => Stop::Calls,
            _ if refuses => Stop::Refused,
            _ => Stop::End,
        };
        ModelResponse {
            id: shape.identified.then(|| "answer-1".to_owned()),
            model: shape.named.then(|| "model-1".to_owned()),
            parts: made,
            items: Vec::new(),
            stop: told.then_some(stop),
            tokens: tokens
                .map(|(fresh, cached, written, more, reasoning)| {
                    let reasoning = reasoning.filter(|_| shape.reasons);
                    CallTokens {
                        prompt: fresh + cached + if shape.written { written } else { 0 },
                        cached: shape.caches.then_some(cached),
                        written: shape.written.then_some(written),
                        completion: more + reasoning.unwrap_or_default(),
                        reasoning,
                    }
                })
                .or(shape.counts.then(CallTokens::default)),
            others: 0,
            error: None,
        }
    })
}

fn each() -> impl Strategy<Value = (&'static dyn Protocol, ModelResponse)> {
    let of = |shape: Shape| {
        response(shape).prop_map(move |said| (protocol::named(shape.name).unwrap(), said))
    };
    prop::strategy::Union::new(SHAPES.map(|shape| of(shape).boxed()))
}

/// The identifiers of items are made where there are none.
fn without_items(said: ModelResponse) -> ModelResponse {
    ModelResponse {
        items: Vec::new(),
        ..said
    }
}

fn bytes(events: &[Event]) -> Vec<u8> {
    events
        .iter()
        .flat_map(|event| event.bytes().to_vec())
        .collect()
}

fn text(said: &ModelResponse) -> String {
    let texts = said.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

proptest! {
    #[test]
    fn a_whole_answer_is_read_as_it_was_written((protocol, said) in each()) {
        let body = protocol.answer(&said);
        let read = protocol.parse_response(&body).unwrap();
        prop_assert_eq!(without_items(read.clone()), said);
        // What was read is written as the same bytes, with the identifiers of its items.
        prop_assert_eq!(protocol.answer(&read), body);
    }

    #[test]
    fn a_streamed_answer_is_read_as_it_was_written((protocol, said) in each(), cut in 0.0..1.0_f64) {
        let stream = bytes(&protocol.events(&said));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a share of a length")]
        let cut = (stream.len() as f64 * cut) as usize;
        let mut blocks = Blocks::default();
        let mut found = blocks.push(&stream[..cut]);
        found.extend(blocks.push(&stream[cut..]));
        let events: Vec<Event> = found.iter().filter_map(sse::event).collect();
        let whole = protocol.assembled(&events);
        prop_assert!(whole.error.is_none());
        let read = protocol.parse_response(&whole.body.unwrap()).unwrap();
        prop_assert_eq!(without_items(read), said);
    }

    #[test]
    fn of_a_stream_that_breaks_off_what_was_said_is_read((protocol, said) in each(), cut in 0.0..1.0_f64) {
        let stream = bytes(&protocol.events(&said));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a share of a length")]
        let cut = (stream.len() as f64 * cut) as usize;
        let broken = protocol::assembled(protocol, Some(Framing::Events), &stream[..cut], false);
        if let Some(read) = broken.body.and_then(|body| protocol.parse_response(&body)) {
            prop_assert!(text(&said).starts_with(&text(&read)), "{:?}", text(&read));
            if !broken.ended {
                prop_assert!(read.parts.len() <= said.parts.len());
            }
        }
    }

    #[test]
    fn an_answer_of_another_provider_keeps_what_all_can_say((_, said) in each()) {
        for other in protocol::ALL {
            let read = other.parse_response(&other.answer(&said)).unwrap();
            let names = |said: &ModelResponse| said.calls().map(|call| call.name.clone()).collect::<Vec<_>>();
            prop_assert_eq!(names(&read), names(&said), "{}", other.name());
            prop_assert!(text(&read).contains(&text(&said)), "{}", other.name());
        }
    }
}

#[test]
fn an_error_is_told_in_the_shape_of_the_provider() {
    for protocol in protocol::ALL {
        let error = protocol.error(429, "slow down");
        assert_eq!(protocol::error_message(&error), Some("slow down"));
        assert!(
            protocol.parse_response(&error).is_none(),
            "{}",
            protocol.name()
        );
    }
}

#[test]
fn a_namespace_of_a_call_is_its_server() {
    let responses = protocol::named("openai_responses").unwrap();
    for (namespace, server) in [
        ("mcp__weather", "weather"),
        ("mcp__weather__", "weather"),
        ("weather__", "weather"),
        ("my__weather", "my__weather"),
        ("mcp____", "mcp____"),
    ] {
        let body = json!({ "status": "completed", "output": [
            { "type": "function_call", "id": "f", "call_id": "c", "name": "get", "namespace": namespace, "arguments": "{}" },
        ] });
        let said = responses.parse_response(&body).unwrap();
        let Some(Part::Call(call)) = said.parts.first() else {
            panic!("{said:?}");
        };
        assert_eq!(call.server.as_deref(), Some(server), "{namespace}");
        assert_eq!(call.name, "get");
    }
}

/// A search for tools that the provider runs: its result names no call, and its arguments stand in one key.
#[test]
fn what_a_search_for_tools_found_is_its_result() {
    let search = json!({ "type": "tool_search_call", "id": "ts1", "call_id": null, "execution": "server", "arguments": { "paths": ["money"] } });
    let found = json!({ "type": "tool_search_output", "id": "to1", "call_id": null, "tools": [{ "type": "function", "name": "get_rate" }] });
    let output = json!([search, found, found]);
    let said = Responses.parse_response(
        &json!({ "id": "r", "object": "response", "status": "completed", "output": output }),
    );
    let said = said.unwrap();
    let Some(Part::Call(call)) = said.parts.first() else {
        panic!("{said:?}");
    };
    assert_eq!(
        (call.name.as_str(), &call.args),
        ("tool_search", &json!({ "paths": ["money"] }))
    );
    let results: Vec<&ToolResult> = said
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Result(result) => Some(result),
            _ => None,
        })
        .collect();
    assert_eq!(results.len(), 1);
    assert_eq!(
        (&results[0].id, &results[0].value),
        (&call.id, &found["tools"])
    );
    // It is played as it was.
    assert_eq!(Responses.answer(&said)["output"], output);
}
