//! Definition: openai-python 3.3.1, `types/chat` and `types/responses`.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::talk::{FormatCapabilities, Talk, assert_kept, talk};
use super::{Desk, lines};

const TWO_CALLS: &str = r#"{"request":{"model":"gpt-5","messages":[{"role":"system","content":"Help with orders."},{"role":"user","content":"Cancel orders 7 and 8."}]},"response":{"id":"chatcmpl-a","object":"chat.completion","created":1767225600,"model":"gpt-5-2025-08-07","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"shop__cancel","arguments":"{\"order\":7}"}},{"id":"c2","type":"function","function":{"name":"shop__cancel","arguments":"{\"order\":8}"}}]}}],"usage":{"prompt_tokens":210,"completion_tokens":40,"total_tokens":250}}}
{"request":{"model":"gpt-5","messages":[{"role":"system","content":"Help with orders."},{"role":"user","content":"Cancel orders 7 and 8."},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"shop__cancel","arguments":"{\"order\":7}"}},{"id":"c2","type":"function","function":{"name":"shop__cancel","arguments":"{\"order\":8}"}}]},{"role":"tool","tool_call_id":"c1","content":"cancelled"},{"role":"tool","tool_call_id":"c2","content":"{\"content\":[{\"type\":\"text\",\"text\":\"shipped\"}],\"isError\":true}"}]},"response":{"id":"chatcmpl-b","object":"chat.completion","created":1767225602,"model":"gpt-5-2025-08-07","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Order 7 is cancelled; 8 had shipped."}}],"usage":{"prompt_tokens":290,"completion_tokens":12,"total_tokens":302}}}
"#;

#[test]
fn two_log_lines_are_one_run() {
    let desk = Desk::new();
    desk.write("logs.jsonl", TWO_CALLS);
    let said = desk.import(&["logs.jsonl", "--agent", "Order desk", "--server", "shop"]);
    assert_eq!(said.status, 0, "{said:?}");
    let expected = json!({"schema_version": "v1", "agent_name": "Order desk", "model": "gpt-5", "recorded_at": "2026-01-01T00:00:00.000Z", "system_prompt": "Help with orders.", "user_prompt": "Cancel orders 7 and 8.", "trace": {
      "tool_calls": [{"name": "cancel", "server": "shop", "args": {"order": 7}, "step": 0, "hop_index": 0}, {"name": "cancel", "server": "shop", "args": {"order": 8}, "step": 0, "hop_index": 1}],
      "tool_results": [{"call_index": 0, "server": "shop", "result": {"content": [{"text": "cancelled", "type": "text"}]}}, {"call_index": 1, "server": "shop", "is_error": true, "result": {"content": [{"text": "shipped", "type": "text"}], "isError": true}}],
      "final_response": "Order 7 is cancelled; 8 had shipped.",
      "conversation": {"stop_reason": "completed", "tokens": {"prompt": 500, "completion": 52, "total": 552}, "duration_ms": 2000, "message_count": 5,
        "turns": [{"role": "user", "content": "Cancel orders 7 and 8."}, {"role": "assistant", "content": "tool_use shop::cancel with {\"order\":7}"}, {"role": "assistant", "content": "tool_use shop::cancel with {\"order\":8}"}, {"role": "assistant", "content": "Order 7 is cancelled; 8 had shipped."}],
        "steps": [{"prompt": 210, "completion": 40}, {"prompt": 290, "completion": 12}]}},
     "imported": {"file": "logs.jsonl", "from": "openai", "id": "chatcmpl-a", "record": 1, "unknown": ["is_error"]}});
    assert_eq!(desk.recording(), expected);
    assert_eq!(desk.recordings()[0].0, "Order_desk__gpt-5/run-1.json");
    assert_eq!(
        desk.suite(),
        "# Written by `cargo mcptest import`. It demands what the imported runs do.\n\
         # The next import needs the same options: --agent 'Order desk' --server shop\n\
         # tools that change something, by their names: cancel\n\
         # If one is wrong, correct it with `readonly_tools` or `mutating_tools` of `narrative`, and correct the plan.\n\
         # all tools that any run calls; add the tools that no run calls\nx-tools: &tools [\"cancel\"]\nagents:\n  \
         - name: \"Order desk\"\n    model: \"gpt-5\"\n    servers: [\"shop\"]\n    prompt: \"Cancel orders 7 and 8.\"\n    \
         system_prompt: \"Help with orders.\"\n    runs: 1\n    # every run looks bad, so nothing here is known to be good: its last call, `cancel`, failed\n    \
         # from run-1\n    expect:\n      \
         - { target: final_response, matcher: { regex: \"\\\\S\" } }\n      \
         - { target: conversation.stop_reason, matcher: { exact: \"completed\" } }\n      \
         - { target: successful_tool_names, matcher: { schema: { contains: { const: \"cancel\" }, minContains: 1 } } }\n    \
         calls: { max_errors: 1 }\n    \
         trajectory:\n      over: writes\n      mode: subset\n      # Calls that fail need not be made; `expect` asks for the calls that succeed.\n      calls:\n        \
         - { name: \"cancel\", args: { exact: {\"order\": 7} } }\n        \
         - { name: \"cancel\", args: { exact: {\"order\": 8} }, is_error: true }\n    narrative: { tools: *tools }\n"
    );
}

