//! Definition: openai/codex `codex-rs/protocol` (`RolloutLine`, `ResponseItem`, `EventMsg`).

use proptest::prelude::*;
use serde_json::{Value, json};

use super::talk::{FormatCapabilities, Talk, assert_kept, talk};
use super::{Desk, lines};

fn line(kind: &str, payload: &Value) -> Value {
    json!({ "timestamp": "2026-08-01T10:00:00.000Z", "type": kind, "payload": payload })
}

fn meta(id: &str) -> Value {
    line(
        "session_meta",
        &json!({ "id": id, "cli_version": "0.99.0" }),
    )
}

pub(super) fn rollout(talk: &Talk) -> Vec<Value> {
    let mut all = vec![meta("r1"), line("turn_context", &json!({ "model": "m" }))];
    for exchange in &talk.exchanges {
        all.push(line("response_item", &json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": exchange.user }] })));
        all.push(line(
            "event_msg",
            &json!({ "type": "user_message", "message": exchange.user }),
        ));
        for answer in &exchange.answers {
            if !answer.said.is_empty() {
                all.push(line("response_item", &json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": answer.said }] })));
            }
            for call in &answer.calls {
                all.push(line("response_item", &json!({ "type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.args.to_string() })));
            }
            let (prompt, completion) = answer.tokens;
            let count = json!({ "type": "token_count", "info": { "last_token_usage": { "input_tokens": prompt, "output_tokens": completion } } });
            all.push(line("event_msg", &count));
            for call in &answer.calls {
                if let Some(result) = &call.result {
                    all.push(line("response_item", &json!({ "type": "function_call_output", "call_id": call.id, "output": result })));
                    all.push(line("event_msg", &json!({ "type": "patch_apply_end", "call_id": call.id, "success": !call.is_error })));
                }
            }
        }
    }
    all.push(line("event_msg", &json!({ "type": "task_complete" })));
    for (at, line) in all.iter_mut().enumerate() {
        line["timestamp"] = format!("2026-08-01T10:00:{:02}.{:03}Z", at / 1000, at % 1000).into();
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn nothing_of_a_rollout_is_lost(talk in talk(FormatCapabilities { system: false, ..FormatCapabilities::ALL })) {
        let can = FormatCapabilities { system: false, ..FormatCapabilities::ALL };
        assert_kept(&talk, can, "rollout.jsonl", lines(&rollout(&talk)).as_bytes(), &[]);
    }
}

#[test]
fn lines_that_stand_there_twice_are_read_once() {
    let message = |at: u32, role: &str, said: &str| {
        let kind = if role == "user" {
            "input_text"
        } else {
            "output_text"
        };
        let mut line = line(
            "response_item",
            &json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": said }] }),
        );
        line["timestamp"] = format!("2026-08-01T10:00:00.00{at}Z").into();
        line
    };
    let all = [
        meta("r1"),
        line("turn_context", &json!({ "model": "m" })),
        message(0, "user", "go on"),
        line(
            "response_item",
            &json!({ "type": "function_call", "call_id": "c", "name": "list", "arguments": "{}" }),
        ),
        line(
            "response_item",
            &json!({ "type": "function_call_output", "call_id": "c", "output": "1" }),
        ),
        message(1, "assistant", "Listed."),
        message(2, "user", "go on"),
        message(3, "assistant", "Listed."),
    ];
    let import = |text: String| {
        let desk = Desk::new();
        desk.write("rollout.jsonl", text);
        let said = desk.import(&["rollout.jsonl"]);
        assert_eq!(said.status, 0, "{said:?}");
        (desk.recording()["trace"].clone(), said.out)
    };
    let (once, said) = import(lines(&all));
    let note = "note: lines that are there twice are read once\n";
    assert!(!said.contains(note), "{said}");
    let doubled: Vec<Value> = all
        .iter()
        .flat_map(|line| [line.clone(), line.clone()])
        .collect();
    for text in [lines(&doubled), lines(&all).repeat(2)] {
        let (twice, said) = import(text);
        assert_eq!(twice, once);
        assert!(said.contains(note), "{said}");
    }
}

#[test]
fn a_sub_agent_is_told_by_what_spawned_it() {
    let call = |id: &str| {
        let call =
            json!({ "type": "function_call", "call_id": id, "name": "list", "arguments": "{}" });
        let output = json!({ "type": "function_call_output", "call_id": id, "output": "1" });
        [call, output].map(|item| line("response_item", &item))
    };
    let source =
        json!({ "subagent": { "thread_spawn": { "parent_thread_id": "r1", "depth": 1 } } });
    let spawned = line("session_meta", &json!({ "id": "r2", "source": source }));
    let context = line("turn_context", &json!({ "model": "m" }));
    let asked = line(
        "event_msg",
        &json!({ "type": "user_message", "message": "look" }),
    );
    let session = |meta: Value, id: &str| {
        let head = [meta, context.clone(), asked.clone()];
        lines(&[&head[..], &call(id)].concat())
    };
    let desk = Desk::new();
    desk.write("main.jsonl", session(meta("r1"), "c1"));
    desk.write("sub.jsonl", session(spawned, "c2"));
    let said = desk.import(&["main.jsonl", "sub.jsonl"]);
    assert_eq!(said.status, 0, "{said:?}");
    let run = desk.recording();
    let calls = run["trace"]["tool_calls"].as_array().unwrap();
    assert_eq!(calls.len(), 2, "{said:?}");
}

#[test]
fn the_end_of_an_mcp_call_is_the_better_source() {
    let item = |item: Value| line("response_item", &item);
    let event = |event: Value| line("event_msg", &event);
    let desk = Desk::new();
    desk.write("rollout.jsonl", lines(&[
        meta("r1"),
        line("turn_context", &json!({ "model": "gpt-5-codex" })),
        item(json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "<environment_context>" }] })),
        event(json!({ "type": "user_message", "message": "fix it" })),
        item(json!({ "type": "function_call", "call_id": "c1", "name": "shop__list", "arguments": "{}" })),
        event(json!({ "type": "mcp_tool_call_end", "call_id": "c1", "invocation": { "server": "shop", "tool": "list" }, "result": { "Ok": { "content": [{ "type": "text", "text": "1, 2" }], "isError": true } } })),
        item(json!({ "type": "function_call_output", "call_id": "c1", "output": "1, 2" })),
        item(json!({ "type": "custom_tool_call", "call_id": "c2", "name": "apply_patch", "input": "*** Begin" })),
        item(json!({ "type": "custom_tool_call_output", "call_id": "c2", "output": "{\"output\":\"no\",\"metadata\":{\"exit_code\":1}}" })),
        item(json!({ "type": "local_shell_call", "call_id": "c3", "status": "completed", "action": { "type": "exec", "command": ["ls"] } })),
        item(json!({ "type": "function_call_output", "call_id": "c3", "output": "a b, exited with code 1" })),
        item(json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "fixed" }] })),
        event(json!({ "type": "user_message", "message": "never mind" })),
        item(json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "sure" }] })),
        event(json!({ "type": "thread_rolled_back", "num_turns": 1 })),
        event(json!({ "type": "turn_aborted" })),
    ]));
    let said = desk.import(&["rollout.jsonl"]);
    assert_eq!(said.status, 0, "{said:?}");
    let run = desk.recording();
    let trace = &run["trace"];
    assert_eq!(
        trace["tool_calls"][0],
        json!({ "name": "list", "server": "shop", "args": {}, "hop_index": 0, "step": 0 })
    );
    assert_eq!(
        trace["tool_calls"][1]["args"],
        json!({ "input": "*** Begin" })
    );
    assert_eq!(trace["tool_calls"][2]["name"], "local_shell");
    let errors: Vec<Option<bool>> = trace["tool_results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["is_error"].as_bool())
        .collect();
    assert_eq!(errors, [Some(true), Some(true), None]);
    assert_eq!(trace["final_response"], "fixed");
    assert_eq!(trace["conversation"]["stop_reason"], "interrupted");
    assert_eq!(run["user_prompt"], "fix it");
    assert_eq!(run["model"], "gpt-5-codex");
}

