//! Definition: langchain-core 1.8.2 `messages`, langsmith 0.15.0 `schemas.py`.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::talk::{Answer, FormatCapabilities, Talk, assert_kept, talk};
use super::{Desk, lines};

fn ai(answer: &Answer) -> Value {
    let calls: Vec<Value> = answer.calls.iter().map(|call| json!({ "id": call.id, "name": call.name, "args": call.args, "type": "tool_call" })).collect();
    let (prompt, completion) = answer.tokens;
    json!({ "type": "ai", "content": answer.said, "tool_calls": calls, "invalid_tool_calls": [],
        "usage_metadata": { "input_tokens": prompt, "output_tokens": completion, "total_tokens": prompt + completion } })
}

pub(super) fn messages(talk: &Talk) -> Vec<Value> {
    let mut all = vec![json!({ "type": "system", "content": talk.system })];
    for exchange in &talk.exchanges {
        all.push(json!({ "type": "human", "content": exchange.user }));
        for answer in &exchange.answers {
            all.push(ai(answer));
            for call in &answer.calls {
                if let Some(result) = &call.result {
                    let status = if call.is_error { "error" } else { "success" };
                    all.push(json!({ "type": "tool", "tool_call_id": call.id, "content": result, "status": status }));
                }
            }
        }
    }
    all
}

/// A message as another release of `LangChain` dumps it.
fn dumped(message: &Value, form: usize) -> Value {
    let name = match message["type"].as_str().unwrap() {
        "system" => "SystemMessage",
        "human" => "HumanMessage",
        "ai" => "AIMessageChunk",
        _ => "ToolMessage",
    };
    match form {
        0 => message.clone(),
        1 => json!({ "type": message["type"], "data": message }),
        _ => {
            json!({ "lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": message })
        }
    }
}

/// A tree of runs a user turn.
pub(super) fn export(talk: &Talk) -> Vec<Value> {
    let mut runs = Vec::new();
    let mut sent = vec![json!({ "type": "system", "content": talk.system })];
    for (turn, exchange) in talk.exchanges.iter().enumerate() {
        let trace = format!("t{turn}");
        let mut number = 0;
        let mut run = |kind: &str, parent: Option<&str>, fields: Value| {
            number += 1;
            let mut run = json!({ "id": format!("{trace}-{number}"), "trace_id": trace, "run_type": kind, "name": kind,
                "parent_run_id": parent, "dotted_order": format!("20260801T1000{turn:02}{number:03}"),
                "start_time": "2026-08-01T10:00:00", "extra": { "metadata": { "thread_id": "th", "ls_model_name": "m" } } });
            run.as_object_mut()
                .unwrap()
                .extend(fields.as_object().unwrap().clone());
            run
        };
        let root = format!("{trace}-1");
        runs.push(run("chain", None, json!({ "inputs": {}, "outputs": {} })));
        sent.push(json!({ "type": "human", "content": exchange.user }));
        for answer in &exchange.answers {
            let said = ai(answer);
            let input: Vec<Value> = sent.iter().map(|it| dumped(it, 2)).collect();
            runs.push(run(
                "llm",
                Some(&root),
                json!({ "inputs": { "messages": [input] },
                "outputs": { "generations": [[{ "message": dumped(&said, 2) }]] } }),
            ));
            sent.push(said);
            for call in &answer.calls {
                let Some(result) = &call.result else { continue };
                let message = json!({ "type": "tool", "tool_call_id": call.id, "content": result, "status": if call.is_error { "error" } else { "success" } });
                let mut tool = run(
                    "tool",
                    Some(&root),
                    json!({ "inputs": { "input": call.args }, "outputs": { "output": message } }),
                );
                tool["name"] = call.name.clone().into();
                runs.push(tool);
                sent.push(message);
            }
        }
    }
    runs.reverse();
    runs
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn nothing_of_messages_is_lost(talk in talk(FormatCapabilities::ALL)) {
        for form in 0..3 {
            let all: Vec<Value> = messages(&talk).iter().map(|it| dumped(it, form)).collect();
            assert_kept(&talk, FormatCapabilities::ALL, "a.json", format!("{:#}", json!({ "messages": all })).as_bytes(), &[]);
        }
        assert_kept(&talk, FormatCapabilities::ALL, "a.json", json!(messages(&talk)).to_string().as_bytes(), &[]);
    }

    #[test]
    fn nothing_of_an_export_is_lost(talk in talk(FormatCapabilities::ALL)) {
        assert_kept(&talk, FormatCapabilities::ALL, "a.jsonl", lines(&export(&talk)).as_bytes(), &[]);
    }
}