fn message(role: &str, content: &str) -> Value {
    json!({ "role": role, "content": content })
}

fn assistant(answer: &super::talk::Answer) -> Value {
    let calls: Vec<Value> = answer
        .calls
        .iter()
        .map(|call| {
            json!({ "id": call.id, "type": "function",
            "function": { "name": call.name, "arguments": call.args.to_string() } })
        })
        .collect();
    let said = Some(&answer.said).filter(|said| !said.is_empty());
    let mut message = json!({ "role": "assistant", "content": said });
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    message
}

/// The messages of a talk; with `usage`, tokens and errors stand beside them.
pub(super) fn messages(talk: &Talk, extended: bool) -> Vec<Value> {
    let mut messages = vec![message("system", &talk.system)];
    for exchange in &talk.exchanges {
        messages.push(message("user", &exchange.user));
        for answer in &exchange.answers {
            let mut said = assistant(answer);
            if extended {
                let (prompt, completion) = answer.tokens;
                said["usage"] = json!({ "prompt_tokens": prompt, "completion_tokens": completion });
            }
            messages.push(said);
            for call in &answer.calls {
                let Some(result) = &call.result else { continue };
                let mut result =
                    json!({ "role": "tool", "tool_call_id": call.id, "content": result });
                if extended {
                    result["error"] = call.is_error.into();
                }
                messages.push(result);
            }
        }
    }
    messages
}

/// The model calls of a talk as they are logged.
pub(super) fn log(talk: &Talk) -> Vec<Value> {
    let mut sent = vec![message("system", &talk.system)];
    let mut log = Vec::new();
    for exchange in &talk.exchanges {
        sent.push(message("user", &exchange.user));
        for answer in &exchange.answers {
            let said = assistant(answer);
            let (prompt, completion) = answer.tokens;
            log.push(json!({
                "request": { "model": "m", "messages": sent },
                "response": { "id": format!("r{}", log.len()), "choices": [{ "message": said, "finish_reason": "stop" }],
                    "usage": { "prompt_tokens": prompt, "completion_tokens": completion } },
            }));
            sent.push(said);
            for call in &answer.calls {
                if let Some(result) = &call.result {
                    sent.push(
                        json!({ "role": "tool", "tool_call_id": call.id, "content": result }),
                    );
                }
            }
        }
    }
    log
}

/// The items of a talk.
pub(super) fn items(talk: &Talk) -> Vec<Value> {
    let mut items = vec![message("system", &talk.system)];
    for exchange in &talk.exchanges {
        items.push(message("user", &exchange.user));
        for answer in &exchange.answers {
            if !answer.said.is_empty() {
                items.push(json!({ "type": "message", "role": "assistant",
                    "content": [{ "type": "output_text", "text": answer.said }] }));
            }
            for call in &answer.calls {
                items.push(json!({ "type": "function_call", "id": "i", "call_id": call.id, "name": call.name,
                    "arguments": call.args.to_string() }));
            }
            for call in &answer.calls {
                if let Some(result) = &call.result {
                    items.push(json!({ "type": "function_call_output", "call_id": call.id, "output": result }));
                }
            }
        }
    }
    items
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn nothing_of_a_list_of_messages_is_lost(talk in talk(FormatCapabilities::ALL)) {
        let record = json!({ "model": "m", "messages": messages(&talk, true) });
        assert_kept(&talk, FormatCapabilities::ALL, "a.jsonl", lines(&[record]).as_bytes(), &[]);
        let can = FormatCapabilities { errors: false, tokens: false, ..FormatCapabilities::ALL };
        let plain = json!(messages(&talk, false));
        assert_kept(&talk, can, "a.json", format!("{plain:#}").as_bytes(), &["--from", "openai"]);
    }

    #[test]
    fn nothing_of_a_log_is_lost(talk in talk(FormatCapabilities::ALL)) {
        let can = FormatCapabilities { errors: false, ..FormatCapabilities::ALL };
        assert_kept(&talk, can, "a.jsonl", lines(&log(&talk)).as_bytes(), &[]);
    }

    #[test]
    fn nothing_of_items_is_lost(talk in talk(FormatCapabilities::ALL)) {
        let can = FormatCapabilities { errors: false, tokens: false, ..FormatCapabilities::ALL };
        let record = json!({ "model": "m", "messages": items(&talk) });
        assert_kept(&talk, can, "a.jsonl", lines(&[record]).as_bytes(), &["--from", "openai"]);
    }
}

