//! Arguments as the model wrote them, which code may quote: read from each wire format, and written into each.

use super::super::{ALL, Framing, arguments, assembled, named};
use super::assert_has_each_format;
use crate::exchange::ModelResponse;

/// Keys against the alphabet, spaces, and a number in a form of its own.
const WRITTEN: &str = r#"{"order": 7,  "amount":1.50, "about": {"z": [1, 2], "a": "q\u00e9"}}"#;

/// A call in an answer of each format, whole and as a stream.
fn wires() -> Vec<(&'static str, bool, String)> {
    let text = serde_json::to_string(WRITTEN).unwrap();
    let (first, rest) = WRITTEN.split_at(9);
    let [first, rest] = [first, rest].map(|part| serde_json::to_string(part).unwrap());
    let chat = format!(
        r#"{{"choices":[{{"message":{{"tool_calls":[{{"id":"a","type":"function","function":{{"name":"pay","arguments":{text}}}}}]}},"finish_reason":"tool_calls"}}]}}"#
    );
    let chunk = |delta: &str, reason: &str| {
        format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{{\"index\":0,{delta}}}]}},\"finish_reason\":{reason}}}]}}\n\n"
        )
    };
    let chats = [
        chunk(
            &format!(r#""id":"a","function":{{"name":"pay","arguments":{first}}}"#),
            "null",
        ),
        chunk(
            &format!(r#""function":{{"arguments":{rest}}}"#),
            "\"tool_calls\"",
        ),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat();
    let responses = format!(
        r#"{{"id":"r","status":"completed","output":[{{"type":"function_call","id":"i","call_id":"a","name":"pay","arguments":{text}}}]}}"#
    );
    let message = format!(
        r#"{{"type":"message","role":"assistant","content":[{{"type":"text","text":"Wait."}},{{"type":"tool_use","id":"a","name":"pay","input":{WRITTEN}}}],"stop_reason":"tool_use"}}"#
    );
    let event =
        |kind: &str, rest: &str| format!("event: {kind}\ndata: {{\"type\":\"{kind}\"{rest}}}\n\n");
    let delta = |piece: &str| {
        event(
            "content_block_delta",
            &format!(r#","index":0,"delta":{{"type":"input_json_delta","partial_json":{piece}}}"#),
        )
    };
    let messages = [
        event(
            "message_start",
            r#","message":{"id":"m","role":"assistant","content":[]}"#,
        ),
        event(
            "content_block_start",
            r#","index":0,"content_block":{"type":"tool_use","id":"a","name":"pay","input":{}}"#,
        ),
        delta(&first),
        delta(&rest),
        event("content_block_stop", r#","index":0"#),
        event("message_delta", r#","delta":{"stop_reason":"tool_use"}"#),
        event("message_stop", ""),
    ]
    .concat();
    let gemini = format!(
        r#"{{"candidates":[{{"content":{{"role":"model","parts":[{{"text":"Wait."}},{{"functionCall":{{"name":"pay","args":{WRITTEN}}},"thoughtSignature":"s"}}]}},"finishReason":"STOP"}}]}}"#
    );
    let ollama = format!(
        r#"{{"model":"m","message":{{"role":"assistant","content":"","tool_calls":[{{"function":{{"name":"pay","arguments":{WRITTEN}}}}}]}},"done":true,"done_reason":"stop"}}"#
    );
    let converse = format!(
        r#"{{"output":{{"message":{{"role":"assistant","content":[{{"text":"Wait."}},{{"toolUse":{{"toolUseId":"a","name":"pay","input":{WRITTEN}}}}}]}}}},"stopReason":"tool_use"}}"#
    );
    vec![
        ("bedrock_converse", false, converse),
        ("bedrock_invoke", false, message.clone()),
        ("openai_chat", false, chat),
        ("openai_chat", true, chats),
        ("openai_responses", false, responses),
        ("anthropic_messages", false, message),
        ("anthropic_messages", true, messages),
        ("gemini", false, gemini.clone()),
        ("gemini", true, format!("data: {gemini}\n\n")),
        ("ollama", false, ollama.clone()),
        (
            "ollama",
            false,
            format!("{{\"model\":\"m\",\"message\":{{\"content\":\"Wait.\"}}}}\n{ollama}\n"),
        ),
        // A stream that is a list.
        ("gemini", false, format!("[{gemini}]")),
    ]
}

fn read(name: &str, is_events: bool, bytes: &str) -> ModelResponse {
    let protocol = named(name).unwrap();
    let framing = is_events.then_some(Framing::Events);
    let read = assembled(protocol, framing, bytes.as_bytes(), true);
    protocol.parse_response(&read.body.unwrap()).unwrap()
}

fn text(said: &ModelResponse) -> Option<&str> {
    let mut calls = said.calls();
    let text = calls.next().unwrap().text.as_deref();
    assert_eq!(calls.count(), 0);
    text
}

#[test]
fn arguments_stay_as_the_model_wrote_them_in_each_format() {
    let wires = wires();
    assert_has_each_format("`wires`", wires.iter().map(|(name, ..)| *name), &[]);
    for (name, is_events, bytes) in wires {
        let said = read(name, is_events, &bytes);
        assert_eq!(text(&said), Some(WRITTEN), "{name} {is_events}");
        for protocol in ALL {
            let into = format!("{name} {is_events} into {}", protocol.name());
            let whole = arguments::written(&protocol.answer(&said));
            assert!(
                !whole.contains("mcptest_input")
                    && !whole.contains("mcptest_args")
                    && !whole.contains('\u{10fffd}'),
                "{into}: {whole}"
            );
            assert_eq!(
                text(&read(protocol.name(), false, &whole)),
                Some(WRITTEN),
                "{into}"
            );
            let events = protocol.events(&said);
            let stream: Vec<u8> = events
                .iter()
                .flat_map(|event| event.bytes().to_vec())
                .collect();
            let stream = String::from_utf8(stream).unwrap();
            assert!(
                !stream.contains("mcptest_input")
                    && !stream.contains("mcptest_args")
                    && !stream.contains('\u{10fffd}'),
                "{into}: {stream}"
            );
            assert_eq!(
                text(&read(protocol.name(), true, &stream)),
                Some(WRITTEN),
                "{into}"
            );
        }
    }
}

/// What is canonical already has no text of its own, and what is no object is no object.
#[test]
fn a_text_is_kept_only_where_it_says_more() {
    for (arguments, kept) in [
        (r#"{"amount":1.5,"order":7}"#, false),
        (r#"{"order":7,"amount":1.5}"#, true),
        ("{}", false),
        ("", true),
        ("not JSON", false),
    ] {
        let text = serde_json::to_string(arguments).unwrap();
        let bytes = format!(
            r#"{{"choices":[{{"message":{{"tool_calls":[{{"id":"a","function":{{"name":"pay","arguments":{text}}}}}]}}}}]}}"#
        );
        let said = read("openai_chat", false, &bytes);
        assert_eq!(super::written::text(&said).is_some(), kept, "{arguments}");
        let whole = arguments::written(&named("anthropic_messages").unwrap().answer(&said));
        let whole: serde_json::Value = serde_json::from_str(&whole).unwrap();
        assert!(whole["content"][0]["input"].is_object(), "{whole}");
    }
}