#[test]
fn calls_that_could_not_be_read_keep_their_text_and_a_cut_export_is_reported() {
    let desk = Desk::new();
    let message = json!({ "type": "ai", "content": [{ "type": "thinking", "thinking": "hm" }, { "type": "text", "text": "Trying." }, { "type": "tool_use", "id": "a", "name": "f", "input": {} }],
        "tool_calls": [], "invalid_tool_calls": [{ "id": "a", "name": "f", "args": "{\"q\": ", "error": "cut" }] });
    desk.write(
        "a.json",
        json!([{ "type": "human", "content": "go" }, message]).to_string(),
    );
    let said = desk.import(&["a.json", "--model", "m"]);
    assert_eq!(said.status, 0, "{said:?}");
    let run = desk.recording();
    assert_eq!(run["trace"]["tool_calls"][0]["args"], "{\"q\": ");
    assert_eq!(run["trace"]["tool_calls"].as_array().unwrap().len(), 1);
    assert_eq!(
        run["imported"]["notes"],
        json!([
            "reasoning left out",
            "arguments that are no JSON object stay as they are",
            "ends in an unanswered call"
        ])
    );
    let desk = Desk::new();
    desk.write("b.json", json!([{ "id": "2", "trace_id": "1", "parent_run_id": "1", "run_type": "llm", "name": "m", "dotted_order": "1",
        "inputs": { "messages": [[{ "type": "human", "content": "go" }]] }, "outputs": { "messages": [{ "type": "ai", "content": "ok" }] },
        "feedback_stats": { "good": { "n": 1, "avg": 1.0 } } }]).to_string());
    let said = desk.import(&["b.json", "--model", "m", "--score", "good"]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.err.contains("incomplete export"), "{said:?}");
    assert_eq!(
        desk.recording()["outcome"],
        json!({ "reward": 1.0, "passed": true })
    );
}

#[test]
fn trajectories_of_graphs_are_refused() {
    let desk = Desk::new();
    desk.write(
        "a.json",
        json!({ "results": [], "steps": [["__start__", "agent"]] }).to_string(),
    );
    let said = desk.import(&["a.json"]);
    assert_eq!(said.status, 2);
    assert!(
        said.err.contains("names nodes and holds no calls"),
        "{said:?}"
    );
}

/// A run is exported while it goes on, and again when it ended.
#[test]
fn a_run_that_ended_takes_the_place_of_what_it_was() {
    let asked = json!({ "type": "human", "content": "find it" });
    let wrote = json!({ "type": "ai", "content": "", "tool_calls": [{ "id": "c", "name": "find", "args": { "q": 1 } }] });
    let run = |id: &str, kind: &str, outputs: Value, ended: Option<&str>| {
        json!({ "id": id, "trace_id": "t", "run_type": kind, "name": "find",
        "dotted_order": id, "start_time": "2026-08-01T10:00:00", "end_time": ended, "outputs": outputs,
        "inputs": { "messages": [asked], "input": { "q": 1 } }, "extra": { "metadata": { "ls_model_name": "m" } } })
    };
    let ended = Some("2026-08-01T10:00:01");
    let wrote = json!({ "generations": [[{ "message": wrote }]] });
    let gone = json!({ "output": { "type": "tool", "tool_call_id": "c", "content": "gone" } });
    let pending = run("2", "tool", json!({}), None);
    let all = [run("1", "llm", wrote, ended), run("2", "tool", gone, ended)];
    for all in [
        vec![all[0].clone(), pending.clone(), all[1].clone()],
        vec![all[1].clone(), pending, all[0].clone()],
    ] {
        let desk = Desk::new();
        desk.write("a.jsonl", lines(&all));
        let said = desk.import(&["a.jsonl"]);
        assert_eq!(said.status, 0, "{said:?}");
        let trace = &desk.recording()["trace"];
        let count = |key: &str| trace[key].as_array().unwrap().len();
        assert_eq!((count("tool_calls"), count("tool_results")), (1, 1));
        assert!(
            trace["tool_results"].to_string().contains("gone"),
            "{trace}"
        );
    }
}