#[test]
fn two_talks_in_one_log_are_two_runs() {
    let call = |sent: Value, said: &str, id: &str| {
        json!({ "request": { "model": "m", "messages": sent },
            "response": { "id": id, "choices": [{ "message": message("assistant", said), "finish_reason": "stop" }] } })
    };
    let first = json!([message("user", "one")]);
    let second = json!([message("user", "two")]);
    let more = |first: &Value, said: &str| {
        let mut sent = first.as_array().unwrap().clone();
        sent.extend([message("assistant", said), message("user", "more")]);
        json!(sent)
    };
    let desk = Desk::new();
    desk.write(
        "a.jsonl",
        lines(&[
            call(first.clone(), "1", "a"),
            call(second.clone(), "2", "b"),
            call(more(&second, "2"), "3", "c"),
            call(more(&first, "1"), "4", "d"),
        ]),
    );
    let said = desk.import(&["a.jsonl", "--agent", "desk"]);
    assert_eq!(said.status, 0, "{said:?}");
    let runs = desk.recordings();
    let ends: Vec<_> = runs
        .iter()
        .map(|(_, run)| (&run["user_prompt"], &run["trace"]["final_response"]))
        .collect();
    assert_eq!(
        ends,
        [(&json!("one"), &json!("4")), (&json!("two"), &json!("3"))]
    );
    assert!(
        desk.suite()
            .contains("    turns:\n      - \"one\"\n      - \"more\"\n"),
        "{}",
        desk.suite()
    );
}

