//! Definition: anthropic-sdk-python 0.121.0, `types` and `types/beta`.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::talk::{Answer, FormatCapabilities, Talk, assert_kept, talk};
use super::{Desk, lines};

/// The content of an answer, and the message with its results.
pub(super) fn blocks(answer: &Answer) -> (Vec<Value>, Vec<Value>) {
    let mut content = Vec::new();
    if !answer.said.is_empty() {
        content.push(json!({ "type": "text", "text": answer.said }));
    }
    for call in &answer.calls {
        content.push(
            json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": call.args }),
        );
    }
    let results = answer.calls.iter().filter_map(|call| {
        let text = call.result.as_ref()?;
        Some(
            json!({ "type": "tool_result", "tool_use_id": call.id, "is_error": call.is_error,
            "content": [{ "type": "text", "text": text }] }),
        )
    });
    (content, results.collect())
}

/// The model calls of a talk as they are logged, and the messages after the last.
pub(super) fn log(talk: &Talk) -> (Vec<Value>, Vec<Value>) {
    let (mut sent, mut log) = (Vec::new(), Vec::new());
    for exchange in &talk.exchanges {
        let mut results: Vec<Value> = Vec::new();
        for (index, answer) in exchange.answers.iter().enumerate() {
            if index == 0 {
                sent.push(json!({ "role": "user", "content": exchange.user }));
            } else if !results.is_empty() {
                sent.push(json!({ "role": "user", "content": results }));
            }
            let (content, next) = blocks(answer);
            results = next;
            let (prompt, completion) = answer.tokens;
            log.push(json!({
                "request": { "model": "m", "system": [{ "type": "text", "text": talk.system }], "messages": sent },
                "response": { "type": "message", "role": "assistant", "id": format!("msg{}", log.len()), "content": content,
                    "stop_reason": "end_turn", "usage": { "input_tokens": prompt - 1, "cache_read_input_tokens": 1,
                        "cache_creation_input_tokens": 0, "output_tokens": completion } },
            }));
            sent.push(json!({ "role": "assistant", "content": content }));
        }
    }
    (log, sent)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn nothing_of_a_log_is_lost(talk in talk(FormatCapabilities::ALL)) {
        assert_kept(&talk, FormatCapabilities::ALL, "a.jsonl", lines(&log(&talk).0).as_bytes(), &[]);
    }

    #[test]
    fn nothing_of_a_list_of_messages_is_lost(talk in talk(FormatCapabilities::ALL)) {
        let can = FormatCapabilities { tokens: false, ..FormatCapabilities::ALL };
        let record = json!({ "system": talk.system, "messages": log(&talk).1 });
        assert_kept(&talk, can, "a.json", format!("{record:#}").as_bytes(), &["--from", "anthropic"]);
    }
}

#[test]
fn tools_of_the_provider_are_call_and_result() {
    let content = json!([
        { "type": "thinking", "thinking": "hm", "signature": "x" },
        { "type": "mcp_tool_use", "id": "a", "name": "find", "server_name": "shop", "input": { "q": 1 } },
        { "type": "mcp_tool_result", "tool_use_id": "a", "is_error": false, "content": [{ "type": "text", "text": "found" }] },
        { "type": "server_tool_use", "id": "b", "name": "web_search", "input": { "query": "x" } },
        { "type": "web_search_tool_result", "tool_use_id": "b", "content": { "type": "web_search_tool_result_error", "error_code": "unavailable" } },
        { "type": "tool_use", "id": "c", "name": "mcp__my_srv__get_it", "input": {}, "caller": { "type": "code_execution_20250825", "tool_id": "srv" } },
    ]);
    let desk = Desk::new();
    desk.write("a.json", json!([{ "role": "user", "content": "go" }, { "role": "assistant", "content": content },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c", "content": "ok" }, { "type": "text", "text": "thanks" }] }]).to_string());
    let said = desk.import(&["a.json", "--model", "claude"]);
    assert_eq!(said.status, 0, "{said:?}");
    let run = desk.recording();
    let trace = &run["trace"];
    assert_eq!(trace["tool_calls"][0]["server"], "shop");
    assert_eq!(trace["tool_calls"][1]["name"], "web_search");
    assert_eq!(trace["tool_calls"][2]["server"], "my_srv");
    assert_eq!(
        trace["tool_calls"][2]["caller"],
        json!({ "kind": "code_execution", "tool_id": "srv" })
    );
    let errors: Vec<&Value> = trace["tool_results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["is_error"])
        .collect();
    assert_eq!(errors, [false, true, false]);
    let turns = trace["conversation"]["turns"].as_array().unwrap();
    assert_eq!(
        turns.last().unwrap(),
        &json!({ "role": "user", "content": "thanks" })
    );
    assert_eq!(run["imported"]["notes"], json!(["reasoning left out"]));
}

/// Nothing in a talk without tools is of this format alone, but what stands around it.
#[test]
fn a_talk_without_tools_keeps_its_stop_reason_and_its_verdict() {
    let talk = |stop_in_message: bool| {
        let mut answer =
            json!({ "role": "assistant", "content": [{ "type": "text", "text": "It is" }] });
        let mut record = json!({
            "id": "r1", "model": "claude-sonnet-4-5", "passed": false,
            "system": [{ "type": "text", "text": "Be brief." }],
        });
        let holder = if stop_in_message {
            &mut answer
        } else {
            &mut record
        };
        holder["stop_reason"] = json!("max_tokens");
        record["messages"] = json!([{ "role": "user", "content": "Where is it?" }, answer]);
        record
    };
    for in_message in [true, false] {
        let desk = Desk::new();
        desk.write("run.json", talk(in_message).to_string());
        desk.import(&["run.json"]);
        let run = desk.recording();
        assert_eq!(run["imported"]["from"], "anthropic");
        assert_eq!(run["system_prompt"], "Be brief.");
        assert_eq!(run["trace"]["conversation"]["stop_reason"], "token_budget");
        assert_eq!(run["outcome"]["passed"], false);
    }
    // A system prompt beside messages with calls of the other API says nothing.
    let desk = Desk::new();
    let other = json!({ "id": "r1", "model": "m", "system": "s", "messages": [
        { "role": "user", "content": "Hi" },
        { "role": "assistant", "content": null, "tool_calls": [
            { "id": "c", "type": "function", "function": { "name": "f", "arguments": "{\"a\": " } }] },
        { "role": "assistant", "content": "Hm." },
    ]});
    desk.write("run.json", other.to_string());
    let said = desk.import(&["run.json"]);
    assert_eq!(desk.recording()["imported"]["from"], "openai");
    // What was cut off stays as it is, and that is said.
    let args = &desk.recording()["trace"]["tool_calls"][0]["args"];
    assert_eq!(args, &json!("{\"a\": "));
    assert_eq!(
        desk.recording()["imported"]["notes"],
        json!(["arguments that are no JSON object stay as they are"])
    );
    assert!(
        said.out.contains("note: arguments that are no JSON object"),
        "{said:?}"
    );
}