#[test]
fn the_last_answer_says_why_it_ended() {
    for (reason, stop) in [
        ("length", json!("token_budget")),
        ("stop", json!("completed")),
    ] {
        let answer = |said: &str, reason: &str| json!({ "type": "ai", "content": said, "response_metadata": { "model_name": "m", "finish_reason": reason } });
        let question = json!({ "type": "human", "content": "go" });
        let messages = [
            question.clone(),
            answer("one", "content_filter"),
            question,
            answer("two", reason),
        ];
        let desk = Desk::new();
        desk.write("a.json", json!({ "messages": messages }).to_string());
        let said = desk.import(&["a.json"]);
        assert_eq!(said.status, 0, "{said:?}");
        assert_eq!(
            desk.recording()["trace"]["conversation"]["stop_reason"],
            stop
        );
        // The user asked again, and nobody answered.
        desk.write("b.json", json!({ "messages": messages[..3] }).to_string());
        desk.import(&["b.json", "--agent", "open"]);
        let runs = desk.recordings();
        let open = runs
            .iter()
            .find(|(name, _)| name.starts_with("open"))
            .unwrap();
        assert_eq!(open.1["trace"]["conversation"].get("stop_reason"), None);
    }
}

/// The tool's own run has the exception, and the model is told of it in a message.
#[test]
fn an_error_of_a_tool_and_what_the_model_is_told_of_it_are_one_result() {
    let run = |id: &str, kind: &str, order: &str, inputs: Value, outputs: Value| {
        json!({ "id": id, "trace_id": "t", "run_type": kind, "name": "find", "dotted_order": order,
            "inputs": inputs, "outputs": outputs, "extra": { "metadata": { "ls_model_name": "m" } } })
    };
    let of_model = |message: &Value| json!({ "generations": [[{ "message": message }]] });
    let question = json!({ "type": "human", "content": "find it" });
    let call = json!({ "type": "ai", "content": "", "tool_calls": [{ "id": "c", "name": "find", "args": { "q": 1 } }] });
    let told = |text: &str| json!({ "type": "tool", "tool_call_id": "c", "status": "error", "content": text });
    let end = json!({ "type": "ai", "content": "It is not there." });
    let import = |results: &[Value]| {
        let mut tool = run(
            "r2",
            "tool",
            "2",
            json!({ "input": "{\"q\": 1}" }),
            Value::Null,
        );
        tool["error"] = "ValueError(\"x\")".into();
        let all = [&[question.clone(), call.clone()], results].concat();
        let desk = Desk::new();
        desk.write(
            "runs.jsonl",
            lines(&[
                run(
                    "r1",
                    "llm",
                    "1",
                    json!({ "messages": [question] }),
                    of_model(&call),
                ),
                tool,
                run("r3", "llm", "3", json!({ "messages": all }), of_model(&end)),
            ]),
        );
        (desk.import(&["runs.jsonl"]), desk.recording())
    };
    let (said, run) = import(&[told("Error: x")]);
    assert_eq!(said.status, 0, "{said:?}");
    let results = run["trace"]["tool_results"].as_array().unwrap();
    assert_eq!(results.len(), 1, "{results:#?}");
    assert_eq!(results[0]["is_error"], true);
    // A third one is one too many.
    let (said, _) = import(&[told("Error: x"), told("Error: y")]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.err.contains("second result of a call"), "{said:?}");
}