/// However many turns are taken back, there are no more than were made.
/// A program cuts the output of a tool by its length, and may cut a character in halves.
#[test]
fn the_exit_code_of_an_output_that_was_cut_is_read() {
    let item = |item: Value| line("response_item", &item);
    let desk = Desk::new();
    desk.write("rollout.jsonl", lines(&[
        meta("r1"),
        line("turn_context", &json!({ "model": "gpt-5-codex" })),
        line("event_msg", &json!({ "type": "user_message", "message": "fix it" })),
        item(json!({ "type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{}" })),
        item(json!({ "type": "function_call_output", "call_id": "c1",
            "output": "{\"output\":\"cut \\ud83d\",\"metadata\":{\"exit_code\":1}}" })),
        item(json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "no" }] })),
    ]));
    let said = desk.import(&["rollout.jsonl"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(
        desk.recording()["trace"]["tool_results"][0]["is_error"],
        true
    );
}

#[test]
fn more_turns_than_there_are_may_be_taken_back() {
    let event = |event: Value| line("event_msg", &event);
    let says = |text: &str| {
        let content = json!([{ "type": "output_text", "text": text }]);
        let item = json!({ "type": "message", "role": "assistant", "content": content });
        line("response_item", &item)
    };
    let tokens = json!({ "last_token_usage": { "input_tokens": 5, "output_tokens": 2 } });
    let desk = Desk::new();
    desk.write(
        "rollout.jsonl",
        lines(&[
            meta("r1"),
            line("turn_context", &json!({ "model": "gpt-5-codex" })),
            event(json!({ "type": "user_message", "message": "one" })),
            says("first"),
            event(json!({ "type": "user_message", "message": "two" })),
            says("second"),
            event(json!({ "type": "thread_rolled_back", "num_turns": u64::MAX })),
            event(json!({ "type": "token_count", "info": tokens })),
            event(json!({ "type": "user_message", "message": "three" })),
            says("third"),
        ]),
    );
    let said = desk.import(&["rollout.jsonl"]);
    assert_eq!(said.status, 0, "{said:?}");
    let run = desk.recording();
    let conversation = &run["trace"]["conversation"];
    assert_eq!(run["user_prompt"], "three");
    assert_eq!(conversation["turns"].as_array().unwrap().len(), 2);
    // What was taken back took tokens that are nobody's now.
    assert_eq!(conversation["steps"], Value::Null);
}

#[test]
fn a_fork_is_cut_where_its_parent_ends() {
    let event = |text: &str| {
        line(
            "event_msg",
            &json!({ "type": "user_message", "message": text }),
        )
    };
    let says = |text: &str| {
        line(
            "response_item",
            &json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": text }] }),
        )
    };
    let context = line("turn_context", &json!({ "model": "m" }));
    let desk = Desk::new();
    desk.write(
        "runs/a.jsonl",
        lines(&[meta("p"), context.clone(), event("one"), says("1")]),
    );
    let mut fork = meta("f");
    fork["payload"]["forked_from_id"] = "p".into();
    let fork = [
        fork,
        context.clone(),
        event("one"),
        says("1"),
        context,
        event("two"),
        says("2"),
    ];
    desk.write("runs/b.jsonl", lines(&fork));
    let said = desk.import(&["runs"]);
    assert_eq!(said.status, 0, "{said:?}");
    let runs = desk.recordings();
    let prompts: Vec<&Value> = runs.iter().map(|(_, run)| &run["user_prompt"]).collect();
    assert_eq!(prompts, [&json!("one"), &json!("two")]);
    let alone = Desk::new();
    alone.write("b.jsonl", lines(&fork));
    let said = alone.import(&["b.jsonl"]);
    assert!(said.out.contains("begins with a copy"), "{said:?}");
}

#[test]
fn of_copies_of_a_rollout_the_longest_is_the_run() {
    let says = |text: &str| {
        line(
            "response_item",
            &json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": text }] }),
        )
    };
    let asks = line(
        "event_msg",
        &json!({ "type": "user_message", "message": "one" }),
    );
    let context = line("turn_context", &json!({ "model": "m" }));
    let whole = [meta("r"), context, asks, says("1"), says("2"), says("3")];
    let desk = Desk::new();
    desk.write("a.jsonl", lines(&whole[..4]));
    desk.write("b.jsonl", lines(&whole));
    desk.write("c.jsonl", lines(&whole[..5]));
    let said = desk.import(&["a.jsonl", "b.jsonl", "c.jsonl"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(desk.recording()["trace"]["final_response"], "3");
    let note = "note: a file that is the beginning of another one is left out (2 runs)\n";
    assert!(said.out.contains(note), "{said:?}");
}

/// Two that went on differently are two runs, and nobody can say which of them is the rollout.
#[test]
fn both_files_of_a_rollout_that_differs_are_named() {
    let says = |text: &str| {
        line(
            "response_item",
            &json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": text }] }),
        )
    };
    let asks = line(
        "event_msg",
        &json!({ "type": "user_message", "message": "one" }),
    );
    let context = line("turn_context", &json!({ "model": "m" }));
    let desk = Desk::new();
    for (file, text) in [("a.jsonl", "1"), ("b.jsonl", "2")] {
        let lines = lines(&[meta("r"), context.clone(), asks.clone(), says(text)]);
        desk.write(file, lines);
    }
    let said = desk.import(&["a.jsonl", "b.jsonl"]);
    assert_eq!(said.status, 1, "{said:?}");
    let told = "two runs with one identifier\n --> a.jsonl:1\n  = two runs in a.jsonl, b.jsonl have the same identifier `r`\n";
    assert!(said.err.contains(told), "{said:?}");
}

#[test]
fn files_without_the_envelope_are_refused() {
    let desk = Desk::new();
    desk.write(
        "a.jsonl",
        lines(&[
            json!({ "id": "x", "timestamp": "t", "instructions": null }),
            json!({ "type": "message", "role": "user", "content": [] }),
        ]),
    );
    let said = desk.import(&["a.jsonl", "--from", "codex"]);
    assert_eq!(said.status, 2);
    assert!(
        said.err.contains("of releases without `payload`"),
        "{said:?}"
    );
}
