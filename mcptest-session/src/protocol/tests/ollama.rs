//! Ollama's own format, as its server and its clients write it.

use serde_json::{Value, json};

use crate::exchange::{CallTokens, Item, Part, Stop};
use crate::protocol::{self, Assembled, Framing, Ollama, Protocol as _};

/// What a server of version 0.12 sent, of a model that thinks.
const STREAM: &str = r#"{"model":"qwen3:8b","created_at":"2026-01-12T09:00:00.1Z","message":{"role":"assistant","content":"","thinking":"The user "},"done":false}
{"model":"qwen3:8b","created_at":"2026-01-12T09:00:00.2Z","message":{"role":"assistant","content":"","thinking":"asks."},"done":false}
{"model":"qwen3:8b","created_at":"2026-01-12T09:00:00.3Z","message":{"role":"assistant","content":"Look"},"done":false}
{"model":"qwen3:8b","created_at":"2026-01-12T09:00:00.4Z","message":{"role":"assistant","content":"ing."},"done":false}
{"model":"qwen3:8b","created_at":"2026-01-12T09:00:00.5Z","message":{"role":"assistant","content":"","tool_calls":[{"id":"call_1","function":{"index":0,"name":"find","arguments":{"order":7,"about":"status"}}}]},"done":false}
{"model":"qwen3:8b","created_at":"2026-01-12T09:00:00.6Z","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"find","arguments":{"order":8}}}]},"done":false}
{"model":"qwen3:8b","created_at":"2026-01-12T09:00:00.7Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":700000000,"load_duration":50000000,"prompt_eval_count":120,"prompt_eval_duration":100000000,"eval_count":31,"eval_duration":500000000}
"#;

fn assembled(bytes: &str, whole: bool) -> Assembled {
    protocol::assembled(&Ollama, Some(Framing::Lines), bytes.as_bytes(), whole)
}

#[test]
fn a_stream_is_the_answer_that_would_have_come_whole() {
    let streamed = assembled(STREAM, true);
    assert!(streamed.ended && streamed.error.is_none());
    let said = Ollama.parse_response(&streamed.body.unwrap()).unwrap();
    assert_eq!(said.model.as_deref(), Some("qwen3:8b"));
    assert_eq!(said.stop, Some(Stop::Calls));
    let tokens = CallTokens {
        prompt: 120,
        completion: 31,
        ..CallTokens::default()
    };
    assert_eq!(said.tokens, Some(tokens));
    let [
        Part::Opaque(thought),
        Part::Text(text),
        Part::Call(one),
        Part::Call(two),
    ] = &said.parts[..]
    else {
        panic!("{:?}", said.parts);
    };
    assert_eq!(thought.value, json!({ "thinking": "The user asks." }));
    assert_eq!(text, "Looking.");
    assert_eq!(one.id.as_deref(), Some("call_1"));
    // The order of its keys is no order of the alphabet.
    assert_eq!(one.args, json!({ "order": 7, "about": "status" }));
    assert_eq!(one.text.as_deref(), Some(r#"{"order":7,"about":"status"}"#));
    assert_eq!((&two.id, &two.text), (&None, &None));
}

#[test]
fn a_stream_that_ends_before_its_last_line_has_not_ended() {
    let lines: Vec<&str> = STREAM.lines().collect();
    for count in 1..lines.len() {
        let cut = lines[..count].join("\n");
        for whole in [true, false] {
            assert!(!assembled(&cut, whole).ended, "{count}");
        }
        // One line alone is JSON; a server that says nothing of lines says as much.
        let unnamed = protocol::assembled(&Ollama, None, cut.as_bytes(), true);
        assert!(!unnamed.ended, "{count}");
    }
    let (cut, _) = STREAM.split_at(STREAM.len() - 20);
    assert!(!assembled(cut, false).ended);
    assert_eq!(assembled(cut, false).unread, None);
    // The server said that this is all, and the last line is no JSON.
    assert!(assembled(cut, true).unread.is_some());
}

#[test]
fn an_answer_that_is_no_stream_is_read_also_in_several_lines() {
    let body = json!({ "model": "m", "message": { "role": "assistant", "content": "Yes." }, "done": true, "done_reason": "length" });
    for text in [
        body.to_string(),
        serde_json::to_string_pretty(&body).unwrap(),
    ] {
        let whole = protocol::assembled(&Ollama, None, text.as_bytes(), true);
        assert!(whole.ended);
        let said = Ollama.parse_response(&whole.body.unwrap()).unwrap();
        assert_eq!(said.stop, Some(Stop::Length));
        assert_eq!(said.tokens, None);
    }
}

#[test]
fn requests_are_read_and_results_find_their_calls() {
    let call =
        |order: u32| json!({ "function": { "name": "find", "arguments": { "order": order } } });
    let picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let request = |tool: Value, image: &str| {
        json!({
            "model": "qwen3", "stream": false, "keep_alive": "5m", "think": true,
            "options": { "temperature": 0 }, "format": { "type": "object" },
            "messages": [
                { "role": "system", "content": "Help." },
                { "role": "user", "content": "Find 7 and 8.", "images": [image] },
                { "role": "assistant", "content": "", "thinking": "Hm.", "tool_calls": [call(7), call(8)] },
                tool,
                { "role": "tool", "tool_name": "find", "content": "shipped" },
            ],
            "tools": [{ "type": "function", "function": { "name": "find", "description": "Finds.", "parameters": { "type": "object" } } }],
        })
    };
    for tool in [
        json!({ "role": "tool", "tool_name": "find", "content": "open" }),
        json!({ "role": "tool", "name": "find", "content": "open" }),
        json!({ "role": "tool", "content": "open" }),
    ] {
        let asked = Ollama.parse_request(&protocol::Route::default(), &request(tool, picture));
        assert_eq!(asked.model.as_deref(), Some("qwen3"));
        assert_eq!(asked.system.as_deref(), Some("Help."));
        assert!(!asked.streamed);
        let said = asked.opening().unwrap();
        assert!(
            said.starts_with("Find 7 and 8.[image image/* 70 bytes sha256:"),
            "{said}"
        );
        let Item::Answer(parts) = &asked.items[1] else {
            panic!("{:?}", asked.items);
        };
        let calls = parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call.id.clone()),
            _ => None,
        });
        let calls: Vec<_> = calls.collect();
        let results = asked.items[2..].iter().map(|item| match item {
            Item::Result(result) => result.id.clone(),
            other => panic!("{other:?}"),
        });
        assert_eq!(calls, results.collect::<Vec<_>>());
        assert_ne!(calls[0], calls[1]);
        assert_eq!(asked.tools[0].name, "find");
        let mut names: Vec<&String> = asked.parameters.keys().collect();
        names.sort();
        assert_eq!(names, ["format", "options", "think"]);
    }
    let tool = json!({ "role": "tool", "content": "open" });
    let opening = |image: &str| {
        let asked =
            Ollama.parse_request(&protocol::Route::default(), &request(tool.clone(), image));
        asked.opening().map(str::to_owned)
    };
    assert_ne!(opening(picture), opening(&picture.replace("Wj", "Wk")));
    assert_ne!(opening("short"), opening("other"));
}

/// A client that says nothing of a stream gets one.
#[test]
fn a_request_that_does_not_say_so_is_answered_by_a_stream() {
    let asked = Ollama.parse_request(&protocol::Route::default(), &json!({ "messages": [] }));
    assert!(asked.streamed);
}
