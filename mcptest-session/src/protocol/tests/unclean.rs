//! Answers that are no JSON as they are written: what they say is read, and what of it is otherwise is told.

use serde_json::{Value, json};

use super::assert_has_each_format;
use crate::exchange::{Item, ModelResponse, Part};
use crate::lossless::Change;
use crate::protocol::sse::Event;
use crate::protocol::{self, Assembled, Chat, Framing, Protocol as _};

/// The events of a stream that ended well, with its answer.
fn stream(name: &str, events: &[&str]) -> (Assembled, ModelResponse) {
    let events = events.iter().map(|data| format!("data: {data}\n\n"));
    let bytes: String = events.collect();
    let protocol = protocol::named(name).unwrap();
    let assembled = protocol::assembled(protocol, Some(Framing::Events), bytes.as_bytes(), true);
    assert!(assembled.ended, "{name}");
    let said = protocol
        .parse_response(assembled.body.as_ref().unwrap())
        .unwrap();
    (assembled, said)
}

fn text(said: &ModelResponse) -> String {
    let texts = said.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// For each format, a stream that says two texts and calls a tool with two pieces of arguments. `more` stands beside the
/// second piece of each.
fn streams(texts: [&str; 2], args: [&str; 2], more: &str) -> [(&'static str, Vec<String>); 5] {
    let [one, two] = texts;
    let [first, second] = args;
    let chat = |delta: String, more: &str| {
        format!(r#"{{"choices":[{{"index":0,{more}"delta":{delta},"finish_reason":null}}]}}"#)
    };
    let arguments = |piece: &str| {
        format!(r#"{{"tool_calls":[{{"index":0,"function":{{"arguments":"{piece}"}}}}]}}"#)
    };
    let item = r#"{"type":"function_call","id":"f","call_id":"c","name":"pay","arguments":""}"#;
    let block = |index: u8, kind: &str, key: &str, piece: &str, more: &str| {
        format!(
            r#"{{"type":"content_block_delta",{more}"index":{index},"delta":{{"type":"{kind}","{key}":"{piece}"}}}}"#
        )
    };
    let output = |kind: &str, index: u8, piece: &str, more: &str| {
        format!(
            r#"{{"type":"response.{kind}.delta",{more}"output_index":{index},"content_index":0,"delta":"{piece}"}}"#
        )
    };
    let gemini = |part: String, more: &str| {
        format!(r#"{{{more}"candidates":[{{"content":{{"parts":[{part}]}}}}]}}"#)
    };
    let ollama =
        |message: &str, more: &str| format!(r#"{{{more}"message":{message},"done":false}}"#);
    let spoken = |piece: &str| format!(r#"{{"text":"{piece}"}}"#);
    let whole_args = format!("{first}{second}").replace(r#"\""#, "\"");
    [
        (
            "openai_chat",
            vec![
                chat(spoken(one).replace("text", "content"), ""),
                chat(spoken(two).replace("text", "content"), more),
                chat(r#"{"tool_calls":[{"index":0,"id":"c","function":{"name":"pay","arguments":""}}]}"#.to_owned(), ""),
                chat(arguments(first), ""),
                chat(arguments(second), more),
                r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#.to_owned(),
                "[DONE]".to_owned(),
            ],
        ),
        (
            "anthropic_messages",
            vec![
                r#"{"type":"message_start","message":{"id":"m","content":[]}}"#.to_owned(),
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#.to_owned(),
                block(0, "text_delta", "text", one, ""),
                block(0, "text_delta", "text", two, more),
                r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"c","name":"pay","input":{}}}"#.to_owned(),
                block(1, "input_json_delta", "partial_json", first, ""),
                block(1, "input_json_delta", "partial_json", second, more),
                r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#.to_owned(),
                r#"{"type":"message_stop"}"#.to_owned(),
            ],
        ),
        (
            "openai_responses",
            vec![
                r#"{"type":"response.created","response":{"id":"r","output":[]}}"#.to_owned(),
                r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":""}]}}"#.to_owned(),
                output("output_text", 0, one, ""),
                output("output_text", 0, two, more),
                format!(r#"{{"type":"response.output_item.added","output_index":1,"item":{item}}}"#),
                output("function_call_arguments", 1, first, ""),
                output("function_call_arguments", 1, second, more),
            ],
        ),
        (
            "gemini",
            vec![
                gemini(spoken(one), ""),
                gemini(spoken(two), more),
                gemini(format!(r#"{{"functionCall":{{"name":"pay","args":{whole_args}}}}}"#), more),
                r#"{"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}]}"#.to_owned(),
            ],
        ),
        (
            "ollama",
            vec![
                ollama(&spoken(one).replace("text", "content"), ""),
                ollama(&spoken(two).replace("text", "content"), more),
                ollama(&format!(r#"{{"tool_calls":[{{"function":{{"name":"pay","arguments":{whole_args}}}}}]}}"#), more),
                r#"{"message":{"content":""},"done":true,"done_reason":"stop"}"#.to_owned(),
            ],
        ),
    ]
}

/// The streams, put together; that of Responses breaks off before its end says all once more.
fn each(
    streams: [(&'static str, Vec<String>); 5],
    mut check: impl FnMut(&str, &Assembled, &ModelResponse),
) {
    let names = streams.iter().map(|(name, _)| *name);
    // Their frames have checksums: `bedrock.rs`.
    assert_has_each_format("`streams`", names, &["bedrock_converse", "bedrock_invoke"]);
    for (name, events) in streams {
        let events = events.iter().map(|data| format!("data: {data}\n\n"));
        let bytes: String = events.collect();
        let protocol = protocol::named(name).unwrap();
        let assembled =
            protocol::assembled(protocol, Some(Framing::Events), bytes.as_bytes(), true);
        let said = protocol
            .parse_response(assembled.body.as_ref().unwrap())
            .unwrap();
        check(name, &assembled, &said);
    }
}

#[test]
fn a_chunk_that_strict_json_refuses_is_read_and_told() {
    let args = [r#"{\"order\":7"#, r#",\"amount\":500}"#];
    let streams = streams(["One ", "two"], args, r#""logprobs":{"x":NaN},"#);
    each(streams, |name, assembled, said| {
        assert_eq!(text(said), "One two", "{name}");
        let call = said.calls().next().unwrap();
        assert_eq!(call.args, json!({ "order": 7, "amount": 500 }), "{name}");
        assert_eq!(assembled.changes, [Change::Word], "{name}");
        assert_eq!(assembled.unread, None, "{name}");
    });
}

#[test]
fn halves_of_a_character_in_two_chunks_are_one_character() {
    let args = [r#"{\"a\":\"\ud83d"#, r#"\ude00\"}"#];
    let streams = streams([r"so \ud83d", r"\ude00 it is"], args, "");
    each(streams, |name, assembled, said| {
        assert_eq!(text(said), "so 😀 it is", "{name}");
        let call = said.calls().next().unwrap();
        assert_eq!(call.args, json!({ "a": "😀" }), "{name}");
        assert!(assembled.changes.is_empty(), "{name}");
    });
}

#[test]
fn half_a_character_that_stays_alone_is_told() {
    let args = [r#"{\"a\":\"\ud83d"#, r#"x\"}"#];
    let streams = streams([r"so \ud83d", r"it is \ude00"], args, "");
    each(streams, |name, assembled, said| {
        assert_eq!(text(said), "so \u{fffd}it is \u{fffd}", "{name}");
        let call = said.calls().next().unwrap();
        assert_eq!(call.args, json!({ "a": "\u{fffd}x" }), "{name}");
        assert_eq!(assembled.changes, [Change::Half], "{name}");
    });
}

#[test]
fn arguments_that_hold_an_escape_of_half_a_character_are_read_and_told() {
    let args = [
        r#"{\"a\":\"x\\ud83d\""#,
        r#",\"n\":123456789012345678901234}"#,
    ];
    let streams = streams(["One ", "two"], args, "");
    each(streams, |name, assembled, said| {
        if ["gemini", "ollama"].contains(&name) {
            return;
        }
        let call = said.calls().next().unwrap();
        let read = json!({ "a": "x\u{fffd}", "n": "123456789012345678901234" });
        assert_eq!(call.args, read, "{name}");
        assert_eq!(assembled.changes, [Change::Number, Change::Half], "{name}");
    });
}

#[test]
fn a_chunk_that_cannot_be_read_makes_the_answer_broken() {
    let deep = format!(
        r#"{{"choices":[{{"index":0,"delta":{{"content":"x","y":{}{}}}}}]}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    let whole = r#"{"choices":[{"index":0,"delta":{"content":"One"},"finish_reason":"stop"}]}"#;
    let (cut, said) = stream("openai_chat", &[r#"{"choices":[{"index""#, whole, "[DONE]"]);
    assert_eq!(text(&said), "One");
    assert_eq!(
        cut.unread.unwrap(),
        "1 event of the stream cannot be read; the first one is no JSON: EOF while parsing an object at line 1 column 20"
    );
    let (deep, _) = stream("openai_chat", &[whole, &deep, &deep, "[DONE]"]);
    assert_eq!(
        deep.unread.unwrap(),
        "2 events of the stream cannot be read; the first one is nested deeper than the 127 levels that are read"
    );
    // What does not begin as JSON is no chunk.
    let (other, _) = stream("openai_chat", &["ping", "", whole, "[DONE]"]);
    assert_eq!(other.unread, None);
}

#[test]
fn a_whole_answer_is_read_as_its_chunks_are() {
    let chat = protocol::named("openai_chat").unwrap();
    let read = |bytes: &[u8], whole| protocol::assembled(chat, None, bytes, whole);
    let body = "\u{feff}{\"choices\":[{\"logprobs\":{\"x\":-1e999,\"y\":NaN},\"message\":{\"content\":\"half \\ud83d\",\
        \"tool_calls\":[{\"id\":\"c\",\"function\":{\"name\":\"pay\",\"arguments\":\"{\\\"a\\\":1,\\\"a\\\":2}\"}}]},\"finish_reason\":\"stop\"}]}";
    let assembled = read(body.as_bytes(), true);
    let said = chat
        .parse_response(assembled.body.as_ref().unwrap())
        .unwrap();
    assert_eq!(text(&said), "half \u{fffd}");
    assert_eq!(said.calls().next().unwrap().args, json!({ "a": 2 }));
    let all = [Change::Word, Change::Number, Change::Half, Change::Twice];
    assert_eq!(assembled.changes, all);
    assert_eq!((assembled.ended, assembled.unread), (true, None));

    let bytes =
        b"{\"choices\":[{\"message\":{\"content\":\"a\xffb\"},\"finish_reason\":\"stop\"}]}";
    assert_eq!(read(bytes, true).changes, [Change::Half]);
    let why = |bytes: &[u8], whole| read(bytes, whole).unread;
    assert_eq!(
        why(b"{\"choices\":", true).unwrap(),
        "the answer is no JSON: EOF while parsing a value at line 1 column 11"
    );
    assert_eq!(why(b" ", true).unwrap(), "the answer is empty");
    // It broke off: that is told elsewhere.
    assert_eq!(why(b"{\"choices\":", false), None);
}

#[test]
fn a_list_of_values_is_read_as_events_are() {
    let gemini = protocol::named("gemini").unwrap();
    let text_of = |bytes: &[u8]| {
        let assembled = protocol::assembled(gemini, None, bytes, true);
        let said = gemini
            .parse_response(assembled.body.as_ref().unwrap())
            .unwrap();
        (text(&said), assembled.changes)
    };
    let joined = text_of(br#"[{"candidates":[{"content":{"parts":[{"text":"\ud83d"}]}}]},{"candidates":[{"content":{"parts":[{"text":"\ude00"}]}}]}]"#);
    assert_eq!(joined, ("😀".to_owned(), vec![]));
    let alone = text_of(
        br#"[{"avgLogprobs":NaN,"candidates":[{"content":{"parts":[{"text":"\ud83d"}]}}]}]"#,
    );
    assert_eq!(
        alone,
        ("\u{fffd}".to_owned(), vec![Change::Word, Change::Half])
    );
}

#[test]
fn bytes_of_a_stream_that_are_no_utf_8_lose_no_chunk_and_are_told() {
    let chat = protocol::named("openai_chat").unwrap();
    let bytes = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\xffb\"},\"finish_reason\":\"stop\"}]}\n\n";
    let assembled = protocol::assembled(chat, Some(Framing::Events), bytes, true);
    let said = chat
        .parse_response(assembled.body.as_ref().unwrap())
        .unwrap();
    assert_eq!(text(&said), "a\u{fffd}b");
    assert_eq!(assembled.changes, [Change::Half]);
}

#[test]
fn results_without_an_identifier_are_of_the_calls_in_their_order() {
    for id in [json!(""), json!(null), json!("null")] {
        let call = |name: &str| json!({ "id": id, "type": "function", "function": { "name": name, "arguments": "{}" } });
        let told = |text: &str| json!({ "role": "tool", "tool_call_id": id, "content": text });
        let named = json!({ "role": "tool", "tool_call_id": id, "name": "cancel", "content": "b" });
        let messages = [
            json!({ "role": "assistant", "tool_calls": [call("find"), call("cancel"), call("find")] }),
            named,
            told("a"),
            told("c"),
            json!({ "role": "assistant", "tool_calls": [call("find")] }),
            told("d"),
        ];
        let items = Chat.items(&messages);
        let results = items.iter().filter_map(|item| match item {
            Item::Result(result) => Some((result.id.as_deref()?, result.value.as_str()?)),
            _ => None,
        });
        let wanted = [
            ("gemini:cancel:0", "b"),
            ("gemini:find:0", "a"),
            ("gemini:find:1", "c"),
            ("gemini:find:2", "d"),
        ];
        assert_eq!(results.collect::<Vec<_>>(), wanted);
    }
}

#[test]
fn pieces_of_a_call_that_write_null_for_its_identifier_go_on_with_it() {
    for id in [json!("null"), json!(null), json!("")] {
        let piece = |id: &Value, name: &str, args: &str| {
            let call =
                json!({ "index": 0, "id": id, "function": { "name": name, "arguments": args } });
            let chunk = json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [call] } }] });
            Event::data(chunk.to_string())
        };
        let end =
            json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "tool_calls" }] });
        let events = [
            piece(&json!("c1"), "find", "{\"or"),
            piece(&id, "", "der\":7}"),
            Event::data(end.to_string()),
        ];
        let said = Chat
            .parse_response(&Chat.assembled(&events).body.unwrap())
            .unwrap();
        let calls: Vec<_> = said
            .calls()
            .map(|call| (call.id.as_deref(), &call.args))
            .collect();
        assert_eq!(calls, [(Some("c1"), &json!({ "order": 7 }))]);
    }
}
