//! Messages that keep calls as other client libraries do: Bedrock's Converse API (`toolUse`), the AI SDK
//! (`ModelMessage`, `CoreMessage`), camel case, items of the Responses API, Gemini.

use serde_json::{Value, json};

use super::strangers::{call, calls, closing};
use super::{Desk, ImportOutput};

fn import(record: &Value) -> (Desk, ImportOutput) {
    let desk = Desk::new();
    desk.write("run.json", record.to_string());
    let said = desk.import(&["run.json", "--agent", "desk"]);
    (desk, said)
}

/// A talk with a call that failed, from what asks for it and what it gave back.
fn talk(asks: &Value, result: &Value) -> Value {
    let said = |role: &str, text: &str| json!({ "role": role, "content": [{ "text": text }] });
    json!({ "model": "m", "messages": [
        said("user", "Refund order 7."), asks, result, said("assistant", "It could not be refunded.") ] })
}

fn message(role: &str, parts: &Value) -> Value {
    json!({ "role": role, "content": parts })
}

#[test]
fn calls_are_read_in_the_form_of_other_libraries() {
    let thought = json!({ "type": "reasoning", "text": "hm" });
    let function = json!({ "name": "refund", "arguments": "{\"order\":7}" });
    for (asks, result, text, is_error) in [
        (
            json!([{ "reasoningContent": { "reasoningText": { "text": "hm" } } }, { "text": "Let me look." },
                { "toolUse": { "toolUseId": "c", "name": "refund", "input": { "order": 7 } } }]),
            message(
                "user",
                &json!([{ "toolResult": { "toolUseId": "c", "content": [{ "text": "no" }], "status": "error" } }]),
            ),
            "no",
            Some(true),
        ),
        (
            json!([{ "text": "Let me look." }, { "toolUse": { "toolUseId": "c", "name": "refund", "input": { "order": 7 } } }]),
            message(
                "user",
                &json!([{ "toolResult": { "toolUseId": "c", "content": [{ "json": { "left": 1 } }] } }]),
            ),
            r#"{"left":1}"#,
            None,
        ),
        (
            json!([thought, { "type": "text", "text": "Let me look." },
                { "type": "tool-call", "toolCallId": "c", "toolName": "refund", "input": { "order": 7 } }]),
            message(
                "tool",
                &json!([{ "type": "tool-result", "toolCallId": "c", "toolName": "refund",
                "output": { "type": "error-text", "value": "no" } }]),
            ),
            "no",
            Some(true),
        ),
        (
            json!([{ "type": "text", "text": "Let me look." },
                { "type": "tool-call", "toolCallId": "c", "toolName": "refund", "args": { "order": 7 } }]),
            message(
                "tool",
                &json!([{ "type": "tool-result", "toolCallId": "c", "toolName": "refund", "result": { "left": 1 } }]),
            ),
            r#"{"left":1}"#,
            None,
        ),
        (
            json!([{ "type": "output_text", "text": "Let me look." },
                { "type": "function_call", "call_id": "c", "name": "refund", "arguments": "{\"order\":7}" }]),
            message(
                "user",
                &json!([{ "type": "function_call_output", "call_id": "c", "output": "no" }]),
            ),
            "no",
            None,
        ),
        (
            json!([{ "text": "Let me look." }, { "functionCall": { "name": "refund", "args": { "order": 7 } } }]),
            message(
                "user",
                &json!([{ "functionResponse": { "name": "refund", "response": { "left": 1 } } }]),
            ),
            r#"{"left":1}"#,
            None,
        ),
    ] {
        let asks = message("assistant", &asks);
        let (desk, said) = import(&talk(&asks, &result));
        assert_eq!(said.status, 0, "{asks}: {said:?}");
        let run = desk.recording();
        assert_eq!(
            calls(&run),
            [call("refund", r#"{"order":7}"#, text, is_error)],
            "{asks}"
        );
        assert_eq!(closing(&run), "It could not be refunded.");
        let turns = run["trace"]["conversation"]["turns"].as_array().unwrap();
        let turns: Vec<&str> = turns
            .iter()
            .map(|turn| turn["content"].as_str().unwrap())
            .collect();
        let expected = [
            "Refund order 7.",
            "Let me look.",
            "tool_use refund with {\"order\":7}",
            "It could not be refunded.",
        ];
        assert_eq!(turns, expected, "{asks}");
    }
    // Keys in camel case, with the call's function or with its parts.
    for own in [
        json!({ "id": "c", "function": function }),
        json!({ "toolCallId": "c", "toolName": "refund", "args": { "order": 7 } }),
    ] {
        let asks = json!({ "role": "assistant", "content": "", "toolCalls": [own] });
        let result = json!({ "role": "tool", "toolCallId": "c", "content": "no" });
        let (desk, said) = import(&talk(&asks, &result));
        assert_eq!(said.status, 0, "{said:?}");
        assert_eq!(
            calls(&desk.recording()),
            [call("refund", r#"{"order":7}"#, "no", None)]
        );
    }
}

/// What the AI SDK shows to users has both sides of a call in one part, and model calls begin at marks.
#[test]
fn messages_for_users_hold_calls_and_results() {
    let shown = |kind: &str, id: &str, state: &str, key: &str, value: &str| json!({ "type": kind, "toolName": "refund", "toolCallId": id, "state": state, "input": { "order": 7 }, key: value });
    let say = |text: &str| json!({ "type": "text", "text": text });
    let mark = json!({ "type": "step-start" });
    let (desk, said) = import(&json!({ "model": "m", "messages": [
        { "id": "1", "role": "user", "parts": [say("Refund order 7.")] },
        { "id": "2", "role": "assistant", "parts": [
            mark, say("Let me look."), shown("tool-refund", "a", "output-error", "errorText", "no"),
            mark, shown("dynamic-tool", "b", "output-available", "output", "ok"),
            mark, say("Refunded.") ] },
    ] }));
    assert_eq!(said.status, 0, "{said:?}");
    let run = desk.recording();
    let args = r#"{"order":7}"#;
    assert_eq!(
        calls(&run),
        [
            call("refund", args, "no", Some(true)),
            call("refund", args, "ok", Some(false))
        ]
    );
    assert_eq!(closing(&run), "Refunded.");
    // The user, three model calls, two results.
    assert_eq!(run["trace"]["conversation"]["message_count"], 6);
}

/// A call that a message tells of twice is one call, and what a tool gave back is its result, whatever it looks like.
#[test]
fn what_is_told_twice_is_one_call_and_a_result_stays_whole() {
    let mut asks = message(
        "assistant",
        &json!([{ "toolUse": { "toolUseId": "c", "name": "refund", "input": { "order": 7 } } }]),
    );
    asks["tool_calls"] =
        json!([{ "id": "c", "function": { "name": "refund", "arguments": "{\"order\":7}" } }]);
    let mut result = message("tool", &json!([{ "toolOutput": { "left": 1 } }]));
    result["tool_call_id"] = "c".into();
    let (desk, said) = import(&talk(&asks, &result));
    assert_eq!(said.status, 0, "{said:?}");
    let run = desk.recording();
    assert_eq!(calls(&run).len(), 1);
    let kept = &run["trace"]["tool_results"][0]["result"];
    assert!(kept.to_string().contains(r#"{"left":1}"#), "{kept}");
}

/// A record of Converse has its system prompt beside the messages, as Anthropic's records have.
#[test]
fn a_system_prompt_beside_the_messages_costs_no_call() {
    let asks =
        json!([{ "toolUse": { "toolUseId": "c", "name": "refund", "input": { "order": 7 } } }]);
    let result = json!([{ "toolResult": { "toolUseId": "c", "content": [{ "text": "no" }], "status": "success" } }]);
    let mut record = talk(&message("assistant", &asks), &message("user", &result));
    record["system"] = json!([{ "text": "Be brief." }]);
    let (desk, said) = import(&record);
    assert_eq!(said.status, 0, "{said:?}");
    let run = desk.recording();
    assert_eq!(run["system_prompt"], "Be brief.");
    assert_eq!(
        calls(&run),
        [call("refund", r#"{"order":7}"#, "no", Some(false))]
    );
}

/// What nobody can read is reported, and is no text of the agent.
#[test]
fn a_call_in_an_unknown_form_is_reported() {
    let part = |part: Value| {
        message(
            "assistant",
            &json!([{ "type": "text", "text": "Let me look." }, part]),
        )
    };
    for asks in [
        part(json!({ "type": "tool-invocation", "toolInvocation": { "toolName": "refund" } })),
        part(json!({ "toolRequestCall": { "name": "refund" } })),
        json!({ "role": "assistant", "parts": [{ "type": "step-start" }, { "type": "text", "text": "Let me look." },
            { "type": "tool-refund", "toolCallId": "c", "state": "input-streaming" }] }),
        json!({ "role": "assistant", "content": "Let me look.", "toolInvocations": [{ "toolName": "refund" }] }),
        json!({ "role": "assistant", "content": "Let me look.", "tool_calls": { "name": "refund" } }),
    ] {
        for system in [None, Some("Be brief.")] {
            let mut record = talk(&asks, &message("user", &json!("and?")));
            if let Some(system) = system {
                record["system"] = system.into();
            }
            let (desk, said) = import(&record);
            assert_eq!(said.status, 1, "{asks}: {said:?}");
            assert!(
                said.err
                    .contains("error[import]: call in an unknown form\n --> run.json:1\n")
                    && said.err.contains("refund"),
                "{asks}: {said:?}"
            );
            let turns = &desk.recording()["trace"]["conversation"]["turns"];
            let said = json!({ "role": "assistant", "content": "Let me look." });
            assert_eq!(turns[1], said, "{asks}");
        }
    }
}