#[test]
fn responses_are_chained_by_their_identifiers() {
    let desk = Desk::new();
    desk.write("a.jsonl", lines(&[
        json!({ "request": { "model": "m", "instructions": "Be brief.", "input": "Weather?" },
            "response": { "object": "response", "id": "r1", "status": "completed", "created_at": 1_767_225_600, "usage": { "input_tokens": 10, "output_tokens": 5 },
            "output": [{ "type": "reasoning", "summary": [] },
                { "type": "function_call", "id": "fc", "call_id": "c1", "name": "weather", "namespace": "mcp__sky", "arguments": "{\"at\":\"Rome\"}" },
                { "type": "mcp_call", "id": "mcp1", "server_label": "files", "name": "read", "arguments": "{}", "output": null, "error": "gone", "status": "failed" },
                { "type": "web_search_call", "id": "w1", "status": "completed", "action": { "query": "rain" } }] } }),
        json!({ "request": { "model": "m", "previous_response_id": "r1", "input": [{ "type": "function_call_output", "call_id": "c1", "output": "sun" }] },
            "response": { "object": "response", "id": "r2", "status": "incomplete", "incomplete_details": { "reason": "max_output_tokens" }, "usage": { "input_tokens": 20, "output_tokens": 6 },
            "output": [{ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Sun" }] }] } }),
        json!({ "request": { "model": "m", "previous_response_id": "elsewhere", "input": "And?" },
            "response": { "object": "response", "id": "r3", "status": "completed", "output": [] } }),
    ]));
    let said = desk.import(&["a.jsonl"]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(
        said.err.contains("missing parent") && said.err.contains("a.jsonl:3"),
        "{said:?}"
    );
    let run = &desk
        .recordings()
        .into_iter()
        .find(|(_, run)| run["user_prompt"] == "Weather?")
        .unwrap()
        .1;
    let trace = &run["trace"];
    assert_eq!(trace["tool_calls"][0]["server"], "sky");
    assert_eq!(
        trace["tool_results"][1]["result"]["content"][0]["text"],
        "sun"
    );
    assert_eq!(
        trace["tool_results"][0],
        json!({ "call_index": 1, "server": "files", "is_error": true,
        "result": { "content": [{ "type": "text", "text": "gone" }] } })
    );
    assert_eq!(
        trace["tool_calls"][2],
        json!({ "name": "web_search", "args": { "action": { "query": "rain" } }, "hop_index": 2, "step": 0 })
    );
    assert_eq!(trace["conversation"]["stop_reason"], "token_budget");
    assert_eq!(run["system_prompt"], "Be brief.");
    assert_eq!(run["imported"]["notes"], json!(["reasoning left out"]));
}

#[test]
fn a_response_alone_lacks_its_request() {
    let desk = Desk::new();
    desk.write(
        "a.json",
        json!({ "id": "x", "object": "chat.completion", "choices": [] }).to_string(),
    );
    let said = desk.import(&["a.json"]);
    assert_eq!(said.status, 2);
    assert!(
        said.err
            .contains("error[import]: lacks its request\n --> a.json:1\n"),
        "{}",
        said.err
    );
}

#[test]
fn identifiers_that_repeat_belong_to_the_latest_call() {
    let call = |id: &str| {
        json!({ "role": "assistant", "content": null, "tool_calls": [
        { "id": id, "function": { "name": "f", "arguments": "" } }, { "id": id, "function": { "name": "g", "arguments": "no json" } }] })
    };
    let result = |text: &str| json!({ "role": "tool", "tool_call_id": "0", "content": text });
    let desk = Desk::new();
    desk.write("a.jsonl", lines(&[json!({ "model": "m", "messages": [
        message("user", "go"), call("0"), result("a"), result("b"), call("0"), result("c"), result("d"), result("e"),
    ] })]));
    let said = desk.import(&["a.jsonl"]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(
        said.err.contains("second result of a call")
            && said.err.contains("call 3 has another result already"),
        "{said:?}"
    );
    let run = desk.recording();
    let texts = run["trace"]["tool_results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            (
                it["call_index"].as_u64().unwrap(),
                it["result"]["content"][0]["text"].as_str().unwrap(),
            )
        });
    assert_eq!(
        texts.collect::<Vec<_>>(),
        [(0, "a"), (1, "b"), (2, "c"), (3, "d")]
    );
    assert_eq!(run["trace"]["tool_calls"][0]["args"], json!({}));
    assert_eq!(run["trace"]["tool_calls"][1]["args"], "no json");
}

#[test]
fn results_without_identifiers_are_paired_only_where_they_are_as_many() {
    let run = |results: usize| {
        let calls = json!([{ "function": { "name": "f", "arguments": "{}" } }, { "function": { "name": "g", "arguments": "{}" } }]);
        let mut messages = vec![
            message("user", "go"),
            json!({ "role": "assistant", "content": "", "tool_calls": calls }),
        ];
        messages.extend((0..results).map(|n| message("tool", &format!("result {n}"))));
        messages.push(message("assistant", "done"));
        let desk = Desk::new();
        desk.write(
            "a.json",
            json!({ "model": "m", "messages": messages }).to_string(),
        );
        (desk.import(&["a.json"]), desk.recording())
    };
    let (said, recording) = run(2);
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(
        recording["trace"]["tool_results"][1]["result"]["content"][0]["text"],
        "result 1"
    );
    let (said, recording) = run(1);
    assert_eq!(said.status, 1);
    assert!(said.err.contains("result 0"), "{said:?}");
    assert_eq!(recording["trace"]["tool_results"], json!([]));
}

#[test]
fn runs_of_a_task_share_its_first_prompt() {
    let record = |trial: u32, says: &str| {
        json!({ "model": "m", "task": "t", "trial": trial, "reward": 0.5, "passed": trial == 0,
        "messages": [message("assistant", "Hello!"), message("user", says), message("assistant", "ok")] })
    };
    let desk = Desk::new();
    desk.write("a.jsonl", lines(&[record(1, "second"), record(0, "first")]));
    let said = desk.import(&["a.jsonl", "--agent", "x", "--group-by", "task"]);
    assert_eq!(said.status, 0, "{said:?}");
    let runs = desk.recordings();
    assert_eq!(runs[0].1["user_prompt"], "first");
    assert_eq!(runs[1].1["user_prompt"], "first");
    assert_eq!(runs[1].1["imported"]["user_prompt"], "second");
    assert_eq!(
        runs[0].1["outcome"],
        json!({ "reward": 0.5, "passed": true })
    );
    assert_eq!(
        runs[1].1["outcome"],
        json!({ "reward": 0.5, "passed": false })
    );
    // A greeting is no model call.
    assert_eq!(runs[0].1["trace"]["conversation"]["message_count"], 2);
    assert!(
        desk.suite().contains("prompt: \"first\"\n    runs: 2\n"),
        "{}",
        desk.suite()
    );
}
